"""Picture: a diagram that shows itself, as SVG and as text."""

from __future__ import annotations

import base64
import html
import itertools
import os
import pathlib
from collections.abc import Callable
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.program.forks import cached_property
from symgrad.transforms.in_notebook import notebook_part

from .diagram import Diagram
from .folding import FOLDS, folded
from .layout import Layout, layout_of
from .svg import drawn
from .text import terminal, to_dot, to_mermaid

_numbers = itertools.count()


class Picture:
    """The program of a derivative as a picture; ``.svg``, ``.dot`` and ``.mermaid`` are its forms as text.

    In a notebook it shows itself as SVG, in a terminal as text; ``.explore()`` opens it with a click on each box.
    """

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        #: begins every id, so that several pictures can stand in one page
        self.name = f"sg-{os.getpid():x}-{next(_numbers)}"

    def by(self, fold: str) -> Picture:
        """The same program folded by ``line``, ``loop`` or ``stretch``, or a box each ``operation``."""
        return Picture(folded(self.diagram.subject, fold))

    @cached_property
    def _laid_out(self) -> tuple[Diagram, Layout]:
        """The diagram as it is drawn: folded further where Graphviz takes too long."""
        for fold in (None, *FOLDS[1:]):
            diagram = self.diagram if fold is None else folded(self.diagram.subject, fold)
            layout = layout_of(diagram)
            if layout is not None:
                return diagram, layout
        diagram = folded(self.diagram.subject, FOLDS[-1])
        layout = layout_of(diagram, by_layers=True)
        assert layout is not None
        return diagram, layout

    @property
    def shown(self) -> Diagram:
        """The diagram as it is drawn."""
        return self._laid_out[0]

    @cached_property
    def svg(self) -> str:
        """The picture as SVG that needs nothing else."""
        return self.drawn(self.name)

    def drawn(self, name: str) -> str:
        """The same SVG with another beginning of its ids, for another place of the same page."""
        return drawn(*self._laid_out, name)

    @property
    def dot(self) -> str:
        """The picture in Graphviz's language."""
        return to_dot(self.diagram)

    @property
    def mermaid(self) -> str:
        """The picture in Mermaid's language, for Markdown."""
        return to_mermaid(self.diagram)

    def explore(self) -> Any:
        """A widget with the picture, in which a click on a box shows its formula, value and source line."""
        return notebook_part("picture.widget").PictureWidget(self)

    def save(self, path: str | os.PathLike) -> None:
        """Write the picture; the ending says in which form: ``.svg``, ``.dot``, ``.mmd`` or ``.txt``."""
        path = pathlib.Path(path)
        if path.suffix not in _FORMS:
            raise ArgumentError(f"save: {path.name} ends in none of {', '.join(_FORMS)}, which say the form.")
        path.write_text(_FORMS[path.suffix](self), encoding="utf-8")

    def __str__(self) -> str:
        return terminal(self.diagram)

    __repr__ = __str__

    def folded_away(self) -> dict[str, str]:
        """A bundle with the picture behind a line to click, for what stands beside a widget that shows it."""
        data = base64.b64encode(self.svg.encode()).decode()
        image = f'<img alt="{html.escape(self.diagram.summary)}" src="data:image/svg+xml;base64,{data}">'
        line = "<summary>the picture as it stays without a kernel</summary>"
        return {"text/html": f"<details>{line}{image}</details>", "text/plain": str(self)}

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": str(self)}


_FORMS: dict[str, Callable[[Picture], str]] = {
    ".svg": lambda p: p.svg,
    ".dot": lambda p: p.dot,
    ".mmd": lambda p: p.mermaid,
    ".txt": str,
}

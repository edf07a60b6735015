"""Steps: a whole derivation, to read, to print and to run."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from ...errors import ArgumentError
from ...program.dims import is_named
from ...program.node import Node
from ..latex import aligned
from .lines import spelled_shape
from .naming import Name, composed
from .step import Step

#: lines that are shown of a derivation
MAX_LINES = 80
_FUNCTION, _BACKWARD, _FORWARD, _RESULT, _CONSTANTS = (
    "The function",
    "The chain rule, from the output back; x̄ is the derivative by x",
    "The chain rule, from the arguments on; ẋ is the derivative of x",
    "Put together",
    "Arrays that the function reads",
)
_HEADINGS = {"value": _FUNCTION, "cotangent": _BACKWARD, "tangent": _FORWARD}


class Steps(Sequence[Step]):
    """A derivation: the function's own lines, then the chain rule through each, then the derivative put together.

    It is a sequence of ``Step``, each with ``text``, ``latex`` and ``why``; as a whole it prints (``str``), and shows
    as mathematics in a notebook. Of a long one ``budget`` lines are shown, the first and the last of each part.
    """

    def __init__(
        self,
        title: str,
        steps: Sequence[Step],
        result: Sequence[tuple[str, str, str]],
        inputs: Sequence[tuple[Node, Name, Any]],
        budget: int,
        notes: Sequence[str] = (),
        constants: Sequence[tuple[Name, str, str, str]] = (),
    ) -> None:
        """``result`` are the derivatives put together: text, LaTeX and why; ``inputs`` are what the arguments hold.

        ``notes`` say for what all of it holds; ``constants`` are further names, each with the line that says what it
        is: text, LaTeX and why. Those that occur in what is shown are shown too.
        """
        self.title = title
        self.result = list(result)
        self.notes = list(notes)
        self._steps = list(steps)
        self._inputs = list(inputs)
        self._constants = list(constants)
        self._budget = budget

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> list[Step]: ...
    def __getitem__(self, index: Any) -> Any:
        return self._steps[index]

    def __len__(self) -> int:
        return len(self._steps)

    def latex(self) -> str:
        """All lines in one ``aligned`` environment, each with its reason."""
        rows: list[str] = []
        for kind, lines in self._parts():
            if rows:
                rows.append(rf"&\quad\rlap{{\text{{{_escaped(kind)}}}}}")  # wider than any line
            rows += [rf"{latex} && \text{{{_escaped(why)}}}" for _, latex, why in lines]
        return aligned(rows)

    def markdown(self) -> str:
        """Headings, and under each a table: the line as mathematics, and its reason."""
        made = [f"**{_plain(self.title)}**", *map(_plain, self.notes)]
        for kind, lines in self._parts():
            rows = [f"$\\displaystyle {_one_line(latex)}$ | {_plain(why)}" for _, latex, why in lines]
            made += [f"{kind}\n\n| | |\n|:--|:--|\n" + "\n".join(f"| {row} |" for row in rows)]
        return "\n\n".join(made)

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str:
        """A table, whose mathematics the notebook sets."""
        made = [f"<p><b>{html.escape(self.title)}</b>{''.join('<br>' + html.escape(n) for n in self.notes)}</p>"]
        for kind, lines in self._parts():
            cells = "".join(
                f'<tr><td style="text-align:left">$\\displaystyle {html.escape(_one_line(latex))}$</td>'
                f'<td style="text-align:left;opacity:.7">{html.escape(why)}</td></tr>'
                for _, latex, why in lines
            )
            made.append(f"<p>{html.escape(kind)}</p><table>{cells}</table>")
        return "\n".join(made)

    def __str__(self) -> str:
        parts = self._parts()
        longest = [_width(text) for _, lines in parts for text, _, _ in lines if _width(text) <= _WIDEST]
        wide = max(longest, default=0)
        made = [self.title, *self.notes]
        for kind, lines in parts:
            made.append(f"\n{kind}")
            for text, _, why in lines:
                beside = _width(text) <= wide or not why
                made.append(f"  {text}" if beside else f"  {text}\n  ")
                made[-1] += " " * (wide - _width(text) * beside) + f"    {why}"
        return "\n".join(line.rstrip() for line in made)

    __repr__ = __str__

    def _parts(self) -> list[tuple[str, list[tuple[str, str, str]]]]:
        """What is shown, under headings: (text, LaTeX, why) a line."""
        parts: list[tuple[str, list[Step]]] = []
        for step in self._steps:
            heading = _HEADINGS[step.kind]
            if not parts or parts[-1][0] != heading:
                parts.append((heading, []))
            parts[-1][1].append(step)
        shown = [(heading, list(self._cut(steps))) for heading, steps in parts]
        shown += [(_RESULT, self.result)] if self.result else []
        texts = "\n".join(text for _, lines in shown for text, _, _ in lines)
        used = [c[1:] for c in self._constants if re.search(rf"(?<![A-Za-z_]){c[0]}(?![0-9_])", texts)]
        return [*shown, (_CONSTANTS, used)] if used else shown

    def _cut(self, steps: Sequence[Step]) -> Iterator[tuple[str, str, str]]:
        """Their lines; of a part of a long derivation the first and the last ones."""
        count = len(steps)
        quota = max(2, self._budget * count // len(self._steps)) if len(self._steps) > self._budget else count
        head = (quota + 1) // 2
        left_out = count - quota if count > quota + 1 else 0  # a note is as long as one line
        for k, step in enumerate(steps):
            if left_out > 0 and k == head:
                more = f"{left_out} more lines"
                note = f"… {more}, budget={len(self._steps)} shows all"
                yield note, rf"&\;\;\vdots \quad \text{{{more}}}", ""
            if not head <= k < head + left_out:
                yield step.text, step.latex, step.why

    def values(self, given: Mapping[str, Any] | None = None) -> dict[str, np.ndarray]:
        """Every value, by its name: the steps computed line by line, nothing else.

        The arguments are those that the steps were asked for with; ``given`` has others by name, and what a seed that
        may be any array is (ones otherwise).

        >>> import symgrad
        >>> symgrad.grad(lambda x: x * x).steps(3.0).values()["x̄"]
        array(6.)
        """
        given = {composed(name): value for name, value in (given or {}).items()}
        values: dict[Node, Any] = {}
        for node, name, array in self._inputs:
            held = given.pop(name, array)
            if held is None:
                raise ArgumentError(f"values: pass {name}, an array of shape {spelled_shape(node.shape)}.")
            values[node] = np.asarray(held, node.dtype)
        sizes = {
            d: size
            for node, _, _ in self._inputs
            for d, size in zip(node.shape, values[node].shape, strict=True)
            if is_named(d) and d.is_Symbol
        }
        for step in self._steps:
            if step.root is None:
                shape = tuple([int(d.subs(sizes)) if is_named(d) else d for d in step.target.shape])
                values[step.target] = np.array(given.pop(step.name, np.ones(shape)), step.target.dtype)
            else:
                step.run(values, sizes)
        if given:
            raise ArgumentError(f"values: there is no argument or free seed called {', '.join(map(repr, given))}.")
        named = {name.text: values[node] for node, name, _ in self._inputs}
        return named | {s.name.text: values[s.target] for s in self._steps}


_WIDEST = 64


def _width(text: str) -> int:
    """The columns that ``text`` takes: marks stand over the letter before them."""
    return sum(not unicodedata.combining(c) for c in text)


_SPECIAL = {c: rf"$\{c}$" for c in "{}$&#%_"} | {"\\": r"$\backslash$", "^": r"$\hat{}$", "~": r"$\sim$", "|": "$|$"}


def _escaped(text: str) -> str:
    """Words in LaTeX: its own signs escaped, mathematics that Unicode writes set as such."""
    text = "".join(_SPECIAL.get(c, c) for c in unicodedata.normalize("NFD", text))
    text = text.replace("⁻¹", "$^{-1}$").replace("ᵀ", r"$^\top$").replace("±", r"$\pm$").replace("−", "$-$")
    text = re.sub("[₀-₉]+", lambda m: f"$_{{{m[0].translate(_DIGITS)}}}$", text)
    text = text.replace("·", r"$\cdot$").replace("…", r"$\ldots$").replace("’", "'")
    text = re.sub("(.)\u0304", r"$\\bar{\1}$", text)
    text = re.sub("(.)\u0307", r"$\\dot{\1}$", text)
    return re.sub("((?:.\u0305)+)", lambda m: rf"$\overline{{\mathit{{{m[0].replace(chr(0x305), '')}}}}}$", text)


_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def _plain(text: str) -> str:
    """Words in Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>#|$])", r"\\\1", text)


def _one_line(latex: str) -> str:
    """A row without its alignment, for a cell of its own; ``|`` would end the cell."""
    return latex.replace("&", "", 1).replace(r"\|", r"\Vert ").replace("|", r"\vert ")

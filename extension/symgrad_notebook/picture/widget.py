"""The picture as a widget: a click on a box shows its formula and its value."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from IPython.core.getipython import get_ipython
from IPython.display import display

from ..errors import one_line
from ..widgets import Answer, AskingWidget
from .details import details
from .folding import FOLDS

if TYPE_CHECKING:
    from .picture import Picture

_HERE = pathlib.Path(__file__).parent


class PictureWidget(AskingWidget):
    """Shows a Picture whose boxes answer; what it shows comes as messages, so nothing is saved with the notebook."""

    _esm = _HERE / "picture.js"
    _css = _HERE / "picture.css"

    def __init__(self, picture: Picture) -> None:
        super().__init__(picture.diagram.title)
        self._picture = picture

    def _ipython_display_(self) -> None:
        """The picture as it stays when the widget is gone, folded away, and then the widget."""
        display(self._picture.folded_away(), raw=True)
        if hasattr(get_ipython(), "kernel"):  # a terminal has no widgets
            bundle, metadata = self._repr_mimebundle_() or ({}, {})
            display(bundle, metadata=metadata, raw=True)

    def answers(self, message: dict[str, Any]) -> Iterator[Answer]:
        """What one message of the front end is answered with."""
        try:
            yield self._answer(message), []
        except Exception as error:
            yield {"kind": "error", "text": one_line(error)}, []

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        if message.get("kind") == "box":
            key = str(message.get("key"))
            return {"kind": "details", "key": key, "rows": details(self._picture.shown, key)}
        if message.get("kind") == "fold":
            self._picture = self._picture.by(str(message.get("by")))
        shown = self._picture.shown
        folds = [fold for fold in FOLDS if fold != "line" or shown.subject.line]
        svg = self._picture.drawn(f"{self._picture.name}-w")
        return {"kind": "picture", "svg": svg, "by": shown.by, "folds": folds}

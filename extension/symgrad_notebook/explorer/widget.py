"""The explorer as a widget."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..widgets import Answer, AskingWidget

if TYPE_CHECKING:
    from .explorer import Explorer

_HERE = pathlib.Path(__file__).parent


class ExplorerWidget(AskingWidget):
    """Shows ``explorer`` in every front end that has widgets."""

    _esm = _HERE / "explorer.js"
    _css = _HERE / "explorer.css"

    def __init__(self, explorer: Explorer) -> None:
        super().__init__(explorer.title)
        self._explorer = explorer

    def answers(self, message: dict[str, Any]) -> Iterator[Answer]:
        """What the explorer says to a message."""
        return self._explorer.answers(message)

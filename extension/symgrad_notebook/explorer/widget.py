"""The explorer as an anywidget: messages from the front end in, answers out; nothing but these is synchronised."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

import anywidget

from ..coalescing import Newest

if TYPE_CHECKING:
    from .explorer import Explorer

_HERE = pathlib.Path(__file__).parent


class ExplorerWidget(anywidget.AnyWidget):
    """Shows ``explorer`` in every front end that has widgets."""

    _esm = _HERE / "explorer.js"
    _css = _HERE / "explorer.css"

    def __init__(self, explorer: Explorer) -> None:
        super().__init__()
        self._explorer = explorer
        self._newest = Newest(self._reply)
        self.on_msg(self._received)

    def _received(self, _: Any, message: Any, buffers: Any) -> None:
        if isinstance(message, dict):
            self._newest.ask(f"{message.get('view')} {message.get('kind')}", message)

    def _reply(self, message: dict[str, Any]) -> None:
        for content, buffers in self._explorer.answers(message):
            self.send(content, list(buffers))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            bundle[0]["text/plain"] = f"{self._explorer.title}: run the cell to explore it"
        return bundle

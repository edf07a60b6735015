"""Widgets that ask their kernel: messages of the front end in, answers out; nothing but these is synchronised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import anywidget

from .coalescing import Newest

#: the content of a message to the front end, and its buffers
Answer = tuple[dict[str, Any], Sequence[bytes]]


class AskingWidget(anywidget.AnyWidget):
    """A widget whose front end asks: subclasses say in ``answers`` what for.

    Of requests of a kind that wait, from the same view, only the newest is answered. ``title`` stands where there
    are no widgets.
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._newest = Newest(self._reply)
        self.on_msg(self._received)

    def answers(self, message: dict[str, Any]) -> Iterator[Answer]:
        """The answers to one message."""
        raise NotImplementedError

    def _received(self, _: Any, message: Any, buffers: Any) -> None:
        if isinstance(message, dict):
            self._newest.ask(f"{message.get('view')} {message.get('kind')}", message)

    def _reply(self, message: dict[str, Any]) -> None:
        for content, buffers in self.answers(message):
            self.send(content, list(buffers))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            bundle[0]["text/plain"] = f"{self._title}: run the cell to explore it"
        return bundle

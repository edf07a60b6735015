"""Explorer: a Jacobian at some arguments, ready to be looked at, and the answers to what a front end asks of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.errors import MissingPart
from symgrad.signature import called_name
from symgrad.tracing.tree import tree_map
from symgrad.transforms.in_notebook import notebook_part
from symgrad.transforms.jacobian import JacobianFunction

from ..errors import one_line
from ..structure import visible
from .blocks import Block, blocks_of
from .pooling import INFINITY, MINUS_INFINITY, NAN, NUMBER, ZERO, Window
from .reading import closed_form, contributions, spelled
from .scale import DARK, LIGHT, TOP, Colors, ramp, rgb
from .static import StaticPicture, described

#: cells that are sent at most each way: more than a screen has pixels for
_MAX_CELLS = 1024
#: values that are sent at most, to be written into cells
_MAX_VALUES = 2**14
_THUMBNAIL = 40
_ODD = (NAN, INFINITY, MINUS_INFINITY)

Answer = tuple[dict[str, Any], Sequence[bytes]]


class Explorer:
    """What ``J.explore(…)`` returns: displayed, it is a picture that stays and the widget that opens beside it.

    ``static()`` is the picture alone. ``answers(message)`` says what the widget shows; it needs no front end.
    The values are those at the arguments as they were; a later change of an array is not seen.

    >>> import symgrad
    >>> explorer = Explorer(symgrad.jacobian(lambda x: x[1:] * x[:-1]), (np.ones(4),), {})
    >>> explorer
    Jacobian of f
      out by x: 3 × 4, 6 entries (50%), the others zero by structure, magnitudes 1 to 1
    """

    def __init__(self, derivative: JacobianFunction, args: tuple, kwargs: dict[str, Any]) -> None:
        self._derivative = derivative
        self._args, self._kwargs = tree_map(_kept, (tuple(args), dict(kwargs)))
        self.blocks: list[Block] = blocks_of(derivative, self._args, self._kwargs)
        self.title = visible(f"{derivative.verb.title()} of {called_name(derivative.fn)}")
        self._inputs = len({b.by.name: None for b in self.blocks})
        self._widget: Any = None

    def static(self) -> StaticPicture:
        """The picture of all blocks, which needs no kernel."""
        return StaticPicture(self.blocks, self._inputs, self.title)

    @property
    def widget(self) -> Any:
        """The widget alone, made at the first use; it shows the same explorer wherever it is displayed."""
        if self._widget is None:
            self._widget = notebook_part("explorer.widget").ExplorerWidget(self)
        return self._widget

    def _ipython_display_(self) -> None:
        from IPython.core.getipython import get_ipython
        from IPython.display import display

        display(self.static())
        if hasattr(get_ipython(), "kernel"):  # a terminal has no widgets
            try:
                display(self.widget)
            except MissingPart as error:  # the picture is there: a traceback would say no more
                display({"text/plain": str(error)}, raw=True)

    def __repr__(self) -> str:
        return self.static().text

    def answers(self, message: dict[str, Any]) -> Iterator[Answer]:
        """The answers to a message of the front end, each a dict and buffers.

        ``open`` asks for what there is, ``window`` for a grid of levels and marks, ``values`` for the finite values
        in a window, ``look`` for its most notable entry, ``pick`` for the formula of that and the lines it comes from.
        """
        asked = {
            "open": self._open,
            "window": self._window,
            "values": self._values,
            "look": self._look,
            "pick": self._pick,
        }
        try:
            for content, buffers in asked[message["kind"]](message):
                yield {"view": message["view"], "serial": message["serial"], **content}, buffers
        except Exception as error:
            failed = {"kind": "problem", "of": message.get("kind"), "text": one_line(error)}
            yield {"view": message.get("view"), "serial": message.get("serial"), **failed}, []

    def _open(self, message: dict[str, Any]) -> Iterator[Answer]:
        buffers = [part for colors in (LIGHT, DARK) for part in _palette(colors)]
        for block in self.blocks:
            pooled = block.entries.pooled(block.whole, _bins(block, _THUMBNAIL))
            buffers += [block.linear.levels(pooled.values).tobytes(), pooled.marks.tobytes()]
        content = {
            "kind": "blocks",
            "title": self.title,
            "inputs": self._inputs,
            "most": _MAX_CELLS,
            "blocks": [_summary(b) for b in self.blocks],
        }
        yield content, buffers

    def _window(self, message: dict[str, Any]) -> Iterator[Answer]:
        block, window, place = self._asked(message)
        rows, columns = window.shape
        bins = min(rows, _MAX_CELLS), min(columns, _MAX_CELLS)
        pooled = block.entries.pooled(window, bins)
        scale = block.log if message["log"] else block.linear
        buffers = [scale.levels(pooled.values).tobytes(), np.ascontiguousarray(pooled.marks).tobytes()]
        yield {"kind": "window", "log": message["log"], "bins": bins, **place}, buffers

    def _values(self, message: dict[str, Any]) -> Iterator[Answer]:
        block, window, place = self._asked(message)
        rows, columns = window.shape
        if rows * columns > _MAX_VALUES:
            raise ValueError(f"{rows} × {columns} values are more than are written into cells")
        values = block.entries.pooled(window, window.shape).values
        yield {"kind": "values", **place}, [np.ascontiguousarray(values).tobytes()]

    def _look(self, message: dict[str, Any]) -> Iterator[Answer]:
        block, place = self._found(message)
        yield {"kind": "look", **_named(block, place)}, []

    def _pick(self, message: dict[str, Any]) -> Iterator[Answer]:
        block, place = self._found(message)
        form = closed_form(self._derivative, block, place, self._args, self._kwargs)
        yield {"kind": "entry", **_named(block, place), **form}, []
        listing = contributions(self._derivative, block, place, self._args, self._kwargs)
        yield {"kind": "lines", **listing}, []

    def _found(self, message: dict[str, Any]) -> tuple[Block, tuple[int, int]]:
        block, window, _ = self._asked(message)
        return block, block.entries.strongest(window)

    def _asked(self, message: dict[str, Any]) -> tuple[Block, Window, dict[str, Any]]:
        """The window that a message is about, and how the answer names it."""
        block = self.blocks[message["block"]]
        (top, bottom), (left, right) = message["rows"], message["columns"]
        window = Window(top, bottom, left, right).within(block.shape)
        rows, columns = [window.top, window.bottom], [window.left, window.right]
        return block, window, {"block": block.number, "rows": rows, "columns": columns}


def _kept(value: Any) -> Any:
    """An argument as it is now, whatever is written into it later."""
    return copy.copy(value) if isinstance(value, np.ndarray) else value


def _named(block: Block, place: tuple[int, int]) -> dict[str, Any]:
    """An entry: where it is, what it is called, its value and whether it is zero by structure."""
    value, mark = block.entries.at(*place)
    return {
        "block": block.number,
        "row": place[0],
        "column": place[1],
        "title": block.title(*place),
        "value": spelled(value, 9),
        "structural": mark == ZERO,
    }


def _palette(colors: Colors) -> tuple[bytes, bytes]:
    """The colours of the levels and of the marks, four bytes each."""
    levels = ramp(colors["stops"], np.arange(-TOP, TOP + 1), TOP)
    marks = np.array([rgb(colors[name]) for name in ("paper", "hatch", "ink", "alarm")], np.uint8)
    opaque, also = (np.insert(c, 3, 255, axis=1).tobytes() for c in (levels, marks))
    return opaque, also


def _bins(block: Block, most: int) -> tuple[int, int]:
    rows, columns = block.shape
    return min(rows, most), min(columns, most)


def _summary(block: Block) -> dict[str, Any]:
    return {
        "out": {"name": block.out.name, "shape": block.out.shape},
        "by": {"name": block.by.name, "shape": block.by.shape},
        "shape": block.shape,
        "bins": _bins(block, _THUMBNAIL),
        "text": described(block),
        "ticks": {"linear": block.linear.ticks, "log": block.log.ticks},
        "zeros": block.entries.count(ZERO),
        "numbers": block.entries.count(NUMBER),
        "odd": [
            {"mark": mark, "count": block.entries.count(mark), "first": block.entries.first(mark)}
            for mark in _ODD
            if block.entries.count(mark)
        ],
    }

"""The rows of a DataFrame, one after the other: those with text in them too."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from .labels import refuse

if TYPE_CHECKING:
    from .labelled import LabelledTracer


class Row(dict):
    """A row of traced numbers and of what is none, by the names of the columns, as code reads a Series of both."""

    def __init__(self, columns: dict[Any, Any], label: Any) -> None:
        super().__init__(columns)
        self.name = label

    index = property(lambda self: list(self.keys()))
    size = property(len)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self or hasattr(sys.modules["pandas"].Series, name):  # which pandas looks for first
            self._refuse(name)
        return self[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())  # as of a Series

    def __setitem__(self, name: Any, value: Any) -> NoReturn:
        self._refuse("[…] = …")

    def _refuse(self, what: str) -> NoReturn:
        refuse(f"{what} of a row with columns that are no numbers", "Take what you need of it: row['a']")


def rows(value: LabelledTracer, places: Iterable[int] | None = None) -> Iterator[tuple[Any, Any]]:
    """Each label with its row, at these places or everywhere."""
    numbers, index = value._with_known(), value.index
    places = range(len(index)) if places is None else places
    if not numbers._labels.others:
        return ((index[k], numbers.iloc[k]) for k in places)
    columns = {name: value[name] for name in value}
    arrays = {n: c._array if type(c) is type(value) else c.array for n, c in columns.items()}
    return ((index[k], Row({n: a[k] for n, a in arrays.items()}, index[k])) for k in places)

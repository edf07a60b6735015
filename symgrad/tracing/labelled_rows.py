"""The rows of a DataFrame, one after the other: those with text in them too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from .labels import refuse

if TYPE_CHECKING:
    from .labelled import LabelledTracer


class Row(dict):
    """A row of traced numbers and of what is none, by the names of the columns, as code reads a Series of both."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        if name == "index":
            return list(self.keys())
        if name.startswith("_"):
            raise AttributeError(name)
        self._refuse(name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())  # as of a Series

    def __setitem__(self, name: Any, value: Any) -> NoReturn:
        self._refuse("[…] = …")

    def _refuse(self, what: str) -> NoReturn:
        refuse(f"{what} of a row with columns that are no numbers", "Take what you need of it: row['a']")


def rows(value: LabelledTracer) -> Iterator[tuple[Any, Any]]:
    """Each label with its row."""
    if not value._labels.others:
        return ((label, value.iloc[k]) for k, label in enumerate(value.index))
    columns = {name: value[name] for name in value}
    arrays = {n: c._array if type(c) is type(value) else c.array for n, c in columns.items()}
    return ((label, Row({n: a[k] for n, a in arrays.items()})) for k, label in enumerate(value.index))

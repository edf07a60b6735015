"""Series and DataFrames that a traced function makes of traced values, and methods of known ones that get them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from .dispatch import answers_for
from .labelled import LabelledTracer, lifted
from .labelled_columns import with_columns
from .labelled_places import OTHERWISE, moved_together, moving
from .labelled_writing import copies_on_write
from .labels import Labels, refuse
from .library_code import concerns
from .local_array import holds_traced, unwrapped
from .making import array_of
from .trace import as_node
from .tracer import Tracer


def _array(value: Any) -> Any:
    """Traced values as one array; their lists too."""
    return array_of(list(value)) if isinstance(value, (list, tuple)) else value


def _kept(array: Any, copy: bool | None) -> Any:
    """The array that pandas keeps: of its own, where it copies on write, unless it is told not to copy."""
    return Tracer(as_node(array)) if copy or (copy is None and copies_on_write()) else array


@answers_for("pandas.Series")
def _series(data: Any = None, index: Any = None, dtype: Any = None, name: Any = None, **named: Any) -> Any:
    if named.keys() - {"copy"} or not (dtype is None or np.dtype(dtype).kind == "f"):
        refuse("pandas.Series with these arguments", OTHERWISE)
    if isinstance(data, dict):  # of which an index picks
        data = _series(list(data.values()), list(data))
    if type(data) is LabelledTracer:
        made = data.copy() if index is None else moving(data, "reindex", index)
        return made if name is None else moving(made, "rename", name)
    array = _array(data)
    values = _kept(array, named.get("copy")) if np.ndim(array) else array * np.ones(1 if index is None else len(index))
    return LabelledTracer(values, Labels(sys.modules["pandas"].Series(np.zeros(values.shape), index, name=name)))


@answers_for("pandas.DataFrame")
def _frame(data: Any = None, index: Any = None, columns: Any = None, dtype: Any = None, copy: Any = None) -> Any:
    if not (dtype is None or np.dtype(dtype).kind == "f"):
        refuse("pandas.DataFrame of another dtype", OTHERWISE)
    kind = sys.modules["pandas"].DataFrame
    if isinstance(data, (list, tuple)) and len(data):
        data, columns = _by_column(data, columns)
    if not isinstance(data, Mapping):
        labels = Labels(kind(_without_values(data), index, columns))
        if type(data) is LabelledTracer:
            return LabelledTracer(data._array, labels)
        return LabelledTracer(np.reshape(_kept(data, copy), labels.shape), labels)
    known = kind({name: _without_values(column) for name, column in data.items()}, index, columns)
    own = {name: column for name, column in data.items() if concerns(column, 0) and name in known}
    return with_columns(lifted(known), own)


@answers_for("pandas.DataFrame.from_dict")
def _from_dict(_: type, data: Any, orient: str = "columns", dtype: Any = None, columns: Any = None) -> Any:
    if orient not in ("columns", "index") or (orient == "columns" and columns is not None):
        refuse(f"pandas.DataFrame.from_dict with orient={orient!r}", OTHERWISE)
    return _frame(data, dtype=dtype) if orient == "columns" else _frame(list(data.values()), list(data), columns, dtype)


def _by_column(rows: Any, columns: Any) -> tuple[Any, Any]:
    """Rows as columns, by name; rows that are dicts have the names. An array of rows of numbers stays one."""
    if isinstance(rows[0], Mapping):
        names = list(rows[0])
        if any(list(row) != names for row in rows):
            refuse("pandas.DataFrame of rows with other names", "Give each row the same names")
        return {name: [row[name] for row in rows] for name in names}, columns
    if columns is None or not isinstance(rows[0], (list, tuple)):
        return _array(rows), columns
    return dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)), None


def _without_values(value: Any) -> Any:
    """What has the labels and the shape of ``value``: zeros, where that is traced."""
    if type(value) is LabelledTracer:
        return value._labels.without_values()
    if not holds_traced(value):
        return unwrapped(value)
    array = _array(value)
    return np.zeros(np.shape(array), array.dtype)[()]


@answers_for("pandas.concat")
def _concat(objs: Any, **named: Any) -> Any:
    """The parts one behind or beside the other: a dict has their keys."""
    if isinstance(objs, Mapping):
        named, objs = {"keys": list(objs), **named}, list(objs.values())
    parts = [lifted(part) for part in objs if part is not None]
    return moved_together(parts, lambda values: sys.modules["pandas"].concat(values, **named), "concat")


@answers_for("pandas.merge")
def _merge(left: Any, right: Any, *args: Any, **named: Any) -> Any:
    return lifted(left).merge(right, *args, **named)


@answers_for("pandas.*")
def _method(known: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """A method of a Series or a DataFrame that is known, of traced values."""
    if name == "map" and not kwargs and type(args[0]) is LabelledTracer:
        return LabelledTracer(moving(args[0], "reindex", known.to_numpy())._array, Labels(known))
    if name == "map" and not kwargs and type(args[0]) is dict:  # others may say what is missing
        return _series([args[0].get(k, np.nan) for k in known], known.index, name=known.name)
    return getattr(lifted(known), name)(*args, **kwargs)

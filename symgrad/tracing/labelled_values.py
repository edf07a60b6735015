"""Methods of Series and DataFrames that go by what the elements are in this run: which are equal, in a set, in a bin.

Where they give no elements, what they give is known, and has no slope.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .dispatch import answers_for
from .labelled_places import OTHERWISE, in_this_run, moved, values_of
from .labels import Labels, refuse
from .local_array import holds_traced

if TYPE_CHECKING:
    from .labelled import LabelledTracer


def of_values(name: str) -> Callable:
    """A method whose result says something of the elements, and has none."""

    def told(self: LabelledTracer, *args: Any, **kwargs: Any) -> Any:
        if self._labels.dims is not None or holds_traced((args, kwargs)):
            refuse(f"{self._name}.{name} with these arguments", OTHERWISE)
        return getattr(in_this_run(self), name)(*args, **kwargs)

    return told


def drop_duplicates(
    self: LabelledTracer, subset: Any = None, *, keep: Any = "first", ignore_index: bool = False
) -> Any:
    """The first or the last of equal elements, or rows."""
    named = {} if subset is None else {"subset": subset}
    kept = ~in_this_run(self, subset).duplicated(keep=keep, **named)
    made = moved(self, lambda v: v[kept], "drop_duplicates")
    return made.set_axis(range(len(made)), axis=0) if ignore_index else made


def unique(self: LabelledTracer) -> Any:
    return drop_duplicates(self)._array


def query(self: LabelledTracer, expr: str) -> Any:
    """The rows for which an expression is true."""
    if "@" in expr:
        refuse("DataFrame.query with @names", "Write x[x['a'] > b]")
    known = self._labels.without_values()[self._labels.known_names]
    try:
        chosen = known.eval(expr)
    except sys.modules["pandas"].errors.UndefinedVariableError:  # it asks for traced ones too
        chosen = in_this_run(self).eval(expr)
    return moved(self, lambda v: v[chosen], "query")


def replace(self: LabelledTracer, to_replace: Any, value: Any = None) -> Any:
    """Others in place of these numbers."""
    pairs = to_replace if isinstance(to_replace, dict) else {to_replace: value} if np.ndim(to_replace) == 0 else {}
    if not pairs or any(np.ndim(v) or isinstance(v, str) for pair in pairs.items() for v in pair):
        refuse(f"{self._name}.replace so", OTHERWISE)
    array = self._of_numbers()._array
    conditions = [np.isnan(array) if k != k else array == k for k in pairs]
    return self._with(np.select(conditions, [np.broadcast_to(v, self.shape) for v in pairs.values()], array))


def moment(name: str) -> Callable:
    """``sem``, ``skew`` or ``kurt``, without the bias of a sample."""

    def made(self: LabelledTracer) -> Any:
        own = self._of_numbers()
        count, far = own.count(), own - own.mean()
        if name == "sem":
            return own.std() / count**0.5
        square, third, fourth = ((far**k).sum() for k in (2, 3, 4))
        if name == "skew":
            return count * (count - 1) ** 0.5 / (count - 2) * third / square**1.5
        scale = (count - 1) / ((count - 2) * (count - 3))
        return scale * (count * (count + 1) * fourth / square**2 - 3 * (count - 1))

    return made


def describe(self: LabelledTracer) -> Any:
    """The count, the mean, the deviation, the extremes and the quartiles."""
    own = self._of_numbers(only=True)
    quartiles = [own.quantile(q) for q in (0.25, 0.5, 0.75)]
    found = [own.count() * 1.0, own.mean(), own.std(), own.min(), *quartiles, own.max()]
    made = np.stack([getattr(v, "_array", v) for v in found])
    return type(self)(made, Labels(own._labels.without_values().describe()))


def pivot_table(
    self: LabelledTracer,
    values: Any = None,
    index: Any = None,
    columns: Any = None,
    aggfunc: Any = "mean",
    **named: Any,
) -> Any:
    """A statistic of the elements of each pair of keys, rows by columns."""
    if named.keys() - {"fill_value"} or not isinstance(values, str) or index is None or columns is None:
        refuse("DataFrame.pivot_table with these arguments", "Write groupby([…])[…].mean().unstack()")
    keys = [k for part in (index, columns) for k in (part if isinstance(part, list) else [part])]
    made = self.groupby(keys)[values].agg(aggfunc).unstack(columns)
    return made if named.get("fill_value") is None else made.fillna(named["fill_value"])


def _bins(name: str) -> Callable:
    def binned(x: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("retbins") or holds_traced((args, kwargs)) or np.ndim(x) != 1:
            refuse(f"pandas.{name} with traced bins, or of what is no Series", "Take a Series, in bins that are known")
        seen = in_this_run(x) if hasattr(x, "_labels") else values_of(x)
        return getattr(sys.modules["pandas"], name)(seen, *args, **kwargs)

    return binned


for _name in ("cut", "qcut", "get_dummies"):
    answers_for(f"pandas.{_name}")(_bins(_name))

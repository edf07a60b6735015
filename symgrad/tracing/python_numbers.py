"""Numbers of Python's among traced values: what was made of them by ``float``, ``int``, ``.item()`` and operators.

Python computes otherwise with its own than NumPy does with scalars: truth values are 0 and 1, whole numbers have any
size, and a list is repeated as often as one says.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ..primitives import functions as f
from ..primitives.identity import stop_gradient
from ..program.node import Node
from .dispatch import refuse
from .trace import as_node, current, stands_for_number

_KINDS = {float, int, bool, complex}
#: dtype.kind -> a number of Python's of it, which gives way to the dtypes beside it
_PYTHONS: dict[str, Any] = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}


def is_number(value: Any) -> bool:
    """Whether it is a number of Python, or stands for one."""
    return type(value) in _KINDS or stands_for_number(value) or _is_pythons(value)


def as_number(made: Any, is_pythons: bool = True) -> Any:
    """``made``, a new traced value, as a number of Python where it is one."""
    made._is_pythons = is_pythons
    return made


def _is_pythons(value: Any) -> bool:
    return hasattr(type(value), "_is_pythons") and value._is_pythons


def operands(values: Sequence[Any]) -> list[Node]:
    """The nodes of the operands of one operation: numbers of Python give way to the dtypes of the others."""
    nodes = [as_node(v) for v in values]
    yielding = [k for k, n in enumerate(nodes) if not n.weak and _is_pythons(values[k])]
    kept = [n.dtype for k, n in enumerate(nodes) if not n.weak and k not in yielding] if yielding else []
    if kept:
        for k in yielding:
            nodes[k] = _beside(nodes[k], kept)
    return nodes


def strong(node: Node) -> Node:
    """What a function of NumPy gives, of Python's numbers too: a value that gives way to no other."""
    return f.cast(node, node.dtype) if node.weak else node


def _beside(node: Node, kept: list[np.dtype]) -> Node:
    dtype = np.result_type(*kept, _PYTHONS[node.dtype.kind])
    return f.cast(node, dtype) if dtype.kind in "fc" else node


def is_truth(value: Any) -> bool:
    """Whether it stands for True or False of Python's, which is no truth value of NumPy's."""
    if stands_for_number(value):
        return value.__class__ is bool
    return _is_pythons(value) and value._node.dtype.kind == "b"


#: functions that give an array where others give a scalar: one without axes, which can be written to
_GIVING_ARRAYS = {np.where, np.select, np.copy, np.tensordot, np.roll, np.block, np.cov, np.cross, np.pad, np.tile}
_GIVING_ARRAYS |= {np.empty_like, np.zeros_like, np.ones_like, np.full_like}
#: functions whose result without axes may look into an array
_LOOKING = {np.reshape, np.squeeze, np.ravel, np.transpose, np.real, np.imag, np.diagonal, np.swapaxes, np.moveaxis}


def held_as(function: Callable, made: Any, given: Sequence[Any] = ()) -> Any:
    """What a function of NumPy gave of what was ``given``: where it has no axes, an array or a scalar, as in NumPy."""
    if not hasattr(type(made), "_is_array") or made.shape or made._is_pythons:
        return made
    is_array = function in _GIVING_ARRAYS
    if not is_array and (any(made is v for v in given) or (made._base is not None and function in _LOOKING)):
        return made
    held = type(made)(made._symgrad_node)
    held._is_array = is_array
    return held


def held_like(made: Any, value: Any) -> Any:
    """``made``, a new traced value: where it has no axes an array, in which NumPy writes, if ``value`` is one."""
    is_array = value._is_array if hasattr(type(value), "_is_array") else isinstance(value, np.ndarray)
    made._is_array = is_array and not made.shape
    made._is_pythons = made._node.weak or _is_pythons(value)
    return made


def is_count(self: Any) -> bool:
    """Whether a traced value is a whole number, of Python or NumPy, and no array without axes."""
    node = self._symgrad_node
    if node.shape or node.dtype.kind not in "iub":
        return False
    return self._is_pythons if node.dtype.kind == "b" else not self._is_array


def counted(self: Any, other: Any = True) -> Any:
    """A truth value of Python's beside another one, or alone, as a whole number."""
    if not (self._is_pythons and is_number(other)):
        return self
    return as_number(type(self)(f.add(self._symgrad_node, 0)))


#: whole numbers below are computed in 64 bits, with room for a step more
_FITS = 2.0**62
_IN_64_BITS = {f.add: operator.add, f.subtract: operator.sub, f.multiply: operator.mul}


def whole_number(function: Callable[[Any], Any], x: Any, rounded: Any) -> Any:
    """Python's whole number that ``function`` makes of a traced float: ``rounded``, where that it fits is guarded.

    Another one, and what raises an error for being none, is taken by its value, guarded.
    """
    node, trace = x._symgrad_node, current()
    if node.dtype.kind != "f" or trace is None or not trace.has_value(node):
        return as_number(rounded.astype(int))
    if not trace.guard(f.less(f.absolute(node), _FITS)):
        return function(float(trace.guard(node)))
    return as_number(rounded.astype(int))


#: the largest power of ten that a float holds exactly
_EXACT_TENS = 22


def rounded_to(digits: int, x: Any, by_numpy: Any) -> Any:
    """A traced float of Python, rounded to ``digits`` as Python does: its decimal number correctly, halves to even.

    NumPy rounds the product with 10**digits. That is another number where the product is rounded to a half: there ``x``
    is taken by its value, guarded. From 2**53 on the product is whole, and Python gives ``x``.
    """
    node, trace = x._symgrad_node, current()
    if node.dtype.kind != "f" or trace is None or not trace.has_value(node):
        return as_number(by_numpy)
    if abs(digits) > _EXACT_TENS:
        return round(float(trace.guard(node)), digits)
    away = f.multiply if digits > 0 else f.divide
    scaled = away(node, 10.0 ** abs(digits))
    if not trace.guard(f.less(f.absolute(scaled), 2.0**53)):
        return as_number(type(x)(stop_gradient(node)))
    if trace.guard(f.equal(f.subtract(scaled, f.floor(scaled)), 0.5)):
        return round(float(trace.guard(node)), digits)
    return as_number(by_numpy)


def beyond_64_bits(template: Any, left: Any, right: Any) -> Any:
    """What Python gives of two whole numbers where 64 bits may not hold it, of their values, guarded; else None."""
    operate, trace = _IN_64_BITS.get(template), current()
    if operate is None or trace is None or not (_is_whole(left) and _is_whole(right)):
        return None
    if any(type(v) is int and abs(v) >= _FITS for v in (left, right)):
        return of_any_size(operate, left, right)
    nodes = [as_node(v) for v in (left, right)]
    if not all(map(trace.has_value, nodes)):
        return None
    size = f.absolute(template(*[f.cast(n, np.dtype(float)) for n in nodes]))
    return None if trace.guard(f.less(size, _FITS)) else of_any_size(operate, left, right)


def beyond_bounds(kind: type[np.integer], x: Any) -> Any:
    """What NumPy makes of a number of Python that ``kind`` does not hold, of its value, guarded; else None.

    It raises an error, where the number is not one of NumPy's own.
    """
    node, trace = x._symgrad_node, current()
    if not x._is_pythons or node.dtype.kind not in "if" or trace is None or not trace.has_value(node):
        return None
    bounds = np.iinfo(kind)
    inside = f.logical_and(f.less(float(bounds.min) - 1, node), f.less(node, float(bounds.max) + 1))
    return None if trace.guard(inside) else kind(trace.guard(node).item())


def _is_whole(value: Any) -> bool:
    return type(value) is int or (_is_pythons(value) and value._node.dtype.kind in "iu")


def of_any_size(operate: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """What Python gives of its whole numbers, where that may be of any size: of their values, guarded; else None."""
    one, other = _whole_number(left), _whole_number(right)
    return None if one is None or other is None else operate(one, other)


def power_modulo(base: Any, exponent: Any, modulus: Any) -> int:
    """``pow(base, exponent, modulus)`` of whole numbers, which are guarded."""
    numbers = [_whole_number(v) for v in (base, exponent, modulus)]
    if None in numbers:
        refuse("pow() of three arguments is for whole numbers of Python alone.")
    return pow(*cast(list[int], numbers))


def _whole_number(value: Any) -> int | None:
    """Python's whole number that a value is or stands for, guarded; None for anything else."""
    if type(value) is int:
        return value
    if not _is_pythons(value):
        return None
    node, trace = value._node, current()
    if node.dtype.kind not in "iu" or trace is None or not trace.has_value(node):
        return None
    return int(trace.guard(node))

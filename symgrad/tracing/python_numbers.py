"""Numbers of Python's among traced values: what was made of them by ``float``, ``int``, ``.item()`` and operators.

Python computes otherwise with its own than NumPy does with scalars: truth values are 0 and 1, whole numbers have any
size, and a list is repeated as often as one says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..primitives import functions as f
from ..primitives.elementwise import Elementwise
from ..program.node import Node
from .trace import current, stands_for_number

#: operations between a number and what float() made, up to which it is known to be Python's
_MOST_STEPS = 64
_COMPARISONS = (f.less, f.less_equal, f.greater, f.greater_equal, f.equal, f.not_equal)


def is_pythons(node: Node) -> bool:
    """Whether a node is a number of Python: an argument, what ``float`` made, or what operators make of such."""
    trace = current()
    made = trace.python_numbers if trace is not None else ()
    if node.weak or node.shape or not (made or node.dtype.kind == "b"):
        return node.weak
    left, steps = [node], 0
    while left:
        n = left.pop()
        if n.weak or n in made:
            continue
        steps += 1
        if steps > _MOST_STEPS or not (isinstance(n.primitive, Elementwise) and _is_operator(n.primitive)):
            return False
        left += n.operands
    return True


def _is_operator(template: Elementwise) -> bool:
    return template.operator or template in _COMPARISONS


def is_number(value: Any) -> bool:
    """Whether it is a number of Python, or stands for one."""
    kind = type(value)
    if kind is float or kind is int or stands_for_number(value):
        return True
    return hasattr(kind, "_symgrad_node") and is_pythons(value._symgrad_node)


def is_truth(value: Any) -> bool:
    """Whether it stands for True or False of Python's, which is no truth value of NumPy's."""
    if stands_for_number(value):
        return value.__class__ is bool
    node = getattr(value, "_symgrad_node", None)
    return node is not None and node.dtype.kind == "b" and not node.shape and is_pythons(node)


#: functions that give an array where others give a scalar: one without axes, which can be written to
_GIVING_ARRAYS = {np.where, np.select, np.copy, np.tensordot, np.roll, np.block, np.cov, np.cross, np.pad, np.tile}
_GIVING_ARRAYS |= {np.empty_like, np.zeros_like, np.ones_like, np.full_like}
#: functions whose result without axes may look into an array
_LOOKING = {np.reshape, np.squeeze, np.ravel, np.transpose, np.real, np.imag, np.diagonal, np.swapaxes, np.moveaxis}


def held_as(function: Callable, made: Any, given: Sequence[Any] = ()) -> Any:
    """What a function of NumPy gave of what was ``given``: where it has no axes, an array or a scalar, as in NumPy."""
    if not hasattr(type(made), "_is_array") or made.shape:
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
    return made


def is_count(self: Any) -> bool:
    """Whether a traced value is a whole number, of Python or NumPy, and no array without axes."""
    node = self._symgrad_node
    if node.shape or node.dtype.kind not in "iub":
        return False
    return is_pythons(node) if node.dtype.kind == "b" else not self._is_array


def counted(self: Any, other: Any = True) -> Any:
    """A truth value of Python's beside another one, or alone, as a whole number."""
    is_other = type(other) is bool or (type(other) is type(self) and is_pythons(other._symgrad_node))
    return type(self)(f.add(self._symgrad_node, 0)) if is_other and is_pythons(self._symgrad_node) else self


def of_any_size(operate: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """What Python gives of its whole numbers, where that may be of any size: of their values, guarded; else None."""
    one, other = _whole_number(left), _whole_number(right)
    return None if one is None or other is None else operate(one, other)


def _whole_number(value: Any) -> int | None:
    """Python's whole number that a value is or stands for, guarded; None for anything else."""
    if type(value) is int:
        return value
    if not hasattr(type(value), "_symgrad_node") or stands_for_number(value):
        return None
    node, trace = value._symgrad_node, current()
    if node.dtype.kind not in "iu" or not is_pythons(node) or trace is None or not trace.has_value(node):
        return None
    return int(trace.guard(node))

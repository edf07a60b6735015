"""Numbers of Python's among traced values: what was made of them by ``float``, ``int``, ``.item()`` and operators.

Python computes otherwise with its own than NumPy does with scalars: truth values are 0 and 1, whole numbers have any
size, and a list is repeated as often as one says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


def may_be_array(node: Node) -> bool:
    """True for a value without axes that NumPy may have as an array, and not as a scalar: what no function computed."""
    trace = current()
    if trace is not None and node in trace.scalars:
        return False
    return node.primitive.name in ("input", "where") or all(o.is_literal for o in node.operands)


def is_count(self: Any) -> bool:
    """Whether a traced value is a whole number, of Python or NumPy, and no array without axes."""
    node = self._symgrad_node
    if node.shape or node.dtype.kind not in "iub":
        return False
    return is_pythons(node) if node.dtype.kind == "b" else not may_be_array(node)


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

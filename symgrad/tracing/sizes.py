"""Size: what ``x.shape`` holds for a named dim, a whole number that is not known while the function is traced.

It computes as an int does. With arrays, floats and NumPy functions it becomes a traced value; where the
function branches on it, the answer for this call is taken and guarded. ``np.zeros``, ``np.arange``, ``len`` and their
kin take it; where a number is needed (``range``) it is refused with the user's own line and the fix.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import sympy

from ..errors import ShapeError, UnknownSize
from ..primitives.casting import cast
from ..primitives.contraction import ones
from ..primitives.functions import subtract
from ..primitives.primitive import dim_value, literal
from ..primitives.reduction import cumulative_sum
from ..program.dims import Dim, Shape, is_concrete, is_named, normal
from ..program.node import Node
from .trace import SIZES_FIX, running
from .tree import tree_map


class Size:
    """The size of a named dim, or a whole expression of some. Made by ``x.shape``, never by users."""

    __slots__ = ("dim",)
    #: what a node is beside arrays, floats and NumPy functions; the tracer says so, whose shape is made of sizes
    traced: Callable[[Node], Any]

    def __init__(self, dim: sympy.Expr) -> None:
        self.dim = dim

    @property
    def _symgrad_node(self) -> Node:
        return dim_value(self.dim)

    def __repr__(self) -> str:
        return str(self.dim)

    # whole numbers stay sizes, everything else makes a traced value

    def __add__(self, other: Any) -> Any:
        return _computed(operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _computed(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _computed(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _computed(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, (tuple, list)):
            self.__index__()
        return _computed(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __neg__(self) -> Any:
        return shown(normal(-self.dim))

    def __pos__(self) -> Size:
        return self

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, (int, np.integer)):
            return shown(normal(self.dim**other)) if other >= 0 else 1 / self**-other
        return _traced(self) ** other

    def __rpow__(self, other: Any) -> Any:
        return _traced(other) ** _traced(self)

    def __truediv__(self, other: Any) -> Any:
        return _traced(self) / _traced(other)

    def __rtruediv__(self, other: Any) -> Any:
        return _traced(other) / _traced(self)

    def __floordiv__(self, other: Any) -> Any:
        return divided(self, other)[0] if is_whole(other) else _traced(self) // other

    def __rfloordiv__(self, other: Any) -> Any:
        return divided(other, self)[0] if is_whole(other) else other // _traced(self)

    def __mod__(self, other: Any) -> Any:
        return divided(self, other)[1] if is_whole(other) else _traced(self) % other

    def __rmod__(self, other: Any) -> Any:
        return divided(other, self)[1] if is_whole(other) else other % _traced(self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*[_traced(v) if isinstance(v, Size) else v for v in inputs], **kwargs)

    def __array_function__(self, func: Callable, types: Any, args: Any, kwargs: Any) -> Any:
        return func(*tree_map(_traced, args), **tree_map(_traced, kwargs))

    # questions are answered for this call, and guarded

    def __eq__(self, other: object) -> bool:
        return is_whole(other) and running().decides(normal(self.dim - whole(other)), "zero")

    def __hash__(self) -> int:
        return hash(self.dim)

    def __lt__(self, other: Any) -> Any:
        return not self >= other

    def __le__(self, other: Any) -> Any:
        return _nonnegative(other, self)

    def __gt__(self, other: Any) -> Any:
        return not self <= other

    def __ge__(self, other: Any) -> Any:
        return _nonnegative(self, other)

    def __bool__(self) -> bool:
        return not running().decides(self.dim, "zero")

    # what needs a number

    def __index__(self) -> NoReturn:
        raise UnknownSize.here(
            f"the size {self.dim} is needed here as a number, and it has none for every size. {SIZES_FIX}"
        )

    __int__ = __float__ = __index__

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        self.__index__()


def holds_size(value: Any) -> bool:
    """Whether a value, or one in a tuple or a list, is the size of a named dim."""
    return any(map(holds_size, value)) if isinstance(value, (tuple, list)) else type(value) is Size


def counted(dim: Dim) -> Any:
    """``np.arange(dim)``, for a named dim too."""
    if isinstance(dim, int):
        return np.arange(dim)
    return Size.traced(cast(subtract(cumulative_sum(ones((dim,)), 0), literal(1)), np.dtype(np.intp)))


def shown(dim: Dim) -> Any:
    """A dim as the traced function sees it."""
    return Size(dim) if is_named(dim) else dim


def shown_shape(shape: Shape) -> tuple:
    """A shape as the traced function sees it."""
    return shape if is_concrete(shape) else tuple(map(shown, shape))


def listed(numbers: Any) -> Sequence[Any]:
    """Axes or sizes that are given as one, in a sequence, or in an array."""
    if isinstance(numbers, (tuple, list, range)):
        return numbers
    return numbers.tolist() if isinstance(numbers, np.ndarray) and numbers.ndim else [numbers]


def whole(value: Any) -> Dim:
    """The dim that a size or a whole number is; a dim itself."""
    if isinstance(value, Size):
        return value.dim
    return value if is_named(value) else operator.index(value)


def divided(value: Any, by: Any) -> tuple[Any, Any]:
    """``divmod`` of whole numbers; the remainder is guarded where it depends on the sizes."""
    top, bottom = whole(value), whole(by)
    quotient = sympy.cancel(sympy.sympify(top) / bottom)
    if sympy.fraction(sympy.together(quotient))[1] == 1:
        return shown(normal(quotient)), 0
    if not isinstance(bottom, int):
        raise ShapeError.here(f"{top} // {bottom} is not a whole number for every size. {SIZES_FIX}")
    rest = running().fixed(sympy.Mod(top, bottom))
    return shown(normal((top - rest) / sympy.Integer(bottom))), rest


def concrete(shape: Shape, what: str) -> Shape:
    """``shape`` where all of it is known; an error that says ``what`` needs it where dims are named."""
    if is_concrete(shape):
        return shape
    listed = " and ".join(str(d) for d in shape if not isinstance(d, int))
    raise ShapeError.here(f"{what} needs sizes, and {listed} may be any. {SIZES_FIX}")


def is_whole(value: Any) -> bool:
    """True for a Size and a number; a traced value may pass for an int."""
    if isinstance(value, Size):
        return True
    return isinstance(value, (int, np.integer)) and not hasattr(value, "_symgrad_node")


def _traced(value: Any) -> Any:
    return Size.traced(value._symgrad_node) if isinstance(value, Size) else value


def _computed(operate: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if is_whole(left) and is_whole(right):
        return shown(normal(operate(whole(left), whole(right))))
    return operate(_traced(left), _traced(right))


def _nonnegative(large: Any, small: Any) -> Any:
    """``large >= small``."""
    if not (is_whole(large) and is_whole(small)):
        return _traced(large) >= _traced(small)
    return running().decides(normal(whole(large) - whole(small)), "nonnegative")

"""Python's operators and ndarray's methods on traced values: NumPy's functions of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, MissingAttribute, at_user_line
from ..primitives import functions as f
from ..primitives.elementwise import Elementwise
from .catching import raise_if_no_power, raise_if_zero
from .dispatch import DEFERRED, FUNCTIONS, refuse
from .labels import Labels, labels_of
from .python_numbers import (
    as_number,
    beyond_64_bits,
    counted,
    held_like,
    is_count,
    is_number,
    of_any_size,
    operands,
    power_modulo,
    rounded_to,
    whole_number,
)
from .sizes import listed
from .text import is_only_shown, note_text, value_of_text
from .trace import as_node, current, refuse_error_settings, running, stands_for_number

#: exponent -> what NumPy computes in place of a power of floats
_SHORT_POWERS: dict[float, Elementwise] = {1: f.positive, 2: f.square, 0.5: f.sqrt, -1: f.reciprocal}
_NOT_ARRAYS = (type(None), str, bytes, dict, set)
#: operation -> the method of an operand on its right
_REFLECTED: dict[Elementwise, str] = {
    f.add: "__radd__",
    f.subtract: "__rsub__",
    f.multiply: "__rmul__",
    f.divide: "__rtruediv__",
    f.floor_divide: "__rfloordiv__",
    f.remainder: "__rmod__",
    f.power: "__rpow__",
}

#: operations that give whole numbers
_WHOLE = (f.floor, f.ceil, f.trunc, f.rint, f.sign)
METHOD_FUNCTIONS: dict[str, Callable] = {
    name: getattr(np, name)
    for name in (
        *("sum", "mean", "prod", "max", "min", "var", "std", "cumsum", "argmax", "argmin", "argsort", "ravel", "all"),
        *("cumprod", "any", "squeeze", "swapaxes", "dot", "trace", "diagonal", "clip", "repeat", "take", "round"),
        *("choose", "searchsorted", "argpartition", "nonzero", "put"),
    )
}


def _compress(a: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return np.compress(condition, a, axis, out)


METHOD_FUNCTIONS["compress"] = _compress
METHODS = (*METHOD_FUNCTIONS, "transpose", "reshape", "astype", "flatten", "copy")

Operator = Callable[[Any, Any], Any]


def _binary(self: Any, template: Elementwise, left: Any, right: Any, other: Any) -> Any:
    kind = type(other)
    if kind is not type(self) and (kind in DEFERRED or isinstance(other, _NOT_ARRAYS) or _refuses_ufuncs(kind)):
        return NotImplemented
    if labels_of(kind):  # of what is known, which leaves it to this class
        if running().follow is None:
            refuse(f"an operation of a traced value and a {kind.__name__} asks for code whose calls are followed.")
        lifted = Labels.lifted(other)._of_numbers()
        sides = [lifted._array if v is other else v for v in (left, right)]
        return lifted._with(_binary(self, template, sides[0], sides[1], lifted._array))
    if other is right and not self.shape and _is_reflected(kind, template):
        return NotImplemented
    is_pythons = self._is_pythons and is_number(other)
    beyond = beyond_64_bits(template, left, right) if is_pythons else None
    return beyond if beyond is not None else as_number(type(self)(template(*operands((left, right)))), is_pythons)


def _is_reflected(kind: type, template: Elementwise) -> bool:
    """Whether a number leaves an operator to a class, which is none of arrays and says what it does from the right."""
    if template not in _REFLECTED or hasattr(kind, "__array_ufunc__") or hasattr(kind, "__array__"):
        return False
    return type(getattr(kind, _REFLECTED[template], None)) is FunctionType and not hasattr(kind, "_symgrad_node")


def _refuses_ufuncs(kind: type) -> bool:
    """Whether NumPy leaves operators to a class."""
    return getattr(kind, "__array_ufunc__", True) is None


def _is_beside_list(number: Any, other: Any) -> bool:
    """Whether a number of Python stands beside a list or tuple, of which it makes no array."""
    return number._is_pythons and isinstance(other, (list, tuple))


def _left(template: Elementwise) -> Operator:
    def operate(self: Any, other: Any) -> Any:
        kind = type(self)
        if _is_beside_list(self, other):
            return NotImplemented
        refuse_error_settings()
        if type(other) is kind and self._is_pythons is other._is_pythons and self._node.dtype.kind not in "iu":
            return as_number(kind(template(self._symgrad_node, other._symgrad_node)), self._is_pythons)
        return _binary(self, template, self, other, other)

    return operate


def _both(template: Elementwise) -> tuple[Operator, Operator]:
    """The operator, and the one for a traced value on its right."""

    def reflected(self: Any, other: Any) -> Any:
        refuse_error_settings()
        return NotImplemented if _is_beside_list(self, other) else _binary(self, template, other, self, other)

    return _left(template), reflected


def _counting(template: Elementwise) -> tuple[Operator, Operator]:
    """As ``_both``, of an operation that takes Python's truth values for 0 and 1."""
    own, reflected = _both(template)

    def operate(self: Any, other: Any) -> Any:
        return own(self if self._node.dtype.kind != "b" else counted(self, other), other)

    def operates(self: Any, other: Any) -> Any:
        return reflected(self if self._node.dtype.kind != "b" else counted(self, other), other)

    return operate, operates


def _repeating(multiply: Operator) -> Operator:
    """A product, but for a list and a whole number: Python asks the number how often the list is repeated."""

    def operate(self: Any, other: Any) -> Any:
        return NotImplemented if isinstance(other, (list, tuple)) and is_count(self) else multiply(self, other)

    return operate


def _divisions(template: Elementwise) -> tuple[Operator, Operator]:
    """As ``_both``, of a division that Python refuses where one of its numbers is divided by one that is 0."""
    own, reflected = _both(template)

    def divide(self: Any, other: Any) -> Any:
        if self._is_pythons and is_number(other):
            raise_if_zero(as_node(other))
        return own(self, other)

    def divides(self: Any, other: Any) -> Any:
        if self._is_pythons and is_number(other):
            raise_if_zero(self._symgrad_node)
        return reflected(self, other)

    return divide, divides


def _shifts(shift: np.ufunc) -> tuple[Operator, Operator]:
    """Shifts of bits, which floats have none of."""

    of_python = {np.left_shift: operator.lshift, np.right_shift: operator.rshift}[shift]

    def own(self: Any, other: Any) -> Any:
        made = of_any_size(of_python, self, other)
        return made if made is not None else shift(self, other) if self.dtype.kind in "biu" else NotImplemented

    def reflected(self: Any, other: Any) -> Any:
        made = of_any_size(of_python, other, self)
        return made if made is not None else shift(other, self) if self.dtype.kind in "biu" else NotImplemented

    return own, reflected


def _unary(template: Elementwise) -> Callable[[Any], Any]:
    def operate(self: Any) -> Any:
        number = self if self._node.dtype.kind != "b" else counted(self)
        return as_number(type(self)(template(number._symgrad_node)), self._is_pythons)

    return operate


def _in_place(name: str) -> Operator:
    operate = getattr(operator, name)

    def method(self: Any, other: Any) -> Any:
        result = operate(self, other)
        if not self.shape and self._base is None and not self._is_array:
            return result  # a scalar cannot be written to: the name is bound anew
        if not np.can_cast(result.dtype, self.dtype, "same_kind"):
            refuse(f"an array of {self.dtype} cannot hold a result of {result.dtype}; write x = x + y.")
        self[...] = result
        return self

    return method


def repeated(values: Any, count: int) -> Any:
    """The elements of an array over and over, as many as counted: NumPy fills places so."""
    flat = np.reshape(values, (-1,))
    return flat if flat.shape[0] == count else flat[np.arange(count) % flat.shape[0]]


class ArrayMethods:
    """What a traced array does by NumPy's functions."""

    __slots__ = ()

    __pandas_priority__ = 10_000  # pandas leaves the operators to this class
    __add__, __radd__ = _counting(f.add)
    __sub__, __rsub__ = _counting(f.subtract)
    __mul__, __rmul__ = map(_repeating, _counting(f.multiply))
    __truediv__, __rtruediv__ = _divisions(f.divide)
    __floordiv__, __rfloordiv__ = _divisions(f.floor_divide)
    __mod__, __rmod__ = _divisions(f.remainder)
    __and__, __rand__ = _both(f.bitwise_and)
    __or__, __ror__ = _both(f.bitwise_or)
    __xor__, __rxor__ = _both(f.bitwise_xor)
    _power, _raised = _both(f.power)
    __lshift__, __rlshift__ = _shifts(np.left_shift)
    __rshift__, __rrshift__ = _shifts(np.right_shift)
    __lt__, __le__ = _left(f.less), _left(f.less_equal)
    __gt__, __ge__ = _left(f.greater), _left(f.greater_equal)
    __neg__, __pos__ = _unary(f.negative), _unary(f.positive)
    __abs__, __invert__ = _unary(f.absolute), _unary(f.invert)
    __iadd__, __isub__, __imul__ = _in_place("add"), _in_place("sub"), _in_place("mul")
    __itruediv__, __ifloordiv__, __imod__ = _in_place("truediv"), _in_place("floordiv"), _in_place("mod")
    __ipow__, __imatmul__ = _in_place("pow"), _in_place("matmul")
    __iand__, __ior__, __ixor__ = _in_place("and_"), _in_place("or_"), _in_place("xor")

    def _shown(self: Any, show: Callable[[Any], str]) -> str:
        """The text of the value in this run, guarded where it is more than shown; where none is known, what it is."""
        trace, node = current(), self._symgrad_node
        if trace is None or not trace.has_value(node):
            if trace is not None and not is_only_shown():
                refuse(
                    "the text of a traced value is needed here, and the value is not known while the function is "
                    "traced; take the text outside of it, or of what is no traced value."
                )
            return f"Tracer(shape={list(node.shape)}, dtype={node.dtype})"
        value = value_of_text(trace, node)
        text = show(value if self.__class__ is np.ndarray else value.item() if self._is_pythons else value[()])
        if node.dtype.kind in "fc":
            note_text(trace, node, text)
        return text

    def __repr__(self: Any) -> str:
        return self._shown(repr)

    def __str__(self: Any) -> str:
        return self._shown(str)

    def __format__(self: Any, spec: str) -> str:
        return self._shown(lambda value: format(np.asarray(value)[()], spec))

    def __eq__(self: Any, other: Any) -> Any:
        if _is_beside_list(self, other):
            return NotImplemented
        return _binary(self, f.equal, self, other, other)

    def __ne__(self: Any, other: Any) -> Any:
        if _is_beside_list(self, other):
            return NotImplemented
        return _binary(self, f.not_equal, self, other, other)

    def __pow__(self: Any, other: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            return power_modulo(self, other, modulus)
        if self._is_pythons and is_number(other):
            raise_if_no_power(self._symgrad_node, as_node(other))
            made = of_any_size(operator.pow, self, other)
            if made is not None:
                return made
        if type(other) in (int, float) or stands_for_number(other):
            for exponent, short in self._short_powers(other):
                if other == exponent:
                    return as_number(type(self)(short(self._symgrad_node)), self._is_pythons)
        return self._power(other)

    def __rpow__(self: Any, other: Any) -> Any:
        if self._is_pythons and is_number(other):
            raise_if_no_power(as_node(other), self._symgrad_node)
            made = of_any_size(operator.pow, other, self)
            if made is not None:
                return made
        return self._raised(other)

    def _short_powers(self: Any, exponent: Any) -> Iterable[tuple[float, Elementwise]]:
        """The exponents, of the kind of this one, for which NumPy takes another function."""
        if self.dtype.kind in "fc":
            return _SHORT_POWERS.items()
        return [(2, f.square)] if self.dtype.kind == "b" and self.shape and isinstance(exponent, int) else []

    def __divmod__(self: Any, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self: Any, other: Any) -> Any:
        return other // self, other % self

    def __matmul__(self: Any, other: Any) -> Any:
        if type(other) is type(self):
            return FUNCTIONS[np.matmul](self, other)
        return NotImplemented if type(other) in DEFERRED else np.matmul(self, other)

    def __rmatmul__(self: Any, other: Any) -> Any:
        return np.matmul(other, self)

    def __trunc__(self: Any) -> Any:
        return self.__int__()

    def __round__(self: Any, digits: int | None = None) -> Any:
        made = np.round(self, digits or 0)
        if digits is None and not self.shape:
            return whole_number(round, self, made)
        if digits and self._is_pythons:
            return rounded_to(digits, self, made)
        return as_number(made, self._is_pythons)

    def is_integer(self: Any) -> bool:
        """Whether a number is whole, as Python's and NumPy's floats say it."""
        if self.shape:
            raise MissingAttribute(at_user_line("a traced array has no attribute 'is_integer'"))
        return bool(np.isfinite(self) & (self == np.floor(self)))

    device = property(lambda self: "cpu")  # as every array of NumPy says
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.dtype.itemsize)

    def __len__(self: Any) -> int:
        if not self.shape:
            raise ArgumentTypeError.here("len() of a 0-d array")
        return self.shape[0]

    def __iter__(self: Any) -> Iterator[Any]:
        if not self.shape:
            raise ArgumentTypeError.here("iteration over a 0-d array")
        return (self[k] for k in range(self.shape[0]))

    def item(self: Any, *args: Any) -> Any:
        """One element, as a number of Python."""
        one = self.reshape(-1)[args[0]] if len(args) == 1 else self[args] if args else self.reshape(())
        x = type(self)(one._symgrad_node)  # no view of the array
        if x.dtype.kind in "iu" and x.dtype.itemsize < 8 and running().has_value(x._symgrad_node):
            return int(x)  # which no operation wraps around
        x = x.astype(float) if x.dtype.kind == "f" and x.dtype != float else x
        return as_number(x)

    def tolist(self: Any) -> Any:
        """The elements in nested lists."""
        return [part.tolist() for part in self] if self.shape else self.item()

    @property
    def T(self: Any) -> Any:
        return self.transpose()

    @property
    def mT(self: Any) -> Any:
        return self.swapaxes(-1, -2)

    @property
    def real(self: Any) -> Any:
        return as_number(np.real(self)) if self._is_pythons else np.real(self)

    @real.setter
    def real(self: Any, value: Any) -> None:
        np.real(self)[...] = value

    @property
    def imag(self: Any) -> Any:
        return as_number(np.imag(self)) if self._is_pythons else np.imag(self)

    @imag.setter
    def imag(self: Any, value: Any) -> None:
        np.imag(self)[...] = value

    def conj(self: Any) -> Any:
        return np.conjugate(self) if self.dtype.kind == "c" else self

    conjugate = conj

    @property
    def flat(self: Any) -> Any:
        made = self.ravel()
        if getattr(made, "_base", None) is not None:
            made._certain = True  # it writes into the array, however that lies in memory
        return made

    @flat.setter
    def flat(self: Any, value: Any) -> None:
        self[...] = repeated(value, self.size).reshape(self.shape)

    def transpose(self, *axes: Any) -> Any:
        order = listed(axes[0]) if len(axes) == 1 and axes[0] is not None else [k for k in axes if k is not None]
        return FUNCTIONS[np.transpose](self, order or None)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
        wanted = shape[0] if len(shape) == 1 else shape
        return FUNCTIONS[np.reshape](self, wanted, order=order, copy=copy)

    def astype(self: Any, dtype: Any, *, copy: bool = True, **kwargs: Any) -> Any:
        wanted = np.dtype(dtype)
        if wanted == self.dtype and not copy:
            return self
        if self.dtype.kind == "c" and wanted.kind not in "cb":
            refuse(f"astype({wanted}) of complex numbers drops their imaginary parts; write x.real if that is meant.")
        node = self._symgrad_node
        cuts = node.dtype.kind == "f" and wanted.kind in "iu" and node.primitive not in _WHOLE
        return held_like(type(self)(f.cast(f.trunc(node) if cuts else node, wanted)), self)

    def copy(self: Any, order: str = "C") -> Any:
        return held_like(type(self)(self._symgrad_node), self)

    def flatten(self, order: str = "C") -> Any:
        return FUNCTIONS[np.ravel](self, order).copy()

    def __copy__(self: Any) -> Any:
        return self if self._is_pythons else self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def sort(self: Any, axis: int = -1, **kwargs: Any) -> None:
        self[...] = np.sort(self, axis)

    def partition(self: Any, kth: Any, axis: int = -1, **kwargs: Any) -> None:
        self[...] = np.partition(self, kth, axis)

    def fill(self: Any, value: Any) -> None:
        self[...] = value

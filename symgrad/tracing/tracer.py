"""Tracer: the handle that stands for an array while a function is traced.

It behaves as an ndarray of its shape and dtype; whatever NumPy computes with it becomes a node. What
would lose the derivative (``float(x)``, ``np.array([x[0], x[1]])``, writing into a plain array) is
refused with the user's own line and the fix.
"""

from __future__ import annotations

import functools
import inspect
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import numpy as np

from ..errors import ArgumentTypeError, MissingAttribute, StaleView, TracingError, UnsupportedOperation, at_user_line
from ..primitives import functions as f
from ..primitives.elementwise import TEMPLATES, Template
from ..program.dims import size
from ..program.node import Node
from . import indexing, views
from .library_calls import refuse_library_call
from .sizes import Size, shown, shown_shape
from .trace import array_node, as_node, current, plain_array, running, stands_for_number
from .views import Along

#: NumPy function -> what it does to traced values; filled by ``numpy_functions``
FUNCTIONS: dict[Callable, Callable] = {}
#: NumPy function without a rule -> what to write instead
ADVICE: dict[Callable, str] = {}
#: ufunc -> elementwise template
UFUNCS: dict[np.ufunc, Template] = {t.ufunc: t for t in reversed(TEMPLATES.values()) if isinstance(t.ufunc, np.ufunc)}
UFUNCS[np.sqrt] = f.sqrt
#: (ufunc name, method) -> NumPy function that does the same
_METHODS = {
    ("add", "reduce"): np.sum,
    ("multiply", "reduce"): np.prod,
    ("maximum", "reduce"): np.max,
    ("minimum", "reduce"): np.min,
    ("logical_or", "reduce"): np.any,
    ("logical_and", "reduce"): np.all,
    ("add", "accumulate"): np.cumsum,
    ("multiply", "accumulate"): np.cumprod,
}


#: exponent -> what NumPy computes in place of a power of floats
_SHORT_POWERS: dict[float, Template] = {1: f.positive, 2: f.square, 0.5: f.sqrt, -1: f.reciprocal}
_PYTHON_SCALARS: dict[str, type] = {"f": float, "i": int, "u": int, "b": bool}


def refuse(message: str) -> NoReturn:
    """Raise a TracingError that shows the user's line."""
    raise TracingError(at_user_line(message))


def refuse_unknown(func: Callable, rule: Callable, args: Any, kwargs: Any, error: TypeError) -> None:
    """An UnsupportedOperation where ``rule`` does not take these arguments, as NumPy's own function does."""
    try:
        inspect.signature(rule).bind(*args, **kwargs)
    except TypeError as refused:
        raise UnsupportedOperation(
            at_user_line(
                f"np.{func.__name__} with these arguments has no derivative rule in symgrad ({refused}). Write it with "
                "other supported NumPy functions, or compute it outside the differentiated function and pass it in."
            )
        ) from error


@functools.cache
def _place_of_out(func: Callable) -> int:
    """Which positional argument of a NumPy function is ``out``: rules do not have it."""
    try:
        parameters = inspect.signature(func).parameters.values()
    except ValueError:  # written in C, without a signature
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return names.index("out") if "out" in names else sys.maxsize


class Tracer:
    """A traced array. Made by symgrad, never by users.

    A view knows its ``base``, and ``along``, which makes its node of the base's. What is written into it is written
    into the base, and what is written into the base, or into another view of it, is seen by the view when it is next
    read: the array at the end of the bases counts the writes. ``certain`` is False where NumPy may have made a copy
    instead, None where that is to be looked up.
    """

    __slots__ = ("_along", "_base", "_certain", "_node", "_root", "_writes")

    def __init__(
        self, node: Node, base: Tracer | None = None, along: Along | None = None, certain: bool | None = None
    ) -> None:
        self._node = node
        self._base = base
        self._along = along
        self._certain = certain
        self._root: Tracer | None = None
        self._writes = 0
        if base is not None:
            root = self._root = base if base._root is None else base._root
            self._writes = root._writes

    @property
    def _symgrad_node(self) -> Node:
        root = self._root
        if root is not None and root._writes != self._writes:
            self._follow(root)
        return self._node

    def _follow(self, root: Tracer) -> None:
        """Take in what was written into the array since this view was read."""
        outdated: list[Tracer] = []
        view = self
        while view._base is not None and view._writes != root._writes:
            outdated.append(view)
            view = view._base
        node = view._node
        for view in reversed(outdated):
            assert view._along is not None
            if not view._is_certain():
                raise StaleView(at_user_line(_STALE))
            node = view._node = view._along(node)
            view._writes = root._writes

    def _is_certain(self) -> bool:
        """True where NumPy gives a view of the base, whatever its memory layout."""
        if self._certain is None:
            self._certain = views.is_always_view(self._links())
        return self._certain

    def _looks_into(self, arrays: Any) -> bool:
        """True where this is a view of one of them."""
        if isinstance(arrays, (tuple, list)):
            return any(map(self._looks_into, arrays))
        return type(arrays) is Tracer and (self._root is arrays or self._root is arrays._root)

    def is_contiguous(self) -> bool:
        """True where the elements surely stand side by side: in an array of one axis that was computed."""
        is_own = self._base is None and not self._writes and self._node.primitive.name != "input"
        return is_own and self._node.ndim <= 1

    def _links(self) -> list[Node]:
        assert self._base is not None
        assert self._along is not None
        return views.links(self._along, self._base._node)

    @property
    def __class__(self) -> type:  # type: ignore[override]
        """What ``isinstance`` sees: a Python scalar where it stands for one, else an ndarray."""
        node = self._node
        return _PYTHON_SCALARS[node.dtype.kind] if node.weak else np.ndarray

    # what an array says of itself

    @property
    def shape(self) -> tuple:
        return shown_shape(self._symgrad_node.shape)

    @property
    def dtype(self) -> np.dtype:
        return self._symgrad_node.dtype

    @property
    def ndim(self) -> int:
        return len(self._symgrad_node.shape)

    @property
    def size(self) -> Any:
        return shown(size(self._symgrad_node.shape))

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise ArgumentTypeError(at_user_line("len() of a 0-d array"))
        return self.shape[0]

    def __iter__(self) -> Iterator[Tracer]:
        if not self.shape:
            raise ArgumentTypeError(at_user_line("iteration over a 0-d array"))
        return (self[k] for k in range(self.shape[0]))

    # NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if out is not None:
            return _into(out, getattr(ufunc, method)(*inputs, **kwargs))
        if method == "__call__":
            if not kwargs:
                template = UFUNCS.get(ufunc)
                if template is not None:
                    return Tracer(template(*map(as_node, inputs)))
            return _call_ufunc(ufunc, inputs, kwargs)
        function = _METHODS.get((ufunc.__name__, method))
        if function is not None:
            kwargs.setdefault("axis", 0)
            return FUNCTIONS[function](*inputs, **{k: v for k, v in kwargs.items() if v is not np._NoValue})
        if method == "outer" and not kwargs:
            left, right = (v if type(v) is Tracer else Tracer(as_node(plain_array(v, "an operand"))) for v in inputs)
            return ufunc(left.reshape(left.shape + (1,) * right.ndim), right)
        raise UnsupportedOperation(at_user_line(f"np.{ufunc.__name__}.{method} has no derivative rule in symgrad."))

    def __array_function__(self, func: Callable, types: Any, args: Any, kwargs: Any) -> Any:
        rule = FUNCTIONS.get(func)
        if rule is None:
            refuse_library_call(FUNCTIONS, func)
            name = f"{getattr(func, '__module__', 'numpy')}.{getattr(func, '__name__', func)}"
            instead = ADVICE.get(func, "Write it with supported NumPy functions")
            raise UnsupportedOperation(
                at_user_line(
                    f"{name} has no derivative rule in symgrad. {instead}, or compute it outside the differentiated "
                    "function and pass it in."
                )
            )
        out = kwargs.get("out")
        given = {k: v for k, v in kwargs.items() if k != "out" and v is not np._NoValue}
        place = _place_of_out(func)
        if place < len(args):
            args, out = (*args[:place], *args[place + 1 :]), args[place]
        try:
            made = _called(rule, *args, **given)
        except TypeError as error:
            refuse_unknown(func, rule, args, given, error)
            raise
        return made if out is None else _into((out,), made)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self.dtype.kind in "biu":  # no derivative to lose: the values, guarded
            return np.array(self._concrete(), dtype)
        refuse_library_call(FUNCTIONS)
        refuse(
            "a traced array cannot become a plain NumPy array: the derivative would be lost. Build arrays of traced "
            "values with np.stack or np.concatenate instead of np.array, np.r_ or np.c_, and write x[i] = v into "
            "a traced array (np.zeros_like(x) inside the function is one) instead of a plain one."
        )

    def __float__(self) -> NoReturn:
        refuse_library_call(FUNCTIONS)
        refuse(
            "float(), a math function, or writing into a plain array would lose the derivative of a traced value. "
            "Leave the value as it is, use NumPy's function (np.sin for math.sin), and write into an array made inside "
            "the function with np.zeros_like(x)."
        )

    __complex__ = __float__

    def __hash__(self) -> NoReturn:
        refuse(
            "a traced value cannot be hashed: it is no key of a dict, no member of a set and no argument of a function "
            "that keeps its results (functools.cache, lru_cache). Of such a function f call f.__wrapped__."
        )

    def __int__(self) -> int:
        if not self._is_flat():
            refuse("int() of a traced float would lose its derivative; write int(np.trunc(x)) if that is meant.")
        return int(self._concrete())

    def __index__(self) -> int:
        if self.dtype.kind == "f":
            refuse("a traced float cannot be used as an index or a count; write int(np.trunc(x)) if that is meant.")
        if self.dtype.kind == "b":  # NumPy has it so too, and takes a mask for an index instead
            refuse("a traced truth value cannot be used as an index or a count; write int(x) if that is meant.")
        return int(self._concrete())

    def _is_flat(self) -> bool:
        """True where no derivative flows, as for integers and the result of np.floor."""
        node = self._symgrad_node
        return node.dtype.kind != "f" or (bool(node.operands) and not node.primitive.dependencies(node))

    def __bool__(self) -> bool:
        if size(self._symgrad_node.shape) != 1:
            refuse(
                "the truth value of an array with more than one element is ambiguous; use np.all, np.any or np.where."
            )
        node = self._symgrad_node
        return bool(running().guard(node if node.dtype.kind == "b" else f.not_equal(node, 0)))

    def _concrete(self) -> Any:
        return running().guard(self._symgrad_node)

    def item(self, *args: Any) -> Any:
        return self.__float__() if self.dtype.kind == "f" else int(self)

    tolist = asnumpy = item

    def __repr__(self) -> str:
        node = self._symgrad_node
        return f"Tracer(shape={list(node.shape)}, dtype={node.dtype})"

    def __str__(self) -> str:
        trace, node = current(), self._symgrad_node
        return str(trace.value_of(node)) if trace is not None and trace.has_value(node) else repr(self)

    def __format__(self, spec: str) -> str:
        trace, node = current(), self._symgrad_node
        if trace is None or not trace.has_value(node):
            return repr(self)
        return format(np.asarray(trace.value_of(node))[()], spec)

    # operators

    def __add__(self, other: Any) -> Any:
        return _binary(f.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _binary(f.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _binary(f.subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _binary(f.subtract, other, self)

    def __mul__(self, other: Any) -> Any:
        return _binary(f.multiply, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _binary(f.multiply, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _binary(f.divide, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary(f.divide, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _binary(f.floor_divide, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _binary(f.floor_divide, other, self)

    def __mod__(self, other: Any) -> Any:
        return _binary(f.remainder, self, other)

    def __rmod__(self, other: Any) -> Any:
        return _binary(f.remainder, other, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, other: Any) -> Any:
        if type(other) in (int, float) or stands_for_number(other):
            for exponent, short in self._short_powers(other):
                if other == exponent:
                    return Tracer(short(self._symgrad_node))
        return _binary(f.power, self, other)

    def _short_powers(self, exponent: Any) -> Iterable[tuple[float, Template]]:
        """The exponents, of the kind of this one, for which NumPy takes another function."""
        if self.dtype.kind == "f":
            return _SHORT_POWERS.items()
        return [(2, f.square)] if self.dtype.kind == "b" and self.shape and isinstance(exponent, int) else []

    def __rpow__(self, other: Any) -> Any:
        return _binary(f.power, other, self)

    def __matmul__(self, other: Any) -> Any:
        return np.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return np.matmul(other, self)

    def __neg__(self) -> Tracer:
        return Tracer(f.negative(self._symgrad_node))

    def __pos__(self) -> Tracer:
        return Tracer(f.positive(self._symgrad_node))

    def __abs__(self) -> Tracer:
        return Tracer(f.absolute(self._symgrad_node))

    def __invert__(self) -> Tracer:
        return Tracer(f.invert(self._symgrad_node))

    def __round__(self, digits: int = 0) -> Any:
        return np.round(self, digits)

    def __eq__(self, other: Any) -> Any:  # type: ignore[override]
        return _binary(f.equal, self, other)

    def __ne__(self, other: Any) -> Any:  # type: ignore[override]
        return _binary(f.not_equal, self, other)

    def __lt__(self, other: Any) -> Any:
        return _binary(f.less, self, other)

    def __le__(self, other: Any) -> Any:
        return _binary(f.less_equal, self, other)

    def __gt__(self, other: Any) -> Any:
        return _binary(f.greater, self, other)

    def __ge__(self, other: Any) -> Any:
        return _binary(f.greater_equal, self, other)

    def __and__(self, other: Any) -> Any:
        return _binary(f.bitwise_and, self, other)

    def __rand__(self, other: Any) -> Any:
        return _binary(f.bitwise_and, other, self)

    def __or__(self, other: Any) -> Any:
        return _binary(f.bitwise_or, self, other)

    def __ror__(self, other: Any) -> Any:
        return _binary(f.bitwise_or, other, self)

    def __xor__(self, other: Any) -> Any:
        return _binary(f.bitwise_xor, self, other)

    # indexing

    def __getitem__(self, index: Any) -> Tracer:
        node, is_view = indexing.get(self._symgrad_node, index)
        if not is_view:
            return Tracer(node)
        known = indexing.fixed(index)
        return _view(node, self, lambda base: indexing.get(base, known)[0], True)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._write(indexing.put(self._symgrad_node, index, as_node(value)))

    def _write(self, node: Node) -> None:
        """Stand for ``node`` from now on, and each base for what that makes of it."""
        written: list[tuple[Tracer, Node]] = []
        array = self
        while array._base is not None:
            chain = array._links()
            if not views.is_writable(chain):
                refuse("NumPy's diagonals and broadcast arrays are read-only; write into a copy(), or into the array.")
            if not array._is_certain():
                refuse(_MAYBE_COPY)
            written.append((array, node))
            node = views.written_through(chain, array._base._symgrad_node, node)
            array = array._base
        array._node = node
        array._writes += 1
        for view, own in written:
            view._node, view._writes = own, array._writes

    # methods and attributes that are NumPy functions of the array

    @property
    def T(self) -> Tracer:
        return self.transpose()

    @property
    def mT(self) -> Tracer:
        return self.swapaxes(-1, -2)

    @property
    def real(self) -> Tracer:
        return self

    def conj(self) -> Tracer:
        return self

    conjugate = conj

    @property
    def flat(self) -> Tracer:
        return self.ravel()

    def transpose(self, *axes: Any) -> Tracer:
        order = axes[0] if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))) else axes
        return FUNCTIONS[np.transpose](self, order or None)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Tracer:
        wanted = shape[0] if len(shape) == 1 else shape
        return FUNCTIONS[np.reshape](self, wanted, order=order, copy=copy)

    def astype(self, dtype: Any, *, copy: bool = True, **kwargs: Any) -> Tracer:
        wanted = np.dtype(dtype)
        if wanted == self.dtype and not copy:
            return self
        if wanted.kind not in "fb" and not self._is_flat():
            refuse(
                f"astype({wanted}) of a traced float would lose its derivative; write np.trunc(x).astype({wanted}) if "
                "that is meant."
            )
        return Tracer(f.cast(self._symgrad_node, wanted))

    def copy(self, order: str = "C") -> Tracer:
        return Tracer(self._symgrad_node)

    def flatten(self, order: str = "C") -> Tracer:
        return FUNCTIONS[np.ravel](self, order).copy()

    def __copy__(self) -> Tracer:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Tracer:
        return self.copy()

    def fill(self, value: Any) -> None:
        self[...] = value

    def __getattr__(self, name: str) -> Any:
        function = _METHOD_FUNCTIONS.get(name)
        if function is not None:
            return lambda *args, **kwargs: self.__array_function__(function, (), (self, *args), kwargs)
        if name.startswith("_") or not hasattr(np.ndarray, name):
            where = "" if name.startswith("_") else at_user_line("")  # Python and NumPy ask for many of these
            raise MissingAttribute(f"a traced array has no attribute {name!r}{where}")
        refuse_library_call(FUNCTIONS)
        raise UnsupportedOperation(at_user_line(f"ndarray.{name} has no derivative rule in symgrad."))


Size.traced = staticmethod(Tracer)
_METHOD_FUNCTIONS: dict[str, Callable] = {
    name: getattr(np, name)
    for name in (
        *("sum", "mean", "prod", "max", "min", "var", "std", "cumsum", "argmax", "argmin", "argsort", "ravel", "all"),
        *("cumprod", "any", "squeeze", "swapaxes", "dot", "trace", "diagonal", "clip", "repeat", "take", "round"),
    )
}
METHODS = (*_METHOD_FUNCTIONS, "transpose", "reshape", "astype", "flatten", "copy")


_MAYBE_COPY = (
    "whether NumPy gives a view or a copy here depends on the memory layout (reshape, ravel), or on whether a value "
    "without axes is a scalar, so a write into the result is not followed. Write into the array itself, or into a "
    "copy() of the result."
)
_STALE = (
    "this array was taken from one that was written to since. Whether it sees the write depends on the memory layout "
    "(reshape, ravel), or on whether a value without axes is a scalar. Take it again after the write, or take a copy() "
    "before it."
)


def traced(a: Any) -> Tracer:
    """``a`` itself where it is traced, else as a traced array."""
    return a if type(a) is Tracer else Tracer(as_node(a))


def view(a: Any, along: Along, certain: bool | None = None) -> Tracer:
    """What ``along`` makes of the node of ``a``, as a view of it where it is traced."""
    node = along(array_node(a))
    return Tracer(node) if type(a) is not Tracer or a._node.weak else _view(node, a, along, certain)


def _view(node: Node, base: Tracer, along: Along, certain: bool | None) -> Tracer:
    may_be_scalar = base._base is None and not base._node.shape  # of which every array is a copy
    return Tracer(node, base, along, False if may_be_scalar else certain)


def _called(rule: Callable, *args: Any, **kwargs: Any) -> Any:
    """What a rule gives: views of its arguments, or arrays of their own, whatever views it took on its way."""
    made = rule(*args, **kwargs)
    if type(made) is Tracer:
        return _own(made, args)
    return type(made)(_own(m, args) for m in made) if type(made) in (tuple, list) else made


def _own(made: Any, args: Any) -> Any:
    if type(made) is not Tracer or made._root is None or made._looks_into(args):
        return made
    return Tracer(made._symgrad_node)


def _may_be_array(node: Node) -> bool:
    """True for a value without axes that NumPy may have as an array, and not as a scalar: what no function computed."""
    return node.primitive.name in ("input", "where") or all(o.is_literal for o in node.operands)


def _in_place(name: str) -> Callable[[Tracer, Any], Tracer]:
    operate = getattr(operator, name)

    def method(self: Tracer, other: Any) -> Tracer:
        result = operate(self, other)
        if not self.shape and self._base is None and not self._writes:
            if _may_be_array(self._node):
                self._writes += 1  # its views would see the write
            return result  # a NumPy scalar cannot be written to: the name is bound anew
        if not np.can_cast(result.dtype, self.dtype, "same_kind"):
            refuse(f"an array of {self.dtype} cannot hold a result of {result.dtype}; write x = x + y.")
        self[...] = result
        return self

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor"):
    setattr(Tracer, f"__i{_name.rstrip('_')}__", _in_place(_name))


def _binary(template: Template, left: Any, right: Any) -> Any:
    other = right if type(left) is Tracer else left
    if type(other) is not Tracer and isinstance(other, _NOT_ARRAYS):
        return NotImplemented
    return Tracer(template(as_node(left), as_node(right)))


_NOT_ARRAYS = (type(None), str, bytes, dict, set)


def _call_ufunc(ufunc: np.ufunc, inputs: tuple, kwargs: dict[str, Any]) -> Any:
    template = UFUNCS.get(ufunc) or _special(ufunc)
    rule = FUNCTIONS.get(ufunc, _no_rule(ufunc))
    dtype = kwargs.pop("dtype", None)
    kept = {
        k: v for k, v in kwargs.items() if not (k == "where" and v is True) and k not in ("casting", "order", "subok")
    }
    if "where" in kept:
        refuse(f"np.{ufunc.__name__}(…, where=…) leaves elements undefined; use np.where(condition, value, other).")
    if template is None:
        try:
            result = rule(*inputs, **kept)
        except TypeError as error:
            refuse_unknown(ufunc, rule, inputs, kept, error)
            raise
    elif kept:
        raise UnsupportedOperation(at_user_line(f"np.{ufunc.__name__} with {', '.join(kept)} has no rule in symgrad."))
    else:
        nodes = [as_node(v) for v in inputs]
        result = Tracer(template(*[f.cast(n, dtype) if dtype is not None else n for n in nodes]))
    return result if dtype is None else result.astype(dtype)


def _special(ufunc: np.ufunc) -> Template | None:
    """The template of a ``scipy.special`` ufunc. They are declared at the first call of one: scipy is optional."""
    library = sys.modules.get("scipy.special")
    if library is None or getattr(library, ufunc.__name__, None) is not ufunc:
        return None
    from ..primitives.special import SPECIAL

    UFUNCS.update(SPECIAL)
    return UFUNCS.get(ufunc)


def _no_rule(ufunc: np.ufunc) -> Callable:
    def rule(*_: Any, **__: Any) -> NoReturn:
        name = f"np.{ufunc.__name__}" if getattr(np, ufunc.__name__, None) is ufunc else f"the ufunc {ufunc.__name__}"
        raise UnsupportedOperation(at_user_line(f"{name} has no derivative rule in symgrad."))

    return rule


def _into(out: tuple, result: Any) -> Any:
    if isinstance(result, tuple):
        if any(target is None for target in out):
            refuse("out= takes an array for each of the results here, or is left away.")
        return tuple(_into((target,), part) for target, part in zip(out, result, strict=True))
    (target,) = out
    if isinstance(target, Tracer):
        target[...] = result
        return target
    if target is None:
        return result
    refuse(
        "a traced value cannot be written into a plain array (out= or an in-place operator): the derivative would be "
        "lost. Write a = a + x instead of a += x, and leave out= away."
    )

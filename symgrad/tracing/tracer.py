"""Tracer: the handle that stands for an array while a function is traced.

It behaves as an ndarray of its shape and dtype; whatever NumPy computes with it becomes a node. What would lose the
derivative (``float(x)``, writing into a plain array) is refused with the user's own line and the fix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, MissingAttribute, StaleView, UnsupportedOperation, at_user_line
from ..primitives import functions as f
from ..program.dims import size
from ..program.node import Node
from . import assignment, indexing, views
from .array_methods import METHOD_FUNCTIONS, ArrayMethods
from .dispatch import (
    ADVICE,
    CALLS,
    FUNCTIONS,
    UFUNC_METHODS,
    UFUNCS,
    no_rule,
    place_of_out,
    refuse,
    refuse_unknown,
    special,
)
from .layout import lies_by_rows
from .library_calls import caching_function, declared, refuse_in_pandas, refuse_library_call
from .loop_dtypes import PYTHON_SCALARS, for_dtype
from .python_numbers import held_as, operands, strong
from .sizes import Size, shown, shown_shape
from .trace import array_node, as_node, refuse_error_settings, running
from .views import Along, Certain


class Tracer(ArrayMethods):
    """A traced array. Made by symgrad, never by users.

    A view knows its ``base``, and ``along``, which makes its node of the base's. What is written into it is written
    into the base, and what is written into the base, or into another view of it, is seen by the view when it is next
    read: the array at the end of the bases counts the writes. ``certain`` is False where NumPy may have made a copy
    instead, None where that is to be looked up. After a write into what may be a copy, that is an array of its own,
    and its base cannot be read: nobody knows whether it was written to.
    """

    __slots__ = ("_along", "_base", "_certain", "_is_array", "_is_pythons", "_node", "_root", "_writes")
    #: the rule of a function of arrays that a library composes of others; set by those who follow calls
    composed: Callable[[Callable, Any, Any], Callable | None]

    def __init__(
        self, node: Node, base: Tracer | None = None, along: Along | None = None, certain: Certain = None
    ) -> None:
        self._node = node
        self._base = base
        self._along = along
        self._certain = certain
        self._root: Tracer | None = None
        self._is_array = False  # where it has no axes and can be written to all the same
        self._is_pythons = node.weak  # a number of Python: an argument, what float() made, or operators of such
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
        if root is _UNKNOWN:
            raise StaleView.here(views.MAYBE_WRITTEN)
        outdated: list[Tracer] = []
        view = self
        while view._base is not None and view._writes != root._writes:
            outdated.append(view)
            view = view._base
        node = view._symgrad_node
        root = view if view._root is None else view._root  # another one where a part was written to by itself
        for view in reversed(outdated):
            assert view._along is not None
            if not view._is_certain():
                raise StaleView.here(views.STALE)
            node = view._node = view._along(node)
            view._root, view._writes = root, root._writes

    def _is_certain(self) -> bool:
        """True where NumPy gives a view of the base, whatever its memory layout."""
        if callable(self._certain):
            self._certain = self._certain()
        if self._certain is None:
            self._certain = views.is_always_view(self._links())
        return self._certain

    def _looks_into(self, arrays: Any) -> bool:
        """True where this is a view of one of them."""
        if isinstance(arrays, (tuple, list)):
            return any(map(self._looks_into, arrays))
        if type(arrays) is not Tracer or self._root is None:
            return False
        return self._root is arrays or self._root is arrays._root

    def contiguity(self) -> Callable[[], bool]:
        """What says, later on too, whether the elements surely stand side by side, row after row."""
        node, is_own = self._node, self._root is None and not self._writes
        return lambda: is_own and lies_by_rows(node)

    def _links(self) -> list[Node]:
        assert self._base is not None
        assert self._along is not None
        return views.links(self._along, self._base._node)

    @property
    def __class__(self) -> type:  # type: ignore[override]
        """What ``isinstance`` sees: a scalar of Python or NumPy where it stands for one, else an ndarray."""
        node = self._node
        if node.dtype.kind in "fc":
            refuse_in_pandas()
        if self._is_pythons:
            return PYTHON_SCALARS[node.dtype.kind]
        return np.ndarray if node.shape or self._base is not None or self._is_array else node.dtype.type

    # what an array says of itself

    @property
    def shape(self) -> tuple:
        return shown_shape(self._symgrad_node.shape)

    @shape.setter
    def shape(self, shape: Any) -> None:
        refuse("a traced array keeps its shape: write x = x.reshape(…) in place of x.shape = ….")

    @property
    def dtype(self) -> np.dtype:
        return self._symgrad_node.dtype

    @property
    def ndim(self) -> int:
        return len(self._symgrad_node.shape)

    @property
    def size(self) -> Any:
        return shown(size(self._symgrad_node.shape))

    # NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        refuse_error_settings()
        out = kwargs.pop("out", None)
        if out is not None:
            return _into(out, getattr(ufunc, method)(*inputs, **kwargs))
        if method == "__call__":
            template = None if kwargs else UFUNCS.get(ufunc)
            if template is not None:
                return Tracer(strong(template(*operands(inputs))))
            return _call_ufunc(ufunc, inputs, kwargs)
        rule = UFUNC_METHODS.get(method)
        if rule is None:
            raise UnsupportedOperation.here(f"np.{ufunc.__name__}.{method} has no derivative rule in symgrad.")
        return held_as(ufunc, rule(ufunc, *inputs, **{k: v for k, v in kwargs.items() if v is not np._NoValue}))

    def __array_function__(self, func: Callable, types: Any, args: Any, kwargs: Any) -> Any:
        rule = FUNCTIONS.get(func) or Tracer.composed(func, args, kwargs)
        if rule is None:
            refuse_library_call(FUNCTIONS, func)
            name = f"{getattr(func, '__module__', 'numpy')}.{getattr(func, '__name__', func)}"
            instead = ADVICE.get(func, "Write it with supported NumPy functions")
            raise UnsupportedOperation.here(
                f"{name} has no derivative rule in symgrad. {instead}, or compute it outside the differentiated "
                "function and pass it in."
            )
        out, place = kwargs.get("out"), place_of_out(func)
        given = {k: v for k, v in kwargs.items() if k != "out" and v is not np._NoValue}
        if place < len(args):
            args, out = (*args[:place], *args[place + 1 :]), args[place]
        try:
            made = _strong(_called(rule, *args, **given))
        except TypeError as error:
            refuse_unknown(func, rule, args, given, error)
            raise
        known = (*args, *given.values()) if func in FUNCTIONS else (made,)
        return held_as(func, made, known) if out is None else _into((out,), made)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self._keeps_value():
            return np.array(self._concrete(), dtype)
        refuse_library_call(FUNCTIONS)
        refuse(f"a traced array cannot become a plain one, and its derivative would be lost: {_ASKED}")

    def _keeps_value(self) -> bool:
        """Whether there is no derivative to lose where the values are taken, guarded."""
        return self.dtype.kind in "biu" or running().keeps_value(self._symgrad_node)

    def __float__(self) -> float:
        if self.dtype.kind == "f" and self._keeps_value():
            return float(self._concrete())
        refuse_library_call(FUNCTIONS)
        refuse(f"a traced value cannot become a plain number, and its derivative would be lost: {_ASKED}")

    def __complex__(self) -> complex:
        if self.dtype.kind == "c" and self._keeps_value():
            return complex(self._concrete())
        return complex(float(self))

    def __hash__(self) -> int:
        node, trace = self._symgrad_node, running()
        if self.shape:  # as NumPy; libraries ask
            raise ArgumentTypeError.here("unhashable type: 'numpy.ndarray'")
        if trace.follow is not None and (self._keeps_value() or not trace.has_slope(node)):
            trace.keys.add(node)
            return hash(self._concrete())
        name = caching_function() or "f"
        refuse(
            "a traced value cannot be hashed: it is no key of a dict and no argument of a function that keeps results "
            f"(functools.cache, lru_cache). Of such a function {name} call {name}.__wrapped__, or {declared(name)}."
        )

    def __int__(self) -> int:
        if not self._keeps_value() and running().has_slope(self._symgrad_node):
            refuse("int() of a traced float would lose its derivative; write int(np.trunc(x)) if that is meant.")
        return int(self._concrete())

    def __index__(self) -> int:
        if self.dtype.kind in "fc" or (self.dtype.kind == "b" and not self._is_pythons):  # as NumPy
            kind = "truth value" if self.dtype.kind == "b" else "float"
            raise ArgumentTypeError.here(
                f"a traced {kind} cannot be used as an index or a count; write int(x) if that is meant."
            )
        return int(self._concrete())

    def __bool__(self) -> bool:
        if size(self._symgrad_node.shape) != 1:
            refuse(
                "the truth value of an array with more than one element is ambiguous; use np.all, np.any or np.where."
            )
        node = self._symgrad_node
        return bool(running().guard(node if node.dtype.kind == "b" else f.not_equal(node, 0)))

    def _concrete(self) -> Any:
        return running().guard(self._symgrad_node)

    asnumpy = __array__

    # indexing

    def __getitem__(self, index: Any) -> Tracer:
        node, certain = indexing.get(self._symgrad_node, index)
        if certain is False:
            return Tracer(node)
        known = indexing.fixed(index)
        return _view(node, self, lambda base: indexing.get(base, known)[0], certain)

    def __setitem__(self, index: Any, value: Any) -> None:
        if self._writes > 1:
            assignment.ask_to_follow(self._symgrad_node, index)
        self._write(assignment.put(self._symgrad_node, index, as_node(value)))

    def _write(self, node: Node) -> None:
        """Stand for ``node`` from now on, and each base for what that makes of it."""
        written: list[tuple[Tracer, Node]] = []
        array = self
        while array._base is not None:
            whole = getattr(array._along, "write", None)
            if whole is not None:  # what is seen of it knows how it is written to
                whole(node)
                break
            chain = array._links()
            if not views.is_writable(chain):
                refuse("NumPy's diagonals and broadcast arrays are read-only; write into a copy(), or into the array.")
            if not array._is_certain():
                array._part()
                continue
            written.append((array, node))
            node = views.written_through(chain, array._base._symgrad_node, node)
            array = array._base
        else:
            array._count_write()
        array._node = node
        root = array if array._root is None else array._root
        for view, own in written:
            view._node, view._root, view._writes = own, root, root._writes
        array._writes = root._writes

    def _count_write(self) -> None:
        self._writes += 1
        if self._node.primitive.name == "input":
            running().written.add(self._node)

    def _part(self) -> None:
        """Be an array of its own from now on, and have none read what it may look into."""
        view = self
        while view._base is not None and view._base._base is not None:
            view = view._base
        root = view._base
        if root is None or hasattr(view._along, "write"):  # it looks into memory that others look into
            refuse(views.MAYBE_COPY)
        root._count_write()
        root._root = _UNKNOWN
        self._base = self._along = self._root = None
        self._is_array = True

    def __getattr__(self, name: str) -> Any:
        function = METHOD_FUNCTIONS.get(name)
        if function is not None:
            return lambda *args, **kwargs: self.__array_function__(function, (), (self, *args), kwargs)
        if name.startswith("_"):  # Python and NumPy ask for many of these
            raise MissingAttribute(f"a traced array has no attribute {name!r}")
        kind = next((k for k in (self.__class__, np.ndarray) if hasattr(k, name)), None)
        if kind is None:
            raise MissingAttribute(f"a traced array has no attribute {name!r}{at_user_line('')}")
        refuse_library_call(FUNCTIONS)
        needs = f"Of a function f that needs it, such as one that calls C, {declared('f')}."
        raise UnsupportedOperation.here(f"{kind.__name__}.{name} has no derivative rule in symgrad. {needs}")


Size.traced = staticmethod(Tracer)
#: the root of an array that nobody knows any more
_UNKNOWN = Tracer.__new__(Tracer)
_UNKNOWN._writes = -1
_ASKED = (
    "code that is not Python's asks for it, or it is written into an array that was not made inside the function. "
    "Write into a copy(), and compute with NumPy's functions."
)


def traced(a: Any) -> Tracer:
    """``a`` itself where it is traced, else as a traced array."""
    return a if type(a) is Tracer else Tracer(as_node(a))


def view(a: Any, along: Along, certain: Certain = None) -> Tracer:
    """What ``along`` makes of the node of ``a``, as a view of it where it is traced."""
    node = along(array_node(a))
    return Tracer(node) if type(a) is not Tracer or a._node.weak else _view(node, a, along, certain)


def _view(node: Node, base: Tracer, along: Along, certain: Certain) -> Tracer:
    may_be_scalar = base._base is None and not base._node.shape  # of which every array is a copy
    return Tracer(node, base, along, False if may_be_scalar else certain)


def _called(rule: Callable, *args: Any, **kwargs: Any) -> Any:
    """What a rule gives: views of its arguments, or arrays of their own, whatever views it took on its way."""
    made = rule(*args, **kwargs)
    if type(made) is Tracer:
        return _own(made, args)
    return type(made)(_own(m, args) for m in made) if type(made) in (tuple, list) else made


def _strong(made: Any) -> Any:
    """What a function of NumPy gives, of Python's numbers too, which is none of them."""
    if type(made) is Tracer and made._node.weak:
        return Tracer(strong(made._node))
    return [*map(_strong, made)] if type(made) is list else tuple(map(_strong, made)) if type(made) is tuple else made


def _own(made: Any, args: Any) -> Any:
    if type(made) is not Tracer or made._root is None or made._looks_into(args):
        return made
    return Tracer(made._symgrad_node)


def _call_ufunc(ufunc: np.ufunc, inputs: tuple, kwargs: dict[str, Any]) -> Any:
    template = UFUNCS.get(ufunc) or special(ufunc)
    rule = FUNCTIONS.get(ufunc) or CALLS.get(ufunc, no_rule(ufunc))
    dtype: Any = kwargs.pop("dtype", None)
    dtype = np.dtype(dtype.type) if isinstance(dtype, type(np.dtype)) else dtype
    kept = {
        k: v for k, v in kwargs.items() if not (k == "where" and v is True) and k not in ("casting", "order", "subok")
    }
    if "where" in kept:
        refuse(f"np.{ufunc.__name__}(…, where=…) leaves elements undefined; use np.where(condition, value, other).")
    if template is None:
        try:
            return rule(*map(Tracer, for_dtype(ufunc, inputs, dtype)) if dtype is not None else inputs, **kept)
        except TypeError as error:
            refuse_unknown(ufunc, rule, inputs, kept, error)
            raise
    elif kept:
        raise UnsupportedOperation.here(f"np.{ufunc.__name__} with {', '.join(kept)} has no rule in symgrad.")
    made = Tracer(template(*(operands(inputs) if dtype is None else for_dtype(ufunc, inputs, dtype))))
    return made if dtype is None else made.astype(dtype)


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

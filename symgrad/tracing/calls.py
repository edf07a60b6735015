"""Calls: what the user's own code calls while it is traced, each call taken in hand.

A function of Python and NumPy that wants plain numbers (``float(x)``, ``math.sin(x)``, ``np.array([x[0], 1.0])``), or
writes into an array, cannot be answered by the traced values alone. So where a trace meets one, the function is traced
again with its calls followed: the user's functions run in code that hands every call over (``rewriting``, or ``names``
where there is no source), functions of libraries are called as they are, or as declared in ``dispatch.CALLS``, and the
arrays that they make are ``LocalArray``. Nothing outside of these runs changes.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from ..errors import is_library
from ..program.dims import is_concrete
from . import making, scalars, vectorizing, writing
from .dispatch import CALLS, has_rule, place_of_out, refuse
from .libraries import is_library as is_library_module
from .local_array import LocalArray, holds_traced, unwrapped
from .making import Joined
from .names import Names, with_instance, with_names
from .rewriting import rewritten
from .trace import current, running
from .tracer import Tracer
from .tree import tree_map

#: modules that declare what calls give, by being imported
ROOMS = (making, scalars, vectorizing, writing)
_NUMERIC = ("numpy", "scipy", "pandas", "sklearn", "xarray", "copy")
_CACHED = type(functools.lru_cache(lambda: None))
_NUMPYS = (np.ufunc, type(np.sum), BuiltinFunctionType)
#: types that are none of a user's
_COMMON = frozenset((Tracer, LocalArray, np.ndarray, float, int, bool, str, list, tuple, dict, type(np), np.float64))
#: methods that give a part of an array, or its elements in another order
_MOVES = (
    "reshape",
    "ravel",
    "transpose",
    "swapaxes",
    "squeeze",
    "diagonal",
    "flatten",
    "copy",
    "repeat",
    "take",
    "view",
)


class _Calls:
    """The hook of followed code."""

    def call(self, function: Callable, /, *args: Any, **kwargs: Any) -> Any:
        """What the call of ``function`` in the user's code gives."""
        kind = type(function)
        if current() is None:  # another thread, or after the trace
            return function(*args, **kwargs)
        if kind is FunctionType:
            if not is_library(function.__code__.co_filename):
                return followed(function)(*args, **kwargs)
        elif kind is MethodType:
            inner = function.__func__
            if type(inner) is FunctionType and not is_library(inner.__code__.co_filename):
                method = followed(inner)
                return method(with_instance(method, function.__self__), *args, **kwargs)
        elif kind is functools.partial:
            return self.call(function.func, *function.args, *args, **{**function.keywords, **kwargs})
        elif isinstance(function, type):
            if not is_library_module(function.__module__):
                return _made(function, args, kwargs)
        elif kind not in _NUMPYS:
            instead = _in_python(function, kind, args, kwargs)
            if instead is not None:
                return self.call(instead, *args, **kwargs)
        return library(function, args, kwargs)

    def attempt(self, function: Callable, /, *args: Any, **kwargs: Any) -> Any:
        """``call`` where the user's code catches what it raises."""
        trace = current()
        if trace is None:
            return function(*args, **kwargs)
        trace.attempts += 1
        try:
            return self.call(function, *args, **kwargs)
        finally:
            trace.attempts -= 1

    def indexed(self, value: Any) -> Any:
        """What takes the index of ``np.r_[…]`` and ``np.c_[…]``."""
        return Joined(value) if (value is np.r_ or value is np.c_) and current() is not None else value

    def outside(self, value: Any) -> Any:
        """What stands for a value that code without source reads from outside."""
        is_array = type(value) is np.ndarray and value.dtype.kind in "biuf" and current() is not None
        return LocalArray.of(value, is_foreign=True) if is_array else self.indexed(value)

    def operate(self, operation: str, left: Any, right: Any) -> Any:
        """``left + right``, or what the operation is: by the methods of the user's class, where there is one."""
        for kind in (type(left), type(right)):
            if kind not in _COMMON and isinstance(getattr(kind, _dunder(operation), None), FunctionType):
                return self._operate(operation, left, right)
        if holds_traced((left, right)):
            if isinstance(left, (str, bytes)) and operation == "mod":
                return left % _mapped(_printed, right)
            left, right = (
                making.array_of(v) if _is_list_beside(v, w) else v for v, w in ((left, right), (right, left))
            )
        made = getattr(operator, operation)(left, right)
        return _local(made, ())

    def _operate(self, operation: str, left: Any, right: Any) -> Any:
        tries = [(left, _dunder(operation), right), (right, _dunder(operation, "r"), left)]
        if type(right) is not type(left) and isinstance(right, type(left)):
            tries.reverse()
        for own, name, other in tries:
            method = getattr(type(own), name, None)
            made = NotImplemented if method is None else self.call(method, own, other)
            if made is not NotImplemented:
                return made
        return getattr(operator, operation)(left, right)  # Python's own error

    def attribute(self, value: Any, name: str) -> Any:
        """``value.name``: by the function of the user's class, where it is a property."""
        kind = type(value)
        if kind not in _COMMON:
            getter = getattr(getattr(kind, name, None), "fget", None)
            if type(getter) is FunctionType:
                return self.call(getter, value)
        return getattr(value, name)

    def update(self, array: Any, index: Any, operation: str, value: Any) -> None:
        """Do ``array[index] += value``, or what the operation is; by a traced mask without asking which it picks."""
        is_mask = type(index) in (Tracer, LocalArray) and index.dtype.kind == "b" and holds_traced(index)
        if is_mask and tuple(index.shape) == tuple(np.shape(array)) and not np.shape(value):
            array[...] = np.where(index, getattr(operator, operation)(array, value), array)
        else:
            array[index] = getattr(operator, f"i{operation.rstrip('_')}")(array[index], value)


def _is_list_beside(value: Any, other: Any) -> bool:
    """Whether it is a list that an array, the other operand, makes an array of."""
    return isinstance(value, (list, tuple)) and isinstance(other, (np.ndarray, np.generic))


def _dunder(operation: str, prefix: str = "") -> str:
    return f"__{prefix}{operation.rstrip('_')}__"


HOOK = _Calls()


def _in_python(function: Any, kind: type, args: tuple, kwargs: dict[str, Any]) -> Callable | None:
    """The user's function that stands behind a callable object: one that is cached, compiled, or a method."""
    if not is_library_module(kind.__module__):
        method = next((vars(c)["__call__"] for c in kind.__mro__ if "__call__" in vars(c)), None)
        return MethodType(method, function) if type(method) is FunctionType else None
    python = getattr(function, "__wrapped__" if kind is _CACHED else "py_func", None)
    return python if type(python) is FunctionType and holds_traced((args, kwargs)) else None


def _made(cls: type, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A new instance of a class of the user, its ``__init__`` followed."""
    is_plain = type(cls).__call__ is type.__call__ and cls.__new__ is object.__new__
    if not is_plain or type(cls.__init__) is not FunctionType:
        return cls(*args, **kwargs)
    made = object.__new__(cls)
    HOOK.call(cls.__init__, made, *args, **kwargs)
    return made


def followed(function: FunctionType) -> FunctionType:
    """A function of the user with its calls followed."""
    code = function.__code__
    if HOOK in code.co_consts or type(function.__globals__) is Names:
        return function
    new = _followed_code(code, code.co_filename)
    if new is None:
        return with_names(function, HOOK)
    made = FunctionType(new, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    return made


@functools.lru_cache(maxsize=4096)
def _followed_code(code: CodeType, file: str) -> CodeType | None:
    return rewritten(code, HOOK)


def followed_code(code: CodeType) -> CodeType:
    """The code that runs in place of ``code`` where calls are followed."""
    return _followed_code(code, code.co_filename) or code


def follow(function: Callable) -> Callable:
    """``function`` with its calls followed; arrays that it made and returns are traced values or plain."""

    def following(*args: Any, **kwargs: Any) -> Any:
        return tree_map(_settled, HOOK.call(function, *args, **kwargs))

    return following


def _settled(value: Any) -> Any:
    if type(value) is LocalArray:
        return Tracer(value._symgrad_node) if value.is_traced else np.array(value.data)
    return value


# functions of libraries


def library(function: Callable, args: tuple, kwargs: Mapping[str, Any]) -> Any:
    """What a function of a library, or of C, gives."""
    owner = getattr(function, "__self__", None)
    if isinstance(function, np.vectorize):
        return vectorizing.vectorized(function, _callback)(*args, **kwargs)
    if function is np.vectorize:
        return vectorizing.vectorized(np.vectorize(*args, **kwargs), _callback)
    if function is np.frompyfunc:
        return vectorizing.Vectorized(_callback(args[0]))
    if function is np.apply_along_axis:
        return vectorizing.along_axis(_callback(args[0]), *args[1:], **kwargs)
    args, kwargs = (
        _with_callbacks(function, args),
        dict(zip(kwargs, _with_callbacks(function, kwargs.values()), strict=True)),
    )
    is_declared = _is_declared(function)
    args = tuple([list(v) if is_declared and isinstance(v, Iterator) else v for v in args])
    is_numeric = _is_numeric(function, owner)
    if holds_traced((args, kwargs)):
        answer = writing.at_of(function) or (CALLS[function] if is_declared else None)
        if answer is not None:
            return answer(*args, **kwargs)
        return _computed(function, owner, args, kwargs) if is_numeric else function(*args, **kwargs)
    if not is_numeric or type(owner) is LocalArray:
        made = function(*args, **kwargs)
        is_copy = type(owner) is Tracer and function.__name__ in ("copy", "flatten") and is_concrete(made.shape)
        return LocalArray.of_node(made._symgrad_node) if is_copy and made.shape else made
    args, kwargs = unwrapped(args), unwrapped(kwargs)
    return _local(function(*args, **kwargs), [owner, *args, *kwargs.values()])


def _is_numeric(function: Any, owner: Any) -> bool:
    """Whether it is of a library that computes with arrays, and not of Python."""
    if isinstance(function, np.ufunc):
        return True
    module = type(owner).__module__ if owner is not None and not hasattr(owner, "__spec__") else None
    module = module if module not in (None, "builtins") else getattr(function, "__module__", None) or ""
    return module.partition(".")[0] in _NUMERIC


def _callback(function: Any) -> Any:
    """A function that a library will call."""
    return functools.partial(HOOK.call, function)


def _with_callbacks(function: Any, values: Iterable[Any]) -> tuple:
    """The arguments of ``function`` with the calls of functions among them followed."""
    module = getattr(function, "__module__", None) or ""
    kinds = (FunctionType, MethodType, functools.partial)
    if function is functools.partial:  # what it makes is called like others
        return tuple(values)
    if module in ("itertools", "functools") or function in (map, filter, sorted, min, max):
        return tuple(_callback(v) if type(v) in kinds or _is_declared(v) else v for v in values)
    if module.partition(".")[0] == "symgrad" or isinstance(function, type):
        return tuple(values)
    return tuple(_callback(v) if type(v) in kinds else v for v in values)


def _is_declared(function: Any) -> bool:
    return callable(function) and type(function).__hash__ is not None and function in CALLS


def _printed(value: Any) -> Any:
    """A traced value as it is printed."""
    if type(value) not in (Tracer, LocalArray) or not holds_traced(value):
        return value
    trace, node = running(), value._symgrad_node
    return np.asarray(trace.value_of(node))[()] if trace.has_value(node) else value


def _local(made: Any, given: Iterable[Any]) -> Any:
    """What a library gave, its arrays as those of the function's making, or of its caller's."""
    if current() is None:
        return made
    if type(made) is np.ndarray and made.dtype.kind in "biuf":
        is_foreign = any(
            isinstance(v, np.ndarray) and type(v) is not LocalArray and np.may_share_memory(v, made) for v in given
        )
        return LocalArray.of(made, is_foreign)
    if type(made) in (tuple, list):
        given = list(given)
        return type(made)([_local(m, given) for m in made])
    return made


def _computed(function: Callable, owner: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What a function of arrays gives of traced ones."""
    if isinstance(owner, np.ndarray) and type(owner) is not LocalArray:  # its method, in C
        return getattr(Tracer(making.array_of(owner)._symgrad_node), function.__name__)(*args, **kwargs)
    args, kwargs, targets = _without_out(function, args, kwargs)
    where = kwargs.pop("where", True) if targets and isinstance(function, np.ufunc) else True
    if not has_rule(function):
        args, kwargs = _mapped(_kept, args), _mapped(_kept, kwargs)
    stand_ins: list[tuple[Tracer, LocalArray]] = []

    def stand_in(value: Any) -> Any:
        if type(value) is LocalArray and value.is_traced:
            stand_ins.append((Tracer(value._symgrad_node), value))
            return stand_ins[-1][0]
        return value.data if type(value) is LocalArray else value

    made = _answered(function, _mapped(stand_in, args), _mapped(stand_in, kwargs))
    if targets:
        return _written(targets, made if where is True else np.where(where, made, targets[0]))
    if not stand_ins and _has_no_traced(made):
        return _local(made, ())
    if _views(made, stand_ins):
        return _viewed(made, stand_ins, lambda leaf: function(*_mapped(leaf, args), **_mapped(leaf, kwargs)))
    return made


def _answered(function: Callable, args: Any, kwargs: Any) -> Any:
    """What the rule of a function gives, also for lists of traced values, of which NumPy does not ask."""
    if has_rule(function):
        anyone = Tracer(running().constant(np.zeros(())))
        if isinstance(function, np.ufunc):
            return anyone.__array_ufunc__(function, "__call__", *args, **kwargs)
        return anyone.__array_function__(function, (), args, kwargs)
    return function(*args, **kwargs)


def _kept(value: Any) -> Any:
    """A traced value that nothing is differentiated by as its plain one, guarded."""
    if type(value) not in (Tracer, LocalArray) or not holds_traced(value):
        return value
    node = value._symgrad_node
    return running().guard(node) if running().keeps_value(node) else value


def _has_no_traced(made: Any) -> bool:
    return type(made) is np.ndarray or (type(made) in (tuple, list) and all(map(_has_no_traced, made)))


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([_mapped(function, v) for v in value])
    return {k: _mapped(function, v) for k, v in value.items()} if kind is dict else function(value)


def _views(made: Any, stand_ins: list[tuple[Tracer, LocalArray]]) -> bool:
    if type(made) in (tuple, list):
        return any(_views(m, stand_ins) for m in made)
    return type(made) is Tracer and any(made is t or made._looks_into(t) for t, _ in stand_ins)


def _viewed(made: Any, stand_ins: list[tuple[Tracer, LocalArray]], again: Callable) -> Any:
    """The views that a function has given, of the arrays that they look into."""
    of_data = again(lambda v: v.data if type(v) is LocalArray else np.zeros(v.shape) if type(v) is Tracer else v)
    of_numbers = again(lambda v: v.numbers if type(v) is LocalArray else np.zeros(v.shape) if type(v) is Tracer else v)
    return _views_of(made, of_data, of_numbers, stand_ins)


def _views_of(made: Any, data: Any, numbers: Any, stand_ins: list[tuple[Tracer, LocalArray]]) -> Any:
    if type(made) in (tuple, list):
        return type(made)([_views_of(*parts, stand_ins) for parts in zip(made, data, numbers, strict=True)])
    for stand_in, array in stand_ins:
        if made is stand_in or made._looks_into(stand_in):
            return array.taken(data, lambda _: numbers)
    return made


def _without_out(function: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any], tuple]:
    """The arguments without ``out``, and the arrays that it names."""
    out = kwargs.get("out")
    kwargs = {k: v for k, v in kwargs.items() if k != "out"}
    if isinstance(function, np.ufunc):
        out = args[function.nin :] or out
        args = args[: function.nin]
    elif type(function).__hash__ is not None and place_of_out(function) < len(args):
        place = place_of_out(function)
        args, out = (*args[:place], *args[place + 1 :]), args[place]
    targets = out if isinstance(out, tuple) else (out,)
    return args, kwargs, targets if any(t is not None for t in targets) else ()


def _written(targets: tuple, made: Any) -> Any:
    results = made if isinstance(made, tuple) else (made,)
    for target, result in zip(targets, results, strict=False):
        if target is not None:
            if not np.can_cast(result.dtype, target.dtype, "same_kind"):
                refuse(f"an array of {target.dtype} cannot hold a result of {result.dtype} (out=).")
            writing.target(target)[...] = result
    written = tuple(r if t is None else t for t, r in zip(targets, results, strict=False))
    return written if isinstance(made, tuple) else written[0]


# attributes of arrays that a function has made


def _attribute(array: LocalArray, name: str) -> Any:
    value = getattr(array.data, name)
    if callable(value) and hasattr(np.ndarray, name):
        return functools.partial(_method, array, name)
    return _local(value, ())


def _method(array: LocalArray, name: str, *args: Any, **kwargs: Any) -> Any:
    if not (array.is_traced or holds_traced((args, kwargs))):
        return _local(getattr(array.data, name)(*unwrapped(args), **unwrapped(kwargs)), unwrapped(args))
    if name in _MOVES and not holds_traced((args, kwargs)):
        move = operator.methodcaller(name, *unwrapped(args), **unwrapped(kwargs))
        return array.taken(move(array.data), move)
    traced = Tracer(array._symgrad_node)
    made = getattr(traced, name)(*unwrapped(args, traced=True), **unwrapped(kwargs, traced=True))
    return array if made is traced else made


LocalArray.computed = staticmethod(library)
LocalArray.attribute = staticmethod(_attribute)

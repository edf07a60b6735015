"""Calls: what the user's own code calls while it is traced, each call taken in hand.

A function of Python and NumPy that wants plain numbers (``float(x)``, ``math.sin(x)``, ``np.array([x[0], 1.0])``), or
writes into an array, cannot be answered by the traced values alone. So where a trace meets one, the function is traced
again with its calls followed: the user's functions run in code that hands every call over (``rewriting``), functions
of libraries are called as they are, or as declared in ``dispatch.CALLS``, and the arrays that they make are
``LocalArray``. Nothing outside of these runs changes.
"""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from ..errors import (
    DtypeError,
    MissingAttribute,
    TracingError,
    UnsupportedArguments,
    at_user_line,
    is_library,
    mistakes,
    refusals,
    typed,
)
from . import (
    cosines,
    distances,
    interpolated_images,
    linear_algebra_of_scipy,
    local_operators,
    making,
    matrix_functions,
    quadrature,
    scalars,
    splines,
    statistics_of_python,
    windows,
    writing,
)
from .array_methods import METHOD_FUNCTIONS
from .bytecode.reads import code_reads
from .computed import formatted, library, local
from .dispatch import DEFERRED, refuse
from .error_settings import refuse_errors_of_values
from .generators import CACHED
from .labelled import has_labels, takes_arrays, unlabelled
from .labels import is_indexer
from .libraries import is_library as is_library_module
from .library_calls import called_by, is_users, note_refused, refuse_unread, said_of
from .library_code import concerns, is_closed, is_declared, is_library_code, library_code
from .local_array import LocalArray, holds_traced, unwrapped
from .long_loops import some_steps
from .making import Joined
from .python_numbers import held_as, held_like, is_count, is_truth
from .rewriting import rewritten
from .sparse_matrices import is_stand_in
from .sparse_operands import as_operand, become_traced, entries_to_write, is_matrix, is_operand
from .text import refuse_read_back
from .trace import current, running
from .tracer import Tracer
from .tree import tree_map
from .users_values import as_taken, own_method

#: modules that declare what calls give, by being imported
ROOMS = (
    *(cosines, distances, interpolated_images, linear_algebra_of_scipy, local_operators, making, matrix_functions),
    *(quadrature, scalars, splines, statistics_of_python, windows, writing),
)
_IN_PYTHON = (FunctionType, MethodType, functools.partial, type, np.ufunc)
_NUMPYS = (np.ufunc, type(np.sum), BuiltinFunctionType)
#: types that are none of a user's
_COMMON = frozenset((Tracer, LocalArray, np.ndarray, float, int, bool, str, list, tuple, dict, type(np), np.float64))


class _Calls:
    """The hook of followed code."""

    def call(self, function: Callable, /, *args: Any, **kwargs: Any) -> Any:
        """What the call of ``function`` in the user's code gives."""
        kind, trace = type(function), current()
        if trace is None:  # another thread, or after the trace
            return function(*args, **kwargs)
        if kind is FunctionType:
            if not is_library(function.__code__.co_filename):
                own = followed(function)
                if own is function:
                    _refuse_asking(function, args)
                return own(*args, **kwargs)
        elif kind is MethodType:
            inner = function.__func__
            if type(inner) is FunctionType and not is_library(inner.__code__.co_filename):
                return _of_instance(function, args, kwargs)
        elif kind is functools.partial:
            return self.call(function.func, *function.args, *args, **{**function.keywords, **kwargs})
        elif isinstance(function, type):
            if not is_library_module(function.__module__):
                made = _made(function, args, kwargs)
                if trace.texts:  # of a class of numbers
                    refuse_read_back(trace, function, (*args, *kwargs.values()), made)
                return made
        elif function is getattr and type(self) is _Calls and type(args[1]) is str:
            try:
                return self.attribute(args[0], args[1])
            except AttributeError:
                if len(args) < 3:
                    raise
                return args[2]
        elif kind is operator.methodcaller:
            made_by, given = function.__reduce__()
            given, named = (*getattr(made_by, "args", ()), *given), getattr(made_by, "keywords", {})
            return self.call(getattr(args[0], given[0]), *given[1:], **named)
        elif kind is np.ufunc and len(args) == 1 and (own := own_method(function, args[0])) is not None:
            return self.call(own)
        elif kind not in _NUMPYS:
            instead = _in_python(function, kind, args, kwargs)
            if instead is not None:
                return self.call(instead, *args, **kwargs)
        try:
            made = self._called(function, args, kwargs)
        except (TypeError, AttributeError) as error:
            if not is_declared(function) and holds_traced(
                (getattr(function, "__self__", None), *args, *kwargs.values())
            ):
                note_refused(function, error)
            raise
        if trace.texts:
            refuse_read_back(trace, function, (getattr(function, "__self__", None), *args, *kwargs.values()), made)
        return made

    def _called(self, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """What a function that is none of the user's gives."""
        if type(self) is _Calls:  # what a library is told is its own affair
            refuse_errors_of_values(function, args, kwargs)
        if any(type(v) not in _COMMON for v in args):
            args = tuple([v if type(v) in _COMMON else as_taken(self.call, function, v) for v in args])
        if any(has_labels(v) for v in (*args, *kwargs.values())) and takes_arrays(function):
            args, kwargs = unlabelled(args), unlabelled(kwargs)
        if is_declared(function):
            latest = refusals.latest
            try:
                return library(self.call, function, args, kwargs)
            except UnsupportedArguments:
                if library_code(function, args, kwargs) is None:
                    raise
                refusals.latest = latest
        try:
            inside = library_code(function, args, kwargs)
        except DtypeError as refused:
            with contextlib.suppress(TracingError, TypeError):  # what does nothing but compute may take complex numbers
                return library(self.call, function, args, kwargs)
            raise refused from None
        return (
            library(self.call, function, args, kwargs) if inside is None else self.read(function, inside, args, kwargs)
        )

    def read(self, function: Callable, code: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """What the Python code of a library gives, which ``function`` runs."""
        with said_of(function):
            try:
                return _of_library(code, args, kwargs)
            except (ValueError, IndexError) as error:
                is_meant = isinstance(error, np.linalg.LinAlgError) or is_users(error)
                instead = None if is_meant else typed(error, called_by(function))
                if instead is None:
                    raise
                raise instead from error

    def indexed(self, value: Any) -> Any:
        """What takes the index of ``np.r_[…]`` and ``np.c_[…]``."""
        return Joined(value, unlabelled) if (value is np.r_ or value is np.c_) and current() is not None else value

    def operate(self, operation: str, left: Any, right: Any) -> Any:
        """``left + right``, or what the operation is: by the methods of a library's class, where there is one."""
        if any(_has_own(type(v), operation) for v in (left, right)):
            return self._operate(operation, left, right)
        if any(isinstance(v, (list, tuple)) and _is_beside_list(w) for v, w in ((left, right), (right, left))):
            return getattr(operator, operation)(left, right)
        if holds_traced((left, right)) or type(left) in DEFERRED or type(right) in DEFERRED:
            if isinstance(left, (str, bytes)) and operation == "mod":
                return formatted(left, right)
            left, right = (as_operand(unwrapped(v, traced=True)) for v in (left, right))
            left, right = (
                making.array_of(v) if _is_list_beside(v, w) else v for v, w in ((left, right), (right, left))
            )
        return local(getattr(operator, operation)(left, right))

    def negative(self, value: Any) -> Any:
        """``-value``: by the method of a library's class, where there is one."""
        return self.call(type(value).__neg__, value) if _has_own(type(value), "neg") else -value

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
        if kind is Tracer and value._is_pythons and not hasattr(value.__class__, name):
            raise MissingAttribute(f"{value.__class__.__name__!r} object has no attribute {name!r}{at_user_line('')}")
        if kind is Tracer and name in METHOD_FUNCTIONS:
            return functools.partial(METHOD_FUNCTIONS[name], value)
        if kind not in _COMMON:
            found = getattr(kind, name, None)
            getter = getattr(found, "fget", None)
            if type(getter) is FunctionType:
                return self.call(getter, value)
            if type(found) is functools.cached_property and name not in vars(value):
                vars(value)[name] = self.call(found.func, value)
            if name == "data" and is_matrix(value):
                return entries_to_write(value)
        return getattr(value, name)

    def element(self, array: Any, index: Any) -> _Place:
        """The place ``array[index]``, with what is there; a traced mask is not asked which elements it picks."""
        is_mask = type(index) in (Tracer, LocalArray) and index.dtype.kind == "b" and holds_traced(index)
        if is_mask and tuple(index.shape) == tuple(np.shape(array)):
            return _Place(array, index, None)
        part = array[index]
        if is_matrix(part) or is_stand_in(part):  # of which every element is written
            part = as_operand(part).toarray()
        return _Place(array, index, part)

    def member(self, owner: Any, name: str) -> _Place:
        """The place ``owner.name``, with what is there."""
        return _Place(owner, name, self.attribute(owner, name), is_member=True)

    def update(self, place: _Place, operation: str, value: Any) -> None:
        """Do ``place += value``, or what the operation is."""
        array, index, part, is_member = place
        if part is None and not is_member:
            if not np.shape(value):
                array[...] = np.where(index, getattr(operator, operation)(array, value), array)
                return
            part = array[index]
        made = getattr(operator, f"i{operation.rstrip('_')}")(part, value)
        (self.set if is_member else self.store)(made, array, index)

    def steps(self, values: Iterable[Any], code: tuple) -> Iterable[Any]:
        """What a loop with straight code runs over."""
        return some_steps(values, code)

    def decided(self, value: Any) -> Any:
        """``value``, Python's own truth values in it as True and False, guarded: ``is`` asks which of them it is."""
        kind = type(value)
        if kind is tuple:
            return tuple(map(self.decided, value))
        if kind is list or kind is dict:  # itself: what a pattern takes out of it, code may write into
            for key, part in enumerate(value) if kind is list else list(value.items()):
                value[key] = self.decided(part)
            return value
        return bool(value) if is_truth(value) else value

    def store(self, value: Any, array: Any, index: Any) -> None:
        """Do ``array[index] = value``."""
        owner = array.obj if is_indexer(array) else array
        if _made_traced(owner, value):
            array = owner if owner is array else getattr(owner, array.name)
        array[index] = value

    def set(self, value: Any, owner: Any, name: str) -> None:
        """Do ``owner.name = value``."""
        _made_traced(owner, value)
        setattr(owner, name, value)


class _Place(NamedTuple):
    """Where something is written, and what is there."""

    owner: Any
    name: Any
    value: Any
    is_member: bool = False


def _made_traced(owner: Any, value: Any) -> bool:
    """Have a DataFrame or a sparse matrix that the function has made become a traced one, where the value is traced."""
    if type(owner) in _COMMON or not (is_operand(owner) and concerns(value, 0)):
        return False
    if running().operands.pop(id(owner), None) is None:
        refuse(f"a traced value is written into a {type(owner).__name__} from outside. Write into a copy() of it.")
    become_traced(owner)
    return True


class _LibraryCalls(_Calls):
    """The hook of followed code of libraries."""

    def call(self, function: Callable, /, *args: Any, **kwargs: Any) -> Any:
        is_in_c = (
            type(function) not in _IN_PYTHON and is_closed(function) and library_code(function, args, kwargs) is None
        )
        if is_in_c and holds_traced((args, kwargs)):
            refuse(f"{function.__module__}.{function.__name__} computes in C.")
        return super().call(function, *args, **kwargs)

    def attribute(self, value: Any, name: str) -> Any:
        """Of a traced array also how it lies in memory, which is for NumPy's own code alone to ask."""
        if name == "flags" and type(value) is Tracer:
            return np.zeros(value.shape).flags
        return super().attribute(value, name)

    def read(self, function: Callable, code: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        return _of_library(code, args, kwargs)


def _has_own(kind: type, operation: str) -> bool:
    """Whether a class of a library whose code is followed says what an operation does."""
    return kind not in _COMMON and any(is_library_code(getattr(kind, _dunder(operation, p), None)) for p in ("", "r"))


def _is_beside_list(value: Any) -> bool:
    """Whether Python itself joins or repeats the list that is the other operand, what it holds as it is."""
    return isinstance(value, (list, tuple, int)) or (type(value) is Tracer and is_count(value))


def _is_list_beside(value: Any, other: Any) -> bool:
    """Whether it is a list that an array, the other operand, makes an array of."""
    return isinstance(value, (list, tuple)) and isinstance(other, (np.ndarray, np.generic))


def _dunder(operation: str, prefix: str = "") -> str:
    return f"__{prefix}{operation.rstrip('_')}__"


HOOK, LIBRARY_HOOK = _Calls(), _LibraryCalls()


def _in_python(function: Any, kind: type, args: tuple, kwargs: dict[str, Any]) -> Callable | None:
    """The user's function that stands behind a callable object: one that is cached, compiled, or a method."""
    if not is_library_module(kind.__module__):
        method = next((vars(c)["__call__"] for c in kind.__mro__ if "__call__" in vars(c)), None)
        return MethodType(method, function) if type(method) is FunctionType else None
    python = getattr(function, "__wrapped__" if kind is CACHED else "py_func", None)
    return python if type(python) is FunctionType and holds_traced((args, kwargs)) else None


#: what answers for a traced value as for what it stands for where calls are followed alone
_ASKING = frozenset(("type", "hasattr"))


def _refuse_asking(function: FunctionType, args: tuple) -> None:
    """Refuse code that asks what its traced arguments are, where it has no source by which its calls were followed."""
    asked = _ASKING & code_reads(function.__code__).globals
    if asked and _hook(function.__code__.co_filename) not in function.__code__.co_consts and holds_traced(args):
        refuse_unread(f"{min(asked)}() tells a traced value from what it stands for.", function.__code__)


def _of_instance(method: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    return followed(method.__func__)(method.__self__, *args, **kwargs)


def _of_library(code: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What the Python code of a library gives, or what is declared in its place."""
    if type(code) is functools.partial:
        return held_as(code.func, code(*args, **kwargs), (*code.args, *args, *kwargs.values()))
    if isinstance(code, type):
        return _made(code, args, kwargs)
    return _of_instance(code, args, kwargs) if type(code) is MethodType else followed(code)(*args, **kwargs)


def _made(cls: type, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A new instance of a class of the user, its ``__new__`` and ``__init__`` followed."""
    new, made_by = cls.__new__, cls.__init__
    is_followed = (new is object.__new__ and type(made_by) is FunctionType) or type(new) is FunctionType
    if type(cls).__call__ is not type.__call__ or not is_followed:
        return cls(*args, **kwargs)
    hook = LIBRARY_HOOK if is_library_code(made_by) else HOOK
    made = object.__new__(cls) if new is object.__new__ else hook.call(new, cls, *args, **kwargs)
    made_by = type(made).__init__ if isinstance(made, cls) else made_by
    if type(made_by) is not FunctionType or not isinstance(made, cls):
        return made
    if getattr(getattr(cls, "__dataclass_params__", None), "frozen", True):  # which sets attributes past the class
        hook.call(made_by, made, *args, **kwargs)
    else:
        hook.call(MethodType(made_by, made), *args, **kwargs)  # for the sake of its __post_init__
    return made


def followed(function: FunctionType) -> FunctionType:
    """A function of the user with its calls followed; itself where there is no source, which the trace notes."""
    code = function.__code__
    if _hook(code.co_filename) in code.co_consts:
        return function
    new = _followed_code(code, code.co_filename)
    if new is None:
        running().without_source.add(code)
        return function
    made = FunctionType(new, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    return made


@functools.lru_cache(maxsize=4096)
def _followed_code(code: CodeType, file: str) -> CodeType | None:
    return rewritten(code, _hook(file))


def _hook(file: str) -> _Calls:
    """The hook of code of this file."""
    return LIBRARY_HOOK if is_library(file) else HOOK


def followed_code(code: CodeType) -> CodeType:
    """The code that runs in place of ``code`` where calls are followed."""
    return _followed_code(code, code.co_filename) or code


def follow(function: Callable) -> Callable:
    """``function`` with its calls followed; arrays that it made and returns are traced values."""

    def following(*args: Any, **kwargs: Any) -> Any:
        return tree_map(_settled, HOOK.call(function, *args, **kwargs))

    return following


def _settled(value: Any) -> Any:
    return held_like(Tracer(value._symgrad_node), value) if type(value) is LocalArray else value


def composed(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Callable | None:
    """The rule of a function that NumPy composes of others; None where its code is not followed."""
    code = None if is_declared(function) else library_code(function, args, kwargs)
    if code is None:
        return None

    def rule(*args: Any, **kwargs: Any) -> Any:
        with said_of(function), mistakes(called_by(function)):
            return tree_map(_settled, _of_library(code, args, kwargs))

    return rule


LocalArray.computed = staticmethod(functools.partial(library, HOOK.call))
Tracer.composed = staticmethod(composed)

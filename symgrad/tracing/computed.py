"""What functions of libraries, and of C, give in code whose calls are followed.

Of plain arrays they give what they give, and the arrays are the function's own from then on; of traced ones what their
rules say, with views of what the function has made in place of parts of it.
"""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import operator
import re
import sys
from collections import UserList, deque
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, ValuesView
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, is_library, user_frame
from ..program.dims import is_concrete
from . import making, vectorizing, writing
from .array_methods import METHOD_FUNCTIONS
from .dispatch import CALLS, has_rule, place_of_out, refuse
from .labelled import LabelledTracer
from .lending import Lent
from .library_code import concerns
from .local_array import LocalArray, holds_traced, unwrapped
from .making import OF_SIZES
from .memory import owner_of
from .python_numbers import held_as
from .sizes import holds_size
from .sparse_matrices import is_stand_in
from .sparse_operands import as_operand, is_operand, note_operand
from .text import note_numbers, value_of_text
from .trace import current, running
from .tracer import Tracer

_NUMERIC = ("numpy", "scipy", "numexpr", "pandas", "sklearn", "xarray")
#: what keeps kinds of containers, and which objects are one; traced values and own arrays are copied by their methods
_COPYING = (copy.copy, copy.deepcopy)
#: packages of those that write into arrays, where SciPy has them and had them
_WRITERS = ("scipy._lib.array_api_extra", "scipy._external.array_api_extra")
#: methods that give a part of an array, or its elements in another order
_MOVES = frozenset(
    ("reshape", "ravel", "transpose", "swapaxes", "squeeze", "diagonal", "flatten", "copy", "repeat", "take")
)
#: functions that give views or copies, as an array lies in memory
_BY_LAYOUT = (np.reshape, np.ravel)
#: functions of Python that call what they are given, and the kinds of that
_CALLING = (map, filter, sorted, min, max, functools.reduce, itertools.accumulate, itertools.starmap)
_KINDS = (FunctionType, MethodType, functools.partial)
#: functions of Python that ask what a value is, and take nothing out of it
_ASKING = (type, isinstance, hasattr)
#: names of parameters that say how many, how often or where
_COUNTS = frozenset(
    (
        *("axis", "bins", "ddof", "decimals", "deg", "i", "indices_or_sections", "k", "kth", "m", "M", "maxlen"),
        *("minlength", "n", "N", "ndigits", "newshape", "num", "obj", "offset", "order", "pad_width", "r", "repeat"),
        *("repeats", "reps", "shape", "size"),
    )
)
#: what C says where it is given no memory
_OF_BUFFERS = re.compile("bytes|buffer")
#: what calls a function, also those that a library is given
Called = Callable[..., Any]


def library(call: Called, function: Callable, args: tuple, kwargs: Mapping[str, Any]) -> Any:
    """What a function of a library, or of C, gives; ``call`` calls the functions that it is given."""
    if any(function is asking for asking in _ASKING):
        return CALLS[function](*args, **kwargs)
    if args and _lies_unknown(args[0]) and any(function is moved for moved in _BY_LAYOUT):
        return function(args[0].whole, *args[1:], **kwargs)
    owner = getattr(function, "__self__", None)
    method = CALLS.get(function.__func__) if type(function) is MethodType else None
    if method is not None and any(map(concerns, (owner, *args, *kwargs.values()))):
        return held_as(function.__func__, method(owner, *args, **kwargs), (owner, *args, *kwargs.values()))
    if isinstance(function, np.vectorize):
        return vectorizing.vectorized(function, functools.partial(_callback, call))(*args, **kwargs)
    if function is np.vectorize:
        return vectorizing.vectorized(np.vectorize(*args, **kwargs), functools.partial(_callback, call))
    if function is np.frompyfunc:
        return vectorizing.Vectorized(_callback(call, args[0]))
    if function is np.apply_along_axis:
        return vectorizing.along_axis(_callback(call, args[0]), *args[1:], **kwargs)
    args, kwargs = (
        _with_callbacks(call, function, args),
        dict(zip(kwargs, _with_callbacks(call, function, kwargs.values()), strict=True)),
    )
    if (getattr(function, "__module__", None) or "").startswith("numexpr"):  # it looks at the names of who calls it
        frame = user_frame()
        kwargs = {"local_dict": dict(frame.f_locals) if frame is not None else {}, **kwargs}
    is_declared = _is_declared(function)
    if is_declared:
        args = tuple([_as_given(v) for v in args])
    computes = is_numeric(function, owner)
    is_traced = holds_traced((args, kwargs))
    if is_traced:
        args, kwargs = _with_counts(function, args, kwargs)
        is_traced = holds_traced((args, kwargs))
    if function is len and type(args[0]) is Tracer and args[0].ndim:
        return args[0].shape[0]
    if holds_size((*args, *kwargs.values())) and _is_declared(function, OF_SIZES):
        return OF_SIZES[function](*args, **kwargs)
    if (is_traced or any(map(is_stand_in, args))) and as_operand(owner) is not owner:
        return getattr(as_operand(owner), function.__name__)(*args, **kwargs)
    if is_traced or (args and type(args[0]) is list and getattr(function, "__name__", "") == "shuffle"):
        answer = writing.method_of(function) or (CALLS[function] if is_declared else None)
        if answer is not None:
            return held_as(function, answer(*args, **kwargs), (*args, *kwargs.values()))
        return _computed(function, owner, args, kwargs) if computes else _with_buffers(function, args, kwargs)
    if any(function is copying for copying in _COPYING):
        return local(function(*args, **kwargs))
    if not computes or type(owner) is LocalArray:
        made = _with_buffers(function, args, kwargs)
        is_copy = type(owner) is Tracer and function.__name__ in ("copy", "flatten") and is_concrete(made.shape)
        order = kwargs.get("order", args[0] if args else "C")
        return making.of_node(made._symgrad_node, order) if is_copy and made.shape else made
    lent, name = Lent((*args, *kwargs.values())), getattr(function, "__name__", type(function).__name__)
    return local(lent.noted(function(*unwrapped(args), **unwrapped(kwargs)), name))


def _with_buffers(function: Callable, args: tuple, kwargs: Mapping[str, Any]) -> Any:
    """What a function of Python gives; one in C that asks for the memory of an array gets the array that holds it."""
    try:
        return function(*args, **kwargs)
    except TypeError as error:
        given, trace = (*args, *kwargs.values()), error.__traceback__
        is_its_own = trace is not None and trace.tb_next is None  # and of no function that it has called
        if not (is_its_own and _OF_BUFFERS.search(str(error)) and any(type(v) is LocalArray for v in given)):
            raise
    name = getattr(function, "__name__", type(function).__name__)
    if holds_traced(given):
        refuse(f"{name} asks for the memory of an array, and of traced values there is none. Use the array itself.")
    lent = Lent(given)
    return lent.noted(function(*unwrapped(args), **unwrapped(kwargs)), name)


def _lies_unknown(value: Any) -> bool:
    return type(value) is LocalArray and not value._memory.lies_alike


def is_numeric(function: Any, owner: Any) -> bool:
    """Whether it is of a library that computes with arrays, and neither of Python nor code that writes into them."""
    if isinstance(function, np.ufunc):
        return True
    module = type(owner).__module__ if owner is not None and not issubclass(type(owner), ModuleType) else None
    module = module if module not in (None, "builtins") else getattr(function, "__module__", None) or ""
    return module.partition(".")[0] in _NUMERIC and not module.startswith(_WRITERS)


def _callback(call: Called, function: Any) -> Any:
    """A function that a library will call."""
    return functools.partial(call, function)


def _with_callbacks(call: Called, function: Any, values: Iterable[Any]) -> tuple:
    """The arguments of ``function`` with the calls of functions among them followed."""
    if any(function is f for f in _CALLING):
        return tuple(_callback(call, v) if type(v) in _KINDS or _is_declared(v) else v for v in values)
    if isinstance(function, type) or not is_numeric(function, getattr(function, "__self__", None)):
        return tuple(values)
    return tuple(_callback(call, v) if type(v) in _KINDS else v for v in values)


def _as_given(value: Any) -> Any:
    """An argument of a function that makes arrays or numbers: items one after the other, and values without labels."""
    if type(value) is LabelledTracer:
        return value.values
    return list(value) if isinstance(value, (Iterator, KeysView, ValuesView, deque, UserList)) else value


def _with_counts(function: Any, args: tuple, kwargs: Mapping[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments, those that say how many or where as plain whole numbers, guarded."""
    try:
        inner = getattr(function, "__wrapped__", function)
        is_users = type(inner) is FunctionType and not is_library(inner.__code__.co_filename)
        is_other = is_users or isinstance(function, np.ufunc) or getattr(function, "__module__", None) == "builtins"
        is_kept = getattr(inner, "__closure__", None) is None  # others hold what they close over, and are made anew
        names = () if is_other else (_parameters if is_kept else _parameters.__wrapped__)(function)
    except TypeError:  # it cannot be hashed
        names = ()
    placed = itertools.zip_longest(args, names[: len(args)])
    return (
        tuple([mapped(_count, v) if name in _COUNTS else v for v, name in placed]),
        {name: mapped(_count, v) if name in _COUNTS else v for name, v in kwargs.items()},
    )


@functools.lru_cache(maxsize=4096)
def _parameters(function: Callable) -> tuple[str, ...]:
    """The names of a function's parameters; none where it does not tell them."""
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


def _count(value: Any) -> Any:
    is_whole = type(value) in (Tracer, LocalArray) and value.dtype.kind in "iu" and holds_traced(value)
    known = running().guard(value._symgrad_node) if is_whole else value
    return known.item() if is_whole and not known.shape else known


def _is_declared(function: Any, calls: Mapping[Callable, Callable] = CALLS) -> bool:
    try:
        return callable(function) and function in calls
    except TypeError:  # it cannot be hashed, as functions of C
        return False


def printed(value: Any) -> Any:
    """A traced value as it is printed."""
    if type(value) not in (Tracer, LocalArray) or not holds_traced(value):
        return value
    trace, node = running(), value._symgrad_node
    if not trace.has_value(node):
        return value
    plain = value_of_text(trace, node)[()]
    return plain.item() if type(value) is Tracer and value._is_pythons else plain


def formatted(template: str | bytes, values: Any) -> str | bytes:
    """``template % values``, the traced numbers as they are printed."""
    numbers: list[Any] = []

    def shown(value: Any) -> Any:
        text = printed(value)
        if text is not value:
            numbers.append(value._symgrad_node)
        return text

    made = template % mapped(shown, values)
    for node in numbers:
        note_numbers(running(), node, made if isinstance(made, str) else made.decode("latin-1"))
    return made


def local(made: Any) -> Any:
    """What a library gave, its arrays as those of the function's making, or of its caller's.

    They are of the function's making where nobody else refers to what holds their elements. So ``made`` must be handed
    over as it is given, by no name of the caller's.
    """
    trace = current()
    if trace is None:
        return made
    if is_operand(made):
        note_operand(made)
    if type(made) is np.ndarray and made.dtype.kind in "biufc":
        others = sys.getrefcount(made) - _OF_NEW
        return LocalArray.of(made, _is_known(made, others))
    return _local_items(made, {})


def _local_items(container: Any, found: dict[int, Any]) -> Any:
    """The same of a container's items. One that is found twice stays one, and is itself where no item is another."""
    if type(container) not in (tuple, list):
        return container
    if id(container) not in found:
        items = [_local_in(container, k, found) for k in range(len(container))]
        is_same = all(map(operator.is_, items, container))
        found[id(container)] = container if is_same else type(container)(items)
    return found[id(container)]


def _local_in(container: tuple | list, place: int, found: dict[int, Any]) -> Any:
    """The same of an item, which its container refers to in place of the caller."""
    made = container[place]
    if type(made) is np.ndarray and made.dtype.kind in "biufc":
        others = sys.getrefcount(made) - _OF_ITEM
        return LocalArray.of(made, _is_known(made, others))
    return _local_items(made, found)


def _is_known(array: np.ndarray, others: int) -> bool:
    """Whether ``others`` refer to an array, or to the one that it looks into, or nobody knows who holds its memory."""
    owner = owner_of(array)
    if owner.base is not None or not owner.flags.owndata:
        return True
    return others > 0 or (owner is not array and sys.getrefcount(owner) > _OF_VIEWED)


def _counted(made: Any) -> int:
    return sys.getrefcount(made)


def _counted_in(container: list, place: int) -> int:
    made = container[place]
    return sys.getrefcount(made)


def _counted_below(array: np.ndarray) -> int:
    owner = owner_of(array)
    return sys.getrefcount(owner)


#: references to an array that a function has just made and given, and that nobody else knows; to one that it has given
#: in a list; to one that it has given a view of
_OF_NEW, _OF_ITEM, _OF_VIEWED = _counted(np.zeros(1)), _counted_in([np.zeros(1)], 0), _counted_below(np.zeros(2)[:1])


def _computed(function: Callable, owner: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What a function of arrays gives of traced ones."""
    if isinstance(owner, np.ndarray) and type(owner) is not LocalArray:  # its method, in C
        return getattr(Tracer(making.array_of(owner)._symgrad_node), function.__name__)(*args, **kwargs)
    args, kwargs, targets = _without_out(function, args, kwargs)
    where = kwargs.pop("where", True) if targets and isinstance(function, np.ufunc) else True
    where = True if where is np._NoValue else where
    if not has_rule(function):
        args, kwargs = mapped(_kept, args), mapped(_kept, kwargs)
    stand_ins: list[tuple[Tracer, LocalArray]] = []

    def stand_in(value: Any) -> Any:
        if type(value) is LocalArray and value.is_traced:
            stand_ins.append((Tracer(value._symgrad_node), value))
            return stand_ins[-1][0]
        return value.plain if type(value) is LocalArray else value

    made = _answered(function, mapped(stand_in, args), mapped(stand_in, kwargs))
    if targets:
        return _written(targets, made if where is True else np.where(where, made, targets[0]))
    if not stand_ins and _has_no_traced(made):
        return local(made)
    if type(made) is Tracer and any(made._looks_into(t) and made.dtype != array.dtype for t, array in stand_ins):
        return function(*mapped(_whole, args), **mapped(_whole, kwargs))  # a part of complex numbers
    if _views(made, stand_ins):
        return _viewed(made, stand_ins, lambda leaf: function(*mapped(leaf, args), **mapped(leaf, kwargs)))
    return made


def _whole(value: Any) -> Any:
    return (value.whole if value.is_traced else value.plain) if type(value) is LocalArray else value


def _answered(function: Callable, args: Any, kwargs: Any) -> Any:
    """What the rule of a function gives, also for lists of traced values, of which NumPy does not ask."""
    ufunc = getattr(function, "__self__", function)
    is_method = isinstance(ufunc, np.ufunc) and ufunc is not function
    if not is_method and not has_rule(function):
        return function(*args, **kwargs)
    anyone = Tracer(running().constant(np.zeros(())))
    if not isinstance(ufunc, np.ufunc):
        return anyone.__array_function__(function, (), args, kwargs)
    args = tuple([making.array_of(v).now if type(v) in (list, tuple) and holds_traced(v) else v for v in args])
    return anyone.__array_ufunc__(ufunc, function.__name__ if is_method else "__call__", *args, **kwargs)


def _kept(value: Any) -> Any:
    """A traced value that nothing is differentiated by, or a whole number, as its plain one, guarded."""
    if type(value) not in (Tracer, LocalArray) or not holds_traced(value):
        return value
    node = value._symgrad_node
    return running().guard(node) if node.dtype.kind in "biu" or running().keeps_value(node) else value


def _has_no_traced(made: Any) -> bool:
    return type(made) is np.ndarray or (type(made) in (tuple, list) and all(map(_has_no_traced, made)))


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """``value`` with ``function`` applied to what its lists, tuples and dicts hold."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([mapped(function, v) for v in value])
    return {k: mapped(function, v) for k, v in value.items()} if kind is dict else function(value)


def _views(made: Any, stand_ins: list[tuple[Tracer, LocalArray]]) -> bool:
    if type(made) in (tuple, list):
        return any(_views(m, stand_ins) for m in made)
    return type(made) is Tracer and any(made is t or made._looks_into(t) for t, _ in stand_ins)


def _viewed(made: Any, stand_ins: list[tuple[Tracer, LocalArray]], again: Callable) -> Any:
    """The views that a function has given, of the arrays that they look into."""
    of_data = again(lambda v: v.plain if type(v) is LocalArray else np.zeros(v.shape) if type(v) is Tracer else v)
    known = [a for _, a in stand_ins]  # other arrays say how: axes, a shape

    def number(v: Any) -> Any:
        if type(v) is not LocalArray:
            return np.zeros(v.shape) if type(v) is Tracer else v
        return v.numbers if any(v is a for a in known) else v.plain

    of_numbers = again(number)
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
    if out is ...:  # an array, and no number
        out = None
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
            if not isinstance(target, (np.ndarray, Tracer)):
                raise ArgumentTypeError.here(f"out= takes an array; it got {target!r}.")
            if not np.can_cast(result.dtype, target.dtype, "same_kind"):
                refuse(f"an array of {target.dtype} cannot hold a result of {result.dtype} (out=).")
            writing.target(target)[...] = result
    written = tuple(r if t is None else t for t, r in zip(targets, results, strict=False))
    return written if isinstance(made, tuple) else written[0]


# attributes of arrays that a function has made


def attribute(array: LocalArray, name: str) -> Any:
    if hasattr(np.ndarray, name) and callable(getattr(np.ndarray, name)):
        return functools.partial(_method, array, name)
    return local(getattr(array.plain, name))


def _method(array: LocalArray, name: str, *args: Any, **kwargs: Any) -> Any:
    function = METHOD_FUNCTIONS.get(name)
    if function is not None and (kwargs.get("out") is not None or place_of_out(function) <= len(args)):
        return function(array, *args, **kwargs)
    if name in ("reshape", "ravel") and _lies_unknown(array):
        return getattr(array.whole, name)(*unwrapped(args, traced=True), **kwargs)
    if not (array.is_traced or holds_traced((args, kwargs))):
        lent = Lent((array, *args))
        return local(lent.noted(getattr(array.plain, name)(*unwrapped(args), **unwrapped(kwargs)), name))
    if name == "view" and not (args or kwargs):
        return LocalArray.of(array.plain.view())
    if name in _MOVES and not holds_traced((args, kwargs)):
        move = operator.methodcaller(name, *unwrapped(args), **unwrapped(kwargs))
        return array.taken(move(array.plain), move)
    traced = Tracer(array._symgrad_node)
    made = getattr(traced, name)(*unwrapped(args, traced=True), **unwrapped(kwargs, traced=True))
    return array if made is traced else made


LocalArray.attribute = staticmethod(attribute)

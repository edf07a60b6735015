"""Call: the arguments of one call, their arrays, and the signature that says which trace may serve them.

The signature is the structure of the arguments, the shape and dtype of every array, and the value of everything
that is not an array or a float. Where arguments declare shapes it holds these in place of sizes.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from .errors import ArgumentTypeError, ShapeError
from .named_dims import Declared, Placeholder, Sizes
from .program.dims import Shape
from .tensor import Tensor
from .tracing.host_scalars import MAX_INT
from .tracing.instances import attributes_of, hides_content
from .tracing.libraries import is_library
from .tracing.plain_arrays import LABELS, is_same_array, plain_array
from .tracing.trace import as_node
from .tracing.tree import flatten, is_nested, nesting, replaced, survey

#: what is told apart by its value
_BY_VALUE = frozenset((int, str, bytes, bool, type(None)))
#: sizes of calls that are remembered
_MAX_SIZES = 1024


class Call:
    """What one call gave: ``leaves`` are its arrays in order, ``sizes`` what its named dims are."""

    __slots__ = ("_trees", "args", "key", "kwargs", "leaves", "sizes", "wraps")

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.args = args
        self.kwargs = kwargs
        self._trees: tuple[Sequence[Any], Mapping[str, Any]] = ((), {})
        self.leaves: list[Any] = []
        self.key: tuple = ()
        self.wraps = False
        self.sizes: Sizes | None = None

    def read(self) -> Call:
        """Fill in the leaves and the key, sizes as they come."""
        key: list[Any] = []
        for value in self.args:
            self.wraps |= _read(value, self.leaves, key)
        for name, value in self.kwargs.items():
            key.append(name)
            self.wraps |= _read(value, self.leaves, key)
        self.key = (*key, *self._nested())
        return self

    def _nested(self) -> tuple[Any, ...]:
        """What the structure of nested arguments does not tell.

        That is which keys of dicts are no text, for 1 equals True, and which lists, dicts and objects are the same one.
        """
        mutable, keys = survey((*self.args, *self.kwargs.values()))
        found = list(map(id, mutable))
        same = () if len(found) == len({*found}) else tuple(map(found.index, found))
        return (*map(setting, keys), *same)

    def read_named(self, by_place: Sequence[Any], by_name: Mapping[str, Any], known: dict[Any, Sizes]) -> Call:
        """Fill in the leaves, the sizes of the names that arguments declare, and the key without these sizes.

        ``by_place`` and ``by_name`` hold a tree of ``Declared`` for each argument, or None; ``known`` remembers the
        sizes of calls before. Raises a ShapeError where the arrays do not fit together. Names that are 0 are part of
        the key: named dims are positive.
        """
        self._trees = by_place, by_name
        key: list[Any] = []
        shapes: list[Any] = []
        bound: list[Declared] = []
        for value, tree in zip(self.args, by_place, strict=True):
            if type(value) is np.ndarray and type(tree) is Declared:  # the common case, in line
                self.leaves.append(value)
                key += (tree.text, value.dtype)
                shapes.append(value.shape)
                bound.append(tree)
            else:
                self._read_one(value, tree, key, shapes, bound)
        for name, value in self.kwargs.items():
            key.append(name)
            self._read_one(value, by_name[name], key, shapes, bound)
        own = (*key, *shapes)
        sizes = known.get(own)
        if sizes is None:
            sizes = Sizes(bound, shapes)
            if len(known) >= _MAX_SIZES:
                known.clear()
            known[own] = sizes
        key.append(sizes.zeros)
        self.key = (*key, *self._nested())
        self.sizes = sizes
        return self

    def _read_one(self, value: Any, tree: Any, key: list[Any], shapes: list[Any], bound: list[Declared]) -> None:
        if tree is None:
            self.wraps |= _read(value, self.leaves, key)
            return
        for leaf, declared in paired(value, tree):
            self.wraps |= _read(leaf, self.leaves, key)
            if declared is None:
                continue
            if isinstance(leaf, (np.ndarray, np.generic)):
                key[-2:] = (declared.text, leaf.dtype)
                shapes.append(leaf.shape)
            elif type(leaf) in (float, complex) or (not declared.shape and isinstance(leaf, (int, bool))):
                shapes.append(())
            else:
                raise ArgumentTypeError(
                    f"{declared.label} is declared {declared.text!r}, and is a {type(leaf).__name__}; pass an array."
                )
            bound.append(declared)

    def stand_ins(self) -> tuple[list[Any], dict[str, Any]]:
        """The arguments with placeholders for the arrays that declare a shape."""
        by_place, by_name = self._trees
        if self.sizes is None:
            return list(self.args), dict(self.kwargs)
        args = [self._stand_in(v, tree) for v, tree in zip(self.args, by_place, strict=True)]
        return args, {name: self._stand_in(v, by_name[name]) for name, v in self.kwargs.items()}

    def _stand_in(self, value: Any, tree: Any) -> Any:
        if tree is None:
            return value
        _, structure = flatten(value)
        return replaced(value, structure, [self._placeholder(v, d) for v, d in paired(value, tree)])

    def _placeholder(self, leaf: Any, declared: Declared | None) -> Any:
        if declared is None:
            return leaf
        if type(leaf) in (float, complex):
            return Placeholder((), np.dtype(type(leaf)), weak=True)
        if not isinstance(leaf, (np.ndarray, np.generic)):
            return leaf
        return Placeholder(self._positive(declared.shape), leaf.dtype)

    def _positive(self, shape: Shape) -> Shape:
        """``shape`` with 0 for the names that are 0 in this call."""
        assert self.sizes is not None
        return tuple([0 if self.sizes.get(d) == 0 else d for d in shape])


def key_of_arrays(args: tuple) -> tuple | None:
    """What ``Call(args, {}).read().key`` is for arrays and floats, sooner; None where there is anything else."""
    if len(args) == 1 and type(args[0]) is np.ndarray:
        array = args[0]
        return None if array.dtype.kind in LABELS else (array.shape, array.dtype)
    key: list[Any] = []
    for value in args:
        kind = type(value)
        if kind is np.ndarray and value.dtype.kind not in LABELS:
            key += (value.shape, value.dtype)
        elif kind is float or kind is complex:
            key.append(kind)
        else:
            return None
    return tuple(key)


def check_names(args: Sequence[Any], by_place: Sequence[Any]) -> None:
    """A ShapeError where traced arguments do not fit together in terms of the names that they declare."""
    pairs = [pair for v, tree in zip(args, by_place, strict=False) if tree is not None for pair in paired(v, tree)]
    told = [(d, as_node(v).shape) for v, d in pairs if d is not None]
    Sizes([d for d, _ in told], [shape for _, shape in told])


def paired(value: Any, tree: Any) -> list[tuple[Any, Declared | None]]:
    """The arrays of an argument with what each declares; None for one that declares nothing."""
    if type(tree) is Declared:
        if is_nested(value):
            raise ShapeError(
                f"{tree.label} is declared {tree.text!r}, and is a {type(value).__name__}; pass an array, or declare "
                "the shapes of its arrays in a tuple, a list or a dict."
            )
        return [(value, tree)]
    (leaves, structure), (declared, wanted) = flatten(value), flatten(tree)
    if nesting(structure) != nesting(wanted):
        label = next(d.label for d in declared if d is not None)
        raise ShapeError(f"the argument of {label} has another structure than the shapes that are declared for it.")
    return list(zip(leaves, declared, strict=True))


def _read(value: Any, leaves: list[Any], key: list[Any]) -> bool:
    """Append the leaves of one argument and its part of the signature; True where it holds a Tensor."""
    kind = type(value)
    if kind is np.ndarray:
        if value.dtype.kind in LABELS:
            key.append((value.shape, value.dtype, value.tobytes()))
            return False
        leaves.append(value)
        key += (value.shape, value.dtype)
        return False
    if kind is float or kind is complex:
        leaves.append(value)
        key.append(kind)
        return False
    if isinstance(value, np.generic):  # which isinstance tells from an array without axes
        leaves.append(value)
        key += (np.generic, value.dtype)
        return False
    if isinstance(value, np.ndarray):
        array = plain_array(value, "an argument")
        leaves.append(array)
        key += (array.shape, array.dtype)
        return isinstance(value, Tensor)
    if is_nested(value):
        parts, structure = flatten(value)
        key.append(structure)
        tensors = [_read(v, leaves, key) for v in parts]
        return any(tensors)
    try:
        hash(value)
    except TypeError:
        raise ArgumentTypeError(
            f"an argument of type {kind.__name__} can be neither traced nor remembered. Pass arrays, numbers, "
            "hashable values, or tuples, lists, dicts and dataclasses of them; symgrad.extend.container registers a "
            "class of objects that hold data."
        ) from None
    key.append(setting(value))
    return False


def setting(value: Any) -> tuple[type, Any]:
    """What tells a value that is no array from others of other content, whatever its class says equals it."""
    kind = type(value)
    if kind in _BY_VALUE or issubclass(kind, Enum):
        return kind, value
    if kind is float or kind is complex:
        return kind, np.array(value).tobytes()
    if kind is tuple:
        return kind, tuple(map(setting, value))
    return kind, value if kind.__eq__ is object.__eq__ else _Content(value)


def ints_of(key: tuple) -> list[int]:
    """The ints among the arguments that have this signature, in order."""
    return [part[1] for part in key if _is_int(part)]


def _is_int(part: Any) -> bool:
    return type(part) is tuple and len(part) == 2 and part[0] is int


class VaryingInts:
    """Which int arguments change from call to call, by their number; for at most so many signatures."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[tuple, _Ints] = {}

    def of(self, key: tuple) -> tuple[set[int], tuple]:
        """The ints that change in calls like the one with this signature, and the signature with them left open."""
        ints = ints_of(key)
        if not ints:
            return set(), key
        found = self._like(key, ints)
        found.varying.update([k for k, (now, then) in enumerate(zip(ints, found.first, strict=True)) if now != then])
        values = {k for k in found.varying - found.fixed if abs(ints[k]) <= MAX_INT}
        number = itertools.count()
        return values, tuple([int if _is_int(part) and next(number) in values else part for part in key])

    def fix(self, key: tuple, which: Collection[int]) -> None:
        """Take these as part of the signature from now on."""
        self._like(key, ints_of(key)).fixed.update(which)

    def _like(self, key: tuple, ints: list[int]) -> _Ints:
        general = tuple([int if _is_int(part) else part for part in key])
        if general not in self._known:
            while len(self._known) >= self._most:
                del self._known[next(iter(self._known))]
            self._known[general] = _Ints(ints)
        return self._known[general]


class _Ints:
    """The first ints of a signature, which of them have changed since, and which must stay part of it."""

    def __init__(self, first: list[int]) -> None:
        self.first = first
        self.varying: set[int] = set()
        self.fixed: set[int] = set()


class _Content:
    """A value whose class says itself what equals it: what it holds must be the same too."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Content):
            return False
        try:
            return _is_same(self.value, other.value)
        except Exception:  # what cannot be looked into, or holds itself, may be another
            return False


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values hold the same: of the user's classes by their attributes, of others as they are pickled."""
    kind = type(one)
    if one is other or kind is not type(other):
        return one is other
    if kind in _BY_VALUE:
        return one == other
    if kind in (list, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if kind is dict:
        return _is_same(list(one.items()), list(other.items()))
    if kind is np.ndarray and one.dtype.kind != "O":
        return is_same_array(one, other)
    if not is_library(kind.__module__) and not hides_content(kind):
        return _is_same(attributes_of(one), attributes_of(other))
    return pickle.dumps(one) == pickle.dumps(other)


def called_name(function: Any) -> str:
    """What a function or a Cell is called; ``f`` where it has no name.

    >>> called_name(lambda x: x), called_name(called_name)
    ('f', 'called_name')
    """
    name = getattr(function, "__name__", type(function).__name__)
    return "f" if name == "<lambda>" else name

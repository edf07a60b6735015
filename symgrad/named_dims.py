"""Sizes by name: the shapes that a function declares for its arguments, and the sizes that a call gives the names.

Traced with declared shapes a function is derived once and its kernel serves every size; arrays that do not fit
together are refused before anything runs, in terms of the names.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from .errors import ArgumentError, ArgumentTypeError, ShapeError
from .pickling import Importable
from .program.dims import Shape, declared_shape, value_of
from .tracing.trace import as_followed
from .tracing.tree import LEAF, flatten, unflatten

#: ``sg.Array["n d"]`` as ``from __future__ import annotations`` keeps it, and ``sg.Array[n]`` as linters rewrite it
_TEXT = re.compile(
    r"""['"]?\s*(?P<name>[\w.]+)\s*\[\s*(?:(?P<quote>['"])(?P<shape>[^'"\\]*)(?P=quote)|(?P<word>\w+))\s*\]\s*['"]?"""
)


class Array:
    """``Array["n d"]`` declares an array of shape (n, d): words are named dims or sizes.

    As an annotation of a function's argument it makes every derivative hold for all sizes.

    >>> import numpy as np, symgrad as sg
    >>> def loss(w: sg.Array["d"], X: sg.Array["n d"]):
    ...     return np.sum((X @ w) ** 2)
    >>> print(sg.grad(loss).program().inputs[1].shape)
    (n, d)
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.shape = declared_shape(text)

    def __class_getitem__(cls, text: Any) -> Array:
        if not isinstance(text, str):
            raise ArgumentTypeError(f"Array[…] takes the shape as text, such as Array['n d'], got {text!r}.")
        return cls(text)

    def __repr__(self) -> str:
        return f"Array[{self.text!r}]"


@dataclass(frozen=True)
class Declared:
    """The shape of one array: what the user calls the array, and the words of the shape."""

    label: str
    text: str
    shape: Shape


@dataclass(frozen=True)
class Placeholder:
    """Stands for an array of which the shape and the dtype are known; ``weak`` for a Python float."""

    shape: Shape
    dtype: np.dtype
    weak: bool = False


class NamedFunction(Importable):
    """``fn`` with declared shapes; made by ``named``."""

    def __init__(self, fn: Callable, shapes: dict[str, Any]) -> None:
        functools.update_wrapper(self, fn, updated=())
        self._fn = fn
        self._shapes = shapes

    def _guarded(self) -> dict[str, Any]:
        return {"fn": self._fn}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return as_followed(self._fn)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_fn"), name)

    def __repr__(self) -> str:
        return f"<{getattr(self._fn, '__name__', type(self._fn).__name__)} with named dims>"


def named(fn: Callable, **shapes: Any) -> Callable:
    """``fn`` with the shapes of its arguments declared by name: ``named(f, X="n d", w="d")``.

    For functions that cannot be annotated with ``Array["n d"]``; it is called as ``fn`` is. An argument that
    is a tuple, a list or a dict of arrays is declared as one of texts. What is not declared is traced as it comes.

    >>> import numpy as np, symgrad as sg
    >>> g = sg.grad(sg.named(lambda w, X: np.sum(np.tanh(X @ w)), w="d", X="n d"))
    >>> g(np.zeros(2), np.ones((3, 2))), g(np.zeros(1), np.ones((2, 1)))
    (array([3., 3.]), array([2.]))
    """
    if not callable(fn):
        raise ArgumentTypeError(f"named: fn must be a function or a Cell, got a {type(fn).__name__}.")
    parameters = parameters_of(fn)
    names = {p.name for p in parameters if p.kind is not p.VAR_KEYWORD}
    kinds = {p.kind for p in parameters}
    takes_any = inspect.Parameter.VAR_KEYWORD in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds
    for name, declared in shapes.items():
        if name not in names and not takes_any:
            known = ", ".join(sorted(names)) or "none by name"
            raise ArgumentError(f"named: the function has no argument {name!r}; its arguments are {known}.")
        declared_tree(name, declared)
    return NamedFunction(fn, shapes)


def parameters_of(fn: Callable) -> list[inspect.Parameter]:
    """The parameters of a function or a Cell; none where it does not say."""
    try:
        # a derivative of a Cell takes what the Cell's construct takes, unless it says otherwise
        known = inspect.unwrap(fn, stop=lambda f: hasattr(f, "__signature__"))
        return list(inspect.signature(getattr(known, "construct", known)).parameters.values())
    except (TypeError, ValueError):
        return []


def declared_tree(label: str, value: Any) -> Any:
    """The tree of ``Declared`` for texts and ``Array[…]``, in the structure of the argument."""
    leaves, structure = flatten(value)
    made: list[Declared | None] = []
    for k, leaf in enumerate(leaves):
        if leaf is None and structure != LEAF:  # a part that declares nothing
            made.append(None)
            continue
        own = label if len(leaves) == 1 else f"{label}_{k}"
        if not isinstance(leaf, (str, Array)):
            raise ArgumentTypeError(
                f"the shape of {own} must be text, such as 'n d', got a {type(leaf).__name__}; write '' for a number."
            )
        text = leaf if isinstance(leaf, str) else leaf.text
        made.append(Declared(own, " ".join(text.split()), declared_shape(text)))
    return unflatten(structure, made)


def is_shapes(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """True where all arguments are shapes as text, or nested ones."""
    leaves, _ = flatten((*args, *kwargs.values()))
    said = [v for v in leaves if v is not None]
    return bool(said) and all(isinstance(v, (str, Array)) for v in said)


def declared_arguments(fn: Callable, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The trees of ``Declared`` of arguments that are shapes as text."""
    by_place = [declared_tree(name, v) for name, v in zip(argument_names(fn, len(args)), args, strict=True)]
    return tuple(by_place), {name: declared_tree(name, v) for name, v in kwargs.items()}


def declared_like(label: str, shape: Shape) -> Declared:
    """What an array declares that has the shape of a traced one."""
    return Declared(label, " ".join(str(d).replace(" ", "") for d in shape), shape)


def argument_names(function: Callable, count: int) -> list[str]:
    """What the function calls its positional arguments; ``x0, x1, …`` where it does not say."""
    parameters = parameters_of(function)
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names += [f"x{k}" for k in range(len(names), count)]
    return names[:count]


def _annotated(fn: Callable, annotation: Any) -> Array | None:
    """The ``Array[…]`` that an annotation is, or that its text names; text is looked up, never evaluated."""
    if isinstance(annotation, Array):
        return annotation
    found = _TEXT.fullmatch(annotation) if isinstance(annotation, str) else None
    if found is None:
        return None
    first, *rest = found["name"].split(".")
    if (rest or [first])[-1] != "Array":
        return None
    known = inspect.unwrap(getattr(fn, "construct", fn))
    scope = getattr(getattr(known, "__func__", known), "__globals__", {})
    if first in scope:  # another library's Array says nothing to us
        meant = functools.reduce(lambda value, name: getattr(value, name, None), rest, scope[first])
        if meant is not Array:
            return None
    return Array(found["word"] if found["shape"] is None else found["shape"])


class Declaration:
    """What a function declares: a tree of ``Declared`` for each parameter that has one."""

    def __init__(self, parameters: Sequence[inspect.Parameter], shapes: Mapping[str, Any]) -> None:
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self._parameters = list(parameters)
        self._shapes = dict(shapes)
        self._by_place = [self._shapes.get(p.name) for p in parameters if p.kind in positional]
        self._further = next((self._shapes.get(p.name) for p in parameters if p.kind is p.VAR_POSITIONAL), None)

    def shapes(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The tree of each argument, None for one that is not declared."""
        places = self._by_place
        count = len(places)
        if len(args) == count and not kwargs:
            return places, _NOTHING
        by_place = [places[k] if k < count else self._further for k in range(len(args))]
        return by_place, {name: self._shapes.get(name) for name in kwargs}

    def words(self) -> set[str]:
        """The names and sizes in all shapes that are declared."""
        declared = [d for tree in self._shapes.values() for d in flatten(tree)[0] if d is not None]
        return {word for d in declared for word in d.text.split()}

    def complete(self, caller: str) -> tuple[tuple, dict[str, Any]]:
        """The trees of all arguments that have no default, for a call without arguments."""
        needed = [p for p in self._parameters if p.default is p.empty and p.kind not in _OPEN]
        missing = [p.name for p in needed if p.name not in self._shapes]
        if missing:
            raise ArgumentError(
                f"{caller}: the function declares no shape of {', '.join(missing)}; pass example arrays, or shapes as "
                "text such as 'n d', one for each argument."
            )
        by_name = {p.name for p in needed if p.kind is p.KEYWORD_ONLY}
        args = tuple(self._shapes[p.name] for p in needed if p.name not in by_name)
        return args, {name: self._shapes[name] for name in by_name}


_NOTHING: dict[str, Any] = {}
_OPEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def declaration_of(fn: Callable) -> Declaration | None:
    """What ``fn`` declares by annotations and by ``named``; None where it declares nothing."""
    layers: list[dict[str, Any]] = []
    inner: Any = fn
    while isinstance(inner, NamedFunction):
        layers.append(inner._shapes)
        inner = inner._fn
    derived = getattr(inner, "declaration", None)  # a derivative takes the arguments of its function
    if isinstance(derived, Declaration):
        return derived
    parameters = parameters_of(inner)
    shapes: dict[str, Any] = {}
    for p in parameters:
        array = _annotated(inner, p.annotation)
        if array is not None:
            shapes[p.name] = declared_tree(p.name, array)
    for layer in reversed(layers):
        shapes |= {name: declared_tree(name, value) for name, value in layer.items()}
    return Declaration(parameters, shapes) if shapes else None


class Sizes(dict[sympy.Symbol, int]):
    """What the names are where arrays of these ``shapes`` are what ``declared`` says.

    Raises a ShapeError, in terms of the names, where they are not. ``zeros`` are the names that are 0.
    """

    def __init__(self, declared: Sequence[Declared], shapes: Sequence[Shape]) -> None:
        self._told: dict[sympy.Symbol, tuple[Declared, Shape]] = {}
        for own, shape in zip(declared, shapes, strict=True):
            self._bind(own, shape)
        for own, shape in zip(declared, shapes, strict=True):
            if all(isinstance(d, (int, sympy.Symbol)) for d in own.shape):
                continue
            wanted = tuple([value_of(d, self) for d in own.shape])
            if wanted != tuple(shape):
                raise ShapeError(f"{own.label} has shape {shape}, and must be ({own.text}) = {wanted}.")
        self.zeros = tuple([d for d, size in self.items() if not size])

    def _bind(self, declared: Declared, shape: Shape) -> None:
        own = declared.shape
        if len(own) != len(shape):
            rank = f"{len(own)} dim{'s' if len(own) != 1 else ''}"
            raise ShapeError(f"{declared.label} is declared {declared.text!r}, of {rank}, and has shape {shape}.")
        for axis, (d, size) in enumerate(zip(own, shape, strict=True)):
            if isinstance(d, sympy.Symbol):
                if self.setdefault(d, size) != size:
                    raise self._clash(declared, shape, axis)
                self._told.setdefault(d, (declared, shape))
            elif isinstance(d, int) and d != size:
                where = f", and axis {axis} has size {size}" if len(shape) > 1 else ""
                raise ShapeError(f"{declared.label} is declared {declared.text!r} and has shape {shape}{where}.")

    def _clash(self, declared: Declared, shape: Shape, axis: int) -> ShapeError:
        dim = declared.shape[axis]
        first = _said(*self._told[dim])
        return ShapeError(f"{first}, but {_said(declared, shape)} gave {dim} = {shape[axis]}.")


def _said(declared: Declared, shape: Shape) -> str:
    return f"{declared.label} is {declared.text!r} = {shape[0] if len(shape) == 1 else tuple(shape)}"

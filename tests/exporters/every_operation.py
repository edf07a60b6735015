"""Every registered operation as formats are tried on it: what is called, on which operands, and what is derived.

``calls`` yields them all. A format says by ``leaving_out`` what it does without, and why; nothing else here walks
over the registries. ``programs_of`` in ``exportables`` puts many calls into one derivative, which all formats share.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy_code import CODE
from operands import draw
from registered import distinct

import symgrad as sg
from symgrad.primitives import special
from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.functions import DOMAINS
from symgrad.tracing.declare import CASES, Given
from symgrad.tracing.describing import to_complex
from symgrad.tracing.tree import flatten

#: shapes of operands by their number; the first ones broadcast, and are enough where compilers take long
SHAPES = {
    1: [((2, 3),), ((),), ((2,),), ((3,),), ((0,),)],
    2: [((2, 3), (3,)), ((), ()), ((2, 1), (1, 3)), ((2, 1), (3,)), ((), (3,)), ((2,), (2,)), ((0,), (1,))],
    3: [((2, 1), (3,), ()), ((), (), ()), ((2, 3), (2, 3), (2, 3)), ((2, 3), (3,), ()), ((2,),) * 3],
}

#: numbers whose results are part of an operation's meaning, and those where formulas overflow or lose digits
ODD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 3.0, 7.25, -7.25, 1e-9, 1e9])
EXTREME = np.array(
    [0.0, 1, -1, 0.5, -0.5, 2, -2, 3, 2.5, -2.5, 1.5, np.inf, -np.inf, np.nan, 1e300, -1e300, 1e-300, 5e-324]
    + [709.9, -745.2, 30, -30, 1e17, 1 + 1e-15, 4096, 1e-8, -1e-9, -0.999999]
)
WHOLE, TRUTH = np.array([-7, -2, -1, 0, 1, 2, 3, 5, 7, 100]), np.array([True, False])


@dataclass(frozen=True, eq=False)
class Call:
    """A call of an operation.

    ``kind`` is ``elementwise`` or ``single`` (operands from the operation's domain, in float64 or float32),
    ``function`` (the cases of NumPy's functions), ``odd``, ``extreme`` or ``limits`` (the elementwise ones again, at
    odd values of many dtypes, where floats and where integers end). It is the ``nth`` of its kind for the operation.
    ``is_complex``, ``is_composed``, ``is_decomposed``: it computes with complex numbers, in NumPy's own code, which is
    traced into other operations, or by a decomposition of matrices, which libraries of arrays have, and loops have not.
    ``args`` are arrays, numbers and lists of these, and are arguments of the export but for what is ``Given``.
    """

    operation: str
    kind: str
    nth: int
    function: Callable
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    is_complex: bool = False
    is_composed: bool = False
    is_decomposed: bool = False

    @functools.cached_property
    def leaves(self) -> list[Any]:
        """The arrays and numbers that are arguments of an export."""
        return [a for arg in self.args if not isinstance(arg, Given) for a in flatten(arg)[0]]

    @functools.cached_property
    def results(self) -> list[np.ndarray]:
        """The arrays that NumPy gives."""
        with np.errstate(all="ignore"):
            made = self.function(*[_plain(a) for a in self.args], **self.kwargs)
        return [np.asarray(v) for v in flatten(made)[0] if getattr(v, "dtype", None) is not None]

    @property
    def dtypes(self) -> set[str]:
        """The names of the dtypes of arguments and results, and of those that NumPy computes in."""
        found = [np.asarray(a).dtype for a in (*self.leaves, *self.results)]
        if self.kind != "function" and isinstance(self.function, np.ufunc):
            given = [type(a) if type(a) in (int, float) else np.asarray(a).dtype for a in self.args]
            found += self.function.resolve_dtypes((*given, None))
        return {d.name for d in found} | ({"complex128"} if self.is_complex else set())

    @property
    def derived(self) -> bool:
        """Whether the derivative is wanted beside the value: on domains, where there are floats to derive, and by."""
        floats = [any(np.asarray(v).dtype.kind == "f" for v in values) for values in (self.leaves, self.results)]
        return self.kind in ("elementwise", "single", "function") and all(floats)

    def __str__(self) -> str:
        shown = [f"{np.asarray(a).dtype}{list(np.shape(a))}" for a in self.leaves]
        return f"{self.operation} of {', '.join(shown)}{''.join(f', {k}={v}' for k, v in self.kwargs.items())}"


def _plain(arg: Any) -> Any:
    return arg.value if isinstance(arg, Given) else arg


def nothing(call: Call) -> bool:
    """What is left out where all is taken."""
    return False


def with_signs(call: Call) -> bool:
    """Singular vectors, whose signs are the library's choice."""
    return call.operation == "svd" and call.kwargs.get("compute_uv", True)


def calls(kinds: Iterable[str], leaving_out: Callable[[Call], bool] = nothing) -> tuple[Call, ...]:
    """The calls of these kinds, but for those that are left out."""
    return tuple([call for kind in kinds for call in _ALL[kind]() if not leaving_out(call)])


def _tetragamma(x: Any) -> Any:
    """The operation that comes in by derivatives alone."""
    return sg.grad(sg.grad(lambda x: np.sum(special.digamma.ufunc(x))))(x)


@functools.cache
def _elementwise() -> tuple[Call, ...]:
    return (
        *_on_domains("elementwise", np.float64),
        Call("zeta", "elementwise", 0, _tetragamma, (np.array([0.3, 2.0]),)),
    )


@functools.cache
def _single() -> tuple[Call, ...]:
    return tuple([c for c in _on_domains("single", np.float32) if c.nth == 0])


def _on_domains(kind: str, dtype: Any) -> Iterator[Call]:
    rng = np.random.default_rng(7)
    for name, template in _own():
        for nth, shapes in enumerate(SHAPES[template.arity]):
            drawn = [draw(rng, interval, shape) for interval, shape in zip(DOMAINS[name], shapes, strict=True)]
            args = tuple([a.astype(dtype) if a.dtype.kind == "f" else a for a in drawn])
            yield Call(name, kind, nth, template.ufunc, args)


def _own() -> list[tuple[str, Any]]:
    """The elementwise operations that are functions of the user's."""
    others = ("zeta", "real", "imag")  # which derivatives bring in, and which are of complex numbers alone
    return [(name, template) for name, template in ELEMENTWISE.items() if name not in others]


def _is_decomposed(function: Callable, args: tuple, case: Any) -> bool:
    """Whether it takes a decomposition of matrices."""
    free = [k for k, a in enumerate(args) if not isinstance(a, Given)]

    def called(*arrays: Any) -> Any:
        given = [_plain(a) for a in args]
        for k, array in zip(free, arrays, strict=True):
            given[k] = array
        return function(*given, **case.kwargs)

    program = sg.symbolic(called).program(*[args[k] for k in free])
    return any(type(n.primitive).__module__.endswith(".decompositions") for n in program.nodes)


@functools.cache
def _functions() -> tuple[Call, ...]:
    rng = np.random.default_rng(3)
    made = []
    for function, cases in distinct(CASES).items():
        for nth, case in enumerate(cases):
            drawn = case.draw(rng)
            args = tuple([a if isinstance(a, Given) else d for a, d in zip(case.args, drawn, strict=True)])
            is_complex = case.of is to_complex or function.__module__ == "numpy.fft"
            own = case.of_drawn(function)
            is_decomposed = function.__module__ == "numpy.linalg" and _is_decomposed(own, args, case)
            flags = (is_complex, function in CODE, is_decomposed)
            made.append(Call(function.__name__, "function", nth, own, args, case.kwargs, *flags))
    return tuple(made)


@functools.cache
def _odd() -> tuple[Call, ...]:
    return tuple(_grids("odd", _odd_operands))


@functools.cache
def _extreme() -> tuple[Call, ...]:
    with np.errstate(over="ignore"):
        single = EXTREME.astype(np.float32)

    def operands(arity: int) -> list[tuple]:
        if arity == 2:
            return [_grid(EXTREME, EXTREME), _grid(single, single), _grid(EXTREME, np.array([-5000, -3, 0, 2, 5000]))]
        made = [(EXTREME,), (single,)] if arity == 1 else [(EXTREME > 0, EXTREME, EXTREME[::-1])]
        return [tuple([a.copy() for a in args]) for args in made]

    return tuple(_grids("extreme", operands))


@functools.cache
def _limits() -> tuple[Call, ...]:
    def operands(arity: int) -> list[tuple]:
        made = []
        for dtype in map(np.dtype, (np.int64, np.int32, np.int8, np.uint8, np.uint32)):
            least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
            inner = [v for v in (0, 1, -1, 2, -2, 3, 7, -7, 100, -100, 2**53 + 1, 2**62) if least <= v <= most]
            row = np.array([*inner, least, most], dtype)
            if arity == 3:
                made.append((row > 0, row, row[::-1].copy()))
            else:
                made.append((row,) if arity == 1 else _grid(row, row))
        return made

    return tuple(_grids("limits", operands))


def _grids(kind: str, operands: Callable[[int], list[tuple]]) -> Iterator[Call]:
    """The elementwise operations at these operands, where NumPy has them and C leaves nothing of the result open."""
    for name, template in _own():
        for nth, args in enumerate(operands(template.arity)):
            given = args
            if name in ("power", "float_power") and all(np.asarray(a).dtype.kind in "iu" for a in args):
                given = (args[0], np.abs(args[1]) % 5)  # there are no negative powers of integers
            call = Call(name, kind, nth, template.ufunc, given)
            if name == "reciprocal" and np.asarray(args[0]).dtype.kind != "f":
                continue  # of 0 as an integer
            try:
                _ = call.results
            except (TypeError, ValueError):
                continue
            yield call


def _grid(*rows: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple([m.ravel() for m in np.meshgrid(*rows)])


def _odd_operands(arity: int) -> list[tuple]:
    single = ODD.astype(np.float32)
    if arity == 1:
        return [(ODD,), (WHOLE,), (single,), (TRUTH,), (WHOLE.astype(np.int32),)]
    if arity == 2:
        pairs = [(ODD, ODD), (WHOLE, WHOLE), (single, WHOLE), (single, single), (TRUTH, TRUTH), (ODD, single)]
        pairs += [(WHOLE, TRUTH), (single, TRUTH), (ODD, WHOLE), (WHOLE.astype(np.int32), WHOLE.astype(np.int32))]
        numbers = [(single, 2.5), (2.0, single), (WHOLE, 2), (ODD, 2), (single, np.float64(2.0))]
        return [*[_grid(*pair) for pair in pairs], *numbers]
    return [
        (WHOLE > 0, WHOLE, 0.5),
        (WHOLE[:8], single[:8], 0.5),
        (TRUTH, 1.0, 2.0),
        (ODD[:8] > 0, ODD[:8], WHOLE[:8]),
        (WHOLE > 0, WHOLE, WHOLE[::-1].copy()),
        (TRUTH, TRUTH, ~TRUTH),
    ]


_ALL: Mapping[str, Callable[[], tuple[Call, ...]]] = {
    "elementwise": _elementwise,
    "single": _single,
    "function": _functions,
    "odd": _odd,
    "extreme": _extreme,
    "limits": _limits,
}

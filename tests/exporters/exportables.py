"""Derivatives as they are exported in these tests: with the arrays they take and what the kernel gives for them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import array_programs
import numpy as np
from every_operation import Call, calls, nothing

import symgrad as sg
from symgrad.exporters.subject import Subject
from symgrad.kernels.kernel import lower
from symgrad.tracing.declare import Given
from symgrad.tracing.tree import flatten
from symgrad.transforms.subjects import subject_of


@dataclass(frozen=True)
class Exportable:
    """A derivative: what is exported, the arrays it takes, what the NumPy kernel gives for them, and what these are."""

    subject: Subject
    inputs: Sequence[np.ndarray]
    wanted: Sequence[np.ndarray]
    of: Sequence[str] = ()

    def agrees(self, got: Sequence[Any], what: Any = "", **options: Any) -> None:
        """The results of the export are those of the kernel."""
        for k, (mine, want) in enumerate(zip(got, self.wanted, strict=True)):
            same(mine, want, f"{self.subject.name}[{k}] {self.of[k] if self.of else ''} {what}", **options)


def exportable(name: str, derived: Any, args: tuple, shapes: tuple = (), of: Sequence[str] = ()) -> Exportable:
    """The export called ``name``, or as it is where that is empty, without a check; for ``shapes`` where given."""
    entry, leaves = derived._readable()._compiled.served(*args)
    inputs = [np.asarray(a) for a in entry.arguments(leaves)]
    subject = unchecked(derived, shapes or args)
    subject = replace(subject, name=name, stem=name) if name else subject
    return Exportable(subject, inputs, kernel_values(subject, inputs), of)


def unchecked(derived: Any, args: tuple) -> Subject:
    """What an export is made of, for arrays or shapes, without the check, which takes time."""
    made = subject_of(derived._readable(), args, {}, None, "auto", True)
    return replace(made, checked=lambda: "compared here")


def kernel_values(subject: Subject, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What the NumPy kernel of a subject gives."""
    given = [a.item() if n.weak else a for a, n in zip(inputs, subject.program.inputs, strict=True)]
    with np.errstate(all="ignore"):
        return [np.asarray(r) for r in lower(subject.program, "numpy")(*given)]


#: by the bytes of a float, how far a result may be off
BOUNDS = {2: 2e-2, 4: 1e-4, 8: 1e-9}


def same(got: Any, want: Any, what: Any = "", bounds: dict[int, float] = BOUNDS, scaled: bool = True) -> None:
    """Shapes and dtypes are alike, and values to the tolerance of a check.

    An element may be off by ``bounds`` times the largest one where that is ``scaled``, else times itself; or that
    much where it is below 1.
    """
    got, want = np.asarray(got), np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype), (what, got.dtype, got.shape, want.dtype, want.shape)
    if want.dtype.kind == "c":
        got, want = (np.stack([v.real, v.imag]) for v in (got, want))
    if want.dtype.kind != "f":
        np.testing.assert_array_equal(got, want, str(what))
        return
    exact, sizes = want.astype(float), np.abs(want.astype(float))
    sizes = np.max(sizes[np.isfinite(sizes)], initial=0.0) if scaled else sizes
    limit = bounds[want.dtype.itemsize] * np.maximum(1.0, np.where(np.isfinite(sizes), sizes, 1.0))
    off = ~np.isclose(got.astype(float), exact, rtol=0, atol=limit, equal_nan=True)
    assert not off.any(), (what, got[off][:5], want[off][:5], np.argwhere(off)[:5].tolist())


class _Together:
    """Many calls as one function of the arguments of all of them."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self.arguments: list[Any] = []
        #: the places of the floats that are derived by; what each of these, and each result, is of
        self.floats: list[int] = []
        self.of_floats: list[str] = []
        self.of_values = [str(call) for call in calls for _ in call.results]
        self._calls = [(call, [self._placed(call, a) for a in call.args]) for call in calls]

    def _placed(self, call: Call, arg: Any) -> Callable[[Sequence], Any]:
        """What takes an argument of a call from the arguments of all."""
        if isinstance(arg, Given):
            return lambda arguments: arg.value
        if isinstance(arg, list):
            parts = [self._placed(call, a) for a in arg]
            return lambda arguments: [p(arguments) for p in parts]
        k = len(self.arguments)
        self.arguments.append(arg)
        if call.derived and np.asarray(arg).dtype.kind == "f":
            self.floats.append(k)
            self.of_floats.append(f"the derivative of {call}")
        return lambda arguments: arguments[k]

    def values(self, *arguments: Any) -> list:
        """The arrays that the calls give."""
        results = [call.function(*[p(arguments) for p in places], **call.kwargs) for call, places in self._calls]
        return [value for value in flatten(results)[0] if getattr(value, "dtype", None) is not None]

    def total(self, *arguments: Any) -> tuple[Any, list]:
        """A number that every float result counts in, each element by its own weight; and all results."""
        values = self.values(*arguments)
        made: Any = 0.0
        for value in values:
            if value.dtype.kind == "f":
                weights = np.cos(np.arange(int(np.prod(value.shape)))).reshape(value.shape)
                made = made + np.sum(value * weights)
        return made, values


@functools.cache
def together(name: str, calls: tuple[Call, ...]) -> Exportable:
    """The values of these calls, before them the first derivatives of those that are derived, in one export."""
    all_calls = _Together(calls)
    arguments = tuple(all_calls.arguments)
    if not all_calls.floats:
        return exportable(name, sg.symbolic(all_calls.values), arguments, (), all_calls.of_values)
    derived = sg.grad(all_calls.total, tuple(all_calls.floats), has_aux=True)
    return exportable(name, derived, arguments, (), [*all_calls.of_floats, *all_calls.of_values])


def programs_of(
    kinds: Sequence[str], leaving_out: Callable[[Call], bool] = nothing, size: int = 40
) -> list[Exportable]:
    """The calls of these kinds but for those left out, ``size`` together; made once for all that take the same."""
    made: list[Exportable] = []
    for kind in kinds:
        found = calls([kind], leaving_out)
        for k in range(0, len(found), size):
            made.append(together(f"{kind}_{k}", found[k : k + size]))
    return made


@functools.cache
def bench() -> tuple[Exportable, ...]:
    """The derivatives of the benchmarks at small sizes."""
    return tuple([exportable(f"bench_{k}", *array_programs.bench(name)) for k, name in enumerate(array_programs.BENCH)])


@functools.cache
def long_program(bindings: int) -> Exportable:
    """A program of about so many bindings."""
    return exportable("long", *array_programs.long_program(bindings))

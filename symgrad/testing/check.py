"""One function at one point: what is compared, and with what."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import SymgradError
from ..finite_differences import differences
from ..kernels.base import Kernel
from ..kernels.kernel import lower, optimized
from ..kernels.native.code import NativeCode
from ..kernels.native.compiler import toolchain
from ..kernels.native.kernel import NativeKernel
from ..kernels.native.writer import Functions
from ..passes.constants import fold_constants
from ..passes.rare import without_rare
from ..program.forks import cached_property
from ..program.program import Program
from ..program.verify import verify
from ..tracing.trace import as_followed
from ..tracing.tree import flatten, unflatten
from ..transforms.derived import DerivedFunction
from ..transforms.gradient import grad
from ..transforms.products import hvp, jvp, symbolic, vjp


class CheckFailed(SymgradError, AssertionError):
    """A value or a derivative is not what it should be; the message says which, where and by how much."""


@dataclass(frozen=True)
class Tolerance:
    """How far results may be from the reference, relative to its largest entry or 1."""

    first: float
    second: float
    backend: float


#: float64 against a reference in longdouble
PRECISE = Tolerance(first=1e-9, second=1e-7, backend=1e-11)
#: float64 against a reference in float64, for functions that NumPy has no longdouble loop of
COARSE = Tolerance(first=1e-5, second=1e-3, backend=1e-11)
#: float32 against either
SINGLE = Tolerance(first=2e-3, second=2e-2, backend=1e-4)


class Call(NamedTuple):
    """``fn(*args, **kwargs)``, not differentiated by the arguments whose positions are in ``held``."""

    fn: Callable
    args: Sequence[Any]
    kwargs: dict[str, Any] | None = None
    held: Sequence[int] = ()


class Check:
    """One function at one point, as a function of its float arrays alone."""

    def __init__(self, call: Call, seed: int, caller: str, rounding: float = 0.0) -> None:
        self.rounding = rounding
        fn, args, kwargs, held = call.fn, call.args, call.kwargs or {}, call.held
        self.label = f"{caller}({getattr(fn, '__name__', type(fn).__name__)})"
        leaves, structure = flatten(tuple(args))
        fixed = {id(leaf) for k in held for leaf in flatten(args[k])[0]}
        places = [k for k, v in enumerate(leaves) if _is_float_array(v) and id(v) not in fixed]
        self.point = [np.array(leaves[k]) for k in places]
        self.rng = np.random.default_rng(seed)

        def of_arrays(*arrays: Any) -> Any:
            filled = list(leaves)
            for k, array in zip(places, arrays, strict=True):
                filled[k] = array
            return as_followed(fn)(*unflatten(structure, filled), **kwargs)

        def floats(*arrays: Any) -> tuple:
            return tuple(part for v in flatten(of_arrays(*arrays))[0] for part in _real_parts(v))

        of_arrays.__name__ = getattr(fn, "__name__", "fn")
        self.call, self.floats = of_arrays, floats
        with np.errstate(all="ignore"):
            outputs = [np.asarray(v) for v in floats(*_copies(self.point))]
        self.weights = [self._draw(v.shape) for v in outputs]
        self.directions = [[self._draw(x.shape) for x in self.point] for _ in range(2)]
        self.exactness = SINGLE if any(x.dtype.itemsize < 8 for x in self.point) else PRECISE
        self.smooth = bool(outputs) and bool(self.point)

    def _draw(self, shape: tuple) -> np.ndarray:
        return np.asarray(self.rng.standard_normal(shape))

    def fail(self, message: str) -> None:
        raise CheckFailed(f"{self.label}: {message}")

    # what is compared

    def expect_bits(self, what: str, got: Any, want: Any) -> None:
        """The same structure, shapes, dtypes and bits (any NaN is NaN)."""
        (mine, structure), (theirs, expected) = flatten(got), flatten(want)
        if structure != expected:
            self.fail(f"{what}: the result is {structure}, NumPy's is {expected}")
        for k, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            if not isinstance(b, (np.ndarray, np.generic)):
                if a != b:
                    self.fail(f"{what}, output {k}: got {a!r}, NumPy gives {b!r}")
                continue
            self._expect_like(f"{what}, output {k}", a, b.shape, b.dtype)
            a, b = np.asarray(a), np.asarray(b)
            same = np.all([_same_bits(p, q) for p, q in zip(_real_parts(a), _real_parts(b), strict=True)], axis=0)
            if b.dtype.kind not in "fc":
                same = a == b
            if not np.all(same):
                at = tuple(int(i) for i in np.argwhere(~same)[0])
                self.fail(f"{what}, output {k} at {list(at)}: got {a[at]!r}, NumPy gives {b[at]!r}")

    def _expect_like(self, what: str, got: Any, shape: tuple, dtype: np.dtype) -> None:
        if np.shape(got) != shape or _dtype(got) != dtype:
            self.fail(f"{what}: got {_dtype(got)}{list(np.shape(got))}, expected {dtype}{list(shape)}")

    def expect_close(self, what: str, got: Any, want: Any, tolerance: float, reference: str) -> None:
        """Equal up to ``tolerance`` relative to the largest entry of the reference, or 1."""
        got, want = np.asarray(got), np.asarray(want)
        if got.shape != want.shape:
            self.fail(f"{what}: got shape {list(got.shape)}, {reference} have {list(want.shape)}")
        if not want.size:
            return
        if not np.all(np.isfinite(want)):
            self.fail(
                f"{what}: finite differences do not settle here (a kink, a jump or the edge of the domain is near); "
                "choose another point"
            )
        off = np.abs(got - want)
        bound = tolerance * max(1.0, float(np.max(np.abs(want))))
        if not np.all(off <= bound):
            at = np.unravel_index(int(np.argmax(np.where(np.isnan(off), np.inf, off))), off.shape)
            place = [int(i) for i in at]
            self.fail(
                f"{what} at {place}: got {got[at]:.10g}, {reference} give {want[at]:.10g}; "
                f"the difference {float(off[at]):.3g} is above {bound:.3g}"
            )

    # the checks

    def values(self) -> None:
        """The traced function is NumPy's to the bit, or to what ``rounding`` allows, and leaves its arguments alone."""
        for dtype in (np.float64, np.float32) if self.rounding else (np.float64, np.float32, np.float16):
            self._expect_value(np.dtype(dtype).name, [x.astype(dtype) for x in self.point])

    def layouts(self) -> None:
        """Transposed and strided arguments give what NumPy gives for them."""
        self._expect_value("transposed arguments", [x.T.copy().T for x in self.point])
        self._expect_value("strided arguments", [_strided(x) for x in self.point])

    def _expect_value(self, what: str, arrays: list[np.ndarray]) -> None:
        before = _copies(arrays)
        made = self._value
        try:
            with np.errstate(all="ignore"):
                want = self.call(*(_same_layout(x) for x in arrays))
        except TypeError:  # NumPy computes it in other dtypes only
            return self._expect_refused(what, made, arrays)
        self._verified(made, *arrays)
        self._expect_values(f"value, {what}", made(*arrays), want, arrays)
        if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(arrays, before, strict=True)):
            self.fail(f"value, {what}: an argument was written to")

    def _expect_values(self, what: str, got: Any, want: Any, arrays: list[np.ndarray]) -> None:
        """The bits of the reference, or all but what rounding in the precision of ``arrays`` may change of them."""
        (mine, structure), (theirs, expected) = flatten(got), flatten(want)
        if not self.rounding or structure != expected:
            return self.expect_bits(what, got, want)
        for k, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            if _dtype(b).kind not in "fc":
                self.expect_bits(f"{what}, output {k}", a, b)
                continue
            self._expect_like(f"{what}, output {k}", a, np.shape(b), _dtype(b))
            tolerance = self.rounding * max(float(np.finfo(d).eps) for d in (_dtype(b), *map(_dtype, arrays)))
            self.expect_close(f"{what}, output {k}", a, b, tolerance, "the function's own values")

    def _expect_refused(self, what: str, made: DerivedFunction, arrays: list[np.ndarray]) -> None:
        try:
            made(*arrays)
        except TypeError:
            return
        self.fail(f"value, {what}: NumPy refuses this dtype, and there is a result")

    def _verified(self, made: DerivedFunction, *args: Any) -> Any:
        program = made._compiled.entry(*args).program
        verify(program)
        verify(optimized(program))
        return program

    def derivatives(self, order: int) -> None:
        """First and second order against finite differences of the plain function."""
        if self.smooth:
            tolerance = self.first_order(self.point)
            if order > 1:
                self.second_order(tolerance)

    def first_order(self, point: list[np.ndarray]) -> Tolerance:
        """Forward mode against differences, reverse mode against forward mode."""
        v, w = self._flows(point)
        slopes, used = self._differences(point, [v])
        tolerance = SINGLE if any(x.dtype.itemsize < 8 for x in point) else used
        for k, (got, want, u) in enumerate(zip(self._forward(*point, *v), slopes, w, strict=True)):
            self._expect_like(f"forward mode, output {k}", got, u.shape, u.dtype)
            self.expect_close(f"forward mode, output {k}", got, want, tolerance.first, "finite differences")
        pulled = self._reverse(*point, *w)
        for k, (got, x) in enumerate(zip(pulled, point, strict=True)):
            self._expect_like(f"reverse mode, argument {k}", got, x.shape, x.dtype)
        self._expect_inner("reverse mode, ⟨Jᵀw, v⟩", pulled, v, _inner(w, slopes), tolerance.first)
        return tolerance

    def _flows(self, point: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """A direction of ``point``, and weights of the results there, in the dtypes of both."""
        with np.errstate(all="ignore"):
            results = self.floats(*_copies(point))
        v = [d.astype(x.dtype) for d, x in zip(self.directions[0], point, strict=True)]
        return v, [u.astype(_dtype(r)) for u, r in zip(self.weights, results, strict=True)]

    def _differences(self, point: list[np.ndarray], along: list) -> tuple[list[np.ndarray], Tolerance]:
        """Finite differences, NaN where they have not settled, and the tolerance that they allow."""
        values, errors, exact = differences(self.floats, point, along)
        tolerance = PRECISE if exact else COARSE
        loose = 10 * (tolerance.first if len(along) == 1 else tolerance.second)
        settled = [
            np.where(e <= loose * np.maximum(1, np.abs(v)), v, np.nan) for v, e in zip(values, errors, strict=True)
        ]
        return settled, tolerance

    def _expect_inner(self, what: str, left: Sequence, right: Sequence, want: Any, tolerance: float) -> None:
        self.expect_close(what, _inner(left, right), want, tolerance * 10, "finite differences of ⟨w, f⟩")

    def second_order(self, tolerance: Tolerance) -> None:
        """Every mixture of the modes against mixed second differences of the plain function."""
        v, w = self.directions
        mixed, used = self._differences(self.point, [v, w])
        tolerance = max(tolerance, used, key=lambda t: t.second)
        point = tuple(self.point)
        twice = jvp(lambda *xs: jvp(self.floats, xs, tuple(v))[1], point, tuple(w), backend="numpy")[1]
        for k, (got, want) in enumerate(zip(twice, mixed, strict=True)):
            what = f"forward over forward, output {k}"
            self.expect_close(what, got, want, tolerance.second, "second differences")
        total = _inner(self.weights, mixed)
        product = self._made(lambda *xs: hvp(self.weighed, xs[: len(point)], xs[len(point) :]))
        self._expect_inner("forward over reverse, ⟨w, H v⟩", product(*point, *v), w, total, tolerance.second)
        self._expect_inner("symmetry, ⟨v, H w⟩", product(*point, *w), v, total, tolerance.second)
        self._expect_inner("reverse over reverse, ⟨w, H v⟩", self._second(*point), w, total, tolerance.second)

    def weighed(self, *xs: Any) -> Any:
        """One scalar of all outputs, each element with a weight of its own."""
        total = 0.0
        for u, output in zip(self.weights, self.floats(*xs), strict=True):
            total = total + np.sum(u * output)
        return total

    def _slope(self, *xs: Any) -> Any:
        gradients = grad(self.weighed, tuple(range(len(xs))))(*xs)
        total = 0.0
        for g, v in zip(gradients, self.directions[0], strict=True):
            total = total + np.sum(g * v)
        return total

    # what is derived, once for all checks

    def _made(self, fn: Callable) -> DerivedFunction:
        return symbolic(fn, backend="numpy")

    @cached_property
    def _value(self) -> DerivedFunction:
        return self._made(self.call)

    @cached_property
    def _forward(self) -> DerivedFunction:
        n = len(self.point)
        return self._made(lambda *arrays: jvp(self.floats, arrays[:n], arrays[n:])[1])

    @cached_property
    def _reverse(self) -> DerivedFunction:
        n = len(self.point)
        return self._made(lambda *arrays: vjp(self.floats, *arrays[:n])[1](arrays[n:]))

    @cached_property
    def _second(self) -> DerivedFunction:
        return grad(self._slope, tuple(range(len(self.point))), backend="numpy")

    def programs(self, order: int) -> list[_Derived]:
        """The value and the derivatives, each as a Program and the arrays it takes."""
        made: list[tuple[str, Any, tuple]] = [("value", self._value, (*self.point,))]
        if self.smooth:
            v, w = self._flows(self.point)
            made.append(("forward mode", self._forward, (*self.point, *v)))
            made.append(("reverse mode", self._reverse, (*self.point, *w)))
            if order > 1:
                made.append(("second order", self._second, (*self.point,)))
        return [_Derived(self, what, self._verified(derived, *arrays), arrays) for what, derived, arrays in made]

    def precisions(self) -> None:
        """float32 stays float32, and its derivatives are right to its precision."""
        if self.smooth:
            self.first_order([x.astype(np.float32) for x in self.point])


@dataclass(frozen=True)
class _Derived:
    """A Program that a check has made, as it is told of, and the arrays it takes."""

    check: Check
    what: str
    program: Program
    arrays: tuple

    def compare(self, kernels: dict[str, Kernel]) -> None:
        """The kernels give what the numpy backend gives."""
        wanted = lower(self.program, "numpy")(*self.arrays)
        for backend, kernel in kernels.items():
            for k, (got, want) in enumerate(zip(kernel(*self.arrays), wanted, strict=True)):
                label = f"{self.what} on the {backend} backend, output {k}"
                self.check._expect_like(label, got, np.shape(want), _dtype(want))
                if _dtype(want).kind not in "fc":
                    self.check.expect_bits(label, got, want)
                elif np.all(np.isfinite(want)):
                    tolerance = self.check.exactness.backend
                    self.check.expect_close(label, got, want, tolerance, "the numpy backend's results")


def on_backends(checks: Sequence[Check], order: int, backends: Collection[str]) -> None:
    """These backends give what the numpy backend gives."""
    derived = [made for check in checks for made in check.programs(order)]
    compiled: list[NativeKernel | None] = [None] * len(derived)
    if "native" in backends and toolchain() is not None:
        compiled = _compiled([made.program for made in derived])
    for made, native in zip(derived, compiled, strict=True):
        kernels = {backend: lower(made.program, backend) for backend in backends if backend != "native"}
        made.compare(kernels if native is None else {**kernels, "native": native})


def _compiled(programs: Sequence[Program]) -> list[NativeKernel | None]:
    """The compiled kernels, by one run of the compiler, which must not fail; None where there is nothing to compile."""
    functions = Functions()
    codes = [NativeCode(fold_constants(optimized(without_rare(program)[0])), functions) for program in programs]
    runs = [code.writer.runs for code in codes]
    return [NativeKernel(code, code.build()) if some else None for code, some in zip(codes, runs, strict=True)]


def _inner(left: Sequence, right: Sequence) -> Any:
    return sum(np.sum(np.asarray(a).astype(np.longdouble) * b) for a, b in zip(left, right, strict=True))


def _real_parts(value: Any) -> list[Any]:
    """What of a result is differentiated: a float array, both parts of a complex one."""
    kind = _dtype(value).kind
    return [np.real(value), np.imag(value)] if kind == "c" else [value] if kind == "f" else []


def _same_bits(a: Any, b: Any) -> Any:
    return ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))


def _is_float_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "f"


def _dtype(value: Any) -> np.dtype:
    return np.dtype(getattr(value, "dtype", None) or np.asarray(value).dtype)


def _copies(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [x.copy() for x in arrays]


def _strided(x: np.ndarray) -> np.ndarray:
    """The same values in every other place of a larger array."""
    if not x.ndim:
        return x
    wide = np.full(tuple(2 * d for d in x.shape), 7.0, x.dtype)
    view = wide[tuple(slice(None, None, 2) for _ in x.shape)]
    view[...] = x
    return view


def _same_layout(x: np.ndarray) -> np.ndarray:
    """A copy with the same strides."""
    if x.flags.c_contiguous or not x.ndim:
        return x.copy()
    return _strided(x) if not x.T.flags.c_contiguous else x.T.copy().T

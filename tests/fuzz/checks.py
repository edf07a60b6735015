"""What is checked of a random program: bits of the value, derivatives against differences, backends, blocks."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from random_programs import Program

import symgrad as sg
from symgrad import testing
from symgrad.errors import KernelError, ProgramError, SymgradError
from symgrad.kernels.kernel import lower, optimized
from symgrad.kernels.native.kernel import NativeKernel
from symgrad.passes.constants import fold_constants
from symgrad.primitives.primitive import INPUT
from symgrad.program.interpret import evaluated
from symgrad.testing import CheckFailed, check_grads


class Wrong(AssertionError):
    """A value, a derivative or an error is not what it should be."""


class Skipped(Exception):
    """There is nothing to compare: the function is refused, or has a kink here."""


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _typed() -> Iterator[None]:
    """Only symgrad's own errors leave it; a function that is refused is not compared."""
    try:
        with _quiet():
            yield
    except (KernelError, ProgramError) as error:  # defects that symgrad itself has found
        raise Wrong(str(error)) from error
    except SymgradError as error:
        raise Skipped(f"refused: {error}") from error
    except Exception as error:
        raise Wrong(f"{type(error).__name__}: {error}") from error


def _of_numpy(program: Program) -> Any:
    with _quiet():
        return program.function(*program.point())


def bits(program: Program) -> None:
    """The value beside a gradient is NumPy's, to the bit, in shape and in dtype."""
    _value(program, 0.0)


def values(program: Program) -> None:
    """The same, but for the last digits of the shortest floats that the program holds."""
    shortest = next((d for d in ("float16", "float32") if d in str(program)), "float64")
    _value(program, min(4e-3, 16 * float(np.finfo(shortest).eps)))


def _value(program: Program, tolerance: float) -> None:
    want = _of_numpy(program)
    derivative = sg.value_and_grad(program.function, program.positions, backend="numpy")
    got, gradients = called(derivative, program)
    again, _ = called(derivative, program)
    same_bits("value", got, want, tolerance)
    same_bits("value of a second call", again, want, tolerance)
    like_arguments(program, gradients)


def called(derivative: Any, program: Program) -> Any:
    """What a derivative gives at the point of a program."""
    with _typed():
        return derivative(*program.point())


def like_arguments(program: Program, gradients: Any) -> None:
    """Gradients have the shapes and dtypes of what they are taken by."""
    point = program.point()
    for k, gradient in zip(program.positions, _parts(gradients), strict=True):
        x = np.asarray(point[k])
        if np.shape(gradient) != x.shape or np.asarray(gradient).dtype != x.dtype:
            shape = f"{np.asarray(gradient).dtype}{np.shape(gradient)}"
            raise Wrong(f"gradient by argument {k} is {shape}, the argument {x.dtype}{x.shape}")


def same_bits(what: str, got: Any, want: Any, tolerance: float = 0.0) -> None:
    """Arrays alike in every bit, or within ``tolerance`` of their largest element; any NaN is like another."""
    for k, (a, b) in enumerate(zip(_parts(got), _parts(want), strict=True)):
        if isinstance(a, tuple) and isinstance(b, tuple):
            same_bits(f"{what} {k}", a, b, tolerance)
            continue
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype != b.dtype or a.shape != b.shape:
            raise Wrong(f"{what} {k} is {a.dtype}{a.shape}, NumPy's {b.dtype}{b.shape}")
        same = (a == b) | (a != a) & (b != b)
        if b.dtype.kind == "f":
            finite = np.isfinite(b)
            size = np.max(np.abs(b), initial=0.0, where=finite)
            with _quiet():
                same |= finite & (np.abs(a - b) <= tolerance * size)
            same &= (np.signbit(a) == np.signbit(b)) | (a != a)
        if not np.all(same):
            at = tuple(int(i) for i in np.argwhere(~same)[0])
            raise Wrong(f"{what} {k} at {at} is {a[at]!r}, NumPy's {b[at]!r}")


def _parts(value: Any) -> tuple:
    return value if isinstance(value, tuple) else (value,)


def derivatives(program: Program) -> None:
    """Derivatives against differences of the plain function, where it is smooth."""
    _smoothly(program, lambda function, point: check_grads(function, point))


def rules(program: Program) -> None:
    """All that ``check_rule`` checks, where the function is smooth."""
    _smoothly(
        program,
        lambda function, point: testing.check_rule(function, point, order=1, backends=("numpy", "auto", "numexpr")),
    )


def _smoothly(program: Program, check: Callable[[Callable, list[np.ndarray]], None]) -> None:
    """``check`` a program as a function of floats alone; what fails at a kink is not compared."""
    fixed = dict(zip(program.arguments, program.point(), strict=True))
    names = [name for name in program.arguments if name not in program.held]

    def function(*xs: Any) -> Any:
        given = {n: np.copy(x) if isinstance(x, np.ndarray) else x for n, x in (fixed | dict(zip(names, xs))).items()}
        return program.function(**given)

    point = [np.asarray(fixed[n]) for n in names]
    try:
        with _typed():
            check(function, point)
    except Skipped as skipped:
        error = skipped.__cause__
        if not isinstance(error, CheckFailed) or "do not settle" in str(error) or not _is_smooth(function, point):
            raise
        if _is_by_convention(function, point):
            raise
        raise Wrong(str(error)) from None


def _is_smooth(function: Callable, point: list[np.ndarray]) -> bool:
    """Whether differences on both sides of the point agree, along some lines, and add up as those of a quadratic do.

    Of medians of equal numbers the sides agree, and the slopes along two directions are not that of their sum.
    """
    rng = np.random.default_rng(1)
    kind, step = (np.longdouble, 2.0**-12) if _takes(function, point, np.longdouble) else (np.float64, 2.0**-9)

    def near(a: Any, b: Any, orders: float = 1.0) -> bool:
        return bool(np.all(np.abs(a - b) <= 32 * step**orders * (1 + np.abs(a))))

    def along(direction: list[np.ndarray]) -> tuple[bool, list, list]:
        def at(k: int) -> list[np.ndarray]:
            with _quiet():
                made = function(*[np.asarray(x + k * step * v, kind) for x, v in zip(point, direction)])
            return [np.asarray(v, kind) for v in _parts(made)]

        agree, middle, bent = True, [], []
        for two, one, here, back, last in zip(*map(at, (2, 1, 0, -1, -2))):
            curve = (one - 2 * here + back) / step**2
            agree &= near((one - here) / step, (here - back) / step)
            agree &= near((two - 2 * one + here) / step**2, (here - 2 * back + last) / step**2)
            agree &= near(curve, (two - 2 * here + last) / (2 * step) ** 2, 1.5)
            middle.append((one - back) / (2 * step))
            bent.append(curve)
        return agree, middle, bent

    for _ in range(3):
        v, w = ([rng.standard_normal(x.shape) for x in point] for _ in range(2))
        both, apart = ([a + sign * b for a, b in zip(v, w)] for sign in (1, -1))
        found = [along(direction) for direction in (v, w, both, apart)]
        if not all(agree for agree, _, _ in found):
            return False
        for one, other, sum_of_both, _ in zip(*(middle for _, middle, _ in found)):
            if not near(one + other, sum_of_both):
                return False
        for one, other, sum_of_both, difference in zip(*(bent for _, _, bent in found)):
            if not near(2 * (one + other), sum_of_both + difference):
                return False
    return True


#: what has a kink or a step, and what counts there whatever it is part of: the square of a range has one at a tie
_TIES = {"maximum", "minimum", "fmax", "fmin", "greater", "greater_equal", "less", "less_equal", "equal", "not_equal"}
_SIZES = {"absolute", "fabs", "norm_sqrt", "hypot"}
_AT_ZERO = {"sign", "copysign", "heaviside"}
_SORTED = {"argsort", "argmax", "argmin", "searchsorted", "max", "min"}


def _is_by_convention(function: Callable, point: list[np.ndarray]) -> bool:
    """Whether the function is made of parts that have no derivative here, though it may have one."""
    program = sg.trace(function, *point)
    step = 2.0**-12
    beside = [x + np.asarray(step * np.random.default_rng(2).standard_normal(x.shape), x.dtype) for x in point]
    # what functions that run as they are have computed comes after the arguments, and is not known here
    known, near = dict(zip(program.inputs, point, strict=False)), dict(zip(program.inputs, beside, strict=False))
    for node in program.nodes:
        if node not in known and node.primitive is not INPUT and all(o in known for o in node.operands):
            with _quiet():
                known[node] = evaluated(node, [known[o] for o in node.operands])
                near[node] = evaluated(node, [near[o] for o in node.operands])
    for node in known:
        own = [np.asarray(known[o]) for o in node.operands]
        name = node.primitive.name
        if name in _SIZES and np.any((known[node] == 0) & (near[node] < step**1.5)):  # of what touches 0
            return True
        if name in _TIES and np.any(own[0] == own[1]):
            return True
        if name in _AT_ZERO and np.any(own[0] == 0):
            return True
        if name in _SORTED and np.unique(own[0]).size < own[0].size:
            return True
    return False


def _takes(function: Callable, point: list[np.ndarray], kind: Any) -> bool:
    try:
        with _quiet():
            function(*[np.asarray(x, kind) for x in point])
    except TypeError:
        return False
    return True


#: how far backends may be from each other, relative to the largest element or 1
_ROUNDING = {"float64": 1e-9, "float32": 2e-4, "float16": 4e-2}


def backends(program: Program, names: tuple[str, ...] = ("auto", "numexpr")) -> None:
    """The program of a value and a gradient gives on every backend what it gives on NumPy's, call after call."""
    made, leaves = _derived(program)
    for name in names:
        with _typed():
            kernel = lower(made, name)
        compare(f"the {name} backend", kernel, made, leaves)


def natively(programs: list[Program]) -> dict[Program, str]:
    """What is wrong with those of ``programs`` that are, as compiled C; the compiler runs once for all."""
    derived = {}
    for program in programs:
        with contextlib.suppress(Skipped):
            derived[program] = _derived(program)
    kernels = NativeKernel.built(*[fold_constants(optimized(made)) for made, _ in derived.values()])
    wrong = {}
    for (program, (made, leaves)), kernel in zip(derived.items(), kernels, strict=True):
        if kernel is not None:
            try:
                compare("native", kernel, made, leaves)
            except Wrong as error:
                wrong[program] = str(error)
            except Skipped:
                continue
    return wrong


def _derived(program: Program) -> tuple[Any, Callable[[], list[Any]]]:
    """The program of a value and a gradient, and the arrays that its kernels are called with, made anew."""
    derivative = sg.value_and_grad(program.function, program.positions, backend="numpy")
    with _typed():
        made = derivative.program(*program.point())
    return made, program.point


def _run(kernel: Any, leaves: list[Any]) -> list[np.ndarray]:
    with _quiet():
        return [np.array(v) for v in kernel(*leaves)]


def compare(what: str, kernel: Any, made: Any, leaves: Callable[[], list[Any]]) -> None:
    """``kernel`` gives what NumPy's does, call after call, and leaves its arguments alone."""
    reference = lower(made, "numpy")
    want = _run(reference, leaves())
    tolerance = max((_ROUNDING[n.dtype.name] for n in made.nodes if n.dtype.name in _ROUNDING), default=0.0)
    for _ in range(2):
        given, before = leaves(), leaves()
        with _quiet():
            results = kernel(*given)
        for k, (got, wanted) in enumerate(zip(results, want, strict=True)):
            if message := _difference(np.asarray(got), wanted, tolerance):
                if _jumps(reference, leaves, want, tolerance):
                    raise Skipped("the function jumps here")
                raise Wrong(f"{what}, result {k} {message}")
        for k, (x, kept) in enumerate(zip(given, before, strict=True)):
            if not np.array_equal(x, kept, equal_nan=np.asarray(x).dtype.kind == "f"):
                raise Wrong(f"{what}: argument {k} was written to")


def _difference(got: np.ndarray, want: np.ndarray, tolerance: float) -> str:
    """What is wrong, or nothing."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"is {got.dtype}{got.shape}, NumPy's {want.dtype}{want.shape}"
    finite = np.isfinite(want) & np.isfinite(got) if want.dtype.kind == "f" else np.zeros(want.shape, bool)
    off = np.abs(np.where(finite, got, 0).astype(float) - np.where(finite, want, 0).astype(float))
    bound = tolerance * max(1.0, float(np.max(np.abs(want[finite]), initial=0.0)))
    same = np.where(finite, off <= bound, (got == want) | (got != got) & (want != want))
    if np.all(same):
        return ""
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    return f"at {at} is {got[at]!r}, NumPy's {want[at]!r}"


def _jumps(reference: Any, leaves: Callable[[], list[Any]], want: list[np.ndarray], tolerance: float) -> bool:
    """Whether the results change by more than the tolerance where the arguments change by a few roundings."""
    rng = np.random.default_rng(2)
    for _ in range(8):
        moved = leaves()
        for k, x in enumerate(moved):
            if np.asarray(x).dtype.kind == "f":
                by = 4 * np.finfo(np.asarray(x).dtype).eps * np.maximum(np.abs(x), 1)
                moved[k] = np.asarray(x + by * rng.uniform(-1, 1, np.shape(x)), np.asarray(x).dtype)
        if any(_difference(got, wanted, tolerance) for got, wanted in zip(_run(reference, moved), want, strict=True)):
            return True
    return False

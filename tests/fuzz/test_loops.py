"""Random loops against the same program with its loops unrolled in Python: values, derivatives, examples at once."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from checks import Skipped, Wrong, same_bits
from fuzzing import report, seeds
from loops import LoopProgram, Unrolled, random_loops

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.program.verify import verify

SCALAR, VECTOR, ROWS, NUMBERS = (sg.Array[text] for text in ("", "3", "n 3", "n"))
#: rounding of derivatives, relative to the largest element or 1
_ROUNDING = {"float64": 1e-8, "float32": 2e-3}
_LARGEST = 1e6


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _checked(program: LoopProgram) -> None:
    rolled, unrolled = program.with_lib(sg), program.with_lib(Unrolled)
    point = program.point()
    with _quiet():
        want = unrolled(*program.point())
    same_bits("value", _run(sg.symbolic(rolled, backend="numpy"), point), want)
    same_bits("value of the steps as they are", _run(rolled, program.point()), want)
    if not all(np.all(np.isfinite(v)) and np.all(np.abs(v) < _LARGEST) for v in want):
        raise Skipped("the value is not finite")
    rng = np.random.default_rng(program.seed)
    by = (0, 1, 2, 3)
    ways: dict[str, Callable[[Callable], Any]] = {
        "grad": lambda f: _run(sg.grad(f, by, backend="numpy"), point),
        "forward": lambda f: _run(sg.grad(f, (0, 1), mode="forward", backend="numpy"), point),
        "grad on auto": lambda f: _run(sg.grad(f, by), point),
        "jvp": lambda f: sg.jvp(f, tuple(point), tuple(directions), backend="numpy")[1],
        "vjp": lambda f: sg.vjp(f, *point, backend="numpy")[1](tuple(seeds_of)),
        "jacobian": lambda f: _run(sg.jacobian(lambda *xs: f(*xs)[1], 1, backend="numpy"), point),
        "hessian": lambda f: _run(sg.hessian(lambda *xs: _sum(f(*xs)), 1, backend="numpy"), point),
        "hessian by the scalar": lambda f: _run(sg.grad(sg.grad(lambda *xs: _sum(f(*xs))), backend="numpy"), point),
    }
    directions = [np.asarray(rng.standard_normal(np.shape(x)), program.dtype)[()] for x in point]
    seeds_of = [np.asarray(rng.standard_normal(np.shape(v)), np.asarray(v).dtype)[()] for v in want]
    for name, way in ways.items():
        _close(name, way(rolled), way(unrolled), program)
    if program.seed % 4 == 0:
        third = lambda f: sg.grad(sg.grad(sg.grad(lambda *xs: _sum(f(*xs)))), backend="numpy")  # noqa: E731
        _close("third derivative", _run(third(rolled), point), _run(third(unrolled), point), program)
    if program.seed % 4 == 1:
        _of_every_length(program, rolled, unrolled)
    if program.seed % 4 == 2:
        _maps_of_all(program, rolled, unrolled)
    verify(sg.grad(lambda *xs: _sum(rolled(*xs)), by).program(*point))
    batch = np.asarray(rng.uniform(-1.2, 1.2, (3, *np.shape(point[1]))), program.dtype)
    axes = (None, 0, None, None)
    mapped = _run(sg.vmap(rolled, axes, backend="numpy"), [point[0], batch, *point[2:]])
    each = [unrolled(point[0], row, *point[2:]) for row in batch]
    _close("vmap", mapped, tuple(np.stack(column) for column in zip(*each, strict=True)), program)
    gradient = lambda f: sg.grad(f, (0, 1, 2), backend="numpy")  # noqa: E731
    mapped = _run(sg.vmap(gradient(rolled), axes, backend="numpy"), [point[0], batch, *point[2:]])
    each = [gradient(unrolled)(point[0], row, *point[2:]) for row in batch]
    _close("vmap of grad", mapped, tuple(np.stack(column) for column in zip(*each, strict=True)), program)


def _of_every_length(program: LoopProgram, rolled: Callable, unrolled: Callable) -> None:
    """One derivation for arrays of every length."""
    if program.dtype != "float64" or "arange" in program.source:  # it needs a number
        return

    def named(a: SCALAR, b: VECTOR, X: ROWS, Y: NUMBERS) -> Any:
        return rolled(a, b, X, Y)

    value, gradient = sg.symbolic(named, backend="numpy"), sg.grad(named, (0, 1, 2, 3), backend="numpy")
    for length in (2, 1, 4, 0):
        point = replace(program, length=length).point()
        want = unrolled(*point)
        _close(f"value of {length} steps", _run(value, point), want, program)
        if all(np.all(np.isfinite(v)) for v in want):
            want = _run(sg.grad(unrolled, (0, 1, 2, 3), backend="numpy"), point)
            _close(f"gradient of {length} steps", _run(gradient, point), want, program)


def _maps_of_all(program: LoopProgram, rolled: Callable, unrolled: Callable) -> None:
    """Examples of all arguments at once."""
    points = [replace(program, seed=program.seed + k).point() for k in range(2)]
    batch = [np.stack(column) for column in zip(*points, strict=True)]
    for way in (lambda f: sg.symbolic(f, backend="numpy"), lambda f: sg.grad(f, (0, 1, 2, 3), backend="numpy")):
        want = [_run(way(unrolled), point) for point in points]
        wants = tuple(np.stack(column) for column in zip(*want, strict=True))
        _close("map of all", _run(sg.vmap(way(rolled), backend="numpy"), batch), wants, program)


def _sum(parts: Any) -> Any:
    return parts[0] * 0.5 + np.sum(np.sin(parts[1]))


def _run(call: Callable, arrays: Any) -> Any:
    with _quiet():
        return call(*arrays)


def _close(name: str, got: Any, want: Any, program: LoopProgram) -> None:
    gots, wants = (v if isinstance(v, tuple) else (v,) for v in (got, want))
    tolerance = _ROUNDING[program.dtype]
    for k, (a, b) in enumerate(zip(map(np.asarray, gots), map(np.asarray, wants), strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            raise Wrong(f"{name} {k} is {a.dtype}{a.shape}, unrolled {b.dtype}{b.shape}")
        if not np.all(np.isfinite(b)):
            if np.array_equal(np.isfinite(a), np.isfinite(b)):
                continue
            raise Wrong(f"{name} {k} is {a}, unrolled {b}")
        size = max(1.0, float(np.max(np.abs(b), initial=0.0)))
        if size > _LARGEST:
            continue
        if not np.all(np.abs(a - b) <= tolerance * size):
            raise Wrong(f"{name} {k} is {a}, unrolled {b}")


def _outcome(program: LoopProgram) -> None:
    try:
        with _quiet():
            _checked(program)
    except (Wrong, Skipped):
        raise
    except SymgradError as error:
        if "while_loop" in str(error):  # a condition on examples that differ
            raise Skipped(str(error)) from error
        raise Wrong(f"refused: {error}") from error
    except Exception as error:
        raise Wrong(f"{type(error).__name__}: {error}") from error


def test_loops_are_their_steps():
    skipped, wrong = 0, []
    for seed in seeds(0.1):
        program = random_loops(seed)
        try:
            _outcome(program)
        except Skipped:
            skipped += 1
        except Wrong as error:
            wrong.append(f"seed {seed}, {program.length} steps of {program.dtype}: {error}\n{program.source}")
    report("loops", len(seeds(0.1)), skipped, wrong, 0.2)
    if wrong:
        pytest.fail("\n\n".join(wrong[:3]), pytrace=False)

"""Random programs of steps that are written in several ways: what all ways give is the same, and so are gradients."""

from __future__ import annotations

import linecache
import random
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from checks import Skipped, Wrong
from habits import STEPS
from ways import Step

import symgrad as sg
from symgrad.errors import KernelError, ProgramError, SymgradError
from symgrad.finite_differences import differences

_IMPORTS = "import functools\nimport itertools\nimport math\nimport operator\nimport numpy as np"
#: beside the plainest way, so many random ones
_REWRITES = 2
_MAX_VALUE = 50.0
#: names that nothing of Python's or of math has: they keep theirs
_OWN_NAMES = frozenset(
    ("array", "zeros", "ones", "empty", "full", "eye", "r_", "c_", "append", "stack", "dot", "outer")
)


@dataclass(frozen=True)
class Line:
    """A step with its operands, the name of what it makes, and the numbers in it."""

    step: Step
    operands: tuple[str, ...]
    target: str
    number: float
    index: int

    def written(self, way: int) -> str:
        named = dict(zip("abc", self.operands))
        text = self.step.ways[way % len(self.step.ways)]
        return text.format(**named, o=self.target, p=self.number, k=self.index)


@dataclass(frozen=True)
class Surroundings:
    """How a function is made of its lines: with names of its own for NumPy's, as a closure, without a source."""

    bare: bool = False
    closure: bool = False
    has_source: bool = True


@dataclass(frozen=True)
class Rewritten:
    """The lines of a program with a way for each."""

    seed: int
    lines: tuple[Line, ...]
    result: str
    ways: tuple[int, ...]
    surroundings: Surroundings = Surroundings()

    def __str__(self) -> str:
        body = "\n".join(line.written(way) for line, way in zip(self.lines, self.ways, strict=True))
        text = f"def f(x, y, w, n):\n{textwrap.indent(body, '    ')}\n    return {self.result}"
        imports = _IMPORTS
        if self.surroundings.bare:
            for package, module in (("np", "numpy"), ("math", "math")):
                for name in sorted(set(re.findall(rf"\b{package}\.([a-zA-Z]\w*)", text))):
                    own = name if name in _OWN_NAMES else f"{package}_{name}"
                    imports += f"\nfrom {module} import {name} as {own}"
                    text = re.sub(rf"\b{package}\.{name}\b", own, text)
        if self.surroundings.closure:
            within = textwrap.indent(f"{imports}\n{text}\nreturn f", "    ")
            text = f"def surroundings():\n{within}\n\nf = surroundings()"
        return f"{imports}\n\n{text}\n"

    def function(self) -> Callable:
        source, name = str(self), f"<program {self.seed} of {len(self.lines)}: {hash(self)}>"
        if self.surroundings.has_source:
            linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {"__name__": "rewritten"}
        exec(compile(source, name, "exec"), namespace)
        return namespace["f"]


def point(seed: int) -> tuple[np.ndarray, float, np.ndarray, int]:
    """Two arguments that are differentiated by, and two that are not."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.2, 1.2, 3), float(rng.uniform(-1.0, 1.0)), rng.uniform(-1.0, 1.0, 3), int(rng.integers(1, 5))


def random_program(seed: int) -> Rewritten:
    """A program of plain ways alone, each step one that gives moderate numbers."""
    r = random.Random(seed)
    program = Rewritten(seed, (), "x", ())
    values: dict[str, Any] = dict(zip("xyw", point(seed)))
    for _ in range(r.randint(3, 9)):
        step = r.choice(STEPS)
        operands = [r.choice(fits) for fits in (_of_kind(values, kind) for kind in step.reads) if fits]
        if len(operands) < len(step.reads):
            continue
        line = Line(step, tuple(operands), f"v{len(program.lines)}", round(r.uniform(0.1, 0.9), 2), r.randrange(3))
        grown = replace(program, lines=(*program.lines, line), result=line.target, ways=(*program.ways, 0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = grown.function()(*point(seed))
        if np.all(np.isfinite(value)) and np.max(np.abs(value)) < _MAX_VALUE:
            program, values[line.target] = grown, value
    return program


def _of_kind(values: dict[str, Any], kind: str) -> list[str]:
    """Names of numbers, vectors or matrices, those that were made last more often."""
    ndim = "svm".index(kind)
    fits = [name for name, value in values.items() if np.ndim(value) == ndim]
    return fits + fits[-2:] * 2


def rewrites(program: Rewritten) -> Iterator[Rewritten]:
    """The same in random ways and surroundings."""
    r = random.Random(program.seed + 1)
    for _ in range(_REWRITES):
        surroundings = Surroundings(r.random() < 0.3, r.random() < 0.2, r.random() < 0.7)
        ways = tuple(r.randrange(len(line.step.ways)) for line in program.lines)
        yield replace(program, ways=ways, surroundings=surroundings)


def check(program: Rewritten, rewritten: Rewritten) -> None:
    """What the rewritten program gives is what the plain one gives; gradients are those of differences."""
    plain, function = program.function(), rewritten.function()
    derivative = sg.value_and_grad(function, (0, 1), backend="numpy")
    for k in range(2):  # the second time at another point, for which there is a trace
        args = point(program.seed + 1_000_003 * k)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            want = plain(*args)
            if not np.all(np.isfinite(want)):
                continue
            own = function(*args)
            _near("the plain function", own, want, 1e-10)
            value, gradients = _called(derivative, args)
            _near("the value", value, own, 1e-10)
            slopes, errors = _slopes(plain, args)
        for which, (got, slope, error) in enumerate(zip(gradients, slopes, errors, strict=True)):
            if np.max(error) > 1e-5 * max(1.0, np.max(np.abs(slope))):  # there is a kink or a jump near
                continue
            _near(f"the gradient by {'xy'[which]}", got, slope, 1e-5)


def _called(derivative: Callable, args: tuple) -> Any:
    try:
        return derivative(*args)
    except (KernelError, ProgramError) as error:
        raise Wrong(str(error)) from error
    except SymgradError as error:
        raise Skipped(f"{type(error).__name__}: {error}") from error
    except Exception as error:
        raise Wrong(f"{type(error).__name__}: {error}") from error


def _near(what: str, got: Any, want: Any, tolerance: float) -> None:
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        raise Wrong(f"{what} is {got.dtype}{got.shape}, not {want.dtype}{want.shape}")
    scale = max(1.0, float(np.max(np.abs(want))))
    if not np.all(np.abs(got - want) <= tolerance * scale):
        raise Wrong(f"{what} is {got}, not {want}")


def _slopes(function: Callable, args: tuple) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The gradient of the sum, element by element, and bounds of its errors."""

    def total(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray]:
        return (np.sum(function(np.array(x), y[()], *args[2:])),)

    base = [np.asarray(v) for v in args[:2]]
    slopes, errors = [np.zeros(v.shape) for v in base], [np.zeros(v.shape) for v in base]
    for k, x in enumerate(base):
        for index in np.ndindex(x.shape):
            along = [np.zeros(v.shape) for v in base]
            along[k][index] = 1.0
            found, bound, _ = differences(total, base, [along])
            slopes[k][index], errors[k][index] = found[0], bound[0]
    return slopes, errors


def shrunk(program: Rewritten, rewritten: Rewritten, fails: Callable[[Rewritten, Rewritten], bool]) -> Rewritten:
    """The rewritten program with the fewest steps, in the plainest ways, that ``fails``."""
    smaller: Rewritten | None = rewritten
    while smaller is not None:
        rewritten, smaller = smaller, None
        for candidate in _smaller(rewritten):
            plain = replace(candidate, ways=(0,) * len(candidate.ways), surroundings=Surroundings())
            if fails(plain, candidate):
                smaller = candidate
                break
    return rewritten


def _smaller(program: Rewritten) -> Iterator[Rewritten]:
    for k in range(len(program.lines) - 1):
        yield replace(program, lines=program.lines[: k + 1], ways=program.ways[: k + 1], result=program.lines[k].target)
    for k in range(len(program.lines)):
        read = {name for line in program.lines for name in line.operands} | {program.result}
        if program.lines[k].target not in read:
            lines, ways = list(program.lines), list(program.ways)
            del lines[k], ways[k]
            yield replace(program, lines=tuple(lines), ways=tuple(ways))
    for k, line in enumerate(program.lines):
        kind = line.step.makes
        others = [n for n, own in zip(line.operands, line.step.reads) if own == kind]
        others += {"s": ["y"], "v": ["x"]}.get(kind, [])
        for other in others:
            rest = [
                replace(later, operands=tuple(other if n == line.target else n for n in later.operands))
                for later in program.lines[k + 1 :]
            ]
            result = other if program.result == line.target else program.result
            ways = (*program.ways[:k], *program.ways[k + 1 :])
            yield replace(program, lines=(*program.lines[:k], *rest), ways=ways, result=result)
    for k, way in enumerate(program.ways):
        if way:
            yield replace(program, ways=(*program.ways[:k], 0, *program.ways[k + 1 :]))
    own = program.surroundings
    for simpler in (
        Surroundings(),
        replace(own, bare=False),
        replace(own, closure=False),
        replace(own, has_source=True),
    ):
        if simpler != program.surroundings:
            yield replace(program, surroundings=simpler)

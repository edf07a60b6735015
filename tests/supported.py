"""The page of what is supported, ``docs/supported.md``: made of the registries, by trying each function once.

A row is a function: whether a derivative goes through it (both modes, every order: the rule tests check this), of
which numbers, for named sizes, whether its value is compiled as loops, and in which formats it is written.
"""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import library_cases  # noqa: F401  (declares cases)
import numpy as np
from numpy_code import CODE
from scipy import stats
from scipy.stats import rv_continuous, rv_discrete

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.primitives import special
from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.functions import DOMAINS
from symgrad.primitives.primitive import INPUT
from symgrad.program.node import ancestors
from symgrad.solvers import initial_values, minima, roots, searches, sparse_systems  # noqa: F401  (declare functions)
from symgrad.tracing import (  # noqa: F401  (declare functions)
    calls,
    labelled_making,
    labelled_xarray,
    numpy_functions,
    sparse_making,
    special_functions,
    statistics_of_scipy,
)
from symgrad.tracing.declare import CASES, Case, Given
from symgrad.tracing.dispatch import CALLS, NAMED_CALLS, NAMED_CASES
from symgrad.tracing.distributions import METHODS
from symgrad.tracing.tree import flatten, unflatten

#: formats that are programs to run; the others are formulas and pictures, which have every function
PROGRAMS = ("python", "numexpr", "numba", "jax", "torch", "c", "fortran", "julia", "onnx", "json")
#: what is told of derivatives, the most last
SLOPES = REFUSED, CONSTANT, MODES = "value only", "constant", "both modes"
_MODULES = {"numpy": "np", "numpy.linalg": "np.linalg", "numpy.fft": "np.fft", "scipy.special._ufuncs": "scipy.special"}


@dataclass(frozen=True)
class Row:
    """What is known of a function."""

    name: str
    derivative: str
    is_complex: bool
    named: bool
    compiled: bool
    formats: tuple[str, ...]

    def __str__(self) -> str:
        missing = [f for f in PROGRAMS if f not in self.formats]
        written = "all" if not missing else "none" if not self.formats else f"all but {', '.join(missing)}"
        if len(missing) > len(PROGRAMS) // 2 and self.formats:
            written = ", ".join(self.formats)
        told = (self.derivative, "complex" if self.is_complex else "real")
        marks = ("yes" if self.named else "", "yes" if self.compiled else "")
        return f"| `{self.name}` | {' | '.join((*told, *marks, written))} |"


def _is_public(name: str) -> bool:
    """Whether this is how the function is called, and no part of a library that its users do not see."""
    try:
        return callable(pkgutil.resolve_name(name.replace("np.", "numpy.", 1) if name.startswith("np.") else name))
    except (AttributeError, ValueError):  # ValueError where it is no name at all
        return False


def _called(function: Any) -> str:
    module = getattr(function, "__module__", None) or "numpy"
    if isinstance(function, np.ufunc) and getattr(np, function.__name__, None) is function:
        module = "numpy"
    elif isinstance(function, np.ufunc):
        module = "scipy.special"
    return f"{_MODULES.get(module, module)}.{function.__name__}"


def _functions() -> Iterator[tuple[str, Callable, Sequence[Case]]]:
    """Each function with the cases that show it, first the one that shows it best."""
    for name, operation in ELEMENTWISE.items():
        if isinstance(operation.ufunc, np.ufunc) and name not in ("zeta", "norm_sqrt"):
            yield _called(operation.ufunc), operation.ufunc, [_case(name)]
    for operation in special.OPERATIONS.values():
        if isinstance(operation.ufunc, np.ufunc):
            yield _called(operation.ufunc), operation.ufunc, [_case(operation.name)]
    for function, cases in {**CASES, **CODE}.items():
        if not isinstance(function, np.ufunc) or function not in {t.ufunc for t in ELEMENTWISE.values()}:
            yield _called(function), function, _shown_first(cases)
    for name, cases in NAMED_CASES.items():
        yield name, pkgutil.resolve_name(name), _shown_first(cases)


def _shown_first(cases: Sequence[Case]) -> Sequence[Case]:
    return sorted(cases, key=lambda c: c.of is not None or not _arrays(c))


def _case(name: str) -> Case:
    intervals = DOMAINS.get(name) or special.DOMAINS[name]
    return Case(*[Given(np.arange(1, 4)) if isinstance(low, int) else (3,) for low, _ in intervals], domain=(0.3, 0.9))


def _arrays(case: Case) -> bool:
    return any(isinstance(a, tuple) for a in case.args)


class Call:
    """A case of a function, as one of the arrays that are drawn for it."""

    def __init__(self, function: Callable, case: Case) -> None:
        args, own = case.draw(np.random.default_rng(0)), case.of_drawn(function)
        free = [k for k, a in enumerate(case.args) if not isinstance(a, Given)]

        def fn(*arrays: Any) -> Any:
            filled = list(args)
            for k, array in zip(free, arrays, strict=True):
                filled[k] = array
            return own(*filled, **case.kwargs)

        self.fn, self.given = fn, [args[k] for k in free]
        self.derived = sg.symbolic(fn)

    def slope(self) -> str:
        """What its derivative is: one in both modes, or zeros, or refused."""
        if not any(o.differentiable for o in self.derived.program(*self.given).outputs):
            return CONSTANT
        return _best(map(self._slope_by, range(len(self.given))))

    def _slope_by(self, position: int) -> str:
        gradient = sg.grad(_total(self.fn), position)
        try:
            found, program = gradient(*self.given), gradient.program(*self.given)
        except SymgradError:  # refused for this argument, by its name
            return REFUSED
        varies = not {n for n in ancestors(program.outputs) if n.primitive is INPUT} <= set(program.outputs)
        return MODES if varies or any(np.any(np.asarray(slope) != 0) for slope in flatten(found)[0]) else CONSTANT

    def takes_complex(self) -> bool:
        args = [_complex(x) for x in self.given]
        try:
            with np.errstate(all="ignore"):
                self.fn(*args)
        except (TypeError, ValueError, ArithmeticError, np.exceptions.ComplexWarning):
            return False

        def total(*own: Any) -> Any:
            return _total(self.fn)(*own) + np.sum(np.real(flatten(own)[0][0]))

        try:
            sg.grad(total, tuple(range(len(args)))).program(*args)
        except SymgradError:
            return False
        return True

    def takes_names(self) -> bool:
        """Whether it is derived for sizes by name, equal ones by the same."""
        leaves, structure = flatten(self.given)
        sizes = sorted({n for leaf in leaves for n in np.shape(leaf)})
        letters = dict(zip(sizes, "nmkpqrs", strict=False))
        if not sizes or len(letters) < len(sizes):
            return False
        texts = unflatten(structure, [" ".join(letters[n] for n in np.shape(leaf)) for leaf in leaves])
        try:
            self.derived.program(*texts)
        except (SymgradError, TypeError, ValueError, IndexError):
            return False
        return True


def _best(slopes: Iterable[str]) -> str:
    """The first that says most: the others are not looked at behind one in both modes."""
    found: list[str] = []
    for slope in slopes:
        found.append(slope)
        if slope == SLOPES[-1]:
            break
    return max(found, key=SLOPES.index, default=CONSTANT)


def _total(fn: Callable) -> Callable:
    """A sum of all that ``fn`` gives, each element with a weight of its own."""

    def total(*args: Any) -> Any:
        leaves = flatten(fn(*args))[0]
        found = [v for v in leaves if isinstance(v, float) or getattr(v, "dtype", np.dtype(bool)).kind in "fc"]
        return sum(np.sum(np.real(v) * np.cos(np.arange(1.0, np.size(v) + 1)).reshape(np.shape(v))) for v in found)

    return total


def _row(name: str, function: Callable, cases: Sequence[Case]) -> Row:
    tried = [Call(function, case) for case in cases]
    first = tried[0]
    return Row(
        name,
        _best(call.slope() for call in tried),
        any(call.takes_complex() for call in tried),
        any(call.takes_names() for call in tried),
        _is_compiled(first.derived, first.given),
        tuple(f for f in PROGRAMS if _is_written(first.derived, f, first.given)),
    )


def _complex(value: Any) -> Any:
    return [v * (1 + 0.5j) for v in value] if isinstance(value, list) else value * (1 + 0.5j)


def _is_compiled(derived: Any, args: list) -> bool:
    """Whether exported C has it, which is what kernels are compiled of."""
    return _is_written(derived, "c", args)


def _is_written(derived: Any, format: str, args: list) -> bool:
    try:
        derived.export(format, *args)
    except SymgradError:
        return False
    return True


@functools.cache
def rows() -> tuple[Row, ...]:
    """Every function of the registries."""
    made: dict[str, Row] = {}
    for name, function, cases in _functions():
        if name not in made and _is_public(name):
            made[name] = _row(name, function, cases)
    return tuple(made[name] for name in sorted(made))


_HEAD = """# What is supported

A function that is not here is refused by its name, unless NumPy or SciPy makes it of functions that are.

- **derivative**: of `both modes` there are derivatives forward and in reverse, to any order. What is `constant` changes
  in jumps (rounding, comparing, counting): its slope is 0.
- **numbers**: `complex` where complex arrays are taken too.
- **named**: `yes` where sizes may be names.
- **C**: `yes` where it is compiled, and exported as C.
- **formats**: the languages that an export writes it in. Formulas, text and pictures have every function.

The tests check each against NumPy and finite differences, and that this page
(`SYMGRAD_GOLDEN=write pytest tests/test_supported.py`) is what they find.

"""
_COLUMNS = "| function | derivative | numbers | named | C | formats |\n| --- | --- | --- | --- | --- | --- |\n"


def page() -> str:
    """The whole page."""
    by_room: dict[str, list[Row]] = {}
    for row in rows():
        by_room.setdefault(row.name.rpartition(".")[0], []).append(row)
    parts = [_HEAD, f"{len(rows())} functions in these tables, then those that take Python's numbers, and networks.\n"]
    for room, own in sorted(by_room.items()):
        parts.append(f"\n## {room}\n\n{_COLUMNS}" + "\n".join(map(str, own)) + "\n")
    title = "Functions that give several results or plain numbers, or write into their arguments"
    parts.append(f"\n## {title}\n\n" + _listed(_answered()))
    families = sorted(name for name, v in vars(stats).items() if isinstance(v, (rv_continuous, rv_discrete)))
    parts.append(f"\n## Families of scipy.stats\n\nTheir {', '.join(METHODS)}, where SciPy writes them with functions ")
    parts.append(f"that have rules; what has none is refused by its name: {_listed(families)}")
    for title, module in (("symgrad.nn", sg.nn), ("symgrad.ops", sg.ops)):
        parts.append(f"\n## {title}\n\n" + _listed(module.__all__))
    return "".join(parts)


def _answered() -> list[str]:
    answers = {_called(f).replace("builtins.", ""): answer for f, answer in CALLS.items()} | NAMED_CALLS
    given = {name for name, answer in answers.items() if answer.__annotations__.get("return") != "NoReturn"}
    public = {name for name in given if "._" not in name and ("." not in name or _is_public(name))}
    return sorted(public - {row.name for row in rows()})


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) + "\n"

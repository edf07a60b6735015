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

import numpy as np
from scipy import stats
from scipy.stats import rv_continuous, rv_discrete

import symgrad as sg
from symgrad.differentiation.reverse import active_nodes
from symgrad.errors import SymgradError
from symgrad.primitives import special
from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.functions import DOMAINS
from symgrad.tracing import calls, library_cases, numpy_functions, special_functions, statistics_of_scipy  # noqa: F401  (declare functions)
from symgrad.tracing.declare import CASES, Case, Given
from symgrad.tracing.dispatch import CALLS, NAMED_CALLS, NAMED_CASES
from symgrad.tracing.distributions import METHODS
from symgrad.tracing.numpy_code import CODE
from symgrad.tracing.tree import flatten

#: formats that are programs to run; the others are formulas and pictures, which have every function
PROGRAMS = ("python", "numexpr", "numba", "jax", "torch", "c", "fortran", "julia", "onnx", "json")
_MODULES = {"numpy": "np", "numpy.linalg": "np.linalg", "numpy.fft": "np.fft", "scipy.special._ufuncs": "scipy.special"}


@dataclass(frozen=True)
class Row:
    """What is known of a function."""

    name: str
    derivative: bool
    is_complex: bool
    named: bool
    compiled: bool
    formats: tuple[str, ...]

    def __str__(self) -> str:
        missing = [f for f in PROGRAMS if f not in self.formats]
        written = "all" if not missing else "none" if not self.formats else f"all but {', '.join(missing)}"
        if len(missing) > len(PROGRAMS) // 2 and self.formats:
            written = ", ".join(self.formats)
        told = ("both modes" if self.derivative else "constant", "complex" if self.is_complex else "real")
        marks = ("yes" if self.named else "", "yes" if self.compiled else "")
        return f"| `{self.name}` | {' | '.join((*told, *marks, written))} |"


def _called(function: Any) -> str:
    module = getattr(function, "__module__", None) or "numpy"
    if isinstance(function, np.ufunc) and getattr(np, function.__name__, None) is function:
        module = "numpy"
    elif isinstance(function, np.ufunc):
        module = "scipy.special"
    return f"{_MODULES.get(module, module)}.{function.__name__}"


def _functions() -> Iterator[tuple[str, Callable, Case]]:
    """Each function with a case that shows it."""
    for name, operation in ELEMENTWISE.items():
        if isinstance(operation.ufunc, np.ufunc) and name not in ("zeta", "norm_sqrt"):
            yield _called(operation.ufunc), operation.ufunc, _case(name)
    for operation in special.OPERATIONS.values():
        if isinstance(operation.ufunc, np.ufunc):
            yield _called(operation.ufunc), operation.ufunc, _case(operation.name)
    for function, cases in {**CASES, **CODE}.items():
        if not isinstance(function, np.ufunc) or function not in {t.ufunc for t in ELEMENTWISE.values()}:
            yield _called(function), function, _shown(cases)
    for name, cases in NAMED_CASES.items():
        yield name, pkgutil.resolve_name(name), _shown(cases)


def _shown(cases: Sequence[Case]) -> Case:
    return next((c for c in cases if c.of is None and _arrays(c)), cases[0])


def _case(name: str) -> Case:
    intervals = DOMAINS.get(name) or special.DOMAINS[name]
    return Case(*[Given(np.arange(1, 4)) if isinstance(low, int) else (3,) for low, _ in intervals], domain=(0.3, 0.9))


def _arrays(case: Case) -> bool:
    return any(isinstance(a, tuple) for a in case.args)


def _row(name: str, function: Callable, case: Case) -> Row:
    args = case.draw(np.random.default_rng(0))
    own = case.of_drawn(function)
    free = [k for k, a in enumerate(case.args) if not isinstance(a, Given)]

    def fn(*arrays: Any) -> Any:
        filled = list(args)
        for k, array in zip(free, arrays, strict=True):
            filled[k] = array
        return own(*filled, **case.kwargs)

    given = [args[k] for k in free]
    derived = sg.symbolic(fn)
    program = derived.program(*given)
    active = {n for n in active_nodes(program.outputs, program.inputs) if n not in program.inputs}
    return Row(
        name,
        any(o in active and o.differentiable for o in program.outputs),
        _takes(lambda *z: fn(*z), [_complex(x) for x in given]),
        _is_named(derived, given),
        _is_compiled(derived, given),
        tuple(f for f in PROGRAMS if _is_written(derived, f, given)),
    )


def _complex(value: Any) -> Any:
    return [v * (1 + 0.5j) for v in value] if isinstance(value, list) else value * (1 + 0.5j)


def _takes(fn: Callable, args: list) -> bool:
    try:
        with np.errstate(all="ignore"):
            fn(*args)
    except (TypeError, ValueError, ArithmeticError, np.exceptions.ComplexWarning):
        return False

    def total(*own: Any) -> Any:
        found = [v for v in flatten(fn(*own))[0] if getattr(v, "dtype", np.dtype(bool)).kind in "fc"]
        return sum(np.sum(np.real(v)) for v in found) + np.sum(np.real(flatten(own)[0][0]))

    try:
        sg.grad(total, tuple(range(len(args)))).program(*args)
    except SymgradError:
        return False
    return True


def _is_named(derived: Any, args: list) -> bool:
    texts = [" ".join("nmk"[::1][axis] for axis in range(np.ndim(a))) for a in args if isinstance(a, np.ndarray)]
    if len(texts) != len(args) or not any(texts):
        return False
    try:
        derived.program(*texts)
    except (SymgradError, TypeError, ValueError, IndexError):
        return False
    return True


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
    for name, function, case in _functions():
        if name not in made:
            made[name] = _row(name, function, case)
    return tuple(made[name] for name in sorted(made))


_HEAD = """# What is supported

**Derivative**: through what is said to have both modes a derivative goes forward and in reverse, to any order; what is
constant has the slope zero, as NumPy's values have. **Numbers**: complex where it takes them too. **Named**: it takes
sizes by name. **C**: its loops are compiled, and exported as C. **Formats**: the programs that an export writes it in;
formulas, text and pictures have every function.

Each function was tried once to make this page (`SYMGRAD_GOLDEN=write pytest tests/test_supported.py`); the rule tests
check each of them against NumPy and finite differences.

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
    title = "Functions that give plain numbers, write into their arguments, or are SciPy's own code"
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
    return sorted({name for name in given if "._" not in name} - {row.name for row in rows()})


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) + "\n"

"""Random programs of everything in the table of what is supported: each operation at a point near its own cases."""

from __future__ import annotations

import importlib.util
import pkgutil
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from operands import draw

from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.functions import DOMAINS
from symgrad.tracing import calls  # noqa: F401  (declares functions)
from symgrad.tracing.declare import CASES, Case, Given
from symgrad.tracing.dispatch import NAMED_CASES
from symgrad.tracing.tree import flatten, unflatten

#: how far what comes from the operation before moves an argument: by so much it stays near the case's own point
_MOVED = 0.1
_SHAPES = [(), (3,), (2, 3), (0,), (1, 3), (40,)]
_OPERATIONS: list[tuple[str, Any]] = [
    *[("elementwise", name) for name in ELEMENTWISE if name != "zeta"],
    *[("function", (f.__name__, f, case)) for f, cases in CASES.items() for case in cases],
]
if importlib.util.find_spec("scipy"):
    _OPERATIONS += [("library", (name, name, case)) for name, cases in NAMED_CASES.items() for case in cases]


@dataclass(frozen=True)
class Step:
    """One operation with arguments of its own, of which the arrays at ``places`` are the program's."""

    kind: str
    label: str
    call: Callable
    leaves: list[Any]
    structure: Any
    kwargs: dict[str, Any]
    places: list[int]

    def __call__(self, arrays: list[Any]) -> Any:
        filled = list(self.leaves)
        for k, array in zip(self.places, arrays, strict=True):
            filled[k] = array
        return self.call(*unflatten(self.structure, filled), **self.kwargs)


class TableProgram:
    """Operations one after the other, each moved by what the one before gave.

    It is made of what was drawn before, and reaches nothing else: all that a function can read is looked at whenever
    it is traced.
    """

    def __init__(self, seed: int, steps: list[Step]) -> None:
        self.seed = seed
        self.steps = steps
        self.point = [np.array(s.leaves[k]) for s in self.steps for k in s.places]
        #: whether values are NumPy's to the bit: sums over what was copied in another order add up in another one
        self.is_exact = not any(s.kind == "library" or re.search("fortran|order='F'", s.label) for s in self.steps)
        self.__name__ = f"table_program({seed})"

    def __call__(self, *arrays: Any) -> Any:
        rest, before, made = list(arrays), None, []
        for step in self.steps:
            own, rest = rest[: len(step.places)], rest[len(step.places) :]
            if before is not None and own:
                k = max(range(len(own)), key=lambda k: np.size(own[k]))
                own[k] = own[k] + _MOVED * np.reshape(before, (1,) * np.ndim(own[k]))
            made = [v for v in flatten(step(own))[0] if _is_number(v)]
            before = _summed(made)
        return tuple(made) if before is None or not made else (*made, before)

    def _guarded(self) -> dict[str, Any]:
        """It never changes."""
        return {}

    def __str__(self) -> str:
        return f"table_program({self.seed}): " + " → ".join(s.label for s in self.steps)


def table_program(seed: int) -> TableProgram:
    """Two to four operations; of one seed always the same."""
    r = random.Random(seed)
    return TableProgram(seed, [_drawn(r.randrange(1 << 30)) for _ in range(r.randint(2, 4))])


def _drawn(seed: int) -> Step:
    """One operation near a point of its own cases."""
    r, rng = random.Random(seed), np.random.default_rng(seed)
    kind, what = r.choice(_OPERATIONS)
    kwargs: dict[str, Any] = {}
    fixed: set[int] = set()
    if kind == "elementwise":
        shape = r.choice(_SHAPES)
        args: list[Any] = [draw(rng, interval, shape) for interval in DOMAINS[what]]
        label, call = f"{what}{shape}", ELEMENTWISE[what].ufunc
    else:
        name, function, case = what
        assert isinstance(case, Case)
        label = f"{name} of {case}"
        call = case.of_drawn(pkgutil.resolve_name(function) if kind == "library" else function)
        args, kwargs = [a.value if isinstance(a, Given) else a for a in case.draw(rng)], case.kwargs
        fixed = {id(v) for a, v in zip(case.args, args, strict=True) if isinstance(a, Given)}
    leaves, structure = flatten(args)
    floats = [k for k, v in enumerate(leaves) if isinstance(v, np.ndarray) and v.dtype.kind == "f"]
    return Step(kind, label, call, leaves, structure, kwargs, [k for k in floats if id(leaves[k]) not in fixed])


def _is_number(value: Any) -> bool:
    return np.dtype(getattr(value, "dtype", type(value))).kind in "fc"


def _summed(values: list[Any]) -> Any:
    """One number of all that an operation gave; None where it gave none."""
    parts = [np.sum(np.sin(np.real(v)) + np.cos(np.imag(v))) for v in values]
    return np.tanh(sum(parts)) if parts else None

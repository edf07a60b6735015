"""Every registered operation in a few programs, for Fortran and Julia: on its domain, at edges, on whole numbers."""

from __future__ import annotations

from typing import Any

import array_programs
import loop_programs
import numpy as np
import scipy.special
from loop_programs import Exportable, Together, exportable
from operands import draw

import symgrad as sg
from symgrad.primitives import special
from symgrad.primitives.elementwise import TEMPLATES
from symgrad.primitives.functions import DOMAINS
from symgrad.tracing.declare import CASES as FUNCTION_CASES
from symgrad.tracing.declare import Given

#: all but zeta, which comes in by derivatives alone
_ELEMENTWISE = [name for name, template in TEMPLATES.items() if template is not special.zeta]
#: integers to the power of integers go wrong for negative exponents, which are tried alone
_APART = ("where", "ldexp", "power", "float_power", "reciprocal")


def exports(integers: tuple = (np.int64, np.int32, bool)) -> list[Exportable]:
    """Values and first derivatives of all operations and functions, and the benchmarks."""
    slopes = sg.grad(sg.grad(lambda x: np.sum(scipy.special.digamma(x))))
    return [
        *_on_domains(),
        *[_at_edges(np.dtype(t)) for t in (np.float64, np.float32)],
        *[_on_integers(np.dtype(t)) for t in integers],
        *_functions(),
        *[exportable(f"bench_{k}", *array_programs.bench(name)) for k, name in enumerate(array_programs.BENCH)],
        exportable("tetragamma", slopes, (np.array([0.3, 2.0]),)),
    ]


def _on_domains() -> list[Exportable]:
    rng = np.random.default_rng(7)
    together = Together()
    for name in _ELEMENTWISE:
        for shapes in loop_programs.SHAPES[TEMPLATES[name].arity]:
            operands = [draw(rng, i, shape) for i, shape in zip(DOMAINS[name], shapes, strict=True)]
            together.add(TEMPLATES[name].ufunc, operands, {})
    return together.exportables("elementwise")


def _at_edges(dtype: np.dtype) -> Exportable:
    row = np.array(loop_programs.SPECIAL, dtype)
    together = Together()
    for name in _ELEMENTWISE:
        if not any(isinstance(low, int) for low, _ in DOMAINS[name]):
            shapes = [(-1,), (-1, 1), (-1,)][: TEMPLATES[name].arity]
            together.add(TEMPLATES[name].ufunc, [row.reshape(s) for s in shapes], {})
    return _values(together, f"edges_{dtype.name}")


def _on_integers(dtype: np.dtype) -> Exportable:
    row = np.array([0, 1, 2, 3, 7, 100] if dtype.kind != "b" else [0, 1], dtype)
    together = Together()
    if dtype.kind in "iu":
        together.add(np.power, [row, row[:4, None]], {})
    if dtype.kind == "i":
        row = np.concatenate([row, -row, [np.iinfo(dtype).min, np.iinfo(dtype).max]]).astype(dtype)
    for name in _ELEMENTWISE:
        ufunc: Any = TEMPLATES[name].ufunc
        if name in _APART:
            continue
        try:
            made = ufunc.resolve_dtypes((*[dtype] * ufunc.nin, None))
        except TypeError:
            continue
        if not any(d == np.float16 for d in made):
            together.add(ufunc, [row.reshape(s) for s in [(-1,), (-1, 1)][: ufunc.nin]], {})
    return _values(together, f"integers_{dtype.name}")


def _functions(most: int = 2) -> list[Exportable]:
    """NumPy's functions, each in so many of the cases that its rule is tested by; a few dozen in a program."""
    rng = np.random.default_rng(3)
    made: list[Exportable] = []
    pending = [(f, case) for f, cases in FUNCTION_CASES.items() for case in cases[:most]]
    for k in range(0, len(pending), 40):
        together = Together()
        for function, case in pending[k : k + 40]:
            args = [_given(spec, case.domain, rng) for spec in case.args]
            together.add(case.of_drawn(function), args, case.kwargs)
        made += together.exportables(f"functions_{k}")
    return made


def _given(spec: Any, domain: tuple, rng: np.random.Generator) -> Any:
    """An argument of a case: drawn where its shape is said."""
    if isinstance(spec, Given):
        return spec
    if isinstance(spec, list):
        return [_given(s, domain, rng) for s in spec]
    return np.asarray(rng.uniform(*domain, size=spec))


def _values(together: Together, name: str) -> Exportable:
    return exportable(name, sg.symbolic(together.values), (together.floats, together.others))

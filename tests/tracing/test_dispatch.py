"""Every function that is declared by its public name, against its own library's values and finite differences."""

import pkgutil

import library_cases  # noqa: F401  (declares cases)
import numpy as np
import pytest

from symgrad.testing import Call, check_backends
from symgrad.tracing import calls, fourier  # noqa: F401  (declare functions)
from symgrad.tracing.declare import Given
from symgrad.tracing.dispatch import NAMED_CASES

pytest.importorskip("scipy")
#: how far values may be from the library's, times the precision and relative to the largest
ROUNDING = 64
CASES = [pytest.param(name, case, id=f"{name}-{case}") for name, cases in NAMED_CASES.items() for case in cases]


def of_case(name, case):
    held = [k for k, a in enumerate(case.args) if isinstance(a, Given)]
    function = case.of_drawn(pkgutil.resolve_name(name))

    def fn(*args, **kwargs):
        return function(*args, **kwargs)

    fn.__name__ = name
    return Call(fn, case.draw(np.random.default_rng(7)), case.kwargs, held)


@pytest.mark.parametrize(("name", "case"), CASES)
def test_rule(check_arrays, name, case):
    fn, args, kwargs, held = of_case(name, case)
    order = 2 if case is NAMED_CASES[name][0] else 1
    check_arrays(fn, args, kwargs, held=held, order=order, rounding=ROUNDING)


@pytest.mark.needs("native")
@pytest.mark.parametrize("part", [CASES[k::10] for k in range(10)], ids=range(10))
def test_compiled(part):
    check_backends(*[of_case(*p.values) for p in part], order=1, backends=["native"])

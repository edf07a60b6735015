"""Numbers of formulas are those of NumPy's functions, and indices are exact."""

from typing import Any

import numpy as np
import pytest
import sympy

from symgrad.closed_form.numbers import numpy_functions, value
from symgrad.closed_form.symbols import instantiate
from symgrad.primitives import special as _special  # noqa: F401  # its functions are tried too
from symgrad.primitives.elementwise import ELEMENTWISE, SLOTS

i, j = sympy.symbols("i j", integer=True, nonnegative=True)


@pytest.mark.parametrize("name", [n for n, t in ELEMENTWISE.items() if isinstance(t.ufunc, np.ufunc)])
def test_operations_are_computed_as_by_numpy(name):
    template = ELEMENTWISE[name]
    ufunc: Any = template.ufunc
    whole = all("d" not in t for t in ufunc.types)
    numbers = [3, 2] if whole or name == "ldexp" else [1.3, 0.4] if name in ("arccosh", "zeta") else [0.7, 0.4]
    values = numbers[: template.arity]
    found = value(
        instantiate(template.expr, SLOTS, list(SLOTS[: template.arity])), dict(zip("abc", values, strict=False))
    )
    assert float(found) == pytest.approx(float(ufunc(*values)), rel=1e-14)


def test_indices_are_exact():
    places = [(int(value(sympy.floor(j / 3 + sympy.Rational(1, 3)), {"j": k})), (k + 1) // 3) for k in range(60)]
    assert all(found == wanted for found, wanted in places)
    assert value(sympy.Mod(i + j, 7), {"i": 5, "j": 9}) == 0


def test_what_numpy_has_no_function_for_is_computed_by_sympy():
    x = sympy.Symbol("x")
    assert numpy_functions([sympy.erf(x)]) == {}
    assert value(sympy.erf(x), {"x": 0.5}) == pytest.approx(0.5204998778130465)

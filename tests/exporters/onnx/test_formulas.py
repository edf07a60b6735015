"""Formulas of operations that have no operator are NumPy functions: as accurate on arrays as NumPy and SciPy are."""

from __future__ import annotations

import numpy as np
import pytest
from every_operation import ELEMENTWISE

from symgrad.exporters.onnx.formulas import formula_of

F64 = np.dtype(float)
POINTS = np.concatenate(
    [np.linspace(-30, 30, 2001), 10.0 ** np.linspace(-12, 8, 201), -(10.0 ** np.linspace(-12, 1.4, 201))]
)
OF_TWO = {
    "arctan2",
    "hypot",
    "copysign",
    "fmax",
    "fmin",
}
OF_ONE = {"arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "sinh", "cosh", "tan", "cbrt", "exp2"}
OF_ONE |= {"expm1", "log1p", "log2", "log10", "erf", "erfc", "erfcx"}


@pytest.mark.parametrize("name", sorted(OF_ONE | OF_TWO))
def test_formulas_lose_no_digits(name):
    formula = formula_of(name, F64)
    assert formula is not None
    given = (POINTS,) if name in OF_ONE else (POINTS, np.roll(POINTS, 700))
    with np.errstate(all="ignore"):
        got, want = formula(*given), ELEMENTWISE[name].ufunc(*given)
    normal = np.isfinite(want) & (np.abs(want) > 1e-290)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_allclose(got[normal], want[normal], rtol=1e-13)


def test_what_has_an_operator_or_none_has_no_formula():
    assert formula_of("exp", F64) is None
    assert formula_of("gammaln", F64) is None

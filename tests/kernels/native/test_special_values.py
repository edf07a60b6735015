"""What compiled loops give for zeros, infinities, NaN and the ends of the range is what NumPy gives."""

import numpy as np
import pytest

import symgrad
from symgrad.kernels.kernel import lower
from symgrad.kernels.native.kernel import NativeKernel
from symgrad.kernels.native.points import for_loops, is_point
from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.special import SPECIAL

pytestmark = pytest.mark.needs("native")

ENDS = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-310, 1e308, -1e308, 1e300, 700, 710, -745, -750]
PLACES = [1, -1, 0.5, -0.5, 2, 3, -2.5, 20, 88, 104, -104, 1e-17, 1e-5, 1e5, 1e10, 1e22, -1e22, 7.9, np.pi, np.pi / 2]
VALUES = np.array(ENDS + PLACES)
BOUNDS = {np.float64: (2e-14, 1e-300), np.float32: (2e-5, 1e-37)}


def operands(arity, dtype):
    if arity == 3:
        grids = np.meshgrid([False, True], VALUES, VALUES[::3])
    else:
        grids = np.meshgrid(*[VALUES] * arity)
    with np.errstate(over="ignore"):
        return [g.ravel() if g.dtype == bool else g.ravel().astype(dtype) for g in grids]


def compiled_programs(dtype):
    """For each template that C computes: its name, its program on these operands, and they."""
    for name, template in ELEMENTWISE.items():
        arrays = operands(template.arity, dtype)
        try:
            program = symgrad.trace(lambda *xs, f=template.ufunc: f(*xs), *arrays)
        except (TypeError, symgrad.errors.SymgradError):
            continue  # not a function of floats
        if any(is_point(n) for n in for_loops(program).bindings):
            yield name, lower(program, "numpy").program, arrays


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_at_the_ends(dtype):
    cases = list(compiled_programs(dtype))
    names = {name for name, *_ in cases}
    assert {"exp", "sin", "tanh", "power", "maximum", "where", "logaddexp", "logaddexp2", "remainder"} <= names
    assert {"expit", "xlogy", "ndtr"} <= names & {template.name for template in SPECIAL.values()}
    kernels = NativeKernel.built(*[program for _, program, _ in cases])
    with np.errstate(all="ignore"):
        for (name, _, arrays), kernel in zip(cases, kernels, strict=True):
            assert kernel is not None, name
            compare(name, np.asarray(kernel(*arrays)[0]), np.asarray(ELEMENTWISE[name].ufunc(*arrays)), arrays, dtype)


def compare(name, got, want, arrays, dtype):
    assert got.dtype == want.dtype, name
    if want.dtype == bool:
        np.testing.assert_array_equal(got, want, name)
        return
    relative, absolute = BOUNDS[dtype]
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    wrong = ~(same | (np.abs(got - want) <= relative * np.abs(want) + absolute))
    assert not wrong.any(), (name, [(tuple(a[k] for a in arrays), got[k], want[k]) for k in np.flatnonzero(wrong)])
    zero = same & (want == 0)
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]), name)


@pytest.mark.parametrize("reduce", [np.max, np.min, np.sum, np.prod])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reductions_keep_nan_and_infinities(reduce, axis):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(7, 37))
    x[2, 5], x[3, 6], x[4, 7] = np.nan, np.inf, -np.inf
    kernel = lower(symgrad.trace(lambda a: reduce(a * 2.0, axis=axis), x), "native")
    assert kernel.backend == "native"
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(kernel(x)[0], reduce(x * 2.0, axis=axis), rtol=1e-13)


def test_no_fused_operations():
    x = np.random.default_rng(2).uniform(0.1, 1, 1001)
    (difference,) = lower(symgrad.trace(lambda a: a * a - np.square(a), x), "native")(x)
    assert np.all(difference == 0)

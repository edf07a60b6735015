"""Which gathers, scatters and contractions kernels compute as views."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.kernels.backend import BACKENDS
from symgrad.kernels.kernel import lower
from symgrad.passes.windows import with_windows

RNG = np.random.default_rng(0)
X, W = RNG.normal(size=(3, 8, 40)), RNG.normal(size=(5, 8, 3))
PLACES = 2 * np.arange(19)[:, None] + np.arange(3)


def convolved(x, w):
    return np.einsum("ncik,ock->noi", np.take(x, PLACES, axis=2), w, optimize=True)


def counted(fn, *args):
    return with_windows(sg.trace(fn, *args)).operation_counts()


def test_a_convolution_and_its_derivatives_build_no_windows():
    assert counted(convolved, X, W) == {"windowed_product": 1}
    loss = sg.grad(lambda x, w: np.sum(convolved(x, w) ** 2), (0, 1))
    made = counted(loss, X, W)
    assert made["windowed_product"] == 2
    assert made["overlapped_product"] == 1
    assert not {"gather", "scatter"} & made.keys()


def test_scalar_factors_stand_outside():
    made = counted(lambda x, w: np.sum(3.0 * convolved(x, 2.0 * w)), X, W)
    assert made["windowed_product"] == 1


@pytest.mark.parametrize(
    "fn",
    [
        lambda x, w: np.einsum("ncik,ock->noi", np.take(x, PLACES, axis=2), w),  # the value is NumPy's to the bit
        lambda x, w: np.einsum("ncik,ock->noi", np.take(x, PLACES[::-1], axis=2), w, optimize=True),
        lambda x, w: np.einsum("ncik,nc->nik", np.take(x, PLACES, axis=2), x[:, :, 0], optimize=True),
        lambda x, w: np.take(x, PLACES, axis=2),
    ],
)
def test_what_stays_a_gather(fn):
    assert not {"windowed_product"} & counted(fn, X, W).keys()


@pytest.mark.parametrize("backend", BACKENDS)
def test_kernels(backend):
    def fn(x, w):
        return np.sum(np.sin(convolved(x, w)))

    program = sg.trace(sg.grad(fn, (0, 1)), X, W)
    kernel = lower(program, backend)
    if backend == "numpy":
        assert "windowed_product(" in kernel.source
        assert "overlapped_product(" in kernel.source
    of_x, of_w = kernel(X, W)
    for own, args in ((of_x, 0), (of_w, 1)):
        direction = RNG.normal(size=own.shape)
        moved = [[X, W], [X, W]]
        for k, sign in enumerate((1, -1)):
            moved[k][args] = moved[k][args] + sign * 1e-6 * direction
        slope = (fn(*moved[0]) - fn(*moved[1])) / 2e-6
        np.testing.assert_allclose(np.sum(own * direction), slope, rtol=1e-6)


def test_named_dims_stay_named():
    program = sg.trace(convolved, "n 8 40", "5 8 3")
    assert with_windows(program).operation_counts() == {"windowed_product": 1}
    kernel = lower(program)
    for n in (1, 7):
        x = RNG.normal(size=(n, 8, 40))
        np.testing.assert_allclose(kernel(x, W)[0], convolved(x, W), rtol=1e-12)


def test_sums_of_windows_are_added_up():
    def both(y):
        def pooled(x):
            return np.sum(np.take(x, PLACES, axis=0) * y, axis=1)

        return sg.vjp(pooled, np.ones(40))[1](np.ones(19))

    assert counted(both, np.ones((19, 3)))["overlap_add"] == 1

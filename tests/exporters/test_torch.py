"""The exported torch module runs without symgrad, is differentiated by autograd, and gives what the kernel gives."""

from __future__ import annotations

import golden
import numpy as np
import pytest
import scipy.special
from array_modules import compare_loop, compare_loop_of_named_size, compare_names_of_loops, library_of
from cases import CASES, GOLDEN
from exportables import same
from looping import CASES as LOOPS

import symgrad as sg
from symgrad.errors import UnsupportedOperation

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.needs("torch")


LIBRARY = library_of("torch")
tensor = LIBRARY.convert


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    golden.check("torch", name, CASES[name].export("torch"))


random = np.random.default_rng(0)


def loss(w, X):
    z = X @ w
    return np.sum(np.tanh(z)[::-2] ** 2) + np.sum(np.cumsum(w)[[0, 2, 0]]) + np.sum(np.maximum(z, 0.3) * np.sort(z))


def test_autograd_differentiates_it_further():
    w, X = random.normal(size=3), random.normal(size=(6, 3))
    made = LIBRARY.made(sg.grad(loss), (w, X))
    rows = torch.autograd.functional.jacobian(lambda w: made.function(w, tensor(X)), tensor(w))
    same(rows, sg.hessian(loss)(w, X))


def test_structural_zeros_stay_zeros_for_autograd():
    def clipped(x):
        return np.sum(np.where(x > 0, np.sqrt(np.abs(x)), x**2))

    x = np.array([4.0, 0.0, -1.0])
    made = LIBRARY.made(sg.symbolic(clipped), (x,))
    given_ = tensor(x).requires_grad_()
    made.function(given_).backward()
    assert made.function(given_).item() == clipped(x)
    assert given_.grad[0].item() == 0.25
    assert given_.grad[2].item() == -2.0


def test_without_autograd_it_records_nothing():
    made = LIBRARY.made(sg.grad(loss), (np.ones(3), np.ones((6, 3))))
    with torch.no_grad():
        assert not made.function(torch.ones(3, dtype=torch.float64).requires_grad_(), torch.ones(6, 3)).requires_grad


def test_arguments_are_not_written_into_and_not_given_back():
    x = tensor(np.arange(6.0).reshape(3, 2))
    made = LIBRARY.made(sg.symbolic(lambda x: (x, x, x.T, x[1:], np.cumsum(x, 0))), (np.ones((3, 2)),))
    results = made.function(x)
    for result in results:
        result += 1
    same(x.numpy(), np.arange(6.0).reshape(3, 2))
    same(results[0].numpy(), np.arange(6.0).reshape(3, 2) + 1)


def test_dtypes_are_those_of_the_derivation():
    made = LIBRARY.made(sg.grad(lambda x: np.sum(np.where(x > 0.5, x * 0.1, 1))), (np.ones(3, np.float32),))
    assert made.function(torch.ones(3)).dtype == torch.float32
    assert made.function(torch.ones(3, dtype=torch.float64)).dtype == torch.float32


def test_other_branches_are_refused():
    made = LIBRARY.made(sg.grad(lambda x: np.sum(x**2) if np.sum(x) > 0 else np.sum(x)), (np.ones(2),))
    same(made.function(torch.tensor([3.0, -1.0])).numpy(), [6.0, -2.0])
    with pytest.raises(ValueError, match="another branch than the derived one"):
        made.function(-torch.ones(2))


def test_an_index_outside_is_an_error():
    derived = sg.grad(lambda x, k: np.sum(x[k] ** 2))
    made = LIBRARY.compared(derived, (np.ones(3), np.array([0, -1, -1])))
    with pytest.raises(IndexError):
        made.function(torch.ones(3), torch.tensor([0, 3, 0]))


@pytest.mark.parametrize("x", [np.array([-30.0, -7.0, 0.0, 7.0]), np.array([-7.0, 3.0], np.float32)])
def test_tails_are_computed_to_the_last_digits(x):
    made = LIBRARY.made(sg.symbolic(scipy.special.ndtr), (x,))
    np.testing.assert_allclose(made([x])[0], scipy.special.ndtr(x), rtol=1e-5 if x.dtype == np.float32 else 1e-13)


def test_cube_roots():
    x = np.array([-27.0, 1e-300, 1e300, 8.0, 0.0, -0.0, np.inf, np.nan])
    made = LIBRARY.made(sg.symbolic(np.cbrt), (x,))
    np.testing.assert_allclose(made([x])[0], np.cbrt(x), rtol=1e-15)


def test_one_triangle_is_read():
    a = np.array([[9.0, 4.0], [2.0, 8.0]])
    for upper in (False, True):
        LIBRARY.compared(sg.symbolic(lambda a, upper=upper: np.linalg.cholesky(a, upper=upper)), (a,))


def test_a_dtype_that_torch_has_not_is_refused():
    with pytest.raises(UnsupportedOperation, match="cannot be written for torch"):
        LIBRARY.made(sg.symbolic(np.sin), (np.ones(2, np.longdouble),))


def test_it_runs_on_the_device_of_its_arguments():
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    made = LIBRARY.made(sg.grad(loss), (np.ones(3), np.ones((6, 3))))
    gradient = made.function(torch.ones(3, device="cuda"), torch.ones(6, 3, device="cuda"))
    assert gradient.is_cuda


@pytest.mark.parametrize(("name", "which"), LOOPS)
def test_loops_are_loops(name, which):
    compare_loop(LIBRARY, name, which, "for t in range(", "reversed(range(")


def test_a_loop_over_a_named_size():
    compare_loop_of_named_size(LIBRARY)


def test_arguments_may_be_called_as_what_a_loop_names():
    compare_names_of_loops(LIBRARY)

"""The forms agree with the kernel, and a form that does not is found out."""

import numpy as np
import pytest
import scipy.linalg

import symgrad as sg
from symgrad.closed_form import agreement as room
from symgrad.closed_form.agreement import Agreement, agreement
from symgrad.errors import ArgumentError

RNG = np.random.default_rng(0)
X, Y, W = RNG.normal(size=(6, 3)), RNG.choice([-1.0, 1.0], 6), RNG.normal(size=3)


def logistic(w, X, y):
    return np.sum(np.log(1 + np.exp(-y * (X @ w))))


@pytest.mark.parametrize("derive", [sg.grad, sg.hessian, sg.value_and_grad])
def test_every_form_is_the_kernel(derive):
    found = derive(logistic).agreement(W, X, Y)
    assert found.matrix is not None
    assert found.index is not None
    assert found.worst < 1e-12


def test_entries_of_small_arrays():
    found = sg.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2), sparse=True).agreement(W)
    assert found == Agreement(None, 0.0, 0.0)
    assert "entries form: agrees with the kernel to 0.0e+00" in str(found)


def test_functions_of_matrices_are_computed_in_formulas():
    found = sg.grad(lambda K: np.linalg.slogdet(K)[1]).agreement(X.T @ X)
    assert None not in (found.matrix, found.entries, found.index)
    assert found.worst < 1e-12


def test_arrays_that_the_function_reads_are_known():
    found = sg.grad(lambda w: np.sum((X @ w) ** 2)).agreement(W)
    assert found.index is not None
    assert found.worst < 1e-12


def test_a_form_that_takes_too_long_is_said_to_be_none():
    found = sg.grad(lambda A, w: np.sum((A @ w) ** 2), 1).agreement(np.ones((500, 300)), np.ones(300))
    assert found.matrix is not None
    assert found.index is None
    assert "index form:   none that can be evaluated" in str(found)


@pytest.mark.parametrize("form", ["matrix", "entries", "index"])
def test_a_wrong_form_is_found_out(form):
    function = sg.grad(lambda x: np.sum(np.sin(x) * x))
    entry, leaves = function._compiled.served(W)
    right = entry.kernel(*leaves)
    assert agreement(entry.program, leaves, right).worst < 1e-15
    wrong = [r + 0.5 for r in right]
    expected = 0.5 / max(1.0, np.abs(wrong).max())
    assert getattr(agreement(entry.program, leaves, wrong), form) == pytest.approx(expected)


def test_infinite_and_undefined_values_agree_with_themselves():
    assert room._difference(np.array([np.inf, np.nan, 1.0]), *[np.array([np.inf, np.nan, 1.0])] * 2) == 0
    assert room._difference(np.array([np.nan, 1.0]), *[np.array([2.0, 1.0])] * 2) == np.inf


def test_it_needs_arrays():
    with pytest.raises((ArgumentError, TypeError)):
        sg.grad(logistic).agreement()


def test_what_picks_nothing_counts_for_nothing_and_complex_parts_are_kept():
    slopes = sg.grad(lambda x, y, i: np.sum(y[i] / (x[i + 1] - x[i])))
    assert slopes.agreement(np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 4.0]), np.array([0, 1])).index < 1e-12
    spectrum = sg.grad(lambda x: np.sum(np.abs(np.fft.rfft(x) - 1.0) ** 2))
    found = spectrum.agreement(np.arange(6.0) ** 2)
    assert found.entries < 1e-12
    assert found.index < 1e-12
    between = sg.grad(lambda y, x, at: np.sum(np.interp(x, at, y) ** 2))
    assert between.agreement(np.arange(4.0), np.array([0.5, 1.5, 2.7]), np.arange(4.0)).worst < 1e-12


@pytest.mark.parametrize(
    ("derived", "given"),
    [
        (sg.grad(lambda z: np.sum(z**3), holomorphic=True), [np.array([1 + 2j])]),
        (sg.hessian(lambda a, b: np.real(np.exp((a + 1j * b) ** 2)), (0, 1)), [0.3, 0.4]),
        (sg.grad(lambda a: np.abs(np.linalg.det(a + 1j * np.eye(2)))), [np.array([[1.0, 2.0], [3.0, 4.5]])]),
        (sg.symbolic(lambda x: np.fft.irfft(np.fft.rfft(x) ** 2)), [np.arange(4.0)]),
    ],
)
def test_complex_numbers_agree(derived, given):
    found = derived.agreement(*given)
    assert found.entries is not None
    assert found.worst < 1e-12


def test_what_has_no_value_is_not_compared():
    hermitian = lambda a: np.linalg.eigvalsh(np.array([[1.0, a * 1j], [-a * 1j, 2.0]]))[0]  # noqa: E731
    found = sg.grad(hermitian).agreement(0.3)
    assert (found.matrix, found.entries) == (None, None)
    assert found.index < 1e-12
    moved = sg.grad(lambda a: np.sum(scipy.linalg.expm(np.array([[0.0, a], [-a, 0.5]]))))
    found = moved.agreement(0.3)
    assert (found.matrix, found.entries, found.index) == (None, None, None)
    assert "conjugate" in str(sg.grad(hermitian).formulas(0.3))
    chosen = sg.named(lambda x, y: np.mean(np.log(x)[np.arange(len(y)), y]), x="n k", y="n")
    assert sg.grad(chosen).agreement(np.ones((2, 3)), np.array([0, 1])).index == 0

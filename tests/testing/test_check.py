"""The checks can fail: each deliberately broken rule is caught, with a message that says what broke."""

import numpy as np
import pytest

from symgrad.primitives import functions as f
from symgrad.primitives.contraction import Einsum
from symgrad.primitives.reduction import Extremum
from symgrad.primitives.selection import Gather, Slice
from symgrad.primitives.shaping import Reshape
from symgrad.testing import CheckFailed, check_grads, check_rule
from symgrad.tracing.dispatch import FUNCTIONS
from symgrad.transforms.products import stop_gradient

X = np.array([[0.4, 1.1, 2.0], [0.7, 1.9, 0.2]])


def wrong_sign(a):
    return f.negative(f.cos(a))


def missing_factor(a):
    return f.multiply(0.5, f.cos(a))


def nearly_right(a):
    return f.multiply(1.00001, f.cos(a))


@pytest.mark.parametrize("partial", [wrong_sign, missing_factor, nearly_right])
def test_a_wrong_partial_is_caught_in_forward_mode(monkeypatch, partial):
    monkeypatch.setattr(f.sin, "_partials", [partial])
    with pytest.raises(CheckFailed, match=r"check_rule\(sin\): forward mode, output 0 at \[\d, \d\]: got .* give"):
        check_rule(np.sin, [X])


def test_a_zero_partial_is_caught(monkeypatch):
    monkeypatch.setattr(f.sin, "_partials", [None])
    with pytest.raises(CheckFailed, match="forward mode"):
        check_grads(np.sin, [X])


def test_a_partial_that_is_right_and_has_a_wrong_derivative_of_its_own_is_caught(monkeypatch):
    """exp' = exp, spelled by a template that has lost its own derivative."""
    frozen = lambda a: f.add(f.positive(f.expm1(a)), 1.0)  # noqa: E731
    monkeypatch.setattr(f.exp, "_partials", [frozen])
    monkeypatch.setattr(f.positive, "_partials", [None])
    check_grads(np.exp, [X], order=1)
    with pytest.raises(CheckFailed, match="forward over forward"):
        check_grads(np.exp, [X])


@pytest.mark.parametrize(
    ("primitive", "fn"),
    [
        (Reshape, lambda x: x.reshape(3, 2)),
        (Slice, lambda x: x[:, ::2]),
        (Gather, lambda x: x[:, [0, 0, 1]]),
        (Extremum, lambda x: np.max(x, axis=1)),
        (Einsum, lambda x: x @ np.arange(6.0).reshape(3, 2)),
    ],
)
def test_a_wrong_transpose_is_caught_in_reverse_mode(monkeypatch, primitive, fn):
    right = primitive.vjp
    monkeypatch.setattr(primitive, "vjp", lambda *a: f.multiply(2.0, right(*a)))
    with pytest.raises(CheckFailed, match="reverse mode"):
        check_grads(fn, [X], order=1)


def test_a_pull_that_drops_a_cotangent_is_caught(monkeypatch):
    monkeypatch.setattr(Slice, "vjp", lambda *a: None)
    with pytest.raises(CheckFailed, match="reverse mode"):
        check_grads(lambda x: x[0], [X], order=1)


def test_a_value_that_is_not_numpys_is_caught(monkeypatch):
    monkeypatch.setitem(FUNCTIONS, np.flip, lambda m, axis=None: m)
    with pytest.raises(CheckFailed, match=r"value, float64, output 0 at \[0, 0\]: got .* NumPy gives"):
        check_rule(np.flip, [X])


def test_a_value_that_is_off_by_rounding_is_caught(monkeypatch):
    monkeypatch.setitem(FUNCTIONS, np.sum, lambda a, axis=None: a.ravel().dot(np.ones(a.size)) * (1 + 1e-15))
    check_grads(np.sum, [X], order=1)
    with pytest.raises(CheckFailed, match="value, float64"):
        check_rule(np.sum, [X])


def test_a_result_of_another_dtype_is_caught(monkeypatch):
    monkeypatch.setitem(FUNCTIONS, np.flip, lambda m, axis=None: m[::-1, ::-1].astype(np.float64))
    with pytest.raises(CheckFailed, match=r"value, float32, output 0: got float64\[2, 3\], expected float32\[2, 3\]"):
        check_rule(np.flip, [X])


def test_a_result_of_another_structure_is_caught(monkeypatch):
    monkeypatch.setitem(FUNCTIONS, np.flip, lambda m, axis=None: (m,))
    with pytest.raises(CheckFailed, match="the result is"):
        check_rule(np.flip, [X])


def test_a_gradient_that_a_stop_has_cut_is_caught():
    with pytest.raises(CheckFailed, match="forward mode"):
        check_grads(lambda x: stop_gradient(x) * x, [X])


def test_a_point_on_a_kink_is_refused():
    with pytest.raises(CheckFailed, match="choose another point"):
        check_grads(np.heaviside, [np.array([0.0]), np.array([0.5])])


def test_held_arguments_are_not_differentiated():
    with pytest.raises(CheckFailed, match="forward mode"):
        check_grads(lambda x, i: x * np.floor(i), [X, np.array(2.0)])
    check_rule(lambda x, i: x * np.floor(i), [X, np.array(2.0)], held=[1])


def test_integers_and_python_scalars_are_held():
    check_rule(lambda x, k, s: x[k] * s, [X, np.array([1, 0, 1]), 3.0])


def test_nested_arguments_and_outputs():
    check_rule(lambda d: {"a": d["u"][0] * d["v"], "b": [d["v"] ** 2, d["u"][0].sum()]}, [{"u": (X,), "v": X[0]}])

"""Arguments that NumPy takes and symgrad has no rule for: a typed error, the user's line and the way out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import symgrad as sg
from symgrad.errors import ArgumentTypeError, TracingError, UnsupportedOperation


@pytest.mark.parametrize(
    ("fn", "name"),
    [
        (lambda x: np.vecdot(x, x, keepdims=True), "keepdims"),
        (lambda x: np.sum(np.matmul(np.outer(x, x), x, axes=[(0, 1), 0, 0])), "axes"),
    ],
)
def test_an_argument_without_a_rule_is_named(fn, name):
    with pytest.raises(UnsupportedOperation, match=f"no derivative rule in symgrad .*{name}") as refused:
        sg.grad(fn)(np.ones(3))
    assert __file__ in str(refused.value)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: np.diagonal(np.outer(x, x), 0.5),
        lambda x: np.diag(x, np.float64(1.0)),
        lambda x: np.trace(np.outer(x, x), -0.0),
        lambda x: np.reshape(x, 3.0),
        lambda x: np.broadcast_to(x, (2.0, 3)),
        lambda x: np.pad(x, 0.5),
        lambda x: np.split(x, [0.5]),
        lambda x: np.tile(x, 2.0),
    ],
)
def test_counts_are_whole_numbers(fn):
    with pytest.raises(TypeError):
        fn(np.ones(3))
    with pytest.raises(ArgumentTypeError) as refused:
        sg.grad(lambda x: np.sum(fn(x)))(np.ones(3))
    assert f"{__file__}:" in str(refused.value)


def test_an_error_inside_of_a_rule_stays_what_it_is():
    with pytest.raises(ArgumentTypeError, match="an axis is a whole number, not 'a'"):
        sg.grad(lambda x: np.sum(np.cumsum(x, axis="a")))(np.ones(3))


def test_the_line_is_the_users_and_not_that_of_an_installed_package():
    with pytest.raises(TracingError) as refused:
        sg.grad(lambda x: scipy.special.factorial2(x))(np.ones(3))
    assert __file__ in str(refused.value)
    assert "site-packages" not in str(refused.value)

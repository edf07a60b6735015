"""Where values stop being finite, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest
from symgrad_notebook.picture import picture

import symgrad
from symgrad.findings import findings


def origins(function, *args):
    """What went wrong, each with whether it began there and spoils the result."""
    program = symgrad.trace(function, *args)
    found = findings(program, [np.asarray(a) for a in args])
    return [(f.origin, f.first and f.reaches) for f in found.values() if f.origin]


@pytest.mark.parametrize(
    ("function", "x", "told"),
    [
        (np.log, [1.0, 0.0, 0.0], "log of 0 at [1] and 1 more"),
        (np.log, [-2.5], "log of −2.5 at [0]"),
        (np.sqrt, [-4.0], "sqrt of −4 at [0]"),
        (np.exp, [1000.0], "exp of 1000 overflows at [0]"),
        (np.arcsin, [2.0], "arcsin of 2 at [0]"),
        (lambda x: 1 / x, [2.0, 0.0], "1 / 0 at [1]"),
        (lambda x: x / x, [0.0], "0 / 0 at [0]"),
        (lambda x: x**-2.0, [0.0], "0 ** (−2) at [0]"),
        (lambda x: x * x, [1e200], "1e+200 · 1e+200 overflows at [0]"),
        (lambda x: np.sum(x * 1e308), [1.0, 1.0], "sum overflows"),
    ],
)
def test_origin(function, x, told):
    assert origins(function, np.array(x)) == [(told, True)]


def test_scalars_have_no_place():
    assert origins(lambda x: np.log(x), np.float64(0.0)) == [("log of 0", True)]


def test_nan_of_infinities_is_a_consequence():
    assert origins(lambda x: x * np.log(x), np.array([0.0])) == [
        ("log of 0 at [0]", True),
        ("0 · (−inf) at [0]", False),
    ]


def test_what_is_masked_spoils_nothing():
    x = np.array([0.0, 1.0])
    assert origins(lambda x: np.where(x > 0, np.log(x), 0.0), x) == [("log of 0 at [0]", False)]
    shown = picture(symgrad.symbolic(lambda x: np.where(x > 0, np.log(x), 0.0)), (x,), {})
    assert "log of 0 at [0], masked later" in shown.svg
    assert "⚠ log" not in shown.svg


def test_inputs_and_singular_matrices():
    assert origins(lambda x: x + 1, np.array([np.nan])) == [("input holds NaN at [0]", True)]
    ((told, begins),) = origins(np.linalg.inv, np.zeros((2, 2)))
    assert "ingular" in told
    assert begins


def test_marked_in_the_picture():
    def entropy(p):
        return -np.sum(p * np.log(p))

    shown = picture(symgrad.grad(entropy), (np.array([0.5, 0.0]),), {})
    first = next(b for b in shown.diagram.boxes if b.origin)
    assert first.rows[0].endswith("log(p)")
    assert "⚠ log of 0 at [1]" in shown.svg
    assert "sg-origin" in shown.svg
    assert "NaN or infinity begins here" in shown.svg
    assert "⚠ v0 = log(p): log of 0 at [1]" in str(shown)
    assert "⚠" not in picture(symgrad.grad(entropy), (np.array([0.5, 0.5]),), {}).svg


def test_values_are_the_kernels():
    function = symgrad.symbolic(lambda x, y: np.tanh(x @ y) * np.exp(-x[:1]))
    x, y = np.linspace(0, 1, 4), np.linspace(-1, 1, 12).reshape(4, 3)
    found = findings(function.program(x, y), [x, y])
    (result,) = function.program(x, y).outputs
    np.testing.assert_allclose(found[result].sample, function(x, y))
    assert found[result].span == f"{function(x, y).min():.3g} … {function(x, y).max():.3g}".replace("-", "−")


def test_large_arrays_are_not_kept_nor_built():
    program = symgrad.trace(lambda x: np.sum(np.ones(3)[:, None] * x), np.ones(1000))
    found = findings(program, [np.arange(1000.0)])
    assert max(f.sample.size for f in found.values()) <= 36
    huge = symgrad.jacobian(lambda x: x**2).program("n")
    assert huge.outputs[0].shape
    wide = symgrad.trace(lambda x: np.sum(x[:, None] * x), np.ones(20_000))
    assert len(findings(wide, [np.ones(20_000)])) < len(wide.nodes)


def test_complex_numbers():
    program = symgrad.trace(lambda x: np.log(x * (1 + 1j)), np.ones(2))
    told = [f.origin for f in findings(program, [np.array([1.0, 0.0])]).values() if f.origin]
    assert told == ["log of 0+0j at [1]"]

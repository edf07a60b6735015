"""``sg.debug``: where a NaN or an infinity begins is an error that says so."""

import threading

import numpy as np
import pytest

import symgrad as sg
from symgrad import nn
from symgrad.errors import ArgumentError, NonFiniteError


def roots(x):
    y = np.sqrt(x - 1)
    return np.sum(y)


def softmax(x):
    e = np.exp(x)
    return (e / np.sum(e))[0]


def squared_again(x):
    for _ in range(200):
        x = x * x * 3
    return x


CASES = {
    "in the derivative": (
        lambda: sg.grad(roots)(np.array([2.0, 1.0])),
        "the derivative, as 1 / 0 at [1]",
        "np.sqrt(x - 1)",
    ),
    "in the value": (
        lambda: sg.grad(roots)(np.array([2.0, 0.5])),
        "the value, as sqrt of −0.5 at [1]",
        "np.sqrt(x - 1)",
    ),
    "an overflow": (lambda: sg.grad(softmax)(np.array([1e3, 0.0])), "exp of 1000 overflows at [0]", "e = np.exp(x)"),
    "of second order": (
        lambda: sg.hessian(lambda x: np.sum(x**1.5))(np.array([0.0, 1.0])),
        "the second derivative, as 0 ** (−0.5) at [0]",
        "x**1.5",
    ),
    "in a Jacobian": (lambda: sg.jacobian(np.log)(np.array([0.0, 1.0])), "1 / 0 at [0]", ""),
    "in a sparse one": (
        lambda: sg.jacobian(lambda x: x[1:] * np.log(x[:-1]), sparse=True)(np.array([0.0, 1.0])),
        "log of 0 at [0]",
        "np.log(x[:-1])",
    ),
    "of many examples": (lambda: sg.vmap(sg.grad(np.log))(np.array([0.0, 1.0])), "1 / 0 at [0]", ""),
    "of complex numbers": (lambda: sg.grad(lambda x: np.real(np.log(x + 0j)))(0.0), "1 / 0+0j", "np.log(x + 0j)"),
    "in a loop": (
        lambda: sg.grad(lambda x: sg.fori_loop(0, 9, lambda i, c: np.exp(c), x))(1.0),
        "exp of 3.814e+06 overflows",
        "",
    ),
    "in a Python loop": (lambda: sg.grad(squared_again)(2.0), "5.365e+198 · 5.365e+198 overflows", "x = x * x * 3"),
    "along a direction": (lambda: sg.jvp(np.log, 0.0, 1.0), "the value, as log of 0", ""),
    "an argument": (lambda: sg.grad(roots)(np.array([np.nan, 2.0])), "x holds NaN at [0] already", ""),
    "in single precision": (lambda: sg.symbolic(np.exp)(np.float32(100)), "exp of 100 overflows", ""),
    "a network": (
        lambda: nn.SequentialCell(nn.Dense(2, 1))(sg.Tensor(np.full((1, 2), np.inf, np.float32))),
        "holds inf at [0, 0] and 1 more already",
        "",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_origin_is_told(name):
    call, origin, line = CASES[name]
    with np.errstate(all="ignore"):
        call()  # without debug it is no error
    with sg.debug(), pytest.raises(NonFiniteError) as caught:
        call()
    assert origin in str(caught.value)
    assert line in str(caught.value)
    assert isinstance(caught.value, FloatingPointError)


@pytest.mark.parametrize("backend", [pytest.param("native", marks=pytest.mark.needs("native")), "numpy", "numexpr"])
def test_on_every_backend(backend):
    gradient = sg.grad(roots, backend=backend)
    with sg.debug():
        np.testing.assert_array_equal(gradient(np.array([2.0, 5.0])), [0.5, 0.25])
        with pytest.raises(NonFiniteError, match="sqrt of −1"):
            gradient(np.array([0.0, 5.0]))


def test_what_a_branch_leaves_out_is_no_error():
    with sg.debug():
        gradient = sg.grad(lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)))(np.array([0.0, 1.0]))
        assert sg.symbolic(lambda x: 1 / (1 + np.exp(-x)))(-1000.0) == 0  # exp overflows, the result does not
    np.testing.assert_array_equal(gradient, [0.0, 1.0])


def test_it_ends_with_the_block_also_after_an_error():
    with pytest.raises(NonFiniteError), sg.debug():
        sg.grad(roots)(np.array([1.0]))
    assert np.isinf(sg.grad(roots)(np.array([1.0])))
    assert sg.get_context("debug") is False


def test_as_a_decorator_and_inside_out():
    @sg.debug()
    def train():
        return sg.grad(roots)(np.array([1.0]))

    with pytest.raises(NonFiniteError):
        train()
    with sg.debug(), sg.debug(False):
        assert np.isinf(sg.grad(roots)(np.array([1.0])))


def test_set_context_holds_for_all_threads():
    seen = []

    def work():
        try:
            sg.grad(roots)(np.array([1.0]))
        except NonFiniteError as error:
            seen.append(error)

    sg.set_context(debug=True)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        sg.set_context(debug=False)
    assert len(seen) == 1
    with pytest.raises(ArgumentError, match="debug must be True or False"):
        sg.set_context(debug=1)


def test_in_pynative_mode():
    sg.set_context(mode=sg.PYNATIVE_MODE)
    try:
        with sg.debug(), pytest.raises(NonFiniteError, match="sqrt of"):
            sg.grad(roots)(np.array([0.0]))
    finally:
        sg.set_context(mode=sg.GRAPH_MODE)

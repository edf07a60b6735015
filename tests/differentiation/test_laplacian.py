"""Second derivatives that go forward, through every registered operation: against second differences of its value."""

import numpy as np
import pytest
from registered import FUNCTION_CASES, TEMPLATE_CASES, elementwise, first_of_each, of_function

import symgrad as sg
from symgrad.testing.check import Check


def expect_second_derivatives(call):
    """``vᵀHw`` of the weighed outputs: by Laplacian and by Taylor mode over two numbers, on lines along ``v ± w``."""
    check = Check(call, 0, "second derivatives")
    if not check.smooth:
        assert sg.laplacian(lambda z: z[0] * z[1])(np.zeros(2)) == 0  # nothing of the operation has a derivative
        return
    v, w = check.directions
    mixed, tolerance = check._differences(check.point, [v, w])
    wanted = sum(np.sum(u * m) for u, m in zip(check.weights, mixed, strict=True))

    def on_lines(z):
        ahead = [x + z[0] * (a + b) / 2 for x, a, b in zip(check.point, v, w, strict=True)]
        across = [x + z[1] * (a - b) / 2 for x, a, b in zip(check.point, v, w, strict=True)]
        return check.weighed(*ahead) - check.weighed(*across)

    found = {
        "Laplacian": sg.laplacian(on_lines, backend="numpy")(np.zeros(2)),
        "Taylor mode": sg.directional(on_lines, order=2, backend="numpy")(np.zeros(2), np.ones(2)),
    }
    for what, got in found.items():
        check.expect_close(what, got, wanted, 10 * tolerance.second, "second differences")


@pytest.mark.parametrize(("name", "shapes"), first_of_each(TEMPLATE_CASES))
def test_elementwise(name, shapes):
    expect_second_derivatives(elementwise(name, shapes))


@pytest.mark.parametrize(("function", "case"), first_of_each(FUNCTION_CASES))
def test_functions(function, case):
    expect_second_derivatives(of_function(function, case))


Y = np.array([1.0, 0.0, 1.0])
#: derivatives of their parts are written with what the function has computed elsewhere
SHARING = {
    "softplus beside exp(-x)": lambda x: np.sum(np.exp(-x) + np.log(1 + np.exp(x))),
    "sigmoid beside exp(x)": lambda x: np.sum(np.exp(x) + 1 / (1 + np.exp(-x))),
    "softplus times exp(-x)": lambda x: np.sum(np.exp(-x) * np.log1p(np.exp(x))),
    "two softplus": lambda x: np.sum((np.log1p(np.exp(x)) - 2 * np.log1p(np.exp(-x))) ** 2),
    "stable softplus": lambda x: np.sum(np.where(x > 0, x + np.log1p(np.exp(-x)), np.log1p(np.exp(x)))),
    "cross entropy": lambda x: np.sum(Y * np.log1p(np.exp(-x)) + (1 - Y) * np.log1p(np.exp(x))),
    "softmax times sigmoid": lambda x: np.sum(np.exp(x) / np.sum(np.exp(x)) / (1 + np.exp(-x))),
    "angle of a norm": lambda x: np.arctan2(np.linalg.norm(x), 2.0),
}


@pytest.mark.parametrize("name", SHARING)
def test_what_derivatives_share_with_the_function(name):
    function, x, h = SHARING[name], np.array([0.4, -0.7, 1.1]), 1e-3
    line = [-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12]
    wanted = sum(c * function(x + k * h * e) for e in np.eye(3) for k, c in zip(range(-2, 3), line, strict=True)) / h**2
    np.testing.assert_allclose(sg.laplacian(function)(x), wanted, rtol=1e-7, atol=1e-8)


WEIGHTS = np.random.default_rng(3).uniform(size=(10, 3))


def paired(c, t):
    a, b = c
    return (np.sin(a) * b + t * a, np.cos(b) * a), np.sum(a)


def of_pairs(x):
    (a, b), kept = sg.scan(paired, (x, 0.5 * x), np.linspace(0, 0.3, 10))
    return np.sum(a * b) + np.sum(kept)


def of_steps(x):
    state = x
    for _ in range(30):
        state = np.sin(state) * x + 0.1 * state
    return state @ state


LOOPS = {
    "scan": lambda x: np.sum(sg.scan(lambda c, w: (np.sin(c) * x + w * c, c), x, WEIGHTS)[1] ** 2),
    "fori_loop": lambda x: np.sum(sg.fori_loop(0, 10, lambda _, c: np.sin(c) * x[0] + 0.3 * c[::-1], x)),
    "two carries": of_pairs,
    "a loop of Python": of_steps,
}
OF_SECOND_DERIVATIVES = {
    "Laplacian": sg.laplacian,
    "row of the Hessian": lambda f: lambda x: sg.jacobian(sg.grad(f))(x)[0],
    "Hessian times x": lambda f: lambda x: sg.hessian(f)(x) @ x,
    "product of the Hessian's entries": lambda f: lambda x: np.prod(sg.jacobian(sg.grad(f))(x)),
}


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("of", OF_SECOND_DERIVATIVES)
@pytest.mark.parametrize("name", LOOPS)
def test_jacobians_of_second_derivatives_of_loops(name, of, mode):
    function, x, step = OF_SECOND_DERIVATIVES[of](LOOPS[name]), np.array([0.4, 0.8, 0.6]), 1e-5
    lines = [(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(sg.jacobian(function, mode=mode)(x), np.stack(lines, -1), rtol=1e-5, atol=1e-6)

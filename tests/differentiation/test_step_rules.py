"""Declared rules inside of a step: against the same calls in a loop of Python's."""

import numpy as np
import pytest

import symgrad as sg
from symgrad import nn
from symgrad.errors import TracingError

X = np.array([0.3, -0.2, 0.7])


class Product(nn.Cell):
    """Its bprop is not its derivative, so that it is seen to be asked."""

    def construct(self, a, b):
        return np.sin(a) * b

    def bprop(self, a, b, out, dout):
        return dout * np.cos(a) * b * 2, dout * np.sin(a) + 0.5 * dout * out


sine = sg.custom(np.sin, vjp=lambda p, ct: ct * np.cos(p[0]), shape=lambda s: s, name="sine", vectorized=True)
exponential = sg.custom(np.exp, vjp=lambda p, ct, out: ct * out, shape=lambda s: s, name="e", vectorized=True)
unshaped = sg.custom(lambda x: np.exp(x) / 2, vjp=lambda p, ct: ct * np.exp(p[0]) / 2, name="unshaped")
counted = sg.custom(
    lambda x, k: np.tanh(x) * k,
    jvp=lambda p, t: (1 - np.tanh(p[0]) ** 2) * t[0] * p[1],
    shape=lambda s, k: s,
    name="counted",
    vectorized=True,
)
several = sg.custom(
    lambda x, y: (x * y, x + y),
    vjp=lambda p, ct: (ct[0] * p[1] + ct[1], ct[0] * p[0] + ct[1]),
    shape=lambda a, b: ((), ()),
    name="several",
    vectorized=True,
)
product = Product()

STEPS = {
    "vjp": lambda i, c, v: sine(c * v) + v,
    "out": lambda i, c, v: exponential(c * v) * v,
    "no shape": lambda i, c, v: unshaped(c * v) + c,
    "jvp, with an integer that differs": lambda i, c, v: counted(c * v, i) + v,
    "several results": lambda i, c, v: several(c, v)[0] + several(c * v, v)[1] * 0.3,
    "bprop": lambda i, c, v: product(c, v) + c,
    "examples": lambda i, c, v: np.sum(sg.vmap(lambda q: sine(q * c) * v)(np.array([1.0, 2.0]))),
    "a derivative": lambda i, c, v: sg.grad(lambda q: sine(q * v) * q)(c),
}
WAYS = {
    "value": lambda f: sg.symbolic(f),
    "reverse": lambda f: sg.grad(f),
    "forward": lambda f: sg.grad(f, mode="forward"),
    "jacobian": lambda f: sg.jacobian(f),
    "hessian": lambda f: sg.hessian(f),
    "gradient of a gradient": lambda f: sg.grad(lambda x: np.sum(sg.grad(f)(x) ** 2)),
}


def rolled(step, checkpoint=None):
    def f(x):
        counters = np.arange(3)
        return sg.scan(lambda c, v: (step(v[0], c, v[1]), None), 0.5, (counters, x), checkpoint=checkpoint)[0]

    return f


def unrolled(step):
    def f(x):
        c = 0.5
        for i in range(3):
            c = step(np.int64(i), c, x[i])
        return c

    return f


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", STEPS)
def test_the_rule_is_that_of_each_step(name, way):
    derive, step = WAYS[way], STEPS[name]
    want = derive(unrolled(step))(X)
    for checkpoint in (None, 1):
        np.testing.assert_allclose(derive(rolled(step, checkpoint))(X), want, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", [n for n in STEPS if n != "no shape"])
def test_examples_of_loops(name):
    rows = np.stack([X, X / 2])
    want = [sg.grad(unrolled(STEPS[name]))(row) for row in rows]
    np.testing.assert_allclose(sg.vmap(sg.grad(rolled(STEPS[name])))(rows), want, rtol=1e-12, atol=1e-13)


def test_a_rule_that_reads_what_is_no_argument():
    def f(x):
        total = np.sum(x)
        by = sg.custom(lambda q: q * 2.0, vjp=lambda p, ct: ct * total, shape=lambda s: s, name="by")
        return sg.scan(lambda c, v: (by(c) + v, None), 0.5, x)[0]

    with pytest.raises(TracingError, match=r"the vjp of by reads a traced value that is no argument"):
        sg.grad(f)(X)

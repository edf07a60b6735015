"""Products that leave loops."""

import numpy as np
import pytest
from random_scans import RandomLoop

import symgrad
from symgrad.kernels.kernel import lower
from symgrad.passes import loop_products
from symgrad.passes.loop_products import gathered_products
from symgrad.transforms.loops import scan

RNG = np.random.default_rng(2)
BEGUN = RNG.bit_generator.state
W, U, XS = RNG.normal(size=(20, 20)), RNG.normal(size=(16, 20)), RNG.normal(size=(30, 3, 16))


@pytest.fixture(autouse=True)
def _same_numbers():
    """Each test draws the same numbers, whichever ran before."""
    RNG.bit_generator.state = BEGUN


def gathered(function, *arrays):
    """The program of a function with its products gathered, whose values stay what they were."""
    program = symgrad.trace(function, *arrays)
    made = gathered_products(program)
    for got, want in zip(lower(made, "numpy")(*arrays), lower(program, "numpy")(*arrays), strict=True):
        assert np.asarray(got).dtype == np.asarray(want).dtype
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)
    return program, made


def operations(program):
    """How often each operation is in a program and in the bodies of its loops."""
    loops = [n.params[0].body for n in program.nodes if n.primitive.name == "scan"]
    return [program.operation_counts()["einsum"], *(body.operation_counts()["einsum"] for body in loops)]


@pytest.mark.parametrize("reverse", [False, True])
def test_what_each_step_multiplies_its_element_by(reverse):
    def f(w, u, xs):
        return scan(lambda h, x: (np.tanh(h @ w + x @ u), 2.0 * h), np.zeros((3, 20)), xs, reverse=reverse)

    before, after = gathered(f, W * 0.1, U, XS)
    assert [operations(before), operations(after)] == [[0, 2], [1, 1]]
    (loop,) = [n.params[0] for n in after.nodes if n.primitive.name == "scan"]
    assert len(loop.inputs) == 3  # the element itself and the constant are read no more


def test_what_each_step_keeps():
    def f(w, v, xs):
        def step(h, x):
            h = np.tanh(h @ w + x)
            return h, (h @ v, np.sum(h), 2 * h @ w)

        return scan(step, np.zeros((3, 20)), xs)

    before, after = gathered(f, W * 0.1, U.T, RNG.normal(size=(30, 3, 20)))
    assert [operations(before)[1], operations(after)[1]] == [4, 2]  # a sum stays, and what is carried
    (loop,) = [n.params[0] for n in after.nodes if n.primitive.name == "scan"]
    assert len(loop.inputs) == 3


def test_what_is_read_by_the_next_step_too_stays():
    def f(w, xs):
        def step(h, x):
            made = h @ w
            return np.tanh(made + x), made

        return scan(step, np.zeros((3, 20)), xs)

    before, after = gathered(f, W * 0.1, RNG.normal(size=(30, 3, 20)))
    assert after is before


def test_gradients_by_elements_and_constants():
    def f(w, u, v, xs):
        def step(h, x):
            h = np.tanh(h @ w + x @ u)
            return h, h @ v

        return scan(step, np.zeros((3, 20)), xs)

    g = symgrad.value_and_grad(lambda *a: np.sum(np.sin(f(*a)[1])), (0, 1, 2, 3), backend="numpy")
    arrays = [W * 0.1, U, U.T, XS]
    program = g.kernel(*arrays).program
    made = gathered_products(program)
    for got, want in zip(lower(made, "numpy")(*arrays), lower(program, "numpy")(*arrays), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)
    left = [operations(p)[1:] for p in (program, made)]
    assert sum(left[0]) > sum(left[1])
    assert max(left[1]) <= 2


def test_what_is_read_besides_stays_an_element():
    def f(u, xs):
        return scan(lambda h, x: (h + x @ u, np.sum(x) * h), np.zeros((3, 20)), xs)

    _, after = gathered(f, U, XS)
    (loop,) = [n.params[0] for n in after.nodes if n.primitive.name == "scan"]
    assert (loop.elements, len(loop.inputs)) == (2, 3)


@pytest.mark.parametrize(
    "step",
    [
        lambda h, x, u, w: h @ w,  # reads what is carried
        lambda h, x, u, w: np.einsum("bi,io,->bo", x, u, h[0, 0]),
        lambda h, x, u, w: np.sin(x) @ u,
        lambda h, x, u, w: x[:, :1] * u[0],  # costs no more than it makes
    ],
)
def test_what_stays(step):
    def f(w, u, xs):
        return scan(lambda h, x: (np.tanh(step(h, x, u, w)), None), np.zeros((3, 20)), xs)

    before, after = gathered(f, W, U, XS)
    assert after is before


def test_lengths_without_steps():
    gathered(lambda u, xs: scan(lambda h, x: (h + x @ u, x @ u), np.zeros((3, 20)), xs), U, XS[:0])


@pytest.mark.parametrize(
    "spec", ["bi,io->bo", "bi,io->ob", "bi,i->b", "bi,bi->", "bi,ij,jo->bo", "bi,io,bi->o", "b,io->bio", "bb,bo->o"]
)
def test_contractions(spec, monkeypatch):
    monkeypatch.setattr(loop_products, "_WORTH", 0)
    own = dict(zip("bijo", (3, 4, 5, 6), strict=True))
    shapes = [tuple(own[c] for c in part) for part in spec.partition("->")[0].split(",")]
    arrays = [RNG.normal(size=(7, *shapes[0])), *(RNG.normal(size=s) for s in shapes[1:])]

    def f(xs, *constants):
        def step(c, x):
            made = np.einsum(spec, x, *constants)
            return c * 0.5 + np.sum(np.sin(made)), (made, c)

        return scan(step, 0.0, xs)

    before, after = gathered(f, *arrays)
    assert after is not before

    def kept(xs, *constants):
        return scan(lambda c, x: (c * 0.9 + x, np.einsum(spec, np.sin(c), *constants)), xs[0], xs)

    before, after = gathered(kept, *arrays)
    assert after is not before


def test_random_loops(monkeypatch):
    monkeypatch.setattr(loop_products, "_WORTH", 0)
    for f in map(RandomLoop, range(700, 740)):
        if not f.single:
            gathered(f, *f.arrays)

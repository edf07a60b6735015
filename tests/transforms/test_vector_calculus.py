import math

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DtypeError, ShapeError, UnsupportedOperation
from symgrad.finite_differences import differences

RNG = np.random.default_rng(0)
A, X = RNG.normal(size=(4, 4)), RNG.normal(size=4)


def laplacians(fn, x):
    """The second differences of each output by each element, summed."""
    found = 0
    for k in range(x.size):
        e = np.zeros(x.size)
        e[k] = 1
        e = e.reshape(x.shape)
        found = found + differences(lambda x: [np.asarray(fn(x))], [x], [[e], [e]])[0][0]
    return found


FIELDS = {
    "a network": lambda x: np.sum(np.tanh(A @ np.tanh(A @ x))),
    "a vector": lambda x: np.tanh(A @ x) * x,
    "neighbours": lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2),
    "branches": lambda x: np.where(x > 0, x**2 * x[0], np.sin(x)),
    "a stable form": lambda x: np.abs(np.exp(1j * x) * x[0] + x) ** 2,
    "numbers alone": lambda x: x[0] * x[1] * x[2] * x[3],
    "a matrix": lambda x: np.linalg.slogdet(np.outer(x, x) + 5 * np.eye(4))[1],
    "linear": lambda x: A @ x,
    "a loop": lambda x: sg.fori_loop(0, 12, lambda i, c: np.sin(A @ c) + c, x),
}


@pytest.mark.parametrize("name", FIELDS)
def test_laplacian(name):
    fn = FIELDS[name]
    wanted = laplacians(sg.symbolic(fn) if name == "a loop" else fn, X)
    np.testing.assert_allclose(sg.laplacian(fn)(X), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("backend", [pytest.param("native", marks=pytest.mark.needs("native")), "numpy", "numexpr"])
def test_laplacian_on_every_backend(backend):
    X = RNG.normal(size=(3, 2))

    def fn(x):
        return np.exp(-np.sum(x**2)) * x[0]

    np.testing.assert_allclose(sg.laplacian(fn, backend=backend)(X), laplacians(fn, X), rtol=1e-6)


def test_laplacian_of_many_points():
    points = RNG.normal(size=(2000, 3))
    squares = np.sum(points**2, axis=1)
    made = sg.vmap(sg.laplacian(lambda x: np.exp(-x @ x)))(points)
    np.testing.assert_allclose(made, (4 * squares - 6) * np.exp(-squares), rtol=1e-12, atol=1e-14)


def test_laplacian_of_several_arguments_is_by_all_of_them():
    made = sg.laplacian(lambda x, y, t: x**2 * y**3 * t, (0, 1))
    assert made(2.0, 3.0, 5.0) == pytest.approx(5 * (2 * 27 + 4 * 18))


def test_laplacian_keeps_structure_and_dtype():
    made = sg.laplacian(lambda x: {"a": np.sum(x**3), "b": (x, 3)})(np.float32([1, 2]))
    assert made["a"] == 18
    assert made["a"].dtype == np.float32
    np.testing.assert_array_equal(made["b"][0], np.zeros(2, np.float32))


def test_laplacian_of_nothing_is_zero():
    assert sg.laplacian(lambda x: np.sum(x**2))(np.ones(0)) == 0
    assert sg.laplacian(lambda x: 3.0)(1.0) == 0


def test_laplacians_are_differentiated():
    np.testing.assert_allclose(sg.grad(sg.laplacian(lambda x: np.sum(x**4)))(X), 24 * X, rtol=1e-13)
    fn = sg.laplacian(sg.laplacian(lambda x: np.sum(x**2) ** 2))
    assert fn(X) == pytest.approx(8 * 4 * (4 + 2))  # ΔΔ|x|⁴ = 8n(n+2) in n dimensions


def test_laplacian_of_a_hessian_of_known_structure_sums_its_diagonal():
    program = sg.laplacian(FIELDS["neighbours"]).program(np.ones(50))
    assert max(math.prod(n.shape) for n in program.nodes) == 50


def test_laplacian_of_a_network_builds_no_hessian():
    program = sg.laplacian(lambda x, W: np.sum(np.tanh(np.tanh(x @ W) @ W))).program("n", "n n")
    assert sum(n.primitive.name == "einsum" and len(n.shape) == 2 for n in program.nodes) == 2  # W D and W D W


def test_laplacian_of_a_long_program_is_linear():
    def count(steps):
        def fn(x):
            for k in range(steps):
                x = np.sin(x) * np.sum(x) + (k + 1) * x
            return x

        return len(sg.laplacian(fn, backend="numpy").program(X).nodes)

    assert count(9) - count(6) == count(6) - count(3)


def test_laplacian_reads_as_a_formula():
    made = sg.laplacian(lambda x: np.sum(np.sin(x) * x))
    assert made.latex("n") == (
        r"\begin{aligned} \Delta f &= 2 \operatorname{sum}\left(\cos\left(x\right)\right) - x^\top \sin\left(x\right) "
        r"\end{aligned}"
    )


def test_laplacian_has_no_steps():
    with pytest.raises(UnsupportedOperation, match="no single sweep"):
        sg.laplacian(np.sin).steps(1.0)


@pytest.mark.parametrize(
    "field",
    [
        lambda x: np.tanh(A @ x),
        lambda x: A @ np.tanh(A @ x),
        lambda x: np.cumsum(x) * x[::-1] + np.sort(x),
        lambda x: np.roll(x, 1) * x,
        lambda x: np.linalg.inv(np.outer(x, x) + np.eye(4)) @ x,
        lambda x: 0 * x + 1,
    ],
)
def test_divergence(field):
    found = sum(
        differences(lambda x, k=k: [np.asarray(field(x)[k])], [X], [[np.eye(4)[k]]])[0][0] for k in range(X.size)
    )
    assert sg.divergence(field)(X) == pytest.approx(float(found), abs=1e-8)


def test_divergence_of_numbers_and_of_arrays():
    assert sg.divergence(lambda r: (r[0] ** 2, r[1] * r[0], r[2]))(np.ones(3)) == 4
    made = sg.divergence(lambda x, y, z: np.array([x * y, y * z, z * x]), (0, 1, 2))
    assert str(made.closed_form(1.0, 2.0, 3.0)) == "x + y + z"
    made = sg.divergence(lambda X: X @ X.T @ X)
    step, M = 1e-6, RNG.normal(size=(2, 2))
    wanted = 0
    for place in np.ndindex(2, 2):
        E = np.zeros((2, 2))
        E[place] = step
        wanted += ((M + E) @ (M + E).T @ (M + E) - (M - E) @ (M - E).T @ (M - E))[place] / (2 * step)
    assert made(M) == pytest.approx(wanted, rel=1e-8)


def test_divergence_computes_the_diagonal_alone():
    made = sg.divergence(lambda x, A: np.tanh(A @ x))
    assert all(len(n.shape) < 2 or n.primitive.name == "input" for n in made.program("n", "n n").nodes)
    assert r"\operatorname{diagonal}\left(A\right)^\top" in made.latex("n", "n n")
    made = sg.divergence(lambda x, A: A @ np.tanh(A @ x))
    assert all(len(n.shape) < 2 or n.primitive.name == "input" for n in made.program("n", "n n").nodes)


def test_curl():
    def swirl(r):
        return np.cross(np.array([1.0, 2.0, 3.0]), r) * np.exp(-r @ r)

    r = np.array([0.3, -0.2, 0.5])
    J = np.stack([differences(lambda r: [swirl(r)], [r], [[e]])[0][0] for e in np.eye(3)], axis=1)
    wanted = [J[2, 1] - J[1, 2], J[0, 2] - J[2, 0], J[1, 0] - J[0, 1]]
    np.testing.assert_allclose(sg.curl(swirl)(r), np.asarray(wanted, float), rtol=1e-9)
    np.testing.assert_allclose(sg.curl(sg.grad(lambda r: np.exp(-r @ r) * r[0]))(r), 0, atol=1e-15)


def test_curl_in_the_plane():
    made = sg.curl(lambda x, y: (-y * x, x), (0, 1))
    assert made(1.0, 2.0) == 2.0
    assert made.latex(1.0, 2.0) == r"\begin{aligned} \nabla\times f &= x + 1 \end{aligned}"
    assert sg.curl(lambda r: np.array([-r[1], r[0]]))(np.ones(2)) == 2.0


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: sg.divergence(lambda x: x[:2])(X), ShapeError, "as many components"),
        (lambda: sg.curl(lambda x: x)(X), ShapeError, "2 or 3 components"),
        (lambda: sg.laplacian(np.abs)(X * 1j), DtypeError, "an argument is complex"),
        (lambda: sg.laplacian(np.abs)(np.arange(3)), DtypeError, "int64"),
        (lambda: sg.laplacian(np.abs, None), ArgumentError, "at least one argument"),
        (lambda: sg.laplacian(np.sin, 3)(1.0), ArgumentError, "out of range"),
    ],
)
def test_what_has_no_such_derivative(call, error, said):
    with pytest.raises(error, match=said):
        call()

"""Linear algebra where the rule tests cannot go: higher orders in high precision, stacks, singular matrices, dims.

The references are Gaussian elimination and Cholesky's recurrence in ``np.longdouble``, which NumPy's own
``linalg`` does not compute in, under finite differences.
"""

import itertools

import numpy as np
import pytest
from derived_programs import pullback, pushforward

import symgrad as sg
from symgrad.finite_differences import differences
from symgrad.kernels.kernel import lower

RNG = np.random.default_rng(11)


def eliminated(a, b):
    """The determinant of a and a⁻¹b, by elimination with row exchanges, in the dtype of a."""
    a, b = a.copy(), b.astype(a.dtype)
    determinant = a.dtype.type(1)
    for k in range(len(a)):
        pivot = k + int(np.argmax(abs(a[k:, k])))
        if pivot != k:
            a[[k, pivot]], b[[k, pivot]] = a[[pivot, k]], b[[pivot, k]]
            determinant = -determinant
        determinant = determinant * a[k, k]
        b[k], a[k] = b[k] / a[k, k], a[k] / a[k, k]
        for i in set(range(len(a))) - {k}:
            a[i], b[i] = a[i] - a[i, k] * a[k], b[i] - a[i, k] * b[k]
    return determinant, b


def stacked(function):
    """``function`` of one matrix, on stacks of them."""

    def on_stacks(a, *rest):
        if a.ndim == 2:
            return function(a, *rest)
        return np.stack([on_stacks(*each) for each in zip(a, *rest, strict=True)])

    return on_stacks


def elementary_cholesky(a):
    """The lower factor of the symmetric part of a, by Cholesky's recurrence."""
    a = (a + a.T) / 2
    factor = np.zeros_like(a)
    for i, j in itertools.combinations_with_replacement(range(len(a)), 2):
        rest = a[j, i] - factor[j, :i] @ factor[i, :i]
        factor[j, i] = np.sqrt(rest) if i == j else rest / factor[i, i]
    return factor


REFERENCE = {
    "inverse": stacked(lambda a: eliminated(a, np.eye(len(a)))[1]),
    "solve": stacked(lambda a, b: eliminated(a, b)[1]),
    "determinant": stacked(lambda a: eliminated(a, np.eye(len(a)))[0]),
    "log_determinant": stacked(lambda a: np.log(abs(eliminated(a, np.eye(len(a)))[0]))),
    "cholesky": stacked(elementary_cholesky),
    "upper": stacked(lambda a: elementary_cholesky(a).T),
}
FUNCTIONS = {
    "inverse": np.linalg.inv,
    "solve": np.linalg.solve,
    "determinant": np.linalg.det,
    "log_determinant": lambda a: np.linalg.slogdet(a).logabsdet,
    "cholesky": np.linalg.cholesky,
    "upper": lambda a: np.linalg.cholesky(a, upper=True),
}


def matrices(*shape):
    a = RNG.normal(size=shape)
    return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])


def general(*shape):
    return RNG.normal(size=shape) + 2 * np.eye(shape[-1])


POINTS = [
    ("inverse", (general(3, 3),)),
    ("inverse", (general(2, 2, 2),)),
    ("solve", (general(3, 3), RNG.normal(size=3))),
    ("solve", (general(3, 3), RNG.normal(size=(3, 2)))),
    ("solve", (general(2, 2, 2), RNG.normal(size=(2, 2, 1)))),
    ("determinant", (general(3, 3),)),
    ("determinant", (-general(2, 2, 2),)),
    ("log_determinant", (-general(3, 3),)),
    ("log_determinant", (general(2, 2, 2),)),
    ("cholesky", (matrices(3, 3),)),
    ("cholesky", (matrices(2, 2, 2),)),
    ("upper", (matrices(3, 3),)),
]
IDS = [f"{name}-{'-'.join(str(x.shape) for x in point)}" for name, point in POINTS]


def units(point, k):
    """The directions that change one element of argument ``k``."""
    for index in np.ndindex(point[k].shape):
        direction = [np.zeros(x.shape) for x in point]
        direction[k][index] = 1.0
        yield index, direction


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(("name", "point"), POINTS, ids=IDS)
def test_jacobian(name, point, mode):
    make = sg.jacfwd if mode == "forward" else sg.jacrev
    got = make(FUNCTIONS[name], tuple(range(len(point))))(*point)
    for k, block in enumerate(got):
        for index, direction in units(point, k):
            (want,), _, exact = differences(lambda *xs: (REFERENCE[name](*xs),), point, [direction])
            assert exact
            column = block[(..., *index)]
            assert np.max(abs(column - want)) <= 1e-10 * max(1.0, np.max(abs(want)))


@pytest.mark.parametrize(("name", "point"), POINTS, ids=IDS)
def test_hessian(name, point):
    rows = np.asarray(FUNCTIONS[name](*point))
    weights = RNG.normal(size=rows.shape)

    def total(*xs):
        return np.sum(weights * FUNCTIONS[name](*xs))

    def reference(*xs):
        return (np.sum(weights.astype(np.longdouble) * REFERENCE[name](*xs)),)

    got = sg.hessian(total, tuple(range(len(point))))(*point)
    for i, j in itertools.product(range(len(point)), repeat=2):
        for (p, along), (q, across) in itertools.product(units(point, i), units(point, j)):
            (want,), _, exact = differences(reference, point, [along, across])
            assert exact
            block = got[i][j]
            assert abs(block[(*p, *q)] - want) <= 1e-7 * max(1.0, abs(want))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(("name", "point"), POINTS, ids=IDS)
def test_jacobian_between_dense_maps(name, point, mode):
    """What arrives at the rule is an array with leading axes, no identity; its product with a tangent is a jvp."""
    rng = np.random.default_rng(5)  # of its own: what is drawn must not be nearly singular, whatever ran before
    before = [rng.normal(size=(x.size, x.size)) / 20 for x in point]
    rows = np.size(FUNCTIONS[name](*point))
    after = rng.normal(size=(2, 3, rows))

    def mapped(*xs):
        inner = [x + np.reshape(m @ np.ravel(np.sin(x)), x.shape) for m, x in zip(before, xs, strict=True)]
        if name in ("cholesky", "upper"):
            inner = [x + np.swapaxes(x, -1, -2) + 2 * np.eye(x.shape[-1]) for x in inner]
        return after @ np.ravel(FUNCTIONS[name](*inner))

    make = sg.jacfwd if mode == "forward" else sg.jacrev
    got = make(mapped, tuple(range(len(point))))(*point)
    for _ in range(3):
        tangents = [rng.normal(size=x.shape) for x in point]
        (want,), errors, _ = differences(lambda *xs: (mapped(*xs),), point, [tangents])
        product = sum(np.tensordot(j, t, t.ndim) for j, t in zip(got, tangents, strict=True))
        assert np.max(errors[0]) <= 1e-6 * max(1.0, np.max(abs(want)))
        assert np.max(abs(product - want)) <= 1e-6 * max(1.0, np.max(abs(want)))


def test_inverses_of_inverses_and_of_transposes_are_known():
    a = general(3, 3)
    for function, sign in (
        (lambda x: np.linalg.slogdet(np.linalg.inv(x))[1], -1),
        (lambda x: np.linalg.slogdet(x.T)[1], 1),
        (lambda x: np.linalg.slogdet(np.linalg.inv(x.T))[1], -1),
    ):
        gradient = sg.grad(function)
        assert [n.primitive.name for n in gradient.program(a).nodes].count("inverse") == 1
        for index, direction in units([a], 0):
            (want,), _, exact = differences(lambda x: (REFERENCE["log_determinant"](x),), [a], [direction])
            assert exact
            assert gradient(a)[index] == pytest.approx(float(sign * want), rel=1e-10, abs=1e-10)


def test_gradients_read_as_they_are_written():
    a, b = np.ones(3), np.arange(3.0)
    logdet = sg.grad(lambda X: np.linalg.slogdet(X)[1]).program(np.eye(3))
    assert [n.primitive.name for n in logdet.bindings] == ["inverse", "einsum"]
    assert logdet.bindings[1].primitive.spell(logdet.bindings[1]) == "einsum[ij->ji]"
    form = sg.grad(lambda X: a @ np.linalg.inv(X) @ b).program(np.eye(3))
    assert [n.primitive.name for n in form.bindings] == ["inverse", "einsum"]
    hessian = sg.hessian(lambda X: np.linalg.slogdet(X)[1]).program(np.eye(3))
    assert [n.primitive.name for n in hessian.bindings] == ["inverse", "einsum"]


def test_a_gradient_through_solve_inverts_nothing():
    program = sg.grad(lambda A, b: np.sum(np.linalg.solve(A, b) ** 2), (0, 1)).program(np.eye(3), np.ones(3))
    assert [n.primitive.name for n in program.bindings].count("solve") == 2
    assert "inverse" not in [n.primitive.name for n in program.bindings]


def test_an_identity_is_never_solved_for():
    source = sg.jacobian(np.linalg.solve, 1).kernel(np.eye(3), np.ones(3)).source
    assert "inv" in source
    assert "eye" not in source
    assert "embed" not in source


SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


@pytest.mark.parametrize("name", ["inverse", "solve"])
def test_a_singular_matrix_has_no_value(name):
    args = (SINGULAR,) if name == "inverse" else (SINGULAR, np.ones(2))
    with pytest.raises(np.linalg.LinAlgError):
        sg.symbolic(FUNCTIONS[name])(*args)
    with pytest.raises(np.linalg.LinAlgError):
        sg.grad(FUNCTIONS[name])(*args)


def test_log_det_of_a_singular_matrix_has_no_gradient():
    with np.errstate(all="ignore"):
        assert sg.symbolic(FUNCTIONS["log_determinant"])(SINGULAR) == -np.inf
    for args in (SINGULAR, np.stack([np.eye(2), SINGULAR])):
        with pytest.raises(np.linalg.LinAlgError):
            sg.grad(FUNCTIONS["log_determinant"])(args)


def of_rank(n, rank, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, (n, rank)).astype(float) @ rng.integers(-3, 4, (rank, n)).astype(float)


#: of whole numbers, so that they are singular to the bit, or by rounding alone
SINGULAR_MATRICES = {
    "rank 1 of 2": SINGULAR,
    "rank 2 of 3": of_rank(3, 2),
    "rank 4 of 5": of_rank(5, 4, 2),
    "rank 1 of 4": of_rank(4, 1),
    "zeros": np.zeros((3, 3)),
    "one zero": np.zeros((1, 1)),
    "rounded": np.array([[0.1, 0.2], [0.3, 0.6]]),
    "stack": np.stack([np.eye(2), SINGULAR, np.zeros((2, 2))]),
    "not singular": np.diag([2.0, 3.0, 0.5]) + 0.1,
}


@pytest.mark.parametrize("name", SINGULAR_MATRICES)
@pytest.mark.parametrize("backend", ["numpy", "auto", "numexpr", "native"])
def test_det_of_a_singular_matrix_has_a_derivative(name, backend):
    a = SINGULAR_MATRICES[name]
    n = a.shape[-1]

    def function(a):
        return np.sum(np.linalg.det(a) * 2.0)

    want = np.zeros(a.shape)
    for index in np.ndindex(a.shape):  # a complex step is exact: the determinant is a polynomial
        moved = a.astype(complex)
        moved[index] += 1e-30j
        want[index] = 2.0 * np.sum(np.linalg.det(moved)).imag / 1e-30
    scale = 1e-11 * max(1.0, np.max(np.abs(a))) ** (n - 1)
    v = np.random.default_rng(1).normal(size=a.shape)
    np.testing.assert_allclose(sg.grad(function, backend=backend)(a), want, atol=scale)
    np.testing.assert_allclose(sg.jvp(function, (a,), (v,))[1], np.sum(want * v), atol=10 * scale)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(sg.jacobian(function, mode=mode, backend=backend)(a), want, atol=scale)


def derivative_of_det(a, order):
    """By ``order`` matrices, from differences: exact, since a determinant is linear in each element."""
    if a.ndim > 2:
        return np.stack([derivative_of_det(own, order) for own in a])
    units = np.eye(a.size).reshape(*a.shape, *a.shape)
    made = np.zeros(a.shape * order)
    for index in np.ndindex(made.shape):
        along = [units[index[2 * k], index[2 * k + 1]] for k in range(order)]
        for signs in itertools.product((1, -1), repeat=order):
            moved = a + sum(sign * unit for sign, unit in zip(signs, along, strict=True))
            made[index] += np.prod(signs) * np.linalg.det(moved) / 2**order
    return made


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SINGULAR_MATRICES)
def test_det_of_a_singular_matrix_has_a_second_derivative(name, dtype):
    a = SINGULAR_MATRICES[name]
    n, want = a.shape[-1], derivative_of_det(a, 2)
    scale = (1e-12 if dtype is np.float64 else 1e-4) * max(1.0, np.max(np.abs(a))) ** n

    def close(got, wanted):
        assert got.dtype == dtype
        np.testing.assert_allclose(got, wanted, atol=scale)

    a = a.astype(dtype)
    whole = want if a.ndim == 2 else np.einsum("kabcd,kl->kablcd", want, np.eye(len(a)))
    v = np.random.default_rng(1).normal(size=a.shape).astype(dtype)
    along = np.einsum("...abcd,...cd->...ab", want, v)

    def total(a):
        return np.sum(np.linalg.det(a))

    for backend in ("numpy", "auto", "numexpr", "native"):
        close(sg.hessian(total, backend=backend)(a), whole)
        close(sg.grad(lambda a: np.sum(sg.grad(total)(a) * v), backend=backend)(a), along)
    for outer, inner in itertools.product((sg.jacfwd, sg.jacrev), repeat=2):
        close(outer(inner(total))(a), whole)
    close(sg.jvp(sg.grad(total), (a,), (v,))[1], along)
    close(sg.hvp(total, a, v), along)
    if a.ndim > 2:
        close(sg.vmap(sg.hessian(np.linalg.det))(a), want)
        close(sg.vmap(lambda a, v: sg.jvp(sg.grad(np.linalg.det), (a,), (v,))[1])(a, v), along)
        close(
            sg.vmap(lambda v: sg.jvp(sg.grad(np.linalg.det), (a[1],), (v,))[1])(v),
            np.einsum("abcd,kcd->kab", want[1], v),
        )


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)])
def test_the_rule_of_det_holds_at_singular_matrices(check_rule, shape):
    """No case of its registry: exports write the inverse."""

    def of_rank_two(x):
        return np.linalg.det(x[..., :, :-1] @ x[..., :-1, :] / 9)

    check_rule(of_rank_two, [np.random.default_rng(7).uniform(-3, 3, shape)])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_derivatives_of_det_of_every_rank(n):
    for rank in range(n + 1):
        a = of_rank(n, rank, seed=n)
        scale = 1e-12 * max(1.0, np.max(np.abs(a))) ** n
        np.testing.assert_allclose(sg.grad(np.linalg.det)(a), derivative_of_det(a, 1), atol=scale)
        np.testing.assert_allclose(sg.hessian(np.linalg.det)(a), derivative_of_det(a, 2), atol=scale)


def test_further_derivatives_of_det():
    rng = np.random.default_rng(5)
    for a in (of_rank(3, 1), of_rank(3, 2), np.zeros((3, 3)), rng.normal(size=(3, 3))):
        want = derivative_of_det(a, 3)
        u, v = rng.normal(size=(2, 3, 3))

        def along(a, u=u):
            return np.sum(sg.grad(np.linalg.det)(a) * u)

        def twice(a, v=v, along=along):
            return np.sum(sg.grad(along)(a) * v)

        both = np.einsum("abcdef,cd,ef->ab", want, u, v)
        np.testing.assert_allclose(sg.grad(twice)(a), both, atol=1e-9)
        np.testing.assert_allclose(sg.jacfwd(twice)(a), both, atol=1e-9)
        np.testing.assert_allclose(sg.jacobian(sg.hessian(np.linalg.det))(a), want, atol=1e-9)
        np.testing.assert_allclose(sg.hessian(along)(a), np.einsum("abcdef,cd->abef", want, u), atol=1e-9)
        np.testing.assert_allclose(sg.jacrev(sg.grad(along))(a), np.einsum("abcdef,cd->abef", want, u), atol=1e-9)
        hessians = sg.jvp(sg.hessian(np.linalg.det), (a,), (u,))[1]
        np.testing.assert_allclose(hessians, np.einsum("abcdef,ef->abcd", want, u), atol=1e-9)


def test_matrices_that_are_nearly_singular_lose_nothing():
    """With the inverse the second derivative would have no digit: both terms are of the size of det / ε²."""
    for off in (1e-6, 1e-12, 1e-16):
        a = of_rank(4, 3).astype(float)
        a[0, 0] += off
        want = derivative_of_det(a, 2)
        np.testing.assert_allclose(sg.hessian(np.linalg.det)(a), want, atol=1e-11 * np.max(np.abs(want)))


def test_directions_of_more_axes_than_the_matrix():
    """A stack of directions through one matrix, differentiated by the matrix once more."""
    a, v = of_rank(3, 2), np.random.default_rng(3).normal(size=(2, 3, 3))

    def turned(a):
        return np.sum(sg.jacobian(lambda t: sg.grad(np.linalg.det)(a + t[0] * v[0] + t[1] * v[1]))(np.zeros(2)) ** 2)

    sides = np.einsum("abcd,kcd->abk", derivative_of_det(a, 2), v)
    want = 2 * np.einsum("abk,abcdef,kcd->ef", sides, derivative_of_det(a, 3), v)
    for make in (sg.grad, sg.jacfwd):
        np.testing.assert_allclose(make(turned)(a), want, atol=1e-9)


def test_formulas_of_the_derivatives_of_det_have_its_inverse():
    gradient, hessian = sg.grad(np.linalg.det), sg.hessian(np.linalg.det)
    assert [n.primitive.name for n in gradient.program(np.eye(3)).bindings] == ["determinant", "inverse", "einsum"]
    names = {n.primitive.name for n in hessian.program(np.eye(3)).bindings}
    assert names == {"determinant", "inverse", "einsum", "add"}
    assert "cofactors" in hessian.kernel(np.eye(3)).source
    assert "inv" not in hessian.kernel(np.eye(3)).source


def test_loaded_derivatives_of_det_are_defined_where_they_were(tmp_path):
    for made in (sg.grad(np.linalg.det), sg.hessian(np.linalg.det)):
        made.export("json", np.eye(2), path=tmp_path / "made.json")
        loaded = sg.load(tmp_path / "made.json")
        np.testing.assert_array_equal(loaded(SINGULAR), made(SINGULAR))
        np.testing.assert_allclose(sg.jacobian(loaded)(SINGULAR), sg.jacobian(made)(SINGULAR), atol=1e-12)


def test_det_of_a_singular_matrix_of_what_is_no_number():
    assert np.all(np.isnan(sg.grad(np.linalg.det)(np.full((2, 2), np.nan))))
    named = sg.grad(sg.named(np.linalg.det, a="n n"))
    np.testing.assert_allclose(named(SINGULAR), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-14)
    got = sg.grad(np.linalg.det)(SINGULAR.astype(np.float32))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, [[4.0, -2.0], [-2.0, 1.0]], atol=1e-5)


def test_an_indefinite_matrix_has_no_factor():
    with pytest.raises(np.linalg.LinAlgError):
        sg.grad(np.linalg.cholesky)(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_the_derivative_of_a_cholesky_factor_is_symmetric():
    gradient = sg.grad(lambda a: np.sum(np.linalg.cholesky(a) ** 3))(matrices(3, 3))
    np.testing.assert_array_equal(gradient, gradient.T)
    tangent = RNG.normal(size=(3, 3))
    a = matrices(3, 3)
    got = sg.jvp(np.linalg.cholesky, a, tangent)[1]
    same = sg.jvp(np.linalg.cholesky, a, (tangent + tangent.T) / 2)[1]
    np.testing.assert_allclose(got, same, rtol=1e-13, atol=1e-13)
    assert np.all(np.triu(got, 1) == 0)


def test_the_sign_is_flat():
    a = -np.eye(3)
    assert sg.symbolic(lambda x: np.linalg.slogdet(x).sign)(a) == -1
    assert np.all(sg.grad(lambda x: np.linalg.slogdet(x).sign * np.sum(x))(a) == -1)


def test_matrices_without_rows():
    a = np.zeros((0, 0))
    assert sg.grad(np.linalg.det)(a).shape == (0, 0)
    assert sg.jacobian(np.linalg.inv)(a).shape == (0, 0, 0, 0)
    assert sg.grad(np.linalg.cholesky)(np.zeros((2, 0, 0))).shape == (2, 0, 0)


@pytest.mark.parametrize(
    ("function", "dims", "point"),
    [
        (np.linalg.inv, ("n n",), (general(3, 3),)),
        (np.linalg.cholesky, ("s n n",), (matrices(2, 3, 3),)),
        (FUNCTIONS["log_determinant"], ("n n",), (general(3, 3),)),
        (np.linalg.solve, ("n n", "n"), (general(3, 3), RNG.normal(size=3))),
        (np.linalg.solve, ("s n n", "s n m"), (general(2, 3, 3), RNG.normal(size=(2, 3, 4)))),
    ],
)
def test_named_dims(function, dims, point):
    ct = RNG.normal(size=np.shape(function(*point)))
    tangents = tuple(RNG.normal(size=x.shape) for x in point)
    for derive, extra in ((pullback, (ct,)), (pushforward, tangents)):
        named = lower(derive(sg.trace(function, *dims)), "numpy")(*point, *extra)
        concrete = lower(derive(sg.trace(function, *point)), "numpy")(*point, *extra)
        for a, b in zip(named, concrete, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)

"""Complex numbers at the door: which derivative is given, of what, and what is refused."""

import contextlib
import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DtypeError

RNG = np.random.default_rng(5)
Z = RNG.normal(size=3) + 1j * RNG.normal(size=3)
W = RNG.normal(size=2) + 1j * RNG.normal(size=2)
A = RNG.normal(size=(2, 3)) + 1j * RNG.normal(size=(2, 3))
BACKENDS = ["numpy", "numexpr", pytest.param("native", marks=pytest.mark.needs("native"))]

REAL_VALUED = {
    "square of the absolute value": lambda z: np.sum(np.abs(z) ** 2),
    "absolute value": lambda z: np.sum(np.abs(np.sin(z))),
    "real part": lambda z: np.sum(np.real(z * z)),
    "imaginary part": lambda z: np.sum((np.exp(z) * 2j).imag),
    "angle": lambda z: np.sum(np.angle(z) * np.array([1.0, -2.0, 0.5])),
    "conjugate": lambda z: np.sum((z * z.conj() * np.conj(z)).real),
    "inner product": lambda z: np.vdot(z, z**2).real,
    "matrix": lambda z: np.linalg.norm(A @ z),
    "direction": lambda z: np.sum(np.sign(z).real),
    "power": lambda z: np.sum((z**2.5 + 2**z + z ** (1 + 1j)).imag),
    "logarithm": lambda z: np.sum(np.log(z).real * np.sqrt(z).imag),
    "solve": lambda z: np.abs(np.linalg.solve(np.eye(3) * 3 + np.outer(z, z), z)[0]),
    "determinant": lambda z: np.abs(np.linalg.det(np.eye(3) + np.outer(z, np.conj(z)))),
    "gather and where": lambda z: np.sum(np.abs(np.where(z.real > 0, z[::-1], z[[0, 0, 1]] * 1j))),
    "written parts": lambda z: written(z),
    "variance": np.var,
}


def written(z):
    y = z * 1.0
    y.real[0] = y.imag[1] * 2
    y.imag = y.imag + y.real
    y[2] = 1j * y[0]
    return np.sum(np.abs(y) ** 2)


def differences(f, z, step=1e-6):
    """``∂f/∂Re + i ∂f/∂Im`` by central differences of the plain function."""
    gradient = np.zeros(z.shape, complex)
    for place in np.ndindex(z.shape):
        for direction in (1, 1j):
            up, down = z.copy(), z.copy()
            up[place] += step * direction
            down[place] -= step * direction
            gradient[place] += direction * (f(up) - f(down)) / (2 * step)
    return gradient


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", REAL_VALUED)
def test_the_gradient_of_a_real_function_is_by_both_parts(name, backend):
    f = REAL_VALUED[name]
    value, gradient = sg.value_and_grad(f, backend=backend)(Z)
    np.testing.assert_allclose(value, f(Z), rtol=1e-12)
    np.testing.assert_allclose(gradient, differences(f, Z), rtol=1e-6, atol=1e-8)
    assert gradient.dtype == complex


@pytest.mark.parametrize("name", REAL_VALUED)
def test_forward_mode_gives_the_same(name):
    f = REAL_VALUED[name]
    np.testing.assert_allclose(sg.grad(f, mode="forward")(Z), sg.grad(f)(Z), rtol=1e-10, atol=1e-12)


def test_large_arrays():
    z = RNG.normal(size=100_000) + 1j * RNG.normal(size=100_000)
    found = sg.grad(lambda z: np.sum(np.abs(np.exp(z) * np.conj(z) + 1j) ** 2))(z)
    places = [0, 4_321, 99_999]
    wanted = differences(lambda z: np.sum(np.abs(np.exp(z) * np.conj(z) + 1j) ** 2), z[places])
    np.testing.assert_allclose(found[places], wanted, rtol=1e-5)


def test_single_precision_stays_single():
    value, gradient = sg.value_and_grad(lambda z: np.sum(np.abs(z * 2j) ** 2))(Z.astype(np.complex64))
    assert (value.dtype, gradient.dtype) == (np.float32, np.complex64)
    np.testing.assert_allclose(gradient, 8 * Z, rtol=1e-5)


def test_a_real_argument_beside_a_complex_one():

    def f(x, z):
        return np.sum(np.abs(np.exp(1j * x) * z - x) ** 2)

    by_x, by_z = sg.grad(f, (0, 1))(Z.real, Z)
    assert (by_x.dtype, by_z.dtype) == (float, complex)
    np.testing.assert_allclose(by_x, differences(lambda x: f(x.real, Z), Z.real + 0j).real, rtol=1e-6)
    np.testing.assert_allclose(by_z, differences(lambda z: f(Z.real, z), Z), rtol=1e-6)


def test_products_are_linear_over_the_reals():
    def f(z):
        return np.conj(z) * z**2

    out, pushed = sg.jvp(f, Z, 1j * Z)
    step = 1e-6
    np.testing.assert_allclose(out, f(Z))
    np.testing.assert_allclose(pushed, (f(Z + step * 1j * Z) - f(Z - step * 1j * Z)) / (2 * step), rtol=1e-6)


def test_the_pullback_of_a_matrix_is_its_adjoint():
    _, pullback = sg.vjp(lambda z: A @ z, Z)
    np.testing.assert_allclose(pullback(W)[0], A.conj().T @ W)
    weighed = sg.GradOperation(sens_param=True)(lambda z: A @ z)
    np.testing.assert_allclose(weighed(Z, W), A.conj().T @ W)


def test_the_hessian_product_is_the_derivative_of_the_gradient():
    f, v, step = REAL_VALUED["conjugate"], RNG.normal(size=3) * (1 + 0.3j), 1e-5
    wanted = (differences(f, Z + step * v, 1e-4) - differences(f, Z - step * v, 1e-4)) / (2 * step)
    np.testing.assert_allclose(sg.hvp(f, Z, v), wanted, rtol=1e-4, atol=1e-5)


def test_jacobians_by_real_and_of_real():
    by_real = sg.jacobian(lambda x: A @ np.exp(1j * x))
    np.testing.assert_allclose(by_real(Z.real), A * 1j * np.exp(1j * Z.real))
    of_real = sg.jacobian(lambda z: np.abs(A @ z) ** 2)
    rows = [differences(lambda z, k=k: (np.abs(A @ z) ** 2)[k], Z) for k in range(2)]
    np.testing.assert_allclose(of_real(Z), rows, rtol=1e-6)
    sparse = sg.jacobian(lambda x: np.exp(1j * x) * x, sparse=True)(Z.real)
    np.testing.assert_allclose(sparse.toarray(), np.diag(np.exp(1j * Z.real) * (1 + 1j * Z.real)))


def test_holomorphic_functions_have_complex_derivatives():
    np.testing.assert_allclose(sg.grad(lambda z: np.sum(np.exp(z)), holomorphic=True)(Z), np.exp(Z))
    for mode in ("forward", "reverse"):
        jacobian = sg.jacobian(lambda z: A @ np.exp(z), holomorphic=True, mode=mode)
        np.testing.assert_allclose(jacobian(Z), A * np.exp(Z))


def test_second_order_of_real_arguments_through_complex_numbers():
    def f(x):
        return np.sum(np.abs(np.exp(1j * x[::-1]) * x + 1) ** 2)

    x, step = Z.real.copy(), 1e-5
    wanted = [(sg.grad(f)(x + step * e) - sg.grad(f)(x - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(sg.hessian(f)(x), wanted, rtol=1e-6, atol=1e-8)


def looped(z):
    x = z * 0
    total = 0.0
    for _ in range(40):
        x = x * x * 0.3 + z * np.exp(-x) * 0.2
        total = total + np.abs(x)
    return np.sum(total)


def scanned(z):
    def step(x, _):
        x = x * x * 0.3 + z * np.exp(-x) * 0.2
        return x, np.abs(x)

    x, kept = sg.scan(step, z * 0, None, length=40)
    return np.sum(kept) + np.sum(x.imag)


def repeated(z):
    return np.sum(np.abs(sg.while_loop(lambda x: np.sum(np.abs(x)) < 50.3, lambda x: x * 1.5 + z, z)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("f", [looped, scanned, repeated])
def test_loops(f, backend):
    np.testing.assert_allclose(sg.grad(f, backend=backend)(Z), differences(f, Z), rtol=1e-5, atol=1e-7)


def test_many_examples():
    each = sg.vmap(sg.grad(lambda z, a: np.abs(np.exp(z) * a)), (0, None))
    np.testing.assert_allclose(each(Z, 2j), [sg.grad(lambda z: np.abs(np.exp(z) * 2j))(z) for z in Z])


def test_a_step_along_the_negative_gradient_goes_down():
    f = REAL_VALUED["matrix"]
    assert f(Z - 1e-3 * sg.grad(f)(Z)) < f(Z)


def norms(z):
    return np.sum(np.abs(z) ** 2 * np.real(z))


def test_formulas_have_parts_and_conjugates():
    gradient = sg.grad(norms)
    assert gradient.closed_form(Z, form="index").__str__() == "2*re(z[i])*z[i] + Abs(z[i])**2"
    assert str(sg.grad(lambda z: np.imag(2j * z)).closed_form(1j)) == "2"
    assert r"\overline{z}" in sg.symbolic(lambda z: np.conj(z) * 2j).latex(1j)


@pytest.mark.parametrize("format", ["python", "jax", "torch", "json"])
def test_exports(format, tmp_path):
    library = pytest.importorskip(format) if format in ("jax", "torch") else None
    path = tmp_path / f"made.{'json' if format == 'json' else 'py'}"
    source = sg.grad(norms).export(format, Z, path=path)
    assert source
    if format == "json":
        loaded = sg.load(path)
        np.testing.assert_array_equal(loaded(Z), sg.grad(norms, backend="numpy")(Z))
        return
    namespace = {"__name__": "made"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    with library.enable_x64(True) if format == "jax" else contextlib.nullcontext():
        made = np.asarray(namespace["grad_norms"](Z))
    np.testing.assert_allclose(made, sg.grad(norms)(Z), rtol=1e-12)
    assert "finite differences: off by" in path.read_text()


@pytest.mark.parametrize("format", ["c", "fortran", "julia", "numba", "onnx"])
def test_formats_without_complex_numbers_refuse_them(format):
    with pytest.raises(sg.errors.UnsupportedOperation, match="complex128"):
        sg.grad(norms).export(format, Z)


def test_pickles():
    gradient = sg.grad(norms)
    gradient(Z)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(gradient))(Z), gradient(Z))


REFUSED = {
    "a complex output": (lambda: sg.grad(np.exp)(Z), DtypeError, "output is complex"),
    "no one derivative": (lambda: sg.jacobian(np.exp)(Z), DtypeError, "no one derivative"),
    "not holomorphic": (
        lambda: sg.grad(lambda z: np.sum(z * np.conj(z)), holomorphic=True)(Z),
        DtypeError,
        "takes conjugate of what",
    ),
    "holomorphic of reals": (lambda: sg.grad(np.exp, holomorphic=True)(1.0), DtypeError, "complex outputs of complex"),
    "hessian": (lambda: sg.hessian(norms)(Z), DtypeError, r"f\(a \+ 1j \* b\)"),
    "a mode": (lambda: sg.jacobian(np.abs, mode="forward")(Z), ArgumentError, "in reverse mode"),
    "a complex direction": (lambda: sg.jvp(np.sin, 1.0, 1j), DtypeError, "v is complex"),
    "cut by astype": (lambda: sg.grad(lambda z: np.sum(z.astype(float)))(Z), sg.errors.TracingError, "write x.real"),
    "written into reals": (lambda: sg.grad(into_reals)(Z), sg.errors.SymgradError, "np.real"),
    "long": (lambda: sg.grad(norms)(Z.astype(np.clongdouble)), DtypeError, "complex64 or complex128"),
}


def into_reals(z):
    x = z.real * 1.0
    x[0] = z[1]
    return np.sum(x)


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
def test_the_complex_derivative_in_every_mode(mode):
    """Forward mode gave its conjugate."""
    z, w = np.array([1 + 2j, 0.5j]), np.array([1j, 2.0 + 0j])
    by_z, by_w = sg.grad(lambda z, w: np.sum(np.exp(z) * w), (0, 1), holomorphic=True, mode=mode)(z, w)
    h = 1e-6
    for e in np.eye(2):
        for step in (h, 1j * h):  # along either axis
            want = (np.sum(np.exp(z + step * e) * w) - np.sum(np.exp(z - step * e) * w)) / (2 * step)
            np.testing.assert_allclose(by_z @ e, want, rtol=1e-8)
    np.testing.assert_allclose(by_w, np.exp(z), rtol=1e-14)
    cube = sg.grad(sg.grad(lambda z: z**3, holomorphic=True, mode=mode), holomorphic=True, mode=mode)
    assert cube(1 + 2j) == pytest.approx(6 + 12j)

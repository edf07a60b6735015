"""Arrays of JAX, PyTorch and CuPy: arrays of the same library come out, with NumPy's values."""

from __future__ import annotations

import contextlib
import functools

import cupy_stand_in
import numpy as np
import pytest
from central_differences import slopes as central_slopes

import symgrad as sg
from symgrad.compiled import CompiledFunction
from symgrad.errors import BackendError, DtypeError, UnsupportedOperation

RNG = np.random.default_rng(0)
W, V, X = RNG.normal(size=(3, 4)), RNG.normal(size=4), RNG.normal(size=(5, 3))


class Library:
    """An array library as a test uses it."""

    def __init__(self, name):
        self.name = name
        self.module = pytest.importorskip("jax.numpy" if name == "jax" else name)
        kinds = {"jax": "ndarray", "torch": "Tensor", "cupy": "ndarray"}
        self.kind = getattr(self.module, kinds[name])

    def array(self, values, dtype=None):
        made = np.array(values, dtype)
        return self.module.from_numpy(made) if self.name == "torch" else self.module.asarray(made)

    def values(self, array):
        return np.asarray(array.get() if hasattr(array, "get") else array)

    def brief(self, array):
        return array.astype("bfloat16") if self.name == "jax" else array.bfloat16()

    def dtype(self, array):
        return str(array.dtype).removeprefix("torch.")


@pytest.fixture(params=["jax", "cupy", pytest.param("torch", marks=pytest.mark.needs("torch"))])
def library(request, monkeypatch):
    if request.param == "cupy":
        cupy_stand_in.install(monkeypatch)
    found = Library(request.param)
    with pytest.importorskip("jax").enable_x64(True) if found.name == "jax" else contextlib.nullcontext():
        yield found


def network(W, v, X):
    hidden = np.tanh(X @ W)
    return np.sum((hidden @ v) ** 2) / len(X)


def recurrent(W, v, X):
    h = np.zeros(4)
    for x in X:
        h = np.tanh(0.3 * h + x @ W) * v
    return np.sum(h)


def with_cases(W, v, X):
    z = np.maximum(X @ W, 0.1 * X @ W)
    picked = np.sort(z, axis=1)[:, [0, 2]]
    return np.sum(np.where(picked > 0, np.log1p(np.abs(picked)), picked)) + np.max(v) * np.linalg.norm(W)


@pytest.mark.parametrize("function", [network, recurrent, with_cases], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "derive",
    [
        functools.partial(sg.value_and_grad, grad_position=(0, 1)),
        functools.partial(sg.hessian, grad_position=1),
        functools.partial(sg.jacobian, grad_position=(0, 2)),
        sg.symbolic,
    ],
    ids=["value_and_grad", "hessian", "jacobian", "symbolic"],
)
def test_values_are_those_of_numpy(library, function, derive):
    expected = leaves(derive(function)(W, V, X))
    made = leaves(derive(function)(*map(library.array, (W, V, X))))
    for value, known in zip(made, expected, strict=True):
        assert isinstance(value, library.kind)
        assert tuple(value.shape) == np.shape(known)
        np.testing.assert_allclose(library.values(value), known, rtol=1e-10, atol=1e-12)


def leaves(result):
    return [x for part in result for x in leaves(part)] if isinstance(result, tuple) else [result]


def test_single_precision_stays_single(library):
    x = library.array([0.5, 1.5], np.float32)
    made = sg.grad(lambda x: np.sum(np.exp(x) * 2.0))(x)
    assert str(made.dtype).endswith("float32")
    np.testing.assert_allclose(library.values(made), 2 * np.exp([0.5, 1.5]), rtol=1e-6)


def test_the_backend_makes_arrays_of_the_library(library):
    made = sg.grad(network, backend=library.name)(W, V, X)
    assert isinstance(made, library.kind)
    np.testing.assert_allclose(library.values(made), sg.grad(network)(W, V, X), rtol=1e-10)


def test_nested_arguments_names_of_sizes_and_numbers(library):
    def loss(p, X, scale):
        return scale * np.sum((X @ p["w"]) ** 2)

    named = sg.named(loss, p={"w": "d"}, X="n d")
    gradient = sg.grad(named)
    for rows in (5, 2):
        made = gradient({"w": library.array(V[:3])}, library.array(X[:rows]), 0.5)
        assert isinstance(made["w"], library.kind)
        np.testing.assert_allclose(library.values(made["w"]), X[:rows].T @ (X[:rows] @ V[:3]), rtol=1e-12)


def test_weights_of_a_network(library):
    net = sg.nn.Dense(3, 2)
    net.weight.set_data(np.arange(6.0).reshape(2, 3))
    made = sg.grad(lambda x: net(x).sum())(library.array(X))
    assert isinstance(made, library.kind)
    np.testing.assert_allclose(library.values(made), np.broadcast_to([3.0, 5.0, 7.0], (5, 3)))


def test_a_branch_is_taken_anew_where_values_say_so(library):
    def branching(x):
        return np.sum(x**2) if x[0] > 0 else np.sum(x**3)

    gradient = sg.grad(branching)
    for values in ([1.0, 2.0], [-1.0, 2.0], [3.0, 2.0]):
        known = sg.grad(branching)(np.array(values))
        np.testing.assert_allclose(library.values(gradient(library.array(values))), known)


def test_a_signature_is_traced_once(library, monkeypatch):
    traced, own = [], CompiledFunction._new_entry
    monkeypatch.setattr(CompiledFunction, "_new_entry", lambda *args: traced.append(1) or own(*args))
    gradient = sg.grad(lambda x: np.sum(x * x))
    for scale in (1.0, 2.0, 3.0):
        gradient(library.array(scale * V))
    assert len(traced) == 1


def test_other_backends_and_sparse_results_are_refused(library):
    x = library.array(V)
    with pytest.raises(BackendError, match=f"an argument is an array of {library.name}"):
        sg.grad(lambda x: np.sum(x), backend="numpy")(x)
    with pytest.raises(UnsupportedOperation, match="sparse"):
        sg.jacobian(lambda x: x**2, sparse=True)(x)
    with pytest.raises(UnsupportedOperation, match="cannot be part of a function that is traced"):
        sg.grad(lambda w: np.sum(w * sg.grad(lambda v: np.sum(v**2))(x)))(V)


def test_jax_transforms_what_symgrad_derived():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        gradient = sg.grad(lambda x: np.sum(np.sin(x) * x**2))
        x = jax.numpy.linspace(0.1, 1.0, 4)
        expected = gradient(np.asarray(x))
        np.testing.assert_allclose(jax.jit(gradient)(x), expected, rtol=1e-12)
        np.testing.assert_allclose(jax.vmap(gradient)(jax.numpy.stack([x, x]))[1], expected, rtol=1e-12)
        second = jax.jvp(gradient, (x,), (jax.numpy.ones(4),))[1]
        np.testing.assert_allclose(second, sg.hessian(gradient.fn)(np.asarray(x)) @ np.ones(4), rtol=1e-10)
        with pytest.raises(UnsupportedOperation, match="branches on values"):
            jax.jit(sg.grad(lambda x: np.sum(x) if x[0] > 0 else np.sum(x**2)))(x)


def test_jax_without_double_precision_is_not_asked_for_it():
    jax = pytest.importorskip("jax")
    if jax.config.jax_enable_x64:
        pytest.skip("this process has it")
    with pytest.raises(DtypeError, match="jax_enable_x64"):
        sg.grad(network, backend="jax")(W, V, X)


@pytest.mark.parametrize("name", ["jax", "torch", "cupy"])
def test_a_library_that_is_not_there_is_named(name, monkeypatch):
    import importlib

    real = importlib.import_module

    def without(module, *rest):
        if module.split(".")[0] == name:
            raise ImportError(f"No module named {name!r}")
        return real(module, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(BackendError, match=f"needs {name}, which is not installed"):
        sg.grad(lambda x: np.sum(x * x), backend=name)(V)


def test_the_derivative_of_a_determinant(library):
    a = np.array([[2.0, 0.3], [0.1, 1.0]])
    made = sg.grad(np.linalg.det)(library.array(a, np.float64))
    np.testing.assert_allclose(library.values(made), [[1.0, -0.1], [-0.3, 2.0]], rtol=1e-12)


def test_bfloat16_goes_in_and_comes_out(library):
    if library.name == "cupy":
        pytest.skip("cupy has no name for it")
    derived = sg.value_and_grad(lambda w, X: np.mean(np.tanh(X @ w) ** 2 * np.array([1.0, 2.0], np.float16)))
    w, X = (library.array(v, np.float32) for v in ([0.5, -0.25], [[1.0, 2.0], [3.0, -1.0]]))
    want, slope = derived(w, X)
    brief = library.brief(w), library.brief(X)
    value, gradient = derived(*brief)
    assert library.dtype(value) == library.dtype(gradient) == "bfloat16"
    assert float(value) == pytest.approx(float(want), rel=2e-2)
    np.testing.assert_allclose([float(v) for v in gradient], library.values(slope), rtol=3e-2)
    assert library.dtype(derived(w, brief[1])[1]) == "float32"
    with pytest.raises(DtypeError, match="float16 and of bfloat16"):
        derived(library.array([0.5, -0.25], np.float16), brief[1])
    large = sg.grad(lambda x: np.sum(x**2) if np.max(x) > 1 else np.sum(x))
    assert float(large(library.brief(w))[0]) == 1.0
    with pytest.raises(
        UnsupportedOperation, match="have none yet"
    ):  # float16, as which it is traced, has no such value
        large(library.brief(w * 1e6))


@pytest.mark.needs("torch")
def test_what_torch_derives_goes_through_what_symgrad_derived():
    torch = Library("torch").module
    g = sg.grad(lambda x: np.sum(np.sin(x) * np.arange(1.0, 3.0)))
    x = torch.tensor([0.3, 0.5], dtype=torch.float64, requires_grad=True)
    ((x**2 + g(x)) ** 2).sum().backward()
    f = lambda x: np.sum((x**2 + np.cos(x) * [1.0, 2.0]) ** 2)  # noqa: E731
    np.testing.assert_allclose(x.grad.numpy(), central_slopes(f, np.array([0.3, 0.5])), rtol=1e-6)
    fresh = sg.grad(lambda x: np.sum(np.sin(x) * np.arange(1.0, 3.0)))
    by_torch = torch.func.grad(lambda x: (fresh(x) ** 2).sum())(x.detach())
    f = lambda x: np.sum((np.cos(x) * [1.0, 2.0]) ** 2)  # noqa: E731
    np.testing.assert_allclose(by_torch.numpy(), central_slopes(f, np.array([0.3, 0.5])), rtol=1e-6)
    rows = torch.func.vmap(sg.grad(lambda x: np.sum(x**3)))(torch.ones(3, 2))
    assert rows.tolist() == [[3.0, 3.0]] * 3
    assert not g(x.detach()).requires_grad


@pytest.mark.needs("torch")
def test_tensors_that_are_seen_through_a_bit():
    torch = Library("torch").module
    z = torch.tensor([1 + 2j])
    assert sg.grad(lambda z: np.sum(np.abs(z) ** 2))(z.conj()).tolist() == [2 - 4j]
    assert sg.grad(lambda x: np.sum(x**2))(z.conj().imag).tolist() == [-4.0]
    assert sg.grad(lambda x: np.sum(x**2))(torch.empty(2, device="meta")).shape == (2,)
    with pytest.raises(DtypeError, match="to_dense"):
        sg.grad(lambda x: np.sum(x**2))(torch.eye(2).to_sparse())
    with pytest.raises(DtypeError, match="uint16"):
        sg.grad(lambda w, k: np.sum(w * k))(torch.ones(2), torch.ones(2, dtype=torch.uint16))


def test_a_first_call_inside_of_a_jit_leaves_nothing_of_it_behind():
    jax = pytest.importorskip("jax")
    g = sg.grad(lambda x: np.sum(np.sin(x) * np.arange(2.0)))
    x = jax.numpy.ones(2)
    for made in (jax.jit(g)(x), g(x), jax.jit(lambda q: g(q))(x)):
        np.testing.assert_allclose(made, np.cos(1.0) * np.arange(2.0), rtol=1e-6)


def test_formulas_are_read_of_their_shapes(library):
    x = library.array(V)
    gradient = sg.grad(lambda x: np.sum(x**2))
    assert gradient.formulas(x).text_rows(["g"]) == ["g = 2x"]
    assert gradient.agreement(x).worst == 0
    assert "ẋ" not in str(gradient.steps(x))
    assert sg.hessian(gradient.fn).sparsity(x).nnz == 4


def test_products_with_jacobians_are_its_arrays(library):
    x, v = library.array(V), library.array(2 * V)
    out, pullback = sg.vjp(np.tanh, x)
    pushed = sg.jvp(np.tanh, x, v)[1]
    for got, want in ((out, np.tanh(V)), (pullback(v)[0], sg.vjp(np.tanh, V)[1](2 * V)[0]), (pushed, pullback(v)[0])):
        assert isinstance(got, library.kind)
        np.testing.assert_allclose(library.values(got), library.values(want), rtol=1e-6)


def test_what_is_not_finite_is_an_error_where_that_is_asked_for(library):
    gradient = sg.grad(lambda x: np.sum(np.sqrt(x)))
    x = library.array([0.0, 1.0])
    assert not np.isfinite(library.values(gradient(x))).all()
    with sg.debug(), pytest.raises(sg.errors.NonFiniteError):
        gradient(x)


def test_jax_in_single_precision_takes_double_constants_as_single():
    jax = pytest.importorskip("jax")
    if jax.config.jax_enable_x64:
        pytest.skip("this process has double precision")
    w = jax.numpy.array([1.0, 2.0, 3.0])
    made = sg.grad(lambda w: np.sum(np.sin(w * np.ones(3)) * np.float64(2)))(w)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, 2 * np.cos([1, 2, 3]), rtol=1e-6)
    assert sg.grad(lambda w, k: np.sum(w * k) ** 2, 1)(w, 2.5) == pytest.approx(180.0)

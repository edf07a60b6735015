"""Sizes by name: one derivation serves every size, and what does not fit is said in terms of the names."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn as nn
from symgrad import Array
from symgrad.errors import ArgumentError, ArgumentTypeError, ShapeError, SymgradError, TracingError
from symgrad.finite_differences import differences
from symgrad.named_dims import declaration_of

SIZES = [(5, 3), (10, 2), (1, 4), (4, 1), (1, 1), (3, 3), (60, 20)]


def logistic(w, X, y):
    return np.sum(np.log(1 + np.exp(-y * (X @ w)))) / X.shape[0]


class Counting:
    """A function that counts how often it is traced."""

    def __init__(self, function):
        self.function = function
        self.count = 0

    def _guarded(self):
        return {}

    def __call__(self, *args):
        self.count += 1
        return self.function(*args)


def counted_logistic():
    counting = Counting(logistic)

    def loss(w: sg.Array["d"], X: Array["n d"], y: sg.Array["n"]):
        return counting(w, X, y)

    return counting, loss


def data(n, d, dtype=np.float64):
    rng = np.random.default_rng(100 * n + d)
    return rng.normal(size=d).astype(dtype), rng.normal(size=(n, d)).astype(dtype), rng.normal(size=n).astype(dtype)


def by_differences(function, args, position=0):
    """The derivative by each entry of one argument, entries last."""
    columns = []
    for k in range(args[position].size):
        along = [np.zeros(a.shape) for a in args]
        along[position].ravel()[k] = 1.0
        columns.append(differences(lambda *a: (function(*a),), args, [along])[0][0].astype(float))
    return np.stack(columns, -1).reshape(*columns[0].shape, *args[position].shape)


# what is declared


def test_annotations_are_read_as_text_and_as_they_are():
    def as_text(x: sg.Array["n d"], y: Array["n"], z: float, t: "sg.Array['3']"):
        return x

    def without_quotes(x: Array[n]):
        return x

    def as_they_are(x, y):
        return x

    as_they_are.__annotations__ = {"x": Array["n d"], "y": np.ndarray}
    shapes, _ = declaration_of(as_text).shapes((0, 0, 0, 0), {})
    assert [s and s.text for s in shapes] == ["n d", "n", None, "3"]
    shapes, _ = declaration_of(without_quotes).shapes((0,), {})  # as linters rewrite it
    assert shapes[0].text == "n"
    shapes, _ = declaration_of(as_they_are).shapes((0, 0), {})
    assert [s and s.text for s in shapes] == ["n d", None]


class other:
    Array = dict


@pytest.mark.parametrize(
    "annotation",
    [
        "other.Array['n']",
        "Array[n, d]",
        "Array['n'",
        "list['n']",
        "sg.Array['n' + exit()]",
        "exit('n')",
        "np.ndarray['n']",
    ],
)
def test_other_annotations_declare_nothing_and_are_not_evaluated(annotation):
    def f(x):
        return x

    f.__annotations__ = {"x": annotation}
    assert declaration_of(f) is None


def test_functions_without_a_signature_declare_nothing():
    assert declaration_of(np.sin) is None
    assert declaration_of(Counting(np.sin)) is None


def test_a_named_function_is_called_as_it_was():
    f = sg.named(logistic, w="d", X="n d", y="n")
    assert f(*data(4, 2)) == logistic(*data(4, 2))
    assert f.__name__ == "logistic"
    again = sg.named(f, y="3")
    shapes, _ = declaration_of(again).shapes((0, 0, 0), {})
    assert [s.text for s in shapes] == ["d", "n d", "3"]


@pytest.mark.parametrize(
    ("shapes", "error", "match"),
    [
        ({"z": "n"}, ArgumentError, r"has no argument 'z'; its arguments are X, w, y\."),
        ({"w": 3}, ArgumentTypeError, "the shape of w must be text"),
        ({"w": "n-1"}, ArgumentError, "write names and sizes"),
    ],
)
def test_declarations_that_cannot_be_read(shapes, error, match):
    with pytest.raises(error, match=match):
        sg.named(logistic, **shapes)


def test_an_array_takes_text():
    with pytest.raises(ArgumentTypeError, match="takes the shape as text"):
        Array[3]
    assert repr(Array["n 3"]) == "Array['n 3']"


# one derivation, every size

DERIVED = {
    "grad": (sg.grad, lambda made, args: made(*args), 0),
    "value_and_grad": (sg.value_and_grad, lambda made, args: made(*args)[1], 0),
    "jacobian": (sg.jacobian, lambda made, args: made(*args), 0),
    "hessian": (sg.hessian, lambda made, args: made(*args), 1),
    "forward": (lambda f: sg.grad(f, mode="forward"), lambda made, args: made(*args), 0),
}


@pytest.mark.parametrize("name", DERIVED)
def test_one_trace_serves_every_size(name):
    make, call, order = DERIVED[name]
    counting, loss = counted_logistic()
    made = make(loss)
    for n, d in SIZES:
        args = data(n, d)
        got = call(made, args)
        gradient = lambda *a: by_differences(logistic, a)  # noqa: E731
        want = gradient(*args) if order == 0 else by_differences(sg.grad(logistic), args)
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)
    assert counting.count == 1


def test_products_serve_every_size_from_one_trace():
    counting, loss = counted_logistic()
    for n, d in SIZES:
        args, v = data(n, d), data(n, d)[::-1][::-1]
        slope = differences(lambda *a: (logistic(*a),), args, [v])[0][0]
        np.testing.assert_allclose(sg.jvp(loss, args, v)[1], slope, rtol=1e-7)
        _, pullback = sg.vjp(loss, *args)
        along = sum(np.sum(g * x) for g, x in zip(pullback(1.0), v, strict=True))
        np.testing.assert_allclose(along, slope, rtol=1e-7)
        product = sg.hvp(loss, args, v)[0]
        want = differences(lambda *a: (sg.grad(logistic)(*[x.astype(float) for x in a]),), args, [v])[0][0]
        np.testing.assert_allclose(product, want, rtol=1e-5, atol=1e-7)
    assert counting.count == 4  # jvp, the value, vjp, hvp


def test_dtypes_are_those_of_the_arrays():
    counting, loss = counted_logistic()
    gradient = sg.grad(loss)
    for dtype in (np.float32, np.float64, np.float32):
        assert gradient(*data(5, 3, dtype)).dtype == dtype
        assert gradient(*data(6, 2, dtype)).dtype == dtype
    assert counting.count == 2


@pytest.mark.parametrize("backend", ["numpy", "numexpr", pytest.param("native", marks=pytest.mark.needs("cc"))])
@pytest.mark.parametrize("n", [5, 50_000])
def test_numbers_that_follow_from_sizes_leave_single_precision_as_it_is(n, backend):
    """2 · 1/n is a number of Python's, not one of NumPy's that would turn all to double precision."""

    def f(w, X, y):
        return np.sum(X @ w) * np.mean((X @ w - y) ** 2) * np.mean(y)

    args = data(n, 3, np.float32)
    value, gradients = sg.value_and_grad(sg.named(f, w="d", X="n d", y="n"), (0, 1, 2), backend=backend)(*args)
    assert [part.dtype for part in (value, *gradients)] == [np.float32] * 4
    for found, wanted in zip(gradients, sg.grad(f, (0, 1, 2))(*[a.astype(float) for a in args]), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-2, atol=1e-3 * np.max(np.abs(wanted)))


def test_no_rows_are_traced_on_their_own():
    counting = Counting(lambda X: np.sum(X**2, axis=1))
    jacobian = sg.jacobian(sg.named(lambda X: counting(X), X="n d"))
    for n, d in ((3, 2), (0, 2), (0, 5), (4, 1)):
        assert jacobian(np.ones((n, d))).shape == (n, n, d)
    assert counting.count == 2


def test_the_value_of_a_weak_number_is_no_size():
    f = sg.named(lambda x, s: np.sum(x**2) * s, x="n", s="")
    gradient = sg.grad(f, (0, 1))
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(gradient(x, 3.0)[0], [6.0, 12.0])
    np.testing.assert_allclose(gradient(x, np.float32(2.0))[1], 5.0)
    assert gradient(x.astype(np.float32), 3.0)[0].dtype == np.float32


def test_arguments_that_are_not_declared_stay_concrete():
    def f(x, c, k=2, *, s=1.0):
        return np.sum(x**k) * np.sum(c) * s if c[0] > 0 else np.sum(x)

    gradient = sg.grad(sg.named(f, x="n"))
    for n in (2, 3):
        x = np.arange(1.0, n + 1)
        np.testing.assert_allclose(gradient(x, np.ones(2)), 4 * x)
        np.testing.assert_allclose(gradient(x, -np.ones(2)), np.ones(n))
        np.testing.assert_allclose(gradient(x, c=np.ones(3), k=3, s=2.0), 18 * x**2)


def test_nested_arguments_are_declared_as_they_are_nested():
    def loss(p, X):
        return np.sum(np.tanh(X @ p["W"] + p["b"]))

    gradient = sg.grad(sg.named(loss, p={"W": "d k", "b": "k"}, X=Array["n d"]))
    for n, d, k in ((4, 3, 2), (2, 1, 5)):
        p, X = {"W": np.ones((d, k)), "b": np.ones(k)}, np.full((n, d), 0.1)
        want = by_differences(lambda W, b, X: loss({"W": W, "b": b}, X), (p["W"], p["b"], X))
        np.testing.assert_allclose(gradient(p, X)["W"], want, rtol=1e-7)
    with pytest.raises(ShapeError, match=r"p_0 is 'd k' = \(3, 2\), but p_1 is 'k' = 3 gave k = 3"):
        gradient({"W": np.ones((3, 2)), "b": np.ones(3)}, np.ones((4, 3)))
    with pytest.raises(ShapeError, match="another structure"):
        gradient((np.ones((3, 2)), np.ones(2)), np.ones((4, 3)))


def test_cells():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(3, 2)

        def construct(self, x: sg.Array["n 3"]):
            return self.dense(x).sum()

    net = Net()
    gradient = sg.grad(net, None, net.trainable_params())
    for n in (2, 5):
        by_weight, by_bias = gradient(np.ones((n, 3), np.float32))
        np.testing.assert_allclose(by_weight, np.full((2, 3), float(n)))
        np.testing.assert_allclose(by_bias, [n, n])
    assert gradient.program().inputs[0].shape[1] == 3
    with pytest.raises(ShapeError, match="x is declared 'n 3'"):
        gradient(np.ones((2, 4), np.float32))
    assert sg.grad(sg.named(nn.Dense(3, 2), x="n 3"))(np.ones((4, 3), np.float32)).shape == (4, 3)


def test_outputs_that_are_sizes():
    f = sg.symbolic(sg.named(lambda X: (X.shape[0], X.size + 1, np.sum(X)), X="n d"))
    assert f(np.ones((2, 3))) == (2, 7, 6.0)
    assert f(np.ones((4, 1))) == (4, 5, 4.0)


def test_pynative_mode_traces_at_each_call():
    counting, loss = counted_logistic()
    gradient = sg.grad(loss)
    sg.context.set_context(mode=sg.PYNATIVE_MODE)
    try:
        gradient(*data(5, 3))
        gradient(*data(6, 2))
    finally:
        sg.context.set_context(mode=sg.GRAPH_MODE)
    assert counting.count == 2


# what does not fit

w, X, y = data(5, 3)


@pytest.mark.parametrize(
    ("args", "error", "match"),
    [
        ((w[:2], X, y), ShapeError, r"w is 'd' = 2, but X is 'n d' = \(5, 3\) gave d = 3\."),
        ((w, X, y[:4]), ShapeError, r"X is 'n d' = \(5, 3\), but y is 'n' = 4 gave n = 4\."),
        ((w, X[:1], y), ShapeError, r"X is 'n d' = \(1, 3\), but y is 'n' = 5 gave n = 5\."),
        ((w, X[:, 0], y), ShapeError, r"X is declared 'n d', of 2 dims, and has shape \(5,\)\."),
        ((X, X, y), ShapeError, r"w is declared 'd', of 1 dim, and has shape \(5, 3\)\."),
        ((w, X, 1.0), ShapeError, r"y is declared 'n', of 1 dim, and has shape \(\)\."),
        ((w, X, "no"), ArgumentTypeError, "y is declared 'n', and is a str; pass an array"),
        ((w, X, list(y)), ShapeError, "y is declared 'n', and is a list"),
    ],
)
def test_a_clash_is_said_in_terms_of_the_names(args, error, match):
    counting, loss = counted_logistic()
    for make in (sg.grad, sg.hessian, sg.symbolic, lambda f: sg.hessian(f, sparse=True)):
        with pytest.raises(error, match=match):
            make(loss)(*args)
    assert counting.count == 0


def test_sizes_in_place_of_names_are_checked():
    gradient = sg.grad(sg.named(lambda x: np.sum(x**2), x="n 3"))
    assert gradient(np.ones((2, 3))).shape == (2, 3)
    with pytest.raises(ShapeError, match=r"x is declared 'n 3' and has shape \(2, 4\), and axis 1 has size 4\."):
        gradient(np.ones((2, 4)))


def test_vectors_of_products_are_checked():
    def f(w: Array["d"], X: Array["n d"]):
        return (X @ w)[1:]

    with pytest.raises(ShapeError, match=r"X is 'n d' = \(5, 3\), but v of X is 'n d' = \(4, 3\) gave n = 4"):
        sg.jvp(f, (w, X), (w, X[:4]))
    _, pullback = sg.vjp(f, w, X)
    assert pullback(np.ones(4))[0].shape == (3,)
    with pytest.raises(ShapeError, match=r"v has shape \(5,\), and must be \(n-1\) = \(4,\)\."):
        pullback(np.ones(5))
    with_sens = sg.GradOperation(get_all=True, sens_param=True)(f)
    assert with_sens(w, X, np.ones(4))[1].shape == (5, 3)
    assert with_sens(w[:2], X[:, :2], sens=np.ones(4))[1].shape == (5, 2)
    with pytest.raises(ShapeError, match="sens has shape"):
        with_sens(w, X, np.ones(3))


def test_derivatives_inside_a_function_check_the_names_too():
    _, loss = counted_logistic()
    outer = sg.grad(lambda w, X, y: np.sum(sg.grad(loss)(w, X, y) ** 2))
    assert outer(w, X, y).shape == (3,)
    with pytest.raises(ShapeError, match="w is 'd' = 3, but X is"):
        outer(w, X[:, :2], y)


def test_derivatives_of_derivatives_keep_the_names():
    twice = sg.grad(sg.grad(sg.named(lambda x: np.sum(np.sin(x)), x="n")))
    for n in (1, 4):
        x = np.arange(1.0, n + 1)
        np.testing.assert_allclose(twice(x), by_differences(lambda x: np.sum(np.cos(x)), (x,)), rtol=1e-7)
    assert str(twice.program().inputs[0].shape) == "(n,)"


def test_two_names_of_one_size_stay_two_names():
    gradient = sg.grad(sg.named(lambda x, y: np.sum(x + y), x="n", y="m"))
    for args in ((np.ones(3), np.ones(3)), (np.ones(1), np.ones(1)), (np.ones(3), np.ones(1))):
        with pytest.raises(ShapeError, match=r"could not be broadcast together with shapes \(n,\) \(m,\)"):
            gradient(*args)
    outer = sg.jacobian(sg.named(lambda x, y: x[:, None] * y, x="n", y="m"))
    for n, m in ((3, 3), (2, 5), (1, 1)):
        x, y = np.ones(n), np.arange(1.0, m + 1)
        want = by_differences(lambda x, y: x[:, None] * y, (x, y))
        np.testing.assert_allclose(outer(x, y), want, rtol=1e-8, atol=1e-8)


def test_a_name_does_not_broadcast_where_its_size_is_1():
    scaled = sg.symbolic(sg.named(lambda X, s: X * s, X="n d", s="d"))
    assert scaled(np.ones((4, 1)), np.ones(1)).shape == (4, 1)
    with pytest.raises(ShapeError, match=r"X is 'n d' = \(4, 3\), but s is 'd' = 1 gave d = 1"):
        scaled(np.ones((4, 3)), np.ones(1))  # NumPy would broadcast


# sizes that decide

DECIDING = {
    "squeeze": lambda X: np.squeeze(X) ** 2,
    "a slice that does not fit": lambda X: X[1:4] ** 3,
    "an inner slice": lambda X: X[2:-1] * X[1:-2],
    "a branch": lambda X: np.sum(X**2) if X.shape[0] > 3 else np.sum(np.sin(X)),
    "an equality": lambda X: X * X.shape[0] if X.shape == (3, 2) else X**2,
    "halves": lambda X: X[: X.shape[0] // 2] * X[X.shape[0] - X.shape[0] // 2 :],
    "a middle": lambda X: X[(X.shape[0] - 1) // 2 : (X.shape[0] - 1) // 2 + 2] ** 2,
    "the middle of a sum": lambda X: X[(X.shape[0] + X.shape[1]) // 2 - 1 :] ** 2,
    "parity": lambda X: X**2 if X.shape[0] % 2 else X**3,
    "pairs": lambda X: np.reshape(X, (-1, 2))[:, 0] ** 2 if X.size % 2 == 0 else X.ravel() ** 3,
    "roll": lambda X: X * np.roll(X, 2, axis=0),
    "diagonal": lambda X: np.diagonal(X @ X.T, 1) ** 2,
}


@pytest.mark.parametrize("name", DECIDING)
def test_where_a_size_decides_each_answer_has_its_trace(name):
    f = DECIDING[name]
    counting = Counting(f)
    jacobian, hessian = (make(sg.named(lambda X: counting(X), X="n d")) for make in (sg.jacobian, sg.hessian))
    rng = np.random.default_rng(0)
    sizes = [(n, d) for n in (6, 1, 3, 2, 8, 0, 7, 4) for d in (2, 1)]
    for _ in range(2):
        for shape in sizes:
            X = rng.uniform(0.5, 1.5, shape)
            if X.size:
                want = by_differences(f, (X,))
                np.testing.assert_allclose(jacobian(X), want, rtol=1e-7, atol=1e-7)
                by_gradient = by_differences(sg.grad(f), (X,))
                np.testing.assert_allclose(hessian(X), by_gradient, rtol=1e-5, atol=1e-6)
            assert jacobian(X).shape == f(X).shape + shape
        traced = counting.count
    assert 2 < traced < 2 * len(sizes) + 2
    assert counting.count == traced  # the second round traced nothing


def _written(x):
    out = np.zeros(len(x))
    out[1:] = x[:-1] ** 2
    return out * x


#: functions of sizes
OF_SIZES = {
    "len": lambda x: x**2 / len(x),
    "zeros": lambda x: (x + np.zeros(x.shape)) ** 2,
    "float32": lambda x: x**2 * np.ones(x.shape[0], np.float32) + np.empty_like(x) * 0,
    "ones of two axes": lambda x: np.ones((len(x), 2)) * x[:, None] ** 3,
    "full": lambda x: x * np.full(x.shape[0], 2.5),
    "full of a traced value": lambda x: x * np.full(len(x), np.sum(x)),
    "arange": lambda x: x ** np.arange(x.size),
    "arange from one": lambda x: x**2 * np.arange(1, len(x) + 1, dtype=float),
    "arange between": lambda x: np.sum(x) * np.arange(-len(x), 2)[:3],
    "linspace": lambda x: np.exp(x * np.linspace(0, 1, len(x) + 1)[1:]),
    "linspace between traced values": lambda x: np.linspace(np.sum(x), 2, len(x), endpoint=False) * x,
    "linspace and its step": lambda x: x**2 * np.linspace(0.5, 3, x.size + 1, retstep=True)[1],
    "eye": lambda x: np.linalg.inv(np.outer(x, x) + np.eye(len(x))),
    "identity": lambda x: np.identity(x.size) @ x**2,
    "int and float": lambda x: x**2 * int(x.shape[0]) / float(len(x) + 1),
    "written into": _written,
    **{
        f"{name} {mode}": lambda x, name=name, mode=mode: getattr(np, name)(x**2, [1.0, -2.0, 0.5, 3.0], mode)
        for name in ("convolve", "correlate")
        for mode in ("full", "same", "valid")
    },
    "convolve the other way": lambda x: np.convolve([1.0, 2.0], x) ** 2,
}


@pytest.mark.parametrize("name", OF_SIZES)
def test_functions_of_sizes_take_the_size_of_a_named_dim(name):
    f = OF_SIZES[name]
    named = sg.named(f, x="n")
    value, jacobian, hessian = sg.symbolic(named), sg.jacobian(named), sg.hessian(named)
    for n in (5, 1, 3, 2):
        x = np.random.default_rng(n).uniform(0.5, 1.5, n)
        assert value(x).dtype == f(x).dtype
        np.testing.assert_allclose(value(x), f(x), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(jacobian(x), by_differences(f, (x,)), rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(hessian(x), by_differences(sg.grad(named), (x,)), rtol=1e-6, atol=1e-6)


# what needs values or numbers

REFUSED = {
    "a branch on values": (lambda x: x if x[0] > 0 else -x, TracingError, r"Use np\.where"),
    "a loop": (lambda x: sum(x[k] for k in range(x.shape[0])), ShapeError, "the size n is needed here as a number"),
    "iteration": (lambda x: sum(v for v in x), ShapeError, "the size n is needed here as a number"),
    "steps of half": (lambda x: x + np.arange(0, x.size, 0.5), ShapeError, "counts whole numbers by 1"),
    "an oblong": (lambda x: np.eye(x.size, 3) @ x[:3], ShapeError, "np.eye of a named size is square"),
    "two named vectors": (lambda x: np.convolve(x, x), ShapeError, "takes a vector of at most 256 numbers"),
    "a long kernel": (lambda x: np.convolve(x, np.ones(300)), ShapeError, "takes a vector of at most 256 numbers"),
    "a product": (lambda x: np.prod(x), ShapeError, r"np\.prod needs sizes, and n may be any"),
    "a triangle": (lambda x: np.tril(np.outer(x, x)), ShapeError, r"np\.tril needs sizes"),
    "a step": (lambda x: x[::2], ShapeError, "a step of 2 along the named dim n"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_values_or_numbers_is_refused_with_the_line_and_the_fix(name):
    f, error, match = REFUSED[name]
    with pytest.raises(error, match=match) as caught:
        sg.grad(sg.named(f, x="n"))(np.ones(3))
    assert isinstance(caught.value, SymgradError)
    assert "test_named_dims.py" in str(caught.value)
    assert "drop the named dims" in str(caught.value)


def test_sparse_results_are_traced_with_the_sizes_of_the_call():
    f = sg.named(lambda x: np.sum(x[1:] * x[:-1] ** 2), x="n")
    hessian = sg.hessian(f, sparse=True)
    for n in (4, 1, 6):
        x = np.arange(1.0, n + 1)
        want = by_differences(sg.grad(lambda x: np.sum(x[1:] * x[:-1] ** 2)), (x,))
        np.testing.assert_allclose(hessian(x).toarray(), want, rtol=1e-6, atol=1e-7)
    assert sg.hessian(f).sparsity(np.ones(5)).nnz == 4 + 8

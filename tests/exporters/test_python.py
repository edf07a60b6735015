"""The exported module runs without symgrad, and gives what the kernel gives."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.special

import symgrad as sg
from symgrad import Parameter, nn
from symgrad.errors import ArgumentError

rng = np.random.default_rng(0)
X, Y, W = rng.normal(size=(6, 3)), rng.normal(size=6), rng.normal(size=3)


def logistic(w, X, y):
    return np.sum(np.log(1 + np.exp(-y * (X @ w))))


def clipped(x):
    return np.sum(np.where(x > 0, np.sqrt(np.abs(x)), x) * np.maximum(x, 0.5))


def sorted_and_summed(x):
    return np.sum(np.sort(x)[:2]) + np.sum(np.cumsum(x) ** 2) + x[np.array([0, 0, 2])].sum()


def nested(params, lambda_):
    return np.sum(params["w"] ** 2) * lambda_ + params["b"][0]


def captured(x):
    return np.sum((X @ x - Y) ** 2)


CASES = {
    "grad": (sg.grad(logistic), (W, X, Y)),
    "value_and_grad": (sg.value_and_grad(logistic, (0, 1)), (W, X, Y)),
    "hessian": (sg.hessian(logistic), (W, X, Y)),
    "jacobian": (sg.jacobian(lambda q: np.stack([np.sum(np.cos(np.cumsum(q))), np.sum(q)])), (W,)),
    "branches": (sg.grad(clipped), (W,)),
    "indices": (sg.grad(sorted_and_summed), (W,)),
    "keyword and dict": (sg.grad(nested, (0, 1)), ({"w": W, "b": Y}, 2.0)),
    "captured": (sg.grad(captured), (W,)),
    "special": (sg.grad(lambda x: np.sum(scipy.special.erf(x))), (W,)),
    "float32": (sg.grad(lambda x: np.sum(x**3)), (W.astype(np.float32),)),
    "constant": (sg.grad(lambda x: 3 * x), (2.0,)),
    "aux": (sg.grad(lambda x: (np.sum(x**2), x, {"n": 3}), has_aux=True), (W,)),
    "wide": (sg.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2)), (rng.normal(size=60),)),
    "norm": (sg.grad(lambda x: np.linalg.norm(x) + np.linalg.norm(np.outer(x, x), "fro")), (W,)),
    "gram": (sg.hessian(lambda w: np.sum(np.cosh(np.ones((4, 60)) @ w))), (np.zeros(60),)),
}


def same(left, right):
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, (tuple, list)):
        return type(left) is type(right) and len(left) == len(right) and all(map(same, left, right))
    return np.array_equal(left, right) and np.asarray(left).dtype == np.asarray(right).dtype


@pytest.mark.parametrize("name", CASES)
def test_the_module_gives_what_the_kernel_gives(name):
    derived, args = CASES[name]
    source = derived.export("python", *args)
    assert "symgrad" not in source.replace("as symgrad derived it", "")
    namespace: dict = {}
    exec(compile(source, "<exported>", "exec"), namespace)
    (function,) = [v for k, v in namespace.items() if k.startswith(("grad_", "jacobian_", "hessian_"))]
    expected = derived(*args)
    made = function(*(v for a in args for v in flat(a)))
    if not same(made, expected):  # the backend of the kernel may round otherwise
        pair = [np.concatenate([np.ravel(v) for v in flat(r)]) for r in (made, expected)]
        np.testing.assert_allclose(*pair, rtol=1e-12)


def flat(value):
    if isinstance(value, dict):
        return [v for x in value.values() for v in flat(x)]
    return [v for x in value for v in flat(x)] if isinstance(value, (tuple, list)) else [value]


def test_it_runs_where_there_is_no_symgrad(tmp_path):
    path = tmp_path / "gradient.py"
    sg.grad(logistic).export("python", W, X, Y, path=path)
    np.savez(tmp_path / "args.npz", w=W, X=X, y=Y)
    code = (
        "import sys; sys.modules['symgrad'] = None\n"
        "import numpy as np, gradient\n"
        "a = np.load('args.npz'); print(gradient.grad_logistic(a['w'], a['X'], a['y']).tolist())"
    )
    made = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    np.testing.assert_array_equal(eval(made.stdout), sg.grad(logistic, backend="numpy")(W, X, Y))


def test_named_dims_serve_every_size():
    def loss(w: sg.Array["d"], X: sg.Array["n d"]):  # noqa: F722, UP037
        return np.mean((X @ w) ** 2)

    derived = sg.grad(loss)
    namespace: dict = {}
    exec(derived.export("python"), namespace)
    for n, d in ((1, 1), (7, 2)):
        w, x = rng.normal(size=d), rng.normal(size=(n, d))
        np.testing.assert_allclose(namespace["grad_loss"](w, x), derived(w, x), rtol=1e-13)


@pytest.mark.parametrize("name", ["</script>", "x\n    import os", "class", "λ", "v0", "np", 'a"""b', "", "1x"])
def test_hostile_names_are_names(name):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.z = Parameter(np.ones(2), name=name)

        def construct(self, x):
            return x * self.z

    Net.__name__ = name or "Net"
    net = Net()
    namespace: dict = {}
    x = np.array([2.0, 3.0])
    exec(sg.grad(net, 0, net.trainable_params()).export("python", x), namespace)
    (function,) = [v for k, v in namespace.items() if k.startswith("grad_")]
    by_input, (by_weight,) = function(x, np.ones(2))
    np.testing.assert_array_equal(by_input, [1.0, 1.0])
    np.testing.assert_array_equal(by_weight, x)


@pytest.mark.parametrize(
    ("derived", "args"),
    [
        (sg.grad(lambda a, b: np.sum(np.sin(a * b)), 1), (0.1, np.array([1.0, 2.0], np.float32))),
        (sg.symbolic(lambda a, b: np.exp(a * b)), (0.1, np.array([1.0, 2.0], np.float32))),
        (sg.grad(lambda x: np.sum(np.where(x > 0, x, np.array([np.inf, 1.0])))), (np.ones(2),)),
        (sg.grad(lambda x: np.sum(np.exp(-x) * np.array([np.nan, 1.0]))), (np.ones(2),)),
    ],
)
def test_python_floats_and_what_is_not_finite(derived, args):
    derived.backend = "numpy"
    namespace: dict = {}
    exec(derived.export("python", *args), namespace)
    (function,) = [v for k, v in namespace.items() if k.startswith(("grad_", "symbolic_"))]
    made, expected = function(*args), type(derived)._new_compiled(derived)(*args)
    np.testing.assert_array_equal(made, expected)
    assert made.dtype == expected.dtype


@pytest.mark.parametrize("name", ["special_x", "v3", "x²", "①", "gram", "inf"])
def test_arguments_are_called_by_names_of_their_own(name):
    namespace: dict = {}
    exec(sg.grad(lambda p: p[name] ** 2).export("python", {name: 2.0}), namespace)
    assert namespace["grad_f"](3.0) == {name: 6.0}


def test_a_module_says_what_it_needs():
    assert "Needs NumPy alone." in sg.grad(np.sin).export("python", 1.0)
    assert "Needs NumPy and SciPy." in sg.grad(scipy.special.gammaln).export("python", 1.0)


def test_what_cannot_be_written_is_refused():
    with pytest.raises(ArgumentError, match="returns a type beside its arrays"):
        sg.grad(lambda x: (x * x, np.float64), has_aux=True).export("python", 1.0)
    large = np.ones(20_000)
    with pytest.raises(ArgumentError, match="too large to write into source"):
        sg.grad(lambda x: np.sum(large * x * x)).export("python", np.ones(20_000))
    with pytest.raises(ArgumentError, match="format 'fortran' is unknown; choose one of dot"):
        sg.grad(np.sin).export("fortran", 1.0)

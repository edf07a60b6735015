"""The exported module runs without symgrad, and gives what the kernel gives."""

from __future__ import annotations

import subprocess
import sys

import golden
import numpy as np
import pytest
import scipy.special
from array_modules import Library, compare_loop, compare_loop_of_named_size, compare_names_of_loops
from cases import CASES, GOLDEN
from exportables import same
from looping import CASES as LOOPS

import symgrad as sg
from symgrad.errors import ArgumentError, UnsupportedOperation
from symgrad.primitives.elementwise import Elementwise

LIBRARY = Library("python")
random = np.random.default_rng(0)
X, Y, W = random.normal(size=(6, 3)), random.normal(size=6), random.normal(size=3)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    golden.check("python", name, CASES[name].export("python"))


def nested(params, lambda_):
    return np.sum(params["w"] ** 2) * lambda_ + params["b"][0]


@pytest.mark.parametrize(
    ("derived", "args"),
    [
        (sg.grad(nested, (0, 1)), ({"w": W, "b": Y}, 2.0)),
        (sg.grad(lambda x: (np.sum(x**2), x, {"n": 3, "t": ["a", None]}), has_aux=True), (W,)),
        (sg.grad(lambda x: np.sum((X @ x - Y) ** 2)), (W,)),
        (sg.grad(lambda x: x[np.argmax(x)]), (W,)),
        (sg.grad(lambda x: np.quantile(x, 0.3)), (W,)),
        (sg.grad(lambda x: 3 * x), (2.0,)),
        (sg.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2)), (random.normal(size=60),)),
        (sg.hessian(lambda w: np.sum(np.cosh(np.ones((4, 60)) @ w))), (np.zeros(60),)),
        (sg.jacobian(lambda x: x), (np.ones(3),)),
        (sg.symbolic(lambda x: (x, x.T, x[::2, None, ::-1])), (np.arange(12.0).reshape(4, 3),)),
        (sg.grad(sg.grad(lambda x: np.sum(scipy.special.gammaln(x)))), (np.array([0.5, 2.0]),)),
        (sg.symbolic(lambda x: x.astype(np.float32) + np.trunc(x).astype(np.int8)), (np.array([0.5, 2.0]),)),
        (sg.symbolic(lambda x: np.where(x > 0, x, np.array([np.inf, np.nan]))), (np.array([0.5, -2.0]),)),
        (sg.symbolic(lambda x, k: x * k + (k // 2) % 3), (np.ones(2), np.array([4, -5]))),
    ],
)
def test_results_of_every_kind(derived, args):
    made = LIBRARY.compared(derived, args)
    structure = made.function(*args)
    expected = derived(*args)
    assert type(structure) is type(expected) or not isinstance(expected, (tuple, list, dict))


def test_results_are_arrays_of_their_own():
    made = LIBRARY.made(sg.symbolic(lambda x: (x, x, x.T, x[1:])), (np.ones((3, 2)),))
    x = np.ones((3, 2))
    results = made.function(x)
    for k, result in enumerate(results):
        assert not any(np.shares_memory(result, other) for other in (x, *results[:k]))


def test_python_floats_give_way():
    single = np.array([1.0, 2.0], np.float32)
    for function in (lambda a, x: np.exp(a * x), lambda a, x: (a * 2) * x, lambda a, x: np.where(x > a, a, x) / a):
        made = LIBRARY.made(sg.symbolic(function), (0.1, single))
        same(made.function(0.1, single), function(0.1, single))


def test_other_branches_are_refused():
    def branch(x):
        return np.sum(x**2) if np.sum(x) > 0 else np.sum(x)

    made = LIBRARY.made(sg.grad(branch), (np.ones(2),))
    np.testing.assert_array_equal(made.function(np.array([3.0, -1.0])), [6.0, -2.0])
    with pytest.raises(ValueError, match="another branch than the derived one"):
        made.function(-np.ones(2))


def test_sizes_that_were_decided_on_are_checked():
    def loss(x):
        return np.sum(x[2:] * x[:-2])

    made = LIBRARY.made(sg.grad(loss), ("n",))
    same(made.function(np.ones(5)), [1.0, 1.0, 2.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="sizes with n >= 2"):
        made.function(np.ones(1))


def test_dims_have_names_of_their_own():
    def loss(n, x, y):
        return np.sum(x * n) + np.sum(y**2)

    derived = sg.grad(sg.named(loss, n="", x="n", y="class n_2"), (1, 2))
    made = LIBRARY.made(derived, ("", "n", "class n_2"))
    by_x, by_y = made.function(2.0, np.ones(3), np.ones((2, 5)))
    same(by_x, np.full(3, 2.0))
    same(by_y, np.full((2, 5), 2.0))


def test_shapes_are_checked_at_the_door():
    made = LIBRARY.made(sg.grad(lambda x: np.sum(x**2)), (np.ones((2, 3)),))
    with pytest.raises(ValueError, match=r"x has shape \(3, 2\), and \(2, 3\) is expected"):
        made.function(np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"x has shape \(\), and \(2, 3\) is expected"):
        made.function(1.0)


def test_it_says_nothing_of_what_is_not_finite():
    made = LIBRARY.made(sg.grad(lambda x: np.sum(np.log(x))), (np.ones(2),))
    np.testing.assert_array_equal(made.function(np.array([0.0, 1.0])), [np.inf, 1.0])


def test_it_fails_its_check_when_it_is_changed(tmp_path):
    text = CASES["logistic"].export("python")
    for source, code, word in ((text, 0, "pass"), (text.replace("np.exp(", "np.expm1("), 1, "FAIL")):
        (tmp_path / "exported.py").write_text(source)
        made = subprocess.run([sys.executable, "exported.py"], cwd=tmp_path, capture_output=True, text=True)
        assert made.returncode == code
        assert made.stdout.startswith(f"grad_logistic: {word} (largest difference ")


def test_without_a_check_it_says_why(tmp_path):
    made = LIBRARY.made(sg.grad(np.sin), (1.0,))
    assert "grad_sin: no check (compared here)" in made.text
    assert made.namespace["_check"]() == 0


def test_a_module_says_what_it_needs():
    assert "it needs NumPy alone." in LIBRARY.made(sg.grad(np.sin), (1.0,)).text
    assert "it needs NumPy and SciPy." in LIBRARY.made(sg.grad(scipy.special.gammaln), (1.0,)).text


def test_what_cannot_be_written_is_refused():
    with pytest.raises(ArgumentError, match="returns a type beside its arrays"):
        sg.grad(lambda x: (x * x, np.float64), has_aux=True).export("python", 1.0)
    large = np.ones(20_000)
    with pytest.raises(ArgumentError, match="too large to write into source"):
        sg.grad(lambda x: np.sum(large * x * x)).export("python", np.ones(20_000))


def test_a_function_of_no_library_is_refused(monkeypatch):
    own = np.frompyfunc(lambda a: a, 1, 1)
    derived = sg.grad(np.sin)
    node = next(n for n in derived.program(1.0).bindings if isinstance(n.primitive, Elementwise))
    monkeypatch.setattr(node.primitive, "ufunc", own)
    with pytest.raises(UnsupportedOperation, match="has no function in NumPy or SciPy"):
        derived.export("python", 1.0)


@pytest.mark.parametrize(("name", "which"), LOOPS)
def test_loops_are_loops(name, which):
    compare_loop(LIBRARY, name, which, "for t in range(", "reversed(range(")


def test_a_loop_over_a_named_size():
    compare_loop_of_named_size(LIBRARY)


def test_arguments_may_be_called_as_what_a_loop_names():
    compare_names_of_loops(LIBRARY)

"""The exported JAX module runs without symgrad, compiled and mapped, and gives what the kernel gives."""

from __future__ import annotations

import os

import golden
import numpy as np
import pytest
from array_modules import Exported, compare_loop, compare_loop_of_named_size, compare_names_of_loops, library_of
from cases import CASES, GOLDEN
from exportables import exportable, same
from looping import CASES as LOOPS

import symgrad as sg
from symgrad.errors import UnsupportedOperation

if not os.environ.get("CI"):
    pytest.importorskip("jax")
import jax
import jax.numpy as jnp

LIBRARY = library_of("jax")


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    golden.check("jax", name, CASES[name].export("jax"))


def loss(w, X, y):
    return np.sum(np.log(1 + np.exp(-y * (X @ w))) + np.cumsum(y)[::-1] ** 2) + np.sum(np.sort(w)[:2])


random = np.random.default_rng(0)
ARGS = random.normal(size=3), random.normal(size=(6, 3)), random.normal(size=6)


def test_it_runs_without_being_compiled():
    e = exportable("", sg.value_and_grad(loss, (0, 1)), ARGS)
    e.agrees(Exported(LIBRARY, e.subject)(ARGS))


def test_it_is_mapped_and_differentiated():
    made = LIBRARY.made(sg.grad(loss), ARGS)
    many = random.normal(size=(4, 3))
    mapped = jax.jit(jax.vmap(made.function, (0, None, None)))(many, *ARGS[1:])
    same(mapped, np.stack([sg.grad(loss)(w, *ARGS[1:]) for w in many]))
    for derive in (jax.jacfwd, jax.jacrev):
        hessian = jax.jit(derive(made.function))(jnp.asarray(ARGS[0]), *ARGS[1:])
        same(hessian, sg.hessian(loss)(*ARGS))


def test_named_dims_under_jit():
    def mean(w, X):
        return np.mean((X @ w) ** 2)

    made = LIBRARY.made(sg.grad(mean), ("d", "n d"))
    compiled = jax.jit(made.function)
    for n, d in ((1, 1), (5, 2)):
        w, X = random.normal(size=d), random.normal(size=(n, d))
        same(compiled(w, X), sg.grad(mean)(w, X))
    with pytest.raises(ValueError, match="X has shape"):
        compiled(np.ones(2), np.ones((3, 1)))


def test_other_branches_give_nan():
    def branch(x):
        return np.sum(x**2) if np.sum(x) > 0 else np.sum(x)

    made = LIBRARY.made(sg.value_and_grad(branch), (np.ones(2),))
    value, gradient = jax.jit(made.function)(np.array([3.0, -1.0]))
    same(value, 10.0)
    same(gradient, [6.0, -2.0])
    value, gradient = jax.jit(made.function)(-np.ones(2))
    assert np.isnan(value)
    assert np.isnan(gradient).all()
    assert "take another branch than the derived one give NaN" in made.text


def test_importing_changes_no_setting():
    with jax.enable_x64(False):
        text = CASES["logistic"].export("jax")
        made: dict = {"__name__": "exported"}
        exec(text, made)
        assert not jax.config.jax_enable_x64
    assert "after jax.config.update" in made["grad_logistic"].__doc__


def test_without_float64_it_is_single():
    with jax.enable_x64(False):
        made = LIBRARY.made(sg.grad(lambda x: np.sum(np.sin(x) * x)), (np.ones(3, np.float32),))
        assert made.function(jnp.ones(3)).dtype == jnp.float32
        assert "float64" not in made.text


def test_arguments_are_not_written_into():
    x = jnp.arange(4.0)
    made = LIBRARY.made(sg.grad(lambda x: np.sum(x[1:] * x[:-1] ** 2)), (np.ones(4),))
    made.function(x)
    same(x, np.arange(4.0))


def test_singular_matrices_give_what_is_not_finite():
    made = LIBRARY.made(sg.symbolic(np.linalg.inv), (np.eye(2),))
    assert not np.isfinite(np.asarray(made.function(np.ones((2, 2))))).all()
    assert "Singular matrices" in made.text


def test_one_triangle_is_read():
    a = np.array([[9.0, 4.0], [2.0, 8.0]])
    for upper in (False, True):
        LIBRARY.compared(sg.symbolic(lambda a, upper=upper: np.linalg.cholesky(a, upper=upper)), (a,))


def test_a_dtype_that_jax_has_not_is_refused():
    with pytest.raises(UnsupportedOperation, match="cannot be written for jax"):
        LIBRARY.made(sg.symbolic(np.sin), (np.ones(2, np.longdouble),))


@pytest.mark.parametrize(("name", "which"), LOOPS)
def test_loops_are_loops(name, which):
    compare_loop(LIBRARY, name, which, "jax.lax.scan(_step,", "lax.scan")


def test_a_loop_over_a_named_size():
    compare_loop_of_named_size(LIBRARY)


def test_arguments_may_be_called_as_what_a_loop_names():
    compare_names_of_loops(LIBRARY)

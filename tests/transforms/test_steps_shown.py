"""What steps show can be read: slices as NumPy has them, and no name that is not explained."""

import re

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.primitives.selection import spell_range
from symgrad.program.dims import named_dim, value_of

TABLE = np.random.default_rng(0).normal(size=(3, 3))


def texts(steps):
    return [step.text for step in steps]


def placed(steps, bar):
    """The place that a step adds to, as it is written."""
    return next(t.split("[", 1)[1].split("]")[0] for t in texts(steps) if t.startswith(f"{bar}[") and "+=" in t)


@pytest.mark.parametrize(
    ("taken", "size"),
    [
        (np.s_[3::-1], 6),
        (np.s_[::-2], 5),
        (np.s_[::-2], 6),
        (np.s_[4:1:-1], 6),
        (np.s_[-2:0:-2], 7),
        (np.s_[3:0:-3], 5),
        (np.s_[1:3], 5),
        (np.s_[::2], 5),
    ],
)
def test_a_slice_is_written_as_numpy_reads_it(taken, size):
    def f(x):
        t = np.exp(x)
        return np.sum(t * 2.0) + np.sum(t[taken] ** 3)

    steps = sg.grad(f).steps(np.ones(size))
    written = slice(*[int(p) if p else None for p in placed(steps, "t̄").split(":")])
    elements = np.arange(size)
    np.testing.assert_array_equal(elements[written], elements[taken])


def test_a_whole_axis_backwards():
    def f(x):
        t = x * 2.0
        return np.sum(t * t[::-1])

    for shape in (np.ones(4), "n"):
        steps = sg.grad(f).steps(shape)
        assert "t̄ = (f̄t)[::-1] + f̄·t[::-1]" in texts(steps)
        assert "f = tᵀ t[::-1]" in texts(steps)
        assert "-1:-1" not in steps.latex() + str(steps)
    assert "slice[::-1]" in str(sg.trace(lambda x: x[::-1], np.ones(4)))


def test_a_stop_that_has_a_name_is_counted_from_the_end():
    n = named_dim("n")
    for start, length, step in [(n - 1, n, -1), (n - 2, n - 1, -1), (n - 1, n - 2, -1), (n - 1, 2, -1), (0, n - 2, 1)]:
        written = spell_range(start, length, step, n).split(":")
        for size in (3, 6):
            taken = slice(*[int(str(sympy.sympify(p).subs("n", size))) if p else None for p in written])
            first, count = (value_of(e, {n: size}) for e in (start, length))
            np.testing.assert_array_equal(np.arange(size)[taken], first + step * np.arange(count))


def unexplained(steps):
    """Names of captured arrays in what is shown that no line says what they are."""
    shown = str(steps)
    said = set(re.findall(r"^  (c_\d+) = ", shown, re.MULTILINE))
    return set(re.findall(r"c_\d+", shown)) - said


def gaussian_process(scale, x, y):
    K = np.exp(-((x[:, None] - x[None, :]) ** 2) / scale) + 0.1 * np.eye(3)
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(L, y)
    return np.sum(a**2) + 2 * np.sum(np.log(np.diag(L)))


def test_a_triangle_is_said_to_be_one():
    steps = sg.grad(gaussian_process).steps(1.0, np.arange(3.0), np.ones(3))
    assert not unexplained(steps)
    assert "c_1 = 1 below the diagonal, 1/2 on it, 0 above it" in str(steps)
    assert r"c_{1} &= \begin{bmatrix} \frac{1}{2} & 0 & 0 \\ 1 & \frac{1}{2} & 0" in steps.latex()
    assert "+ 1/10 · I" in str(steps)
    masked = sg.grad(lambda x: np.sum(np.tril(np.outer(x, x)) ** 2)).steps(np.arange(5.0))
    assert "c_1 = 1 below the diagonal, 1 on it, 0 above it" in str(masked)


def test_arrays_that_are_read_are_listed():
    steps = sg.grad(lambda x: np.sum(np.sin(TABLE @ x))).steps(np.arange(3.0))
    assert not unexplained(steps)
    assert "TABLE = [[0.1257, -0.1321, 0.6404]" in str(steps)
    assert r"\mathit{TABLE} &=" in steps.latex()
    assert r"\mathit{TABLE} &=" not in sg.grad(lambda x: np.sum(np.sin(x))).steps(np.arange(3.0)).latex()
    large = sg.grad(lambda x: np.sum(np.sin(np.arange(1000.0) * x))).steps(np.ones(1000))
    assert "c_1 = [0., 1., …, 998., 999.]" in str(large)
    assert len(large.latex()) < 2000


def test_one_array_has_one_name_and_another_another():
    def f(x):
        first = TABLE @ x
        second = np.sin(first)
        return np.sum((TABLE + 1.0) @ second)

    steps = sg.grad(f).steps(np.arange(3.0))
    assert not unexplained(steps)
    shown = texts(steps)
    assert "first = TABLE x" in shown
    assert any("c_1" in t and "TABLE" not in t for t in shown)


def test_a_name_of_the_users_is_not_taken():
    steps = sg.grad(lambda c_1: np.sum(np.sin((TABLE + 1) @ c_1))).steps(np.arange(3.0))
    assert "v₁ = c_2 c_1" in texts(steps)
    steps = sg.grad(lambda TABLE, read=TABLE: np.sum(np.sin(read @ TABLE))).steps(np.arange(3.0))
    assert "v₁ = read TABLE" in texts(steps)


@pytest.mark.parametrize("axis", [0, 1])
def test_sorting_explains_its_indices(axis):
    steps = sg.grad(lambda x: np.sum(np.sort(x, axis=axis) * np.arange(4.0))).steps(np.arange(12.0).reshape(3, 4))
    assert not unexplained(steps)


def test_rows_that_are_computed_are_not_called_by_what_they_are_computed_from():
    steps = sg.grad(lambda x: np.sum(np.sort(x) ** 2)).steps(np.arange(4.0))
    assert "v₁ = x[argsort(x)]" in texts(steps)
    assert placed(steps, "x̄") == "argsort(x)"
    steps = sg.grad(lambda x: np.sum(x[np.arange(10)] ** 2)).steps(np.arange(12.0))
    assert not unexplained(steps)
    assert "v₁ = x[c_1]" in texts(steps)
    steps = sg.grad(lambda x, i: np.sum(x[i] ** 2)).steps(np.arange(12.0), np.array([3, -1]))
    assert "v₁ = x[i]" in texts(steps)


def test_arrays_of_many_axes_are_told_on_one_line():
    window = np.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)
    told = str(sg.grad(lambda w: np.sum(window * w)).steps(np.ones((4, 5))))
    assert "window = [[[[0., 1., …, 118., 119.]]]]" in told

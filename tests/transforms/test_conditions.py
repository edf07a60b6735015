"""Where formulas hold: what operations ask of the inputs, and which inputs do not meet it."""

import numpy as np
import pytest

import symgrad as sg
from symgrad import nn
from symgrad.primitives.conditions import CONDITIONS
from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.functions import DOMAINS

A = np.array([[2.0, 1.0], [1.0, 3.0]])
#: a function, a point that meets its one condition, one that does not, the condition and its kind
CASES = {
    "log": (np.log, 1.0, 0.0, "x > 0", "domain"),
    "log1p": (np.log1p, 1.0, -1.0, "x > -1", "domain"),
    "sqrt": (lambda x: np.sqrt(x - 1), 2.0, 1.0, "x - 1 > 0", "domain"),
    "division": (lambda x: 1 / (x + 3), 1.0, -3.0, "x + 3 ≠ 0", "domain"),
    "power": (lambda x: x**1.5, 1.0, 0.0, "x > 0", "domain"),
    "inverse power": (lambda x: x**-2, 1.0, 0.0, "x ≠ 0", "domain"),
    "arcsin": (np.arcsin, 0.5, 1.0, "Abs(x) < 1", "domain"),
    "arccosh": (np.arccosh, 2.0, 1.0, "x > 1", "domain"),
    "arctanh": (np.arctanh, 0.5, -1.0, "Abs(x) < 1", "domain"),
    "cbrt": (np.cbrt, 1.0, 0.0, "x ≠ 0", "domain"),
    "abs": (np.abs, 1.0, 0.0, "x ≠ 0", "kink"),
    "maximum": (lambda x: np.maximum(x, 0.5), 1.0, 0.5, "x - 1/2 ≠ 0", "kink"),
    "floor": (np.floor, 0.5, 2.0, "x not whole", "kink"),
    "rint": (np.rint, 0.0, 2.5, "x not halfway", "kink"),
    "choice": (lambda x: np.where(x > 1, x**2, x), 0.0, 1.0, "x - 1 ≠ 0", "kink"),
    "norm": (np.linalg.norm, np.ones(20), np.zeros(20), "‖x‖² ≠ 0", "kink"),
    "max": (np.max, np.arange(20.0), np.zeros(20), "x attained once", "kink"),
    "sort": (np.sort, np.arange(20.0), np.zeros(20), "x of distinct elements", "kink"),
    "argmax": (lambda x: x[np.argmax(x)], np.arange(20.0), np.zeros(20), "x attained once", "kink"),
    "solve": (lambda x: np.linalg.solve(x, np.ones(2)), A, np.ones((2, 2)), "x nonsingular", "domain"),
    "slogdet": (lambda x: np.linalg.slogdet(x)[1], A, np.zeros((2, 2)), "x nonsingular", "domain"),
    "cholesky": (np.linalg.cholesky, A, np.ones((2, 2)), "x positive definite", "domain"),
    "eigh": (lambda x: np.linalg.eigh(x)[1], A, np.eye(2), "x of distinct eigenvalues", "domain"),
    "svd": (lambda x: np.linalg.svd(x)[0], A, np.eye(2), "x of distinct singular values", "domain"),
    "qr": (lambda x: np.linalg.qr(x)[0], A, np.ones((2, 2)), "x of independent columns", "domain"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_condition_and_who_meets_it(name):
    fn, good, bad, text, kind = CASES[name]
    derived = sg.symbolic(lambda x: fn(x))
    (met,) = [c for c in derived.conditions(good) if c.text == text]
    (not_met,) = [c for c in derived.conditions(bad) if c.text == text]
    assert met.holds
    assert not not_met.holds
    assert (met.kind, not_met.kind) == (kind, kind)
    assert met.otherwise


def test_what_holds_everywhere_says_so():
    assert str(sg.grad(lambda x: np.exp(x) * x**3).conditions(1.0)) == "none: the formula holds everywhere"


def test_a_condition_names_its_line_and_the_element():
    def loss(x):
        return np.sum(np.log(x))

    (found,) = sg.grad(loss).conditions(np.array([1.0, -2.0, 3.0]))
    assert found.line.text == "return np.sum(np.log(x))"
    assert str(found).startswith("x > 0  ← not so at [1]; else it is −∞ at 0 and NaN below")
    np.testing.assert_array_equal(found.fails, [False, True, False])


def test_what_a_choice_leaves_out_is_asked_for_nothing():
    derived = sg.grad(lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)))
    assert derived.conditions(np.array([-1.0, 2.0])).failing == []
    assert [c.kind for c in derived.conditions(np.array([0.0, 2.0])).failing] == ["kink"]


def test_branches_that_the_trace_took_stand_first():
    def f(x):
        return x**2 if x > 1 else np.sqrt(x)

    taken = sg.grad(f).conditions(0.5)
    assert [c.text for c in taken] == ["x ≤ 1", "x > 0"]
    assert [c.text for c in sg.grad(f).conditions(2.0)] == ["x > 1"]


@pytest.mark.parametrize(
    ("f", "x", "told"),
    [
        (lambda x: (x**2).sum() if x[0] > 1 else x.sum(), [2.0, 1.0], "∂f/∂x = 2x\n  if x[0] > 1"),
        (lambda x: (x[x > 0] ** 3).sum(), [2.0, -1.0], "∂f/∂x = [3*x0**2, 0]\n  if x > 0 at [0] alone"),
        (lambda x: (x[x > 0] ** 3).sum(), -np.ones(2), "∂f/∂x = [0, 0]\n  if x ≤ 0"),
        (lambda x: x.sum() if np.any(x > 0) else 2 * x.sum(), -np.ones(2), "∂f/∂x = 2𝟏\n  if not any(x > 0)"),
        (lambda x: x[0] * int(np.trunc(x[1])), [1.0, 2.5], "∂f/∂x = 2e₀\n  if trunc(x[1]) = 2.0"),
        (
            lambda x: sum(v if v > 0 else -v for v in x),
            [1.0, -1.0, 1.0, 2.0, 3.0],
            "∂f/∂x = [1, -1, 1, 1, 1]\n  if x[0] > 0\n  and x[1] ≤ 0\n  and x[2] > 0\n  and x[3] > 0\n"
            "  and 1 more condition on values (see conditions)",
        ),
    ],
)
def test_branches_stand_below_formulas(f, x, told):
    g = sg.grad(f)
    shown = g.formulas(np.array(x))
    assert str(shown) == told
    if "more" not in told:
        assert [f"  {'and' if k else 'if'} {c.text}" for k, c in enumerate(g.conditions(np.array(x)))] == (
            told.split("\n")[1:]
        )
    assert r"\text{if }" in g.latex(np.array(x))
    assert r"\text{if }" in shown._repr_latex_()


def test_shapes_give_the_conditions_alone():
    (found,) = sg.hessian(lambda x: np.sum(np.sqrt(x))).conditions("n")
    assert found.text == "x > 0"
    assert found.fails is None


def test_loops_mapped_functions_and_networks():
    loop = sg.grad(lambda x: sg.fori_loop(0, 2, lambda i, c: np.log(c + 2), x))
    assert [c.text for c in loop.conditions(1.0)] == ["x + 2 > 0", "log(x + 2) + 2 > 0"]
    mapped = sg.vmap(sg.grad(np.log)).conditions(np.array([1.0, 0.0]))
    assert [str(c.fails.tolist()) for c in mapped] == ["[False, True]"]
    net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())
    (found,) = sg.grad(lambda x: np.sum(net(sg.Tensor(x)))).conditions(np.ones((1, 2), np.float32))
    assert found.kind == "kink"


def test_a_singular_matrix_is_a_condition_not_an_error():
    derived = sg.grad(lambda A, b: np.sum(np.linalg.solve(A, b)), (0, 1))
    assert [c.text for c in derived.conditions(np.ones((2, 2)), np.ones(2)).failing] == ["A nonsingular"]


def test_they_are_shown_in_a_notebook():
    found = sg.grad(lambda x: np.abs(x) / (x - 1)).conditions(2.0)
    assert found._repr_latex_().startswith(r"$\begin{array}{ll} x \neq 0 & \text{else a kink: ")
    assert r"\\ x - 1 \neq 0 & \text{else a division by 0 (line" in found._repr_latex_()
    unmet = sg.grad(lambda x: np.sum(np.abs(x))).conditions(np.array([1.0, 0.0]))
    assert r"x \neq 0 & \text{← not so at [1]; else" in unmet._repr_latex_()


@pytest.mark.parametrize("name", sorted(CONDITIONS.keys() & ELEMENTWISE.keys()))
def test_an_operation_is_finite_where_its_conditions_hold(name):
    """At points that meet them all, the value and the gradient are finite; so no condition is missing one side."""
    operation = ELEMENTWISE[name]
    rng = np.random.default_rng(0)
    operands = [np.full(200, True) if low is False else rng.uniform(-4, 4, 200) for low, _ in DOMAINS[name]]
    floats = tuple(k for k, o in enumerate(operands) if o.dtype.kind == "f")

    def fn(*operands):
        return operation.ufunc(*operands)

    found = sg.grad(fn, floats).conditions(*operands)
    bad = np.any([np.broadcast_to(c.fails, 200) for c in found], axis=0) if found else np.zeros(200, bool)
    value = sg.symbolic(fn)(*operands)
    gradients = sg.grad(fn, floats)(*operands)
    assert not bad.all()
    for array in (value, *gradients):
        assert np.isfinite(array[~bad]).all()

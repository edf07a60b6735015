"""What recurrences say is what the program computes: line by line, to the second order, for loops of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from recurring import CASES, RNG

import symgrad as sg
from symgrad import fori_loop, scan
from symgrad.closed_form.latex_tree import tree
from symgrad.closed_form.recurrences import recurrences
from symgrad.closed_form.recurrences.evaluation import evaluated, values
from symgrad.program.interpret import interpreted
from symgrad.program.node import Node, ancestors

W, X = RNG.normal(size=(2, 2)), RNG.normal(size=(5, 2))


def nested(W, x):
    def step(h, x):
        u, _ = scan(lambda u, _: (np.sin(W @ u) + h, None), h * x, length=3)
        return u, np.sum(u**2)

    h, kept = scan(step, np.ones(2), x)
    return np.sum(kept) + np.sum(h)


def backwards(W, h, x):
    def step(h, x):
        h = np.tanh(W @ h + x)
        return h, h * 2

    h, kept = scan(step, h, x, reverse=True)
    return np.sum(np.exp(kept)) * np.sum(h)


def shifted(a, x):
    def step(c, pair):
        u, v = pair
        return c * np.cos(u - v) + a, c

    c, kept = scan(step, 1.0, (x[1:], x[:-1]))
    return c + np.sum(np.sin(kept))


def counted(x):
    return fori_loop(2, 7, lambda i, c: c * i + np.sin(x), x)


def added_up(w, X, y):
    def step(total, example):
        x, y = example
        return total + (w @ x - y) ** 2, None

    return np.sqrt(scan(step, 0.0, (X, y))[0])


def read_whole(A, x):
    _, kept = scan(lambda c, v: (A @ c + v, c), np.zeros(2), x)
    return np.linalg.norm(kept @ A + 1.0)


def one_after_another(a, x):
    c, kept = scan(lambda c, v: (np.sin(c * a) + v, c * a), a, x)
    d, others = scan(lambda c, v: (np.cos(c + v), c * v), c, kept)
    return np.sum(others) * d


def reads_a_table(a):
    return scan(lambda c, v: (np.sin(c * a) + v, c), a, np.array([1.0, 3.0, 2.0]))[0]


def swapped(a, b):
    return np.sum(scan(lambda c, _: ((c[1], np.sin(c[0])), None), (a, b), length=3)[0][1])


def no_step(a):
    return scan(lambda c, x: (c * x, c), a, np.zeros(0))[0]


def one_step(a):
    return scan(lambda c, x: (np.sin(c) * x, c), a, np.array([2.0]))[0]


LOOPS = {
    "nested": (nested, (W, RNG.normal(size=4))),
    "backwards": (backwards, (W, np.ones(2), X)),
    "shifted": (shifted, (0.7, RNG.normal(size=6))),
    "counted": (counted, (0.4,)),
    "added up": (added_up, (np.ones(2), X, np.arange(5.0))),
    "read whole": (read_whole, (W, X)),
    "one after another": (one_after_another, (0.3, np.arange(4.0))),
    "a table": (reads_a_table, (0.3,)),
    "swapped": (swapped, (0.3, 0.5)),
    "no step": (no_step, (0.3,)),
    "one step": (one_step, (0.3,)),
    **{name: (function, args) for name, (function, _, args) in CASES.items()},
}


def second(function):
    return sg.grad(lambda *args: np.sum(sg.grad(function)(*args) ** 2))


def program(derived, args):
    return derived._readable()._entry(args, {}).readable


PROGRAMS = {
    "value": lambda f, args: sg.trace(f, *args),
    "gradient": lambda f, args: program(sg.grad(f, tuple(range(len(args)))), args),
    "second": lambda f, args: program(second(f), args),
    "forward": lambda f, args: program(sg.jacobian(f, mode="forward"), args),
}


@pytest.mark.parametrize("order", PROGRAMS)
@pytest.mark.parametrize("case", LOOPS)
def test_the_lines_compute_what_the_program_does(case, order):
    if order == "second" and case in ("rnn", "kalman"):
        pytest.skip("takes seconds")
    function, args = LOOPS[case]
    made = PROGRAMS[order](function, args)
    found = recurrences(made)
    assert found is not None
    for own, wanted in zip(evaluated(found, args), interpreted(made, args), strict=True):
        assert own.shape == np.shape(wanted)
        np.testing.assert_allclose(own, wanted, rtol=1e-9, atol=1e-9)
    for row in found.rows[1]:
        tree(row)
    assert len(found.rows[0]) == len(found.rows[1])
    assert "…" not in "".join(line.text for _, line in found.lines)


@pytest.mark.parametrize("order", PROGRAMS)
@pytest.mark.parametrize("case", ["nested", "backwards", "read whole", "one after another", "kalman"])
def test_no_two_values_are_called_alike(case, order):
    if order == "second" and case == "kalman":
        pytest.skip("takes seconds")
    function, args = LOOPS[case]
    found = recurrences(PROGRAMS[order](function, args))
    assert found is not None
    names = found.unfolding.names
    used = {n for e in found.equations for n in ancestors(e.value.roots) if n in names}
    used |= {e.target for e in found.equations if isinstance(e.target, Node)}
    assert len({names[n].latex for n in used}) == len(used)


def test_every_named_value_can_be_asked_for():
    found = recurrences(sg.trace(nested, W, X[:4, 0]))
    assert found is not None
    made = values(found, [W, X[:4, 0]])
    assert made["hₜ₊₁"].shape == (4, 2)
    assert made["uₜₛ₊₁"].shape == (4, 3, 2)
    np.testing.assert_array_equal(made["uₜₛ₊₁"][:, -1], made["hₜ₊₁"])

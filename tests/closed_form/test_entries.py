"""One entry as a formula: evaluated on its own it is the difference quotient, written out or as a sum."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import symgrad as sg

rng = np.random.default_rng(0)
A = rng.normal(size=(3, 4))


def hand(q):
    angle = np.cumsum(q)
    return np.stack([np.sum(np.cos(angle)), np.sum(np.sin(angle))])


def captured(x):
    return np.sin(A @ x)


def quotient(fn, x, index, h=1e-6):
    *out, k = index
    step = h * np.eye(len(x))[k]
    return ((fn(x + step) - fn(x - step)) / (2 * h))[tuple(out)]


@pytest.mark.parametrize(
    ("fn", "name", "count", "index"),
    [
        (hand, "q", 3, (0, 1)),
        (hand, "q", 12, (1, 4)),
        (hand, "q", 12, (0, 11)),
        (captured, "x", 4, (2, 3)),
        (lambda x: np.stack([np.sum(x**3), x[0] * x[1]]), "x", 40, (0, 7)),
    ],
)
def test_a_short_entry_is_written_out(fn, name, count, index):
    x = rng.normal(size=count)
    entry = sg.jacobian(fn).entry(index, x)
    assert not entry.has(sympy.Sum, sympy.Indexed)
    values = {sympy.Symbol(f"{name}{k}", real=True): v for k, v in enumerate(x)}
    np.testing.assert_allclose(float(entry.subs(values)), quotient(fn, x, index), atol=1e-8)


def test_a_long_one_stays_a_sum():
    X, w = rng.normal(size=(200, 3)), rng.normal(size=3)

    def loss(w, X):
        return np.sum(np.log(1 + np.exp(X @ w)))

    entry = sg.hessian(loss).entry((0, 1), w, X)
    assert entry.has(sympy.Sum)
    assert entry.count_ops() < 50
    long = sg.jacobian(hand).entry((0, 1), rng.normal(size=80))
    assert long.has(sympy.Sum)


def test_further_entries_of_the_same_arrays_use_what_is_there():
    jacobian = sg.jacobian(hand)
    x = rng.normal(size=6)
    jacobian.entry((0, 1), x)
    readable = jacobian._compiled.latest.readable
    jacobian.entry((1, 2), x)
    assert jacobian._compiled.latest.readable is readable


def tip(q):
    """Where an arm of five joints ends, each turned about its own axis."""
    x, y, z = 0.0, 0.0, 0.0
    links = [(0.1, 1, 0.5), (0.4, 0, 0.0), (0.3, 0, 0.0), (0.0, -1, 0.2), (0.0, 1, 0.1)]
    for k, (length, turn, offset) in enumerate(links):
        if turn:
            y, z = -turn * z, turn * y
        x, z = x + length, z + offset
        x, y = np.cos(q[k]) * x - np.sin(q[k]) * y, np.sin(q[k]) * x + np.cos(q[k]) * y
    return np.stack([x, y, z])


@pytest.mark.parametrize("form", ["auto", "entries"])
def test_a_small_jacobian_is_written_entry_by_entry_where_its_index_form_tells_places_apart(form):
    q = rng.normal(size=5)
    made = sg.jacobian(tip).closed_form(q, form=form)
    assert made.shape == (3, 5)
    assert not made.has(sympy.Piecewise, sympy.KroneckerDelta)
    values = {sympy.Symbol(f"q{k}", real=True): v for k, v in enumerate(q)}
    for i, k in ((0, 0), (1, 3), (2, 4), (2, 0)):
        np.testing.assert_allclose(float(made[i, k].subs(values)), quotient(tip, q, (i, k)), atol=1e-8)


def test_what_is_too_large_is_refused_before_anything_is_expanded():
    with pytest.raises(sg.errors.ClosedFormTooLarge, match="the entry form would have"):
        sg.hessian(lambda x: np.sum(np.tanh(A @ x) ** 2)).closed_form(np.ones(4), form="entries", budget=10)


def test_a_captured_mask_counts_as_a_number():
    kept = np.arange(20) % 3 == 0
    entry = sg.grad(lambda x: np.sum(np.where(kept, x**2, 0.0) * x)).entry(3, np.ones(20))
    assert str(entry) == "3*x3**2"
    series = pytest.importorskip("numpy.polynomial.hermite_e")
    rows = sg.grad(lambda x: np.sum(series.herme2poly(x))).formulas(np.ones(4)).text_rows(["g"])
    assert rows == ["g = [1, 1, 0, -2]"]


def elbow(q):
    """The hand of an arm of two links."""
    return np.array([np.cos(q[0]) + 0.8 * np.cos(q[0] + q[1]), np.sin(q[0]) + 0.8 * np.sin(q[0] + q[1])])


#: functions whose derivative has sums of products of sines and cosines, and the derivative
ANGLES = {
    "a determinant": (lambda q: np.linalg.det(sg.jacobian(elbow)(q)), "[0, 4*cos(q1)/5]"),
    "squares": (lambda q: np.sum(elbow(q) ** 2), "[0, -8*sin(q1)/5]"),
    "nothing shorter": (lambda q: np.sin(q[0]) * np.cos(q[1]), "[cos(q0)*cos(q1), -sin(q0)*sin(q1)]"),
}


@pytest.mark.parametrize("name", ANGLES)
def test_angles_are_added_where_that_is_shorter(name):
    fn, text = ANGLES[name]
    q = np.array([0.4, 0.9])
    made = sg.grad(fn).closed_form(q)
    assert str(sympy.nsimplify(made)) == text
    values = {sympy.Symbol(f"q{k}", real=True): v for k, v in enumerate(q)}
    for k in range(2):
        np.testing.assert_allclose(float(made[k].subs(values)), quotient(fn, q, (k,)), atol=1e-8)


@pytest.mark.parametrize(
    "fn",
    [
        lambda q: (np.sin(q[0]) + np.cos(q[1]) + q[2] + 1) ** 40,
        lambda q: np.prod(np.sin(np.arange(1.0, 8.0) * q[0]) + np.cos(np.arange(1.0, 8.0) * q[1]) + q[2]),
    ],
    ids=["a power", "a product"],
)
def test_what_would_be_long_multiplied_out_is_left_as_it_is(fn, monkeypatch):
    def called(_):
        raise AssertionError("it was multiplied out")

    monkeypatch.setattr("symgrad.closed_form.entries.TR10i", called)
    made = sg.symbolic(fn).closed_form(np.array([0.3, 0.4, 0.5]), form="entries")
    assert made.count_ops() < 120
    assert not isinstance(made, sympy.Add)


@pytest.mark.parametrize(
    ("fn", "text"),
    {
        "quotient": (lambda x: np.sin(x) / x, "(x*cos(x) - sin(x))/x**2"),
        "likelihood": (lambda x: 3.0 * np.log(x) + 4.0 * np.log(1.0 - x), "3/x - 4/(1 - x)"),
        "as written": (lambda x: x * (2.0 + x**2 / 2.0), "3*x**2/2 + 2"),
        "taken away": (lambda x: np.sin(x) - x**3, "cos(x) - 3*x**2"),
    }.values(),
)
def test_no_fraction_stands_in_another_and_what_is_added_in_front(fn, text):
    assert sg.grad(fn).formulas(0.5).text_rows(["g"]) == [f"g = {text}"]


def test_what_is_zero_elsewhere_has_its_factors_in_its_case():
    norm = sg.grad(lambda x: np.linalg.norm(x[:2]))
    root = "sqrt(x0**2 + x1**2), Ne(x0**2 + x1**2, 0)), (0, True))"
    entries = norm.closed_form(np.ones(3), form="entries")
    assert str(entries) == f"[Piecewise((x0/{root}, Piecewise((x1/{root}, 0]"
    total = "Sum(x[j]**2, (j, 0, 1))"
    assert norm.formulas(np.ones(9)).text_rows(["g"]) == [
        f"g[i] = Piecewise((x[i]/sqrt({total}), (i < 2) & Ne({total}, 0)), (0, True))"
    ]


def test_numbers_are_told_without_what_rounding_adds():
    tukey = sg.grad(lambda r: 4.685**2 / 6 * (1 - (1 - (r / 4.685) ** 2) ** 3))
    assert tukey.formulas(0.3).text_rows(["g"]) == ["g = r*(1 - 0.04555969516007969*r**2)**2"]

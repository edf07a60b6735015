"""Matrix forms: named dims, layouts, what is refused, and where they are shown."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from symgrad.closed_form.matrix import matrix_forms
from symgrad.errors import ClosedFormTooLarge

RANDOM = np.random.default_rng(3)
X, W, Y = RANDOM.normal(size=(6, 4)), RANDOM.normal(size=4), RANDOM.normal(size=6)


def squares(w, X, y):
    return np.mean((X @ w - y) ** 2)


def only(program):
    (form,) = matrix_forms(program)
    return form


def test_one_formula_holds_for_every_size():
    program = symgrad.trace(lambda w, X, y: symgrad.grad(squares)(w, X, y), "d", "n d", "n")
    form = only(program)
    assert form.text == "2/n · Xᵀ(Xw − y)"
    assert form.latex == r"\frac{2}{n} X^\top \left(X w - y\right)"
    for n, d in ((6, 4), (3, 7)):
        arrays = {"w": RANDOM.normal(size=d), "X": RANDOM.normal(size=(n, d)), "y": RANDOM.normal(size=n)}
        np.testing.assert_allclose(form.evaluate(arrays), symgrad.grad(squares)(*arrays.values()), rtol=1e-12)


def test_the_hessian_in_named_dims():
    program = symgrad.trace(lambda w, X, y: symgrad.hessian(squares)(w, X, y), "d", "n d", "n")
    assert only(program).text == "2/n · XᵀX"


def test_the_matmul_network_reads_as_it_was_written():
    form = only(symgrad.trace(lambda x, y, z: (x * z) @ y, "n d", "d m", ""))
    assert form.text == "z·xy"
    network = symgrad.grad(lambda x, y, z: (x * z) @ y, (0, 1, 2))
    forms = network.closed_form(np.ones((2, 3)), np.ones((3, 3)), np.ones(1), form="matrix")
    assert [f.text for f in forms] == ["z·𝟏𝟏ᵀyᵀ", "z·xᵀ𝟏𝟏ᵀ", "sum(xy)"]


def test_a_network_of_two_layers():
    def loss(A, B, X, Y):
        z = np.tanh(X @ A) @ B
        top = np.max(z, axis=1, keepdims=True)
        return np.sum(np.log(np.sum(np.exp(z - top), axis=1)) + top[:, 0] - np.sum(Y * z, axis=1))

    arrays = [RANDOM.normal(size=s) for s in ((4, 5), (5, 3), (6, 4), (6, 3))]
    by_a, by_b = symgrad.grad(loss, (0, 1)).closed_form(*arrays, form="matrix")
    assert by_b.text == "Hᵀ(softmax(HB, axis=1) − Y)"
    assert by_b.where == ["H = tanh(XA)"]
    for form, value in zip((by_a, by_b), symgrad.grad(loss, (0, 1))(*arrays), strict=True):
        np.testing.assert_allclose(form.evaluate(dict(zip("ABXY", arrays, strict=True))), value, rtol=1e-10)


def test_the_structure_of_the_result_is_kept():
    value, gradient = symgrad.value_and_grad(squares).closed_form(W, X, Y, form="matrix")
    assert value.text == "1/6 · ‖Xw − y‖²"
    assert gradient.text == "1/3 · Xᵀ(Xw − y)"


def test_rows_and_columns_of_one_keep_their_direction():
    row, column = RANDOM.normal(size=(1, 4)), RANDOM.normal(size=(4, 1))
    f = symgrad.symbolic(lambda r, c, X: (X @ c) * (r @ c) + X @ r.T)
    form = f.closed_form(row, column, X, form="matrix")
    assert form.text == "X((rc)c + rᵀ)"
    gradient = symgrad.grad(lambda r, X: np.sum((X @ r.T) ** 2)).closed_form(row, X, form="matrix")
    assert gradient.text == "2rXᵀX"
    np.testing.assert_allclose(gradient.evaluate({"r": row, "X": X}), 2 * row @ X.T @ X)


def test_captured_arrays_have_names_and_values():
    weights, unit = np.diag([1.0, 2.0, 3.0, 4.0]), np.eye(4)
    gradient = symgrad.grad(lambda x: x @ (weights + 3 * unit) @ x)
    form = gradient.closed_form(W, form="matrix")
    np.testing.assert_allclose(form.evaluate({"x": W}), gradient(W), rtol=1e-12)
    ridge = symgrad.hessian(lambda x: x @ (2 * unit) @ x).closed_form(W, form="matrix")
    assert ridge.text == "4I"


def test_slices_are_written_as_numpy_does():
    form = symgrad.symbolic(lambda x, X: X[:, 1] * np.sum(x[1:])).closed_form(W, X, form="matrix")
    assert form.text == "sum(x[1:4])·X[0:6,1]"
    np.testing.assert_allclose(form.evaluate({"x": W, "X": X}), X[:, 1] * np.sum(W[1:]))


def test_conventions_at_kinks_are_said_and_kept():
    norm = symgrad.grad(lambda x: np.linalg.norm(x)).closed_form(W, form="matrix")
    assert norm.where == ["1 / ‖x‖ = 0 for ‖x‖ = 0"]
    np.testing.assert_array_equal(norm.evaluate({"x": np.zeros(4)}), np.zeros(4))
    relu = symgrad.grad(lambda x: np.sum(np.maximum(x, 0.0))).closed_form(W, form="matrix")
    np.testing.assert_array_equal(relu.evaluate({"x": np.array([-1.0, 0.0, 2.0, 0.0])}), [0, 0.5, 1, 0.5])


def test_a_factor_that_a_condition_multiplies_is_not_lost():
    f = symgrad.symbolic(lambda x: (x > 0) * x)
    form = f.closed_form(W, form="matrix")
    np.testing.assert_array_equal(form.evaluate({"x": W}), f(W))


def test_roots_of_squares_are_absolute_values():
    f = symgrad.symbolic(lambda x, y: np.sqrt(x**2 * y**2))
    form = f.closed_form(-W, W, form="matrix")
    np.testing.assert_allclose(form.evaluate({"x": -W, "y": W}), np.abs(W * W))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x: np.cumsum(x), (W,)),
        (lambda x: np.exp(x), (np.ones((2, 3, 4)),)),
        (lambda x: np.concatenate([x, x]), (W,)),
        (lambda x: x[np.array([2, 0])], (W,)),
    ],
)
def test_what_has_no_matrix_notation_is_refused_with_the_way_out(function, arguments):
    derived = symgrad.symbolic(function)
    with pytest.raises(ClosedFormTooLarge, match=r'no matrix notation.*form="index"'):
        derived.closed_form(*arguments, form="matrix")
    assert matrix_forms(derived.program(*arguments)) == [None]


def test_deep_and_long_programs_are_refused_without_building_them():
    def logistic_map(x, rounds):
        for _ in range(rounds):
            x = 4.0 * x * (1.0 - x)
        return x

    for rounds in (60, 3000):
        assert matrix_forms(symgrad.trace(lambda x, rounds=rounds: logistic_map(x, rounds), W)) == [None]


def test_names_are_made_safe_and_parts_are_called_otherwise():
    def softmax_of(p):
        e = np.exp(p - np.max(p))
        return e / np.sum(e)

    form = symgrad.jacobian(softmax_of).closed_form(W, form="matrix")
    assert (form.text, form.where) == ("diag(q) − qqᵀ", ["q = softmax(p)"])
    program = symgrad.trace(lambda x: np.sin(x), W)
    hostile = type(program)(program.inputs, program.outputs, [r"\href{javascript:alert(1)}{x}"], program.graph)
    form = only(hostile)
    assert "\\href" not in form.latex
    assert "{" not in form.text


def test_latex_of_a_function_is_its_matrix_form():
    gradient = symgrad.grad(squares)
    assert gradient.latex(W, X, Y) == (
        r"\begin{aligned} \frac{\partial f}{\partial w} &= \frac{1}{3} X^\top \left(X w - y\right) \end{aligned}"
    )
    tiny = symgrad.grad(lambda x: np.sum(x**2)).latex(np.ones(2))
    assert tiny.endswith(r"&= 2 x \end{aligned}")


def test_parts_are_explained_in_the_same_line_of_latex():
    form = symgrad.jacobian(lambda z: np.exp(z) / np.sum(np.exp(z))).closed_form(W, form="matrix")
    assert form.latex_line == (
        r"\operatorname{diag}\left(p\right) - p p^\top,\quad p = \operatorname{softmax}\left(z\right)"
    )
    assert form._repr_latex_().startswith(r"$\displaystyle \operatorname{diag}")
    assert str(form) == "diag(p) − ppᵀ\nwhere p = softmax(z)"


@pytest.mark.parametrize(
    ("function", "arguments", "text", "latex"),
    [
        (lambda x, σ: σ / (1 + np.exp(-x)), (W, 2.0), "σ·sigmoid(x)", r"\sigma \operatorname{sigmoid}\left(x\right)"),
        (lambda x, pi: np.pi * pi * x, (W, 2.0), "π·pi·x", r"\arccos\left(-1\right) \pi x"),
        (lambda x, π: np.pi * π * x, (W, 2.0), "acos(−1)·πx", r"\arccos\left(-1\right) \pi x"),
        (lambda x, I: np.diag(x) + I * np.eye(4), (W, 2.0), "diag(x) + I·Id", r"\operatorname{diag}\left(x\right) + I \mathrm{Id}"),  # noqa: E741, E501
        (lambda rate, time: rate * time, (2.0, 3.0), "rate·time", r"\mathit{rate} \, \mathit{time}"),
    ],
)  # fmt: skip
def test_names_of_the_users_are_told_from_signs_and_from_one_another(function, arguments, text, latex):
    form = symgrad.symbolic(function).closed_form(*arguments, form="matrix")
    assert (form.text, form.latex) == (text, latex)


def test_a_part_that_is_a_statement_is_explained_by_what_it_says():
    form = symgrad.grad(lambda x: np.nanmean(x)).closed_form(X, form="matrix")
    assert form.latex_where == [r"H = \left[\neg \left(x \text{ is not a number}\right)\right]"]


#: means as they are read, and what looks like one and is none
MEANS = {
    "a variance": (lambda x: np.sum((x - np.mean(x, axis=0)) ** 2), "‖x − 1/6 · 𝟏𝟏ᵀx‖_F²"),
    "of rows": (lambda x: (x - np.mean(x, axis=1, keepdims=True)) ** 2, "(x − 1/4 · x𝟏𝟏ᵀ)^⊙2"),
    "a deviation": (lambda x: np.std(x, axis=0), "√6/6 · √(((x − 1/6 · 𝟏𝟏ᵀx)^⊙2)ᵀ𝟏)"),
    "a variance below a root": (
        lambda x: 1 / np.sqrt(1 + np.mean((x - np.mean(x, axis=0)) ** 2, axis=0)),
        "1 ⊘ √(𝟏 + 1/6 · ((x − 1/6 · 𝟏𝟏ᵀx)^⊙2)ᵀ𝟏)",
    ),
    "ten times as written": (lambda x: np.sum((10 * x - np.sum(x, axis=0)) ** 2), "‖10x − 𝟏𝟏ᵀx‖_F²"),
}


@pytest.mark.parametrize("name", MEANS)
def test_a_mean_is_read_as_one(name):
    function, text = MEANS[name]
    x = np.random.default_rng(3).normal(size=(6, 4))
    (form,) = matrix_forms(symgrad.trace(function, x))
    assert str(form) == text
    np.testing.assert_allclose(form.evaluate({"x": x}), function(x), rtol=1e-12)
    gradient = symgrad.grad(lambda x: np.sum(function(x) ** 2))
    (made,) = matrix_forms(gradient.program(x))
    np.testing.assert_allclose(made.evaluate({"x": x}), gradient(x), rtol=1e-10, atol=1e-12)


#: the positive part, as it is written; where a tie gives half of the slope, and where none of it
POSITIVE_PARTS = {
    "maximum": lambda z: np.maximum(z, 0),
    "greater": lambda z: np.where(z > 0, z, 0),
    "at least": lambda z: np.where(z >= 0, z, 0),
    "at most": lambda z: np.where(z <= 0, 0, z),
    "less": lambda z: np.where(z < 0, 0, z),
    "not": lambda z: np.where(np.logical_not(z <= 0), z, 0),
}
#: what is none
OTHERS = {
    "negative part": lambda z: np.where(z > 0, 0, z),
    "of another": lambda z: np.where(z > 0, 2 * z, 0),
    "above one": lambda z: np.where(z > 1, z, 0),
    "a plateau": lambda z: np.where(z > 0, z, 1),
    "equal": lambda z: np.where(z == 0, z, 0) + z,
    "other shares": lambda z: z * np.where(z == 0, 0.25, 1.0),
}
A, B = np.array([[1.0, -1.0], [2.0, 0.0], [0.0, 3.0]]), np.array([[1.0, 1.0], [-1.0, 2.0], [2.0, 1.0], [0.0, 0.0]])


@pytest.mark.parametrize("name", [*POSITIVE_PARTS, *OTHERS])
@pytest.mark.parametrize("z", [lambda A, B: A @ B.T, lambda A, B: B @ A.T, lambda A, B: A @ B[0]])
def test_positive_parts_have_a_name_and_values_at_kinks_stay(name, z):
    function = (POSITIVE_PARTS | OTHERS)[name]
    value = symgrad.symbolic(lambda A, B: function(z(A, B)))
    slope = symgrad.grad(lambda A, B: np.sum(function(z(A, B)) ** 2 + function(z(A, B))))
    for derived in (value, slope):
        form = derived.closed_form(A, B, form="matrix")
        np.testing.assert_allclose(form.evaluate({"A": A, "B": B}), derived(A, B), rtol=1e-12, atol=1e-12)
    text = value.closed_form(A, B, form="matrix").text
    assert text.startswith("relu(") == (name in POSITIVE_PARTS), text


def test_a_network_of_positive_parts_reads_like_its_back_propagation():
    def loss(W, V, X, Y):
        return np.sum((np.maximum(X @ W.T, 0) @ V.T - Y) ** 2)

    gradient = symgrad.grad(loss, (0, 1)).formulas("h d", "k h", "n d", "n k")
    assert gradient.text_rows(["W", "V"]) == [
        "W = 2([XWᵀ > 0] ⊙ (relu(XWᵀ) Vᵀ − Y)V)ᵀX",
        "V = 2(V relu(WXᵀ) − Yᵀ) relu(XWᵀ)",
    ]

"""Matrix forms: named dims, layouts, what is refused, and where they are shown."""

from __future__ import annotations

import inspect

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
    assert form.text == "sum(x[1:4])·X[:,1]"
    np.testing.assert_allclose(form.evaluate({"x": W, "X": X}), X[:, 1] * np.sum(W[1:]))


def is_told(function, text, *args):
    """The gradient is told so, and the form has the value of the gradient, computed by itself and by its code."""
    gradient = symgrad.grad(function)
    form = gradient.closed_form(*args, form="matrix")
    assert str(form) == text
    arrays = dict(zip(inspect.signature(function).parameters, args, strict=True))
    np.testing.assert_allclose(form.evaluate(arrays), gradient(*args), rtol=1e-12, atol=1e-14)
    scope = {"np": np, **arrays}
    *first, last = form.numpy.splitlines()
    exec("\n".join([*first, f"made = {last}"]), scope)
    np.testing.assert_allclose(scope["made"], gradient(*args), rtol=1e-12, atol=1e-14)


def test_a_sum_over_as_many_is_a_mean():
    is_told(lambda x: np.var(x), "1/2 · (x − mean(x)·𝟏)", W)
    is_told(lambda x: np.var(x, ddof=1), "2/3 · (x − mean(x)·𝟏)", W)
    is_told(lambda X: np.mean(X) ** 2, "1/12 · mean(X)·𝟏𝟏ᵀ", X)
    is_told(lambda x: np.sum(x) ** 2 / 2, "sum(x)·𝟏", W)
    assert str(symgrad.grad(lambda x: np.var(x)).closed_form("n", form="matrix")) == "2/n · (x − mean(x)·𝟏)"
    assert str(symgrad.grad(lambda mean: np.var(mean)).closed_form(W, form="matrix")) == (
        "1/2 · (mean − np.mean(mean)·𝟏)"
    )


def test_what_reads_one_element_is_told_by_unit_vectors():
    def probability(x):
        e = np.exp(x - np.max(x))
        return (e / np.sum(e))[2]

    is_told(probability, "p[2]·(e₂ − p)\nwhere p = softmax(x)", W)
    is_told(lambda x: x[0] * x[-1] + x @ x, "2x + x[0]·e₃ + x[3]·e₀", W)
    is_told(lambda x: np.sum(np.sin(x[3]) * x**2), "2 sin(x[3])·x + ‖x‖²·cos(x[3])·e₃", W)
    is_told(lambda X: np.sum(X**2) + X[0, 1] * np.sum(X), "2X + X[0,1]·𝟏𝟏ᵀ + sum(X)·e₀e₁ᵀ", X)
    is_told(lambda X: np.sum(X[1] ** 2) + np.sum(X), "𝟏𝟏ᵀ + 2e₁ X[1,:]ᵀ", X)
    is_told(lambda e: e[2] * np.sum(e), "e[2]·𝟏 + sum(e)·unit₂", W)
    angle = symgrad.grad(lambda X: np.hypot(X[:, 0], X[:, 1])[2]).closed_form(X, form="matrix")
    assert angle.text == "e₂(X[2,1]·e₁ + X[2,0]·e₀)ᵀ / hypot(X[:,0], X[:,1])[2]"
    hessian = symgrad.hessian(probability).closed_form(W, form="matrix")
    np.testing.assert_allclose(hessian.evaluate({"x": W}), symgrad.hessian(probability)(W), atol=1e-14)
    assert symgrad.grad(probability).latex(W).count(r"\mathbf{e}_{2}") == 1


def test_a_difference_that_occurs_twice_is_written_one_way():
    def correlation(a, b):
        a, b = a - np.mean(a), b - np.mean(b)
        return a @ b / np.sqrt((a @ a) * (b @ b))

    (form,) = symgrad.grad(correlation).formulas(W, X[:4, 0].copy()).forms
    assert form.text == "(e − (rᵀe)r / ‖r‖²) / (‖r‖‖e‖)"
    assert form.where[:2] == ["r = a − mean(a)·𝟏", "e = b − mean(b)·𝟏"]
    arrays = {"a": W, "b": X[:4, 0]}
    np.testing.assert_allclose(form.evaluate(arrays), symgrad.grad(correlation)(*arrays.values()), rtol=1e-12)


def test_sums_keep_the_numbers_that_they_were_written_with():
    def likelihood(x, y):
        K = np.exp(-((x[:, None] - x) ** 2)) + 0.1 * np.eye(4)
        return y @ np.linalg.solve(K, y)

    form = symgrad.grad(likelihood, 1).closed_form(W, X[:4, 0].copy(), form="matrix")
    assert "1/10 · I" in str(form)
    assert "10" not in str(form).replace("1/10", "")
    tukey = symgrad.grad(lambda r: np.sum(4.685**2 / 6 * (1 - (1 - (r / 4.685) ** 2) ** 3)))
    assert str(tukey.closed_form(W, form="matrix")) == "r ⊙ (1 − 40000/877969 · r^⊙2)^⊙2"
    huber = symgrad.grad(lambda r: np.sum(np.where(np.abs(r) < 1.345, r**2 / 2, 1.345 * (np.abs(r) - 0.6725))))
    assert str(huber.closed_form(W, form="matrix")) == "where([|r| < 1.345], r, 1.345·sign(r))"


def test_normal_densities_are_told_as_such():
    special = pytest.importorskip("scipy.special")
    is_told(lambda mu: np.sum(special.ndtr((mu - 1) / 2)), "1/2 · φ(1/2 · (mu − 𝟏))", W)

    def density(mu, x, h):
        return np.sum(np.exp(-((x - mu) ** 2) / (2 * h**2)) / (h * np.sqrt(2 * np.pi)))

    form = symgrad.grad(density).closed_form(0.3, W, 0.7, form="matrix")
    assert str(form) == "rᵀ φ(r / h) / h³\nwhere r = x − mu·𝟏"
    assert r"\phi\left(\frac{r}{h}\right)" in form.latex
    arrays = {"mu": 0.3, "x": W, "h": 0.7}
    np.testing.assert_allclose(form.evaluate(arrays), symgrad.grad(density)(0.3, W, 0.7), rtol=1e-12)
    plain = symgrad.grad(lambda x: np.sum(np.exp(-(x**2) / 2)))
    assert str(plain.closed_form(W, form="matrix")) == "−x ⊙ exp(−1/2 · x^⊙2)"


def test_odd_and_even_functions_of_opposites_are_one():
    is_told(lambda x, y: np.sum(np.sin(x - y) - np.sin(y - x)), "2 cos(y − x)", W, X[:4, 0].copy())
    is_told(lambda x, y: np.sum(np.sin(x) * np.cosh(x - y) - np.sin(x) * np.cosh(y - x) + x), "𝟏", W, W + 1)


def test_a_quotient_counts_as_zero_at_one_place_too():
    at_origin = np.where(np.arange(6)[:, None] == 1, 0.0, X)
    gradient = symgrad.grad(lambda X: np.linalg.norm(X, axis=1)[1] + np.sum(X))
    form = gradient.closed_form(at_origin, form="matrix")
    assert form.text == "𝟏𝟏ᵀ + e₁ X[1,:]ᵀ / √((X^⊙2 𝟏)[1])"
    np.testing.assert_array_equal(form.evaluate({"X": at_origin}), gradient(at_origin))


def test_bounds_of_one_quantity_are_told_at_once():
    is_told(lambda x: np.sum(np.where((x > 0) & (x <= 1), x**2, 0)), "2(x ⊙ [0 < x ≤ 1])", W)
    outside = symgrad.grad(lambda x: np.sum(np.where(~((x > 0) & (x <= 1)) | (x > 5), x**2, 0)))
    assert str(outside.closed_form(W, form="matrix")) == "2(x ⊙ [(¬(0 < x ≤ 1)) ∨ x > 5])"
    assert r"0 < x \le 1" in outside.latex(W)


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
        (lambda x: np.roll(x, 1), (W,)),
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


def test_arrays_that_the_code_made_are_told():
    form = symgrad.grad(lambda x: np.sum(np.tril(np.outer(x, x)) ** 2)).closed_form(W, form="matrix")
    assert form.where[-1] == "c_0 = 1 below the diagonal, 1 on it, 0 above it"
    assert form.latex_where[-1].startswith(r"c_{0} = \begin{bmatrix} 1 & 0 & 0 & 0 \\")


def test_a_name_has_one_meaning_in_all_outputs_of_a_program():
    def pair(X, Y):
        Z = np.tanh(X @ Y.T + 1)
        P = np.exp(X - np.mean(X))
        return Z * (1 - Z) + np.sin(Z), np.sum(P * P + np.sin(P)) * P, np.cos(Z) * Z

    first, second, third = matrix_forms(symgrad.trace(pair, X, X))
    shared = set(first.names) & set(third.names)
    assert shared
    assert all(first.names[part] == third.names[part] for part in shared)
    assert not set(first.names.values()) & set(second.names.values())
    for form, value in zip((first, second, third), pair(X, X), strict=True):
        np.testing.assert_allclose(form.evaluate({"X": X, "Y": X}), value, rtol=1e-12)

"""Rows and elements picked by index arguments: the formula, and its value beside the kernel's, also from the end."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp

import symgrad as sg
from symgrad.closed_form.matrix import matrix_forms
from symgrad.closed_form.reals import of_real_numbers

RANDOM = np.random.default_rng(8)
Z, X, W = RANDOM.normal(size=(6, 4)), RANDOM.normal(size=(6, 5)), RANDOM.normal(size=(5, 4))
ROWS, LABELS = np.array([0, 5, -1, 2, 2, 4]), np.array([0, 3, 1, -1, 2, 3])


def shifted(z, y):
    top = z.max(axis=1, keepdims=True)
    return np.mean(top[:, 0] + np.log(np.exp(z - top).sum(axis=1)) - z[np.arange(len(y)), y])


def by_probabilities(z, y):
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return -np.log(p[range(len(y)), y]).mean()


def factorised(U, V, i, j, r):
    return np.sum((np.sum(U[i] * V[j], axis=1) - r) ** 2)


FORMS = {
    "cross entropy": (shifted, (Z, LABELS), "1/6 · (softmax(z, axis=1) − onehot(y))"),
    "cross entropy by probabilities": (by_probabilities, (Z, LABELS), "1/6 · (softmax(z, axis=1) − onehot(y))"),
    "cross entropy by scipy": (
        lambda W, X, y: -log_softmax(X @ W, axis=1)[np.arange(len(y)), y].sum(),
        (W, X, LABELS),
        "Xᵀ(softmax(XW, axis=1) − onehot(y))",
    ),
    "logsumexp": (
        lambda b, z, y: np.sum(logsumexp(z + b, axis=1) - (z + b)[np.arange(len(y)), y]),
        (Z[0], Z, LABELS),
        "(softmax(𝟏bᵀ + z, axis=1) − onehot(y))ᵀ𝟏",
    ),
    "squares of elements": (
        lambda z, y: np.sum(z[np.arange(len(y)), y] ** 2),
        (Z, LABELS),
        "2(z ⊙ onehot(y))",
    ),
    "squares of rows": (lambda E, i: np.sum(E[i] ** 2), (Z, ROWS), "2 onehot(i)ᵀ E[i]"),
    "of a vector": (lambda a, g, y: np.sum((y - a[g]) ** 2), (Z[0], LABELS, Z[:, 1]), "2 onehot(g)ᵀ (a[g] − y)"),
    "compared in pairs": (
        lambda s, w, l: np.sum(np.log(1 + np.exp(s[l] - s[w]))),  # noqa: E741
        (Z[:, 0], ROWS, ROWS[::-1].copy()),
        None,
    ),
    "matrix factorisation": (factorised, (X, X + 1, ROWS, ROWS[::-1].copy(), Z[:, 0]), None),
    "elements of a product": (
        lambda U, V, i, j, r: np.sum(((U @ V.T)[i, j] - r) ** 2),
        (X, W.T.copy(), ROWS, LABELS, Z[:, 0]),
        None,
    ),
    "an element of each column": (
        lambda A, r: np.sum(A[r, np.arange(4)] ** 3),
        (Z, np.array([0, -1, 2, 5])),
        None,
    ),
}


ONE = {
    "label": (lambda z, k: -log_softmax(z)[k], (Z[0], np.int64(2)), "softmax(z) − onehot(k)"),
    "label of a batch of one": (
        lambda W, x, y: -log_softmax(x @ W, axis=1)[0, y[0]],
        (W, X[:1], np.array([-1])),
        "xᵀ(softmax(xW) − onehot(y)ᵀ)",
    ),
    "element": (lambda x, k: x[k] ** 2 + np.sum(x), (Z[0], np.array(-1)), "1 + 2(x ⊙ onehot(k))"),
    "row": (lambda E, k: np.sum(E[k] ** 2), (Z, np.array(-1)), "2 diag(onehot(k)) E"),
    "element of a matrix": (
        lambda A, i, j: A[i, j] ** 2 + np.sum(A),
        (Z, np.array(1), np.array(-2)),
        "𝟏𝟏ᵀ + 2 A[i,j]·onehot(i) onehot(j)ᵀ",
    ),
    "by parts of an index": (
        lambda z, y: z[y[0]] * z[y[1]],
        (Z[0], np.array([1, -1])),
        "z[y[1]]·onehot(y[0]) + z[y[0]]·onehot(y[1])",
    ),
}
FORMS |= ONE


@pytest.mark.parametrize("name", FORMS)
def test_the_gradient_has_a_matrix_form(name):
    f, args, text = FORMS[name]
    derived = sg.grad(f)
    program = of_real_numbers(derived.program(*args))
    (form,) = matrix_forms(program)
    made = form.evaluate(dict(zip(program.names, args, strict=True)))
    np.testing.assert_allclose(made, derived(*args), rtol=1e-11, atol=1e-12)
    assert derived.formulas(*args).kind == "matrix"
    if name != "label of a batch of one":  # NumPy's axes of length one stand in no matrix
        *lines, last = str(form.numpy).splitlines()
        scope = dict(zip(program.names, args, strict=True)) | {"np": np}
        exec("\n".join(lines), scope)
        np.testing.assert_allclose(eval(last, scope), made, rtol=1e-11, atol=1e-12)
    assert "onehot" in form.text + "".join(form.where)
    assert text is None or form.text == text
    assert derived.agreement(*args).worst < 1e-9


def pairs(X):
    i, j = np.triu_indices(len(X), 1)
    return np.sum(1 / np.sum((X[i] - X[j]) ** 2, axis=1))


@pytest.mark.parametrize(
    ("f", "args", "where"),
    [
        (pairs, (X[:4],), ["c_0 = [0, 0, 0, 1, 1, 2]", "c_1 = [1, 2, 3, 2, 3, 3]"]),
        (lambda w, X, y: np.sum(np.tanh((X @ w)[y > 0])), (W[:, 0], X, Z[:, 0]), ["c_0 = [2, 3, 5]"]),
        (lambda E: np.sum(E[np.array([1, 0, 1])] ** 2), (Z,), ["c_0 = [1, 0, 1]"]),
    ],
)
def test_known_places_are_listed(f, args, where):
    derived = sg.grad(f)
    found = derived.formulas(*args)
    assert found.kind == "matrix"
    (row,) = found.text_rows(["g"])
    assert [line.removeprefix("  where ") for line in row.splitlines() if "c_" in line.split(" = ")[0]] == where
    assert derived.agreement(*args).matrix < 1e-12


def test_index_forms_list_what_they_read():
    labels = np.array([3, 0, 3, 1, 2, 4])
    shown = sg.symbolic(lambda z: np.exp(z[np.arange(6), labels[::-1]])).formulas(np.ones((6, 5)))
    assert shown.kind == "index"
    assert shown.text_rows(["f"])[0].splitlines()[1].startswith("  where c_0 = [")
    assert shown.latex_rows(["f"])[1].startswith("c_{0} &= ")
    assert "c_{0} = " in shown.latex[0]


def test_steps_say_the_index_as_it_is_written():
    f, args, _ = ONE["label of a batch of one"]
    told = [line.text for line in sg.grad(f).steps(*args)]
    assert "f = −v₇[y]" in told
    assert "v̄₇[y] += −f̄" in told


def test_it_holds_for_every_size():
    def f(a, g, y):
        return np.sum((y - a[g]) ** 2)

    program = sg.grad(sg.named(f, a="k", g="n", y="n")).program(Z[:, 0], LABELS, Z[:, 1])
    (form,) = matrix_forms(program)
    assert form.text == "2 onehot(g)ᵀ (a[g] − y)"
    for k, index in ((3, [0, -1]), (9, [8, 1, 1, 0])):
        args = RANDOM.normal(size=k), np.array(index), RANDOM.normal(size=len(index))
        made = form.evaluate(dict(zip(program.names, args, strict=True)))
        np.testing.assert_allclose(made, sg.grad(f)(*args), rtol=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, i: np.sum(x.ravel()[i[:, None] + np.arange(2)] ** 2),
        lambda x, i: np.sum(x.ravel()[i + i[::-1]] ** 2),
        lambda x, i: np.sum(x.ravel()[4 * i + i[::-1]] ** 2),
        lambda x, i: np.sum(x[i % 3] ** 2),
        lambda x, i: np.sum(x[i - 1] ** 2),
        lambda x, i: np.sum(x[i, :2] ** 2),
        lambda x, i: np.sum(x[i, np.arange(3)[::-1]] ** 2),
        lambda x, i: np.sum(x[:, i] ** 2 * np.arange(6.0)[:, None]),
    ],
)
def test_other_indices_have_their_value(f):
    assert sg.grad(f).agreement(Z, np.array([0, 2, 1])).worst < 1e-9

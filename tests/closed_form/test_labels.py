"""Labels are LaTeX in formulas, and text, names and comments wherever there is none."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.closed_form.labels import label_comment, label_name, label_text


def labels(derived, *args):
    entry, _ = derived._compiled.served(*args)
    return derived.labels(entry)


def test_labels_of_derivatives():
    x = np.ones(2)
    found = labels(sg.grad(lambda theta, x1: np.sum(theta * x1**2), (0, 1)), x, x)
    assert list(map(label_text, found)) == ["∂f/∂theta", "∂f/∂x_1"]
    assert list(map(label_name, found)) == ["df_dtheta", "df_dx_1"]
    assert label_text(found[1], {"x_{1}": "x1"}) == "∂f/∂x1"


def test_labels_of_second_derivatives():
    x = np.ones(2)
    found = labels(sg.hessian(lambda u, v: np.sum(u**2 * v**2), (0, 1)), x, x)
    assert list(map(label_text, found))[:2] == ["∂²f/∂u²", "∂²f/∂u∂v"]
    assert list(map(label_comment, found))[:2] == ["d^2f/du^2", "d^2f/dudv"]
    (summed,) = labels(sg.grad(sg.grad(lambda x, y: np.sum(x**2 * y), 0), 1), x, x)
    assert label_text(summed) == "∂Σ∇f/∂y"


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\mathit{out}_{2}", "out_2"),
        (r"\acute{e}", "é"),
        (r"{\acute{e} l}", "él"),
        (r"\left(x\right)", "x"),
        (r"\frac{", "frac"),
        (r"\input{/etc/passwd}", "input/etc/passwd"),
    ],
)
def test_other_labels(latex, text):
    assert label_text(latex) == text


@pytest.mark.parametrize("latex", ["*/", '"""', "\n", r"\input{/etc/passwd}", "}", "{", "\\", "x_", "日"])
def test_nothing_of_a_label_leaves_its_comment(latex):
    said = label_comment(latex)
    assert said.isascii()
    assert said.isprintable()
    assert not set("\\{}*\"'`#!\n") & set(said)
    assert label_name(latex).isidentifier()


def of_keys(p, p_x, p_0, q):
    return p["x"] ** 2 * p_x + p_0 * q[0] * p["0"]


def test_no_two_arrays_have_one_name():
    given = ({"x": 0.3, "0": 0.4}, 0.5, 0.6, [1.5])
    gradient = sg.grad(of_keys, (0, 1, 2, 3))
    assert str(gradient.formulas(*given)).splitlines() == [
        "∂f/∂p_x_2 = 2*p_x*p_x_2",
        "∂f/∂p_0_2 = p_0*q_0",
        "∂f/∂p_x = p_x_2**2",
        "∂f/∂p_0 = p_0_2*q_0",
        "∂f/∂q_0 = p_0*p_0_2",
    ]
    assert gradient.agreement(*given).worst < 1e-12


def test_labels_name_arrays_as_formulas_do():
    made = sg.grad(lambda _, x: np.sum(_ * np.exp(x)), (0, 1)).formulas(np.ones(2), 1.0)
    assert str(made).splitlines() == ["∂f/∂arg = exp(x)·𝟏", "∂f/∂x = exp(x)·sum(arg)"]
    alike = sg.grad(lambda x, x1, x_1: x * x1 * x_1, 2).formulas(1.0, 2.0, 3.0)
    assert str(alike) == "∂f/∂x_1_2 = x*x1"
    along = sg.directional(lambda x, v: np.sum(x**3) * v).formulas(np.ones(2), 2.0, np.ones(2))
    assert str(along) == "∂f/∂direction = 3v·xᵀ diag(direction) x"

"""The code line: the user's own names, values written out where there are none, and always the right number."""

from __future__ import annotations

import numpy as np
import pytest
from symgrad_notebook.panel.code import code_lines
from symgrad_notebook.panel.flags import Flags
from symgrad_notebook.panel.opening import opening
from symgrad_notebook.panel.outcome import Study
from symgrad_notebook.panel.spelling import Spelling
from symgrad_notebook.panel.subject import Subject

import symgrad as sg
from symgrad import nn

from .conftest import execute, held, same


def test_the_names_are_those_of_the_notebook():
    a, b = np.ones(2), np.ones(2)
    namespace = {"f2": held, "a": a, "b": b, "ms": sg, "np": np, "_": a}
    assert code_lines(Subject.of(held, (a, b)), Flags(grad_position=(0, 1)), namespace) == "ms.grad(f2, (0, 1))(a, b)"


def test_without_a_notebook_things_are_called_what_they_call_themselves():
    assert code_lines(Subject.of(held, (0.5, 2.0)), Flags()) == "sg.grad(held)(x, y)"


def test_what_has_no_name_is_written_out():
    x = sg.Tensor([[0.1, 0.2]], sg.float32)
    code = code_lines(Subject.of(held, (x, 0.5)), Flags(), {"held": held, "sg": sg})
    assert code == "x = sg.Tensor([[0.1, 0.2]], sg.float32)\nsg.grad(held)(x, 0.5)"
    assert same(execute(code, held=held), sg.grad(held)(x, 0.5))


def test_imports_come_where_they_are_missing():
    code = code_lines(Subject.of(held, (np.array([0.1]), 0.5)), Flags(), {"held": held})
    assert code.splitlines()[:2] == ["import symgrad as sg", "import numpy as np"]


def test_a_name_that_means_something_else_is_not_written_over():
    y = np.array([1.0, 2.0])
    namespace = {"held": held, "y": y, "sg": sg}
    code = code_lines(Subject.of(held, (y, np.ones(2))), Flags(), namespace, args=(y, np.array([3.0, 4.0])))
    assert code.splitlines()[1:] == ["y_ = np.array([3.0, 4.0])", "sg.grad(held)(y, y_)"]
    assert same(execute(code, held=held, y=y), sg.grad(held)(y, np.array([3.0, 4.0])))


def test_a_large_array_is_named_in_a_remark():
    code = code_lines(Subject.of(held, (np.zeros(100), 0.5)), Flags(), {"held": held, "sg": sg})
    assert code == "# x: the argument that the panel was opened with\nsg.grad(held)(x, 0.5)"


def test_an_unnamed_function_is_reached_through_its_derivative():
    gradient = sg.grad(lambda x: x * x)
    code = code_lines(Subject.of(gradient.fn, (2.0,)), Flags(), {"g": gradient, "sg": sg}, derived=gradient)
    assert code == "sg.grad(g.fn)(2.0)"
    assert execute(code, g=gradient) == 4.0


def test_parameters_go_by_their_place_in_the_network(product):
    net, x, y = product
    net.sub = nn.Dense(3, 2, has_bias=True)
    subject = Subject.of(net, (x, y))
    namespace = {"net": net, "x": x, "y": y, "sg": sg}
    flags = Flags(grad_position=(), weights=True, trainable=(1, 2))
    code = code_lines(subject, flags, namespace)
    assert code.splitlines()[-1] == "sg.grad(net, None, weights=[net.sub.weight, net.sub.bias])(x, y)"
    cells = nn.SequentialCell([nn.Dense(3, 3), nn.Dense(3, 1)])
    flags = Flags(weights=True, trainable=(2,))
    study = Study(Subject.of(cells, (x,)), {"net": cells, "x": x, "sg": sg})
    found = study.outcome(flags)
    assert "for k, p in enumerate(net.get_parameters())" in found.code
    assert same(execute(found.code, net=cells, x=x), found.result)


def test_keywords_and_settings_are_passed_on():
    def f(x, *, scale, kind="sin"):
        return scale * (np.sin(x) if kind == "sin" else x)

    subject = Subject.of(f, (1.0,), {"scale": 2.0, "kind": "it's"})
    code = code_lines(subject, Flags(), {"f": f, "sg": sg})
    assert code == """sg.grad(f)(1.0, scale=2.0, kind="it's")"""
    assert execute(code, f=f) == 2.0


@pytest.mark.parametrize(
    "value",
    [
        *(
            0.1,
            -1e-300,
            float("nan"),
            -float("inf"),
            3,
            True,
            None,
            "a'b\"\n\u202e",
            (1.0,),
            [1, (2.0, "x")],
            {"k": 1.5},
        ),
        *(np.float32(0.1), np.array(0.5), np.array([[0.1, np.nan], [np.inf, -1]], np.float32), np.arange(3)),
        *(sg.Tensor([0.1, 0.2]), sg.Tensor(19, sg.float32), np.ones((2, 3)), {"w": np.array([1.5])}),
    ],
)
def test_literals_read_back_as_what_they_were(value):
    spelling = Spelling(None)
    text = spelling.literal(value)
    again = eval(text, {"np": np, "sg": sg})
    assert type(again) is type(value)
    assert repr(again) == repr(value)
    assert text.isprintable()


@pytest.mark.parametrize("value", [np.zeros(100), object(), [object()], np.zeros(0)])
def test_what_cannot_be_written_out_is_not(value):
    assert Spelling(None).literal(value) is None


def test_a_function_that_no_variable_holds_is_not_called_by_the_name_of_another():
    namespace = {"sg": sg, "np": np, "f": lambda x: -7 * x}
    unnamed = lambda x: x**2  # noqa: E731
    text = code_lines(Subject.of(unnamed, (3.0,)), Flags(), namespace)
    assert text.splitlines() == ["# f_: the function that the panel was opened with", "sg.grad(f_)(3.0)"]
    assert code_lines(Subject.of(np.sin, (1.0,)), Flags(), namespace) == "sg.grad(np.sin)(1.0)"


def test_a_gradient_of_a_gradient_is_reached_through_both():
    h = sg.grad(sg.grad(lambda x: x**3))
    namespace = {"sg": sg, "h": h}
    begun = opening(h, (2.0,), {})
    text = code_lines(begun.subject, begun.flags, namespace, derived=h)
    assert eval(text, namespace) == h(2.0)


def test_variables_of_the_notebook_are_not_overwritten():
    x = np.array([1.0, 2.0])
    namespace = {"sg": sg, "np": np, "x": 10.0, "f": lambda x: np.sum(x**2)}
    text = code_lines(Subject.of(namespace["f"], (x,)), Flags(), namespace)
    assert text.splitlines() == ["x_ = np.array([1.0, 2.0])", "sg.grad(f)(x_)"]

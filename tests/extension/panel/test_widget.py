"""The panel, driven by setting its controls: it follows, it coalesces, and errors are one short line."""

from __future__ import annotations

import asyncio
import logging
import random
import re
import subprocess
import sys

import numpy as np
import pytest
from IPython.utils.capture import capture_output
from symgrad_notebook.panel import panel
from symgrad_notebook.panel.flags import Flags

import symgrad as sg

from .conftest import execute, held, same


def test_toggles_change_formula_tree_values_and_code(product):
    net, x, y = product
    shown = panel(sg.GradOperation()(net), (x, y), {})
    assert shown.outcome.tree == "∂f/∂x: (2, 3)"
    shown.controls.boxes["get_all"].value = True
    assert shown.controls.call.value == "GradOperation"
    assert shown.outcome.tree == "(∂f/∂x: (2, 3), ∂f/∂y: (3, 3))"
    assert shown.code.code == "sg.GradOperation(get_all=True)(net)(x, y)"
    assert "<span class='sg-chip'>appeared</span>" in shown.formula.value
    assert "1.7 1.7 1.7" in shown.result.value
    shown.controls.boxes["get_by_list"].value = True
    assert "∂f/∂z: (1,)" in shown.outcome.tree
    shown.controls.positions[0].value = False  # a flag of grad: it is the call from now on
    shown.controls.positions[1].value = True
    assert shown.code.code == "sg.grad(net, 1)(x, y)"
    shown.controls.call.value = "value_and_grad"
    assert shown.outcome.tree == "((2, 3), ∂f/∂y: (3, 3))"


def test_sliders_change_values_and_keep_the_marks():
    shown = panel(sg.grad(held), (0.5, 2.0), {})
    shown.controls.stopped["h"].value = True
    marked = shown.formula.value
    assert "cancel" in marked
    x, _ = (field.controls[0] for field in shown.inputs.fields.values())
    x.value = 1.0
    assert shown.formula.value == marked
    assert shown.outcome.result == pytest.approx(2 * np.sin(1.0))
    assert shown.code.code.splitlines()[-1] == "sg.grad(sg.stopping(held, ['h']))(1.0, y)"
    shown.controls.stopped["h"].value = False
    assert "boxed" in shown.formula.value


def test_sens_is_edited_in_place(product):
    net, x, y = product
    shown = panel(sg.grad(net), (x, y), {})
    assert shown.sens.box.layout.display == "none"
    shown.controls.boxes["sens_param"].value = True
    assert shown.sens.box.layout.display is None
    (field,) = shown.sens.fields
    field.controls[0].value = 0.5
    wanted = sg.GradOperation(sens_param=True)(net)(x, y, np.array([[0.5, 1, 1], [1, 1, 1]], np.float32))
    assert same(shown.outcome.result, wanted)
    assert "sens = np.array([[0.5, 1.0, 1.0], [1.0, 1.0, 1.0]], np.float32)" in shown.code.code
    shown.sens.ones.click()
    assert "sens = np.ones((2, 3), np.float32)" in shown.code.code


def test_sens_of_several_outputs_and_a_large_one():
    def pair(x):
        return x, np.sum(x)

    shown = panel(sg.GradOperation(sens_param=True)(pair), (np.ones(7), (np.ones(7), 2.0)), {})
    first, second = shown.sens.fields
    assert first is None  # larger than the grid
    second.controls[0].value = 3.0
    np.testing.assert_array_equal(shown.outcome.result, np.full(7, 4.0))


def test_arguments_keep_their_kind_and_large_ones_get_no_sliders():
    args = (sg.Tensor([1.5, 2.5]), np.float32(2.0), 0.5, {"w": np.ones(2)}, np.ones(13), 3)
    shown = panel(sg.grad(lambda a, b, c, d, e, n: np.sum(a) * b * c * np.sum(d["w"]) * np.sum(e) * n), args, {})
    assert shown.inputs.values == args
    assert sorted(shown.inputs.fields) == [(0, 0), (1, 0), (2, 0), (3, 0)]
    for field in shown.inputs.fields.values():
        field.controls[0].value += 1
    moved = shown.inputs.values
    assert [type(v) for v in moved] == [type(v) for v in args]
    assert (moved[0].dtype, moved[0][0], moved[1], moved[2], moved[3]["w"][0]) == (np.float32, 2.5, 3.0, 1.5, 2.0)
    assert args[0][0] == 1.5


def test_a_refusal_is_one_line_and_the_panel_goes_on():
    shown = panel(sg.grad(held), (0.5, 2.0), {})
    before = shown.formula.value
    shown.controls.positions[0].value = False
    assert "`grad_position` and `weight` can not be None at the same time." in shown.message.value
    assert shown.code.code == ""
    assert "sg-stale" in shown.formula._dom_classes
    assert shown.formula.value == before
    shown.controls.positions[1].value = True
    assert shown.message.value == ""
    assert "sg-stale" not in shown.formula._dom_classes
    assert shown.outcome.tree == "∂f/∂y: ()"


def test_an_error_of_the_function_is_one_line(caplog):
    def f(x):
        if x > 1:
            raise ValueError("<b>x</b> is\ntoo large " + "!" * 1000)
        return x * x

    with caplog.at_level(logging.WARNING):
        shown = panel(sg.grad(f), (0.5,), {})
        slider = shown.inputs.fields[0, 0].controls[0]
        slider.value = 1.4
    assert "ValueError: &lt;b&gt;x&lt;/b&gt; is too large !!!" in shown.message.value
    assert len(shown.message.value) < 500
    slider.value = 0.7
    assert shown.message.value == ""
    assert shown.outcome.result == 1.4
    assert caplog.records == []


def test_interrupted_it_goes_on():
    stop = [False]

    def f(x):
        if stop[0]:
            raise KeyboardInterrupt
        return x * x

    shown = panel(sg.grad(f), (0.5,), {})
    stop[0] = True
    shown.controls.order.value = 2
    assert "interrupted" in shown.message.value
    stop[0] = False
    shown.controls.order.value = 3
    assert shown.message.value == ""


def test_what_is_not_finite_is_a_remark():
    shown = panel(sg.grad(np.log), (0.0,), {})
    assert "not finite here" in shown.result.value
    shown.inputs.fields[0, 0].controls[0].value = 0.5
    assert "not finite here" not in shown.result.value


def test_what_the_api_refuses_is_disabled_with_the_reason():
    shown = panel(sg.grad(lambda x, n: x**n), (2.0, 3), {})
    assert shown.controls.positions[1].disabled
    assert shown.controls.boxes["get_all"].disabled
    assert "n is not made of floats" in shown.controls._glosses["get_all"].value
    assert shown.controls.boxes["has_aux"].disabled
    pair = panel(sg.grad(lambda x: (x, x)), (2.0,), {})
    assert not pair.controls.boxes["has_aux"].disabled


def test_requires_grad_of_the_network_is_left_alone(product):
    net, x, y = product
    net.other = sg.Parameter(np.ones(1, np.float32), name="other")
    shown = panel(sg.grad(net), (x, y), {})
    shown.controls.boxes["weights"].value = True
    shown.controls.trainable[0].value = False
    assert [p.requires_grad for p in net.get_parameters()] == [True, True]
    assert "# for good: net.z.requires_grad = False" in shown.code.code
    shown.controls.trainable[1].value = False
    assert "weights is empty" in shown.message.value


def test_two_hundred_changes_are_answered_together():
    counts = []

    async def drag():
        shown = panel(sg.grad(held), (0.5, 2.0), {})
        update, slider = shown._newest._answer, shown.inputs.fields[0, 0].controls[0]
        shown._newest._answer = lambda request: (counts.append(1), update(request))
        for k in range(200):
            slider.value = 0.5 + k / 200
            if k % 10 == 0:
                await asyncio.sleep(0.001)
        await asyncio.sleep(0.5)
        return shown, slider.value

    shown, last = asyncio.run(drag())
    assert 1 <= len(counts) <= 25
    assert shown.outcome.result == pytest.approx(2 * (np.sin(last) + last * np.cos(last)))


def test_the_static_result_has_formula_code_shapes_and_values(shell):
    shown = panel(sg.grad(held), (0.5, 2.0), {})
    shown.controls.stopped["h"].value = True
    formula, rest = shown.static().bundles
    assert formula["text/latex"].startswith(r"$\displaystyle \begin{aligned} \frac{\partial f}{\partial x} &= y \sin")
    assert formula["text/plain"] == "∂f/∂x = y*sin(x)   (vanished: x*y*cos(x))"
    assert "sg.grad(sg.stopping(held, [&#x27;h&#x27;]))(x, y)" in rest["text/html"]
    assert "∂f/∂x: ()" in rest["text/plain"]
    assert "0.95885" in rest["text/plain"]
    with capture_output() as captured:
        shown.static()._ipython_display_()
    assert [sorted(o.data) for o in captured.outputs] == [["text/latex", "text/plain"], ["text/html", "text/plain"]]


def test_displayed_it_is_a_widget_with_text_and_keeps_its_result_on_request(shell):
    shown = panel(sg.grad(held), (0.5, 2.0), {})
    with capture_output() as captured:
        shown._ipython_display_()
    widget, *slots = captured.outputs
    assert "application/vnd.jupyter.widget-view+json" in widget.data
    assert widget.data["text/plain"] == "<panel of grad(held)>: run the cell to use it"
    assert [sorted(slot.data) for slot in slots] == [["text/latex", "text/plain"], ["text/html", "text/plain"]]
    assert "∂f/∂x = y*(x*cos(x) + sin(x))" in slots[0].data["text/plain"]
    assert slots[1].data["text/html"].startswith("<div class='sg-panel-opened'>")
    with capture_output() as captured:
        shown.keep.click()
    assert [sorted(o.data) for o in captured.outputs] == [["text/latex", "text/plain"], ["text/html", "text/plain"]]


def test_in_a_notebook_the_code_has_its_names(run, shell):
    run("import symgrad as ms\ndef cube(t):\n    return t**3\nt0 = np.ones(2)\nshown = ms.grad(cube).panel(t0)")
    assert shell.user_ns["shown"].code.code == "ms.grad(cube)(t0)"


def _several(x, *, n=2):
    h = x**n
    return h, np.sum(h), 3.0


def _tree(p, x, n):
    h = x @ p["w"] + p["b"]
    return {"sum": np.sum(np.tanh(h)) * n, "h": h}


def _declared(w: sg.Array[d], X: sg.Array["n d"]):  # noqa: F722, F821
    h = X @ w
    return np.log(1 + np.exp(-h))


def _branch(x):
    return x * x if x > 0 else -x


WALKS = [
    (_several, (np.array([0.5, 1.5]),), {"n": 3}),
    (_tree, ({"w": np.ones(3), "b": 0.5}, np.ones((2, 3)), 2), {}),
    (_declared, (np.ones(2), np.ones((5, 2))), {}),
    (_branch, (0.5,), {}),
    (lambda *xs: xs[0] * xs[1], (1.0, 2.0), {}),
    (lambda x: (x * 2, np.argmax(x)), (np.array([1.0, 3.0]),), {}),
    (lambda x: np.sum(np.sin(np.outer(x, x))), (np.ones(40),), {}),
]


@pytest.mark.parametrize(("function", "args", "kwargs"), WALKS)
@pytest.mark.filterwarnings("ignore::symgrad.errors.UnusedWeightWarning")
def test_any_walk_through_the_flags_shows_what_its_code_gives(function, args, kwargs):
    choice = random.Random(1)
    shown = panel(sg.grad(function), args, kwargs)
    assert shown.message.value == ""
    controls = shown.controls
    boxes = [*controls.boxes.values(), *controls.positions, *controls.stopped.values()]
    called = dict(zip(shown._study.subject.names, args, strict=True))
    name = "f" if function.__name__ == "<lambda>" else function.__name__
    for _ in range(20):
        box = choice.choice(boxes)
        if not box.disabled:
            box.value = not box.value
        controls.order.value = choice.choice((1, 1, 2))
        if shown.message.value:  # what the calls themselves refuse
            assert re.search(r">(Argument|Shape)Error: ", shown.message.value)
            continue
        assert same(execute(shown.code.code, **{name: function}, **called, **kwargs), shown.outcome.result)
        assert repr(shown.static())


def test_flags_can_be_set_from_code():
    shown = panel(sg.grad(held), (0.5, 2.0), {})
    shown.flags = Flags("GradOperation", get_all=True, order=2)
    assert shown.flags == Flags("GradOperation", get_all=True, order=2)
    assert shown.outcome.tree == "(∂Σ∇f/∂x: (), ∂Σ∇f/∂y: ())"


def test_exports_are_shown_or_written(tmp_path):
    shown = panel(sg.grad(held), (0.5, 2.0), {})
    shown.export.format.value = "latex"
    shown.export.button.click()
    assert r"\frac{\partial f}{\partial x}" in shown.export.shown.code
    shown.export.path.value = str(tmp_path / "g.tex")
    shown.export.button.click()
    assert r"\frac{\partial f}{\partial x}" in (tmp_path / "g.tex").read_text()
    assert "written to" in shown.export.said.value
    shown.export.path.value = str(tmp_path / "no" / "where")
    shown.export.button.click()
    assert "the file cannot be written (No such file or directory)" in shown.export.said.value
    shown.export.format.value, shown.export.path.value = "sympy", ""
    shown.export.button.click()
    compile(shown.export.shown.code, "shown", "exec")
    assert "import sympy" in shown.export.shown.code
    shown.export.path.value = str(tmp_path / "no" / "where")
    shown.export.button.click()
    assert shown.export.shown.code == ""  # what was shown before is not what was asked for


def test_the_derivatives_open_it():
    assert sg.grad(held).panel(0.5, 2.0).outcome.tree == "∂f/∂x: ()"


def test_the_extension_loads_without_widgets():
    code = "import symgrad_notebook, sys; print([m for m in ('ipywidgets', 'anywidget') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_missing_widgets_are_said_with_the_remedy(monkeypatch):
    for name in [m for m in sys.modules if m.startswith("symgrad_notebook.panel.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(sg.errors.MissingPart, match=r"needs ipywidgets: pip install 'symgrad\[notebook\]'"):
        panel(sg.grad(held), (0.5, 2.0), {})

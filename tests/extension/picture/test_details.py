"""What a click says, and the widget's side of the talk."""

from __future__ import annotations

import numpy as np
import pytest
from symgrad_notebook.picture import picture
from symgrad_notebook.picture.details import details

import symgrad


def loss(w, X):
    z = X @ w
    return np.sum(np.log(1 + np.exp(z)))


ARGS = (np.ones(20), np.ones((50, 20)))


@pytest.fixture
def shown():
    return picture(symgrad.grad(loss), ARGS, {})


def told(shown, row):
    box = next(b for b in shown.diagram.boxes if b.rows[0] == row)
    return dict(details(shown.diagram, box.key))


def test_of_an_operation(shown):
    found = told(shown, "v0 = X @ w")
    assert found["operation"] == "v0 = X @ w"
    assert found["formula"] == "v0 = Xw"
    assert found["shape"] == "(50,), float64"
    assert found["range"] == "20"
    assert found["finite"] == "yes"
    assert "z = X @ w" in found["line"]
    assert found["side"] == "the function loss"


def test_of_the_result_in_terms_of_inputs(shown):
    found = told(shown, "∂f/∂w")
    assert "Xᵀ" in found["formula"]
    assert found["result"] == "∂f/∂w"


def test_long_formulas_stay_let_bound():
    def f(x):
        for _ in range(40):
            x = np.sin(x) * np.cos(x)
        return np.sum(x)

    shown = picture(symgrad.grad(f), (np.ones(3),), {}).by("operation")
    box = [b for b in shown.diagram.boxes if b.kind == "operation"][-1]
    found = dict(details(shown.diagram, box.key))
    assert "too long" in found["formula"]


def test_of_an_input_and_of_nothing(shown):
    assert told(shown, "w")["input"] == "w"
    assert details(shown.diagram, "n999") == []


def test_of_what_went_wrong():
    shown = picture(symgrad.symbolic(lambda x: np.log(x)), (np.array([1.0, 0.0]),), {})
    found = told(shown, "v0 = log(x)")
    assert found["here"] == "log of 0 at [1]"
    assert found["finite"] == "no: 1 infinite"
    assert found["value"] == "[0, −inf]"


def test_of_a_group(shown):
    folded = shown.by("line")
    box = next(b for b in folded.diagram.boxes if b.kind == "group")
    found = dict(details(folded.diagram, box.key))
    assert "operations" in found
    assert "np.log(1 + np.exp(z))" in found["lines"]


def test_the_widget_answers(shown):
    room = pytest.importorskip("symgrad_notebook.picture.widget")
    widget = room.PictureWidget(shown)
    sent = []
    widget.send = lambda content, buffers: sent.append(content)
    key = shown.diagram.boxes[3].key
    for message in ({"kind": "ready"}, {"kind": "box", "key": key}, {"kind": "fold", "by": "line"}):
        widget._received(widget, message, [])
    assert [m["kind"] for m in sent] == ["picture", "details", "picture"]
    assert sent[1]["rows"] == details(shown.diagram, key)
    assert sent[2]["by"] == "line"
    for bad in ({"kind": "fold", "by": "colour"}, {"kind": "box", "key": ["x"]}, {}):
        widget._received(widget, bad, [])
    assert sent[3]["kind"] == "error"
    assert "choose one of" in sent[3]["text"]
    assert sent[4]["rows"] == []
    assert "svg" not in str(widget.get_state(["_model_module"]))

"""What is the user's appears as text, wherever it stands; and what is long is cut or folded."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest
from symgrad_notebook.panel import panel
from symgrad_notebook.panel.flags import Flags
from symgrad_notebook.panel.outcome import Study
from symgrad_notebook.panel.subject import Subject
from symgrad_notebook.panel.view import formula_html, result_html, static_bundles

import symgrad as sg
from symgrad import nn

from .conftest import execute, same

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    r"\href{javascript:alert(1)}{x}",
    "$x$ & 'quotes\" `ticks`",
    "\u202eevil\u200f",
    "two\nlines",
]
TAGS = {"div", "span", "table", "thead", "tbody", "tr", "th", "td", "pre", "code", "s", "details", "summary"}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_strings_are_text(name):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.z = sg.Parameter(np.ones(2), name=name)

        def construct(self, x, option):
            h = x * self.z
            return h * x + self.z

    net = Net()
    Net.__name__ = name
    shown = panel(sg.grad(net, 0, net.trainable_params()), (np.ones(2), name), {})
    shown.controls.trainable[0].value = False
    shown.controls.trainable[0].value = True
    shown.controls.stopped["h"].value = True
    controls = shown.controls
    for box in (*controls.positions, *controls.trainable, *controls.stopped.values()):
        assert box.description.isprintable()
        assert not re.search(r"[$\\]", re.sub(r"\\[$\\]", "", box.description))  # escaped, each of them
    statics = shown.static().bundles
    pieces = [shown.formula.value, shown.result.value, statics[1]["text/html"]]
    for text in pieces:
        assert set(re.findall(r"<\s*/?\s*(\w+)", text)) <= TAGS
        assert not re.search(r"<[^>]*(onerror|javascript)", text)
        assert text.replace("\n", "").isprintable()
    for latex in (html.unescape(shown.formula.value), statics[0]["text/latex"]):
        assert not re.search(r"\\href|javascript:|onerror=", latex)
    # every $ of the user's stands in code, which is not typeset
    assert "$" not in re.sub(r"<(code|pre)[^>]*>.*?</\1>", "", statics[1]["text/html"], flags=re.DOTALL)
    assert same(execute(shown.code.code, net=net, x=np.ones(2), option=name), shown.outcome.result)
    assert shown.code.code.replace("\n", "").isprintable()


@pytest.mark.parametrize("message", HOSTILE)
def test_hostile_messages_are_text(message):
    def f(x):
        if x > 1:
            raise ValueError(message)
        return x

    shown = panel(sg.grad(f), (0.5,), {})
    shown.inputs.fields[0, 0].controls[0].value = 1.4
    assert set(re.findall(r"<\s*/?\s*(\w+)", shown.message.value)) <= TAGS
    assert shown.message.value.isprintable()


def test_long_formulas_are_folded_and_stay_short():
    def long(x):
        for k in range(100):  # no steps that repeat (Thue and Morse), so none are a loop
            x = (np.sin, np.cos)[k.bit_count() % 2](x) * x
        return x

    found = Study(Subject.of(long, (np.ones(3),))).outcome(Flags())
    shown = formula_html(found)
    assert "<details><summary>" in shown
    assert len(shown) < 20_000
    text = static_bundles(found)[0]
    assert len(text["text/latex"]) < 8000
    assert text["text/plain"].count("\n") < 70


def test_large_values_are_summed_up():
    found = Study(Subject.of(np.sin, (np.ones((100, 100)),))).outcome(Flags())
    assert len(result_html(found)) < 2000
    assert "(100, 100)" in found.tree


def test_no_change_is_said():
    study = Study(Subject.of(np.sin, (1.0,)))
    first = study.outcome(Flags())
    assert study.outcome(Flags(mode="forward"), before=first).notes == ["the formulas are the same as before"]


def test_a_branch_is_said():
    assert "branches" in Study(Subject.of(lambda x: x if x > 0 else -x, (1.0,))).outcome(Flags()).notes[0]

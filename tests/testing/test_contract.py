"""``sg.check``: what it says of functions that keep the contract, and of those that do not."""

import os
import pathlib
import sys
import time

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentTypeError, SymgradError
from symgrad.testing import contract
from symgrad.tracing.tracer import Tracer

PAGE = pathlib.Path(__file__, "../../../docs/contract.md").resolve()
X = np.array([0.5, -1.5, 2.0])
COUNTS = {"n": 0}
BATCHES = iter(range(1, 100))
RNG = np.random.default_rng(3)


class Kept:
    def __init__(self):
        self.history = []

    def loss(self, x):
        value = np.sum(x**2)
        self.history.append(float(value))
        return value


def counts(x):
    COUNTS["n"] += 1
    return x * COUNTS["n"]


def branches(x):
    return x * x if x > 2 else 3 * x


def raises(x):
    raise KeyError("no")


KEPT = {
    "sum": (lambda x: np.sum(np.sin(x) * x), X),
    "float32": (lambda x: np.sum(x.astype(np.float32) ** 2), X),
    "nested": (lambda d: d["a"] * d["b"][0], {"a": 1.5, "b": [2.0]}),
    "whole number": (lambda n, x: x**n, 3, 2.0),
    "kink": (np.abs, 0.0),
    "branch": (branches, 1.999),
    "counter": (counts, 2.0),
    "iterator": (lambda x: x * next(BATCHES), 2.0),
    "random numbers": (lambda x: x * RNG.normal(), 2.0),
    "method that keeps": (Kept().loss, X),
    "error": (raises, 2.0),
    "no float": (lambda n: n + 1, 3),
    "several results": (lambda x: (x, {"k": x.sum(), "name": "a"}), X),
    "empty": (np.sum, np.zeros((0, 2))),
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    found = sg.check(*KEPT[name])
    assert found.kept, str(found)
    assert "keeps the contract: 6 calls compared" in repr(found)


def test_nothing_is_left():
    before = next(BATCHES), COUNTS["n"]
    sg.check(lambda x: x * next(BATCHES) * counts(x), 1.0)
    assert (next(BATCHES), COUNTS["n"]) == (before[0] + 1, before[1])


def shows(x):
    print("at", 1)
    return x * x


def writes(x):
    x[0] = 2 * x[1]
    return np.sum(x * x)


def reads_back(x):
    return x * float(f"{x:.2f}")


def looks_at_a_clock(x):
    return x * time.perf_counter()


def recurses(x):
    return x * sys.getrecursionlimit()


#: function, argument, what is said, the rule, the text of the line
BROKEN = {
    "printed": (shows, 2.0, "call 2 changes what it prints", contract.YOURS, 'print("at", 1)'),
    "written": (writes, X, "changes its arguments: array([-3. , -1.5,  2. ])", contract.ARGUMENTS, "def writes(x):"),
    "refused": (reads_back, 2.0, "it is refused: float reads a number back", contract.REFUSED, None),
    "clock": (looks_at_a_clock, 2.0, "its values are others in each run", contract.YOURS, "def looks_at_a_clock(x):"),
    "setting": (recurses, 2.0, "it may read the recursion limit", contract.YOURS, "return x * sys.getrecursionlimit()"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken(name):
    fn, x, said, rule, line = BROKEN[name]
    (breach,) = sg.check(fn, x).breaches
    assert said in breach.what
    assert breach.rule == rule
    assert line is None or line == breach.line.text
    assert f"contract: {rule}" in str(breach)


def test_a_wrong_value_and_its_line():
    def f(x):
        half = x / 2
        factor = 3.0 if isinstance(x, Tracer) else 2.0
        bent = half * factor
        return bent + 1

    (value, slope) = sg.check(f, 1.0).breaches
    assert value.what == "call 1 gives 2.5, the plain function 2.0."
    assert value.line.text == "bent = half * factor"
    assert slope.what == "the slope along a direction is 0.518376, and 0.345584 by differences."
    assert {value.rule, slope.rule} == {contract.VALUES}


def test_a_wrong_slope(monkeypatch):
    right = contract.jvp
    monkeypatch.setattr(contract, "jvp", lambda fn, x, v: (None, [2 * s for s in right(fn, x, v)[1]]))
    found = sg.check(np.sin, X)
    assert found.breaches[0].rule == contract.VALUES
    assert "by differences" in found.breaches[0].what


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_function_that_ends_the_process_is_told():
    def f(x):
        os._exit(3)

    with pytest.raises(SymgradError, match="ended early"):
        sg.check(f, 1.0)


def test_each_rule_stands_on_the_page():
    text = PAGE.read_text()
    for rule in (contract.VALUES, contract.ONE_RUN, contract.ARGUMENTS):
        assert f"\n**{rule}.**" in text
    for rule in (contract.REFUSED, contract.YOURS):
        assert f"\n## {rule}\n" in text


def test_what_is_no_function():
    with pytest.raises(ArgumentTypeError):
        sg.check(3.0, X)


def test_it_is_shown_in_a_notebook_as_it_is():
    shown = sg.check(lambda x: x * (x < 1), 0.5)._repr_html_()
    assert shown.startswith("<pre>f keeps the contract")
    assert "&lt;" in contract.Contract("<b>", (), "")._repr_html_()

"""Long programs are folded: by line, by loop, by stretch; nothing hangs."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from symgrad_notebook.picture import layout, picture
from symgrad_notebook.picture.folding import MAX_BOXES

import symgrad
from symgrad.errors import ArgumentError


def deep(x):
    for _ in range(2000):
        x = np.sin(x) * 1.01 + 0.1
    return np.sum(x)


@pytest.fixture(scope="module")
def long():
    """The picture of 10^4 operations."""
    return picture(symgrad.grad(deep), (np.ones(3),), {})


def test_ten_thousand_operations(long):
    assert len(long.diagram.subject.program.bindings) >= 9_000
    assert long.diagram.by == "line"
    assert "operations folded into" in long.svg
    assert len(long.svg) < 50_000
    assert "x = np.sin(x) * 1.01 + 0.1" in long.svg


@pytest.mark.parametrize("way", ["line", "loop", "stretch"])
def test_every_operation_is_in_one_box(long, way):
    shown = long.by(way)
    inside = [n for b in shown.diagram.boxes if b.kind in ("operation", "group") for n in b.nodes]
    assert sorted(inside, key=id) == sorted(shown.diagram.subject.program.bindings, key=id)
    keys = {b.key for b in shown.diagram.boxes}
    assert len(keys) == len(shown.diagram.boxes)
    assert {e.source for e in shown.diagram.edges} | {e.target for e in shown.diagram.edges} <= keys


def test_stretches_are_few(long):
    assert len(long.by("stretch").diagram.boxes) <= 30


def test_an_unknown_way(long):
    with pytest.raises(ArgumentError, match="choose one of"):
        long.by("colour")


def test_short_programs_are_not_folded():
    shown = picture(symgrad.grad(lambda x: np.sum(np.sin(x))), (np.ones(3),), {})
    assert shown.diagram.by == "operation"
    assert shown.diagram.note == ""
    assert shown.by("line").diagram.by == "line"


def test_without_lines_it_is_folded_by_something_else():
    made = eval("lambda x: " + "np.sin(" * 90 + "x" + ")" * 90, {"np": np})
    shown = picture(symgrad.grad(made), (np.ones(3),), {})
    assert len(shown.diagram.boxes) <= MAX_BOXES


def test_many_inputs_and_results_are_folded():
    def many(*xs):
        return sum(np.sum(np.sin(x)) for x in xs)

    xs = tuple(np.full(2, k) for k in range(60))
    shown = picture(symgrad.grad(many, tuple(range(60))), tuple(x.astype(float) for x in xs), {})
    assert len(shown.diagram.boxes) < 40
    assert any(b.rows[0] == "60 inputs" for b in shown.diagram.boxes)
    assert any(b.rows[0] == "60 results" for b in shown.diagram.boxes)
    assert shown.svg


def test_an_origin_inside_is_told():
    def f(x):
        for _ in range(60):
            x = np.log(x)
        return np.sum(x)

    shown = picture(symgrad.grad(f), (np.full(2, 3.0),), {})
    assert shown.diagram.by == "line"
    assert "⚠" in shown.svg
    assert "log of −" in shown.svg


@pytest.mark.needs("dot")
def test_a_slow_graphviz_gives_the_folded_form(monkeypatch):
    shown = picture(symgrad.grad(lambda x: np.sum(np.sin(np.cos(x)) * x)), (np.ones(3),), {})
    ran = subprocess.run
    calls = []

    def slow_at_first(command, **options):
        calls.append(command)
        if len(calls) == 1:
            raise subprocess.TimeoutExpired(command, options["timeout"])
        return ran(command, **options)

    monkeypatch.setattr(layout.subprocess, "run", slow_at_first)
    assert "folded into" in shown.svg
    assert shown.shown.by == "line"


def test_a_graphviz_that_never_ends(monkeypatch):
    def never(command, **options):
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(layout.shutil, "which", lambda _: "dot")
    monkeypatch.setattr(layout.subprocess, "run", never)
    shown = picture(symgrad.grad(lambda x: np.sum(np.sin(x))), (np.ones(3),), {})
    assert shown.svg.startswith("<svg")

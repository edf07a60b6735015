"""The header of every export: its facts, and that nothing in it ends a comment."""

from __future__ import annotations

import re

import numpy as np
import pytest
from cases import CASES

import symgrad as sg
from symgrad.exporters import header
from symgrad.transforms.subjects import subject_of
from symgrad.version import VERSION


def lines(derived, *args):
    return header.lines(subject_of(derived, args, {}, None, "auto", False))


@pytest.mark.parametrize("name", CASES)
def test_it_says_what_it_is_of(name):
    subject = CASES[name].subject()
    said = "\n".join(header.lines(subject))
    assert f"derived by symgrad {VERSION}" in said
    assert re.search(r"SHA-256 of its source [0-9a-f]{16}\b", said)
    for word in ("flags: ", "inputs: ", "outputs: ", "operations: ", "check: ", "finite differences: "):
        assert word in said
    assert all(len(line) <= 100 for line in header.lines(subject))


@pytest.mark.parametrize("name", [n for n in CASES if n != "vmap"])
def test_the_derivative_is_that_of_finite_differences(name):
    check = CASES[name].subject().check
    assert check is not None
    assert check.residual is not None
    assert check.residual < 1e-6


def test_conventions_are_those_that_concern_the_function():
    def kinked(x):
        return np.sum(np.abs(x)) + np.max(x)

    said = header.conventions(subject_of(sg.grad(kinked), (np.array([1.0, 2.0]),), {}, None, "auto", False))
    assert said == ["abs(x) has slope 0 at x = 0", "at ties within an array max and min share the slope evenly"]
    smooth = subject_of(sg.grad(lambda x: x**2), (1.0,), {}, None, "auto", False)
    assert header.conventions(smooth) == []


def test_the_same_source_has_the_same_hash_and_another_one_another():
    def first(x):
        return x * 2.0

    def second(x):
        return x * 3.0

    hashes = [subject_of(sg.grad(f), (1.0,), {}, None, "auto", False).facts.source_hash for f in (first, first, second)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_sizes_that_it_holds_for():
    assert "holds where: n >= 2" in "\n".join(
        lines(sg.grad(sg.named(lambda x: np.sum(x[1:] * x[:-1]) + x[1], x="n")), "n")
    )


def test_nothing_in_it_ends_a_comment_or_begins_a_command():
    def f(x):
        return x**2

    f.__name__ = 'a*/ """ \\input{x} --> ]]> \n#include $`%'
    net = sg.Parameter(np.array(1.0), name="*/ */ \n \\ -- \u2028")
    made = lines(sg.grad(lambda x: x * net, 0, net), 1.0) + lines(sg.grad(f), 2.0)
    for line in made:
        assert re.fullmatch(r"[ A-Za-z0-9_.,:;()\[\]=<>+/^-]*", line)
        assert "*/" not in line
        assert "--" not in line

"""Which loops run as vectors, in the text of the C that is exported."""

from __future__ import annotations

import re

import numpy as np
import pytest
from exportables import unchecked

import symgrad as sg
from symgrad.exporters.c import source
from symgrad.exporters.sources import Sources


def body(derived, *args):
    made = source(unchecked(derived, args))
    assert isinstance(made, Sources)
    (text,) = [t for name, t in made.items() if not name.endswith(("_check.c", ".h"))]
    return text[text.index("#include") :]


def loops(text):
    return len(re.findall(r"for \(size_t [i-s] =", text))


def test_sums_are_taken_in_short_runs():
    long = body(sg.symbolic(lambda x: np.sum(np.sin(x))), np.ones(5000))
    assert "from += 2048" in long
    assert "reduction(+:part0)" in long
    short = body(sg.symbolic(lambda x: np.sum(np.sin(x))), np.ones(500))
    assert "from" not in short
    assert re.search(r"reduction\(\+:v\d+\)", short)


def test_float32_is_summed_as_it_is_within_a_run():
    text = body(sg.symbolic(lambda x: np.sum(x * x)), np.ones(5000, np.float32))
    assert "float part0 = 0" in text
    assert "double v" in text


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (lambda x: np.exp(x) * x, 1),
        (lambda x: np.exp(x) * x[0], 2),
        (lambda x: np.exp(x[:, 1:]), 2),
        (lambda x: np.exp(x[1:]), 1),
        (lambda x: np.sum(np.exp(x), axis=1), 2),
    ],
)
def test_loops_that_walk_on_as_one_are_one(function, count):
    assert loops(body(sg.symbolic(function), np.ones((40, 30)))) == count


def test_turns_that_depend_on_one_another_are_no_vectors():
    assert "pragma omp" not in body(sg.symbolic(np.cumsum), np.ones(5))
    scattered = body(sg.grad(lambda x, i: np.sum(x[i] ** 2)), np.ones(5), np.array([1, 1, 0]))
    added = scattered[: scattered.index("+=")]
    assert not added[added.rindex("for (") - 60 :].lstrip().startswith("#pragma omp")


def test_pieces_that_overlap_are_added_one_after_the_other():
    text = body(sg.grad(lambda x: np.sum((x[1:] - x[:-1]) ** 2)), np.ones(50))
    for turn in re.findall(r"for \(size_t i =[^}]*", text):
        assert len(re.findall(r"df_dx\[[^]]*\] \+=", turn)) <= 1

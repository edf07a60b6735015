"""The annotated source: what is counted where, and that the source stays text."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from symgrad_notebook.annotation import annotate

import symgrad as sg


def loss(w, X, y):
    z = X @ w
    p = 1 / (1 + np.exp(-z))
    q = 1 / (1 + np.exp(-z))

    return np.sum((p * q - y) ** 2)


ARGS = np.zeros(3), np.ones((200, 3)), np.ones(200)
START = inspect.getsourcelines(loss)[1]


def rows(made):
    return {c.number - START: c for c in made.lines}


def test_every_operation_is_counted_once():
    derived = sg.grad(loss)
    made = annotate(derived, ARGS, {})
    all_rows = [*made.lines, made.elsewhere]
    assert sum(c.own for c in all_rows) == sum(sg.symbolic(loss).program(*ARGS).operation_counts().values())
    assert sum(c.added + c.kept for c in all_rows) == sum(derived.program(*ARGS).operation_counts().values())
    assert rows(made)[1].own == 1
    assert rows(made)[1].added >= 1
    assert made.elsewhere.own == 0


def test_what_was_shared_is_said_where_it_was_asked_for():
    shared = rows(annotate(sg.symbolic(loss), ARGS, {}))
    assert shared[3].shared == 4  # the negative, its exponential, the sum and the quotient of the line above
    assert shared[2].shared == 0
    assert shared[3].own == 0


def test_the_work_is_that_of_the_elements():
    made = rows(annotate(sg.grad(loss), ARGS, {}))
    assert made[2].work >= 200 * (made[2].added + made[2].kept)
    assert made[4].work == 0


def test_kernel_lines_stand_behind_their_line():
    made = rows(annotate(sg.grad(loss), ARGS, {}))
    assert any("np.exp(" in text for text in made[2].kernel)
    assert any("np.matmul(" in text for text in made[1].kernel)
    assert made[0].kernel == []
    assert "<details><summary>" in annotate(sg.grad(loss), ARGS, {})._repr_html_()


def test_a_hessian_adds_both_orders():
    first, second = (rows(annotate(kind(loss), ARGS, {})) for kind in (sg.grad, sg.hessian))
    assert sum(c.added for c in second.values()) > sum(c.added for c in first.values())


def test_sens_and_prints():
    said = []

    def f(x):
        said.append("once")
        print("seen")
        return x**2

    made = annotate(sg.GradOperation(sens_param=True)(f), (np.ones(2), np.ones(2)), {})
    assert sum(c.own for c in made.lines) == 1


def test_the_whole_cell_is_shown_in_a_notebook(run, shell):
    cell = "k = 3.0\ndef helper(u):\n    return np.sin(u)\ndef f(x):\n    return helper(x) * k\nunrelated = 1\n"
    shown = run(f"%%grad -a --at x=2\n{cell}")
    (text,) = [o.data["text/plain"] for o in shown.outputs if "swell" in o.data.get("text/plain", "")]
    assert "k = 3.0" in text
    assert "unrelated" not in text
    assert re.search(r"4 +1 +[12] .* return np.sin\(u\)", text)


@pytest.mark.parametrize("hostile", ["<img src=x onerror=alert(1)>", "</script>", "\u202e", "'\"$&"])
def test_source_is_text(run, hostile):
    shown = run(f"%%grad -a --at x=2\ndef f(x):  # {hostile}\n    return x**2\n")
    (bundle,) = [o.data for o in shown.outputs if "swell" in o.data.get("text/plain", "")]
    assert (
        not re.search(r"<(img|script)|onerror=alert\(1\)>", bundle["text/html"].replace("&lt;", "").replace("&gt;", ""))
        or "&lt;" in bundle["text/html"]
    )
    assert "<img" not in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    assert bundle["text/plain"].replace("\n", "").isprintable()

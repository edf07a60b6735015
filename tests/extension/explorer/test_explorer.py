"""The answers to the front end: what is there, windows of it, an entry; errors are answers too."""

from __future__ import annotations

import json

import numpy as np
import pytest
from symgrad_notebook.explorer import explore
from symgrad_notebook.explorer.pooling import INFINITY, NUMBER, ZERO

import symgrad as sg


def _banded(x):
    return np.sin(x[:-1]) * x[1:]


def _ask(explorer, kind, **content):
    answers = list(explorer.answers({"kind": kind, "view": "v", "serial": 7, **content}))
    for content, buffers in answers:
        assert json.loads(json.dumps(content, allow_nan=False))["serial"] == 7
        assert content["view"] == "v"
        assert all(isinstance(b, bytes) for b in buffers)
    return answers


def test_open_tells_the_blocks():
    explorer = explore(sg.jacobian(lambda x, y: (x * y, np.log(y)), (0, 1)), (np.ones(2), np.array([0.0, 1.0])), {})
    ((content, buffers),) = _ask(explorer, "open")
    assert content["kind"] == "blocks"
    assert content["title"] == "Jacobian of f"
    assert content["inputs"] == 2
    assert len(content["blocks"]) == 4
    assert len(buffers) == 4 + 2 * 4
    assert [len(b) for b in buffers[:4]] == [4 * 255, 16] * 2
    last = content["blocks"][3]
    assert last["shape"] == (2, 2)
    assert last["zeros"] == 2
    assert last["odd"] == [{"mark": INFINITY, "count": 1, "first": (0, 0)}]


def test_a_small_window_and_its_values():
    x = np.array([0.0, 1.0, 2.0])
    explorer = explore(sg.jacobian(_banded), (x,), {})
    ((content, (values,)),) = _ask(explorer, "values", block=0, rows=[0, 2], columns=[0, 9])
    assert (content["rows"], content["columns"]) == ([0, 2], [0, 3])
    np.testing.assert_array_equal(np.frombuffer(values).reshape(2, 3), sg.jacobian(_banded)(x))
    ((content, (levels, marks)),) = _ask(explorer, "window", block=0, log=False, rows=[0, 2], columns=[0, 3])
    assert content["bins"] == (2, 3)
    assert np.frombuffer(marks, np.uint8).tolist() == [NUMBER, NUMBER, ZERO, ZERO, NUMBER, NUMBER]
    assert np.abs(np.frombuffer(levels, np.int8)).max() == 127


def test_a_large_window_is_pooled_and_one_into_it_is_not():
    explorer = explore(sg.jacobian(_banded), (np.linspace(1, 2, 3001),), {})
    ((content, buffers),) = _ask(explorer, "window", block=0, log=True, rows=[0, 3000], columns=[0, 3001])
    assert content["bins"] == (1024, 1024)
    assert [len(b) for b in buffers] == [1024 * 1024] * 2
    ((content, buffers),) = _ask(explorer, "window", block=0, log=True, rows=[2990, 9999], columns=[-5, 3])
    assert (content["rows"], content["columns"]) == ([2990, 3000], [0, 3])
    assert [len(b) for b in buffers] == [30, 30]


def test_looking_finds_the_strongest():
    explorer = explore(sg.jacobian(lambda x: x**2), (np.array([1.0, -3.0, 2.0]),), {})
    ((content, _),) = _ask(explorer, "look", block=0, rows=[0, 3], columns=[0, 3])
    assert (content["row"], content["column"]) == (1, 1)
    assert content["title"] == "out[1] by x[1]"
    assert content["value"] == "-6"
    assert not content["structural"]
    ((content, _),) = _ask(explorer, "look", block=0, rows=[0, 1], columns=[1, 3])
    assert content["structural"]


def test_picking_reads_the_entry_and_then_its_lines():
    explorer = explore(sg.jacobian(_banded), (np.array([0.5, 1.0, 2.0]),), {})
    (entry, _), (lines, _) = _ask(explorer, "pick", block=0, rows=[0, 1], columns=[0, 1])
    assert entry["kind"] == "entry"
    assert entry["text"] == "x1*cos(x0)"
    assert entry["latex"] == r"x_{1} \cos{\left(x_{0} \right)}"
    assert lines["kind"] == "lines"
    assert [line["text"].strip() for line in lines["files"][0]["lines"] if "flow" in line] == [
        "return np.sin(x[:-1]) * x[1:]"
    ]


def test_picking_in_another_block_reads_that_block():
    explorer = explore(sg.jacobian(lambda x, y: (x * y, x + y**3), (0, 1)), (np.ones(2), np.ones(2)), {})
    (entry, _), _ = _ask(explorer, "pick", block=3, rows=[1, 2], columns=[1, 2])
    assert (entry["title"], entry["text"]) == ("out[1][1] by y[1]", "3*y1**2")


def test_a_hessian_and_aux():
    explorer = explore(sg.hessian(lambda x: np.sum(x**3)), (np.array([1.0, 2.0]),), {})
    (entry, _), _ = _ask(explorer, "pick", block=0, rows=[0, 2], columns=[0, 2])
    assert (entry["title"], entry["text"]) == ("∂f/∂x[1] by x[1]", "6*x1")
    explorer = explore(sg.jacobian(lambda x: (x**2, np.sum(x)), has_aux=True), (np.array([1.0, 2.0]),), {})
    assert len(explorer.blocks) == 1
    (entry, _), _ = _ask(explorer, "pick", block=0, rows=[1, 2], columns=[1, 2])
    assert entry["text"] == "2*x1"


def test_what_is_written_into_an_argument_later_is_not_seen():
    x = np.array([1.0, 2.0])
    explorer = explore(sg.jacobian(lambda x: x**2), (x,), {})
    x[:] = 9
    (entry, _), (lines, _) = _ask(explorer, "pick", block=0, rows=[1, 2], columns=[1, 2])
    assert entry["value"] == "4"
    assert [line["flow"] for file in lines["files"] for line in file["lines"] if "flow" in line] == ["4"]


@pytest.mark.parametrize(
    "message",
    [
        {"kind": "nonsense"},
        {"kind": "window", "block": 9, "log": False, "rows": [0, 1], "columns": [0, 1]},
        {"kind": "look", "block": 0, "rows": "ab", "columns": [0]},
        {"kind": "pick", "block": 0},
        {},
    ],
)
def test_an_error_is_an_answer(message):
    explorer = explore(sg.jacobian(lambda x: x**2), (np.ones(2),), {})
    ((content, buffers),) = explorer.answers({"view": "v", "serial": 1, **message})
    assert content["kind"] == "problem"
    assert content["of"] == message.get("kind")
    assert "\n" not in content["text"]
    assert not buffers


def test_a_million_unknowns():
    pytest.importorskip("scipy.sparse")

    def rosenbrock(x):
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    x = np.linspace(-1, 1, 10**6)
    explorer = explore(sg.hessian(rosenbrock, sparse=True), (x,), {})
    ((_, (_, marks)),) = _ask(explorer, "window", block=0, log=False, rows=[0, 10**6], columns=[0, 10**6])
    shown = np.frombuffer(marks, np.uint8).reshape(1024, 1024)
    assert (np.abs(np.subtract(*np.nonzero(shown))) <= 1).all()
    assert (shown.diagonal() == NUMBER).all()
    ((content, (_, marks)),) = _ask(
        explorer, "window", block=0, log=False, rows=[500_000, 500_008], columns=[500_000, 500_008]
    )
    assert content["bins"] == (8, 8)
    rows, columns = np.nonzero(np.frombuffer(marks, np.uint8).reshape(8, 8))
    assert (np.abs(rows - columns) <= 1).all()
    assert len(rows) == 22
    (entry, _), _ = _ask(explorer, "pick", block=0, rows=[500_000, 500_001], columns=[500_000, 500_001])
    assert entry["text"] == "1200*x500000**2 - 400*x500001 + 202"


def test_arguments_are_checked():
    with pytest.raises(sg.errors.ArgumentError, match="pass example ar"):
        explore(sg.jacobian(np.sin), (), {})

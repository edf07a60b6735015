"""An entry to read: its formula within bounds, and the lines of the user's code with what flows through them."""

from __future__ import annotations

import linecache

import numpy as np
from symgrad_notebook.explorer import reading
from symgrad_notebook.explorer.blocks import blocks_of
from symgrad_notebook.explorer.reading import as_listing, closed_form, contributions

import symgrad as sg
from symgrad.tracing.provenance import SourceLine
from symgrad.transforms.contributions import Contributions, LineShare


def _arm(q, lengths):
    angle = q[0] + q[1]
    x = lengths[0] * np.cos(q[0]) + lengths[1] * np.cos(angle)
    y = lengths[0] * np.sin(q[0]) + lengths[1] * np.sin(angle)
    return np.stack([x, y])


ARGS = (np.array([0.3, -0.5]), np.array([1.0, 0.8]))


def _read(reader, fn, args, place, **options):
    derivative = sg.jacobian(fn, **options)
    return reader(derivative, blocks_of(derivative, args, {})[0], place, args, {})


def test_the_closed_form():
    form = _read(closed_form, _arm, ARGS, (0, 1))
    assert form["text"] == "-lengths1*sin(q0 + q1)"
    assert form["latex"].count("sin") == 1
    assert form["note"] == ""


def test_how_the_entries_of_a_matrix_are_counted_is_said():
    form = _read(closed_form, lambda A: A @ A, (np.ones((2, 2)),), (0, 1))
    assert form["text"] == "A2"
    assert form["note"] == "in formulas entries are counted row by row: A1 is A[0, 1]"


def test_a_form_that_would_be_too_large_says_what_to_do():
    def deep(x):
        for _ in range(40):
            x = np.sin(x) * x
        return x

    form = _read(closed_form, deep, (np.ones(2),), (0, 0))
    assert form["text"] == form["latex"] == ""
    assert "let-bound" in form["note"]
    assert ".program(" in form["note"]


def test_a_long_form_is_cut_and_not_typeset(monkeypatch):
    monkeypatch.setattr(reading, "_LONGEST_TEXT", 9)
    monkeypatch.setattr(reading, "MAX_CHARACTERS", 20)
    form = _read(closed_form, _arm, ARGS, (0, 1))
    assert form == {"latex": "", "text": "-lengths1 …", "note": "a long formula: .entry((0, 1), …) gives all of it"}


def test_lines_and_paths():
    listing = _read(contributions, _arm, ARGS, (0, 1))
    (file,) = listing["files"]
    assert file["name"] == "test_reading.py"
    lines = file["lines"]
    assert [line["text"].split(" =")[0].strip() for line in lines] == [
        "def _arm(q, lengths):",
        "angle",
        "x",
        "y",
        "return np.stack([x, y])",
    ]
    assert [line["number"] for line in lines] == list(range(lines[0]["number"], lines[0]["number"] + 5))
    flows = {line["text"].split(" =")[0].strip(): line.get("flow") for line in lines}
    expected = f"{-0.8 * np.sin(-0.2):.4g}"
    assert flows["angle"] == flows["x"] == expected
    assert flows["y"] is None
    assert listing["paths"] == [[lines[1]["id"], lines[2]["id"], lines[4]["id"]]]


def test_shares_become_widths_and_signs():
    here = [SourceLine(__file__, k) for k in (1, 2, 3)]
    shares = [
        LineShare(here[0], -2.0, 2.0, ["a"]),
        LineShare(here[1], 0.0, 1.0, []),
        LineShare(here[2], np.nan, np.nan, []),
    ]
    listing = as_listing(print, Contributions(0.0, shares, [(here[0], here[1])]))
    rows = listing["files"][0]["lines"]
    assert [(r["flow"], r["sign"], r["width"]) for r in rows] == [("-2", -1, 1.0), ("0", 0, 0.5), ("NaN", 0, 1.0)]
    assert listing["paths"] == [[0, 1]]


def test_of_a_long_function_the_lines_around_what_contributes():
    source = (
        "import numpy as np\ndef long(x):\n"
        + "    y = 1\n" * 50
        + "    z = x * x\n"
        + "    y = 2\n" * 50
        + "    return z\n"
    )
    linecache.cache["<long>"] = (len(source), None, source.splitlines(True), "<long>")
    namespace: dict = {}
    exec(compile(source, "<long>", "exec"), namespace)
    listing = _read(contributions, namespace["long"], (np.ones(2),), (0, 0))
    numbers = [line["number"] for line in listing["files"][0]["lines"]]
    assert numbers == [51, 52, 53, 54, 55]


def test_a_function_without_source_shows_the_lines_alone():
    namespace: dict = {}
    exec(compile("def f(x):\n    return x * x\n", "<nowhere>", "exec"), namespace)
    listing = _read(contributions, namespace["f"], (np.ones(2),), (0, 0))
    assert [(line["number"], line["text"]) for line in listing["files"][0]["lines"]] == [(2, "")]


def test_an_error_is_one_line():
    class Broken:
        fn = print

        def entry(self, *args, **kwargs):
            raise TypeError("no\nway\u202e")

        contributions = entry

    (block,) = blocks_of(sg.jacobian(np.sin), (1.0,), {})
    assert closed_form(Broken(), block, (0, 0), (), {})["note"] == "TypeError: no way\\u202e"  # type: ignore[arg-type]
    assert contributions(Broken(), block, (0, 0), (), {})["note"] == "TypeError: no way\\u202e"  # type: ignore[arg-type]

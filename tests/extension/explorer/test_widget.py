"""The widget without a front end: what it sends, what is saved of it, and what it says where anywidget is missing."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import numpy as np
import pytest
from symgrad_notebook.explorer import explore

import symgrad as sg
from symgrad.errors import MissingPart

ROOM = pathlib.Path(sys.modules["symgrad_notebook.explorer"].__file__ or "").parent


@pytest.fixture
def explorer():
    return explore(sg.jacobian(lambda x: x**2), (np.ones(3),), {})


def test_a_message_is_answered_in_messages(explorer, monkeypatch):
    pytest.importorskip("anywidget")
    sent = []
    monkeypatch.setattr(
        type(explorer.widget), "send", lambda self, content, buffers=None: sent.append((content, buffers))
    )
    pick = {"kind": "pick", "view": "a", "serial": 1, "block": 0, "rows": [1, 2], "columns": [1, 2]}
    explorer.widget._handle_custom_msg(pick, [])
    explorer.widget._handle_custom_msg("no dict", [])
    assert [content["kind"] for content, _ in sent] == ["entry", "lines"]


def test_nothing_but_the_code_is_synchronised(explorer):
    pytest.importorskip("anywidget")
    state = explorer.widget.get_state()
    own = {name for name in state if name not in ("_esm", "_css")}
    assert sum(len(repr(state[name])) for name in own) < 1000
    assert (ROOM / "explorer.js").stat().st_size < 30_000
    assert state["_esm"] == (ROOM / "explorer.js").read_text()


def test_in_a_terminal_the_picture_is_words(run):
    pytest.importorskip("anywidget")
    captured = run("import symgrad as sg\nsg.jacobian(lambda x: x**2).explore(np.ones(3))")
    (shown,) = captured.outputs
    assert shown.data["text/plain"].startswith("Jacobian of f\n  out by x: 3 × 3, 3 entries (33.3%)")


@pytest.fixture
def _no_anywidget(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    for name in ("widgets", "explorer.widget"):
        monkeypatch.delitem(sys.modules, f"symgrad_notebook.{name}", raising=False)


@pytest.mark.usefixtures("_no_anywidget")
def test_without_anywidget_a_notebook_shows_the_picture_and_the_fix(shell, run, monkeypatch):
    monkeypatch.setattr(shell, "kernel", object(), raising=False)
    captured = run("import symgrad as sg\nsg.jacobian(lambda x: x**2).explore(np.ones(3))")
    picture, words = (shown.data for shown in captured.outputs)
    assert "sg-static" in picture["text/html"]
    assert "pip install 'symgrad[notebook]'" in words["text/plain"]


@pytest.mark.usefixtures("_no_anywidget")
def test_without_anywidget_the_picture_is_left(explorer):
    with pytest.raises(MissingPart, match=r"pip install 'symgrad\[notebook\]'"):
        _ = explorer.widget
    assert explorer.static().svg.startswith("<svg")


def test_the_picture_needs_no_widgets():
    code = (
        "import sys, numpy as np, symgrad as sg\n"
        "from symgrad_notebook.explorer import explore\n"
        "explore(sg.jacobian(lambda x: x**2), (np.ones(3),), {}).static()._repr_mimebundle_()\n"
        "print(sorted({'anywidget', 'ipywidgets', 'matplotlib'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

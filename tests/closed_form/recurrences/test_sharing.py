"""What many equations share is named, as long as a reader would still read the lines."""

from __future__ import annotations

from recurring import CASES

import symgrad as sg
from symgrad.closed_form.recurrences import sharing


def test_the_search_ends_where_there_are_more_lines_than_anyone_reads(monkeypatch):
    function, positions, args = CASES["kalman"]
    named = []
    name = sharing._Sharing._named
    monkeypatch.setattr(sharing._Sharing, "_named", lambda self, *rest: named.append(1) or name(self, *rest))
    assert sg.grad(function, positions).formulas(*args).kind == "recurrence"
    assert len(named) > 4
    named.clear()
    monkeypatch.setattr(sharing, "MAX_LINES", 2)
    assert sg.grad(function, positions).formulas(*args).kind != "recurrence"
    assert len(named) == 4

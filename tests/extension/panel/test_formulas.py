"""The formulas of a derivative in the panel: loops are read as loops, whatever runs."""

from __future__ import annotations

from symgrad_notebook.panel.flags import Flags
from symgrad_notebook.panel.outcome import Study
from symgrad_notebook.panel.subject import Subject


def test_a_short_loop_is_read_as_one():
    def heron(a):
        x = a
        for _ in range(4):
            x = (x + a / x) / 2
        return x

    found = Study(Subject.of(heron, (2.0,))).outcome(Flags())
    rows = [row.text for row in found.rows]
    assert "xₜ₊₁ = 1/2 · (xₜ + a / xₜ)" in rows[1]
    assert rows[-1].startswith("∂f/∂a = ")
    assert found.operations > 10  # what runs is written out

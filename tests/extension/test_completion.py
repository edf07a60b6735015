"""Tab completion on the magics' lines."""

from __future__ import annotations

import numpy as np
import pytest
from IPython.core.completer import provisionalcompleter

from symgrad import Parameter, nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.z = Parameter(np.ones(1), name="z")

    def construct(self, x):
        return x * self.z


@pytest.fixture
def complete(shell):
    shell.user_ns |= {"xs": np.ones(3), "xy": 2.0, "word": "text", "func": lambda x: x, "net": Net()}

    def complete(line: str) -> list[str]:
        with provisionalcompleter():
            return [c.text for c in shell.Completer.completions(line, len(line))]

    return complete


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("%%grad --mo", ["--mode"]),
        ("%%grad --mode re", ["reverse"]),
        ("%%grad --backend n", ["native", "numexpr", "numpy"]),
        ("%%grad --export py", ["python"]),
        ("%%grad --wrt x", ["xs", "xy"]),
        ("%%grad --wrt xs,x", ["xs", "xy"]),
        ("%%grad --sens xy", ["xy"]),
        ("%grad fu", ["func"]),
        ("%grad ne", ["net"]),
        ("%grad func x", ["xs", "xy"]),
        ("%grad --order 2 func xs", ["xs"]),
        ("%symgrad back", ["backend="]),
        ("%symgrad --t", ["--traceback"]),
    ],
)
def test_what_fits_is_offered(complete, line, offered):
    assert set(offered) <= set(complete(line))
    assert "word" not in complete(line)


def test_every_flag_is_offered(complete):
    assert {"--wrt", "--at", "--jacobian", "--panel", "-a"} <= set(complete("%%grad -"))


@pytest.mark.parametrize("line", ["%%grad --", "%%grad -", "%%grad --mode ", "%%grad --wrt ", "%grad ", "%symgrad "])
def test_nothing_else_is_offered(complete, line):
    offered = complete(line)
    assert offered
    assert all(
        o in ("xs", "xy", "func", "net") or o[0] == "-" or o[-1] == "=" or line.endswith("mode ") for o in offered
    )
    assert "and" not in offered


def test_what_is_differentiated_by_is_an_argument_of_the_cells_function(shell, complete):
    cell = "%%grad --wrt \ndef loss(alpha, *, rate):\n    return alpha * rate"
    with provisionalcompleter():
        assert {c.text for c in shell.Completer.completions(cell, len("%%grad --wrt "))} == {"alpha", "rate"}
        below = [c.text for c in shell.Completer.completions(cell + "\nalp", len(cell) + 4)]
    assert "--wrt" not in below


def test_an_indented_magic_is_no_matter(complete):
    assert complete("  %grad") == complete("  %grad")
    assert set(complete("  %grad ")) >= {"func", "net"}


def test_nothing_is_offered_after_unloading(shell, complete):
    shell.run_line_magic("unload_ext", "symgrad")
    assert "--mode" not in complete("%%grad --mo")
    shell.run_line_magic("load_ext", "symgrad")

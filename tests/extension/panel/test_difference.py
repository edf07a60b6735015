"""term_diff: which summands stayed, appeared and vanished."""

from __future__ import annotations

import pytest
import sympy
from symgrad_notebook.panel.difference import term_diff
from sympy.abc import x, y, z


@pytest.mark.parametrize(
    ("before", "after", "stayed", "appeared", "vanished"),
    [
        (x * sympy.cos(x) + sympy.sin(x), sympy.sin(x), {sympy.sin(x)}, set(), {x * sympy.cos(x)}),
        (x, x + y, {x}, {y}, set()),
        (x, y, set(), {y}, {x}),
        (0, x, set(), {x}, set()),
        (x, 0, set(), set(), {x}),
        (2 * x, x, {x}, set(), {x}),
        (x, 3 * x, {x}, {2 * x}, set()),
        (x, -x, set(), {-x}, {x}),
        (x + 1, x + 2, {x, 1}, {1}, set()),
        (y * (x + z), y * x, {x * y}, set(), {y * z}),
        (y * (x * sympy.cos(x) + sympy.sin(x)), y * sympy.sin(x), {y * sympy.sin(x)}, set(), {x * y * sympy.cos(x)}),
        (y * (2 * x + z), x * y, {x * y}, set(), {x * y, y * z}),
        (sympy.exp(x + y), sympy.exp(x), set(), {sympy.exp(x)}, {sympy.exp(x + y)}),
    ],
)
def test_summands(before, after, stayed, appeared, vanished):
    found = term_diff(before, after)
    assert (set(found.stayed), set(found.appeared), set(found.vanished)) == (stayed, appeared, vanished)
    assert found.changed


def test_what_is_the_same_stays_as_it_is_written():
    found = term_diff(x * (y + z), x * (y + z))
    assert (found.stayed, found.changed) == ((x * (y + z),), False)


FORMULAS = [
    sympy.Integer(0),
    x,
    2 * x - y,
    x * (y + z) + 1,
    (x + y) * (x - z),
    sympy.Piecewise((x, y > 0), (0, True)) + x,
    sympy.Float(0.3) * x + sympy.pi,
    -3 * (x + y) / 2,
    sympy.nan,
    sympy.oo * x,
]


@pytest.mark.parametrize("before", FORMULAS)
@pytest.mark.parametrize("after", FORMULAS)
def test_the_parts_add_up(before, after):
    found = term_diff(before, after)
    if sympy.nan not in (before, after):
        assert sympy.expand(sympy.Add(*found.stayed, *found.vanished) - before) in (0, sympy.nan)
        assert sympy.expand(sympy.Add(*found.stayed, *found.appeared) - after) in (0, sympy.nan)


def test_large_products_are_not_multiplied_out():
    wide = sympy.prod(sympy.Add(*sympy.symbols(f"{name}1:9")) for name in "abcdef")
    assert term_diff(wide, wide + x).appeared == (x,)
    assert term_diff(wide, 2 * wide + x).stayed == (wide,)

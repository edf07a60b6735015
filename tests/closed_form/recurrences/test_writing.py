"""Formulas of the parts of a line, put together."""

from symgrad.closed_form.recurrences.writing import Formula, added


def test_zeros_are_not_added():
    zero, one, less = Formula("0", "0"), Formula("x", "x"), Formula("−y", "-y")
    assert added([zero, one, zero, less]).text == "x − y"
    assert added([zero, zero]).latex == "0"

"""What is shown of derivatives is as short as what textbooks print, and has the kernel's value."""

import pytest
from textbook import BOOK

from symgrad.closed_form.legibility import symbols

#: how much longer than in a textbook a formula may be
MOST = 1.25
#: what is longer, for it says more: which slope is taken where there is none
LONGER = {"rectifier", "range and bearing"}


def shown(name):
    book = BOOK[name]
    return book.derived.formulas(*book.args)


@pytest.mark.parametrize("name", BOOK)
def test_it_is_as_short_as_in_a_textbook(name):
    found, book = sum(map(symbols, shown(name).latex)), sum(map(symbols, BOOK[name].textbook))
    assert (found <= MOST * book) == (name not in LONGER), f"{found} symbols, the textbook has {book}"


def test_few_are_longer():
    assert len(BOOK) >= 60
    assert len(LONGER) <= 3


@pytest.mark.parametrize("name", BOOK)
def test_it_has_the_value_of_the_kernel(name):
    assert BOOK[name].derived.agreement(*BOOK[name].args).worst < 1e-9


def test_a_gaussian_process_by_its_cholesky_factor():
    """As Rasmussen and Williams (2006) have it, equation 5.9."""
    lines = str(shown("Gaussian process")).splitlines()
    assert lines[0] == "∂f/∂h = sum(D ⊙ exp(−D / (2h²)) ⊙ (K⁻¹ − aaᵀ)) / (2h³)"
    assert lines[1] == "∂f/∂s = s·tr(K⁻¹ − aaᵀ)"
    assert "  where a = K⁻¹y" in lines

"""SizeFacts: the answers that named dims are taken to give, written down and checked."""

import numpy as np
import pytest

import symgrad
from symgrad.errors import ShapeError
from symgrad.kernels.kernel import lower
from symgrad.program.dims import dim_source, named_dim, normal, size, size_function, value_of
from symgrad.program.facts import SizeFacts, spelled_fact

n, d = named_dim("n"), named_dim("d")


def test_what_holds_for_every_size_is_no_fact():
    facts = SizeFacts()
    assert facts.known(n - 1, "nonnegative") is True
    assert facts.known(n + d, "zero") is False
    assert facts.known(3, "nonnegative") is True
    assert facts.known(-3, "nonnegative") is False
    assert facts.known(n - 2, "nonnegative") is None
    assert not facts.facts
    assert facts.broken({}) is None


def test_the_sizes_of_a_call_answer():
    facts = SizeFacts()
    facts.sizes = {n: 3, d: 3}
    assert facts.known(n - 2, "nonnegative") is True
    assert facts.known(n - 5, "nonnegative") is False
    assert facts.known(n - d, "zero") is True
    assert facts.known(n - 4, "zero") is False
    assert facts.broken({n: 3, d: 3}) is None
    assert facts.broken({n: 2, d: 2}) is None
    assert facts.broken({n: 1, d: 1}) == "n ≥ 2"
    assert facts.broken({n: 5, d: 5}) == "n ≤ 4"
    assert facts.broken({n: 4, d: 4}) == "n ≠ 4"
    assert facts.broken({n: 3, d: 2}) in ("d - n = 0", "-d + n = 0")


def test_without_a_call_what_must_hold_is_assumed():
    facts = SizeFacts()
    assert facts.assumed(n - 4, "nonnegative")
    assert not facts.assumed(-n, "nonnegative")  # n is positive
    assert facts.broken({n: 3}) == "n ≥ 4"
    assert facts.broken({n: 4}) is None


def test_without_a_call_large_sizes_answer():
    facts = SizeFacts()
    assert facts.usual(n - 4, "nonnegative") is True
    assert facts.usual(7 - n, "nonnegative") is False
    assert facts.usual(n - 6, "zero") is False
    assert facts.usual(n - d, "nonnegative") is None
    assert facts.usual(n * d - n - d, "nonnegative") is True
    assert facts.broken({n: 8, d: 9}) is None
    assert facts.broken({n: 7, d: 9}) == "n ≥ 8"


def test_facts_added_later_are_checked_too():
    facts = SizeFacts()
    facts.assumed(n - 2, "nonnegative")
    assert facts.broken({n: 3}) is None
    facts.assumed(n - 4, "nonnegative")
    assert facts.broken({n: 3}) == "n ≥ 4"


def test_halves_are_compared_as_whole_numbers():
    """Half of an odd number is cut where it is computed, so that a fact in halves would be another one below zero."""
    facts = SizeFacts()
    n = named_dim("n")
    facts.sizes = {n: 2}
    assert not facts.known((1 - n) / 2, "nonnegative")
    assert facts.broken({n: 2}) is None
    assert facts.broken({n: 1}) == "n ≥ 2"


def test_facts_as_text():
    assert spelled_fact(2 * n - 6, "nonnegative") == "2*n ≥ 6"
    assert spelled_fact(n + d - 3, "zero") == "d + n = 3"


def test_a_program_says_what_it_is_for_and_its_kernel_checks_it():
    program = symgrad.trace(lambda x: x[2:-1] * x[1:-2], "n")
    assert str(program).endswith("where n ≥ 3")
    kernel = lower(program)
    np.testing.assert_array_equal(kernel(np.arange(5.0))[0], [2.0, 6.0])
    with pytest.raises(ShapeError, match="for sizes with n ≥ 3, and n = 2"):
        kernel(np.arange(2.0))
    assert "where" not in str(symgrad.trace(lambda x: x[1:] * x[:-1], "n"))


# dims as source


@pytest.mark.parametrize(
    ("dim", "sizes"),
    [
        (n, {n: 5}),
        ((n - 1) * n / 2, {n: 5}),
        (n * d - 3, {n: 4, d: 7}),
        (n / d, {n: 12, d: 3}),
        (7, {}),
        (n % 2 + 1, {n: 5}),
    ],
)
def test_dims_as_source_have_their_value(dim, sizes):
    names = {s: f"v{k}" for k, s in enumerate(sizes)}
    found = eval(f"3 * {dim_source(dim, names)}", {v: sizes[s] for s, v in names.items()})
    assert found == 3 * value_of(dim, sizes)
    assert size_function([dim], list(sizes))(*sizes.values()) == (value_of(dim, sizes),)


def test_equal_dims_have_one_form():
    assert normal(n * (d + 1) - n * d) == n
    assert type(normal(n + 2 - n)) is int
    assert size((n + 1, n - 1)) == normal(n**2 - 1)

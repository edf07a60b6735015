"""Sizes in a document: exact both ways, and bounded."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work import calls

from symgrad.codec.forms import read_document
from symgrad.codec.sizes import PLACE, Sizes, terms, written_dim
from symgrad.errors import LoadError
from symgrad.program.dims import named_dim

N, M, D = named_dim("n"), named_dim("m"), named_dim("d")


def read(value):
    return read_document(PLACE, json.loads(json.dumps(value)), Sizes(), "size")


@pytest.mark.parametrize(
    "dim",
    [
        0,
        7,
        N,
        N + 1,
        N - M,
        2 * N,
        N * M,
        N**2,
        N * (N - 1) / 2,
        (N + M) ** 2 * D,
        N / M,
        N / 3 + M / 2,
        -N + 5,
        (N + 1) / M,
    ],
)
def test_a_size_is_read_as_it_was(dim):
    assert read(written_dim(dim)) == dim


@settings(max_examples=60)
@given(st.data())
def test_random_sizes(data):
    leaf = st.sampled_from([N, M, D]) | st.integers(-3, 5)
    made = data.draw(st.recursive(leaf, lambda inner: st.tuples(st.sampled_from("+*^"), inner, inner), max_leaves=6))

    def built(e):
        if not isinstance(e, tuple):
            return e
        sign, a, b = e[0], built(e[1]), built(e[2])
        return a + b if sign == "+" else a * b if sign == "*" else a**2 if not isinstance(a, int) else a

    dim = built(made)
    if isinstance(dim, int) or dim.is_Integer:
        return
    assert read(written_dim(dim)) == dim


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1.5, "size: should be a whole number"),
        (None, "size: should be"),
        ([1], "size: should be"),
        (2**41, "size: 2199023255552 should be from"),
        ("", "size: '' cannot be the name"),
        ("n + 1", "size: 'n \\+ 1' cannot be the name"),
        ("__import__('os')", "cannot be the name"),
        ("x" * 2000, "2000 characters"),
        ({}, "an object with one of"),
        ({"add": ["n", 1], "mul": ["n", 2]}, "an object with one of"),
        ({"eval": ["n", 1]}, "'eval' should be one of"),
        ({"add": ["n"]}, "size.add: 1 items"),
        ({"add": ["n", 0.5]}, r"size.add\[1\]: a size is"),
        ({"pow": ["n", 10**9]}, r"size.pow\[1\]: 1000000000 should be from -8 to 8"),
        ({"pow": [2, 8]}, "a power is of a name or a sum"),
        ({"pow": ["n", 1]}, "a power is of a name or a sum"),
        ({"pow": [{"pow": ["n", 8]}, 8]}, "a power is of a name or a sum"),
        ({"rational": [1, 2]}, "a size cannot be 1/2"),
        ({"rational": [1, 0]}, r"rational\[1\]: 0 should be from 1"),
        ({"mul": [{"rational": [1, 3]}, 1]}, "a size cannot be 1/3"),
        ({"mul": [2**40, 2**40, "n"]}, "a number of more than 63 bits"),
        ({"mul": [{"pow": [{"add": ["n", "m", "d"]}, 8]}, {"pow": [{"add": ["n", "m", 1]}, 8]}]}, "100 terms"),
        ({"add": ["n"] * 200}, "at most 100 signs"),
    ],
)
def test_what_is_no_size_is_refused(value, message):
    with pytest.raises(LoadError, match=message):
        read(value)


def test_sizes_that_explode_are_refused_early():
    value = {"add": ["n", "m", 1]}
    for _ in range(8):
        value = {"add": [{"pow": [value, 8]}, {"mul": [value, value]}]}

    def refused():
        with pytest.raises(LoadError):
            read(value)

    assert calls(refused) < 200_000


def test_more_names_than_there_may_be():
    sizes = Sizes()
    for k in range(100):
        read_document(PLACE, f"n{k}", sizes)
    with pytest.raises(LoadError, match="more than 100 names"):
        read_document(PLACE, "n100", sizes)


def test_terms():
    assert terms((N + 1) * (M + 1) * D) == 4

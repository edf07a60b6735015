"""Nested tuples, lists and dicts: taken apart and put together again."""

from collections import OrderedDict, defaultdict, namedtuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad
from symgrad.tracing.tree import LEAF, flatten, leaf_labels, nesting, tree_map, unflatten

Pair = namedtuple("Pair", "first second")
TREES = st.recursive(
    st.integers(),
    lambda t: st.lists(t, max_size=3) | st.lists(t, max_size=3).map(tuple) | st.dictionaries(st.text(), t, max_size=3),
    max_leaves=12,
)


@given(TREES)
def test_unflatten_is_the_inverse(tree):
    leaves, structure = flatten(tree)
    assert unflatten(structure, leaves) == tree
    assert hash(structure) == hash(flatten(tree)[1])
    assert all(isinstance(v, int) for v in leaves)


@given(TREES)
def test_tree_map_keeps_the_structure(tree):
    doubled = tree_map(lambda v: 2 * v, tree)
    assert flatten(doubled)[1] == flatten(tree)[1]
    assert flatten(doubled)[0] == [2 * v for v in flatten(tree)[0]]


def test_leaves_and_empty_containers():
    assert flatten(3)[1] == LEAF
    for empty in ((), [], {}, {"a": ()}, ([], {})):
        leaves, structure = flatten(empty)
        assert leaves == []
        assert unflatten(structure, []) == empty


def test_lists_and_tuples_differ_and_the_order_of_keys_counts():
    assert flatten([1])[1] != flatten((1,))[1]
    assert flatten({"a": 1, "b": 2})[0] == [1, 2]
    assert list(unflatten(flatten({"b": 1, "a": 2})[1], [5, 6])) == ["b", "a"]


def test_namedtuples_keep_their_type():
    leaves, structure = flatten(Pair(1, [2]))
    assert unflatten(structure, leaves) == Pair(1, [2])
    assert isinstance(unflatten(structure, leaves), Pair)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_gradients_have_the_structure_of_the_argument(mode):
    tree = {"w": [np.ones(2), (np.full(3, 2.0),)], "b": Pair(1.0, np.zeros(()))}
    got = symgrad.grad(lambda p: np.sum(p["w"][0]) ** 2 + np.sum(p["w"][1][0] ** 3) * p["b"].first, mode=mode)(tree)
    assert list(got) == ["w", "b"]
    assert isinstance(got["w"][1], tuple)
    assert isinstance(got["b"], Pair)
    np.testing.assert_array_equal(got["w"][0], [4.0, 4.0])
    np.testing.assert_array_equal(got["w"][1][0], [12.0] * 3)
    assert got["b"].first == 24.0
    assert got["b"].second == 0.0


def test_another_structure_is_traced_anew():
    g = symgrad.grad(lambda p: sum(np.sum(v**2) for v in p))
    assert len(g([np.ones(1), np.ones(2)])) == 2
    assert len(g([np.ones(1)])) == 1
    assert isinstance(g((np.ones(1),)), tuple)


def test_other_kinds_of_dicts_keep_their_class_and_go_along_with_dicts():
    plain = flatten({"a": 1, "b": [2]})[1]
    for value in (OrderedDict(a=1, b=[2]), defaultdict(int, a=1, b=[2])):
        leaves, structure = flatten(value)
        assert structure != plain
        assert nesting(structure) == nesting(plain)
        again = unflatten(structure, leaves)
        assert type(again) is type(value)
        assert again == value
        assert getattr(again, "default_factory", None) is getattr(value, "default_factory", None)
        assert leaf_labels("p", flatten(value)[1]) == ["p_a", "p_b_0"]

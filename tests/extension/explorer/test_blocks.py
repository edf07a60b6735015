"""Blocks: their order is that of ``entry(output=)``, their names those of the user's arguments and outputs."""

from __future__ import annotations

import collections

import numpy as np
import pytest
from symgrad_notebook.explorer.blocks import blocks_of
from symgrad_notebook.explorer.pooling import NUMBER, ZERO, SparseEntries

import symgrad as sg

Pair = collections.namedtuple("Pair", "left right")


def _mixed(p, q):
    h = np.tanh(p["w"] @ q + p["b"])
    return {"hidden": h, "loss": np.sum(h**2)}, [p["w"] * 3]


ARGS = ({"w": np.arange(6.0).reshape(2, 3) / 7, "b": np.array([0.1, 0.2])}, np.array([0.3, -0.4, 0.5]))


def _element(block, row, column):
    return np.asarray(block.entries.at(row, column)[0])


def test_every_entry_is_where_the_result_has_it():
    jacobian = sg.jacobian(_mixed, (0, 1))
    blocks = blocks_of(jacobian, ARGS, {})
    (hidden, loss), (scaled,) = (result.values() if isinstance(result, dict) else result for result in jacobian(*ARGS))
    arrays = [a for p, q in (hidden, loss, scaled) for a in (p["w"], p["b"], q)]
    assert [b.number for b in blocks] == list(range(9))
    for block, array in zip(blocks, arrays, strict=True):
        assert array.shape == block.out.shape + block.by.shape
        for row, column in np.ndindex(block.shape):
            assert _element(block, row, column) == array[block.index(row, column)]


def test_names():
    blocks = blocks_of(sg.jacobian(_mixed, (0, 1)), ARGS, {})
    outs = ["out[0]['hidden']", "out[0]['loss']", "out[1][0]"]
    ins = ["p['w']", "p['b']", "q"]
    assert [(b.out.name, b.by.name) for b in blocks] == [(o, i) for o in outs for i in ins]
    assert blocks[0].title(1, 5) == "out[0]['hidden'][1] by p['w'][1, 2]"
    assert blocks[3].title(0, 0) == "out[0]['loss'] by p['w'][0, 0]"


def test_names_of_a_hessian_and_of_a_named_tuple():
    hessian = sg.hessian(lambda x, y: np.sum(x**2 * y), (0, 1))
    found = blocks_of(hessian, (np.ones(2), np.ones(2)), {})
    assert [b.title(0, 1) for b in found] == [f"∂f/∂{a}[0] by {b}[1]" for a in "xy" for b in "xy"]
    found = blocks_of(sg.jacobian(lambda x: Pair(x, x**2)), (1.0,), {})
    assert [b.title(0, 0) for b in found] == ["out.left by x", "out.right by x"]


def test_names_that_would_rearrange_a_line_are_spelled_out():
    found = blocks_of(sg.jacobian(lambda p: p["a\u202eb\n"] * 2), ({"a\u202eb\n": 1.0},), {})
    assert found[0].by.name == "p['a\\u202eb\\n']"


def test_aux_is_left_out():
    found = blocks_of(sg.jacobian(lambda x: (x**2, x, x + 1), has_aux=True), (np.ones(3),), {})
    assert [b.out.name for b in found] == ["out"]
    assert found[0].entries.at(1, 1) == (2.0, NUMBER)


def test_keyword_arguments():
    found = blocks_of(sg.jacobian(lambda x, *, k: x * k), (np.ones(2),), {"k": 3.0})
    assert found[0].entries.at(0, 0) == (3.0, NUMBER)


def test_a_value_of_zero_is_told_from_a_zero_by_structure():
    found = blocks_of(sg.jacobian(lambda x: x**2), (np.array([0.0, 1.0]),), {})
    assert found[0].entries.at(0, 0) == (0.0, NUMBER)
    assert found[0].entries.at(0, 1) == (0.0, ZERO)


def test_sparse_results_and_large_ones_stay_sparse():
    pytest.importorskip("scipy.sparse")
    for sparse, n in ((True, 5), (False, 5000)):
        hessian = sg.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2), sparse=sparse)
        x = np.linspace(1, 2, n)
        (block,) = blocks_of(hessian, (x,), {})
        assert isinstance(block.entries, SparseEntries)
        assert block.entries.at(0, 1) == (2 * x[0], NUMBER)
        assert block.entries.at(0, 3) == (0.0, ZERO)


def test_scalars_and_empty_arrays():
    (block,) = blocks_of(sg.jacobian(np.sin), (2.0,), {})
    assert (block.shape, block.title(0, 0)) == ((1, 1), "out by x")
    (block,) = blocks_of(sg.jacobian(lambda x: x[:0] * 2), (np.ones(3),), {})
    assert block.shape == (0, 3)
    assert block.linear.ticks == [(0.0, "0")]


def test_indices_go_row_by_row():
    (block,) = blocks_of(sg.jacobian(lambda x: x * 2), (np.ones((2, 3)),), {})
    assert [block.out.index(k) for k in (0, 2, 3)] == [(0, 0), (0, 2), (1, 0)]
    assert block.index(4, 5) == (1, 1, 1, 2)


def test_declared_shapes():
    product = sg.named(lambda w, X, s: (X @ w * s, w), w="d", X="n d")
    blocks = blocks_of(sg.jacobian(product, (0, 1)), (np.ones(2), np.ones((3, 2)), 2.0), {})
    assert [(b.out.shape, b.by.shape) for b in blocks] == [((3,), (2,)), ((3,), (3, 2)), ((2,), (2,)), ((2,), (3, 2))]
    assert blocks[0].entries.at(2, 1) == (2.0, NUMBER)

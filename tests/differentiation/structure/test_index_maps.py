"""Index maps and what moves terms, against enumeration of every entry in NumPy."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from symgrad.differentiation.structure.index_maps import (
    Affine,
    Label,
    Lookup,
    Unsolved,
    added,
    as_index,
    at_maps,
    flat_map,
    index_array,
    looked_up_at,
    merged_labels,
    plain,
    plain_label,
    positions,
    shifted,
    solution,
    substituted,
)
from symgrad.differentiation.structure.solving import equated, looked_for, placed_in, relabelled, split_map
from symgrad.differentiation.structure.structured_tangents import StructuredTangent, node_flow
from symgrad.kernels.kernel import lower
from symgrad.primitives.primitive import CONSTANT, CapturedArray, constant, literal
from symgrad.program.node import Graph, active_graph
from symgrad.program.program import Program

many = settings(max_examples=40)


@pytest.fixture(autouse=True, scope="module")
def _graph():
    with Graph():
        yield


def computed(node):
    """The value of a node that depends on no input."""
    if node.primitive is CONSTANT:
        return node.params[0].value
    return np.asarray(lower(Program((), [node], (), active_graph()), "numpy")()[0])


def places(m, grid):
    """The positions of a map over counters given as arrays, by its definition."""
    if isinstance(m, Lookup):
        return computed(m.index)[tuple([grid[k] for k in m.labels])]
    return sum((s * grid[k] for k, s in m.steps), np.full((), m.start))


def counted(labels):
    """Every counter over the grid of the labels."""
    return dict(zip(labels, np.indices([k.size for k in labels]), strict=True))


def entries(term, at_shape, seed_shape):
    """The array ``T[n…, s…] = Σ_k value[k]·[n = at(k)]·[s = seed(k)]``, added up entry by entry."""
    grid = counted(term.counters)
    shape = tuple([k.size for k in term.counters])
    value = computed(term.value)[tuple([grid[k] for k in term.labels])] if term.labels else computed(term.value)
    result = np.zeros((*at_shape, *seed_shape))
    where = tuple([np.broadcast_to(places(m, grid), shape) for m in (*term.at, *term.seed)])
    np.add.at(result, where, np.broadcast_to(value, shape))
    return result


@st.composite
def maps(draw, dim, known=()):
    """A map into ``0 … dim - 1``; now and then of the labels ``known``."""
    kind = draw(st.sampled_from(["plain", "part", "constant", "affine", "merged", "sum", "lookup"]))
    if known and draw(st.integers(0, 3)) == 0:
        label = draw(st.sampled_from(known))
        values = draw(st.lists(st.integers(0, dim - 1), min_size=label.size, max_size=label.size))
        fits = [plain(label)] * (label.size <= dim) + [Affine(dim - 1, ((label, -1),))] * (label.size <= dim)
        return draw(st.sampled_from([*fits, Lookup(index_array(np.array(values)), (label,))]))
    if kind == "plain":
        return plain(Label(dim))
    if kind == "part":
        return plain(Label(draw(st.integers(1, dim))))
    if kind == "constant":
        return Affine(draw(st.integers(0, dim - 1)))
    if kind == "affine":
        start, last = draw(st.integers(0, dim - 1)), draw(st.integers(0, dim - 1))
        steps = [s for s in range(1, abs(last - start) + 1) if (last - start) % s == 0]
        step = draw(st.sampled_from(steps)) if steps else 1
        size = abs(last - start) // step + 1
        return Affine(start, ((Label(size), step if last >= start else -step),))
    if kind == "merged":
        rows = draw(st.sampled_from([d for d in range(1, dim + 1) if dim % d == 0]))
        steps = [(Label(rows), dim // rows), (Label(dim // rows), 1)]
        return Affine(0, tuple(draw(st.permutations(steps))))
    if kind == "sum":
        first = draw(st.integers(1, dim))
        second = draw(st.integers(1, dim - first + 1))
        start = draw(st.integers(0, dim - first - second + 1))
        return Affine(start, ((Label(first), 1), (Label(second), 1)))
    shape = draw(st.sampled_from([(1,), (3,), (2, 2), (4, 1)]))
    values = draw(st.lists(st.integers(0, dim - 1), min_size=math.prod(shape), max_size=math.prod(shape)))
    return Lookup(index_array(np.array(values).reshape(shape)), tuple([Label(d) for d in shape]))


def a_term(draw, at):
    """A term that stands at ``at``, its seed some of the labels, its value over some of them; and the seed's shape."""
    labels = list(dict.fromkeys([k for m in at for k in m.labels]))
    kept = [k for k in labels if draw(st.booleans())]
    own = tuple([k for k in labels if draw(st.booleans())])
    values = np.random.default_rng(draw(st.integers(0, 99))).uniform(1, 2, tuple([k.size for k in own]))
    value = constant(CapturedArray(values)) if own else literal(1.5)
    forward = draw(st.booleans())
    return StructuredTangent(value, own, tuple(at), tuple(map(plain, kept)), forward), tuple([k.size for k in kept])


small, step = st.integers(1, 7), st.integers(-4, 4).filter(bool)


@given(st.integers(-5, 9), step, small, st.integers(-5, 9), small, step)
@settings(max_examples=200)
def test_solution_is_where_a_progression_meets_a_slice(a, b, size, start, length, every):
    label = Label(size)
    met = {(k, j) for k in range(size) for j in range(length) if a + b * k == start + every * j}
    found = solution(Affine(a, ((label, b),)), start, length, every)
    if found is None:
        assert not met
        return
    own, place, count = found
    (_, own_step), (_, place_step) = own.steps[0], place.steps[0]
    assert {(own.start + own_step * t, place.start + place_step * t) for t in range(count)} == met
    assert count == len(met)


def test_solution_with_named_sizes():
    n = sympy.Symbol("n", integer=True, positive=True)
    label = Label(n)
    for m, start in ((plain(label), 0), (Affine(1, ((label, 1),)), 1)):
        found = solution(m, start, n, 1)
        assert found is not None
        own, place, count = found
        assert (own.start, place.start, count) == (0, 0, n)
    with pytest.raises(Unsolved):
        solution(plain(label), 0, n, 2)


@given(st.data())
@many
def test_placed_in_is_a_slice(data):
    dim = data.draw(st.integers(1, 8))
    m = data.draw(maps(dim))
    other = data.draw(maps(3, m.labels))
    start, stride = data.draw(st.integers(0, dim - 1)), data.draw(step)
    most = (dim - 1 - start if stride > 0 else start) // abs(stride) + 1
    length = data.draw(st.integers(1, most))
    term, seed = a_term(data.draw, [m, other])
    want = entries(term, (dim, 3), seed)[[start + stride * j for j in range(length)]]
    found = placed_in(term, term.at[0], (start, length, stride))
    if found is None:
        assert not want.any()
        return
    made, place = found
    np.testing.assert_allclose(entries(replace(made, at=(place, made.at[1])), (length, 3), seed), want)


@given(st.data())
@many
def test_equated_is_the_diagonal(data):
    dim = data.draw(st.integers(1, 6))
    a = data.draw(maps(dim))
    b = data.draw(maps(dim, a.labels))
    other = data.draw(maps(3, a.labels))
    term, seed = a_term(data.draw, [a, b, other])
    want = np.einsum("ii...->i...", entries(term, (dim, dim, 3), seed))
    found = equated(term, term.at[0], term.at[1], dim)
    if found is None:
        assert not want.any()
        return
    made, place = found
    np.testing.assert_allclose(entries(replace(made, at=(place, made.at[2])), (dim, 3), seed), want)


@given(st.data())
@many
def test_split_map_and_flat_map_are_reshapes(data):
    dims = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    whole = math.prod(dims)
    flat = data.draw(maps(whole))
    term, seed = a_term(data.draw, [flat])
    made, parts = split_map(term, flat, dims)
    want = entries(term, (whole,), seed).reshape(*dims, *seed)
    held = made.moved(parts)
    np.testing.assert_allclose(entries(held, dims, seed), want)
    back = flat_map(parts, dims)
    np.testing.assert_allclose(entries(held.moved([back]), (whole,), seed), entries(term, (whole,), seed))


@given(st.data())
@many
def test_at_maps_takes_an_array_at_maps(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=0, max_size=3)))
    x = np.random.default_rng(0).uniform(size=shape)
    at: list = []
    for d in shape:
        at.append(data.draw(maps(d, tuple([k for m in at for k in m.labels]))))
    node, labels = at_maps(constant(CapturedArray(x)), at)
    assert len(set(labels)) == len(labels)
    assert {k for m in at for k in m.labels if k.size > 1} <= set(labels) <= {k for m in at for k in m.labels}
    grid = counted(labels)
    want = np.broadcast_to(x[tuple([places(m, grid) for m in at])], tuple([k.size for k in labels]))
    np.testing.assert_array_equal(computed(node), want)


@given(st.data())
@many
def test_arithmetic_of_maps(data):
    a = data.draw(maps(6))
    b = data.draw(maps(6, a.labels))
    start, stride = data.draw(st.integers(-3, 3)), data.draw(step)
    grid = counted(tuple(dict.fromkeys((*a.labels, *b.labels))))
    shape = next(iter(grid.values())).shape if grid else ()

    def same(m, want):
        np.testing.assert_array_equal(np.broadcast_to(places(m, grid), shape), np.broadcast_to(want, shape))
        known = tuple(grid)
        np.testing.assert_array_equal(positions(m, known), np.broadcast_to(want, shape))
        np.testing.assert_array_equal(computed(as_index(m, known)), np.broadcast_to(want, shape))

    same(added(a, b), places(a, grid) + places(b, grid))
    same(shifted(a, start, stride), start + stride * places(a, grid))


@given(st.data())
@many
def test_substituted_is_composition(data):
    m = data.draw(maps(6))
    assume(m.labels)
    label = data.draw(st.sampled_from(m.labels))
    rest = tuple([k for k in m.labels if k is not label])
    by = data.draw(maps(label.size, rest))
    made = substituted(m, label, by)
    grid = counted(tuple(dict.fromkeys((*rest, *by.labels))))
    inner = {**grid, label: places(by, grid)}
    want = places(m, inner)
    got, want = np.broadcast_arrays(places(made, grid), want)
    np.testing.assert_array_equal(got, want)


@given(st.data())
@many
def test_looked_for_is_a_gather(data):
    dim = data.draw(st.integers(1, 6))
    m = data.draw(maps(dim))
    other = data.draw(maps(3, m.labels))
    shape = data.draw(st.sampled_from([(), (1,), (4,), (2, 3)]))
    wanted = np.array(
        data.draw(st.lists(st.integers(0, dim - 1), min_size=math.prod(shape), max_size=math.prod(shape)))
    ).reshape(shape)
    term, seed = a_term(data.draw, [m, other])
    want = entries(term, (dim, 3), seed)[wanted]
    found = looked_for(term, term.at[0], wanted)
    if found is None:
        assert not want.any()
        return
    made, axes = found
    np.testing.assert_allclose(entries(made.moved((*axes, made.at[1])), (*shape, 3), seed), want)


@given(st.data())
@many
def test_a_term_is_its_array(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=2)))
    at: list = []
    for d in shape:
        at.append(data.draw(maps(d, tuple([k for m in at for k in m.labels]))))
    term, seed = a_term(data.draw, at)
    whole = entries(term, shape, seed)
    made = computed(node_flow(term, shape, seed, np.dtype(float)))
    np.testing.assert_allclose(made, np.moveaxis(whole, range(len(shape)), range(-len(shape), 0)))


def test_labels_that_no_map_holds_any_more_count_their_size():
    kept, lost = Label(3), Label(4)
    term = StructuredTangent(literal(2.0), (), (plain(kept), plain(lost)), (plain(kept),), forward=False)
    made = term.moved((plain(kept),))
    np.testing.assert_allclose(entries(made, (3,), (3,)), 8 * np.eye(3))


def test_steps_of_a_unit_label_that_cancel():
    long, unit = Label(2), Label(1)
    at = (Affine(0, ((long, 1), (unit, 1))), Affine(0, ((unit, -1),)))
    term = StructuredTangent(constant(CapturedArray(np.array([3.0]))), (unit,), at, (plain(long),), False)
    made = computed(node_flow(term, (3, 1), (2,), np.dtype(float)))
    np.testing.assert_allclose(made, 3 * np.eye(2, 3)[:, :, None])


@pytest.mark.parametrize("sizes", [(2, 3), (3, 2, 2), (1, 4), (2, 1, 3), (1, 1)])
def test_merged_labels_are_found_in_any_order(sizes):
    labels = [Label(d) for d in sizes]
    strides = [math.prod(sizes[k + 1 :]) for k in range(len(sizes))]
    whole = math.prod(sizes)
    for order in itertools.permutations(zip(labels, strides, strict=True)):
        found = merged_labels(Affine(0, tuple(order)), whole)
        assert found is not None
        grid = counted(found)
        where = np.broadcast_to(places(Affine(0, order), grid), tuple([k.size for k in found]))
        np.testing.assert_array_equal(where.ravel(), np.arange(whole))
    steps = tuple(zip(labels, strides, strict=True))
    assert merged_labels(Affine(1, steps), whole) is None
    assert merged_labels(Affine(0, steps), whole + 1) is None
    assert merged_labels(Affine(0, (*steps, (Label(2), 1))), whole) is None or whole == 1


def test_a_plain_label_is_recognised_and_nothing_else():
    label = Label(3)
    assert plain_label(plain(label)) is label
    assert plain_label(Affine(0, ((label, 2),))) is None
    assert plain_label(Affine(1, ((label, 1),))) is None
    assert plain_label(Affine(0)) is None
    assert plain_label(Lookup(index_array(np.arange(3)), (label,))) is None


def test_lookups_of_lookups_are_known_at_once():
    label = Label(3)
    outer = index_array(np.array([5, 4, 3, 2]))
    made = looked_up_at(outer, [Lookup(index_array(np.array([0, 2, 2])), (label,))])
    assert isinstance(made, Lookup)
    np.testing.assert_array_equal(positions(made, (label,)), [5, 3, 3])
    assert looked_up_at(outer, [Affine(1)]) == Affine(4)
    assert index_array(np.array(2)).shape == ()


def test_relabelling_reaches_value_and_every_map():
    label = Label(4)
    term = StructuredTangent(
        constant(CapturedArray(np.arange(1.0, 5.0))), (label,), (plain(label),), (plain(label),), False
    )
    made = relabelled(term, {label: Affine(3, ((Label(2), -2),))})
    np.testing.assert_allclose(entries(made, (4,), (4,)), np.diag([0.0, 2.0, 0.0, 4.0]))

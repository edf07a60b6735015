"""``vmap`` of every registered operation against a loop over the examples: nothing here names an operation."""

import itertools

import numpy as np
import pytest
from numpy_code import CODE
from operands import draw
from registered import distinct

from symgrad import jvp, vjp, vmap
from symgrad.differentiation.across_equal_values import LIMIT
from symgrad.errors import TracingError
from symgrad.passes.block_axes import BlocksBefore
from symgrad.passes.tall_matrices import TriangleOfRows
from symgrad.primitives.contraction import EINSUM, GATE
from symgrad.primitives.convolution import CONVOLVE
from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.functions import DOMAINS
from symgrad.primitives.matrix_functions import LUOrder
from symgrad.primitives.primitive import Leaf, Primitive
from symgrad.primitives.reduction import CUMSUM, SEARCHSORTED
from symgrad.primitives.selection import ASSEMBLE, GATHER, SCATTER, SLICE, Structural
from symgrad.primitives.windows import Viewed
from symgrad.program.node import emit
from symgrad.program.verify import verify
from symgrad.testing import check_grads
from symgrad.tracing.declare import CASES, Given
from symgrad.tracing.trace import as_node
from symgrad.tracing.tracer import Tracer
from symgrad.tracing.tree import flatten, tree_map, unflatten

#: functions whose result is no array: what they answer would decide for all examples
ANSWERS = {np.allclose, np.result_type}
SHAPES = {
    1: [((),), ((2, 3),), ((0,),)],
    2: [((2, 3), (2, 3)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((), (3,)), ((), ())],
    3: [((2, 1), (3,), ()), ((), (2, 1), (3,)), ((3,), (), (2, 3))],
}
TEMPLATE_CASES = [
    pytest.param(name, shapes, id=f"{name}-{'-'.join(map(str, shapes)).replace(' ', '')}")
    for name, template in ELEMENTWISE.items()
    if name not in ("zeta", "squared_sech")  # which derivatives alone bring in
    for shapes in SHAPES[template.arity]
]
FUNCTION_CASES = [
    pytest.param(function, case, id=f"{function.__name__}-{case}")
    for function, cases in distinct(CASES).items()
    if function not in ANSWERS
    for case in cases
]


def subsets(count):
    """Which operands are batched: every combination but none."""
    return [own for own in itertools.product((True, False), repeat=count) if any(own)]


def examples(args, axes, k):
    """The arguments of one example."""
    return [a if axis is None else np.take(a, k, axis) for a, axis in zip(args, axes, strict=True)]


def none_of(x, axis):
    """``x`` without an example."""
    return np.take(x, np.arange(0), axis)


def looped(fn, axes, size, out_axis):
    """``fn`` on each example in turn, stacked: what ``vmap`` promises."""

    def run(*args):
        outputs = [flatten(fn(*examples(args, axes, k))) for k in range(size)]
        leaves = [np.stack([o[0][j] for o in outputs], out_axis) for j in range(len(outputs[0][0]))]
        return unflatten(outputs[0][1], leaves)

    return run


def expect_equal(got, want, what):
    (mine, structure), (theirs, expected) = flatten(got), flatten(want)
    assert structure == expected, what
    for a, b in zip(mine, theirs, strict=True):
        assert np.shape(a) == np.shape(b), what
        assert np.asarray(a).dtype == np.asarray(b).dtype, what
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12, err_msg=what)


def slopes_of(fn, args):
    """The derivatives of ``fn`` in both modes as a function of its arguments; None where it has none."""
    places = [k for k, a in enumerate(args) if a.dtype.kind == "f"]
    with np.errstate(all="ignore"):
        kinds = [np.asarray(v).dtype.kind for v in flatten(fn(*args))[0]]
    if not places or "f" not in kinds:
        return None

    def slopes(*xs):
        def main(*inputs):
            filled = list(xs)
            for k, x in zip(places, inputs, strict=True):
                filled[k] = x
            return tuple(v for v, kind in zip(flatten(fn(*filled))[0], kinds, strict=True) if kind == "f")

        inputs = tuple(xs[k] for k in places)
        values, pullback = vjp(main, *inputs)
        back = pullback(tuple(np.cos(v) for v in values))
        return back, jvp(main, inputs, tuple(np.sin(x) for x in inputs))[1]

    return slopes


def check_batching(fn, draw, count):
    """``draw()`` gives ``count`` operands of ``fn``; all that is promised of its ``vmap``."""
    for batched in subsets(count):
        for size, last in ((3, True), (1, False), (0, True), *[(3, False)] * all(batched)):
            drawn = [draw() for _ in range(max(size, 1))]
            axes = [(-1 if last else 0) if own else None for own in batched]
            args = [
                drawn[0][k] if axis is None else np.stack([d[k] for d in drawn], axis) for k, axis in enumerate(axes)
            ]
            what = f"batched {batched}, {size} examples, axis {axes}"
            out_axis = -1 if last else 0
            mapped = vmap(fn, tuple(axes), out_axis, backend="numpy")
            with np.errstate(all="ignore"):
                want = looped(fn, axes, max(size, 1), out_axis)(*args)
                if not size:
                    args = [a if axis is None else none_of(a, axis) for a, axis in zip(args, axes, strict=True)]
                    want = tree_map(lambda w, axis=out_axis: none_of(w, axis), want)
                expect_equal(mapped(*args), want, what)
            verify(mapped._compiled.entry(*args).program)
            if size > 1 and last:
                loop = looped(fn, axes, size, out_axis)

                def either(*xs, mapped=mapped, loop=loop):
                    return mapped(*xs) if any(isinstance(x, Tracer) for x in xs) else loop(*xs)

                check_grads(either, args, order=1)
    slopes = slopes_of(fn, draw())
    if slopes is not None:
        args = [np.stack(a) for a in zip(*[draw() for _ in range(3)], strict=True)]
        axes = (0,) * count
        expect_equal(vmap(slopes, backend="numpy")(*args), looped(slopes, axes, 3, 0)(*args), "vmap of derivatives")


@pytest.mark.parametrize(("name", "shapes"), TEMPLATE_CASES)
def test_elementwise_function(name, shapes):
    rng = np.random.default_rng(7)
    drawn = lambda: [draw(rng, i, s) for i, s in zip(DOMAINS[name], shapes, strict=True)]  # noqa: E731
    check_batching(ELEMENTWISE[name].ufunc, drawn, len(shapes))


@pytest.mark.parametrize(("function", "case"), FUNCTION_CASES)
def test_numpy_function(function, case):
    if function in CODE or (case.of is not None and case.of.__name__ == "_at_places"):
        try:
            check_numpy_function(function, case)
        except TracingError as refused:
            if "vmap maps over" not in str(refused):  # code that chooses by values
                raise
    else:
        check_numpy_function(function, case)


def check_numpy_function(function, case):
    rng = np.random.default_rng(7)
    held = {id(leaf) for a in case.args if isinstance(a, Given) for leaf in flatten(a.value)[0]}
    leaves, structure = flatten(case.draw(rng))
    places = [k for k, v in enumerate(leaves) if isinstance(v, np.ndarray) and id(v) not in held]

    def fn(*arrays):
        filled = list(leaves)
        for k, array in zip(places, arrays, strict=True):
            filled[k] = array
        return case.of_drawn(function)(*unflatten(structure, filled), **case.kwargs)

    fn.__name__ = function.__name__
    check_batching(fn, lambda: [flatten(case.draw(rng))[0][k] for k in places], len(places))


def floats(*shape):
    return lambda rng: np.asarray(rng.uniform(0.3, 3.0, shape))


def indices(low, high, *shape):
    return lambda rng: np.asarray(rng.integers(low, high, shape))


def ascending(count):
    return lambda rng: np.sort(rng.uniform(0.3, 3.0, count))


def truth(*shape):
    return lambda rng: rng.random(shape) < 0.5


#: what NumPy's functions reach through derivatives and indexing alone
PRIMITIVE_CASES = [
    *[(GATHER, (axis,), (floats(3, 4, 2), indices(-2, 2, *own))) for axis in range(3) for own in ((), (2,), (3, 2))],
    (GATHER, (0,), (floats(5), indices(0, 5, 0))),
    *[(SCATTER, (0, 4), (floats(*own, 2), indices(-4, 4, *own))) for own in ((), (3,), (3, 2))],
    *[(SCATTER, (1, 4), (floats(2, *own, 3), indices(-4, 4, *own))) for own in ((), (3,), (3, 2))],
    (SCATTER, (2, 5), (floats(2, 3, 6), indices(-5, 5, 6))),
    (SCATTER, (0, 5), (floats(6), indices(0, 5, 6))),
    (SLICE, (((2, 3, -1), 1, (0, 2, 2)),), (floats(3, 2, 4),)),
    (ASSEMBLE, ((4, 3), (((0, 2, 1), (0, 3, 1)), ((3, 2, -2), 1))), (floats(2, 3), floats(2))),
    (GATE, (), (truth(2, 3), floats(2, 3))),
    (GATE, (), (floats(3), floats(2, 3))),
    (GATE, (), (floats(2, 3), floats(3))),
    (CUMSUM, (0, True), (floats(3, 2),)),
    (CONVOLVE, (), (floats(3), floats(5))),
    (CONVOLVE, (), (floats(4), floats(4))),
    (CONVOLVE, (), (floats(1), floats(3))),
    *[
        (SEARCHSORTED, (side,), (ascending(5), floats(*own)))
        for side in ("left", "right")
        for own in ((), (4,), (2, 3))
    ],
    (EINSUM, (((0,),), (0, 0, 1), (3, 2), ""), (floats(3),)),
    (EINSUM, (((), (0, 1), (1,)), (0,), (3, 2), ""), (floats(), floats(3, 2), floats(2))),
    (EINSUM, (((0, 0), (2,)), (1,), (3, 2, 1), ""), (floats(3, 3), floats(1))),
]


@pytest.mark.parametrize(("primitive", "params", "draws"), PRIMITIVE_CASES, ids=lambda v: getattr(v, "name", None))
def test_primitive(primitive, params, draws):
    rng = np.random.default_rng(7)

    def fn(*xs):
        if any(isinstance(x, Tracer) for x in xs):
            return Tracer(emit(primitive, tuple(map(as_node, xs)), params))
        return primitive.evaluate(params, *map(np.asarray, xs))

    check_batching(fn, lambda: [draw(rng) for draw in draws], len(draws))


def test_searching_sorts_nan_behind_everything():
    knots = np.array([[1.0, 2.0, np.nan], [0.0, np.nan, np.nan], [1.0, 2.0, 3.0]])
    values = np.array([[np.nan, 1.0, 5.0]] * 3)
    want = [[np.searchsorted(k, v, "left"), np.searchsorted(k, v, "right")] for k, v in zip(knots, values, strict=True)]
    got = vmap(lambda k, v: np.stack([np.searchsorted(k, v, "left"), np.searchsorted(k, v, "right")]))(knots, values)
    np.testing.assert_array_equal(got, want)


def test_an_index_outside_of_its_example_is_refused():
    with pytest.raises(IndexError):
        vmap(lambda x, i: np.take(x, i))(np.ones((3, 2)), np.array([0, 2, 1]))


def test_every_primitive_declares_its_batching():
    pending, missing = [Primitive], []
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        is_own = kind.__module__.startswith("symgrad.")  # other tests have theirs
        if is_own and not issubclass(kind, Leaf) and kind.vmap is Primitive.vmap:
            missing.append(kind)
    # kernels alone have Viewed, and blocks BlocksBefore and TriangleOfRows; lu is of one matrix; no value has a limit
    assert set(missing) == {Primitive, Structural, Viewed, LUOrder, BlocksBefore, TriangleOfRows, type(LIMIT)}

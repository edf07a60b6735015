"""Regions run block by block: against the NumPy backend, at every cut of every layout, on threads."""

from __future__ import annotations

import dataclasses
import os
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operands import draw

import symgrad
from symgrad.kernels import block_backend, blocks, numpy_backend
from symgrad.kernels.kernel import BACKENDS, lower
from symgrad.kernels.regions import Region, find_regions, in_order
from symgrad.primitives import functions as f
from symgrad.primitives.casting import cast
from symgrad.primitives.contraction import contract, gate
from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.functions import DOMAINS
from symgrad.primitives.primitive import CapturedArray, constant, input_node, literal
from symgrad.primitives.reduction import MAX, MIN
from symgrad.program.node import Graph, Node, emit
from symgrad.program.program import Program
from symgrad.program.verify import verify

BLOCK_SIZE = blocks._block_size
SHAPES = {
    "one block": ((5,), (5,), (5,)),
    "a tail of one": ((11,), (11,), (11,)),
    "a block short of one": ((9,), (9,), (9,)),
    "rows": ((7, 3), (7, 3), (7, 3)),
    "broadcast": ((7, 3), (3,), (7, 1)),
    "broadcast from less": ((3,), (2, 7, 3), (2, 1, 1)),
    "long rows": ((2, 3, 23), (2, 3, 23), (23,)),
    "one element": ((1,), (6,), (1, 1)),
    "number": ((), (6,), ()),
    "empty": ((0,), (0,), (0,)),
    "no rows": ((0, 3), (0, 3), (3,)),
    "empty rows": ((3, 0), (3, 1), (3, 0)),
}


def total_of(x):
    """The sum of all elements."""
    return contract([x], [tuple(range(x.ndim))], (), x.shape)


def _never_compile(monkeypatch):
    auto = dataclasses.replace(BACKENDS["auto"], compile=None)
    monkeypatch.setitem(BACKENDS, "auto", auto)


@pytest.fixture(autouse=True)
def _cut_small(monkeypatch):
    """Regions of any size, cut into blocks of 5 elements for 3 threads, and no compiled code."""
    _never_compile(monkeypatch)
    monkeypatch.setattr(numpy_backend, "SMALL", numpy_backend.SMALL)
    monkeypatch.setattr(block_backend, "BLOCKS_FROM", 0)
    monkeypatch.setattr("symgrad.kernels.kernel.BLOCKS_FROM", 0)
    monkeypatch.setattr(block_backend, "_WORTH", 0.0)
    monkeypatch.setattr(blocks, "_block_size", lambda *_: 5)
    monkeypatch.setattr(blocks, "_THREAD", 1e-9)
    monkeypatch.setattr(blocks, "thread_count", lambda: 3)


def compare(program: Program, arrays: list, regions: int | None = 1, tolerance: float = 1e-12) -> None:
    """The block kernel gives what the NumPy backend gives, shape, dtype and all, and leaves its inputs alone."""
    before = [np.copy(a) for a in arrays]
    kernel = lower(verify(program), "auto")
    if regions is not None:
        assert kernel.source.count("Blocks(") == regions, kernel.source
    expected = lower(program, "numpy")(*arrays)
    for _ in range(2):
        for got, wanted in zip(kernel(*arrays), expected, strict=True):
            assert np.shape(got) == np.shape(wanted)
            assert np.asarray(got).dtype == np.asarray(wanted).dtype
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)
    for a, b in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(a, b)


def of_arrays(arrays: list, build) -> Program:
    """The program whose outputs ``build`` makes of one input an array."""
    graph = Graph()
    with graph:
        inputs = [input_node(f"x{k}", a.shape, a.dtype) for k, a in enumerate(arrays)]
        outputs = build(*inputs)
    return Program(inputs, outputs, [f"x{k}" for k in range(len(arrays))], graph)


def with_company(node: Node) -> list[Node]:
    """A value, what is made of it, and its sum: a region of several results."""
    other = f.multiply(3.0, cast(node, np.dtype(np.float64)) if node.dtype.kind != "f" else node)
    return [node, other, total_of(other)]


EVERY = ("a tail of one", "broadcast", "number", "empty")
CASES = [
    # what NumPy has not is a formula of several functions, of which a number is one too
    *[(name, np.float64, s) for name in ELEMENTWISE for s in EVERY if (name, s) != ("squared_sech", "number")],
    *[(name, np.float32, s) for name in ELEMENTWISE for s in EVERY[:2]],
    *[(name, np.float64, s) for name in ("sin", "arctan2", "where") for s in SHAPES if s not in EVERY],
]


@pytest.mark.parametrize(("name", "dtype", "shapes"), CASES, ids=[f"{n}-{d.__name__}-{s}" for n, d, s in CASES])
def test_every_template(name, dtype, shapes):
    rng = np.random.default_rng(1)
    template = ELEMENTWISE[name]
    drawn = [draw(rng, i, s) for i, s in zip(DOMAINS[name], SHAPES[shapes], strict=False)]
    arrays = [a.astype(dtype) if a.dtype.kind == "f" else a for a in drawn]
    program = of_arrays(arrays, lambda *x: with_company(template(*x)))
    one_number = program.outputs[0].shape == ()
    compare(program, arrays, 0 if one_number else 1, 1e-12 if dtype == np.float64 else 1e-5)


SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 5e-324, 1e308, 0.5, -2.5]


@pytest.mark.parametrize(
    "name",
    [
        n
        for n, t in ELEMENTWISE.items()
        if all(isinstance(i[0], float) for i in DOMAINS[n]) and n not in ("real", "imag")
    ],
)
def test_values_that_are_no_numbers(name):
    template = ELEMENTWISE[name]
    grids = np.meshgrid(*[SPECIAL] * template.arity)
    arrays = [np.array(g.ravel()) for g in grids]
    program = of_arrays(arrays, lambda *x: [template(*x), f.add(template(*x), 1.0)])
    compare(program, arrays)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.longdouble])
@pytest.mark.parametrize("mask", ["bool", "float"])
def test_zeros_of_a_gate_win(dtype, mask):
    with np.errstate(over="ignore"):
        t = np.array(SPECIAL).astype(dtype)
    m = np.arange(11) % 3 == 0 if mask == "bool" else np.array([0, 1, 0, 0, 2, 0, 0, 3, 0, -0.0, 1], dtype)
    program = of_arrays(
        [m, t], lambda m, t: [gate(m, t), f.add(gate(m, f.negative(t)), f.where(f.less(t, 0.5), t, 7.0))]
    )
    compare(program, [m, t])
    (masked, _) = lower(program, "auto")(m, t)
    assert not np.signbit(masked[m == 0]).any()


LAYOUTS = {
    "contiguous": lambda a: a,
    "transposed": lambda a: np.asfortranarray(a),
    "strided": lambda a: np.repeat(a, 2, 0)[::2],
    "reversed": lambda a: a[::-1].copy()[::-1],
    "one row": lambda a: np.broadcast_to(a[:1], a.shape),
    "one column": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "one element": lambda a: np.broadcast_to(a[0, 0], a.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(13, 3), (2, 17), (4, 5), (1, 1)])
@pytest.mark.parametrize("axes", [(), (0,), (1,)], ids=["all", "columns", "rows"])
def test_layouts_and_sums(layout, shape, axes):
    rng = np.random.default_rng(2)
    arrays = [LAYOUTS[layout](rng.normal(size=shape)), rng.normal(size=shape)]

    def build(x, y):
        z = f.multiply(f.sin(x), y)
        summed = contract([z], [(0, 1)], axes, shape, "sum")
        dot = contract([z, y], [(0, 1), (0, 1)], axes, shape)
        extremes = [emit(p, (z,), (tuple(k for k in (0, 1) if k not in axes),)) for p in (MAX, MIN)]
        return [z, summed, dot, *extremes]

    compare(of_arrays(arrays, build), arrays)


@pytest.mark.parametrize("kept", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), ()], ids=str)
@pytest.mark.parametrize("shape", [(3, 2, 4), (2, 3, 11), (9, 2, 2), (0, 2, 3), (2, 0, 9)], ids=str)
def test_sums_over_some_of_three_axes(kept, shape):
    arrays = [np.random.default_rng(3).normal(size=shape)]
    program = of_arrays(arrays, lambda x: [contract([f.exp(f.negative(x))], [(0, 1, 2)], kept, shape, "sum"), f.tan(x)])
    compare(program, arrays, None)


def test_products_with_new_and_dropped_axes():
    rng = np.random.default_rng(4)
    arrays = [rng.normal(size=6), rng.normal(size=(6, 4)), rng.normal(size=(6, 1)), rng.normal(size=4)]

    def build(u, x, column, v):
        made = contract([f.sin(x), u, column, v], [(0, 1), (0,), (0, 2), (1,)], (0, 1), (6, 4, 1))
        outer = contract([u, v, u], [(0,), (1,), (0,)], (0, 1), (6, 4))
        return [f.add(made, outer), f.negative(made)]

    compare(of_arrays(arrays, build), arrays)


@pytest.mark.parametrize("order", ["yxx", "xyx", "xxy", "xyy", "yyxx", "xzy", "zxzy"])
def test_factors_that_share_memory(order):
    arrays = [np.linspace(0.1, 2, 12)]

    def build(a):
        values = {"x": f.sin(a), "y": f.exp(a), "z": f.divide(1, f.add(a, 1.0))}
        product = contract([values[c] for c in order], [(0,)] * len(order), (0,), (12,))
        return [f.tanh(product), contract([values[c] for c in order], [(0,)] * len(order), (), (12,))]

    compare(of_arrays(arrays, build), arrays)


@pytest.mark.parametrize("exponent", [*range(-6, 17), 2.5, -0.5, 0.5, 3.0, 17])
def test_powers(exponent):
    x = np.array([-2.5, -1.0, -0.0, 0.0, 0.3, 1.0, 2.0, np.inf, -np.inf, np.nan, 1.7])
    program = of_arrays([x], lambda x: [f.power(x, exponent), f.negative(f.power(x, exponent))])
    compare(program, [x], 1, 1e-14)


def test_mixed_dtypes():
    rng = np.random.default_rng(5)
    arrays = [rng.normal(size=12).astype(d) for d in (np.float32, np.float64)] + [np.arange(12), np.arange(12) % 2 == 0]

    def build(single, double, whole, truth):
        mixed = f.add(single, whole)
        selected = [f.where(truth, single, 0.1), f.where(truth, whole, single)]
        truths = [f.logical_and(truth, f.greater(double, 0))]
        scaled = [f.multiply(single, 2.5), f.multiply(mixed, double), f.multiply(whole, 3)]
        return [*selected, *truths, *scaled, cast(mixed, np.dtype(np.float32)), total_of(mixed)]

    compare(of_arrays(arrays, build), arrays, None)


def test_python_numbers_and_constants():
    g = symgrad.value_and_grad(lambda x, scale: np.sum(np.exp(-scale * x) * np.arange(12.0) + scale), (0, 1))
    x = np.linspace(0, 1, 12)
    assert "Blocks(" in g.kernel(x, 1.5).source
    reference = symgrad.value_and_grad(
        lambda x, scale: np.sum(np.exp(-scale * x) * np.arange(12.0) + scale), (0, 1), backend="numpy"
    )
    for got, wanted in zip(g(x, 1.5)[1], reference(x, 1.5)[1], strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-13)


# random programs

_UNARY = (f.sin, f.tanh, f.negative, f.square, f.absolute, f.floor)
_BINARY = (f.add, f.add, f.subtract, f.subtract, f.multiply, f.maximum)
_SHAPE = (4, 3)


def grow(choose, pool: list[Node]) -> Node:
    """One more node over ``pool``: matrices of 4 by 3, rows, columns, numbers and vectors of 12."""
    x = choose(pool)
    partners = [n for n in pool if n.shape in (x.shape, ())]
    kind = choose(["unary", "binary", "gate", "product", "power", "sum", "sum", "spread", "where", "flip", "sign"])
    labels = tuple(range(x.ndim))
    if kind == "binary":
        return choose(_BINARY)(x, choose([*partners, 2.5, -1]))
    if kind == "gate":
        return gate(choose([f.greater(x, 0.5), choose(partners)]), x)
    if kind == "product":
        y = choose(partners)
        factors = choose([[x, y, x], [y, x, x], [x, -1, y], [-1, x], [x, x, y, y], [2.5, x, y], [x, 3, 0.5]])
        factors = [o if isinstance(o, Node) else literal(o) for o in factors]
        return contract(factors, [tuple(range(o.ndim)) for o in factors], labels, x.shape)
    if kind == "power":
        return f.power(f.add(f.absolute(x), 0.5), choose([2, 3, -1, 0.5]))
    if kind == "sign":
        return choose([f.negative, lambda x: f.divide(1, f.add(f.absolute(x), 0.5))])(x)
    if kind == "where":
        return f.where(f.less(x, 0.25), x, choose(partners))
    if kind == "sum" and x.ndim:
        kept = choose([labels[:1], labels[1:], ()])
        if choose([True, False]):
            return contract([x, choose([n for n in pool if n.shape == x.shape])], [labels, labels], kept, x.shape)
        return emit(choose([MAX, MIN]), (x,), (tuple(k for k in labels if k not in kept),)) if len(kept) < x.ndim else x
    if kind == "spread" and x.shape in ((4,), (3,), ()):
        wide = choose([n for n in pool if n.shape == _SHAPE])
        own = {(4,): (0,), (3,): (1,), (): ()}[x.shape]
        return contract([x, wide], [own, (0, 1)], (0, 1), _SHAPE)
    if kind == "flip" and x.shape == _SHAPE:
        return contract([contract([x], [(0, 1)], (1, 0), _SHAPE)], [(0, 1)], (1, 0), (3, 4))
    return choose(_UNARY)(x)


@settings(max_examples=250, derandomize=True)
@given(data=st.data(), length=st.integers(2, 20))
def test_random_programs(data, length):
    numpy_backend.SMALL = data.draw(st.sampled_from([1, 2048]))
    graph = Graph()
    with graph:
        shapes = (_SHAPE, _SHAPE, (4,), (3,), ())
        inputs = [input_node(f"x{k}", s, np.dtype(np.float64)) for k, s in enumerate(shapes)]
        pool = [*inputs, constant(CapturedArray(np.linspace(-1.0, 1.0, 12).reshape(_SHAPE)))]
        for _ in range(length):
            pool.append(grow(lambda items: data.draw(st.sampled_from(list(items))), pool))
        outputs = [*[data.draw(st.sampled_from(pool)) for _ in range(3)], pool[-1]]
    program = Program(inputs, outputs, [f"x{k}" for k in range(5)], graph)
    rng = np.random.default_rng(6)
    compare(program, [rng.normal(size=s) for s in shapes], None, 1e-8)


@settings(max_examples=250, derandomize=True)
@given(data=st.data(), length=st.integers(2, 30))
def test_no_path_leaves_a_region_and_comes_back(data, length):
    graph = Graph()
    with graph:
        pool = [input_node("x", _SHAPE, np.dtype(np.float64)), input_node("v", (4,), np.dtype(np.float64))]
        for _ in range(length):
            pool.append(grow(lambda items: data.draw(st.sampled_from(list(items))), pool))
    program = Program(pool[:2], pool[2:][-3:], ["x", "v"], graph)
    regions = find_regions(program, lambda *_: True, lambda _: True)
    assert len({n for r in regions for n in r.members}) == sum(len(r.members) for r in regions)
    done: set[Node] = set()
    for step in in_order(program, regions):  # each step reads only what stands before it
        members = step.members if isinstance(step, Region) else [step]
        for node in members:
            assert all(o in done for o in node.operands)
            done.add(node)
    assert done == set(program.nodes)


def test_what_is_read_late_alone_is_computed_late():
    def net(w, x):
        return np.sum(np.tanh(np.tanh(x @ w) @ w) ** 2)

    rng = np.random.default_rng(7)
    w, x = rng.normal(size=(6, 6)), rng.normal(size=(8, 6))
    source = symgrad.grad(net).kernel(w, x).source
    first = source[source.index("def block0") : source.index("block0_of = ")]
    assert "np.square" not in first  # 1 - tanh² waits for the cotangent that it is multiplied by


def test_what_is_read_late_is_not_computed_too_late():
    rng = np.random.default_rng(10)
    arrays = [rng.normal(size=(4, 3)), rng.normal(size=(3, 3))]

    def build(x, w):
        t = f.tanh(x)
        moved = contract([f.subtract(1, f.square(t)), w], [(0, 1), (1, 2)], (0, 2), (4, 3, 3))
        return [t, f.multiply(moved, t)]

    compare(of_arrays(arrays, build), arrays, None)


def test_results_take_over_the_memory_of_what_dies(monkeypatch):
    monkeypatch.setattr(numpy_backend, "SMALL", 1)
    rng = np.random.default_rng(9)
    arrays = [rng.normal(size=(6, 6)), rng.normal(size=(6, 6))]

    def build(x, y):
        product = contract([x, y], [(0, 1), (1, 2)], (0, 2), (6, 6, 6))
        first = f.tanh(f.exp(product))
        return [f.sin(f.add(first, y)), f.cos(f.square(product))]

    program = of_arrays(arrays, build)
    assert "-1, 0" in lower(program, "auto").source  # the second result stands where the product stood
    compare(program, arrays)


@pytest.mark.parametrize("scalars", [(), (3.0,), (-1.0,), (3.0, 0.5)], ids=str)
@pytest.mark.parametrize("order", ["z", "zx", "xz", "xzz", "zxyz", "zz"])
@pytest.mark.parametrize("read", ["tanh", "add", "subtract"])
def test_quotients_with_numbers(scalars, order, read):
    arrays = [np.linspace(0.1, 2, 12)]

    def build(a):
        values = {"x": f.sin(a), "y": f.exp(a)}
        quotients = iter(f.divide(1, f.add(f.multiply(a, k + 1.0), 0.5)) for k in range(9))
        factors = [next(quotients) if c == "z" else values[c] for c in order]
        own = [(0,)] * len(factors) + [()] * len(scalars)
        product = contract([*factors, *map(literal, scalars)], own, (0,), (12,)) if own[1:] else factors[0]
        return [f.tanh(product) if read == "tanh" else getattr(f, read)(f.cos(a), product)]

    compare(of_arrays(arrays, build), arrays)


def test_what_is_read_along_other_axes_too_is_not_written_over():
    x = np.array([[0.3, -0.7, 1.1]])

    def function(x):
        square = x @ x.T
        return np.linalg.solve(square @ square.T + 2.0, square)

    compare(symgrad.value_and_grad(function).program(x), [x], regions=2)


def pseudo_huber(x):
    return np.sum(np.sqrt(1 + (2 * x) ** 2))


def student_t(x):
    return np.sum(2.5 * np.log(1 + (x / 0.7) ** 2 / 4))


def cauchy(x):
    return np.sum(np.log(1 + ((x - 0.3) / 2.0) ** 2))


def black_scholes(x):
    d = (np.log(x / 1.3) + 0.02) / 0.25
    return np.sum(x * np.tanh(d) - 1.3 * np.tanh(d - 0.25))


def moneyness(x):
    return np.sum(np.log(x / 1.3) ** 2)


@pytest.mark.parametrize("function", [pseudo_huber, student_t, cauchy, black_scholes, moneyness])
def test_ordinary_functions_of_large_arrays(function, monkeypatch):
    monkeypatch.undo()  # the sizes that users meet
    _never_compile(monkeypatch)
    x = np.linspace(1.0, 2.0, 50_000)
    v = np.cos(x)
    by_blocks = symgrad.value_and_grad(function)
    value, gradient = by_blocks(x)
    assert "Blocks(" in by_blocks.kernel(x).source
    plain = symgrad.grad(function, backend="numpy")
    np.testing.assert_allclose(gradient, plain(x), rtol=1e-12, atol=1e-12)
    assert value == pytest.approx(function(x), rel=1e-12)
    step = 1e-6
    difference = (function(x + step * v) - function(x - step * v)) / (2 * step)
    assert symgrad.jvp(function, (x,), (v,))[1] == pytest.approx(difference, rel=1e-6)
    named = symgrad.grad(symgrad.named(function, x="n"))
    np.testing.assert_allclose(named(x), gradient, rtol=1e-12, atol=1e-12)


# threads


def test_threads_share_a_kernel():
    g = symgrad.value_and_grad(lambda x: np.sum(np.sin(x) * np.exp(-x)))
    arrays = [np.random.default_rng(k).normal(size=997) for k in range(4)]
    expected = [g(a) for a in arrays]
    wrong = []

    def work(k: int) -> None:
        for _ in range(30):
            value, gradient = g(arrays[k])
            if value != expected[k][0] or not np.array_equal(gradient, expected[k][1]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_sums_do_not_depend_on_who_adds_them_up(monkeypatch, threads):
    x = np.random.default_rng(8).normal(size=1001)
    g = symgrad.value_and_grad(lambda x: np.sum(np.sin(x) * x))
    expected = g(x)
    monkeypatch.setattr(blocks, "thread_count", lambda: threads)
    value, gradient = g(x)
    assert value == expected[0]
    np.testing.assert_array_equal(gradient, expected[1])


def test_a_sum_of_many_blocks_keeps_its_digits():
    x = np.full(200_001, 0.1, np.float32)
    value = symgrad.value_and_grad(lambda x: np.sum(x * x + x))(x)[0]
    np.testing.assert_allclose(value, 200_001 * 0.11, rtol=1e-6)


def test_errors_reach_the_caller_and_leave_nothing_running():
    program = of_arrays([np.arange(400), np.arange(400)], lambda x, y: [f.power(x, y), f.add(f.power(x, y), 1)])
    kernel = lower(program, "auto")
    assert "Blocks(" in kernel.source
    exponents = np.ones(400, int)
    exponents[377] = -1
    with pytest.raises(ValueError, match="negative integer powers"):
        kernel(np.full(400, 2), exponents)
    np.testing.assert_array_equal(kernel(np.full(400, 2), np.ones(400, int))[0], np.full(400, 2))


def test_invalid_values_do_not_warn_in_any_thread():
    x = np.linspace(-1, 1, 999)  # warnings are errors in these tests
    gradient = symgrad.grad(lambda x: np.sum(np.log(x) / np.sqrt(x - 5) / (x - x)))(x)
    assert np.isnan(gradient).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # of JAX, where another test has imported it
def test_a_forked_process_makes_its_own_threads():
    x = np.linspace(0, 1, 300)
    g = symgrad.grad(lambda x: np.sum(np.sin(x) * x))
    expected = g(x)
    child = os.fork()
    if not child:
        os._exit(0 if np.array_equal(g(x), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_environment_and_the_processors_bound_the_threads(monkeypatch):
    count = blocks._threads_wanted
    monkeypatch.setattr(blocks, "_processors", lambda: 8)
    for name in ("SYMGRAD_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    assert count() == 8
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    assert count() == 4
    monkeypatch.setenv("SYMGRAD_NUM_THREADS", "2")
    assert count() == 2
    monkeypatch.setenv("SYMGRAD_NUM_THREADS", "many")
    assert count() == 4
    monkeypatch.setenv("OMP_NUM_THREADS", "0")
    assert count() == 8


@pytest.mark.parametrize("elements", [0, 1, 4096, 20_000, 65_537, 1_000_000, 10**9])
@pytest.mark.parametrize("threads", [1, 2, 16])
def test_blocks_are_cut_for_the_threads_and_the_cache(elements, threads):
    size = BLOCK_SIZE(elements, threads, 80)
    assert 4096 <= size <= 1 << 15
    assert size * threads <= max(elements, 1 << 16)
    assert BLOCK_SIZE(elements, threads, 8000) == 4096
    assert BLOCK_SIZE(elements, threads, 0) >= size


def test_small_regions_run_on_this_thread_alone(monkeypatch):
    monkeypatch.setattr(blocks, "_THREAD", 1e12)
    monkeypatch.setattr(blocks._pool, "helpers", lambda work, count: [] if not count else pytest.fail("threads"))
    x = np.linspace(0, 1, 300)
    np.testing.assert_allclose(symgrad.grad(lambda x: np.sum(np.sin(x) * x))(x), np.sin(x) + x * np.cos(x), rtol=1e-12)


def test_named_sizes_share_a_kernel():
    g = symgrad.value_and_grad(symgrad.named(lambda x, w: np.sum(np.sin(x) * np.exp(-x) * w), x="n d", w="d"))
    for n, d in ((1, 1), (3, 4), (40, 3), (2, 33), (7, 1), (1, 30)):
        rng = np.random.default_rng(n)
        x, w = rng.normal(size=(n, d)), rng.normal(size=d)
        value, gradient = g(x, w)
        np.testing.assert_allclose(value, np.sum(np.sin(x) * np.exp(-x) * w), rtol=1e-12)
        np.testing.assert_allclose(gradient, (np.cos(x) - np.sin(x)) * np.exp(-x) * w, rtol=1e-11, atol=1e-14)
        assert "Blocks(" in g.kernel().source

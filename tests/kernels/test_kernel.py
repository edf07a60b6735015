"""Kernels against plain evaluation of the same nodes: random programs, every backend, buffers and all."""

from __future__ import annotations

import itertools
import re
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad
from symgrad.errors import BackendError
from symgrad.kernels import numpy_backend
from symgrad.kernels.kernel import BACKENDS, Kernel, lower
from symgrad.primitives import functions as f
from symgrad.primitives.contraction import contract, gate
from symgrad.primitives.primitive import CapturedArray, constant, input_node
from symgrad.primitives.reduction import MAX, cumulative_sum
from symgrad.primitives.selection import assemble, concatenate, full, gather, take_slice
from symgrad.primitives.shaping import reshape
from symgrad.program.node import Graph, Node, emit
from symgrad.program.program import Program
from symgrad.program.verify import verify

_UNARY = (f.sin, f.tanh, f.negative, f.square, f.exp, f.absolute, f.floor)
_BINARY = (f.add, f.subtract, f.multiply, f.maximum)


@pytest.fixture
def small_is_large(monkeypatch):
    """Buffers are reused and freed at every size, as they are for large arrays."""
    monkeypatch.setattr(numpy_backend, "SMALL", 1)


def reference(program: Program, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Each node evaluated by its primitive, nothing fused or reused."""
    values = dict(zip(program.inputs, arrays, strict=True))
    for node in program.nodes:
        if node.primitive.name == "constant":
            values[node] = node.params[0].value
        elif node not in values:
            values[node] = node.primitive.evaluate(node.params, *[values[o] for o in node.operands])
    return [np.broadcast_to(values[o], o.shape) for o in program.outputs]


def grow(choose, pool: list[Node]) -> Node:
    """One more node over ``pool``, whose members are vectors of 6 or matrices of 2 by 3."""
    x = choose(pool)
    kind = choose(["unary", "binary", "product", "gate", "slice", "move", "gather", "reduce", "scan"])
    partners = [n for n in pool if n.shape == x.shape]
    if kind == "unary":
        return choose(_UNARY)(x)
    if kind == "binary":
        return choose(_BINARY)(x, choose([*partners, 2.5, -1]))
    if kind == "gate":
        return gate(choose([f.greater(x, 0.5), choose(partners)]), choose(partners))
    labels = tuple(range(x.ndim))
    if kind == "product":
        y = choose(partners)
        out = choose([labels, labels[:1]])
        made = contract([x, y], [labels, labels], out, x.shape)
        return made if made.shape == x.shape else contract([made], [out], labels, x.shape)
    if kind == "slice":
        step = choose([1, -1])
        n = x.shape[0]
        spec = ((0 if step == 1 else n - 1, n, step), *full(x.shape[1:]))
        half = ((1, n - 1, 1), *full(x.shape[1:]))
        return choose([take_slice(x, spec), assemble([take_slice(x, half), x], x.shape, [half, full(x.shape)])])
    if kind == "move":
        moved = reshape(contract([x], [labels], labels[::-1], x.shape), (6,))
        return moved if x.ndim == 1 else choose([moved, reshape(x, (6,))])
    if kind == "gather":
        index = constant(CapturedArray(np.arange(x.shape[0])[::-1].copy()))
        halves = [take_slice(x, ((k, 1, 1), *full(x.shape[1:]))) for k in range(x.shape[0])]
        return choose([gather(x, index, 0), concatenate(halves, 0)])
    if kind == "reduce":
        total = choose([emit(MAX, (x,), (labels,)), contract([x], [labels], (), x.shape, "sum")])
        return f.multiply(total, choose(partners))
    return cumulative_sum(x, 0, choose([True, False]))


def random_program(choose, length: int) -> Program:
    graph = Graph()
    with graph:
        inputs = [input_node(n, s, np.dtype(np.float64)) for n, s in (("x", (6,)), ("y", (6,)), ("z", (2, 3)))]
        pool = [*inputs, constant(CapturedArray(np.linspace(-1.0, 1.0, 6)))]
        for _ in range(length):
            pool.append(grow(choose, pool))
        outputs = [choose(pool) for _ in range(3)] + pool[-1:]
    return Program(inputs, outputs, ["x", "y", "z"], graph)


def arrays() -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.normal(size=6), rng.normal(size=6), rng.normal(size=(2, 3))]


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=150, derandomize=True)
@given(data=st.data(), length=st.integers(1, 14))
def test_random_programs_give_what_their_nodes_say(backend, data, length):
    small = numpy_backend.SMALL
    numpy_backend.SMALL = 1
    try:
        program = verify(random_program(lambda items: data.draw(st.sampled_from(list(items))), length))
        given_arrays, untouched = arrays(), arrays()
        with np.errstate(all="ignore"):
            expected = reference(program, given_arrays)
        kernel = lower(program, backend)
        verify(kernel.program)
        for _ in range(2):
            results = kernel(*given_arrays)
            for result, wanted in zip(results, expected, strict=True):
                assert np.shape(result) == wanted.shape
                np.testing.assert_allclose(result, wanted, rtol=1e-10, atol=1e-10)
        for array, copy in zip(given_arrays, untouched, strict=True):
            np.testing.assert_array_equal(array, copy)
        held = [n.params[0].value for n in program.nodes if n.primitive.name == "constant"]
        for a, b in itertools.combinations([*results, *given_arrays, *held], 2):
            assert not np.shares_memory(a, b)
    finally:
        numpy_backend.SMALL = small


def test_source_has_only_numbered_names():
    g = symgrad.grad(lambda weird_name, y: np.sum(np.sin(weird_name) * y))
    kernel = g.kernel(np.ones(3), np.ones(3))
    assert isinstance(kernel, Kernel)
    assert "weird_name" not in kernel.source
    assert kernel.source.startswith("def kernel(v0, v1):")


def test_dying_buffers_are_reused(small_is_large):
    source = symgrad.grad(lambda x: np.sum(np.tanh(np.sin(x)))).kernel(np.ones(8)).source
    assert "out=" in source


def test_numexpr_fuses_a_chain_into_one_string():
    kernel = symgrad.symbolic(lambda x: np.exp(-x) * np.sin(x) + 2.5, backend="numexpr").kernel(np.ones(3))
    assert kernel.backend == "numexpr"
    assert kernel.source.count("evaluate(") == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numexpr_keeps_float32(dtype):
    x = np.linspace(0.1, 2.0, 50, dtype=dtype)
    g = symgrad.value_and_grad(lambda x: np.sum(np.where(x > 0.5, x * 2.5, 0.0) + x**3 / 1.5), backend="numexpr")
    value, gradient = g(x)
    assert value.dtype == dtype
    assert gradient.dtype == dtype


def test_numexpr_strings_stay_below_its_limits():
    def many(*arrays):
        total = arrays[0]
        for a in arrays[1:]:
            total = np.sin(total + a)
        return np.sum(total)

    arrays = [np.full(4, 0.01 * k) for k in range(150)]
    expected = symgrad.grad(many, backend="numpy")(*arrays)
    np.testing.assert_allclose(symgrad.grad(many, backend="numexpr")(*arrays), expected, rtol=1e-10)


def test_what_numexpr_computes_on_its_own_for_a_long_string_stands_in_nothing_that_the_rest_reads():
    def function(x):
        v = np.logaddexp(x, np.log2(2 + x**2))
        v[1:] = v[:-1]
        return v

    x = np.linspace(-1.0, 1.0, 20_000)
    np.testing.assert_allclose(
        symgrad.grad(function, backend="numexpr")(x), symgrad.grad(function, backend="numpy")(x), rtol=1e-12
    )


def test_auto_cuts_only_large_arrays_into_blocks():
    g = symgrad.grad(lambda x: np.sum(np.exp(np.sin(x)) * np.tanh(x)))
    for n, cut in ((10, False), (100_000, True), (10, False)):
        kernel = g.kernel(np.ones(n))
        assert kernel.backend == "numpy"
        assert ("Blocks(" in kernel.source) == cut


def test_unknown_backend_is_refused_at_the_door():
    with pytest.raises(BackendError, match="'gpu' is unknown"):
        symgrad.grad(np.sum, backend="gpu")


@pytest.mark.parametrize("backend", BACKENDS)
def test_threads_share_a_kernel(backend):
    g = symgrad.grad(lambda x: np.sum(np.sin(x) * np.exp(-x)), backend=backend)
    arrays = [np.random.default_rng(k).normal(size=40_000) for k in range(4)]
    expected = [g(a) for a in arrays]
    tolerance = 1e-13 if backend == "auto" else 0.0  # which goes on with another kernel when that is built
    wrong = []

    def work(k: int) -> None:
        for _ in range(20):
            if not np.allclose(g(arrays[k]), expected[k], tolerance, tolerance):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_an_output_that_is_an_input_is_a_copy():
    x, y = np.ones(3), np.full(3, 2.0)
    gradient = symgrad.grad(lambda x, y: np.sum(x * y))(x, y)
    gradient[0] = 99.0
    np.testing.assert_array_equal(y, [2.0, 2.0, 2.0])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: np.greater(a, b) * 1.0,
        lambda a, b: np.where(a > 0, 1.0, 2.0) + 0,
        lambda a, b: (a > b) * 1.0 + (a < b) * 2.0,
    ],
)
def test_whole_floats_beside_truth_values_stay_floats(function, dtype, backend):
    a = np.linspace(-1, 1, 5000).astype(dtype)
    b = a[::-1].copy()
    got, want = symgrad.symbolic(function, backend=backend)(a, b), function(a, b)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("size", [3, 5000])
def test_what_is_made_of_python_floats_gives_way_to_smaller_ones(size, dtype, backend):
    x = np.ones(size, dtype)
    for function in (lambda t, x: (t * 2) * x, lambda t, x: -t * x, lambda t, x: (t * 2 + 1) / 3 * x + t):
        got, want = symgrad.symbolic(function, backend=backend)(0.1, x), function(0.1, x)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=2e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_scalars_are_numpys_own_and_no_arrays_of_no_axes(backend):
    gradient = symgrad.grad(lambda x, y: np.abs(x) * np.maximum(x, y), (0, 1), backend=backend)
    assert [type(part) for part in gradient(-1.0, 2.0)] == [np.float64, np.float64]
    chosen = symgrad.symbolic(lambda x: (np.where(x > 0, x, 2.0), np.reshape(x, ()), x > 0), backend=backend)
    assert [type(part) for part in chosen(np.ones(()))] == [np.float64, np.float64, np.bool_]


@pytest.mark.parametrize("backend", ["numpy", "auto"])
@pytest.mark.parametrize("times", [3, 4, 5, 6])
def test_a_large_product_of_one_array_with_itself(times, backend):
    x = np.linspace(0.1, 1, 5000)

    def function(x):
        return np.einsum(",".join("i" * times) + "->", *[np.sin(x)] * times)

    wanted = times * np.sin(x) ** (times - 1) * np.cos(x)
    np.testing.assert_allclose(symgrad.grad(function, backend=backend)(x), wanted, rtol=1e-13)


def test_memory_that_was_handed_on_is_let_go_of_too():
    x = np.ones(5000)
    source = symgrad.grad(lambda x: np.sum(np.tanh(np.sin(x)) * x), backend="numpy").kernel(x).source
    assert "out=" in source
    made = set(re.findall(r"\bv\d+(?= = )", source)) - set(re.findall(r"v\d+", source[source.index("return") :]))
    large = {name for name in made if f"{name} = np.add.reduce" not in source}
    freed = set(re.findall(r"v\d+", " ".join(line for line in source.splitlines() if "del " in line)))
    assert large == freed, source

"""Derivatives block by block against the whole, for functions and blocks of many kinds, and what is refused."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
import symgrad.nn as nn
from symgrad.errors import ArgumentError, ResultTooLarge, UnsupportedOperation
from symgrad.tracing.tree import flatten

RNG = np.random.default_rng(11)
W, X, Y = RNG.uniform(0.5, 1.5, 3), RNG.standard_normal((41, 3)), RNG.uniform(0.5, 1.5, 41)


def declared(function):
    return sg.named(function, w="d", X="n d", y="n")


def compare(derived, *args, **blocks):
    got, want = flatten(derived.in_chunks(**blocks)(*args)), flatten(derived(*args))
    assert got[1] == want[1]
    for found, whole in zip(got[0], want[0], strict=True):
        assert type(found) is type(whole)
        if isinstance(whole, int):  # the number of an argument
            assert found == whole
            continue
        close(found, whole)


def close(found, whole):
    """Equal to rounding, of the same dtype."""
    assert found.dtype == whole.dtype
    precise = np.finfo(whole.dtype).eps
    np.testing.assert_allclose(found, whole, rtol=1e5 * precise, atol=1e3 * precise * max(1, np.max(np.abs(whole))))


ELEMENTWISE = [
    np.tanh,
    np.sin,
    lambda z: np.exp(-(z**2)),
    lambda z: z / (1 + z**2),
    lambda z: np.where(z > 0, z**2, -z),
    np.abs,
]
REDUCED = [
    np.sum,
    np.mean,
    np.std,
    np.linalg.norm,
    lambda z: np.max(z) - np.min(z),
    lambda z: np.log(np.sum(np.exp(z - np.max(z)))) + np.max(z),
    lambda z: np.sum(z) * np.mean(z**2),
    lambda z: np.sum(np.diff(z) ** 2) + z[1] * z[-2],
    lambda z: np.sum(z) * z[np.argmin(z)] + z[np.argmax(z)] ** 2,
]
SHIFTED = [
    np.copy,
    lambda z: z - np.roll(z, 1),
    np.gradient,
    lambda z: np.pad(z[2:] * z[:-2], 1),
    lambda z: np.convolve(z, np.array([0.5, -1.0, 0.25], z.dtype), "same"),
    lambda z: np.cumsum(z) / len(z),
    lambda z: np.roll(np.cumsum(z[::-1])[::-1], 1) / len(z) * z,
    lambda z: np.stack([z, -z, z**2], 1)[np.arange(len(z)), (z > 0).astype(int) - (z > 1)],
    lambda z: np.take_along_axis(np.stack([z[1:], z[:-1]], 1), (z[1:, None] > 0).astype(int), 1).ravel().sum() + z,
    lambda z: z * np.linspace(0, 1, len(z), dtype=z.dtype),
    lambda z: sg.fori_loop(0, 2, lambda _, v: np.tanh(v + 0.1 * np.roll(v, 1)), z),
]


@st.composite
def programs(draw):
    """A function of w, X and y, and the dtype that it is called with."""
    steps = draw(st.lists(st.sampled_from(ELEMENTWISE), max_size=3))
    reductions = draw(st.lists(st.sampled_from(REDUCED), min_size=1, max_size=2))
    centers, shift = draw(st.booleans()), draw(st.sampled_from(SHIFTED))

    def f(w, X, y):
        z = X @ w
        for step in steps:
            z = step(z) * y
        if centers:
            z = z - np.mean(z)
        z = shift(z)
        return sum(reduction(z + 0.1 * y) for reduction in reductions)

    return f, draw(st.sampled_from([np.float64, np.float32]))


@settings(max_examples=60)
@given(programs(), st.integers(1, 50))
def test_random_programs_in_random_blocks(program, length):
    f, dtype = program
    args = [np.asarray(a, dtype) for a in (W, X, Y)]
    compare(sg.value_and_grad(declared(f), (0, 1, 2), backend="numpy"), *args, n=length)


@settings(max_examples=50)
@given(programs(), st.lists(st.integers(1, 40), min_size=1, max_size=5))
def test_random_programs_of_arrays_of_dask(program, ends):
    da = pytest.importorskip("dask.array")
    f, dtype = program
    cuts = [0, *sorted({*ends, 40}), 41]
    rows = tuple(np.diff(cuts).tolist())
    w, x, y = (np.asarray(a, dtype) for a in (W, X, Y))
    derived = sg.value_and_grad(f, (0, 1, 2), backend="numpy")
    value, gradients = derived(w, da.from_array(x, chunks=(rows, 3)), da.from_array(y, chunks=rows))
    wanted, others = derived(w, x, y)
    for found, whole in zip((value, *gradients), (wanted, *others), strict=True):
        close(found.compute(), whole)


def loss(w, X, y):
    return np.mean(np.log(1 + np.exp(-y * (X @ w))))


DERIVED = {
    "value": lambda: sg.symbolic(declared(loss)),
    "names": lambda: sg.grad(declared(loss), ("w", "y"), return_ids=True),
    "forward": lambda: sg.grad(declared(loss), mode="forward"),
    "Hessian": lambda: sg.hessian(declared(loss)),
    "Jacobian": lambda: sg.jacobian(declared(lambda w, X, y: np.tanh(X @ w) * y)),
    "gradient of a gradient": lambda: sg.grad(declared(lambda w, X, y: np.sum(sg.grad(loss)(w, X, y) ** 2))),
    "Laplacian": lambda: sg.laplacian(declared(loss)),
}


@pytest.mark.parametrize("name", DERIVED)
@pytest.mark.parametrize("n", [1, 10, 41, "1KiB"])
def test_every_derivative(name, n):
    compare(DERIVED[name](), W, X, Y, n=n)


@pytest.mark.parametrize("backend", ["numpy", "numexpr", pytest.param("native", marks=pytest.mark.needs("cc"))])
def test_every_backend(backend):
    compare(sg.value_and_grad(declared(loss), backend=backend), W, X, Y, n=7)


@pytest.mark.parametrize("backend", ["auto", "numpy", pytest.param("native", marks=pytest.mark.needs("cc"))])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_largest_element_is_found_again_by_other_kernels(backend, dtype):
    """It is compared with values that were computed in another pass, to the last bit."""

    def f(w, X, y):
        z = np.exp(X @ w) * np.tanh(X @ w)
        return np.max(z) - np.min(np.log1p(np.exp(X @ w))) + np.sum(np.max(np.tanh(X * w), axis=0)) + np.sum(y)

    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 60))
        args = [rng.standard_normal(shape).astype(dtype) for shape in ((3,), (n, 3), (n,))]
        compare(sg.value_and_grad(declared(f), (0, 1), backend=backend), *args, n=int(rng.integers(1, 30)))


def test_a_result_that_is_an_argument_is_a_copy():
    x, y = np.ones(3), np.arange(3.0)
    result = sg.grad(sg.named(lambda x, y: x @ y, x="n", y="n")).in_chunks(n=2)(x, y)
    result[:] = 7
    assert np.array_equal(y, [0, 1, 2])


def test_arrays_of_other_libraries_are_no_containers():
    """Zarr's are dataclasses."""

    @dataclasses.dataclass
    class Stored:
        values: np.ndarray
        shape = property(lambda self: self.values.shape)
        dtype = property(lambda self: self.values.dtype)

        def __getitem__(self, index):
            return self.values[index]

        def __array__(self, dtype=None, copy=None):
            return self.values

    np.testing.assert_allclose(
        sg.grad(declared(loss)).in_chunks(n=5)(W, Stored(X), Stored(Y)), sg.grad(loss)(W, X, Y), rtol=1e-12
    )


def test_it_is_no_part_of_another_function():
    chunked = sg.grad(declared(loss)).in_chunks(n=3)
    with pytest.raises(UnsupportedOperation, match="runs block by block here, and cannot be part of another function"):
        sg.grad(lambda w: np.sum(chunked(w, X, Y)))(W)


def test_blocks_by_their_number():
    derived = sg.grad(declared(loss))
    for count, lengths in (("1 block", [41]), ("8 blocks", [6] * 6 + [5]), ("100 blocks", [1] * 41)):
        counted = Counted(X)
        np.testing.assert_allclose(derived.in_chunks(n=count)(W, counted, Y), derived(W, X, Y), rtol=1e-12)
        assert counted.lengths == lengths
    assert repr(derived.in_chunks(n="8 blocks")).endswith("in chunks of n=8 blocks>")


def test_progress_tells_of_the_blocks():
    told = []

    class Slow(Counted):
        def __getitem__(self, index):
            before = len(told)
            while len(self.lengths) == 3 and len(told) < before + 2:  # the first word may be of the block before
                pass
            return super().__getitem__(index)

    with sg.progress(lambda stage, _: told.append(stage), after=0.001, every=0.001):
        sg.grad(declared(loss)).in_chunks(n="5 blocks")(W, Slow(X), Y)
    assert "block 3 of 5" in told  # while the next is read


class Counted:
    """An array that is elsewhere, and notes how much is read at a time."""

    def __init__(self, array):
        self._array = array
        self.shape, self.dtype = array.shape, array.dtype
        self.lengths = []

    def __getitem__(self, index):
        part = self._array[index]
        self.lengths.append(len(part))
        return part


GRID, KNOTS, MATRIX = np.linspace(-2, 2, 7), np.array([0.3, -1.0, 0.5, 2.0, 0.1, 0.4, -0.2]), np.eye(3) * 2 + 0.3


def written_at_labels(w, X, y):
    picked = np.zeros((len(y), 3))
    picked[np.arange(len(y)), (y > 0).astype(int)] = 1.0
    return np.sum(picked * X * w)


def added_at_labels(w, X, y):
    sums = np.zeros(2)
    np.add.at(sums, (y > 0).astype(int), X @ w)
    return np.sum(sums**2)


OF_ROWS = {
    "sorted": lambda w, X, y: np.sum(np.sort(X * w, axis=1)[:, :2] ** 2),
    "median": lambda w, X, y: np.sum(np.median(X * w, axis=1) ** 2),
    "transformed": lambda w, X, y: np.sum(np.abs(np.fft.rfft(X * w, axis=1)) ** 4),
    "interpolated": lambda w, X, y: np.sum(np.interp(X @ w, GRID, KNOTS) ** 2),
    "solved": lambda w, X, y: np.sum((X - w) * np.linalg.solve(MATRIX * w[0], (X - w).T).T),
    "chosen": lambda w, X, y: np.sum(np.choose((y > 0).astype(int), [X[:, 1] * w[0], X[:, 2] * w[1]])),
    "counted": lambda w, X, y: np.sum(np.bincount((y > 0).astype(int), weights=X @ w, minlength=2) ** 2),
    "where": lambda w, X, y: np.mean(X @ w, where=y > 0),
    "written at labels": written_at_labels,
    "added at labels": added_at_labels,
}


@pytest.mark.parametrize("name", OF_ROWS)
def test_what_concerns_rows_alone_needs_no_other_block(name):
    function = sg.named(OF_ROWS[name], w="3", X="n 3", y="n")
    compare(sg.value_and_grad(function, (0, 1, 2)), W, X, Y - 1, n=7)


def test_a_label_beyond_the_columns_is_refused_in_its_block():
    def counted(x, k):
        return np.sum(np.bincount(k, weights=x, minlength=3) ** 2)

    derived = sg.grad(sg.named(counted, x="n", k="n"))
    with pytest.raises(IndexError, match="out of bounds"):
        derived.in_chunks(n=2)(np.ones(4), np.array([0, 1, 2, 3]))


def test_labels_pick_one_of_a_number_of_columns_that_has_a_name():
    def entropy(Z, label):
        return np.mean(np.log(np.sum(np.exp(Z), 1)) - Z[np.arange(len(label)), label])

    Z, label = RNG.standard_normal((41, 5)), RNG.integers(-5, 5, 41)
    derived = sg.value_and_grad(sg.named(entropy, Z="n k", label="n"))
    compare(derived, Z, label, n=7)
    label[29] = 5
    with pytest.raises(IndexError, match="out of bounds"):
        derived.in_chunks(n=7)(Z, label)


def test_two_dims_at_once():
    misfit = sg.named(lambda U, V, R: np.sum((R - U @ V.T) ** 2), U="n k", V="m k", R="n m")
    args = RNG.standard_normal((7, 2)), RNG.standard_normal((5, 2)), RNG.standard_normal((7, 5))
    compare(sg.value_and_grad(misfit, (0, 1, 2)), *args, n=3, m=2)
    compare(sg.grad(misfit, (0, 1)), *args, m=4)


def test_a_dim_that_is_whole_may_have_neighbours_too():
    """Then a pass reads arrays of ``m - 1`` elements alone, of which nobody knows ``m``."""

    def across(u):
        return (u[:, 1:] - u[:, :-1]) * u[:, :-1]

    functions = [
        lambda u: np.max(across(u)) + np.mean(across(u)),
        lambda u: np.mean(across(u[1:] - u[:-1] + u[0] * u[-1])),
        lambda u: np.sum(across(u)[0] * across(u)[-1]) + np.var(across(u)),
    ]
    u = RNG.standard_normal((13, 5))
    for function in functions:
        for length in (4, 13, 20):
            compare(sg.value_and_grad(sg.named(function, u="n m")), u, n=length)
        compare(sg.value_and_grad(sg.named(function, u="n m")), u[:, :3], n=5)


def test_zeros_like_an_array_have_its_dtype():
    def written(u):
        v = np.zeros_like(u)
        v[1:-1] = u[2:] * u[:-2]
        return np.sum(np.sin(v + u) * np.ones_like(u) * np.full_like(u, 0.5))

    u = np.linspace(0, 1, 9, dtype=np.float32)
    named = sg.value_and_grad(sg.named(written, u="n"))
    assert [found.dtype for found in (*named(u), *named.in_chunks(n=4)(u))] == [np.float32] * 4
    np.testing.assert_array_equal(named(u)[0], written(u))


def test_networks_and_nested_arguments():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner, self.outer = nn.Dense(3, 4), nn.Dense(4, 1)

        def construct(self, batch: sg.Array["n 3"], target: sg.Array["n"]):
            return np.mean((self.outer(np.tanh(self.inner(batch)))[:, 0] - target) ** 2)

    net = Net()
    compare(sg.value_and_grad(net, None, net.trainable_params()), np.float32(X), np.float32(Y), n=8)
    nested = sg.named(
        lambda p, data: np.sum((data["X"] @ p["w"] - data["y"]) ** 2), data={"X": "n d", "y": "n"}, p={"w": "d"}
    )
    compare(sg.grad(nested), {"w": W}, {"X": X, "y": Y}, n=9)


def test_a_step_counter_and_a_flag_are_no_data():
    f = sg.named(lambda w, X, t, squares=False: np.sum((X @ w) ** (2 if squares else 3)) / t, w="d", X="n d")
    for t in (1, 2, 3):
        compare(sg.grad(f), W, X, t, n=5)
        np.testing.assert_allclose(
            sg.grad(f).in_chunks(n=5)(W, X, t, squares=True), sg.grad(f)(W, X, t, squares=True), rtol=1e-12
        )


def test_what_does_not_fit_is_said_at_the_door():
    derived = sg.grad(declared(loss))
    with pytest.raises(ArgumentError, match="no array has a dim 'm'; the names are 'd', 'n'"):
        derived.in_chunks(m=3)(W, X, Y)
    for wrong in (0, -1, True, 2.5, "64", "MiB", "0B", "0 blocks", "blocks", None):
        with pytest.raises(ArgumentError, match="in_chunks: n is"):
            derived.in_chunks(n=wrong)
    with pytest.raises(ArgumentError, match="the function declares none"):
        sg.grad(loss).in_chunks(n=3)(W, X, Y)
    with pytest.raises(ArgumentError, match="say of which dim"):
        derived.in_chunks()(W, X, Y)


SPARSE = {
    "neighbours": (lambda x: x[1:] * np.sin(x[:-1]), "n"),
    "around": (lambda x: np.roll(x, 1) * x, "n"),
    "two for each": (lambda x: np.stack([x**2, np.sin(x) * x[::-1][::-1]], 1), "n"),
    "some columns": (lambda x: np.tanh(x * np.array([1.0, 0.0, 2.0])), "n 3"),
    "rows": (lambda x: np.sum(x**2, axis=1), "n 3"),
    "two columns of each row": (lambda x: x[:, [2, 0]] ** 2, "n 3"),
    "nothing": (lambda x: np.sign(x), "n"),
    "all": (lambda x: x / np.sum(x), "n"),
}


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_results(name):
    """In this process those of the whole; of arrays of Dask they are arrays of Dask, each of one sparse block."""
    da, sparse = pytest.importorskip("dask.array"), pytest.importorskip("scipy.sparse")
    f, shape = SPARSE[name]
    x = np.random.default_rng(3).standard_normal([11 if n == "n" else int(n) for n in shape.split()])
    derived = sg.jacobian(f, sparse=True)
    want = derived(x)
    named = sg.jacobian(sg.named(f, x=shape), sparse=True).in_chunks(n=4)(x)
    lazy = derived(da.from_array(x, chunks=((4, 1, 6), *((n,) for n in x.shape[1:]))))
    assert isinstance(lazy._meta, sparse.csr_array)
    for made in (named, lazy.compute(scheduler="processes")):
        assert made.has_canonical_format
        assert made.nnz == want.nnz + len(x) * (name == "some columns")  # zeros that are known of known sizes alone
        np.testing.assert_allclose(made.toarray(), want.toarray(), rtol=1e-12, atol=1e-14)


def test_a_sparse_hessian_of_two_arguments_and_of_what_is_not_in_blocks():
    da = pytest.importorskip("dask.array")
    x, w = np.linspace(0.1, 1, 9), np.array([0.3, -0.2])
    f = lambda x, w: np.sum(x[1:] ** 2 * x[:-1]) + np.sum(np.sin(x)) * w[0] + w[1] ** 3  # noqa: E731
    derived = sg.hessian(f, (0, 1), sparse=True)
    for row, wanted in zip(derived(da.from_array(x, chunks=4), w), derived(x, w), strict=True):
        for made, want in zip(row, wanted, strict=True):
            np.testing.assert_allclose(made.compute().toarray(), want.toarray(), rtol=1e-12, atol=1e-14)


def test_a_sparse_result_that_is_dense_is_refused_where_it_does_not_fit(monkeypatch):
    from symgrad.kernels import sparse

    da = pytest.importorskip("dask.array")
    monkeypatch.setattr(sparse, "memory_limit", lambda: 1000)
    with pytest.raises(ResultTooLarge, match=r"11 × 11 would have .* dense by structure"):
        sg.jacobian(lambda x: x / np.sum(x), sparse=True)(da.from_array(np.ones(11), chunks=4))


def test_a_result_that_is_larger_than_memory_is_refused_before_anything_runs():
    f = sg.named(lambda w, X: np.sum((X @ w) ** 2), w="d", X="n d")
    long = np.broadcast_to(np.ones((1, 3)), (10**13, 3))
    with pytest.raises(sg.errors.ResultTooLarge, match="a value of shape 10000000000000 × 3 would take 218 TiB"):
        sg.grad(f, 1).in_chunks(n=10**12)(W, long)


def test_tensors_give_tensors():
    f = sg.named(lambda w, X: np.mean(np.tanh(X @ w)), w="d", X="n d")
    compare(sg.grad(f), sg.Tensor(W), sg.Tensor(X), n=5)


def test_what_needs_several_blocks_is_refused_with_the_line():
    def f(w, X, y):
        return np.sum(np.sort(X @ w) * y)  # here

    with pytest.raises(UnsupportedOperation, match=r"(?s)argsort cannot be computed block by block.*# here"):
        sg.grad(declared(f)).in_chunks(n=3)(W, X, Y)


def test_what_is_elsewhere_must_be_declared():
    class Elsewhere:
        shape, dtype = (2, 3), np.dtype(float)

        def __getitem__(self, index):
            raise AssertionError("read")

    partly = sg.named(lambda w, X, Z: np.sum(X @ w) + np.sum(Z), w="d", X="n d")
    with pytest.raises(ArgumentError, match="Z is read block by block, and the function declares no shape of it"):
        sg.grad(partly).in_chunks(n=3)(W, X, Elsewhere())

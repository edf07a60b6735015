"""Arrays of Dask in, arrays of Dask out, on its schedulers and on processes that it starts and loses."""

import itertools
import os
import signal
import time

import numpy as np
import pytest

import symgrad as sg
from symgrad import amp, nn

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


def logistic(w, X, y):
    return np.mean(np.log(1 + np.exp(-y * (X @ w))))


def mixture(means, X):
    """The negative log-likelihood of points under a mixture of equal normal distributions."""
    squares = np.sum((X[:, None, :] - means) ** 2, axis=2)
    least = np.min(squares, axis=1)
    return np.sum(least / 2 - np.log(np.sum(np.exp((least[:, None] - squares) / 2), axis=1)))


def factorisation(U, V, R):
    return np.sum((R - U @ V.T) ** 2) + 0.1 * (np.sum(U**2) + np.sum(V**2))


def network(A, b, c, X, y):
    return np.mean((np.tanh(X @ A + b) @ c - y) ** 2)


def poisson(u, f):
    """How far ``u`` is from a solution of ``Δu + u³ = f``, around a torus."""
    around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
    return np.mean((around - 4 * u + u**3 - f) ** 2)


def labelled(W, X, labels):
    """The cross-entropy of a softmax, by the numbers of the right columns."""
    z = X @ W
    z = z - np.max(z, axis=1, keepdims=True)
    p = np.exp(z) / np.sum(np.exp(z), axis=1, keepdims=True)
    return -np.mean(np.log(p[np.arange(len(labels)), labels]))


def survival(w, X, died):
    """The partial likelihood of Cox, of rows in the order of time."""
    risk = X @ w
    return np.sum(died * (np.log(np.cumsum(np.exp(risk)[::-1])[::-1]) - risk))


RNG = np.random.default_rng(7)
X, Y = RNG.standard_normal((103, 4)), np.sign(RNG.standard_normal(103))
ROWS = (40, 1, 30, 32)
#: a function, its arguments, the blocks of those that are Dask's, and what it is derived by
CASES = {
    "logistic": (logistic, (RNG.standard_normal(4), X, Y), {1: (ROWS, 4), 2: (ROWS,)}, 0),
    "mixture": (mixture, (RNG.standard_normal((3, 4)), X), {1: (ROWS, 4)}, 0),
    "factorisation": (
        factorisation,
        (RNG.standard_normal((103, 2)), RNG.standard_normal((51, 2)), RNG.standard_normal((103, 51))),
        {0: (ROWS, 2), 1: ((25, 26), 2), 2: (ROWS, (25, 26))},
        (0, 1),
    ),
    "network": (
        network,
        (RNG.standard_normal((4, 5)), RNG.standard_normal(5), RNG.standard_normal(5), X, Y),
        {3: (ROWS, 4), 4: (ROWS,)},
        (0, 1, 2),
    ),
    "labelled": (
        labelled,
        (RNG.standard_normal((4, 3)), X, RNG.integers(0, 3, 103)),
        {1: (ROWS, 4), 2: (ROWS,)},
        0,
    ),
    "survival": (survival, (RNG.standard_normal(4), X, np.abs(Y)), {1: (ROWS, 4), 2: (ROWS,)}, 0),
    "poisson": (
        poisson,
        (RNG.standard_normal((103, 51)), RNG.standard_normal((103, 51))),
        {0: (ROWS, (25, 26)), 1: (ROWS, (25, 26))},
        (0, 1),
    ),
}


def in_blocks(args, blocks):
    return [da.from_array(v, chunks=blocks[k]) if k in blocks else v for k, v in enumerate(args)]


def leaves(result):
    return [leaf for part in result for leaf in leaves(part)] if isinstance(result, tuple) else [result]


def check(derived, name):
    _, args, blocks, _ = CASES[name]
    lazy = leaves(derived(*in_blocks(args, blocks)))
    assert all(isinstance(r, da.Array) for r in lazy)
    for found, want in zip(lazy, leaves(derived(*args)), strict=True):
        assert found.shape == np.shape(want)
        assert found.dtype == want.dtype
        got = found.compute()
        assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_the_whole(name):
    function, _, _, by = CASES[name]
    check(sg.value_and_grad(function, by), name)


@pytest.mark.parametrize("name", ["logistic", "mixture", "survival"])
def test_hessians_are_those_of_the_whole(name):
    check(sg.hessian(CASES[name][0]), name)


#: of 1 − tanh², whose digits are few beside 1 and whose tanh is another one in compiled code
ROUNDING = 1e-15


def test_what_has_a_row_for_each_example_keeps_its_blocks():
    function, args, blocks, _ = CASES["logistic"]
    by_x = sg.grad(function, 1)(*in_blocks(args, blocks))
    assert by_x.chunks == (ROWS, (4,))
    jacobian = sg.jacobian(lambda w, X: np.tanh(X @ w))(args[0], da.from_array(X, chunks=(ROWS, 4)))
    assert jacobian.chunks == (ROWS, (4,))
    whole = sg.jacobian(lambda w, X: np.tanh(X @ w))(args[0], X)
    np.testing.assert_allclose(jacobian.compute(), whole, rtol=1e-12, atol=ROUNDING)


def test_products_and_many_examples_are_lazy_too():
    function, args, blocks, _ = CASES["logistic"]
    lazy, v = in_blocks(args, blocks), RNG.standard_normal(4)
    product = sg.hvp(function)(lazy[0], v, *lazy[1:])
    np.testing.assert_allclose(product.compute(), sg.hvp(function)(args[0], v, *args[1:]), rtol=1e-10)
    slopes = sg.vmap(sg.grad(lambda w, x: np.tanh(x @ w)), (None, 0))
    each = slopes(args[0], lazy[1])
    assert each.chunks == (ROWS, (4,))
    np.testing.assert_allclose(each.compute(), slopes(args[0], X), rtol=1e-12, atol=ROUNDING)


def test_the_pullback_takes_what_is_in_blocks_and_what_is_not():
    lazy, w = da.from_array(X, chunks=(ROWS, 4)), RNG.standard_normal(4)
    out, pullback = sg.vjp(lambda w, X: np.tanh(X @ w), w, lazy)
    assert out.chunks == (ROWS,)
    wanted = sg.vjp(lambda w, X: np.tanh(X @ w), w, X)[1](Y)
    for v in (Y, da.from_array(Y, chunks=17)):
        for found, want in zip(pullback(v), wanted, strict=True):
            np.testing.assert_allclose(found.compute(), want, rtol=1e-12)
    with pytest.raises(sg.errors.SymgradError):
        pullback((Y, Y))
    out, pullback = sg.vjp(sg.named(lambda x: np.diff(x) ** 2, x="n"), da.from_array(Y, chunks=(ROWS,)))
    assert out.chunks == ((40, 31, 31),)  # a block of one element is joined with the next
    for v in (Y[1:], da.from_array(Y[1:], chunks=17)):
        np.testing.assert_allclose(pullback(v)[0], sg.vjp(lambda x: np.diff(x) ** 2, Y)[1](Y[1:])[0], rtol=1e-12)


@pytest.mark.parametrize("chunks", [(1, 1, 1, 1), (1, 1, 2), (2, 2), (4,)])
def test_what_an_axis_has_more_is_in_its_last_block(chunks):
    padded = sg.named(lambda w: np.pad(w, 2), w="m")
    _, pullback = sg.vjp(padded, da.from_array(np.arange(4.0), chunks=(chunks,)))
    for v in (np.arange(8.0), da.from_array(np.arange(8.0), chunks=3)):
        np.testing.assert_array_equal(pullback(v)[0].compute(), [2, 3, 4, 5])


def test_arguments_that_are_nested_in_other_ways_are_traced_anew():
    lazy = da.from_array(X, chunks=(ROWS, 4))
    slopes = sg.grad(lambda w, data: np.sum(np.tanh(next(iter(data)) @ w) if isinstance(data, list) else data["X"] @ w))
    np.testing.assert_allclose(slopes(np.ones(4), {"X": lazy}).compute(), np.sum(X, axis=0))
    np.testing.assert_allclose(slopes(np.ones(4), [lazy]).compute(), slopes(np.ones(4), [X]))
    for width in range(1, 100):
        some = da.from_array(X[:, :1].repeat(width, axis=1), chunks=(ROWS, width))
        assert slopes(np.ones(width), [some]).shape == (width,)
    assert len(slopes._by_blocks) < 100


def test_explain_counts_the_tasks_and_says_where_blocks_are_short():
    chunked = sg.grad(lambda w, X: np.sum(np.tanh(X @ w))).in_chunks()
    short = str(chunked.explain(np.ones(4), da.ones((1000, 4), chunks=(100, 4))))
    assert "10 tasks of Dask" in short
    assert "blocks are short: make them 10 times as long" in short
    assert "make them 5 times" in str(chunked.explain(np.ones(4), da.ones((10**8, 4), chunks=(500_000, 4))))
    assert "short" not in str(chunked.explain(np.ones(4), da.ones((10**7, 4), chunks=(10**6, 4))))


def test_arrays_of_another_library_beside_those_in_blocks():
    jnp = pytest.importorskip("jax.numpy")
    lazy = da.from_array(X, chunks=(ROWS, 4))
    want = sg.grad(logistic)(np.ones(4), X, Y)
    np.testing.assert_allclose(sg.grad(logistic)(jnp.ones(4), lazy, Y).compute(), want, rtol=1e-6)
    named = sg.named(logistic, w="d", X="n d", y="n")
    np.testing.assert_allclose(sg.grad(named).in_chunks(n=40)(jnp.ones(4), X, Y), want, rtol=1e-6)
    with pytest.raises(sg.errors.ArgumentError, match="w has no values yet"):
        pytest.importorskip("jax").jit(lambda w: sg.grad(named).in_chunks(n=40)(w, X, Y))(jnp.ones(4))


def test_numbers_of_another_byte_order():
    lazy = da.from_array(X.astype(">f8"), chunks=(ROWS, 4))
    got = sg.grad(logistic)(np.ones(4), lazy, Y).compute()
    np.testing.assert_allclose(got, sg.grad(logistic)(np.ones(4), X, Y), rtol=1e-12)


def test_formulas_are_read_of_shapes():
    def fails():
        raise AssertionError("a block is read")

    lazy = da.from_delayed(dask.delayed(fails)(), (103, 4), float)
    g = sg.grad(lambda w, X: np.sum((X @ w) ** 2))
    assert str(g.formulas(np.ones(4), lazy)) == "∂f/∂w = 2XᵀXw"


def test_nothing_is_computed_before_it_is_asked_for():
    def never(*_):
        raise AssertionError("computed")

    lazy = da.map_blocks(never, da.from_array(X, chunks=(ROWS, 4)), dtype=float, meta=np.empty((0, 0)))
    assert isinstance(sg.grad(lambda w, X: np.sum(X @ w))(np.ones(4), lazy), da.Array)


def test_empty_blocks_and_arrays_of_one_block():
    x = da.from_array(np.arange(1.0, 8.0), chunks=((3, 0, 4),))
    assert float(sg.grad(lambda a, x: np.max(a * x))(2.0, x).compute()) == 7.0
    whole = da.from_array(np.arange(4.0))
    assert np.array_equal(sg.grad(lambda x: np.sum(x**2))(whole).compute(), [0, 2, 4, 6])


def test_blocks_of_unknown_sizes_are_refused():
    x = da.from_array(np.arange(6.0), chunks=3)
    with pytest.raises(sg.errors.ArgumentError, match="x has blocks of unknown sizes"):
        sg.grad(lambda x: np.sum(x**2))(x[x > 1])


def test_an_array_that_is_not_in_blocks_beside_one_that_is():
    lazy = da.from_array(X, chunks=(ROWS, 4))
    want = sg.grad(logistic, (0, 2))(np.ones(4), X, Y)
    for y in (Y, da.from_array(Y, chunks=103)):
        for got, whole in zip(sg.grad(logistic, (0, 2))(np.ones(4), lazy, y), want, strict=True):
            np.testing.assert_allclose(got.compute(), whole, rtol=1e-12)
    first = sg.grad(lambda y, w, X: logistic(w, X, y))(Y, np.ones(4), lazy)
    assert first.chunks == (ROWS,)
    with pytest.raises(sg.errors.ShapeError, match=r"X_axis0 is 103"):
        sg.grad(logistic)(np.ones(4), lazy, Y[1:])


def test_a_square_in_blocks_has_two_dims():
    u, f = RNG.standard_normal((2, 6, 6))
    misfit = sg.value_and_grad(poisson, (0, 1))
    lazy = misfit(da.from_array(u, chunks=(2, 3)), da.from_array(f, chunks=(3, 2)))
    for got, want in zip(leaves(lazy), leaves(misfit(u, f)), strict=True):
        np.testing.assert_allclose(got.compute(), want, rtol=1e-12)


def test_least_squares_and_singular_values_of_many_rows():
    y = np.sin(X[:, 0])

    def profile(theta, X, y):
        columns = np.stack([np.exp(X @ theta), X[:, 1], X[:, 0]], 1)
        return np.linalg.lstsq(columns, y)[1][0] + np.sum(np.linalg.svd(columns * np.exp(theta[0]))[1])

    theta = np.array([0.1, -0.2, 0.3, 0.4])
    derived = sg.value_and_grad(profile, (0, 1))
    lazy = derived(theta, da.from_array(X, chunks=(ROWS, 4)), da.from_array(y, chunks=(ROWS,)))
    value, gradients = dask.compute(*lazy, scheduler="processes")
    want = derived(theta, X, y)
    for got, known in zip((value, *gradients), (want[0], *want[1]), strict=True):
        np.testing.assert_allclose(got, known, rtol=1e-9, atol=1e-12)


def test_columns_by_their_numbers():
    lazy = da.from_array(X, chunks=(ROWS, 4))
    columns = lambda X: np.sum(X[:, [0, 2]] ** 2 * X[:, [True, False, False, True]])  # noqa: E731
    np.testing.assert_allclose(sg.grad(columns)(lazy).compute(), sg.grad(columns)(X))


def test_arrays_of_different_lengths_are_refused_in_terms_of_their_names():
    declared = sg.named(logistic, w="d", X="n d", y="n")
    with pytest.raises(sg.errors.ShapeError, match="X is 'n d' = \\(103, 4\\), but y is 'n' = 102 gave n = 102"):
        sg.grad(declared)(np.ones(4), da.from_array(X, chunks=(ROWS, 4)), da.from_array(Y[1:], chunks=20))


def test_blocks_that_are_not_what_was_said_are_refused():
    lie = da.from_array(X, chunks=(ROWS, 4)).map_blocks(np.float32, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(sg.errors.DtypeError, match="a block has dtype float32, and the whole array says float64"):
        sg.grad(lambda w, X: np.sum(X @ w))(np.ones(4), lie).compute()
    masked = da.ma.masked_greater(da.from_array(X, chunks=(ROWS, 4)), 1.0)
    with pytest.raises(sg.errors.ArgumentTypeError, match="X is a MaskedArray"):
        sg.grad(lambda w, X: np.sum(X @ w))(np.ones(4), masked)


def test_values_that_are_not_there_yet_are_no_ground_for_a_branch():
    def f(w, X):
        return np.sum(X @ w) if np.sum(X) > 0 else np.sum(X)

    with pytest.raises(sg.errors.TracingError, match="the value of a traced array is needed here"):
        sg.grad(f)(np.ones(4), da.from_array(X))


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dask")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "local_directory": str(folder)}
    before = dict(os.environ)
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as made:
        yield made
    os.environ.clear()  # what workers are started with (threads, how soon memory is given back) is left in it
    os.environ.update(before)


@pytest.mark.parametrize("name", CASES)
def test_processes_give_the_same(client, name):
    function, _, _, by = CASES[name]
    check(sg.grad(function, by), name)


def test_a_worker_that_is_lost_is_replaced(client):
    function, args, blocks, _ = CASES["logistic"]
    want = sg.grad(function)(*args)

    def slowly(block):
        time.sleep(0.2)
        return block

    lazy = in_blocks(args, blocks)
    lazy[1] = lazy[1].map_blocks(slowly, dtype=float, meta=np.empty((0, 0)))
    future = client.compute(sg.grad(function)(*lazy))
    process = next(iter(client.run(os.getpid).values()))
    os.kill(process, signal.SIGKILL)
    np.testing.assert_allclose(future.result(timeout=120), want, rtol=1e-10)


def test_a_block_beyond_the_memory_of_its_worker_is_refused_before_it_is_computed(tmp_path):
    def pairs(x, y):
        return np.sum(np.max(np.sin(x[:, None] - y), axis=1))

    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "local_directory": str(tmp_path)}
    # the worker is a thread of these tests, and would wait for ever where they have taken its memory before
    waits = {f"distributed.worker.memory.{when}": False for when in ("target", "spill", "pause")}
    with (
        dask.config.set(waits),
        distributed.LocalCluster(processes=False, memory_limit=2**30, **options) as cluster,
        distributed.Client(cluster),
    ):
        x = da.ones(600, chunks=300)
        with pytest.raises(sg.errors.ResultTooLarge, match=r"300 × 600000 would take 1.34 GiB.* has 1 GiB"):
            sg.grad(pairs)(x, np.ones(600_000)).compute()
        assert sg.grad(pairs)(x, np.ones(3)).compute().shape == (600,)


class Shards:
    """A batch in the blocks of three workers, and the weights of a layer."""

    def __init__(self):
        self.layer = nn.Dense(4, 2)
        self.weights = self.layer.trainable_params()
        ends = np.cumsum([0, *ROWS])
        self.batch = np.float32(X), np.float32(Y)
        self.parts = [[v[a:b] for v in self.batch] for a, b in itertools.pairwise(ends)]
        self.lazy = da.from_array(self.batch[0], chunks=(ROWS, 4)), da.from_array(self.batch[1], chunks=(ROWS,))


LOSSES = {
    "a mean": lambda out, y: np.mean((out[:, 0] - y) ** 2),
    "a sum": lambda out, y: np.sum((out[:, 0] - y) ** 2),
    "of statistics of a block": lambda out, y: np.std(out[:, 0]) * np.sum(y * out[:, 1]),
    "sorted": lambda out, y: np.sort(out[:, 0])[0] + np.mean(np.sort(out[:, 1])[0] * y),
}


@pytest.fixture
def _stand_alone():
    yield
    sg.reset_auto_parallel_context()


@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.usefixtures("_stand_alone")
def test_data_parallel_training_adds_up_what_each_block_gives_by_itself(name, mean):
    shards = Shards()
    step = sg.value_and_grad(lambda x, y: LOSSES[name](shards.layer(x), y), None, shards.weights)
    alone = [step(*part) for part in shards.parts]
    sg.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=mean)
    value, slopes = dask.compute(*step(*shards.lazy))
    count = len(alone) if mean else 1
    close = {"rtol": 1e-4, "atol": 1e-4}
    np.testing.assert_allclose(value, sum(v for v, _ in alone) / count, **close)
    for k, slope in enumerate(slopes):
        assert slope.dtype == np.float32
        np.testing.assert_allclose(slope, sum(np.asarray(s[k]) for _, s in alone) / count, **close)
    assert "4 blocks of x_axis0" in str(step.in_chunks().explain(*shards.lazy))


@pytest.mark.usefixtures("_stand_alone")
def test_data_parallel_training_leaves_rows_in_blocks_and_whole_batches_as_they_are():
    shards = Shards()

    def loss(x, y):
        out = shards.layer(x)[:, 0]
        return np.mean((out - y) ** 2), out

    step = sg.value_and_grad(loss, None, shards.weights, has_aux=True)
    (_, rows), slopes = step(*shards.batch)
    sg.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    (_, lazy_rows), _ = step(*shards.lazy)
    np.testing.assert_allclose(lazy_rows.compute(), rows, rtol=1e-5, atol=1e-6)
    assert lazy_rows.chunks == (ROWS,)
    np.testing.assert_array_equal(step(*shards.batch)[1][0], slopes[0])
    with pytest.raises(sg.errors.ArgumentError, match="blocks of one dim, and the arguments are in blocks of"):
        sg.grad(lambda x, z: np.sum(shards.layer(x)) * np.sum(z), None, shards.weights)(
            shards.lazy[0], da.ones(9, chunks=3)
        )


def test_a_network_is_trained_on_arrays_in_blocks_as_on_whole_ones():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner, self.outer = nn.Dense(4, 5), nn.Dense(5, 1)

        def construct(self, batch, target):
            return np.mean((self.outer(np.tanh(self.inner(batch)))[:, 0] - target) ** 2)

    net = Net()
    weights = net.trainable_params()
    scaler = amp.DynamicLossScaler(2.0**10, 2, 100)
    begun = [w.asnumpy().copy() for w in weights]

    def scaled(batch, target):
        return scaler.scale(net(batch, target))

    losses = {}
    for name, batch, target in (
        ("whole", np.float32(X), np.float32(Y)),
        ("blocks", da.from_array(np.float32(X), chunks=(ROWS, 4)), da.from_array(np.float32(Y), chunks=(ROWS,))),
    ):
        for w, value in zip(weights, begun, strict=True):
            w.set_data(sg.Tensor(value))
        step, optimizer = sg.value_and_grad(scaled, None, weights), nn.Adam(weights, 0.05)
        losses[name] = []
        for _ in range(5):
            loss, slopes = dask.compute(*step(batch, target))
            slopes = scaler.unscale(slopes)
            assert amp.all_finite(slopes)
            optimizer(slopes)
            losses[name].append(float(scaler.unscale(loss)))
    np.testing.assert_allclose(losses["blocks"], losses["whole"], rtol=1e-4)
    assert losses["whole"][-1] < losses["whole"][0]

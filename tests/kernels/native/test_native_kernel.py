"""Compiled kernels against NumPy's: threads, layouts, sizes by name, and what happens without cc."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import symgrad
from symgrad.errors import CompilerWarning
from symgrad.kernels.kernel import lower
from symgrad.kernels.native import compiler, form, kernel, writer
from symgrad.kernels.native.compiler import toolchain
from symgrad.kernels.native.kernel import NativeKernel, TieredKernel

pytestmark = pytest.mark.needs("native")


def check(program, arrays, tolerance=1e-11):
    want = lower(program, "numpy")(*arrays)
    (native,) = NativeKernel.built(lower(program, "numpy").program)
    if native is None:
        return
    for _ in range(2):  # memory is used again
        for g, w in zip(native(*arrays), want, strict=True):
            assert np.shape(g) == np.shape(w)
            assert np.asarray(g).dtype == np.asarray(w).dtype
            np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance * (1 + np.max(np.abs(w), initial=0)))


@pytest.mark.parametrize(
    "spec",
    ["ij,jk->ik", "ij,kj->ik", "ji,jk->ki", "bij,bjk->bik", "kij,nkj->nki", "nki,nkj->kij", "ij,ij->", "ij,j->i",
     "ij,i->j", "i,j->ij", "ijk,jk,k->i", "ij,jk,kl->li", "aij,bji->ab", "ii,ij->j"],
)  # fmt: skip
@pytest.mark.parametrize("dealt", [0, 1e9, 40.0])
def test_contractions(spec, dealt, monkeypatch):
    if dealt:
        monkeypatch.setattr(form, "DEALT_FROM", 0.0)
        monkeypatch.setattr(writer, "_MAX_WORK", dealt)
    sizes = dict(zip("abijklnm", (3, 5, 6, 7, 4, 2, 70, 9), strict=True)) | ({"i": 6, "j": 6} if "ii" in spec else {})
    rng = np.random.default_rng(3)
    arrays = [rng.normal(size=tuple(sizes[c] for c in part)) for part in spec.partition("->")[0].split(",")]
    check(symgrad.trace(lambda *xs: np.einsum(spec, *xs), *arrays), arrays)
    check(symgrad.trace(lambda *xs: np.einsum(spec, *[x * 1.5 for x in xs]), *arrays), arrays)


def test_inputs_of_every_layout():
    g = symgrad.grad(lambda x, y: np.sum(np.sin(x) * y), (0, 1), backend="native")
    rng = np.random.default_rng(4)
    big = rng.normal(size=(8, 12))
    x, y = big[::2, ::3], np.broadcast_to(rng.normal(size=4), (4, 4))
    plain = g(x.copy(), y.copy())
    frozen = x.copy()
    frozen.flags.writeable = False
    for a, b in ((x, y), (np.asfortranarray(x), y), (frozen, y), (x, np.asfortranarray(y))):
        for got, want in zip(g(a, b), plain, strict=True):
            np.testing.assert_array_equal(got, want)
    swapped = symgrad.grad(lambda x: np.sum(np.sin(x)), backend="native")
    np.testing.assert_allclose(swapped(x.astype(">f8")), np.cos(x), rtol=1e-14)


def test_results_belong_to_the_caller():
    g = symgrad.value_and_grad(lambda x: (np.sin(x), x), backend="native")
    x = np.linspace(0, 1, 50)
    (value, same), gradient = g(x)
    for result in (value, same, gradient):
        assert result.flags.writeable
        result[:] = 7.0
    assert x[0] == 0.0
    (again, _), _ = g(x)
    np.testing.assert_allclose(again, np.sin(x), rtol=1e-14)


def test_an_array_of_numpy_that_a_dealt_sum_reads_last_is_let_go_once(monkeypatch):
    monkeypatch.setattr(form, "DEALT_FROM", 0.0)
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=(120, 60)), rng.normal(size=(60, 90))
    check(symgrad.trace(lambda a, b: np.sum(np.sin(a @ b)), a, b), [a, b])


@pytest.mark.parametrize("threads", [1, 2])
def test_contractions_that_add_to_one_result_on_any_number_of_threads(monkeypatch, threads):
    monkeypatch.setattr(writer, "THREADS", threads)
    rng = np.random.default_rng(9)
    arrays = [rng.normal(size=(3000, 5, 10)) for _ in range(4)]
    check(
        symgrad.trace(lambda a, b, c, d: sum(np.einsum("nki,nkj->kij", *p) for p in ((a, b), (c, d))), *arrays), arrays
    )


def test_scalars_stay_scalars():
    value, gradient = symgrad.value_and_grad(lambda x: x * np.sin(x), backend="native")(0.7)
    assert type(value) is np.float64
    assert type(gradient) is np.float64
    assert value == pytest.approx(0.7 * np.sin(0.7), rel=1e-15)


def test_one_kernel_from_many_threads():
    def f(x):
        return np.sum(np.exp(np.tanh(x @ x.T) @ x) ** 2)

    g = symgrad.grad(f, backend="native")
    arrays = [np.random.default_rng(k).normal(size=(30, 5)) * 0.1 for k in range(8)]
    want = [g(a) for a in arrays]
    wrong = []

    def work(k):
        for _ in range(50):
            if not np.array_equal(g(arrays[k]), want[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_sizes_by_name_are_compiled_once(monkeypatch):
    built = []
    build = compiler.Toolchain.build
    monkeypatch.setattr(compiler.Toolchain, "build", lambda self, *a: (built.append(1), build(self, *a))[1])
    f = symgrad.named(lambda w, x: np.sum(np.log1p(np.exp(x @ w)) * 3.25), w="d", x="n d")
    g = symgrad.grad(f, backend="native")
    rng = np.random.default_rng(5)
    for n, d in ((40, 50), (41, 50), (100, 60), (77, 99)):
        w, x = rng.normal(size=d), rng.normal(size=(n, d))
        want = x.T @ (3.25 / (1 + np.exp(-x @ w)))
        np.testing.assert_allclose(g(w, x), want, rtol=1e-10, atol=1e-10)
    assert g.kernel(w, x).backend == "native"
    assert len(built) <= 1


def test_without_a_compiler_numpy_serves(monkeypatch):
    monkeypatch.setenv("SYMGRAD_CC", "")
    g = symgrad.grad(lambda x: np.sum(np.sin(x)), backend="native")
    np.testing.assert_allclose(g(np.ones(3)), np.cos(np.ones(3)))
    assert g.kernel(np.ones(3)).backend == "numpy"


def test_a_compiler_that_fails_is_no_compiler(monkeypatch, tmp_path):
    bad = tmp_path / "cc"
    bad.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    bad.chmod(0o755)
    monkeypatch.setenv("SYMGRAD_CC", str(bad))
    assert toolchain() is None
    g = symgrad.grad(lambda x: np.sum(np.cos(x)), backend="native")
    with pytest.warns(CompilerWarning, match="refused a kernel: broken"):
        np.testing.assert_allclose(g(np.ones(3)), -np.sin(np.ones(3)))


def test_auto_goes_on_with_the_compiled_kernel(monkeypatch):
    monkeypatch.setattr(kernel, "_WASTE", 0.0)
    g = symgrad.value_and_grad(lambda x: np.sum(np.exp(np.sin(x) * 1.75) * np.tanh(x)))
    x = np.linspace(-1, 1, 5001)
    before = g(x)
    made = g.kernel(x)
    assert isinstance(made, TieredKernel)
    assert made.ready(60)
    after = g(x)
    assert made.backend == "native"
    assert "double" in made.source
    np.testing.assert_allclose(after[0], before[0], rtol=1e-13)
    np.testing.assert_allclose(after[1], before[1], rtol=1e-12, atol=1e-14)


def test_auto_stays_with_numpy_where_blas_does_the_work():
    g = symgrad.grad(lambda a, b: np.sum(a @ b))
    made = g.kernel(np.ones((300, 300)), np.ones((300, 300)))
    assert not made.ready(60)
    assert made.backend == "numpy"


def test_explanations():
    x = np.ones(2_000_000)
    g = symgrad.value_and_grad(lambda x, a: np.sum(np.sin(x)) + np.sum(a @ a), (0, 1), backend="native")
    text = str(g.kernel(x, np.ones((200, 200))).explain())
    assert "native" in text.splitlines()[0]
    assert "sin" in text
    assert "BLAS is faster at this size" in text


SCRIPT = """
import numpy as np, symgrad
from symgrad.kernels.native import compiler
ran = []
build = compiler.Toolchain.build
compiler.Toolchain.build = lambda self, *a: (ran.append(1), build(self, *a))[1]
g = symgrad.grad(lambda x: np.sum(np.cosh(x) * 4.125), backend="native")
print(g(np.ones(3))[0], g.kernel(np.ones(3)).backend, len(ran))
"""


def test_a_second_process_compiles_nothing():
    runs = [
        subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True) for _ in range(2)
    ]
    value, backend, count = runs[1].stdout.split()
    assert runs[0].stdout.split()[:2] == [value, backend]
    assert (backend, count) == ("native", "0")


@pytest.mark.parametrize("backend", ["auto", "native", "numexpr", "numpy"])
def test_kernels_for_named_sizes_explain_the_latest_call(backend):
    f = symgrad.named(lambda x: np.sum(np.sin(x) ** 2), x="n")
    g = symgrad.grad(f, backend=backend)
    g(np.ones(5000))
    kernel = g.kernel(np.ones(5000))
    assert kernel.ready(60) == (kernel.backend == "native")
    assert "5000" in str(kernel.explain()) or backend in ("numexpr", "numpy")
    assert "sin" in str(kernel.explain())


def test_a_process_ends_while_the_compiler_runs():
    script = """
import numpy as np, symgrad
from symgrad.kernels.native import kernel
kernel._WASTE = 0.0
g = symgrad.grad(lambda x: np.sum(np.sin(x) * np.exp(x * 1.0625)))
g(np.ones(300_000))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""

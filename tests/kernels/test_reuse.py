"""Memory is given out again when nobody has it, and never before."""

import platform
import subprocess
import sys
import threading

import numpy as np
import pytest

import symgrad
from symgrad.kernels import reuse

SHAPE = (512, 512)  # 2 MiB


@pytest.fixture(autouse=True)
def _nothing_kept():
    reuse.release()
    yield
    reuse.release()


def place(a):
    return a.__array_interface__["data"][0]


def test_what_somebody_has_is_not_given_out():
    first = reuse.empty(SHAPE, np.float64)
    held = {
        "a view": first[3:, ::2],
        "a view of a view": first.T.reshape(-1)[5:][::3],
        "memory": memoryview(first),
        "another dtype": first.view(np.int64),
        "a subclass": first.view(np.recarray),
    }
    where = place(first)
    del first
    for what in list(held):
        assert place(reuse.empty(SHAPE, np.float64)) != where, what
        del held[what]
    assert place(reuse.empty(SHAPE, np.float64)) == where


def test_lengths_not_shapes_or_dtypes_count():
    a = reuse.empty(SHAPE, np.float64)
    where = place(a)
    del a
    b = reuse.empty((1024, 512), np.float32)
    assert (place(b), b.dtype, b.shape) == (where, np.float32, (1024, 512))
    assert b.flags.c_contiguous
    assert b.flags.writeable


def test_small_and_huge_arrays_are_plain():
    for shape in ((), (3,), (reuse._LARGEST // 8 + 1,)):
        assert reuse.empty(shape, np.float64).base is None


def test_no_more_is_kept_than_allowed(monkeypatch):
    monkeypatch.setattr(reuse, "_MOST", 6 << 20)
    held = [reuse.empty((k << 17,), np.float64) for k in (1, 2, 3, 4)]
    assert sum(size * len(pieces) for size, pieces in reuse._kept.items()) <= 6 << 20
    assert len({place(a) for a in held}) == 4


@pytest.mark.parametrize("backend", ["auto", "native", "numexpr", "numpy"])
def test_results_of_calls_stay_what_they_are(backend):
    g = symgrad.value_and_grad(lambda x: (np.sin(x) * 2.0, np.exp(x)), backend=backend)
    inputs = [np.full(300_000, float(k)) for k in range(6)]
    results = [g(x) for x in inputs]
    for x, ((sine, exponential), gradient) in zip(inputs, results, strict=True):
        np.testing.assert_allclose(sine, 2 * np.sin(x), rtol=1e-12)
        np.testing.assert_allclose(exponential, np.exp(x), rtol=1e-12)
        np.testing.assert_allclose(gradient, 2 * np.cos(x) + np.exp(x), rtol=1e-12)


def test_threads_get_memory_of_their_own():
    wrong = []

    def work(k):
        for n in range(200):
            a = reuse.empty(SHAPE, np.float64)
            a.fill(k * 1000 + n)
            if a[0, 0] != k * 1000 + n or a[-1, -1] != k * 1000 + n:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="says what glibc does")
def test_calls_ask_the_system_for_no_memory_again():
    """Arrays below what is reused here: in a fresh process, where nothing large was freed before."""
    code = """
import resource
import numpy as np
x = np.ones(100_000)
import symgrad as sg
g = sg.grad(lambda x: np.sum(np.sqrt(np.cumsum(np.sin(x)) + np.cumsum(np.cumsum(x)))), backend="numpy")
for _ in range(3):
    g(x)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    g(x)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 20)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 20

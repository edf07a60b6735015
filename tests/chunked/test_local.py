"""Stages in this process: what is held of the data at a time, and what is read how often."""

import numpy as np

import symgrad as sg


class Counted:
    """An array that is elsewhere, and counts what is read of it."""

    def __init__(self, array):
        self._array = array
        self.shape, self.dtype = array.shape, array.dtype
        self.largest = self.elements = 0

    def __getitem__(self, index):
        part = self._array[index]
        self.largest = max(self.largest, len(part))
        self.elements += part.size
        return part


def loss(w: sg.Array["d"], X: sg.Array["n d"], y: sg.Array["n"]):
    return np.mean(np.log(1 + np.exp(-y * (X @ w))))


def data(n=103, d=4):
    rng = np.random.default_rng(2)
    return rng.standard_normal(d), rng.standard_normal((n, d)), np.sign(rng.standard_normal(n))


def test_each_element_is_read_once_a_pass_and_no_more_than_a_block_at_a_time():
    w, X, y = data()
    counted = Counted(X), Counted(y)
    got = sg.value_and_grad(loss).in_chunks(n=10)(w, *counted)
    for found, want in zip(got, sg.value_and_grad(loss)(w, X, y), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-12)
    assert [c.largest for c in counted] == [10, 10]
    assert [c.elements for c in counted] == [X.size, y.size]


def test_the_same_blocks_give_the_same_bits():
    w, X, y = data(5000)
    chunked = sg.grad(loss).in_chunks(n=700)
    assert len({chunked(w, X, y).tobytes() for _ in range(5)}) == 1


def test_files_are_read_block_by_block(tmp_path):
    w, X, y = data()
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    got = sg.grad(loss, (0, 1)).in_chunks(n="1KiB")(w, mapped, y)
    for found, want in zip(got, sg.grad(loss, (0, 1))(w, X, y), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-15)


def test_memory_does_not_grow_with_the_data():
    import tracemalloc

    peaks = []
    for n in (200_000, 800_000):
        w, X, y = data(n)
        chunked = sg.grad(loss, backend="numpy").in_chunks(n=10_000)
        chunked(w, X, y)
        tracemalloc.start()
        chunked(w, X, y)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] < 8 * 10_000 * 20

"""Mapped files are read ahead, and only where that reads what is mapped."""

import itertools
import os
import sys
import threading

import numpy as np
import pytest

import symgrad as sg
from symgrad.chunked import reading
from symgrad.chunked.reading import ahead, mapped_file

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no /proc/self/maps tells of mappings here")
RNG = np.random.default_rng(4)


def saved(folder, array, mode="r"):
    np.save(folder / "x.npy", array)
    return np.load(folder / "x.npy", mmap_mode=mode)


def rows(array, *lengths):
    ends = np.cumsum([0, *lengths])
    return [[(array, (slice(int(a), int(b)), *[slice(None)] * (array.ndim - 1)))] for a, b in itertools.pairwise(ends)]


@LINUX
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i2", ">f8", "?"])
@pytest.mark.parametrize("shape", [(100,), (100, 3), (100, 2, 3)], ids=str)
def test_blocks_are_those_of_the_mapping(tmp_path, dtype, shape):
    array = (10 * RNG.standard_normal(shape)).astype(dtype)
    mapped = saved(tmp_path, array)[3:]  # a part of it starts elsewhere
    assert mapped_file(mapped) is not None
    parts = [part.copy() for (part,) in ahead(rows(mapped, 40, 1, 0, 56))]
    np.testing.assert_array_equal(np.concatenate(parts), array[3:])
    assert {p.dtype for p in parts} == {array.dtype}


@LINUX
def test_what_refers_to_a_block_keeps_it(tmp_path):
    array = RNG.standard_normal((200, 4))
    kept = [part[1] for (part,) in ahead(rows(saved(tmp_path, array), *[20] * 10))]  # views of blocks
    np.testing.assert_array_equal(kept, array[1::20])


@LINUX
def test_memory_is_used_again(tmp_path):
    mapped = saved(tmp_path, RNG.standard_normal((200, 4)))
    assert len({part.__array_interface__["data"][0] for (part,) in ahead(rows(mapped, *[20] * 10))}) <= 3


@LINUX
def test_one_row_may_lie_anywhere(tmp_path):
    """NumPy asks nothing of the stride of an axis of one element."""
    mapped = saved(tmp_path, RNG.standard_normal((2, 50)))
    for one in (mapped[::2], mapped[1:][None, 0], mapped[::-1][:1], mapped[1][None]):
        (part,) = next(ahead(rows(one, 1)))
        np.testing.assert_array_equal(part, np.array(one))


def test_a_number_that_is_mapped(tmp_path):
    np.array(2.0).tofile(tmp_path / "s.bin")
    number = np.memmap(tmp_path / "s.bin", float, "r", shape=())
    f = sg.named(lambda X, s: np.sum(X**2 * s), X="n", s="")
    np.testing.assert_array_equal(sg.grad(f).in_chunks(n=2)(np.ones(5), number), np.full(5, 4.0))


def test_other_arrays_are_read_as_they_are(tmp_path):
    array = RNG.standard_normal((9, 4))
    np.save(tmp_path / "f.npy", np.asfortranarray(array))
    in_columns = np.load(tmp_path / "f.npy", mmap_mode="r")
    for other in (array, in_columns, saved(tmp_path, array)[:, ::2], saved(tmp_path, array, "c"), np.float64(3)):
        assert mapped_file(other) is None
    changed = saved(tmp_path, array, "c")
    changed[0] = 7
    (first,), _ = ahead(rows(changed, 4, 5))
    assert np.all(first[0] == 7)
    mapped = saved(tmp_path, array)
    (columns,) = next(ahead([[(mapped, (slice(0, 9), slice(1, 3)))]]))
    np.testing.assert_array_equal(columns, array[:, 1:3])


def test_a_file_that_has_been_replaced_is_not_read(tmp_path):
    array = RNG.standard_normal((9, 4))
    mapped = saved(tmp_path, array)
    np.save(tmp_path / "other.npy", 2 * array)
    os.replace(tmp_path / "other.npy", tmp_path / "x.npy")
    assert mapped_file(mapped) is None
    (first,), _ = ahead(rows(mapped, 4, 5))
    np.testing.assert_array_equal(first, array[:4])
    os.remove(tmp_path / "x.npy")
    assert mapped_file(mapped) is None


@LINUX
def test_an_error_leaves_no_thread_and_no_open_file(tmp_path):
    mapped = saved(tmp_path, RNG.standard_normal((90, 4)))
    opened, threads = set(os.listdir("/proc/self/fd")), threading.active_count()
    loaded = ahead(rows(mapped, 30, 30, 30))
    next(loaded)
    loaded.close()
    assert threading.active_count() == threads
    assert set(os.listdir("/proc/self/fd")) <= opened


@LINUX
def test_a_file_that_was_cut_is_an_error(tmp_path):
    mapped = saved(tmp_path, RNG.standard_normal((9000, 4)))
    loaded = ahead(rows(mapped, 3000, 3000, 3000))
    next(loaded)
    os.truncate(tmp_path / "x.npy", 4096)
    with pytest.raises(sg.errors.ArgumentError, match="has become shorter"):
        list(loaded)


@LINUX
def test_a_derivative_reads_the_file(tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(reading.MappedFile, "_free", lambda self, size: read.append(size) or np.empty(size, np.uint8))
    X = RNG.standard_normal((90, 4))
    f = sg.named(lambda w, X: np.sum(np.tanh(X @ w)), w="d", X="n d")
    got = sg.grad(f).in_chunks(n=40)(np.ones(4), saved(tmp_path, X))
    np.testing.assert_allclose(got, sg.grad(f)(np.ones(4), X), rtol=1e-12)
    assert read == [40 * 32, 40 * 32, 10 * 32]

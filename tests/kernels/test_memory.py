"""Dense results that cannot fit are refused, with the way out; the formula stays available."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ResultTooLarge
from symgrad.kernels import memory
from symgrad.transforms.loops import fori_loop, scan


def coupled(x):
    return np.sum(x[1:] ** 2 * x[:-1])


def test_a_dense_hessian_beyond_the_memory_is_refused_with_its_size_and_the_way_out():
    hessian = sg.hessian(coupled)
    with pytest.raises(ResultTooLarge, match=r"10000000 × 10000000 would take 728 TiB.*sparse=True.*hvp") as caught:
        hessian(np.ones(10**7))
    assert isinstance(caught.value, MemoryError)
    assert str(hessian.entry((0, 1), np.ones(10**7))) == "2*x1"


def test_what_fits_is_computed(monkeypatch):
    monkeypatch.setattr(memory, "memory_limit", lambda: 8.0 * 100)
    assert sg.hessian(coupled)(np.ones(10)).shape == (10, 10)
    with pytest.raises(ResultTooLarge, match="11 × 11"):
        sg.hessian(coupled)(np.ones(11))


def test_an_array_on_the_way_is_named_as_such(monkeypatch):
    monkeypatch.setattr(memory, "memory_limit", lambda: 8.0 * 100)
    with pytest.raises(ResultTooLarge, match=r"an array on the way to the result of shape 20 × 20"):
        sg.symbolic(lambda x: np.max(np.sin(x[:, None] - x), axis=0))(np.ones(20))


def test_the_limit_is_a_positive_number_of_bytes():
    assert memory.memory_limit() > 2**20


def test_what_a_loop_keeps_and_computes_is_looked_at(monkeypatch):
    def keeping(x):
        return scan(lambda c, _: (np.sin(c), c), x, None, 12)[1]

    monkeypatch.setattr(memory, "memory_limit", lambda: 8.0 * 100)
    with pytest.raises(ResultTooLarge, match="the result of shape 12 × 10"):
        sg.symbolic(keeping)(np.ones(10))
    with pytest.raises(ResultTooLarge, match="an array on the way to the result of shape 11 × 11"):
        sg.symbolic(lambda x: fori_loop(0, 2, lambda i, c: np.max(np.outer(c, c), axis=0), x))(np.ones(11))
    assert sg.symbolic(keeping)(np.ones(8)).shape == (12, 8)

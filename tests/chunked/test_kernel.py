"""What runs on a block is the same in another process."""

import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.chunked.kernel import BlockKernel
from symgrad.kernels.kernel import lower


@pytest.fixture
def program():
    return sg.grad(lambda w, X: np.sum(np.tanh(X @ w))).program("d", "n d")


@pytest.mark.parametrize("backend", ["numpy", "numexpr", pytest.param("native", marks=pytest.mark.needs("cc"))])
def test_a_pickle_computes_the_same(program, backend):
    w, X = np.ones(2), np.arange(6.0).reshape(3, 2)
    made = BlockKernel(program, backend)
    again = pickle.loads(pickle.dumps(made))
    assert again.name == made.name
    assert np.array_equal(again(w, X)[0], made(w, X)[0])
    assert np.array_equal(pickle.loads(pickle.dumps(again))(w, X)[0], lower(program, backend)(w, X)[0])


def test_a_process_lowers_a_program_once(program):
    text = pickle.dumps(BlockKernel(program, "numpy"))
    assert pickle.loads(text).kernel is pickle.loads(text).kernel


def test_other_programs_and_backends_have_other_names(program):
    other = sg.grad(lambda w, X: np.sum(np.sin(X @ w))).program("d", "n d")
    names = {BlockKernel(p, b).name for p in (program, other) for b in ("numpy", "numexpr")}
    assert len(names) == 4

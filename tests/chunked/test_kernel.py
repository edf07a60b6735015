"""What runs on a block is the same in another process."""

import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.chunked.kernel import BlockKernel
from symgrad.errors import ArgumentTypeError, DtypeError, ShapeError
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
    want = lower(program, backend)(w, X)[0]
    for kernel in (made, again, pickle.loads(pickle.dumps(again))):
        assert np.array_equal(kernel((w, X), ((2,), (3, 2)), ())[0], want)


def test_a_process_lowers_a_program_once(program):
    text = pickle.dumps(BlockKernel(program, "numpy"))
    assert pickle.loads(text).kernel is pickle.loads(text).kernel


def test_other_programs_and_backends_have_other_names(program):
    other = sg.grad(lambda w, X: np.sum(np.sin(X @ w))).program("d", "n d")
    names = {BlockKernel(p, b).name for p in (program, other) for b in ("numpy", "numexpr")}
    assert len(names) == 4


@pytest.mark.parametrize(
    ("wrong", "error", "match"),
    [
        (np.ones((3, 2), np.float32), DtypeError, "a block has dtype float32, and the whole array says float64"),
        (np.ones((3, 2), int), DtypeError, "a block has dtype int64"),
        (
            np.ones((2, 2)),
            ShapeError,
            r"a block has shape \(2, 2\), and by the lengths of the blocks it must be \(3, 2\)",
        ),
        (np.ones(6), ShapeError, r"a block has shape \(6,\)"),
        (np.ma.masked_greater(np.ones((3, 2)), 2), ArgumentTypeError, "a block is a MaskedArray"),
    ],
)
def test_a_block_that_is_not_what_was_said_is_refused(program, wrong, error, match):
    """Compiled code would read other memory than the array has."""
    with pytest.raises(error, match=match):
        BlockKernel(program, "numpy")((np.ones(2), wrong), ((2,), (3, 2)), ())

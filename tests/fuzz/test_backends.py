"""Every backend gives what NumPy gives, at sizes where blocks, threads, chunks and buffers used again are in play."""

import pytest
from checks import backends, natively
from fuzzing import expect_right, report, seeds
from random_programs import LARGE, MEDIUM, Draw, random_program
from thresholds import lower_thresholds


@pytest.mark.parametrize("block", [1, 5])
def test_blocks_threads_and_numexpr(block, monkeypatch):
    lower_thresholds(monkeypatch, block)
    expect_right(backends, 0.1, Draw())


def test_real_sizes():
    expect_right(backends, 0.03, LARGE)


@pytest.mark.needs("native")
@pytest.mark.parametrize(("draw", "dealt"), [(Draw(), True), (MEDIUM, False), (MEDIUM, True)])
def test_compiled_c(draw, dealt, monkeypatch):
    if dealt:
        lower_thresholds(monkeypatch)
    every, wrong = seeds(0.05), []
    for first in range(every.start, every.stop, 50):  # by one run of the compiler
        drawn = [random_program(seed, draw) for seed in range(first, min(first + 50, every.stop))]
        wrong += natively(drawn).items()
    report("compiled C", len(every), 0, wrong)
    assert not wrong, "\n\n".join(f"seed {program.seed}: {message}\n{program}" for program, message in wrong[:3])

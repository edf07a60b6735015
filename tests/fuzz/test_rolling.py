"""Random functions with Python loops: found again or not, values to the bit and the same derivatives."""

import numpy as np
import pytest
from fuzzing import seeds
from loops_in_python import LoopProgram

import symgrad
from symgrad.passes import rolling

#: derivatives may differ by the order of sums alone, to this part of the largest entry
TOLERANCE = 1e-9


@pytest.fixture
def any_loop(monkeypatch):
    """Every repetition is a loop, however short."""
    monkeypatch.setattr(rolling, "RUN", rolling.Least(3, 4))


def derivatives(program, order):
    """What is compared: first order in both modes, and second order of every other program."""

    def function(a, b, xs):
        return program(a, b, xs)

    yield symgrad.value_and_grad(function, (0, 1, 2), backend="numpy")
    yield symgrad.value_and_grad(function, (0, 1), mode="forward", backend="numpy")
    if order == 2:
        yield symgrad.hessian(function, (0, 1), backend="numpy")


def leaves(result):
    if isinstance(result, tuple):
        return [leaf for part in result for leaf in leaves(part)]
    return [np.asarray(result)]


def test_loops_that_are_found_compute_what_they_did_unrolled(any_loop, monkeypatch):
    found = 0
    for seed in seeds(0.15):
        rng = np.random.default_rng(seed)
        program = LoopProgram(rng)
        single = seed % 5 == 4
        arguments = [a.astype(np.float32 if single else float) for a in program.arguments(rng)]
        tolerance = 2e-3 if single else TOLERANCE
        value = program(*arguments)
        rolled = list(derivatives(program, seed % 2 + 1))
        with monkeypatch.context() as patch:
            results = [f(*arguments) for f in rolled]
            found += "loop_" in rolled[0].kernel(*arguments).source
            patch.setattr(rolling, "RUN", rolling.Least(3, 1 << 30))
            unrolled = [f(*arguments) for f in derivatives(program, seed % 2 + 1)]
        for result, plain in zip(results[:2], unrolled[:2], strict=True):
            assert result[0].tobytes() == np.asarray(value).tobytes() == plain[0].tobytes(), seed
        for result, plain in zip(results, unrolled, strict=True):
            for a, b in zip(leaves(result), leaves(plain), strict=True):
                np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=f"seed {seed}")
    assert found > 0.3 * len(seeds(0.15))

"""Random functions with long loops: with steps left out they are traced to what they are traced to with every step."""

import numpy as np
from fuzzing import seeds
from leaving_out import every_step, noted
from long_loops import LongLoops

import symgrad


def result(drawn):
    value, gradients = symgrad.value_and_grad(drawn.program, (0, 1, 2), backend="numpy")(*drawn.arguments)
    return [value, *gradients]


def test_steps_that_are_left_out_change_nothing(monkeypatch):
    left, found = noted(monkeypatch, 30), 0
    for seed in seeds(0.15):
        drawn = LongLoops(seed)
        made, found = result(drawn), found + bool(left)
        left.clear()
        with every_step():
            whole = result(drawn)
        assert not left
        assert made[0] == drawn.program(*drawn.arguments), f"seed {seed}\n{drawn.source}"
        for a, b in zip(made, whole, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=f"seed {seed}\n{drawn.source}")
    assert found > 0.3 * len(seeds(0.15))

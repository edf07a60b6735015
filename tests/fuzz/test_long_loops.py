"""Random functions with long loops: with steps left out they are traced to what they are traced to with every step."""

import numpy as np
from fuzzing import seeds
from long_loops import LongLoops

import symgrad
from symgrad.tracing import left_out
from symgrad.tracing import long_loops as limits


def result(drawn):
    value, gradients = symgrad.value_and_grad(drawn.program, (0, 1, 2), backend="numpy")(*drawn.arguments)
    return [value, *gradients]


def test_steps_that_are_left_out_change_nothing(monkeypatch):
    monkeypatch.setattr(limits, "LONG", 30)
    left, leave = [], left_out.LeftOut.leave
    monkeypatch.setattr(left_out.LeftOut, "leave", lambda own, *args: left.append(args) or leave(own, *args))
    found = 0
    for seed in seeds(0.15):
        drawn = LongLoops(seed)
        made, found = result(drawn), found + bool(left)
        left.clear()
        with monkeypatch.context() as patch:
            patch.setattr(limits, "MIN_STEPS", 1 << 40)
            patch.setattr(limits, "LONG", 1 << 40)
            whole = result(drawn)
        assert not left
        assert made[0] == drawn.program(*drawn.arguments), f"seed {seed}\n{drawn.source}"
        for a, b in zip(made, whole, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=f"seed {seed}\n{drawn.source}")
    assert found > 0.3 * len(seeds(0.15))

"""The spelled kernel: every line of it belongs to one node, and all of them together are the kernel's."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.kernels.numpy_backend import Writer
from symgrad.kernels.spelled import spelled

X = np.linspace(0.5, 2.0, 4)


@pytest.mark.parametrize(
    "derived",
    [
        sg.grad(lambda x: np.sum(np.sin(x) * np.cumsum(x))),
        sg.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2)),
        sg.jacobian(lambda x: np.stack([np.sum(x), np.prod(x)])),
    ],
)
def test_each_line_belongs_to_a_node(derived):
    program = derived.program(X)
    found = spelled(program)
    lines = [line for own in found.values() for line in own]
    writer = Writer(program)
    writer.write()
    assert lines == [line for line in writer.lines if line in set(lines)]
    assert len(writer.lines) - len(lines) <= 2 * len(program.outputs)  # what makes results arrays of their own
    assert set(found) <= set(program.bindings)
    assert all(found.values())

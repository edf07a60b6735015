"""The checker of written kernels: right ones pass, each way to read or write what is not there is refused."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.errors import KernelError
from symgrad.kernels.blocks import Blocks
from symgrad.kernels.kernel import compiled
from symgrad.kernels.overwriting import _Lines

BLOCK = """
def block0(v0, v1, v2, v3, v4, axes):
    {}
    return ()

block0_of = Blocks(block0, ('float64', ), ({}, ), (), ('float64', 'float64', ), 5.3)
"""


def block(lines: str, reused: int = -1) -> str:
    """A function of the operands v0 and v1, which writes into v2 and has the scratch memory v3 and v4."""
    return BLOCK.format("\n    ".join(lines.split("; ")), reused)


KERNEL = "def kernel():\n    return ()\n\n"  # for those that hold none
RIGHT = {
    "in turn": block("v5 = np.sin(v0, out=v3); v6 = np.exp(v5, out=v3); v7 = np.add(v6, v1, out=v2)"),
    "apart": block("v5 = np.sin(v0, out=v3); v6 = np.exp(v0, out=v4); v7 = np.divide(v6, v5, out=v2)"),
    "reduction in place": (
        "def kernel(v0):\n    v1, v2, = block0_of((v0, v0,), (9,))\n    v3 = np.exp(v2, out=v2)\n    return (v1, v3)"
        + block("v9 = np.sin(v0, out=v2)")
    ),
    "reused at last": block("v5 = np.sin(v0, out=v3); v6 = np.add(v5, v0, out=v2)", 0),
    "select apart": block("v5 = np.less(v0, v1, out=v3); v6 = select(v5, v0, v1, out=v2)"),
    "dying": "def kernel(v0):\n    v1 = np.sin(v0)\n    v2 = np.exp(v1, out=v1)\n    return (v2,)",
    "product in place": "def kernel(v0):\n    v1 = blas.dot(v0, v0)\n    v2 = np.exp(v1, out=v1)\n    return (v2,)",
    "copy of a column": (
        "def kernel(v0):\n    v1 = v0[0:9, 1].copy()\n    v2 = np.exp(v1, out=v1)\n    return (v2, v0)"
    ),
    "into a part": "def kernel(v0):\n    v1 = np.zeros((3,))\n    v1[:2] = v0\n    v1[1:] += v0\n    return (v1,)",
    "operand of blocks": (
        "def kernel(v0):\n    v1 = np.sin(v0)\n    v2, v3, = block0_of((v1, v0,), (9,))\n    return (v2, v3)"
        + block("v9 = np.sin(v0, out=v2)", 0)
    ),
    "sum of blocks": (
        "def kernel(v0):\n    v2, v3, = block0_of((v0,), (9,))\n    v4 = np.sin(v3, out=v3)\n    return (v2, v4)"
        + block("v9 = np.sin(v0, out=v2)")
    ),
}
WRONG = {
    "product in a divisor": block(
        "v5 = np.sin(v0, out=v3); v6 = np.multiply(v0, 4.0, out=v3); v7 = np.divide(v6, v5, out=v2)"
    ),
    "scratch before it is written": block("v5 = np.add(v3, v0, out=v2)"),
    "name of the memory": block("v5 = np.sin(v0, out=v3); v6 = np.add(v3, v0, out=v2)"),
    "operand written": block("v5 = np.sin(v0, out=v1); v6 = np.add(v5, v0, out=v2)"),
    "reused too early": block("v5 = np.sin(v1, out=v2); v6 = np.add(v5, v0, out=v2)", 0),
    "select on its operand": block("v5 = np.sin(v0, out=v3); v6 = select(v0, v1, v5, out=v3)"),
    "input written": "def kernel(v0):\n    v1 = np.sin(v0, out=v0)\n    return (v1,)",
    "constant written": "def kernel(v0):\n    v1 = np.sin(v0, out=v9)\n    return (v1,)",
    "view of an input written": "def kernel(v0):\n    v1 = v0[1:]\n    v2 = np.sin(v1, out=v1)\n    return (v2,)",
    "read after it was reused where the layouts agree": (
        "def kernel(v0):\n    v1 = np.sin(v0)\n    v2 = np.add(v1, v0, out=in_order(v1, v0))\n    return (v1, v2)"
    ),
    "read later": (
        "def kernel(v0):\n    v1 = np.sin(v0)\n    v2 = np.exp(v1, out=v1)\n    v3 = np.add(v1, v2)\n    return (v3,)"
    ),
    "returned later": "def kernel(v0):\n    v1 = np.sin(v0)\n    v2 = np.exp(v1, out=v1)\n    return (v1, v2)",
    "view read later": (
        "def kernel(v0):\n    v1 = np.sin(v0)\n    v2 = np.reshape(v1, (3,))\n    v3 = np.exp(v1, out=v1)\n"
        "    return (v2, v3)"
    ),
    "part written under a view": (
        "def kernel(v0):\n    v1 = np.sin(v0)\n    v2 = v1.T\n    v1[0] += v0\n    return (v1, v2)"
    ),
    "operand of blocks read later": (
        "def kernel(v0):\n    v1 = np.sin(v0)\n    v2, = block0_of((v1, v0,), (9,))\n    return (v1, v2)"
        + block("v9 = np.sin(v0, out=v2)", 0)
    ),
    "operand of blocks under two names": (
        "def kernel(v0):\n    v1 = np.sin(v0)\n    v2, = block0_of((v1, v1[:, None],), (9,))\n    return (v2,)"
        + block("v9 = np.sin(v0, out=v2)", 0)
    ),
    "input given to blocks": (
        "def kernel(v0):\n    v2, = block0_of((v0, v1,), (9,))\n    return (v2,)" + block("v9 = np.sin(v0, out=v2)", 0)
    ),
}


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_right_kernels_pass(source):
    compiled(f"{KERNEL}{source}", {"np": np, "Blocks": Blocks})


@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG)
def test_wrong_kernels_are_refused(source):
    with pytest.raises(KernelError, match="defect of symgrad"):
        compiled(f"{KERNEL}{source}", {"np": np, "Blocks": Blocks})


def test_memory_that_is_used_again_and_again_costs_no_more_each_time():
    lines = _Lines({}, ["v0"], None)
    lines.read("v1 = np.sin(v0)")
    for k in range(1, 500):
        lines.read(f"v{k + 1} = np.sin(v{k}, out=v{k})")
        assert len(lines._names["v1"]) == 1
    with pytest.raises(KernelError, match="reads v7, which was overwritten by 'v8"):
        lines.read("return (v7,)")

"""How arrays lie in memory, where NumPy makes it decide between views and copies.

A value lies by rows where the elements of each row stand after those of the row before. Products of matrices do, and
all else as its operands; of an argument it is looked up, and the trace serves others that lie alike.
"""

from __future__ import annotations

import numpy as np

from ..primitives.contraction import EINSUM
from ..primitives.primitive import Constant
from ..program.interpret import decided
from ..program.node import Node
from .trace import running


def lies_by_rows(node: Node) -> bool:
    """Whether a traced value surely lies by rows."""
    trace = running()
    known = trace.lying

    def decide(n: Node) -> bool:
        if n.primitive.name == "input":
            value = trace.values.get(n)
            return value is not None and np.asarray(value).flags.c_contiguous
        if is_line(n):
            return True
        if isinstance(n.primitive, Constant):
            return np.asarray(n.params[0].value).flags.c_contiguous
        if n.primitive is not EINSUM:
            return all(known[o] for o in n.operands if not is_line(o))
        (labels, *others), out, _, _ = n.params
        if others:
            return True
        order = [label for label in labels if label in out]
        return order == [label for label in out if label in labels] and known[n.operands[0]]

    return decided(node, known, decide)


def is_line(node: Node) -> bool:
    """Whether it lies one way only."""
    return sum(d != 1 for d in node.shape) < 2

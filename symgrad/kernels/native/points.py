"""Which values compiled loops compute element by element, and what that costs."""

from __future__ import annotations

import math

from ...emit.c.spelling import MATH
from ...emit.loops.contractions import is_summed
from ...emit.loops.language import OF_FLOATS
from ...emit.loops.regions import Point, Reduction, Region
from ...emit.loops.scalars import BOOL, F32, F64, I64, loop_dtypes
from ...passes.complex_parts import in_parts
from ...passes.elementary import in_elementary
from ...passes.loop_products import gathered_products
from ...primitives.contraction import EINSUM
from ...primitives.elementwise import COMPARISONS, SIMPLE, Elementwise
from ...program.node import Node
from ...program.program import Program

#: the dtypes of values in compiled loops
HELD = frozenset((F64, F32, I64, BOOL))
#: operations that are compiled for all dtypes, for numbers, and for floats
_OF_ALL = frozenset((*COMPARISONS, "logical_and", "logical_or", "logical_xor", "logical_not", "where"))
_OF_NUMBERS = frozenset(
    ("add", "subtract", "multiply", "negative", "positive", "conjugate", "square", "maximum", "minimum")
)
_OF_FLOATS = frozenset((*MATH, "divide", "reciprocal", "sign", "fmax", "fmin", "isnan", "isinf", "isfinite"))


#: what loops know, and functions of whose formulas they would compute both sides of a choice: NumPy has them sooner
_KEPT = frozenset((*(OF_FLOATS - {"tanh"}), "logit", "log_ndtr"))


def for_loops(program: Program) -> Program:
    """``program`` in functions that loops have, where that pays, and the products of all turns of a loop as one."""
    return gathered_products(in_elementary(in_parts(program), _KEPT))


def _is_compiled(node: Node) -> bool:
    """True for an elementwise operation that compiled loops compute as NumPy does."""
    name = node.primitive.name
    if node.dtype not in HELD or any(o.dtype not in HELD for o in node.operands):
        return False
    kinds = {d.kind for d in (loop_dtypes(node)[1:] if name == "where" else loop_dtypes(node))}
    if name in _OF_ALL:
        return True
    return (name in _OF_NUMBERS and kinds <= {"f", "i"}) or (name in _OF_FLOATS and kinds == {"f"})


def is_point(node: Node) -> bool:
    """True for a node that C computes element by element."""
    if node.dtype not in HELD or any(o.dtype not in HELD for o in node.operands):
        return False
    name = node.primitive.name
    if isinstance(node.primitive, Elementwise):
        return _is_compiled(node)
    if name == "gate":
        return True
    if name == "cast":
        return node.dtype.kind == "f" or node.operands[0].dtype.kind == "b"
    return node.primitive is EINSUM and not is_summed(node) and len(set(node.params[1])) == len(node.params[1])


def additions(node: Node) -> float:
    """What a node costs an element, in additions."""
    if isinstance(node.primitive, Elementwise):
        return node.primitive.costs[1] / SIMPLE[1]
    return max(len(node.operands) - 1, 1)


def work_of(region: Region) -> float:
    """What the loops cost, in additions."""
    own = 0.0
    for item in region.items:
        if isinstance(item, Point):
            own += additions(item.node)
        else:
            own += len(item.reads) if isinstance(item, Reduction) else 1
    return float(math.prod(region.extents)) * own

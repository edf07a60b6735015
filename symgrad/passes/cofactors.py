"""The derivative of a determinant, where the matrix is singular too: kernels alone need it.

``# det(A)·(A⁻¹)ᵀ -> cof(A)``: formulas and exports keep the textbook's form.
"""

from __future__ import annotations

from ..primitives.contraction import EINSUM, contract
from ..primitives.linalg import COFACTOR, DETERMINANT, INVERSE
from ..program.node import Node, emit
from ..program.program import Program
from .rewrite import rewrite


def join_cofactors(program: Program) -> Program:
    """``program`` with matrices of cofactors for what multiplies a determinant with the inverse of its matrix."""
    if not any(n.primitive is DETERMINANT for n in program.nodes):
        return program
    return rewrite(program, _joined)


def _joined(node: Node, _: Node) -> Node | None:
    if node.primitive is not EINSUM or node.params[3]:
        return None
    labels, out, sizes, _ = node.params
    determinants = {
        (o.operands[0], ls): o for o, ls in zip(node.operands, labels, strict=True) if o.primitive is DETERMINANT
    }
    for k, (o, own) in enumerate(zip(node.operands, labels, strict=True)):
        found = determinants.get((o.operands[0], own[:-2])) if o.primitive is INVERSE else None
        if found is not None:
            (matrix,) = o.operands
            rest = [j for j in range(len(labels)) if j not in (k, node.operands.index(found))]
            transposed = (*own[:-2], own[-1], own[-2])
            factors = [emit(COFACTOR, (matrix, found)), *(node.operands[j] for j in rest)]
            return contract(factors, [transposed, *(labels[j] for j in rest)], out, sizes)
    return None

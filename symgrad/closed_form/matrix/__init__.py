"""Closed forms in matrix notation: ``Xᵀ(Xw − y)``, ``diag(p) − ppᵀ``, ``A ⊗ B``.

Program ─ translation ─► sums of products with labelled axes (algebra, functions: cancelled, canonical)
        ─ factoring, reading ─► expression tree ─ naming, printing, notation ─► text, LaTeX
                                                ─ evaluation ─► the value on arrays; on Code its source
"""

from .forms import MatrixForm, matrix_forms, required_forms, side_by_side

__all__ = ["MatrixForm", "matrix_forms", "required_forms", "side_by_side"]

"""Why a step is what it is: the rule of the operation, in words. The derivatives themselves are the primitives'."""

from __future__ import annotations

from collections.abc import Sequence

from ...primitives.elementwise import Elementwise
from ...primitives.external import External
from ...program.node import Node, ancestors

_LINEAR_ALGEBRA = {
    "inverse": "derivative of the inverse: d(A⁻¹) = −A⁻¹ dA A⁻¹",
    "solve": "derivative of a solution of A x = b: dx = A⁻¹(db − dA x)",
    "determinant": "Jacobi's formula: d det A = det A · tr(A⁻¹ dA)",
    "cofactor": "derivative of the cofactors: d cof A = det A · (tr(A⁻¹ dA) A⁻¹ − A⁻¹ dA A⁻¹)ᵀ",
    "log_determinant": "Jacobi's formula: d log|det A| = tr(A⁻¹ dA)",
    "cholesky": "derivative of the Cholesky factor",
    **dict.fromkeys(("eigh", "eigvalsh"), "derivative of eigenvalues: dλ = vᴴ dA v; of eigenvectors by the gaps"),
    **dict.fromkeys(("eig", "eigvals"), "derivative of eigenvalues: dΛ = diag(V⁻¹ dA V); of eigenvectors by the gaps"),
    **dict.fromkeys(
        ("svd", "svdvals", "least_squares_values"),
        "derivative of singular values: dσ = uᴴ dA v; of singular vectors by the gaps of σ²",
    ),
    "qr": "derivative of the QR factors",
    "pseudo_inverse": "derivative of the pseudo-inverse at constant rank (Golub and Pereyra)",
    "least_squares": "derivative of a least-squares solution at constant rank (Golub and Pereyra)",
}
_RULES = {
    "add": "sum rule",
    "subtract": "sum rule",
    "negative": "sum rule",
    "multiply": "product rule",
    "gate": "product rule",
    "divide": "quotient rule",
    "reciprocal": "quotient rule",
    "square": "power rule",
    "power": "power rule",
    "float_power": "power rule",
    "sqrt": "power rule",
    "norm_sqrt": "power rule",
    "where": "only the branch that was taken counts",
    "maximum": "only the larger one counts, ties share",
    "minimum": "only the smaller one counts, ties share",
    "fmax": "only the larger one counts, ties share",
    "fmin": "only the smaller one counts, ties share",
    "max": "only the largest element counts, ties share",
    "min": "only the smallest element counts, ties share",
    "absolute": "slope ±1 on either side",
    "prod": "product rule over all elements",
    "slice": "elements that were taken out",
    "gather": "rows that were picked by index",
    "concatenate": "arrays that were joined",
    "assemble": "pieces that were put together",
    "cumsum": "running sum",
    "cumprod": "product rule along an axis",
    **dict.fromkeys(("fft", "rfft", "irfft"), "a Fourier transform, which is linear"),
    "custom": "a rule that was declared by hand",
    "reshape": "the same elements in another shape",
    **_LINEAR_ALGEBRA,
}
#: rules that go without saying beside others
_PLAIN = {"sum rule", "constant factor", "elements that were taken out"}
_SILENT = {"cast", "mark", "positive", "conjugate", "stop_gradient", "negative"}


def rule(root: Node, source: Node, transposed: bool, called: str) -> str:
    """How ``root`` depends on ``source``, which is ``called`` so, in words; ``transposed`` for cotangents."""
    path = [n for n in _between(root, source) if n.differentiable]
    functions = list(dict.fromkeys(n.primitive.name for n in path if _is_function(n)))
    said = list(dict.fromkeys(s for s in (_said(n, transposed, called) for n in path) if s))
    telling = [s for s in said if s not in _PLAIN]
    if functions:
        telling.append(f"chain rule through {' and '.join(functions[:3])}")
    if not telling:
        telling = said or ["constant factor" if any(n.primitive.name == "negative" for n in path) else "passed on"]
    return ", ".join(telling[:3])


def _between(root: Node, source: Node) -> list[Node]:
    """The operations from ``root`` down to ``source``."""
    below = {source}
    path = []
    for n in ancestors([root]):
        if not below.isdisjoint(n.operands):
            below.add(n)
            path.append(n)
    return path[::-1]


def _is_function(node: Node) -> bool:
    name = node.primitive.name
    return isinstance(node.primitive, Elementwise) and name not in _RULES and name not in _SILENT


def _said(node: Node, transposed: bool, called: str) -> str | None:
    name = node.primitive.name
    if name in _SILENT or _is_function(node) or isinstance(node.primitive, External):
        return None
    if name == "einsum":
        return _contraction(node, transposed, called)
    if name in ("multiply", "divide") and node.operands[name == "divide"].is_literal:
        return "constant factor"
    return _RULES.get(name, f"derivative of {name}")


def _contraction(node: Node, transposed: bool, called: str) -> str | None:
    labels, out, sizes, _ = node.params
    wide = [ls for ls in labels if any(sizes[i] != 1 for i in ls)]
    if len(wide) > 1 and out and any(set(ls) != set(out) for ls in wide):
        if transposed:
            return f"linear in {called}: multiply by the transpose of the other factor"
        return f"linear in {called}: the tangent takes its place"
    if len([o for o in node.operands if not o.is_literal]) > 1:
        return "product rule"
    if any(i not in out and sizes[i] != 1 for ls in wide for i in ls):
        return "a sum: each term counts alike" if transposed else "a sum of tangents"
    spread = any(i not in ls and sizes[i] != 1 for ls in wide for i in out) or not wide
    if spread and any(sizes[i] != 1 for i in out):
        return "it was repeated, so sum" if transposed else "repeated as it was"
    return None if len(labels) == 1 else "constant factor"


def together(users: Sequence[str], reasons: Sequence[str]) -> str:
    """Why contributions are what they are, which come from one use or from several."""
    said = list(dict.fromkeys(reasons))
    if len(set(users)) < 2:
        return ", ".join(said[:2])
    return f"{_used_in(users)}, so contributions add up ({', '.join(said[:2])}{', …' if len(said) > 2 else ''})"


def _used_in(names: Sequence[str]) -> str:
    """``used in v₁ and v₂``."""
    shown = list(dict.fromkeys(names))
    if len(shown) > 4:
        shown = [*shown[:3], f"{len(shown) - 3} more"]
    return f"used in {', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else f"used in {shown[0]}"

"""Complex arguments and results: a complex number counts as two real ones, and gradients say so.

The gradient of a real function is ``∂f/∂Re + i ∂f/∂Im``, the direction of steepest ascent, as PyTorch has it; ``v`` of
``vjp`` and ``sens`` pair with outputs by ``Re Σ v̄·out``, so that ``vjp`` of ``A @ x`` is ``Aᴴ v``. Inside, cotangents
pair without a conjugate (``primitives/elementwise.py``): here they are conjugated on their way in and out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..differentiation.cotangents import accumulate
from ..differentiation.edges import active_edges
from ..differentiation.forward import forward_sweep
from ..differentiation.reverse import reverse_sweep
from ..errors import ArgumentError, DtypeError
from ..primitives.contraction import contract, scale
from ..primitives.contraction import identity as delta
from ..primitives.elementwise import Elementwise, conjugated
from ..primitives.functions import add, real
from ..primitives.primitive import literal
from ..program.node import Node

_REAL_VALUED = (
    "{caller}: the output is complex, and a gradient is of real numbers. Return np.real, np.imag or np.abs of it, pass "
    "sens, or holomorphic=True for the complex derivative of a holomorphic function."
)


def pulled_back(outputs: Sequence[Node], seeds: Sequence[Node | None], wrt: Sequence[Node]) -> list[Node | None]:
    """The cotangents of ``wrt`` as they are shown, of seeds as they are given."""
    taken = [s and conjugated(s) for s in seeds]
    return [g and conjugated(g) for g in reverse_sweep(outputs, taken, wrt)]


def pushed_back(
    outputs: Sequence[Node], seeds: Sequence[Node | None], wrt: Sequence[Node], holomorphic: bool = False
) -> list[Node | None]:
    """The gradient by pushing δ from each input: the same numbers, cheap where inputs are few.

    ``holomorphic``: the complex derivative, which the push along the real axis is.
    """
    gradients: list[Node | None] = []
    for w in wrt:
        by_real = _pushed(outputs, seeds, w, delta(w.shape))
        if w.is_complex and not holomorphic:
            by_imaginary = _pushed(outputs, seeds, w, scale(delta(w.shape), literal(1j)))
            by_imaginary = by_imaginary and scale(_real(by_imaginary), literal(1j))
            by_real = by_real and _real(by_real)
            by_real = add(by_real, by_imaginary) if by_real and by_imaginary else by_real or by_imaginary
        gradients.append(by_real)
    return gradients


def _pushed(outputs: Sequence[Node], seeds: Sequence[Node | None], w: Node, seed: Node) -> Node | None:
    """The derivative of the weighed sum of ``outputs`` along each row of ``seed``."""
    batch = len(w.shape)
    parts = [
        _weighed(tangent, conjugated(ct), batch)
        for tangent, ct in zip(forward_sweep(outputs, {w: seed}, batch), seeds, strict=True)
        if tangent is not None and ct is not None
    ]
    return accumulate(parts) if parts else None


def _real(x: Node) -> Node:
    return real(x) if x.is_complex else x


def _weighed(tangent: Node, ct: Node, batch: int) -> Node:
    labels = tuple(range(tangent.ndim))
    return contract([tangent, ct], [labels, labels[batch:]], labels[:batch], tangent.shape)


def check_gradient(outputs: Sequence[Node], wrt: Sequence[Node], holomorphic: bool, caller: str) -> None:
    """A DtypeError for a sum of complex outputs, unless the function is ``holomorphic``, which is looked into."""
    if holomorphic:
        _check_holomorphic(outputs, wrt, caller)
    elif any(o.is_complex for o in outputs):
        raise DtypeError(_REAL_VALUED.format(caller=caller))


def jacobian_mode(outputs: Sequence[Node], wrt: Sequence[Node], mode: str, holomorphic: bool, caller: str) -> str:
    """The mode that the Jacobian of these can be taken in: ``mode`` where all are real.

    Complex outputs by real inputs are derived forward, real ones by complex inputs in reverse.
    """
    if holomorphic:
        _check_holomorphic(outputs, wrt, caller)
        return mode
    out_of, by = any(o.is_complex for o in outputs), any(w.is_complex for w in wrt)
    if out_of and by:
        raise DtypeError(
            f"{caller}: complex outputs by complex inputs have no one derivative, unless the function is holomorphic "
            "(holomorphic=True). Take it of np.real and np.imag of the output, or by real inputs: f(a + 1j * b)."
        )
    needed = "forward" if out_of else "reverse" if by else mode
    if mode not in ("auto", needed):
        raise ArgumentError(f"{caller}: with these complex numbers it is derived in {needed} mode, not {mode!r}.")
    return needed


def block_dtype(output: Node, source: Node) -> np.dtype:
    """The dtype of the derivatives of ``output`` by ``source``."""
    return np.result_type(source.dtype, np.complex64) if output.is_complex else source.dtype


def _check_holomorphic(outputs: Sequence[Node], wrt: Sequence[Node], caller: str) -> None:
    if not all(n.is_complex for n in (*outputs, *wrt)):
        raise DtypeError(f"{caller}: holomorphic=True is for complex outputs of complex inputs; x.astype(complex).")
    for node, edges in active_edges(outputs, wrt).items():
        operation = node.primitive
        if not isinstance(operation, Elementwise) or not any(source.is_complex for source, _ in edges):
            continue
        if operation.over_reals or (not node.is_complex and node.differentiable):
            raise DtypeError(
                f"{caller}: holomorphic=True, but the function takes {operation.name} of what it is differentiated "
                "by, which is not holomorphic. Leave the flag away, and return real numbers."
            )

"""Discrete Fourier transforms: linear maps whose matrix, which is symmetric, is never built.

Axes count from the end, so leading axes of flows and of examples change nothing. Cotangents pair without a conjugate
(``elementwise.py``), so the transpose of ``fft`` is ``fft`` itself. A real sequence and the half of its transform that
``rfft`` gives are transposed by each other: with ``w`` of 1 where a frequency stands once, and of 2 where it stands for
its mirror image too, ``Re Σ ct · rfft(t) = Σ irfft(n · conj(ct) / w) · t``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program.dims import Dim, Shape
from ..program.node import Node, emit
from .contraction import contract
from .elementwise import conjugated
from .primitive import Params, Stacked, made_constant

#: the scaling of a transform -> that with which the other direction is its transpose
TRANSPOSED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


class Fourier(Stacked):
    """``np.fft.fft`` along an axis, or ``ifft``; ``params = (axis, inverse, norm)``."""

    name = "fft"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        (x,) = operands
        return x.shape, np.result_type(x.dtype, np.complex64), False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        return emit(self, (tangent,), node.params)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        return emit(self, (ct,), node.params)

    def evaluate(self, params: Params, *values: Any) -> Any:
        axis, inverse, norm = params
        return (np.fft.ifft if inverse else np.fft.fft)(values[0], axis=axis, norm=norm)

    def spell(self, node: Node) -> str:
        axis, inverse, norm = node.params
        return f"{'ifft' if inverse else 'fft'}[{axis}{'' if norm == 'backward' else ', ' + norm}]"


class RealFourier(Stacked):
    """``np.fft.rfft`` of real numbers along an axis; ``params = (axis, norm)``."""

    name = "rfft"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        (x,) = operands
        return _resized(x, params[0], x.shape[params[0]] // 2 + 1), np.result_type(x.dtype, np.complex64), False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        return emit(self, (tangent,), node.params)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        axis, norm = node.params
        count = source.shape[axis]
        return emit(IRFFT, (_weighed(conjugated(ct), axis, count, -1),), (axis, count, TRANSPOSED[norm]))

    def evaluate(self, params: Params, *values: Any) -> Any:
        return np.fft.rfft(values[0], axis=params[0], norm=params[1])

    def spell(self, node: Node) -> str:
        axis, norm = node.params
        return f"rfft[{axis}{'' if norm == 'backward' else ', ' + norm}]"


class InverseRealFourier(Stacked):
    """``np.fft.irfft`` along an axis, to a count of elements; ``params = (axis, count, norm)``."""

    name = "irfft"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        (x,) = operands
        axis, count, _ = params
        return _resized(x, axis, count), np.dtype(f"f{x.dtype.itemsize // 2}") if x.is_complex else x.dtype, False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        return emit(self, (tangent,), node.params)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        axis, count, norm = node.params
        return _weighed(conjugated(emit(RFFT, (ct,), (axis, TRANSPOSED[norm]))), axis, count, 1)

    def evaluate(self, params: Params, *values: Any) -> Any:
        axis, count, norm = params
        return np.fft.irfft(values[0], count, axis=axis, norm=norm)

    def spell(self, node: Node) -> str:
        axis, count, norm = node.params
        return f"irfft[{axis}, {count}{'' if norm == 'backward' else ', ' + norm}]"


FFT, RFFT, IRFFT = Fourier(), RealFourier(), InverseRealFourier()


def _resized(x: Node, axis: int, count: Dim) -> Shape:
    shape = list(x.shape)
    shape[axis] = count
    return tuple(shape)


def _weighed(x: Node, axis: int, count: int, power: int) -> Node:
    """``x`` with each frequency of ``count`` elements times how often it stands, or one by that."""
    size = count // 2 + 1
    real = np.dtype(f"f{x.dtype.itemsize // (2 if x.is_complex else 1)}")

    def weights() -> np.ndarray:
        alone = (np.arange(size) == 0) | (2 * np.arange(size) == count)
        return np.where(alone, 1.0, 2.0**power).astype(real)

    labels = tuple(range(x.ndim))
    own = made_constant(("frequencies", count, power, real.str), weights)
    return contract([own, x], [labels[axis:][:1], labels], labels, x.shape)

"""``scipy.fft``'s cosine and sine transforms of traced values: Fourier transforms of what is continued evenly or oddly.

J. Makhoul, IEEE Transactions on Acoustics, Speech, and Signal Processing 28, 1980. The values are SciPy's but for the
last digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, UnsupportedOperation
from ..primitives import functions as f
from ..primitives.fourier import TRANSPOSED
from ..program.dims import is_concrete
from ..program.node import Node
from .declare import Case, Given
from .describing import to_complex
from .dispatch import answers_for
from .fourier import along, checked_norm
from .reductions import normalized_axis
from .trace import as_node
from .tracer import Tracer

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
_ROOT_2 = np.sqrt(2.0)


def _phases(x: Any, places: np.ndarray, sign: int) -> np.ndarray:
    """``exp(±iπ places / 2n)`` in the precision of ``x``."""
    return np.exp(sign * 0.5j * np.pi / x.shape[-1] * places).astype(np.result_type(x.dtype, np.complex64))


def _cosine(x: Any, kind: int) -> Any:
    n = x.shape[-1]
    k = np.arange(n)
    if kind == 1:
        return np.real(np.fft.rfft(np.concatenate([x, x[..., -2:0:-1]], -1)))
    if kind == 2:
        return np.real(np.fft.rfft(np.concatenate([x, x[..., ::-1]], -1))[..., :n] * _phases(x, k, -1))
    if kind == 3:
        return np.fft.irfft(x * _phases(x, k, 1), 2 * n, norm="forward")[..., :n]
    return np.real(np.fft.fft(2 * x * _phases(x, k, -1), 2 * n)[..., :n] * _phases(x, k + 0.5, -1))


def _sine(x: Any, kind: int) -> Any:
    n = x.shape[-1]
    if kind == 1:
        rim = np.zeros((*x.shape[:-1], 1), x.dtype)
        return -np.imag(np.fft.rfft(np.concatenate([rim, x, rim, -x[..., ::-1]], -1)))[..., 1 : n + 1]
    signs = np.where(np.arange(n) % 2, -1, 1).astype(x.dtype)
    return _cosine(x * signs, 2)[..., ::-1] if kind == 2 else _cosine(x[..., ::-1], kind) * signs


def _weights(x: Any, places: list[int], weight: float) -> np.ndarray:
    made = np.ones(x.shape[-1], x.dtype)
    made[places] = weight
    return made


def _transformed(x: Any, transform: Callable, kind: int, norm: str, orthogonal: bool) -> Any:
    """The transform along the last axis of real numbers."""
    is_sine = transform is _sine
    if kind not in _INVERSE:
        raise ArgumentError.here(f"scipy.fft: type={kind!r} is none of 1, 2, 3, 4")
    size = 2 * (x.shape[-1] + (kind == 1) * (1 if is_sine else -1))
    if not size:
        raise ShapeError.here("scipy.fft.dct of type 1 takes two elements or more")
    scale = {"backward": 1.0, "ortho": size**-0.5, "forward": 1.0 / size}[norm]
    ends = [0, -1] if kind == 1 else [-1] if is_sine else [0]
    is_weighed = orthogonal and kind != 4 and not (is_sine and kind == 1)
    if is_weighed and kind != 2:
        x = x * _weights(x, ends, _ROOT_2)
    made = transform(x, kind)
    if is_weighed and kind != 3:
        made = made * _weights(made, ends, 1 / _ROOT_2)
    return made if norm == "backward" else made * scale


def _one_axis(transform: Callable, inverse: bool) -> Callable:
    def answer(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
        given, place = along(x, n, axis)
        if not is_concrete((given.shape[place],)):
            raise UnsupportedOperation.here(
                "scipy.fft: cosine and sine transforms along an axis of a named size have no rule."
            )
        if given.dtype == np.float16:  # which SciPy widens
            given = f.cast(given, np.dtype(np.float32))
        norm = checked_norm(norm)
        orthogonal = norm == "ortho" if orthogonalize is None or given.is_complex else orthogonalize  # as SciPy does
        kind = _INVERSE.get(type, type) if inverse else type
        rows: Any = Tracer(given)
        rows = np.moveaxis(rows, place, -1)
        own = (transform, kind, TRANSPOSED[norm] if inverse else norm, orthogonal)
        if given.is_complex:
            made = _transformed(np.real(rows), *own) + 1j * _transformed(np.imag(rows), *own)
        else:
            made = _transformed(rows, *own)
        return np.moveaxis(made, -1, place)

    return answer


def _sizes_of_axes(x: Node, s: Any, axes: Any) -> list[tuple[Any, int]]:
    """How many elements along which axes, the last one first."""
    if axes is None:
        axes = range(-len(s), 0) if s is not None else range(x.ndim)
    axes = [normalized_axis(k, x.ndim) for k in axes]
    given = [None] * len(axes) if s is None else [None if n is None or n == -1 else n for n in s]
    if len(given) != len(axes):
        raise ShapeError.here(f"scipy.fft: s has {len(given)} sizes and there are {len(axes)} axes")
    return list(zip(given, axes, strict=True))[::-1]


def _axes(one: Callable) -> Callable:
    def answer(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
        made = x
        for n, axis in _sizes_of_axes(as_node(x), s, axes):
            made = one(made, type, n, axis, norm, orthogonalize=orthogonalize)
        return made

    return answer


_KINDS = [Case((5,), Given(k), norm=norm) for k in (1, 2, 3, 4) for norm in (None, "ortho")]
_ONE = [
    *_KINDS,
    Case((3, 4), axis=0, norm="forward", orthogonalize=True),
    Case((2, 4), n=6, type=3),
    Case((5,), n=3, type=1),
    Case((4,), (4,), of=to_complex),
]
_SEVERAL = [Case((3, 4)), Case((2, 3, 4), axes=(0, 2), type=3, norm="ortho"), Case((3, 4), s=(2, 5), type=4)]
for _name, _transform, _inverse in (("dct", _cosine, 0), ("idct", _cosine, 1), ("dst", _sine, 0), ("idst", _sine, 1)):
    _one = _one_axis(_transform, bool(_inverse))
    answers_for(f"scipy.fft.{_name}", cases=_ONE)(_one)
    answers_for(f"scipy.fft.{_name}n", cases=_SEVERAL)(_axes(_one))

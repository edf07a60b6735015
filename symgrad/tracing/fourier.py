"""``np.fft`` on traced values: transforms along one axis, one after the other where there are several."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, UnsupportedOperation
from ..primitives import functions as f
from ..primitives.fourier import FFT, IRFFT, RFFT, TRANSPOSED
from ..primitives.selection import assemble, full, take_slice
from ..program.dims import is_concrete
from ..program.node import Node, emit
from .declare import CASES, Case, Given, implements
from .describing import to_complex
from .dispatch import answers_for
from .reductions import normalized_axis
from .sizes import whole
from .trace import as_node
from .tracer import Tracer


def checked_norm(norm: Any) -> str:
    """The name of how a transform is scaled."""
    given = "backward" if norm is None else norm
    if given not in TRANSPOSED:
        raise ArgumentError.here(f'norm is {norm!r}; it is "backward", "ortho" or "forward".')
    return given


def _float(a: Any) -> Node:
    """The numbers as floats or complex numbers."""
    x = as_node(a)
    if x.weak or not x.ndim:
        raise ShapeError.here("a Fourier transform is of an array, along an axis of it; this is one number.")
    return x if x.differentiable else f.cast(x, np.dtype(np.float64))


def _counted(x: Node, n: Any, axis: int) -> Node:
    """``x`` cut or with zeros added to ``n`` elements along an axis."""
    size = x.shape[axis]
    n = size if n is None else whole(n)
    if n == size:
        return x
    if not is_concrete((size,)):
        raise UnsupportedOperation.here(f"np.fft: n={n} of an axis of the named size {size}; leave n away.")
    if is_concrete((n,)) and n < 1:
        raise ShapeError.here(f"np.fft: {n} is no number of elements to transform")
    shape = [*x.shape[:axis], min(n, size), *x.shape[axis + 1 :]]
    kept = take_slice(x, full(tuple(shape)))
    if n < size:
        return kept
    shape[axis] = n
    return assemble([kept], tuple(shape), [full(x.shape)])


def along(a: Any, n: Any, axis: int) -> tuple[Node, int]:
    """The numbers to transform, and the axis from the end."""
    x = _float(a)
    axis = normalized_axis(axis, x.ndim)
    return _counted(x, n, axis), axis - x.ndim


_AXES = [Case((6,)), Case((3, 5), axis=0), Case((2, 4), Given(7)), Case((2, 6), n=3, axis=-1, norm="ortho")]
_REALS = [*_AXES, Case((5,), norm="forward"), Case((1,))]
_COMPLEX = [
    Case((6,), (6,), of=to_complex),
    Case((3, 5), (3, 5), of=to_complex, axis=0, norm="forward"),
    Case((2, 4), (2, 4), of=to_complex, n=7),
    Case((2, 6), (2, 6), of=to_complex, n=3),
]


@implements(np.fft.fft, cases=[*_REALS, *_COMPLEX])
def _fft(a, n=None, axis=-1, norm=None):
    x, axis = along(a, n, axis)
    return Tracer(emit(FFT, (x,), (axis, False, checked_norm(norm))))


@implements(np.fft.ifft, cases=[*_REALS, *_COMPLEX])
def _ifft(a, n=None, axis=-1, norm=None):
    x, axis = along(a, n, axis)
    return Tracer(emit(FFT, (x,), (axis, True, checked_norm(norm))))


@implements(np.fft.rfft, cases=_REALS)
def _rfft(a, n=None, axis=-1, norm=None):
    x, axis = along(a, n, axis)
    if x.is_complex:
        raise ArgumentError.here("np.fft.rfft is of real numbers, and these are complex; take np.fft.fft.")
    if not is_concrete((x.shape[axis],)):
        raise UnsupportedOperation.here("np.fft.rfft along an axis of a named size; np.fft.fft takes one.")
    return Tracer(emit(RFFT, (x,), (axis, checked_norm(norm))))


@implements(np.fft.irfft, cases=[*_REALS[:4], Case((5,), Given(9)), *_COMPLEX])
def _irfft(a, n=None, axis=-1, norm=None):
    x = _float(a)
    axis = normalized_axis(axis, x.ndim)
    if not is_concrete((x.shape[axis],)):
        raise UnsupportedOperation.here("np.fft.irfft along an axis of a named size; np.fft.ifft takes one.")
    count = 2 * (x.shape[axis] - 1) if n is None else n
    if count < 1:
        raise ShapeError.here(f"np.fft.irfft: {count} is no number of elements to transform to")
    x = _counted(x, count // 2 + 1, axis)
    return Tracer(emit(IRFFT, (x,), (axis - x.ndim, count, checked_norm(norm))))


_GRIDS = [Case((3, 4)), Case((2, 3, 4), axes=(0, 2), norm="ortho"), Case((3, 4), s=(2, 5), axes=(0, 1))]
_PLANES = [Case((3, 4)), Case((2, 3, 4), norm="forward")]
_COMPLEX_GRIDS = [Case((3, 4), (3, 4), of=to_complex), Case((2, 3, 4), (2, 3, 4), of=to_complex, axes=(0, 2))]
_SHIFTS = [Case((5,)), Case((3, 4)), Case((3, 4), axes=1), Case((3, 4), axes=(0,))]
CASES |= {  # of which NumPy's own code is traced
    **{k: [*_GRIDS, *_COMPLEX_GRIDS] for k in (np.fft.fftn, np.fft.ifftn)},
    **{k: [*_PLANES, *_COMPLEX_GRIDS] for k in (np.fft.fft2, np.fft.ifft2)},
    **dict.fromkeys((np.fft.fftshift, np.fft.ifftshift), _SHIFTS),
    np.fft.hfft: [*_REALS[:2], *_COMPLEX],
    np.fft.ihfft: _REALS,
    np.fft.irfft2: [*_PLANES, *_COMPLEX_GRIDS],
    np.fft.irfftn: [*_GRIDS, *_COMPLEX_GRIDS],
    np.fft.rfft2: _PLANES,
    np.fft.rfftn: _GRIDS,
}


def _of_scipy(function: Any) -> Any:
    """``scipy.fft``'s function of the same name: it takes single and double precision, and says how it computes."""

    def transform(x, *args, overwrite_x=False, workers=None, plan=None, **kwargs):
        given = as_node(x)
        if given.dtype == np.float16:  # which SciPy widens
            given = f.cast(given, np.dtype(np.float32))
        return function(Tracer(given), *args, **kwargs)

    return transform


for _function in (
    *(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft, np.fft.fft2, np.fft.ifft2),
    *(np.fft.fftn, np.fft.ifftn, np.fft.rfft2, np.fft.irfft2, np.fft.rfftn, np.fft.irfftn),
    *(np.fft.fftshift, np.fft.ifftshift),
):
    answers_for(f"scipy.fft.{_function.__name__}", cases=CASES[_function])(_of_scipy(_function))

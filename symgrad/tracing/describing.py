"""What NumPy says about arrays without computing with them, and arrays made like traced ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives import functions as f
from ..primitives.contraction import expand
from ..primitives.external import one_of
from ..program.dims import is_concrete, size
from ..program.node import Node
from .declare import Case, Given, implements
from .reductions import normalized_axes
from .sizes import shown, shown_shape, whole
from .trace import as_node, running
from .tracer import Tracer, traced, view


def _filled(x: Node, value: Any, dtype: Any, shape: Any) -> Tracer:
    wanted = x.shape
    if shape is not None:
        wanted = tuple(map(whole, shape)) if isinstance(shape, (tuple, list)) else (whole(shape),)
    kind = np.dtype(x.dtype if dtype is None else dtype)
    if is_concrete(wanted):
        return Tracer(running().constant(np.full(wanted, value, kind)))
    return (Tracer(expand(one_of(kind), wanted)) * value).astype(kind)


_LIKE = [Case((2, 3)), Case((), shape=(2,)), Case((3,), dtype=np.float32)]


@implements(np.zeros_like, cases=_LIKE)
@implements(np.empty_like, cases=[Case((0, 3))])
def _zeros_like(a, dtype=None, order="K", subok=True, shape=None, device=None):
    return _filled(as_node(a), 0, dtype, shape)


@implements(np.ones_like, cases=_LIKE)
def _ones_like(a, dtype=None, order="K", subok=True, shape=None, device=None):
    return _filled(as_node(a), 1, dtype, shape)


@implements(np.full_like, cases=[Case((2, 3), Given(2.5)), Case((2,), ()), Case((), Given(2), shape=(3,))])
def _full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, device=None):
    x = as_node(a)
    if isinstance(fill_value, Tracer):
        filled = fill_value.astype(x.dtype if dtype is None else dtype)
        return np.broadcast_to(filled, x.shape if shape is None else shape).copy()
    return _filled(x, fill_value, dtype, shape)


@implements(np.shape, cases=[Case((2, 3))])
def _shape(a):
    return shown_shape(as_node(a).shape)


@implements(np.ndim, cases=[Case((2, 3))])
def _ndim(a):
    return as_node(a).ndim


@implements(np.size, cases=[Case((2, 3)), Case((2, 3), axis=1)])
def _size(a, axis=None):
    x = as_node(a)
    return shown(size(tuple(x.shape[k] for k in normalized_axes(axis, x.ndim))))


@implements(np.copy, cases=[Case((2, 3))])
def _copy(a, order="K", subok=False):
    return Tracer(as_node(a))


def to_complex(a, b):
    """Two real arrays as one of complex numbers."""
    return (a + 1j * b,)


COMPLEX = [Case((2, 3), (2, 3), of=to_complex), Case((), (), of=to_complex)]


@implements(np.real, cases=[Case((2, 3)), *COMPLEX])
def _real(val):
    return view(val, f.real) if as_node(val).is_complex else val


@implements(np.imag, cases=COMPLEX)
def _imag(val):
    x = as_node(val)
    return view(val, f.imag) if x.is_complex else np.zeros_like(traced(val))


@implements(np.result_type, cases=[Case((2, 3))])
def _result_type(*arrays):
    return np.result_type(*[a.dtype if isinstance(a, (Tracer, np.ndarray)) else a for a in arrays])

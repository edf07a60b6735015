"""NumPy functions that need no rule of arrays: what tests them.

NumPy's own code of them is traced (``library_code``), or ``making`` and ``writing`` say what their calls give.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symgrad.tracing.declare import CASES, Case, Given
from symgrad.tracing.describing import COMPLEX, to_complex
from symgrad.tracing.statistics import with_nan


def _with_nan_at(x, q):
    """An array some of whose elements are NaN, and an argument as it is."""
    return (*with_nan(x), q)


def _between_zeros(x):
    """A vector with zeros at its ends."""
    return (np.concatenate([np.zeros(2), x, np.zeros(1)]),)


_ROWS = [Case((3, 4)), Case((4,))]
_SOME_NAN = [Case((2, 3), axis=k, of=with_nan) for k in (None, 1)]
_METHODS = ("hazen", "inverted_cdf", "linear", "midpoint", "nearest", "weibull")

_VECTORS = [Case((3,), (2,))]
_MANY = [Case((5,))]

CODE: dict[Callable, list[Case]] = {
    np.append: [*_VECTORS, Case((2, 3), (1, 3), axis=0)],
    np.apply_along_axis: [Case(Given(np.sort), Given(1), (2, 3))],
    np.apply_over_axes: [Case(Given(np.sum), (2, 3, 2), Given([0, 2]))],
    np.argwhere: [Case((4,))],
    np.array: [Case([(3,), (3,)]), Case((2, 3))],
    np.array_equal: [Case((3,), (3,))],
    np.asanyarray: [Case((2,))],
    np.asarray: [Case([(), ()])],
    np.asarray_chkfinite: [Case((2,))],
    np.ascontiguousarray: [Case((2, 3))],
    np.asfortranarray: [Case((2, 3))],
    np.bincount: [Case(Given(np.array([0, 1, 1, 3])), (4,))],
    np.corrcoef: [Case((3, 4)), Case((4,), (4,)), Case((4, 2), rowvar=False)],
    np.cov: [*_ROWS, Case((4,), (4,), ddof=0), Case((2, 4), aweights=np.array([1.0, 2.0, 0.5, 1.5]))],
    np.cumulative_prod: [Case((2, 3), axis=1), Case((3,), include_initial=True)],
    np.cumulative_sum: [Case((2, 3), axis=0), Case((3,), include_initial=True)],
    np.delete: [Case((4,), Given(1)), Case((3, 4), Given([0, 2]), axis=1)],
    np.diagflat: [Case((3,)), Case((2,), Given(1))],
    np.digitize: [Case((2, 3), Given(np.array([-1.0, 0.5, 2.0])))],
    np.flatnonzero: [Case((4,))],
    np.full: [Case(Given((2, 3)), ())],
    np.geomspace: [Case((), (), num=4, domain=(0.5, 3.0))],
    np.histogram: [Case((9,), bins=3)],
    np.histogram2d: [Case((9,), (9,), bins=2)],
    np.histogram_bin_edges: [Case((9,), bins=3)],
    np.histogramdd: [Case((9, 2), bins=2)],
    np.insert: [Case((4,), Given(1), ()), Case((2, 3), Given([0, 2]), (2,), axis=1)],
    np.intersect1d: [Case((3,), (3,))],
    np.isin: _VECTORS,
    np.isneginf: [Case((3,))],
    np.isposinf: [Case((3,))],
    np.lib.stride_tricks.sliding_window_view: [
        Case((6,), Given(3)),
        Case((4, 5), Given((2, 3))),
        Case((4, 5), Given(2), axis=1),
    ],
    np.linspace: [Case((), (), num=4), Case((2,), (2,), num=3, endpoint=False)],
    np.logspace: [Case((), (), num=3, domain=(0.1, 0.9))],
    np.nancumprod: _SOME_NAN,
    np.nancumsum: _SOME_NAN,
    np.nanpercentile: [Case((2, 3), Given([20.0, 65.0]), axis=1, of=_with_nan_at)],
    np.nanprod: _SOME_NAN,
    np.nanquantile: [Case((2, 3), Given(0.35), of=_with_nan_at)],
    np.nanstd: _SOME_NAN[:1],
    np.nanvar: [*_SOME_NAN, Case((2, 3), axis=1, ddof=1, of=with_nan)],
    np.nonzero: [Case((4,))],
    np.percentile: [Case((5,), Given(37.0)), Case((3, 4), Given([10.0, 60.0]), axis=-1, keepdims=True)],
    np.piecewise: [Case((4,), Given([np.array([True, False, True, False])]), Given([np.sin, np.cos]))],
    np.poly: [Case((3,))],
    np.polyadd: _VECTORS,
    np.polyder: [Case((4,), Given(2))],
    np.polydiv: [Case((4,), (2,), domain=(0.5, 3.0))],
    np.polyfit: [Case(Given(np.linspace(-1, 1, 5)), (5,), Given(2))],
    np.polyint: [Case((3,), Given(2))],
    np.polymul: _VECTORS,
    np.polysub: [Case((2,), (3,))],
    np.quantile: [
        *[Case((5,), Given(0.37), method=m) for m in _METHODS],
        Case((2, 3, 2), Given([[0.1, 0.2], [0.7, 1.0]]), axis=(0, -1), keepdims=True),
    ],
    np.real_if_close: [Case((3,))],
    np.resize: [Case((4,), Given((2, 3)))],
    np.roots: [Case((3,), domain=(0.5, 2.0))],
    np.select: [
        Case(Given([np.array([True, False, False]), np.array([True, True, False])]), [(3,), (2, 3)]),
        Case(Given([np.array([False, True])]), [(2,)], (2,)),
    ],
    np.setdiff1d: _VECTORS,
    np.setxor1d: _VECTORS,
    np.trim_zeros: [Case((3,), of=_between_zeros)],
    np.union1d: _VECTORS,
    np.unique: _MANY,
    np.unique_all: _MANY,
    np.unique_counts: _MANY,
    np.unique_inverse: _MANY,
    np.unwrap: [Case((5,), domain=(-9.0, 9.0)), Case((2, 4), period=2.0, axis=0)],
    np.vander: [Case((3,)), Case((3,), Given(4), increasing=True)],
}
_PLACES = Given(np.linspace(-1, 1, 5))
#: the functions of a module of ``numpy.polynomial``, by what follows the name of its polynomials
_OF_POLYNOMIALS: dict[str, list[Case]] = {
    "add": _VECTORS,
    "sub": [Case((2,), (3,))],
    "mul": _VECTORS,
    "mulx": [Case((3,))],
    "div": [Case((4,), (2,), domain=(0.5, 2.0))],
    "pow": [Case((2,), Given(2))],
    "val": [Case((2, 3), (3,)), Case((), (4,))],
    "val2d": [Case((3,), (3,), (2, 3))],
    "val3d": [Case((2,), (2,), (2,), (2, 2, 2))],
    "grid2d": [Case((2,), (3,), (2, 2))],
    "grid3d": [Case((2,), (2,), (2,), (2, 2, 2))],
    "der": [Case((4,)), Case((4, 2), Given(2))],
    "int": [Case((3,)), Case((3,), Given(2))],
    "vander": [Case((3,), Given(3))],
    "vander2d": [Case((3,), (3,), Given([1, 2]))],
    "vander3d": [Case((2,), (2,), (2,), Given([1, 1, 1]))],
    "fromroots": [Case((3,))],
    "fit": [Case(_PLACES, (5,), Given(2))],
    "companion": [Case((3,), domain=(0.5, 2.0))],
    "line": [Case((), ())],
    "weight": [Case((3,), domain=(0.1, 0.9))],
    "2poly": [Case((4,))],
    "valfromroots": [Case((3,), (2,))],
}
for _name, _module in (
    ("poly", np.polynomial.polynomial),
    ("cheb", np.polynomial.chebyshev),
    ("leg", np.polynomial.legendre),
    ("herm", np.polynomial.hermite),
    ("herme", np.polynomial.hermite_e),
    ("lag", np.polynomial.laguerre),
):
    _own = {f"{_name}{kind}": cases for kind, cases in _OF_POLYNOMIALS.items()} | {f"poly2{_name}": [Case((4,))]}
    CODE |= {getattr(_module, name): cases for name, cases in _own.items() if hasattr(_module, name)}
CASES |= CODE
CASES |= {  # which are traced in every trace, and tested as rules are
    np.allclose: [Case((3,), (3,)), Case((3,), (3,), atol=10.0)],
    np.angle: [*COMPLEX, Case((2, 3), (2, 3), of=to_complex, deg=True), Case((2, 3))],
    np.atleast_1d: [Case(()), Case((3,))],
    np.atleast_2d: [Case(()), Case((3,))],
    np.atleast_3d: [Case(()), Case((3,)), Case((2, 3)), Case((2, 1, 2))],
    np.column_stack: [Case([(3,), (3, 2)])],
    np.diff: [Case((5,)), Case((3, 4), axis=0), Case((5,), n=2)],
    np.dsplit: [Case((2, 2, 4), Given(2))],
    np.dstack: [Case([(3,), (3,)]), Case([(2, 3), (2, 3, 2)])],
    np.extract: [Case(Given(np.array([[1, 0, 1], [0, 1, 0]])), (2, 3))],
    np.flip: [Case((3, 4)), Case((3, 4), axis=1)],
    np.fliplr: [Case((3, 4))],
    np.flipud: [Case((3, 4)), Case((3,))],
    np.hsplit: [Case((2, 4), Given(2)), Case((4,), Given([1, 3]))],
    np.hstack: [Case([(3,), (2,)]), Case([(2, 3), (2, 1)]), Case([(3,), Given(1.5), ()])],
    np.iscomplex: [*COMPLEX, Case((2, 3))],
    np.iscomplexobj: [*COMPLEX, Case((2, 3))],
    np.isreal: [*COMPLEX, Case((2, 3))],
    np.isrealobj: [*COMPLEX, Case((2, 3))],
    np.isscalar: [Case((2, 3))],
    np.matrix_transpose: [Case((2, 3, 4))],
    np.nansum: [Case((2, 3)), *_SOME_NAN, Case((2, 3), axis=(0, 1), keepdims=True, of=with_nan), Case((0,))],
    np.outer: [Case((3,), (4,)), Case((2, 2), (3,))],
    np.rollaxis: [Case((2, 3, 4), Given(2)), Case((2, 3, 4), Given(0), start=3)],
    np.rot90: [Case((2, 3)), Case((2, 3), k=2), Case((2, 3), k=-1)],
    np.trapezoid: [
        Case((5,)),
        Case((3, 4), dx=0.5),
        Case((3, 4), (4,)),
        Case((3, 4), (3,), axis=0),
        Case((3, 4), (3, 4), axis=1),
    ],
    np.unstack: [Case((2, 3)), Case((2, 3), axis=-1)],
    np.vsplit: [Case((4, 2), Given(2))],
    np.vstack: [Case([(3,), (2, 3)])],
}

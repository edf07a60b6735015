"""NumPy functions that need no rule, since NumPy's own code of them is traced (``library_code``): what tests them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .declare import CASES, Case, Given
from .statistics import with_nan


def _with_nan_at(x, q):
    """An array some of whose elements are NaN, and an argument as it is."""
    return (*with_nan(x), q)


def _between_zeros(x):
    """A vector with zeros at its ends."""
    return (np.concatenate([np.zeros(2), x, np.zeros(1)]),)


_ROWS = [Case((3, 4)), Case((4,))]
_SOME_NAN = [Case((2, 3), axis=k, of=with_nan) for k in (None, 1)]
_METHODS = ("hazen", "inverted_cdf", "linear", "midpoint", "nearest", "weibull")

CODE: dict[Callable, list[Case]] = {
    np.corrcoef: [Case((3, 4)), Case((4,), (4,)), Case((4, 2), rowvar=False)],
    np.cov: [*_ROWS, Case((4,), (4,), ddof=0), Case((2, 4), aweights=np.array([1.0, 2.0, 0.5, 1.5]))],
    np.cumulative_prod: [Case((2, 3), axis=1), Case((3,), include_initial=True)],
    np.cumulative_sum: [Case((2, 3), axis=0), Case((3,), include_initial=True)],
    np.digitize: [Case((2, 3), Given(np.array([-1.0, 0.5, 2.0])))],
    np.geomspace: [Case((), (), num=4, domain=(0.5, 3.0))],
    np.logspace: [Case((), (), num=3, domain=(0.1, 0.9))],
    np.nancumprod: _SOME_NAN,
    np.nancumsum: _SOME_NAN,
    np.nanpercentile: [Case((2, 3), Given([20.0, 65.0]), axis=1, of=_with_nan_at)],
    np.nanprod: _SOME_NAN,
    np.nanquantile: [Case((2, 3), Given(0.35), of=_with_nan_at)],
    np.nanstd: _SOME_NAN[:1],
    np.nanvar: [*_SOME_NAN, Case((2, 3), axis=1, ddof=1, of=with_nan)],
    np.percentile: [Case((5,), Given(37.0)), Case((3, 4), Given([10.0, 60.0]), axis=-1, keepdims=True)],
    np.polyadd: [Case((3,), (2,))],
    np.polyder: [Case((4,), Given(2))],
    np.polydiv: [Case((4,), (2,), domain=(0.5, 3.0))],
    np.polyint: [Case((3,), Given(2))],
    np.polymul: [Case((3,), (2,))],
    np.polysub: [Case((2,), (3,))],
    np.quantile: [
        *[Case((5,), Given(0.37), method=m) for m in _METHODS],
        Case((2, 3, 2), Given([[0.1, 0.2], [0.7, 1.0]]), axis=(0, -1), keepdims=True),
    ],
    np.select: [
        Case(Given([np.array([True, False, False]), np.array([True, True, False])]), [(3,), (2, 3)]),
        Case(Given([np.array([False, True])]), [(2,)], (2,)),
    ],
    np.trim_zeros: [Case((3,), of=_between_zeros)],
    np.unwrap: [Case((5,), domain=(-9.0, 9.0)), Case((2, 4), period=2.0, axis=0)],
    np.vander: [Case((3,)), Case((3,), Given(4), increasing=True)],
}
CASES |= CODE

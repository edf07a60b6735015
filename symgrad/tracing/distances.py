"""``scipy.spatial.distance`` of traced vectors: each metric by its formula, for pairs and for all pairs of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, UnsupportedOperation
from ..primitives import functions as f
from .dispatch import answers_for
from .given_arrays import floats
from .trace import as_followed, as_node
from .tracer import Tracer

_PACKAGE = "scipy.spatial.distance"


def _sum(values: Any, w: Any = None) -> Any:
    return np.sum(values if w is None else w * values, axis=-1)


def _root(values: Any) -> Any:
    """The square root, flat at 0: between equal vectors."""
    return Tracer(f.norm_sqrt(as_node(values)))


def _minkowski(u, v, w=None, p=2.0):
    if p <= 0:
        raise ArgumentError.here(f"{_PACKAGE}.minkowski: p={p!r} must be greater than 0")
    if np.isinf(p):
        return _chebyshev(u, v, w)
    return np.linalg.norm((u - v) if w is None else w ** (1 / p) * (u - v), p, axis=-1)


def _euclidean(u, v, w=None):
    return np.linalg.norm((u - v) if w is None else np.sqrt(w) * (u - v), axis=-1)


def _sqeuclidean(u, v, w=None):
    return _sum((u - v) ** 2, w)


def _cityblock(u, v, w=None):
    return _sum(np.abs(u - v), w)


def _chebyshev(u, v, w=None):
    apart = np.abs(u - v)
    return np.max(apart if w is None else np.where(w > 0, apart, 0.0), axis=-1)


def _cosine(u, v, w=None):
    lengths = np.sqrt(_sum(u * u, w) * _sum(v * v, w))
    return np.clip(1.0 - _sum(u * v, w) / lengths, 0.0, 2.0)


def _correlation(u, v, w=None, centered=True):
    if not centered:
        return _cosine(u, v, w)
    share = np.full(u.shape[-1], 1.0 / u.shape[-1], u.dtype) if w is None else w / np.sum(w)
    return _cosine(u - _sum(u, share)[..., None], v - _sum(v, share)[..., None], share)


def _canberra(u, v, w=None):
    size = np.abs(u) + np.abs(v)
    return _sum(np.where(size == 0, 0.0, np.abs(u - v) / np.where(size == 0, 1.0, size)), w)


def _braycurtis(u, v, w=None):
    return _sum(np.abs(u - v), w) / _sum(np.abs(u + v), w)


def _seuclidean(u, v, V):
    return np.linalg.norm((u - v) / np.sqrt(V), axis=-1)


def _mahalanobis(u, v, VI):
    apart = u - v
    return _root(_sum(np.matmul(apart[..., None, :], VI)[..., 0, :] * apart))


def _jensenshannon(p, q, base=None, *, axis=-1, keepdims=False):
    p, q = (x / np.sum(x, axis=axis, keepdims=True) for x in (p, q))
    m = (p + q) / 2.0

    def relative(x: Any) -> Any:
        return np.where(x > 0, x * np.log(np.where(x > 0, x, 1.0) / np.where(x > 0, m, 1.0)), 0.0)

    total = np.sum(relative(p) + relative(q), axis=axis, keepdims=keepdims) / 2.0
    return _root(np.maximum(total if base is None else total / np.log(base), 0.0))


METRICS: dict[str, Callable] = {
    function.__name__[1:]: function
    for function in (
        *(_minkowski, _euclidean, _sqeuclidean, _cityblock, _chebyshev, _cosine, _correlation, _canberra),
        *(_braycurtis, _seuclidean, _mahalanobis, _jensenshannon),
    )
}
#: what else scipy calls them
_ALIASES = {
    alias: name
    for name, aliases in {
        "euclidean": "euclid eu e",
        "sqeuclidean": "sqe sqeuclid",
        "cityblock": "cblock cb c",
        "cosine": "cos",
        "correlation": "co",
        "chebyshev": "chebychev cheby cheb ch",
        "minkowski": "mi m pnorm",
        "seuclidean": "se s",
        "mahalanobis": "mahal mah",
        "jensenshannon": "js",
    }.items()
    for alias in aliases.split()
}


def _doubles(value: Any) -> Tracer:
    return floats(value).astype(float)


def _of_vectors(name: str) -> Callable:
    def answer(u: Any, v: Any, *args: Any, **kwargs: Any) -> Any:
        x, y = (_doubles(x) if name in _IN_DOUBLES else floats(x) for x in (u, v))
        if name != "jensenshannon" and (x.ndim != 1 or y.ndim != 1 or x.shape != y.shape):
            raise ShapeError.here(f"{_PACKAGE}.{name}: shapes {x.shape} and {y.shape} are not those of vectors")
        given: dict[str, Any] = dict(zip(_EXTRA.get(name, ("w",)), args, strict=False)) | kwargs
        if given.get("w") is not None:
            given["w"] = _doubles(given["w"])
        return METRICS[name](x, y, **{k: _doubles(g) if k in ("V", "VI") else g for k, g in given.items()})

    return answer


#: metrics of two vectors that SciPy computes in double precision whatever they are
_IN_DOUBLES = ("euclidean", "canberra", "braycurtis")
#: the arguments behind the two vectors, in their order
_EXTRA = {
    "minkowski": ("p", "w"),
    "seuclidean": ("V",),
    "mahalanobis": ("VI",),
    "jensenshannon": ("base",),
    "correlation": ("w", "centered"),
}
for _name in METRICS:
    answers_for(f"{_PACKAGE}.{_name}")(_of_vectors(_name))


@answers_for(f"{_PACKAGE}.cdist")
def _cdist(XA, XB, metric="euclidean", *, out=None, **kwargs):
    x, y = _doubles(XA), _doubles(XB)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise ShapeError.here(f"{_PACKAGE}.cdist: shapes {x.shape} and {y.shape} do not fit")
    _only_new(out)
    return _between(metric, x[:, None, :], y[None, :, :], np.concatenate([x, y]), kwargs)


@answers_for(f"{_PACKAGE}.pdist")
def _pdist(X, metric="euclidean", *, out=None, **kwargs):
    x = _doubles(X)
    if x.ndim != 2:
        raise ShapeError.here(f"{_PACKAGE}.pdist takes rows, not an array of shape {x.shape}")
    _only_new(out)
    first, second = np.triu_indices(x.shape[0], 1)
    return _between(metric, x[first], x[second], x, kwargs)


def _only_new(out: Any) -> None:
    if out is not None:
        raise UnsupportedOperation.here(f"{_PACKAGE}: out= is not supported on traced values; leave it away.")


def _between(metric: Any, x: Any, y: Any, rows: Any, kwargs: dict[str, Any]) -> Any:
    """The distances between rows that broadcast against each other; ``rows`` are all of them."""
    if callable(metric):
        lead = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
        x, y = (np.broadcast_to(v, (*lead, v.shape[-1])) for v in (x, y))
        measure = as_followed(metric)
        return np.stack([measure(x[at], y[at], **kwargs) for at in np.ndindex(*lead)]).reshape(lead)
    name = str(metric).lower()
    name = _ALIASES.get(name, name)
    if name not in METRICS:
        raise UnsupportedOperation.here(
            f"{_PACKAGE} with metric={metric!r} has no derivative rule in symgrad. There are: {[*METRICS]}."
        )
    given = {k: _doubles(v) if k in ("w", "V", "VI") and v is not None else v for k, v in kwargs.items()}
    if name == "seuclidean" and given.get("V") is None:
        given["V"] = np.var(rows, axis=0, ddof=1)
    if name == "mahalanobis" and given.get("VI") is None:
        centred = rows - np.mean(rows, axis=0)
        given["VI"] = np.linalg.inv(centred.T @ centred / (rows.shape[0] - 1)).T
    return METRICS[name](x, y, **given)


@answers_for(f"{_PACKAGE}.squareform")
def _squareform(X, force="no", checks=True):
    x = floats(X)
    if x.ndim == 1 and force.lower() != "tomatrix" and force.lower() in ("tovector", "tovec"):
        raise ShapeError.here(f"{_PACKAGE}.squareform: forcing 'tovector' but the input is a vector")
    if x.ndim == 1:
        n = int(np.ceil(np.sqrt(2 * x.shape[0])))
        if n * (n - 1) != 2 * x.shape[0]:
            raise ShapeError.here(f"{_PACKAGE}.squareform: {x.shape[0]} is no number of pairs")
        place = np.full((n, n), x.shape[0])
        place[np.triu_indices(n, 1)] = np.arange(x.shape[0])
        return np.concatenate([x, np.zeros(1, x.dtype)])[np.minimum(place, place.T)]
    if x.ndim != 2 or x.shape[0] != x.shape[1]:
        raise ShapeError.here(f"{_PACKAGE}.squareform: a matrix of shape {x.shape} is not square")
    return x[np.triu_indices(x.shape[0], 1)]

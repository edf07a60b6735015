"""Multivariate densities and statistics of samples in ``scipy.stats``; imported where one is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats
from scipy.stats import _morestats
from scipy.stats import _multivariate as families

from ..errors import ShapeError, UnsupportedArguments
from . import given_arrays
from .dispatch import answers, answers_for
from .distributions import floats
from .log_sums import log_sum


def _only(name: str, others: dict[str, Any]) -> None:
    if others:
        raise UnsupportedArguments.here(
            f"scipy.stats.{name} with {', '.join(others)} has no derivative rule in symgrad; leave it away."
        )


def _form(x: Any, mean: Any, cov: Any) -> tuple[Any, Any, int]:
    """``(x - mean)ᵀ cov⁻¹ (x - mean)`` of each point, ``log det cov``, and how many numbers a point has."""
    x, cov = floats(x), floats(cov)
    size = cov.shape[0] if cov.ndim else x.shape[-1] if mean is None and x.ndim else 1
    mean = floats(np.zeros(size) if mean is None else mean).reshape(-1)
    size = mean.shape[0]
    cov = cov * np.eye(size) if cov.ndim == 0 else np.diag(cov) if cov.ndim == 1 else cov
    x = x.reshape((-1, 1)) if size == 1 and x.ndim < 2 else x
    root = np.linalg.cholesky(cov)
    apart = np.linalg.solve(root, (x - mean)[..., None])[..., 0]
    return np.squeeze(np.sum(apart * apart, axis=-1)), 2 * np.sum(np.log(np.diag(root))), size


def _normal(_: Any, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    if allow_singular:
        _only("multivariate_normal.logpdf", {"allow_singular=True": True})
    distance, volume, size = _form(x, mean, cov)
    return -0.5 * (size * np.log(2 * np.pi) + volume + distance)


def _student(_: Any, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
    distance, volume, size = _form(x, loc, shape)
    df = floats(df)
    half = 0.5 * (df + size)
    scale = special.gammaln(half) - special.gammaln(0.5 * df) - 0.5 * size * np.log(df * np.pi) - 0.5 * volume
    return scale - half * np.log1p(distance / df)


def _dirichlet(_: Any, x: Any, alpha: Any) -> Any:
    x, alpha = floats(x), floats(alpha)
    if x.shape[0] == alpha.shape[0] - 1:
        x = np.concatenate([x, 1 - np.sum(x, axis=0, keepdims=True)])
    norm = np.sum(special.gammaln(alpha)) - special.gammaln(np.sum(alpha))
    weights = (alpha - 1).reshape((-1,) + (1,) * (x.ndim - 1))
    return np.sum(special.xlogy(weights, x), axis=0) - norm


def _wishart(_: Any, x: Any, df: Any, scale: Any) -> Any:
    x, df, scale = floats(x), floats(df), floats(scale)
    if x.ndim != 2 or scale.ndim != 2:
        raise ShapeError.here("scipy.stats.wishart.logpdf has a derivative rule for one matrix.")
    size = x.shape[0]
    logarithm = 0.5 * (df - size - 1) * np.linalg.slogdet(x)[1] - 0.5 * np.trace(np.linalg.solve(scale, x))
    terms = [special.gammaln(0.5 * (df - j)) for j in range(size)]
    gammas = size * (size - 1) * 0.25 * np.log(np.pi) + sum(terms, 0.0)
    return logarithm - 0.5 * df * size * np.log(2) - 0.5 * df * np.linalg.slogdet(scale)[1] - gammas


def _density(logarithm: Callable) -> Callable:
    return lambda *args, **kwargs: np.exp(logarithm(*args, **kwargs))


for _family, _rule in (
    (families.multivariate_normal_gen, _normal),
    (families.multivariate_t_gen, _student),
    (families.dirichlet_gen, _dirichlet),
    (families.wishart_gen, _wishart),
):
    answers(_family.logpdf)(_rule)
    answers(_family.pdf)(_density(_rule))
answers(families.multivariate_normal_frozen.logpdf)(lambda own, x: _normal(own, x, own.mean, own.cov))
answers(families.multivariate_normal_frozen.pdf)(lambda own, x: np.exp(_normal(own, x, own.mean, own.cov)))
answers(families.dirichlet_frozen.logpdf)(lambda own, x: _dirichlet(own, x, own.alpha))
answers(families.dirichlet_frozen.pdf)(lambda own, x: np.exp(_dirichlet(own, x, own.alpha)))


@answers(stats.zscore)
def _zscore(a, axis=0, ddof=0, **others):
    _only("zscore", others)
    a = given_arrays.floats(a)
    return (a - np.mean(a, axis=axis, keepdims=True)) / np.std(a, axis=axis, ddof=ddof, keepdims=True)


@answers(stats.sem)
def _sem(a, axis=0, ddof=1, **others):
    _only("sem", others)
    a = given_arrays.floats(a)
    return np.std(a, axis=axis, ddof=ddof) / (a.size if axis is None else a.shape[axis]) ** 0.5


@answers(stats.gmean)
def _gmean(a, axis=0, **others):
    _only("gmean", others)
    return np.exp(np.mean(np.log(given_arrays.floats(a)), axis=axis))


@answers(stats.hmean)
def _hmean(a, axis=0, **others):
    _only("hmean", others)
    return 1 / np.mean(1 / given_arrays.floats(a), axis=axis)


def _central(a: Any, axis: Any, order: int) -> Any:
    return np.mean((a - np.mean(a, axis=axis, keepdims=True)) ** order, axis=axis)


@answers(stats.skew)
def _skew(a, axis=0, **others):
    _only("skew", others)
    a = given_arrays.floats(a)
    return _central(a, axis, 3) / _central(a, axis, 2) ** 1.5


@answers(stats.kurtosis)
def _kurtosis(a, axis=0, fisher=True, **others):
    _only("kurtosis", others)
    a = given_arrays.floats(a)
    return _central(a, axis, 4) / _central(a, axis, 2) ** 2 - (3 if fisher else 0)


@answers(stats.entropy)
def _entropy(pk, qk=None, base=None, axis=0, **others):
    _only("entropy", others)
    pk = given_arrays.floats(pk)
    pk = pk / np.sum(pk, axis=axis, keepdims=True)
    if qk is None:
        terms = special.entr(pk)
    else:
        qk = given_arrays.floats(qk)
        terms = special.rel_entr(pk, qk / np.sum(qk, axis=axis, keepdims=True))
    made = np.sum(terms, axis=axis)
    return made if base is None else made / np.log(base)


def _kernel_estimate(points: Any, values: Any, xi: Any, cho_cov: Any, dtype: Any, precision: Any = None) -> Any:
    """Normal densities around ``points``, times their weights, at ``xi``: what ``gaussian_kde`` computes in C."""
    energy, size, root = _energy(points, xi, cho_cov)
    scale = np.prod(np.diag(root)) * (2 * np.pi) ** (size / 2)
    return (np.exp(-energy) @ floats(values) / scale).astype(dtype)


def _log_kernel_estimate(points: Any, values: Any, xi: Any, cho_cov: Any, dtype: Any, precision: Any = None) -> Any:
    energy, size, root = _energy(points, xi, cho_cov)
    volume = np.sum(np.log(np.diag(root))) + size / 2 * np.log(2 * np.pi)
    made, _ = log_sum(np.log(floats(values)) - energy[..., None], (1,))
    return (np.squeeze(made, 1) - volume).astype(dtype)


def _energy(points: Any, xi: Any, cho_cov: Any) -> tuple[Any, int, Any]:
    """Half the squared distance of each place from each point, how many numbers a point has, and the root."""
    root = np.tril(floats(cho_cov))
    at, around = (np.linalg.solve(root, floats(v).T).T for v in (xi, points))
    apart = at[:, None] - around
    return 0.5 * np.sum(apart * apart, axis=-1), around.shape[1], root


# SciPy takes the limits at 0 and 2 in branches, which know no slope by the parameter
@answers(_morestats._yeojohnson_transform)
def _yeo_johnson(x, lmbda, **_):
    x, lmbda = floats(x), floats(lmbda)
    is_right = x >= 0
    power = np.where(is_right, lmbda, 2 - lmbda)
    return np.where(is_right, 1.0, -1.0) * special.boxcox1p(np.where(is_right, x, -x), power)


for _name, _rule in (("", _kernel_estimate), ("_log", _log_kernel_estimate)):
    for _precision in ("float", "double", "long double"):
        answers_for(f"scipy.stats.gaussian_kernel_estimate{_name}[{_precision}]")(_rule)

"""Random numbers of traced parameters: what is drawn is a constant, moved and scaled by the parameters.

D. P. Kingma and M. Welling, Auto-Encoding Variational Bayes, 2013. The draws are NumPy's, one for one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .dispatch import refuse
from .local_array import holds_traced, value_in_run


def _size(size: Any, *parameters: Any) -> Any:
    """How many are drawn: what is said, or one for each of the parameters."""
    shape = np.broadcast_shapes(*map(np.shape, parameters))
    return size if size is not None or not shape else shape


def _not_negative(scale: Any, name: str = "scale") -> Any:
    """``scale``, which NumPy refuses where it is negative; where nobody knows, as under vmap, it is taken as it is."""
    if value_in_run(np.any(np.less(scale, 0))):
        raise ValueError(f"{name} < 0")
    return scale


def _moved_normal(generator: Any, loc: Any, scale: Any, size: Any, name: str) -> Any:
    return loc + _not_negative(scale, name) * generator.standard_normal(_size(size, loc, scale))


def _normal(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return _moved_normal(generator, loc, scale, size, "scale")


def _lognormal(generator: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    return np.exp(_moved_normal(generator, mean, sigma, size, "sigma"))


def _uniform(generator: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    return low + (high - low) * generator.random(_size(size, low, high))


def _exponential(generator: Any, scale: Any = 1.0, size: Any = None) -> Any:
    return _not_negative(scale) * generator.standard_exponential(_size(size, scale))


def _gamma(generator: Any, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
    _check(shape, "gamma", "its shape")
    return _not_negative(scale) * generator.standard_gamma(shape, _size(size, shape, scale))


def _multivariate_normal(generator: Any, mean: Any, cov: Any, *args: Any, **kwargs: Any) -> Any:
    _check(cov, "multivariate_normal", "its covariance (multiply standard_normal by a Cholesky factor)")
    return mean + generator.multivariate_normal(np.zeros(len(mean)), cov, *args, **kwargs)


def _choice(
    generator: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, **shuffle: Any
) -> Any:
    _check(p, "choice", "the probabilities")
    values = _values(a)
    return np.take(values, generator.choice(values.shape[axis], size, replace, p, **shuffle), axis)


def _permutation(generator: Any, x: Any, axis: int = 0) -> Any:
    values = _values(x)
    return np.take(values, generator.permutation(values.shape[axis]), axis)


def _values(given: Any) -> Any:
    """What is drawn from: an array, or the whole numbers below one."""
    values = given if hasattr(given, "shape") else np.asarray(given)
    return values if values.shape else np.arange(int(values))


def _check(value: Any, name: str, what: str) -> None:
    if holds_traced(value):
        refuse(f"{name} of a random generator has no derivative by {what}: what is drawn depends on it otherwise.")


_DRAWS: dict[str, Callable] = {
    "choice": _choice,
    "exponential": _exponential,
    "gamma": _gamma,
    "lognormal": _lognormal,
    "multivariate_normal": _multivariate_normal,
    "normal": _normal,
    "permutation": _permutation,
    "uniform": _uniform,
}


def draw_of(method: Any) -> Callable | None:
    """What a method of a random generator gives of traced parameters; None where nothing is known."""
    rule = _DRAWS.get(method.__name__)
    return rule and functools.partial(rule, method.__self__)

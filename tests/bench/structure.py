"""Workloads whose Jacobians and Hessians have structure: one NumPy-style function each, with formulas by hand.

A function names its array namespace ``xp``, so that one text runs under NumPy (symgrad, finite differences),
jax.numpy and torch. ``by_hand`` is what somebody with pencil and paper would write in NumPy for the derivative;
its result is nested like symgrad's. ``small`` are the sizes at which every entry is checked by differences.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Workload(NamedTuple):
    """A function ``fn(xp, *args())``, the derivative that is timed, and the formulas for it."""

    fn: Callable
    args: Callable[..., tuple]
    wrt: tuple[int, ...]
    verb: str
    by_hand: dict[str, Callable]
    small: dict[str, Any]
    sparse: bool = False
    modes: tuple[str, ...] = ()


def random() -> np.random.Generator:
    return np.random.default_rng(7)


def flat(result: Any) -> list[Any]:
    """The blocks of a nested result, outputs first."""
    return [b for r in result for b in flat(r)] if isinstance(result, (tuple, list)) else [result]


# logistic regression, a quadratic form


def logreg(xp, w, X, y):
    return xp.sum(xp.log(1.0 + xp.exp(-y * (X @ w))))


def logreg_args(m=4000, n=500):
    r = random()
    return r.normal(size=n) * 0.1, r.normal(size=(m, n)), r.choice([-1.0, 1.0], m)


def _logreg_weights(w, X, y):
    s = 1.0 / (1.0 + np.exp(y * (X @ w)))
    return y * y * s * (1.0 - s)


def logreg_hess(w, X, y):
    return (X.T * _logreg_weights(w, X, y)) @ X


def logreg_hess_gram(w, X, y):
    """``AᵀA`` with ``A = √d·X``: BLAS computes a Gram matrix with half the multiplications."""
    scaled = np.sqrt(_logreg_weights(w, X, y))[:, None] * X
    return scaled.T @ scaled


def quadratic(xp, x, A):
    return x @ (A @ x)


def quadratic_args(n=500):
    r = random()
    return r.normal(size=n), r.normal(size=(n, n))


def quadratic_hess(x, A):
    return A + A.T


# matrix factorisation with a mask


def matrix_factorisation(xp, U, V, M, Y):
    return 0.5 * xp.sum((M * (U @ V.T - Y)) ** 2)


def matrix_factorisation_args(m=120, n=100, k=8):
    r = random()
    observed = (r.uniform(size=(m, n)) < 0.7).astype(float)
    return r.normal(size=(m, k)), r.normal(size=(n, k)), observed, r.normal(size=(m, n))


def _rows_alone(weights, V):
    """The Hessian by U of shape (m, k, m, k): row i of U meets itself alone, in ``Σ_b weights_ib V_b V_bᵀ``."""
    (m, n), k = weights.shape, V.shape[1]
    gram = weights @ (V[:, :, None] * V[:, None, :]).reshape(n, k * k)
    hess = np.zeros((m, k, m, k))
    i = np.arange(m)
    hess[i, :, i, :] = gram.reshape(m, k, k)
    return hess


def matrix_factorisation_hess_u(U, V, M, Y):
    return _rows_alone(M * M, V)


def matrix_factorisation_hess_uv(U, V, M, Y):
    weights = M * M
    mixed = (weights[:, None, :] * V.T)[..., None] * U[:, None, None, :]
    rest = weights * (U @ V.T - Y)
    for k in range(U.shape[1]):
        mixed[:, k, :, k] += rest
    return (_rows_alone(weights, V), mixed), (mixed.transpose(2, 3, 0, 1), _rows_alone(weights.T, U))


# one hidden layer


def one_hidden_layer(xp, W, X, a, y):
    return 0.5 * xp.sum((xp.tanh(X @ W) @ a - y) ** 2)


def one_hidden_layer_args(N=500, d=25, h=20):
    r = random()
    return r.normal(size=(d, h)) / np.sqrt(d), r.normal(size=(N, d)), r.normal(size=h), r.normal(size=N)


def one_hidden_layer_hess(W, X, a, y):
    """Gauss-Newton's JᵀJ as a Gram matrix, and one ``Xᵀ diag(c_p) X`` a hidden unit where p = q."""
    (d, h), N = W.shape, len(y)
    T = np.tanh(X @ W)
    slope = 1.0 - T * T
    J = (X[:, :, None] * (slope * a)[:, None, :]).reshape(N, d * h)
    hess = (J.T @ J).reshape(d, h, d, h)
    curvature = (T @ a - y)[:, None] * (-2.0 * T * slope * a)
    unit = np.arange(h)
    hess[:, unit, :, unit] += (X.T * curvature.T[:, None, :]) @ X
    return hess


# Rosenbrock: a tridiagonal Hessian


def rosenbrock(xp, x):
    return xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_args(n=1_000_000):
    return (random().normal(size=n),)


def _rosenbrock_diagonals(x):
    main = np.empty_like(x)
    main[:-1] = 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
    main[-1] = 0.0
    main[1:] += 200.0
    return main, -400.0 * x[:-1]


def tridiagonal(below, main, above):
    from scipy.sparse import diags_array

    offsets: Any = (-1, 0, 1)  # the annotations of scipy have an int here
    return diags_array([below, main, above], offsets=offsets).tocsr()


def rosenbrock_hess(x):
    main, beside = _rosenbrock_diagonals(x)
    return tridiagonal(beside, main, beside)


def rosenbrock_hess_csr(x):
    """The three arrays of CSR written directly."""
    from scipy.sparse import csr_array

    n, kind = len(x), np.int32
    main, beside = _rosenbrock_diagonals(x)
    data, columns = np.empty((n, 3)), np.empty((n, 3), kind)
    data[1:, 0], data[:, 1], data[:-1, 2] = beside, main, beside
    for k in range(3):
        columns[:, k] = np.arange(k - 1, n + k - 1, dtype=kind)
    starts = np.arange(-1, 3 * n + 2, 3, dtype=kind)
    starts[0], starts[-1] = 0, 3 * n - 2
    return csr_array((data.ravel()[1:-1], columns.ravel()[1:-1], starts), shape=(n, n))


# bundle adjustment, in the form of ADBench (https://github.com/microsoft/ADBench)


def project(xp, cam, X):
    """Where a camera ``[rotation 3, center 3, focal, principal 2, distortion 2]`` sees a point, axes last.

    Xcam = R (X − C); distorted = (1 + k1 r² + k2 r⁴) Xcam[:2] / Xcam[2]; distorted · focal + principal.
    """
    x, y, z = rotate(xp, [cam[..., k] for k in range(3)], [X[..., k] - cam[..., 3 + k] for k in range(3)])
    x, y = x / z, y / z
    rsq = x * x + y * y
    distortion = 1.0 + cam[..., 9] * rsq + cam[..., 10] * rsq * rsq
    focal = cam[..., 6] * distortion
    return xp.stack([x * focal + cam[..., 7], y * focal + cam[..., 8]], axis=-1)


def rotate(xp, rot, pt):
    """Rodrigues' rotation of ``pt`` by the angle |rot| about ``rot``; where rot = 0 it is ``pt + rot × pt``."""
    sqtheta = rot[0] * rot[0] + rot[1] * rot[1] + rot[2] * rot[2]
    turned = sqtheta > 0
    theta = xp.sqrt(xp.where(turned, sqtheta, 1.0))
    cosine, sine = xp.cos(theta), xp.sin(theta)
    w = [r / theta for r in rot]
    along = (w[0] * pt[0] + w[1] * pt[1] + w[2] * pt[2]) * (1.0 - cosine)
    crossed, still = _cross(w, pt), _cross(rot, pt)
    return [xp.where(turned, pt[k] * cosine + crossed[k] * sine + w[k] * along, pt[k] + still[k]) for k in range(3)]


def _cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def reprojection(xp, cam, X, w, feat):
    """The residual of one observation; of many with leading axes and ``w`` of shape (…, 1)."""
    return w * (project(xp, cam, X) - feat)


def bundle_adjustment(xp, cams, X, w, obs, feats):
    """The residuals (p, 2) of the observations ``obs[:, 0]`` of camera, ``obs[:, 1]`` of point; ``1 − w²``."""
    return reprojection(xp, cams[obs[:, 0]], X[obs[:, 1]], w[:, None], feats), 1.0 - w * w


def bundle_adjustment_args(n=50, m=2500, p=30_000):
    """Cameras about the points, looking at them; pairs of camera and point that are seen, in ADBench's order."""
    r = random()
    cams = np.concatenate(
        [
            r.normal(size=(n, 3)) * 0.3,
            r.normal(size=(n, 3)) * 0.5 - [0.0, 0.0, 6.0],
            r.uniform(0.8, 1.2, (n, 1)),
            r.normal(size=(n, 2)) * 0.1,
            r.normal(size=(n, 2)) * 0.05,
        ],
        axis=1,
    )
    cams[0, :3] = 0.0  # a first camera that is not turned is usual
    X = r.normal(size=(m, 3))
    pairs = np.sort(r.choice(n * m, size=p, replace=False))
    obs = np.stack([pairs % n, pairs // n], axis=1).astype(np.int32)
    seen = project(np, cams[obs[:, 0]], X[obs[:, 1]])
    return cams, X, r.uniform(0.5, 1.5, p), obs, seen + r.normal(size=(p, 2)) * 0.01


# chains of tanh layers, for the choice of mode


def chain(xp, x, *layers):
    for W in layers:
        x = xp.tanh(W @ x)
    return x


def chain_args(widths):
    r = random()
    return r.normal(size=widths[0]), *[r.normal(size=(o, i)) / np.sqrt(i) for i, o in itertools.pairwise(widths)]


def chain_jac(x, *layers):
    """The product of ``diag(1 − t²) W``, multiplied in the cheapest order."""
    factors = []
    for W in layers:
        x = np.tanh(W @ x)
        factors.append((1.0 - x * x)[:, None] * W)
    return np.linalg.multi_dot(factors[::-1])


def _chain(widths: tuple[int, ...], small: tuple[int, ...]) -> Workload:
    args = functools.partial(chain_args, widths=widths)
    modes = ("forward", "reverse", "cross")
    return Workload(chain, args, (0,), "jacobian", {"hand": chain_jac}, {"widths": small}, modes=modes)


def _hessian(fn: Callable, args: Callable, small: dict[str, int], **by_hand: Callable) -> Workload:
    return Workload(fn, args, (0,), "hessian", by_hand, small)


_factors = _hessian(matrix_factorisation, matrix_factorisation_args, {"m": 3, "n": 4, "k": 2})

WORKLOADS = {
    "logreg_hess": _hessian(logreg, logreg_args, {"m": 9, "n": 4}, hand=logreg_hess, hand_gram=logreg_hess_gram),
    "quadratic_hess": _hessian(quadratic, quadratic_args, {"n": 5}, hand=quadratic_hess),
    "matrix_factorisation_hess_u": _factors._replace(by_hand={"hand": matrix_factorisation_hess_u}),
    "matrix_factorisation_hess_uv": _factors._replace(
        args=functools.partial(matrix_factorisation_args, m=90, n=80, k=6),
        wrt=(0, 1),
        by_hand={"hand": matrix_factorisation_hess_uv},
    ),
    "one_hidden_layer_hess": _hessian(
        one_hidden_layer, one_hidden_layer_args, {"N": 6, "d": 3, "h": 2}, hand=one_hidden_layer_hess
    ),
    "rosenbrock_sparse": _hessian(
        rosenbrock, rosenbrock_args, {"n": 6}, hand=rosenbrock_hess, hand_csr=rosenbrock_hess_csr
    )._replace(sparse=True),
    "bundle_adjustment": Workload(
        bundle_adjustment, bundle_adjustment_args, (0, 1, 2), "jacobian", {}, {"n": 2, "m": 3, "p": 4}, sparse=True
    ),
    "chain_tall_jac": _chain((10, 200, 400, 800), (2, 3, 5)),
    "chain_wide_jac": _chain((800, 400, 200, 10), (5, 3, 2)),
    "chain_narrow_jac": _chain((800, 400, 10, 400, 800), (5, 4, 2, 4, 5)),
}

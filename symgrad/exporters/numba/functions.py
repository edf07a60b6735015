"""What numba has not of NumPy and SciPy, or with other rules for NaN, copied into the modules that call it."""

import math

import numpy as np


def _whole_floor_divide(x, y):
    """The quotient of integers rounded down; processors trap on the smallest one by -1."""
    return 0 if y == 0 else -x if y == -1 else x // y


def _whole_remainder(x, y):
    """The remainder with the sign of the divisor."""
    return 0 if y == 0 or y == -1 else x % y


def _whole_fmod(x, y):
    """The remainder with the sign of the dividend."""
    if y == 0 or y == -1:
        return 0
    rest = x % y
    return rest - y if rest != 0 and (rest < 0) != (x < 0) else rest


def _unsigned_floor_divide(x, y):
    return x // y if y else y


def _unsigned_remainder(x, y):
    return x % y if y else y


def _erfcx(x):
    """exp(x**2) erfc(x)"""
    if x > 20:  # the asymptotic series
        r = -1 / (2 * x * x)
        term, total = 1.0, 1.0
        for k in range(1, 11):
            term *= (2 * k - 1) * r
            total += term
        return 0.564189583547756287 / x * total
    if x < -27:
        return np.inf
    near = np.rint(16 * x) / 16  # whose square is exact
    return math.exp(near * near) * math.exp((x - near) * (x + near)) * math.erfc(x)


def _gammaln(x):
    return x if math.isinf(x) else math.lgamma(x)


def _digamma(x):
    if math.isnan(x) or x == np.inf:
        return x
    if x == 0:
        return math.copysign(np.inf, -x)
    made = 0.0
    if x < 0:  # reflection
        part = x - np.rint(x)  # exact
        if part == 0 or x == -np.inf:
            return np.nan
        made = -math.pi / math.tan(math.pi * part)
        x = 1 - x
    while x < 10:  # recurrence
        made -= 1 / x
        x += 1
    r = 1 / (x * x)
    rest = r * (1 / 12 + r * (-691 / 32760 + r / 12) * r**4)
    rest += r * r * (-1 / 120 + r * (1 / 252 + r * (-1 / 240 + r / 132)))
    return made + math.log(x) - 0.5 / x - rest


def _zeta(x, q):
    """The sum of (q + k)**-x over k = 0, 1, ..., by Euler and Maclaurin."""
    if math.isnan(x) or math.isnan(q):
        return np.nan
    if x == 1:
        return np.inf
    if x < 1:
        return np.nan
    if q <= 0:
        if q == np.floor(q):
            return np.inf
        if x != np.floor(x):
            return np.nan
    if q > 1e8:
        return (1 / (x - 1) + 1 / (2 * q)) * q ** (1 - x)
    total, a, b = q**-x, q, 0.0
    turn = 0
    while turn < 9 or a <= 9:
        turn += 1
        a += 1.0
        b = a**-x
        total += b
        if abs(b / total) < 1e-17:
            return total
    total += b * a / (x - 1) - b / 2
    factor, k = 1.0, 0.0
    for divisor in (
        *(12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9, 7.47242496e10),
        *(-2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15),
        *(1.8152105401943546773e17, -7.1661652561756670113e18),
    ):
        factor *= x + k
        b /= a
        term = factor * b / divisor
        total += term
        if abs(term / total) < 1e-17:
            break
        factor *= x + k + 1
        b /= a
        k += 2
    return total


def _factorised(a):
    """The LU factors of a with its rows in another order, that order, and its sign."""
    n, lu, rows, parity = a.shape[0], a.copy(), np.arange(a.shape[0]), 1
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(lu[i, k]) > abs(lu[best, k]):
                best = i
        if best != k:
            rows[k], rows[best] = rows[best], rows[k]
            for j in range(n):
                lu[k, j], lu[best, j] = lu[best, j], lu[k, j]
            parity = -parity
        if lu[k, k] == 0:
            continue
        for i in range(k + 1, n):
            lu[i, k] /= lu[k, k]
            for j in range(k + 1, n):
                lu[i, j] -= lu[i, k] * lu[k, j]
    return lu, rows, parity


def _solve(a, b):
    """x with a x = b."""
    lu, rows, _ = _factorised(a)
    if np.any(np.diag(lu) == 0):
        raise np.linalg.LinAlgError("a matrix is singular")
    n, x = a.shape[0], b[rows]
    for i in range(n):
        for k in range(i):
            x[i] -= lu[i, k] * x[k]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= lu[i, k] * x[k]
        x[i] /= lu[i, i]
    return x


def _inverse(a):
    return _solve(a, np.eye(a.shape[0]).astype(a.dtype))


def _determinant(a):
    lu, _, parity = _factorised(a)
    return parity * np.prod(np.diag(lu))


def _log_determinant(a):
    return np.sum(np.log(np.abs(np.diag(_factorised(a)[0]))))


def _determinant_sign(a):
    lu, _, parity = _factorised(a)
    return parity * np.prod(np.sign(np.diag(lu)))


def _cholesky(a):
    """The lower triangle l with a = l l^T of a matrix, of which the lower triangle is read."""
    n, lower = a.shape[0], np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            rest = a[i, j]
            for k in range(j):
                rest -= lower[i, k] * lower[j, k]
            if i == j and not rest > 0:
                raise np.linalg.LinAlgError("a matrix is not positive definite")
            lower[i, j] = math.sqrt(rest) if i == j else rest / lower[j, j]
    return lower

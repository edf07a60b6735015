"""The text of the functions of ``library``: NumPy's rules for numbers, special functions, linear algebra, sorting."""

from __future__ import annotations

#: function -> those that it calls
NEEDS: dict[str, tuple[str, ...]] = {
    "solve": ("factorised",),
    "inverse": ("solve",),
    "determinant": ("factorised",),
    "log_determinant": ("factorised",),
    "determinant_sign": ("factorised",),
    "argsort": ("before",),
    "search_left": ("before",),
    "search_right": ("before",),
    "log_ndtr": ("erfcx",),
}

_DETERMINANT = '''
def _%s(a):
    """%s"""
    lu = np.empty(a.shape, a.dtype)
    rows = np.empty(a.shape[0], np.int64)
    parity = _factorised(a, lu, rows)
    made = 1.0 * %s
    for k in range(a.shape[0]):
        pivot = lu[k, k]
        made %s
    return made
'''

TEXTS = {
    "maximum": "def _maximum(x, y):\n    return x if x > y or math.isnan(x) else y",
    "minimum": "def _minimum(x, y):\n    return x if x < y or math.isnan(x) else y",
    "sign": "def _sign(x):\n    return 1.0 if x > 0 else -1.0 if x < 0 else x * 0 if x == 0 else x",
    "heaviside": "def _heaviside(x, y):\n    return 1.0 if x > 0 else 0.0 if x < 0 else y if x == 0 else x",
    "logaddexp": '''
def _logaddexp(x, y):
    """log(exp(x) + exp(y))"""
    if x == y:
        return x + 0.693147180559945309
    d = x - y
    return x + math.log1p(math.exp(-d)) if d > 0 else y + math.log1p(math.exp(d)) if d <= 0 else d
''',
    "logaddexp2": '''
def _logaddexp2(x, y):
    """log2(2**x + 2**y)"""
    if x == y:
        return x + 1.0
    d, e = x - y, 1.442695040888963407
    return x + e * math.log1p(np.exp2(-d)) if d > 0 else y + e * math.log1p(np.exp2(d)) if d <= 0 else d
''',
    "remainder": '''
def _remainder(x, y):
    """The remainder with the sign of the divisor."""
    rest = np.fmod(x, y)
    if rest != 0:
        return rest + y if (rest < 0) != (y < 0) else rest
    return rest if y == 0 else math.copysign(0.0, y)
''',
    "floor_divide": '''
def _floor_divide(x, y):
    """The quotient rounded down."""
    if y == 0:
        return x / y
    rest = np.fmod(x, y)
    quotient = (x - rest) / y
    if rest != 0 and (rest < 0) != (y < 0):
        quotient -= 1.0
    if quotient == 0:
        return math.copysign(0.0, x / y)
    down = np.floor(quotient)
    return down + 1.0 if quotient - down > 0.5 else down
''',
    # integers
    "maximum_int": "def _maximum_int(x, y):\n    return x if x > y else y",
    "minimum_int": "def _minimum_int(x, y):\n    return x if x < y else y",
    "sign_int": "def _sign_int(x):\n    return 1 if x > 0 else -1 if x < 0 else 0",
    "reciprocal_int": "def _reciprocal_int(x):\n    return 1 // x if x > 0 else -1 if x == -1 else 0",
    "floor_divide_int": "def _floor_divide_int(x, y):\n    return 0 if y == 0 else -x if y == -1 else x // y",
    "remainder_int": "def _remainder_int(x, y):\n    return 0 if y == 0 or y == -1 else x % y",
    "fmod_int": '''
def _fmod_int(x, y):
    """The remainder with the sign of the dividend."""
    if y == 0 or y == -1:
        return 0
    rest = x % y
    return rest - y if rest != 0 and (rest < 0) != (x < 0) else rest
''',
    "power_int": '''
def _power_int(x, y):
    """x to a power that is not negative."""
    product = 1
    while y > 0:
        if y % 2 == 1:
            product *= x
        x *= x
        y //= 2
    return product
''',
    # special functions
    "expit": "def _expit(x):\n    return 1 / (1 + math.exp(-x))",
    "logit": """
def _logit(x):
    s = 2 * (x - 0.5)  # near 1/2 the quotient loses digits
    return math.log(x / (1 - x)) if x < 0.3 or x > 0.65 else math.log1p(s) - math.log1p(-s)
""",
    "xlogy": "def _xlogy(x, y):\n    return 0.0 if x == 0 and not math.isnan(y) else x * math.log(y)",
    "erfcx": '''
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
''',
    "ndtr": "def _ndtr(x):\n    return math.erfc(-x * 0.707106781186547524) / 2",
    "log_ndtr": '''
def _log_ndtr(x):
    """The logarithm of the normal distribution."""
    z = x * 0.707106781186547524
    return math.log(_erfcx(-z) / 2) - x * x / 2 if x < -1 else math.log1p(-math.erfc(z) / 2)
''',
    "gammaln": "def _gammaln(x):\n    return x if math.isinf(x) else math.lgamma(x)",
    "digamma": """
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
""",
    "zeta": '''
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
''',
    # sorting
    "before": "def _before(x, y):\n    return x < y or (y != y and x == x)",
    "search_left": '''
def _search_left(knots, x):
    """How many of the sorted knots come before x; NaN is last."""
    low, high = 0, knots.shape[0]
    while low < high:
        middle = (low + high) // 2
        if _before(knots[middle], x):
            low = middle + 1
        else:
            high = middle
    return low
''',
    "search_right": '''
def _search_right(knots, x):
    """How many of the sorted knots do not come after x; NaN is last."""
    low, high = 0, knots.shape[0]
    while low < high:
        middle = (low + high) // 2
        if _before(x, knots[middle]):
            high = middle
        else:
            low = middle + 1
    return low
''',
    "argsort": '''
def _argsort(x, places):
    """The places of x in order, equal ones as they stand, NaN last; merged from runs of 1, 2, 4, ..."""
    n = x.shape[0]
    other = np.empty(n, np.int64)
    for i in range(n):
        places[i] = i
    run = 1
    while run < n:
        for start in range(0, n, 2 * run):
            middle, stop = min(start + run, n), min(start + 2 * run, n)
            i, j = start, middle
            for k in range(start, stop):
                if i < middle and (j >= stop or not _before(x[places[j]], x[places[i]])):
                    other[k] = places[i]
                    i += 1
                else:
                    other[k] = places[j]
                    j += 1
        places[:] = other
        run *= 2
''',
    # linear algebra
    "factorised": '''
def _factorised(a, lu, rows):
    """The LU factors of a with its rows in another order; gives the sign of that order."""
    n, parity = a.shape[0], 1
    for i in range(n):
        rows[i] = i
        for j in range(n):
            lu[i, j] = a[i, j]
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
    return parity
''',
    "solve": '''
def _solve(a, b, x):
    """x with a x = b."""
    n = a.shape[0]
    lu = np.empty(a.shape, a.dtype)
    rows = np.empty(n, np.int64)
    _factorised(a, lu, rows)
    for i in range(n):
        if lu[i, i] == 0:
            raise np.linalg.LinAlgError("a matrix is singular")
    for i in range(n):
        x[i] = b[rows[i]]
        for k in range(i):
            x[i] -= lu[i, k] * x[k]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= lu[i, k] * x[k]
        x[i] /= lu[i, i]
''',
    "inverse": "def _inverse(a, x):\n    _solve(a, np.eye(a.shape[0]).astype(a.dtype), x)",
    "determinant": _DETERMINANT % ("determinant", "det(a)", "parity", "*= pivot"),
    "log_determinant": _DETERMINANT % ("log_determinant", "log|det(a)|", "(0 * parity)", "+= math.log(abs(pivot))"),
    "determinant_sign": _DETERMINANT % ("determinant_sign", "The sign of det(a).", "parity", "*= np.sign(pivot)"),
    "cholesky": '''
def _cholesky(a, l):
    """The lower triangle l with a = l l^T, of which the lower triangle is read."""
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1):
            rest = a[i, j]
            for k in range(j):
                rest -= l[i, k] * l[j, k]
            if i == j and not rest > 0:
                raise np.linalg.LinAlgError("a matrix is not positive definite")
            l[i, j] = math.sqrt(rest) if i == j else rest / l[j, j]
        for j in range(i + 1, n):
            l[i, j] = 0
''',
}

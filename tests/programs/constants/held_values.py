"""What is not differentiated by decides, counts, looks up and is put into ``math``; calls with others follow suit."""

import bisect
import math

import numpy as np
from collection import program

X = np.array([0.5, 1.5, -0.7])


@program(X, 0.5, wrt=0, also=(X, 2.0))
def log_of_sigma(x, sigma):
    return -0.5 * np.sum(x**2) / sigma**2 - len(x) * math.log(sigma)


@program(X, np.array([True, False, True]), wrt=0, also=[(X, np.array([False, False, False])), (X, np.ones(3, bool))])
def if_any_mask(x, mask):
    if np.any(mask):
        return np.sum(x[mask] ** 2)
    return np.sum(x)


@program(X, np.array([1.0, -1.0, 0.5]), wrt=0, also=(X, np.array([1.0, 1.0, 0.5])))
def choose_by_sign(x, w):
    total = 0.0
    for xi, wi in zip(x, w):
        if wi > 0:
            total += wi * xi**2
        else:
            total += abs(wi) * xi
    return total


@program(2.0, 1e-3, wrt=0, also=[(2.0, 1e-9), (5.0, 0.5)])
def loop_to_a_tolerance(a, tol):
    x, err = 1.0, 1.0
    while err > tol:
        new = 0.5 * (x + a / x)
        err = abs(float(new) - float(x))
        x = new
    return x


@program(
    0.7,
    np.array([0.0, 0.5, 1.0, 1.5]),
    np.array([1.0, 2.0, 1.5, 0.5]),
    wrt=(0, 2),
    also=(1.2, np.array([0.0, 0.5, 1.0, 1.5]), np.array([1.0, 2.0, 1.5, 0.5])),
)
def table_look_up(t, knots, values):
    k = np.searchsorted(knots, t) - 1
    s = (t - knots[k]) / (knots[k + 1] - knots[k])
    return (1 - s) * values[k] + s * values[k + 1]


@program(X, 0.7, wrt=0, also=(X, 1.2))
def bisect_of_a_held_time(x, t):
    grid = [0.0, 0.5, 1.0, 1.5]
    return x[bisect.bisect(grid, t) - 1] ** 2 * t


@program(X, {"steps": 3, "rate": 0.1, "name": "sgd"}, wrt=0, also=[(X, {"steps": 2, "rate": 0.2, "name": "momentum"})])
def options_in_a_dict(x, options):
    v = np.zeros(3)
    for _ in range(options["steps"]):
        g = 2 * x + np.cos(x)
        if options["name"] == "momentum":
            v = 0.9 * v + g
        else:
            v = g
        x = x - options["rate"] * v
    return x


@program(X, np.array([2, 0, 1]), wrt=0, also=(X, np.array([0, 0, 2])))
def permuted(x, order):
    return x[order] * np.arange(3) + x[int(order[0])]


@program(X, np.array([0, 2, 1, 0]), wrt=0, also=(X, np.array([1, 1, 1, 2])))
def counts_by_label(x, labels):
    out = np.zeros(3)
    for label in labels:
        out[label] += x[label] ** 2
    return out / np.bincount(labels, minlength=3).clip(1)


@program(X, np.array([0, 2, 1, 0]), wrt=0, also=(X, np.array([1, 1, 1, 2])))
def one_hot_by_eye(x, labels):
    hot = np.eye(3)[labels]
    return -np.sum(hot * (x - np.log(np.sum(np.exp(x)))))


@program(X, np.array([[0, 1], [1, 2], [0, 2]]), wrt=0, also=(X, np.array([[0, 1], [1, 0]])))
def edges_of_a_graph(x, edges):
    energy = 0.0
    for i, j in edges:
        energy += (x[i] - x[j]) ** 2
    return energy / len(edges)


@program(X, np.array([0.3, np.nan, 0.8]), wrt=0, also=(X, np.array([0.3, 0.2, np.nan])))
def missing_data(x, y):
    seen = ~np.isnan(y)
    return np.sum((x[seen] - y[seen]) ** 2) / seen.sum()


@program(X, np.array([0.3, np.nan, 0.8]), wrt=0, also=(X, np.array([0.3, 0.2, 0.1])))
def missing_data_by_loop(x, y):
    total, n = 0.0, 0
    for xi, yi in zip(x, y):
        if math.isnan(yi):
            continue
        total += (xi - float(yi)) ** 2
        n += 1
    return total / n


@program(X, 1.5, wrt=0, also=[(X, 0.5), (X, 1.0)])
def tsallis(x, q):
    p = np.exp(x) / np.sum(np.exp(x))
    if math.isclose(q, 1.0):
        return -np.sum(p * np.log(p))
    return (1 - np.sum(p**q)) / (q - 1)


@program(X, 2, wrt=0, also=[(X, 1), (X, np.inf)])
def p_norm(x, p):
    if p == 1:
        return np.sum(np.abs(x))
    if p == np.inf:
        return np.max(np.abs(x))
    return np.sum(np.abs(x) ** p) ** (1 / p)


@program(0.4, 1.5, 2.0, wrt=0, also=(0.4, 2.5, 0.5))
def gamma_density(x, shape, scale):
    return x ** (shape - 1) * math.exp(-x / scale) / (math.gamma(shape) * scale**shape)


@program(X, 3.7, wrt=0, also=(X, 2.2))
def floor_of_held(x, t):
    k = int(np.floor(t)) - 1
    return x[:k].sum() ** 2 + (t - math.floor(t)) * x[0]


@program(X, np.array([0.1, 0.4, 0.2]), wrt=0, also=(X, np.array([0.9, 0.4, 0.2])))
def sorted_held(x, w):
    order = np.argsort(w)
    ranked = sorted(w.tolist())
    return np.sum(x[order] * np.array(ranked)) + x[w.argmax()] ** 2


@program(X, np.array([0.1, 0.4, 0.2]), wrt=0, also=(X, np.array([0.9, 0.4, 0.2])))
def median_split(x, w):
    cut = float(np.median(w))
    high = [k for k in range(3) if w[k] >= cut]
    low = [k for k in range(3) if w[k] < cut]
    return sum(x[k] ** 2 for k in high) - sum(x[k] for k in low)


@program(X, np.array([[1.0, 0.2], [0.2, 2.0]]), wrt=0, also=(X, np.array([[1.0, 3.0], [3.0, 2.0]])))
def if_positive_definite(x, A):
    if np.all(np.linalg.eigvalsh(A) > 0):
        return x[:2] @ A @ x[:2]
    return x[:2] @ x[:2]


@program(X, np.array([[1.0, 0.2], [0.2, 2.0]]), wrt=0)
def eigen_of_held(x, A):
    w, V = np.linalg.eigh(A)
    return np.sum(w * (V.T @ x[1:]) ** 2)


@program(X, "periodic", wrt=0, also=[(X, "zero"), (X, "reflect")])
def boundary_by_name(x, boundary):
    n = len(x)
    out = np.zeros(n)
    for i in range(n):
        if boundary == "periodic":
            left = x[(i - 1) % n]
        elif boundary == "zero":
            left = x[i - 1] if i > 0 else 0.0
        else:
            left = x[abs(i - 1)]
        out[i] = (x[i] - left) ** 2
    return out


@program(X, np.array([1.0, 2.0]), np.array([1.0, 2.0]), wrt=0, also=(X, np.array([1.0, 2.0]), np.array([1.0, 2.5])))
def if_data_equal(x, a, b):
    if np.array_equal(a, b):
        return np.sum(x)
    return np.sum(x) * np.max(np.abs(a - b))


@program(X, 0.5, wrt=0, also=[(X, 0.0), (X, -1.0)])
def none_like_penalties(x, lam):
    loss = np.sum(x**2)
    if lam:
        loss += lam * np.sum(np.abs(x))
    return loss


@program(X, None, wrt=0, also=(X, np.array([1.0, 2.0, 3.0])))
def optional_weights(x, weights):
    if weights is None:
        weights = np.ones(len(x)) / len(x)
    weights = weights / weights.sum()
    return weights @ x**2


@program(X, [0.1, 0.5], wrt=0, also=(X, [0.2, 0.3, 0.4]))
def list_of_rates(x, rates):
    for r in rates:
        x = x - r * np.sin(x)
    return x


@program(X, 10, wrt=0, also=(X, 3))
def windowed(x, width):
    half = min(width // 2, len(x) - 1)
    return np.array([np.mean(x[max(0, i - half) : i + half + 1]) ** 2 for i in range(len(x))])


@program(0.3, 0.02, 5, wrt=0, also=(0.3, 0.05, 7))
def annuity(payment, rate, years):
    value = 0.0
    for year in range(1, years + 1):
        value += payment / (1 + rate) ** year
    return value * math.exp(-rate)


@program(X, 1.0, 0.25, wrt=0, also=(X, 1.0, 0.1))
def steps_from_a_float(x, T, dt):
    n = int(round(T / dt))
    for _ in range(n):
        x = x + dt * np.tanh(x)
    return x


@program(X, np.array([0.0, 0.1, 0.3]), wrt=0, also=(X, np.array([0.0, 0.2, 0.7])))
def adaptive_steps(x, times):
    for t0, t1 in zip(times[:-1], times[1:]):
        n = max(1, math.ceil((t1 - t0) / 0.1 - 1e-9))
        h = (t1 - t0) / n
        for _ in range(n):
            x = x - h * x**2
    return x


@program(X, np.array([1.0, 0.5]), wrt=0)
def math_of_held(x, p):
    c = math.sin(p[0]) + math.sqrt(p[1]) * math.erf(p[0])
    return c * np.sum(x**2) + float(p[1]) * x[0]


@program(X, np.array([3.0, 1.0, 2.0]), wrt=0, also=(X, np.array([3.0, 4.0, 2.0])))
def asserted_held(x, t):
    assert np.all(t > 0), "times must be positive"
    assert not np.any(np.isnan(t))
    if not np.all(np.diff(t) > 0):
        order = np.argsort(t)
        x, t = x[order], t[order]
    return np.trapezoid(x**2, t)


@program(X, np.array([3.0, 1.0, 2.0]), wrt=0)
def printed_held(x, t):
    label = f"{t[0]:.2f}|{t.mean():8.3f}|{t}"
    return np.sum(x * t) * len(label.split("|"))


@program(X, {1: 0.5, 2: 1.5}, 1, wrt=0, also=(X, {1: 0.5, 2: 1.5}, 2))
def looked_up_in_a_dict(x, table, key):
    return table[key] * np.sum(x**2)


LOOKUP = {"low": 0.1, "high": 2.0}


@program(X, 0.3, wrt=0, also=(X, 0.9))
def looked_up_by_level(x, level):
    rate = LOOKUP["low" if level < 0.5 else "high"]
    return rate * np.sum(np.exp(x))


@program(X, np.array([1, 3]), wrt=0, also=(X, np.array([2, 2])))
def shape_from_an_array(x, shape):
    M = np.zeros(tuple(shape) if shape[0] == 1 else (2, 2))
    M.flat[: min(3, M.size)] = x[: min(3, M.size)]
    return M * shape[1]


@program(X, 0.1, wrt=0, also=(X, 0.6))
def soft_threshold(x, lam):
    out = []
    for v in x:
        if v > lam:
            out.append(v - lam)
        elif v < -lam:
            out.append(v + lam)
        else:
            out.append(0.0 * v)
    return np.array(out) ** 2


@program(X, np.array([0.1, 0.2, 0.3]), 2, wrt=0, also=(X, np.array([0.1, 0.2, 0.3]), 0))
def slice_by_held_index(x, w, k):
    return np.sum(x[:k] * w[:k]) + np.sum(x[k:]) ** 2


@program(X, np.array([0.3, 0.9, 0.2]), wrt=0, also=(X, np.array([0.3, 0.1, 0.2])))
def dropout_by_mask(x, u, p=0.5):
    keep = (u > p).astype(float)
    if keep.sum() == 0:
        return np.sum(x) * 0.5
    return np.sum(x * keep) / keep.sum()


@program(X, np.array([2.0, 5.0]), wrt=0, also=(X, np.array([5.0, 2.0])))
def held_by_max(x, bounds):
    lo, hi = min(bounds), max(bounds)
    return np.sum(lo + (hi - lo) / (1 + np.exp(-x))) * (1 if bounds[0] < bounds[1] else -1)


@program(X, np.array([0.0, 1.0, 0.0]), wrt=0, also=(X, np.array([0.0, 0.0, 0.0])))
def nonzero_entries(x, sparse):
    rows = np.nonzero(sparse)[0]
    if rows.size == 0:
        return np.sum(x)
    return np.sum(x[rows] * sparse[rows]) ** 2


@program(X, ("a", "b", "a"), wrt=0, also=(X, ("b", "b", "a")))
def groups_by_text(x, names):
    total = 0.0
    for name in np.unique(names):
        total += np.mean(x[np.array(names) == name]) ** 2
    return total


@program(X, np.array([0.2, 0.7, 1.4]), wrt=0, also=(X, np.array([0.2, 0.3, 0.4])))
def digitized(x, t):
    bins = np.digitize(t, [0.5, 1.0])
    out = np.zeros(3)
    np.add.at(out, bins, x**2)
    return out


@program(X, np.array([1.0, 2.0, 2.5]), wrt=0, also=(X, np.array([2.0, 2.1, 2.15])))
def held_loop_to_convergence(x, a):
    m = a.copy()
    while m.max() - m.min() > 0.5:
        m = 0.5 * (m + m.mean())
    return np.sum(x**2 * m)


@program(X, np.array([4.0, 1.0, 9.0]), wrt=0, also=(X, np.array([1.0, 16.0, 4.0])))
def held_accumulators(x, a):
    total, best = 0.0, -math.inf
    for v in a:
        total += math.sqrt(v)
        if v > best:
            best = v
    return np.sum(x) * total / best


@program(X, 6, wrt=0, also=(X, 9))
def whole_number_arithmetic(x, n):
    k, r = divmod(n, 4)
    primes = [p for p in range(2, n) if all(p % q for q in range(2, p))]
    return x[k % 3] ** 2 * r + len(primes) * x[0]


@program(np.array([0.5, 1.0]), np.array([0.2, 0.4]), wrt=1, also=(np.array([0.2, 1.0]), np.array([0.2, 0.4])))
def second_is_differentiated(t, w):
    if t[0] >= 0.5:
        w = w * float(t[0])
    return math.fsum(w) * np.interp(float(t[1]), [0.0, 2.0], [0.0, 1.0])

"""Each way in which NumPy makes an array of numbers that are there one by one."""

import math
from functools import reduce

import numpy as np
from collection import program


@program(np.array([1.2, -0.7]))
def asarray_of_tuple(x):
    return np.asarray((x[0] * x[1], np.exp(x[0]), 3.0))


@program(np.array([1.2, -0.7]))
def asanyarray_nested(x):
    return np.asanyarray([[x[0], x[1] ** 2], [0.0, x[0] - x[1]]])


@program(np.array([1.2, 0.7, 0.5]))
def ascontiguous_of_rows(x):
    rows = [x, x[::-1], 2 * x]
    return np.ascontiguousarray(rows) @ x


@program(np.array([[1.0, 2.0], [3.0, 5.0]]))
def ascontiguous_transposed(A):
    return np.ascontiguousarray(A.T) ** 2 @ np.array([1.0, -1.0])


@program(np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[0.3], [0.1]]), wrt=(0, 1))
def saddle_point(H, a):
    """A KKT matrix of blocks, and its determinant."""
    K = np.block([[H, a], [a.T, np.zeros((1, 1))]])
    return np.linalg.det(K)


@program(np.array([0.5, 1.5]), 2.0, wrt=(0, 1))
def block_of_scalars(x, s):
    return np.block([[x[0], x[1]], [s, x[0] * s]])


@program(np.array([0.5, 1.5, 2.5]))
def r_of_scalars(x):
    return np.r_[x[0], 0.0, x[1:] ** 2, [x[2], 1.0]]


@program(np.array([0.5, 1.5, 2.5]))
def c_of_columns(x):
    return np.c_[x, x**2, np.ones(3)] @ np.array([1.0, 0.5, 0.25])


@program(np.array([0.5, 1.5, 2.5]), np.array([0.2, 0.1]), wrt=(0, 1))
def design_matrix(t, coef):
    A = np.c_[np.sin(t), np.cos(t)]
    return A.dot(coef)


@program(np.array([0.5, 1.5, 2.5]))
def padded_by_r(u):
    u = np.r_[u[0], u, u[-1]]
    return u[2:] - 2 * u[1:-1] ** 2 + u[:-2]


@program(np.array([0.5, 1.5, 2.5]))
def fromiter_generator(x):
    return np.fromiter((v * v + k for k, v in enumerate(x)), dtype=float)


@program(np.array([0.5, 1.5, 2.5]))
def fromiter_counted(x):
    return np.fromiter(map(lambda v: np.sin(v) / v, x), float, count=3)


@np.vectorize
def huber(r):
    if abs(r) < 1:
        return 0.5 * r * r
    return abs(r) - 0.5


@program(np.array([0.5, 1.5, -2.5, 0.1]), also=(np.array([1.5, 0.2, 0.3, -4.0]),))
def vectorized_huber(r):
    return np.sum(huber(r))


@program(np.array([0.5, 1.5, -2.5]), 0.3, wrt=(0, 1))
def vectorized_of_two(x, a):
    f = np.vectorize(lambda v, w: v * w if v > 0 else v * w**2)
    return f(x, a)


@program(np.array([[0.5, 1.5], [2.5, 0.7]]))
def vectorized_math(x):
    f = np.vectorize(lambda v: math.exp(-v) * math.sin(v), otypes=[float])
    return f(x)


@program(np.array([[0.5, 1.5, -1.0], [2.5, 0.7, 0.2]]))
def along_axis_norm(A):
    return np.apply_along_axis(lambda row: np.sqrt(row @ row), 1, A)


@program(np.array([[0.5, 1.5, -1.0], [2.5, 0.7, 0.2]]))
def along_axis_of_vectors(A):
    def softmax(column):
        e = np.exp(column - np.max(column))
        return e / e.sum()

    return np.apply_along_axis(softmax, 0, A) ** 2


@program(np.array([0.5, 1.5, 2.5]))
def frompyfunc_cubes(x):
    cube = np.frompyfunc(lambda v: v**3 - v, 1, 1)
    return np.sum(cube(x))


@program(np.array([0.5, 1.5, 2.5]), np.array([1.0, 2.0, 3.0]), wrt=(0, 1))
def frompyfunc_cast(x, y):
    f = np.frompyfunc(lambda a, b: a * b + math.sin(a), 2, 1)
    return f(x, y).astype(float)


@program(np.array([0.5, 1.5, 2.5]))
def list_comprehension(x):
    return np.array([sum(x[: k + 1]) for k in range(len(x))])


@program(np.array([0.5, 1.5, 2.5]))
def nested_comprehension(x):
    return np.array([[np.exp(-((a - b) ** 2)) for a in x] for b in x])


@program(np.array([[0.0, 1.0], [2.0, 0.5], [1.0, 1.0]]), 0.8, wrt=(0, 1))
def gram_of_kernel(X, length):
    n = X.shape[0]
    K = np.array([[np.exp(-0.5 * np.sum((X[i] - X[j]) ** 2) / length**2) for j in range(n)] for i in range(n)])
    return np.linalg.slogdet(K + 0.1 * np.eye(n))[1]


@program(np.array([0.5, 1.5, 2.5]))
def vandermonde_by_hand(x):
    cols = []
    for p in range(4):
        cols.append(x**p)
    return np.array(cols).T @ np.array([1.0, -1.0, 0.5, 0.1])


@program(np.array([0.5, 1.5]))
def stack_of_lists(x):
    top = np.hstack([x, [x[0] + x[1]]])
    bottom = np.hstack(([1.0], x))
    return np.vstack([top, bottom]) @ np.stack([x[0], 2.0, x[1]])


@program(np.array([0.5, 1.5]))
def column_stack_of_array(x):
    a = np.array([x[0], x[1], x[0] * x[1]])
    return np.column_stack([a, a**2, np.ones(3)])


@program(np.array([0.5, 1.5]))
def concatenate_of_lists(x):
    return np.concatenate(([x[0] ** 2], x, [0.0, x[1]]))


@program(np.array([0.5, 1.5]))
def array_of_arrays_and_zeros(x):
    A = np.array([x, np.zeros(2), [x[0], 1.0]])
    return A.T @ A


@program(np.array([0.5, 1.5]))
def array_ndmin_and_dtype(x):
    row = np.array([x[0], 2, x[1]], dtype=np.float64, ndmin=2)
    return row.T @ row


@program(np.array([0.5, 1.5]))
def array_copy_of_traced(x):
    y = np.array(x)
    y[0] = y[0] ** 2
    return np.array([x[0], y[0], y[1]])


@program(np.array([0.5, 1.5]), also=(np.array([2.5, 1.5]),))
def branch_of_made(x):
    y = np.array([x[0] - 1, x[1]])
    if y[0] > 0:
        return y * 2
    return np.array([y[1], y[0] ** 2])


@program(np.array([0.3, 0.7]), {"a": 0.5, "b": np.array([1.0, 2.0])})
def of_a_dict(x, p):
    return np.array([p["a"] * x[0], x[1] ** 2 * p["b"][0], np.sum(p["b"] ** 2)])


@program(np.array([0.5, 1.5]))
def reduce_of_matrices(x):
    steps = [np.array([[1.0, v], [0.0, 1.0]]) @ np.array([[1.0, 0.0], [-v, 1.0]]) for v in x]
    return reduce(np.matmul, steps)


@program(np.array([0.6, 1.1]), np.array([0.1, 0.4, 0.9]), wrt=(0, 1))
def ray_transfer(focal, gaps):
    """ABCD matrices of lenses."""
    M = np.eye(2)
    for f, d in zip(focal, gaps):
        M = np.array([[1, d], [0, 1]]) @ M
        M = np.array([[1, 0], [-1 / f, 1]]) @ M
    return np.array([[1, gaps[-1]], [0, 1]]) @ M


@program(np.array([1.0, 2.0, 4.0]), 5.0, wrt=(0, 1))
def circuit_nodes(R, V):
    """Node voltages of a ladder."""
    g1, g2, g3 = 1 / R[0], 1 / R[1], 1 / R[2]
    G = np.array([[g1 + g2, -g2], [-g2, g2 + g3]])
    return np.linalg.solve(G, np.array([g1 * V, 0.0]))


@program(np.array([0.8, 0.3, 0.1]), np.array([0.4, 3.0, 10.0]), wrt=(0, 1))
def robertson(y, k):
    r1 = k[0] * y[0]
    r2 = k[1] * y[1] * y[2]
    r3 = k[2] * y[1] ** 2
    return np.array([-r1 + r2, r1 - r2 - r3, r3 / 10])


@program(np.array([1.1, 0.9]))
def rosenbrock_residuals(x):
    return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])


@program(np.array([1.0, 0.5, 0.3]), also=(np.array([-1.0, 0.5, 0.3]),))
def helical_valley(x):
    if x[0] > 0:
        theta = np.arctan(x[1] / x[0]) / (2 * np.pi)
    else:
        theta = np.arctan(x[1] / x[0]) / (2 * np.pi) + 0.5
    f = np.array([10 * (x[2] - 10 * theta), 10 * (np.sqrt(x[0] ** 2 + x[1] ** 2) - 1), x[2]])
    return f.dot(f)


@program(np.array([0.2, 0.5]), np.array([[1.0, 0.1], [0.1, 0.5]]), wrt=(0, 1))
def kalman_predict(x, P, dt=0.1):
    F = np.array([[1, dt], [0, 1]])
    jac = np.array([[1.0, 0.0], [np.cos(x[0]) * dt, 1.0]])
    return F @ x, jac @ P @ jac.T + np.diag([0.01, 0.02])


@program(np.array([100.0, 0.2]), wrt=0)
def strikes_to_prices(p):
    """Payoffs over a grid of strikes."""
    return np.array([max(p[0] * (1 + p[1]) - k, 0.0) for k in (80.0, 100.0, 110.0, 150.0)])


@program(np.array([0.5, 1.5, 2.5]))
def atleast_2d_of_list(x):
    return np.atleast_2d([x[0], x[1]]).T * np.atleast_1d(x[2])


@program(np.array([0.5, 1.5, 2.5]))
def diag_of_list(x):
    return np.diag([x[0], x[1] ** 2, 1.0]) + np.diag([x[2], x[2]], 1)


@program(np.array([0.5, 1.5, 2.5]))
def mean_of_a_list(x):
    return np.mean([x[0], x[1] * x[2], 4.0]) + np.max([x[0], x[1]]) + np.dot([x[0], 1.0], [x[1], x[2]])


@program(np.array([0.5, 1.5, 2.5]))
def array_of_generator_list(x):
    lengths = np.array(list(map(np.exp, x)))
    return np.linalg.norm(np.array([lengths, [v**2 for v in x]]), axis=0)


@program(np.array([0.5, 1.5, 2.5]))
def where_of_made(x):
    y = np.array([v - 1 for v in x])
    return np.where(y > 0, y, np.array([x[0], x[0], 2 * x[0]]))


@program(np.array([0.5, 1.5, 2.5]))
def polynomial_of_coefficients(x):
    return np.polyval([x[0], 0.0, x[1]], x[2]) + np.interp(x[2], [0.0, 3.0], [x[0], x[1]])


@program(np.array([0.5, 1.5, 2.5]))
def array_subtracted_from_list(x):
    return [1.0, x[0], 2.0] - x + np.array([x[1]] * 3)


@program(3, np.array([0.5, 1.5]), wrt=1, also=(5, np.array([0.5, 1.5])))
def powers_up_to(n, x):
    return np.array([x[0] ** k * x[1] for k in range(n)])


@program(np.array([0.4, 0.8]))
def dtype_kept_float32_table(x):
    table = np.array([1, 2, 3])
    return np.array([x[0] * t for t in table]) + np.array(x[1])


@program(np.array([0.4, 0.8]))
def empty_then_grow(x):
    out = np.array([])
    for v in x:
        out = np.append(out, [v, v**2])
    return out


@program(np.array([0.4, 0.8]))
def insert_and_delete(x):
    y = np.insert(np.array([x[0], x[1], 1.0]), 1, x[0] * x[1])
    return np.delete(y, 0)

"""Each way in which NumPy writes into an array: indices of all kinds, functions that fill, ``out=`` and views."""

import numpy as np
from collection import program


@program(np.array([0.5, -1.5, 2.5]))
def into_zeros(x):
    y = np.zeros(3)
    y[0] = x[0] * x[1]
    y[1] = np.sin(x[2])
    y[2] = y[0] + y[1]
    return y


@program(np.array([0.5, -1.5, 2.5]))
def into_empty_like_constant(x, table=np.array([1.0, 2.0, 3.0])):
    y = np.empty_like(table)
    y[:] = table * x
    y[1] *= 2
    return y


@program(np.array([0.5, -1.5, 2.5]))
def into_zeros_like_constant(x, table=np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.5]])):
    y = np.zeros_like(table)
    y[0] = x
    y[1, ::2] = x[:2] ** 2
    return y * table


@program(np.array([0.5, -1.5, 2.5]))
def into_ones_by_product(x):
    w = np.ones(4)
    for k in range(3):
        w[k + 1] = w[k] * x[k]
    return w


@program(np.array([0.5, -1.5, 2.5]))
def into_full(x):
    y = np.full(3, 7.0)
    y[1:] = x[1:] - x[:-1]
    return y**2


@program(np.array([0.5, -1.5, 2.5]))
def into_eye(x):
    R = np.eye(3)
    c, s = np.cos(x[0]), np.sin(x[0])
    R[0, 0], R[0, 1] = c, -s
    R[1, 0], R[1, 1] = s, c
    return R @ x


@program(np.array([0.5, -1.5, 2.5]))
def into_array_of_constants(x):
    a = np.array([1.0, 2.0, 3.0])
    a[0] = x[0]
    a += x
    return a * a


START = np.array([1.0, 2.0, 3.0])


@program(np.array([0.5, -1.5, 2.5]))
def into_copy_of_global(x):
    a = START.copy()
    a[1] += x[1] ** 2
    b = np.copy(START)
    b[::2] *= x[::2]
    return a + b + START


@program(np.array([0.5, -1.5, 2.5]))
def leaky_relu(y):
    y = y.copy()
    y[y < 0] *= 0.1
    return y


@program(np.array([0.5, -1.5, 2.5]))
def boolean_of_computed(x):
    y = np.zeros(3)
    y[:] = x**2
    y[y > 1] = 1.0 + np.log(y[y > 1])
    y[~(x > 0)] = 0.5
    return y


@program(np.array([0.5, -1.5, 2.5]))
def fancy_indices(x):
    y = np.zeros(5)
    y[[0, 3, 4]] = x
    y[np.array([1, 2])] = x[0] * x[1]
    y[[0, 1]] += y[[3, 4]]
    return y


@program(np.array([0.5, -1.5, 2.5]))
def scatter_add_at(x):
    out = np.zeros(2)
    np.add.at(out, [0, 1, 0], x**2)
    return out


@program(np.array([0.5, -1.5, 2.5, 1.0]))
def add_at_in_rows(x):
    M = np.zeros((2, 3))
    np.add.at(M, ([0, 1, 1, 0], [2, 0, 0, 2]), x)
    return M**2


@program(np.array([0.5, -1.5, 2.5]))
def with_put(x):
    y = np.zeros((2, 2))
    np.put(y, [0, 3], [x[0], x[1] * x[2]])
    return y


@program(np.array([0.5, -1.5, 2.5]))
def with_fill_diagonal(x):
    A = np.ones((3, 3))
    np.fill_diagonal(A, x)
    return A @ A


@program(np.array([0.5, -1.5, 2.5]))
def fill_diagonal_of_made(x):
    K = np.outer(x, x)
    np.fill_diagonal(K, 1.0)
    return K


@program(np.array([0.5, -1.5, 2.5]))
def with_copyto(x):
    a = np.zeros(3)
    np.copyto(a, x**2)
    b = np.ones(3)
    np.copyto(b, x, where=np.array([True, False, True]))
    return a * b


@program(np.array([0.5, -1.5, 2.5]))
def with_out(x):
    buf = np.empty(3)
    np.multiply(x, x, out=buf)
    np.add(buf, x, out=buf)
    np.sin(buf, buf)
    return buf


@program(np.array([0.5, -1.5, 2.5]))
def out_of_a_slice(x):
    buf = np.zeros((2, 3))
    np.exp(x, out=buf[0])
    np.cumsum(x, out=buf[1])
    return buf


@program(np.array([[0.5, -1.5], [2.5, 1.0]]), np.array([1.0, 0.5]), wrt=(0, 1))
def out_of_products(A, v):
    r = np.empty(2)
    np.dot(A, v, out=r)
    s = np.empty(2)
    np.sum(A, axis=0, out=s)
    return r * s


@program(np.array([0.5, -1.5, 2.5]))
def append_in_a_loop(x):
    y = np.zeros(1)
    for v in x:
        y = np.append(y, y[-1] + v * v)
    return y


@program(np.array([0.5, -1.5, 2.5]))
def insert_into_constants(x):
    y = np.insert(np.array([1.0, 2.0]), [0, 1], [x[0], x[1]])
    return np.insert(y, 2, x[2]) ** 2


@program(np.array([0.5, -1.5, 2.5]))
def accumulate_in_place(x):
    acc = np.zeros(2)
    for k in range(3):
        acc += np.array([x[k], x[k] ** 2])
        acc *= 1.5
    return acc


@program(np.array([0.5, -1.5, 2.5]))
def broadcast_writes(x):
    M = np.zeros((2, 3))
    M[...] = x
    M[:, 0] = x[1]
    M[1] -= 1.0
    M[:, 1:] *= x[0]
    return M


@program(np.array([0.5, -1.5, 2.5]))
def negative_and_stepped(x):
    y = np.zeros(7)
    y[-1] = x[0]
    y[-3::-2] = x
    return np.cumsum(y)


@program(np.array([0.5, 1.5, 2.5]))
def integers_stay_whole(x):
    """A table of whole numbers is written beside one of floats."""
    count = np.zeros(3, dtype=int)
    value = np.zeros(3)
    for k, v in enumerate(x):
        count[k % 2] += 1
        value[k % 2] += v**2
    return value / np.maximum(count, 1)


@program(np.array([0.5, 1.5, 2.5]), also=(np.array([3.5, 1.5, 2.5]),))
def argmax_is_written(x):
    y = np.zeros(3)
    y[np.argmax(x)] = x.max() ** 2
    return y + x


@program(np.array([0.5, 1.5, 2.5]))
def structured_helper(x):
    def fill(out, k, v):
        out[k] = v * v

    y = np.zeros(3)
    for k in range(3):
        fill(y, k, x[k])
    return y


@program(np.array([0.5, 1.5, 2.5]))
def dict_of_buffers(x):
    state = {"p": np.zeros(2), "q": np.ones(2)}
    for k in range(2):
        state["p"][k] = x[k] * x[k + 1]
        state["q"] -= 0.1 * state["p"]
    return state


@program(np.array([0.5, 1.5, 2.5]))
def fill_and_itemset(x):
    a = np.empty(3)
    a.fill(x[0])
    b = np.empty(2)
    b.fill(0.0)
    b[0] = a.sum()
    b[1] = x[1] * x[2]
    return b, a


@program(np.array([0.5, 1.5, 2.5]))
def place_and_putmask(x):
    y = np.zeros(3)
    y += x
    np.putmask(y, np.array([False, True, False]), x * 3)
    np.place(y, np.array([True, False, False]), x[2:])
    return y


@program(np.array([0.5, 1.5, 2.5]))
def put_along_axis(x):
    M = np.zeros((2, 3))
    np.put_along_axis(M, np.array([[0, 1, 2], [2, 1, 0]]), np.array([x, x**2]), axis=1)
    return M


@program(np.array([0.5, 1.5, 2.5]))
def meshgrid_writes(x):
    i, j = np.meshgrid(np.arange(3), np.arange(3), indexing="ij")
    K = np.zeros((3, 3))
    K[i, j] = x[i] * x[j] ** 2
    K[np.tril_indices(3, -1)] = 0
    return K


@program(np.array([0.5, 1.5, 2.5]))
def triangular_from_vector(x):
    L = np.zeros((2, 2))
    L[np.tril_indices(2)] = x
    L[np.diag_indices(2)] = np.exp(L[np.diag_indices(2)])
    return L @ L.T


@program(np.array([0.5, 1.5, 2.5]))
def subtract_at_and_maximum(x):
    y = np.ones(3)
    np.subtract.at(y, [0, 0, 2], x)
    z = np.zeros(3)
    np.maximum(y, x * 0.7, out=z)
    return z * x


@program(np.array([0.5, 1.5, 2.5]))
def augmented_kinds(x):
    y = np.full(3, 2.0)
    y /= x
    y **= 2
    y -= x[::-1]
    y[1] /= x[1]
    y[:2] **= 3
    return y


@program(np.array([0.5, 1.5, 2.5]), np.array([2.0, 0.1, 0.4]), wrt=(0, 1))
def where_argument(x, y):
    out = np.zeros(3)
    np.divide(x, y, out=out, where=np.array([True, False, True]))
    return out

"""Writes through views: reshaped, transposed, sliced, row by row, and seen from the other side."""

import numpy as np
from collection import program


@program(np.array([0.5, -1.5, 2.5]))
def through_reshape(x):
    M = np.zeros((2, 3))
    flat = M.reshape(-1)
    flat[:3] = x
    flat[4] = x[0] * x[1]
    return M


@program(np.array([0.5, -1.5, 2.5]))
def through_ravel(x):
    M = np.zeros((2, 3))
    M.ravel()[::2] = x
    return M @ x


@program(np.array([0.5, -1.5, 2.5]))
def through_transpose(x):
    M = np.zeros((3, 2))
    T = M.T
    T[0] = x
    T[1, 1:] = x[1:] ** 2
    return M


@program(np.array([0.5, -1.5, 2.5]))
def through_rows(x):
    M = np.zeros((2, 3))
    for row in M:
        row[0] = x[0]
        row[1:] = x[1:] * x[0]
    return M


@program(np.array([0.5, -1.5, 2.5]))
def through_slices_of_slices(x):
    M = np.zeros((4, 4))
    block = M[1:, 1:]
    inner = block[::2, ::2]
    inner[0, 0] = x[0]
    inner[1] = x[1:]
    M[3] += 1.0
    return M, block * 2


@program(np.array([0.5, -1.5, 2.5]))
def diagonal_view_and_flat(x):
    M = np.eye(3)
    M[np.diag_indices(3)] = x
    M.flat[::4] += x**2
    M.reshape(9)[1::4] = 0.5
    return M + np.diag(M.diagonal())


@program(np.array([[0.5, -1.5], [2.5, 1.0]]))
def swap_rows(A):
    B = A.copy()
    B[[0, 1]] = B[[1, 0]]
    B[:, [0, 1]] = B[:, [1, 0]] * 2
    return B


@program(np.array([[0.5, -1.5], [2.5, 1.0]]))
def swap_rows_by_tuple(A):
    B = np.zeros((3, 2))
    B[:2] = A
    tmp = B[0].copy()
    B[0] = B[1]
    B[1] = tmp
    B[2] = B[0] * B[1]
    return B


@program(np.array([0.5, -1.5, 2.5]))
def view_sees_later_write(x):
    y = np.zeros(4)
    tail = y[1:]
    y[1] = x[0]
    tail[1] = x[1] * 2
    y[3] = x[2]
    return tail * tail[0]


@program(np.array([0.5, 1.5, 2.5]))
def list_of_buffers(x):
    bufs = [np.zeros(3) for _ in range(2)]
    bufs[0][:] = x
    bufs[1][1:] = bufs[0][:-1] * x[1:]
    bufs[0] += bufs[1]
    return bufs[0] @ bufs[1]


@program(np.array([0.5, 1.5, 2.5]))
def new_axis_writes(x):
    T = np.zeros((2, 3, 1))
    T[0, :, 0] = x
    T[1] = x[:, None]
    T[..., 0][1, 1] = 7.0
    return T.squeeze()


@program(np.array([0.5, -1.5, 2.5]))
def through_swapaxes(x):
    T = np.zeros((2, 3, 2))
    S = np.swapaxes(T, 0, 1)
    S[:, 0, 0] = x
    np.moveaxis(T, 2, 0)[1] += x
    return T * T


@program(np.array([0.5, -1.5, 2.5]))
def through_split_halves(x):
    y = np.zeros(6)
    left, right = np.split(y, 2)
    left[:] = x
    right += left[::-1] ** 2
    return np.cumsum(y)


@program(np.array([0.5, -1.5, 2.5]))
def through_flip(x):
    y = np.ones(3)
    np.flip(y)[0] = x[0] * x[1]
    y[::-1][1:] *= x[1:]
    return y


@program(np.array([0.5, -1.5, 2.5]))
def through_squeeze_and_atleast(x):
    y = np.zeros((1, 3))
    np.squeeze(y)[1] = x[1] ** 2
    z = np.zeros(3)
    np.atleast_2d(z)[0, :2] = x[1:]
    y[:, None][0, 0, 2] = x[0]
    return y[0] + z


@program(np.array([0.5, -1.5, 2.5]))
def asarray_is_no_copy(x):
    y = np.zeros(3)
    same = np.asarray(y)
    same[0] = x[0]
    other = np.array(y)
    other[1] = x[1]
    y[2] = x[2]
    return y + 2 * other


@program(np.array([0.5, -1.5, 2.5]))
def rows_of_a_state(x):
    """Positions and velocities are views of one state."""
    state = np.zeros((2, 3))
    pos, vel = state
    pos[:] = x
    for _ in range(3):
        vel -= 0.1 * pos**3
        pos += 0.1 * vel
    return state


@program(np.array([0.5, -1.5, 2.5]))
def helper_writes_into_a_slice(x):
    def normalise(v):
        v /= np.sqrt(np.sum(v**2))

    M = np.ones((2, 3))
    M[0] = x
    M[1] += x**2
    for k in range(2):
        normalise(M[k])
    return M


@program(np.array([0.5, -1.5, 2.5]))
def ghost_cells(u):
    padded = np.zeros(len(u) + 2)
    inner = padded[1:-1]
    inner[:] = u
    for _ in range(2):
        padded[0], padded[-1] = padded[1], padded[-2]
        inner += 0.2 * (padded[2:] - 2 * inner + padded[:-2])
    return inner**2


@program(np.array([0.5, -1.5, 2.5]))
def upper_triangle_mirrored(x):
    A = np.zeros((3, 3))
    A[np.triu_indices(3, 1)] = x
    A += A.T
    A[range(3), range(3)] = x**2
    return A @ x


@program(np.array([0.5, -1.5, 2.5]))
def window_view(x):
    y = np.zeros(5)
    y[1:4] = x
    w = np.lib.stride_tricks.sliding_window_view(y, 3)
    return w @ np.array([0.25, 0.5, 0.25]) * x


@program(np.array([0.5, -1.5, 2.5]))
def state_that_is_kept(x):
    history = []
    state = np.zeros(3)
    for k in range(3):
        state[k] = x[k] * (state.sum() + 1)
        history.append(state.copy())
    return np.array(history)


@program(np.array([0.5, -1.5, 2.5]))
def same_array_kept_twice(x):
    """Without the copy all that is kept is the last state."""
    history = []
    state = np.zeros(3)
    for k in range(3):
        state[k] = x[k] ** 2
        history.append(state)
    return np.array(history)


@program(np.array([0.5, -1.5, 2.5]))
def through_flipped_rows_and_columns(x):
    M = np.zeros((2, 3))
    M[0] = x
    np.flipud(M)[0] = x**2
    np.fliplr(M)[0, 0] *= x[1]
    return M


@program(np.array([0.5, -1.5, 2.5]))
def through_parts_of_a_stack(x):
    T = np.zeros((2, 3, 2))
    first, second = np.vsplit(T, 2)
    first[0, :, 0] = x
    second += x[0]
    np.dsplit(T, 2)[1][:] = np.array([x[1]])
    np.rollaxis(T, 2)[0, 1] *= x
    return T

"""Numerical methods as they are coded by hand: results written, element by element, into arrays that are there."""

import numpy as np
from collection import program


@program(
    np.array([1.0, 0.5, 0.2]), np.array([4.0, 5.0, 6.0, 5.0]), np.array([0.5, 1.0, 0.3]), np.ones(4), wrt=(0, 1, 2, 3)
)
def thomas(a, b, c, d):
    """Tridiagonal solver."""
    n = len(d)
    cp = np.zeros(n - 1)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i - 1] * cp[i - 1]
        if i < n - 1:
            cp[i] = c[i] / m
        dp[i] = (d[i] - a[i - 1] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


@program(
    np.array([[0.1, 2.0, 1.0], [3.0, 0.5, 1.0], [1.0, 1.0, 2.0]]),
    np.array([1.0, 2.0, 3.0]),
    wrt=(0, 1),
    also=(np.array([[4.0, 2.0, 1.0], [0.3, 2.5, 1.0], [1.0, 1.0, 2.0]]), np.array([1.0, 2.0, 3.0])),
)
def gauss(A, b):
    """Elimination with partial pivoting and row swaps."""
    n = len(b)
    M = np.zeros((n, n + 1))
    M[:, :n] = A
    M[:, n] = b
    for k in range(n):
        p = k + np.argmax(np.abs(M[k:, k]))
        if p != k:
            M[[k, p]] = M[[p, k]]
        for i in range(k + 1, n):
            M[i, k:] -= M[i, k] / M[k, k] * M[k, k:]
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (M[i, n] - M[i, i + 1 : n] @ x[i + 1 :]) / M[i, i]
    return x


@program(np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]))
def cholesky(A):
    n = A.shape[0]
    L = np.zeros_like(A)
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                L[i, i] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return L


@program(np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]))
def lu_in_place(A):
    LU = A.copy()
    n = len(LU)
    for k in range(n):
        LU[k + 1 :, k] /= LU[k, k]
        LU[k + 1 :, k + 1 :] -= np.outer(LU[k + 1 :, k], LU[k, k + 1 :])
    return LU


@program(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]))
def gram_schmidt(A):
    m, n = A.shape
    Q = np.zeros((m, n))
    R = np.zeros((n, n))
    for j in range(n):
        v = A[:, j]
        for i in range(j):
            R[i, j] = Q[:, i] @ A[:, j]
            v = v - R[i, j] * Q[:, i]
        R[j, j] = np.linalg.norm(v)
        Q[:, j] = v / R[j, j]
    return Q, R


@program(np.array([0.1, 0.5, 1.0, 0.3, 0.2]), 0.2, wrt=(0, 1))
def heat_steps(u, r):
    for _ in range(3):
        new = np.zeros(len(u))
        new[0] = u[0]
        new[-1] = u[-1]
        new[1:-1] = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return u


@program(np.array([1.0, 0.7, 0.4, 0.9]), 0.3, wrt=(0, 1))
def upwind_finite_volume(u, nu):
    n = len(u)
    flux = np.empty(n + 1)
    flux[0] = 0.5 * u[0] ** 2
    for i in range(1, n + 1):
        flux[i] = 0.5 * u[i - 1] ** 2
    out = np.empty(n)
    for i in range(n):
        out[i] = u[i] - nu * (flux[i + 1] - flux[i])
    return out


@program(np.array([1.0, 0.7, -0.4, 0.9]), also=(np.array([-1.0, 0.7, -0.4, 0.1]),))
def godunov_fluxes(u):
    flux = np.zeros(len(u) - 1)
    for i in range(len(flux)):
        left, right = u[i], u[i + 1]
        if left > right:
            s = (left + right) / 2
            flux[i] = 0.5 * left**2 if s > 0 else 0.5 * right**2
        elif left > 0:
            flux[i] = 0.5 * left**2
        elif right < 0:
            flux[i] = 0.5 * right**2
    return flux


@program(np.array([[0.0, 1.0, 2.0], [0.5, 0.1, 0.4], [1.0, 3.0, 0.2]]))
def jacobi_sweep(u):
    new = u.copy()
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            new[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return np.sum(new**2)


@program(np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]), np.array([1.0, 2.0, 3.0]), wrt=(0, 1))
def gauss_seidel(A, b):
    x = np.zeros_like(b)
    for _ in range(3):
        for i in range(len(b)):
            x[i] = (b[i] - A[i, :i] @ x[:i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


@program(np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0]), wrt=(0, 1))
def conjugate_gradient(A, b):
    x = np.zeros(2)
    r = b - A @ x
    p = r.copy()
    for _ in range(2):
        Ap = A @ p
        alpha = (r @ r) / (p @ Ap)
        x += alpha * p
        new = r - alpha * Ap
        p = new + (new @ new) / (r @ r) * p
        r = new
    return x


@program(np.array([1.0, 0.0, 0.5]), 0.1, wrt=(0, 1))
def lorenz_trajectory(x0, dt):
    path = np.zeros((5, 3))
    path[0] = x0
    for k in range(4):
        x, y, z = path[k]
        d = np.zeros(3)
        d[0] = 10 * (y - x)
        d[1] = x * (28 - z) - y
        d[2] = x * y - 8 / 3 * z
        path[k + 1] = path[k] + dt * 0.1 * d
    return path


@program(np.array([1.0, 0.2]), 0.05, wrt=(0, 1))
def rk4_with_stages(y0, h):
    k = np.empty((4, 2))
    y = np.array(y0)
    for _ in range(3):
        for s, c in enumerate((0.0, 0.5, 0.5, 1.0)):
            z = y + c * h * k[s - 1] if s else y
            k[s, 0] = z[1]
            k[s, 1] = -np.sin(z[0])
        y = y + h / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3])
    return y


@program(np.array([[0.0, 0.1], [1.0, 0.2], [0.3, 1.2]]), np.array([1.0, 2.0, 0.5]), wrt=(0, 1))
def pairwise_forces(pos, mass):
    n = pos.shape[0]
    F = np.zeros((n, 2))
    for i in range(n):
        for j in range(i + 1, n):
            d = pos[j] - pos[i]
            f = mass[i] * mass[j] * d / np.linalg.norm(d) ** 3
            F[i] += f
            F[j] -= 0.5 * f
    return F


@program(np.array([0.5, 1.0]), np.eye(2), np.array([[0.3], [0.7], [1.1]]), wrt=(0, 1, 2))
def kalman_filter(x, P, zs):
    F = np.eye(2)
    F[0, 1] = 0.1
    H = np.zeros((1, 2))
    H[0, 0] = 1.0
    track = np.zeros((len(zs), 2))
    for k, z in enumerate(zs):
        x = F @ x
        P = F @ P @ F.T + 0.01 * np.eye(2)
        S = H @ P @ H.T + 0.1
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ (z - H @ x)
        P = (np.eye(2) - K @ H) @ P
        track[k] = x
    return track


@program(np.array([1.0, -2.0, 0.5, 3.0]), 0.7, wrt=(0, 1))
def horner_with_derivative(c, x):
    b = np.zeros(len(c))
    b[0] = c[0]
    for k in range(1, len(c)):
        b[k] = c[k] + x * b[k - 1]
    return b[-1], b[:-1]


@program(np.array([0.0, 1.0, 2.5]), np.array([1.0, 3.0, 2.0]), 1.7, wrt=(0, 1, 2))
def newton_interpolation(x, y, t):
    n = len(x)
    table = np.zeros((n, n))
    table[:, 0] = y
    for j in range(1, n):
        for i in range(n - j):
            table[i, j] = (table[i + 1, j - 1] - table[i, j - 1]) / (x[i + j] - x[i])
    p = table[0, n - 1]
    for k in range(n - 2, -1, -1):
        p = p * (t - x[k]) + table[0, k]
    return p


@program(np.array([0.3, 0.8]), 5, wrt=0, also=(np.array([0.3, 0.8]), 3))
def chebyshev_basis(x, n):
    T = np.ones((n, len(x)))
    T[1] = x
    for k in range(2, n):
        T[k] = 2 * x * T[k - 1] - T[k - 2]
    return T


@program(np.array([2.0, 1.0, 3.0]), np.array([1.0, 2.0]), wrt=(0, 1))
def assemble_stiffness(k, f):
    """Finite elements: springs in a row, clamped on the left."""
    n = len(k) + 1
    K = np.zeros((n, n))
    for e in range(len(k)):
        K[e : e + 2, e : e + 2] += k[e] * np.array([[1, -1], [-1, 1]])
    load = np.zeros(n)
    load[[1, 3]] = f
    free = np.arange(1, n)
    u = np.zeros(n)
    u[free] = np.linalg.solve(K[np.ix_(free, free)], load[free])
    return u

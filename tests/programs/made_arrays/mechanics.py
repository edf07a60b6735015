"""Robot arms, rotations and the right-hand sides of differential equations: arrays of computed numbers."""

import math

import numpy as np
from collection import program


@program(0.7, 0.2, 0.4, 0.3, wrt=(0, 1, 2, 3))
def dh_matrix(theta, alpha, a, d):
    """Denavit-Hartenberg transform of one link."""
    ct, st = np.cos(theta), np.sin(theta)
    ca, sa = np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [ct, -st * ca, st * sa, a * ct],
            [st, ct * ca, -ct * sa, a * st],
            [0, sa, ca, d],
            [0, 0, 0, 1],
        ]
    )


DH = [(0.0, 0.4, math.pi / 2), (0.45, 0.0, 0.0), (0.4, 0.0, 0.0)]


@program(np.array([0.3, -0.5, 0.8]))
def arm_tip(q):
    """Forward kinematics of a three-axis arm."""
    T = np.eye(4)
    for angle, (a, d, alpha) in zip(q, DH):
        T = T @ dh_matrix(angle, alpha, a, d)
    return T[:3, 3]


@program(np.array([0.3, -0.5, 0.8]), np.array([0.4, 0.1, 0.6]), also=(np.array([0.1, 0.2, 0.3]), np.zeros(3)))
def arm_cost(q, goal):
    tip = arm_tip(q)
    return np.sum((tip - goal) ** 2) + 1e-3 * np.dot(q, q)


@program(np.array([0.4, 0.9]), np.array([1.0, 0.7]), wrt=(0, 1))
def planar_arm(q, links):
    x = links[0] * np.cos(q[0]) + links[1] * np.cos(q[0] + q[1])
    y = links[0] * np.sin(q[0]) + links[1] * np.sin(q[0] + q[1])
    return np.array([x, y])


@program(np.array([0.3, 0.4, 0.5]), np.array([1.0, 2.0, 3.0]), wrt=(0, 1))
def rotate_euler(angles, v):
    phi, theta, psi = angles
    Rx = np.array([[1, 0, 0], [0, np.cos(phi), -np.sin(phi)], [0, np.sin(phi), np.cos(phi)]])
    Ry = np.array([[np.cos(theta), 0, np.sin(theta)], [0, 1, 0], [-np.sin(theta), 0, np.cos(theta)]])
    Rz = np.array([[np.cos(psi), -np.sin(psi), 0], [np.sin(psi), np.cos(psi), 0], [0, 0, 1]])
    return Rz.dot(Ry).dot(Rx).dot(v)


@program(np.array([0.9, 0.1, -0.2, 0.3]), np.array([0.5, -1.0, 2.0]), wrt=(0, 1))
def rotate_quaternion(q, v):
    q = q / np.sqrt(np.sum(q * q))
    w, x, y, z = q
    R = np.asarray(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return R @ v


@program(np.array([0.9, 0.1, -0.2, 0.3]), np.array([0.2, 0.5, -0.1, 0.8]), wrt=(0, 1))
def quaternion_product(p, q):
    return np.array(
        (
            p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
            p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
            p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
            p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
        )
    )


def skew(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


@program(np.array([0.3, -0.2, 0.5]))
def rodrigues(w):
    theta = np.linalg.norm(w)
    K = skew(w / theta)
    return np.eye(3) + np.sin(theta) * K + (1 - np.cos(theta)) * K @ K


@program(np.array([0.3, -0.2, 0.5, 1.0, 2.0, 3.0]), np.array([0.1, 0.4, -0.6]), wrt=(0, 1))
def rigid_transform(pose, p):
    """A homogeneous matrix of blocks."""
    R = rodrigues(pose[:3])
    T = np.block([[R, pose[3:].reshape(3, 1)], [np.zeros((1, 3)), np.ones((1, 1))]])
    return (T @ np.append(p, 1.0))[:3]


@program(np.array([2.0, 0.6, 1.1]))
def spherical_to_cartesian(s):
    r, theta, phi = s[0], s[1], s[2]
    return np.array([r * np.sin(theta) * np.cos(phi), r * np.sin(theta) * np.sin(phi), r * np.cos(theta)])


@program(np.array([1.0, 2.0, -0.5]))
def cartesian_to_spherical(p):
    x, y, z = p
    rho = np.hypot(x, y)
    return np.array([np.sqrt(x**2 + y**2 + z**2), np.arctan2(rho, z), np.arctan2(y, x)])


@program(np.array([0.5, -0.1]), 9.81, wrt=(0, 1))
def pendulum(state, g):
    theta, omega = state
    return np.array([omega, -g * np.sin(theta) - 0.1 * omega])


@program(np.array([1.2, -0.4, 0.3, 0.1]))
def double_pendulum(y, m1=1.0, m2=0.8, l1=1.0, l2=0.7, g=9.81):
    th1, w1, th2, w2 = y
    delta = th2 - th1
    den1 = (m1 + m2) * l1 - m2 * l1 * np.cos(delta) ** 2
    den2 = (l2 / l1) * den1
    a1 = (
        m2 * l1 * w1**2 * np.sin(delta) * np.cos(delta)
        + m2 * g * np.sin(th2) * np.cos(delta)
        + m2 * l2 * w2**2 * np.sin(delta)
        - (m1 + m2) * g * np.sin(th1)
    ) / den1
    a2 = (
        -m2 * l2 * w2**2 * np.sin(delta) * np.cos(delta)
        + (m1 + m2) * g * np.sin(th1) * np.cos(delta)
        - (m1 + m2) * l1 * w1**2 * np.sin(delta)
        - (m1 + m2) * g * np.sin(th2)
    ) / den2
    return np.array([w1, a1, w2, a2])


@program(np.array([1.0, 2.0, 3.0]), 10.0, 28.0, 8 / 3, wrt=(0, 1, 2, 3))
def lorenz(xyz, sigma, rho, beta):
    x, y, z = xyz
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


@program(np.array([10.0, 5.0]), np.array([1.1, 0.4, 0.1, 0.4]), wrt=(0, 1))
def lotka_volterra(u, params):
    a, b, c, d = params
    prey, predator = u
    dprey = a * prey - b * prey * predator
    dpredator = c * prey * predator - d * predator
    return np.array([dprey, dpredator], dtype=float)


@program(np.array([0.9, 0.08, 0.02]), np.array([0.5, 0.1]), wrt=(0, 1))
def sir(y, rates):
    S, I, R = y
    N = S + I + R
    infections = rates[0] * S * I / N
    return np.asarray([-infections, infections - rates[1] * I, 0.5 * rates[1] * I])


@program(np.array([1.5, -0.3]), 1.7, wrt=(0, 1))
def van_der_pol(x, mu):
    dx = [x[1], mu * (1 - x[0] ** 2) * x[1] - x[0]]
    return np.array(dx)


def rk4(f, y, dt, steps):
    for _ in range(steps):
        k1 = f(y)
        k2 = f(y + dt / 2 * k1)
        k3 = f(y + dt / 2 * k2)
        k4 = f(y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@program(np.array([1.0, 1.0]), 0.5, wrt=(0, 1))
def rk4_oscillator(y0, damping):
    def rhs(y):
        return np.array([y[1], -y[0] - damping * y[1] ** 3])

    return rk4(rhs, y0, 0.1, 6)


@program(np.array([0.9, 0.05]), np.array([0.6, 0.2]), wrt=(0, 1))
def euler_trajectory(y, k):
    """Explicit Euler; the trajectory is a list that becomes an array."""
    path = [y]
    for _ in range(5):
        y = y + 0.1 * np.array([-k[0] * y[0], k[0] * y[0] - k[1] * y[1]])
        path.append(y)
    return np.array(path)


@program(np.array([[0.0, 0.1], [1.0, 0.2], [0.3, 1.2]]), np.array([1.0, 2.0, 0.5]), wrt=(0, 1))
def nbody_accelerations(pos, mass):
    acc = []
    for i in range(len(pos)):
        a = np.zeros(2)
        for j in range(len(pos)):
            if i != j:
                d = pos[j] - pos[i]
                a = a + mass[j] * d / (d @ d + 0.01) ** 1.5
        acc.append(a)
    return np.asarray(acc)


@program(np.array([1.0, 0.0, 0.2, 0.0, 0.3, 1.0, 0.1, 0.0]))
def kepler_two_bodies(s):
    r1, v1, r2, v2 = s[:2], s[2:4], s[4:6], s[6:]
    d = r2 - r1
    pull = d / np.sum(d**2) ** 1.5
    return np.r_[v1, pull, v2, -pull]


@program(np.array([0.3, 0.2, -0.1, 0.4]), 0.5)
def cart_pole(state, force):
    x, v, th, w = state
    temp = (force + 0.05 * w**2 * np.sin(th)) / 1.1
    thacc = (9.8 * np.sin(th) - np.cos(th) * temp) / (0.5 * (4.0 / 3.0 - 0.1 * np.cos(th) ** 2 / 1.1))
    xacc = temp - 0.05 * thacc * np.cos(th) / 1.1
    return np.array((v, xacc, w, thacc))


@program(np.array([0.5, 0.3]), np.array([0.02, -0.1]), wrt=(0, 1))
def mass_matrix_solve(q, qd):
    """Two-link manipulator: M(q) a = tau - C."""
    c2 = np.cos(q[1])
    s2 = np.sin(q[1])
    M = np.array([[3 + 2 * c2, 1 + c2], [1 + c2, 1.0]])
    C = np.array([-s2 * (2 * qd[0] * qd[1] + qd[1] ** 2), s2 * qd[0] ** 2])
    return np.linalg.solve(M, -C)


@program(np.array([0.1, 0.2, 0.3]), np.array([0.01, -0.02, 0.03]), wrt=(0, 1))
def euler_equations(w, torque, I=np.array([1.0, 2.0, 3.0])):
    I1, I2, I3 = I
    return np.array(
        [
            ((I2 - I3) * w[1] * w[2] + torque[0]) / I1,
            ((I3 - I1) * w[2] * w[0] + torque[1]) / I2,
            ((I1 - I2) * w[0] * w[1] + torque[2]) / I3,
        ]
    )


@program(np.array([0.5, 1.2, -0.3]), 0.4, wrt=(0, 1))
def bicycle_model(state, steer):
    x, y, heading = state
    beta = np.arctan(0.5 * np.tan(steer))
    v = 1.3
    return np.array([x + v * np.cos(heading + beta), y + v * np.sin(heading + beta), heading + v / 2.0 * np.sin(beta)])


@program(np.array([3.0, 4.0]), np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 7.0]]), wrt=(0, 1))
def ranges_to_beacons(p, beacons):
    return np.array([np.linalg.norm(p - b) for b in beacons])


@program(np.array([0.2, -0.1, 1.5, 0.3]), wrt=0)
def stance_jacobian(q):
    """A Jacobian that somebody wrote by hand."""
    l1, l2 = 0.5, 0.4
    s1, s12 = np.sin(q[0]), np.sin(q[0] + q[1])
    c1, c12 = np.cos(q[0]), np.cos(q[0] + q[1])
    J = np.array([[-l1 * s1 - l2 * s12, -l2 * s12], [l1 * c1 + l2 * c12, l2 * c12]])
    return J @ np.array([q[2], q[3]])


@program(np.array([0.1, 0.5, 0.2]), np.array([0.7, 0.7]), wrt=(0, 1))
def gear_train(teeth, speed):
    """Ratios along a train, as a list that grows."""
    ratios = []
    for a, b in zip(teeth[:-1], teeth[1:]):
        ratios.append(-a / b)
    ratios = np.array(ratios)
    return np.cumprod(ratios) * speed


@program(np.array([1.1, 0.9, 0.4]), wrt=0)
def inertia_of_points(p):
    x, y, z = p
    I = np.array([[y * y + z * z, -x * y, -x * z], [-x * y, x * x + z * z, -y * z], [-x * z, -y * z, x * x + y * y]])
    return np.trace(I @ I) / np.linalg.det(I + np.eye(3))

"""The bundle adjustment residuals of ADBench: rotation, distortion and projection of a camera."""

import math

import numpy as np


def rodrigues_rotate_point(rot, x):
    sqtheta = rot[0] * rot[0] + rot[1] * rot[1] + rot[2] * rot[2]
    if sqtheta > 1e-10:
        theta = math.sqrt(sqtheta)
        costheta = math.cos(theta)
        sintheta = math.sin(theta)
        theta_inv = 1.0 / theta
        w = np.zeros(3)
        for i in range(3):
            w[i] = rot[i] * theta_inv
        w_cross_x = cross(w, x)
        tmp = (w[0] * x[0] + w[1] * x[1] + w[2] * x[2]) * (1.0 - costheta)
        out = np.zeros(3)
        for i in range(3):
            out[i] = x[i] * costheta + w_cross_x[i] * sintheta + w[i] * tmp
        return out
    return x + cross(rot, x)


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def radial_distort(rad_params, proj):
    rsq = proj[0] * proj[0] + proj[1] * proj[1]
    factor = 1.0 + rad_params[0] * rsq + rad_params[1] * rsq * rsq
    proj *= factor
    return proj


ROT, C, F, X0, RAD = 0, 3, 6, 7, 9


def project(cam, X):
    Xcam = rodrigues_rotate_point(cam[ROT : ROT + 3], X - cam[C : C + 3])
    distorted = radial_distort(cam[RAD : RAD + 2], Xcam[0:2] / Xcam[2])
    return distorted * cam[F] + cam[X0 : X0 + 2]


def reprojection_error(cam, X, w, feat):
    return w * (project(cam, X) - feat)


def ba_objective(cams, X, w, obs, feats):
    p = len(obs)
    reproj_error = np.empty((p, 2))
    for i in range(p):
        reproj_error[i] = reprojection_error(cams[obs[i][0]], X[obs[i][1]], w[i], feats[i])
    w_err = np.zeros(p)
    for i in range(p):
        w_err[i] = 1.0 - w[i] ** 2
    return np.concatenate([reproj_error.reshape(-1), w_err])


def small_problem(seed=0):
    rng = np.random.default_rng(seed)
    cams = 0.2 * rng.standard_normal((2, 11))
    cams[:, F] = 1.5
    cams[:, RAD : RAD + 2] = 0.01
    X = rng.standard_normal((3, 3)) * 0.3 + np.array([0, 0, 3.0])
    obs = [(0, 0), (0, 1), (1, 1), (1, 2)]
    return cams, X, 0.5 + rng.random(4), obs, rng.standard_normal((4, 2))

"""The hand tracking objective of ADBench, both variants, as its references are written: zeros, then entries."""

from dataclasses import dataclass

import numpy as np


@dataclass
class HandModel:
    base_relatives: np.ndarray
    parents: np.ndarray
    inverse_base_absolutes: np.ndarray
    base_positions: np.ndarray
    weights: np.ndarray
    triangles: np.ndarray
    is_mirrored: bool


def to_pose_params(theta, bone_count):
    """Rotation, scale and translation of the hand, then angles of the bones: two for the first of a finger."""
    pose_params = np.zeros((3 + bone_count, 3))
    pose_params[0, :] = theta[0:3]
    pose_params[1, :] = 1.0
    pose_params[2, :] = theta[3:6]
    i_theta = 6
    i_pose_params = 5
    n_fingers = 5
    for _ in range(n_fingers):
        for i in range(2, 5):
            pose_params[i_pose_params, 0] = theta[i_theta]
            i_theta += 1
            if i == 2:
                pose_params[i_pose_params, 1] = theta[i_theta]
                i_theta += 1
            i_pose_params += 1
        i_pose_params += 1
    return pose_params


def angle_axis_to_rotation_matrix(angle_axis):
    n = np.sqrt(np.sum(angle_axis**2))
    if n < 0.0001:
        return np.eye(3)
    x = angle_axis[0] / n
    y = angle_axis[1] / n
    z = angle_axis[2] / n
    s, c = np.sin(n), np.cos(n)
    R = np.zeros((3, 3))
    R[0, 0] = x * x + (1 - x * x) * c
    R[0, 1] = x * y * (1 - c) - z * s
    R[0, 2] = x * z * (1 - c) + y * s
    R[1, 0] = x * y * (1 - c) + z * s
    R[1, 1] = y * y + (1 - y * y) * c
    R[1, 2] = y * z * (1 - c) - x * s
    R[2, 0] = x * z * (1 - c) - y * s
    R[2, 1] = z * y * (1 - c) + x * s
    R[2, 2] = z * z + (1 - z * z) * c
    return R


def euler_angles_to_rotation_matrix(xzy):
    tx = xzy[0]
    ty = xzy[2]
    tz = xzy[1]
    Rx = np.eye(3)
    Rx[1, 1] = np.cos(tx)
    Rx[2, 1] = np.sin(tx)
    Rx[1, 2] = -Rx[2, 1]
    Rx[2, 2] = Rx[1, 1]
    Ry = np.eye(3)
    Ry[0, 0] = np.cos(ty)
    Ry[0, 2] = np.sin(ty)
    Ry[2, 0] = -Ry[0, 2]
    Ry[2, 2] = Ry[0, 0]
    Rz = np.eye(3)
    Rz[0, 0] = np.cos(tz)
    Rz[1, 0] = np.sin(tz)
    Rz[0, 1] = -Rz[1, 0]
    Rz[1, 1] = Rz[0, 0]
    return Rz @ Ry @ Rx


def get_posed_relatives(pose_params, base_relatives):
    relatives = np.zeros_like(base_relatives)
    offset = 3
    for i in range(len(base_relatives)):
        tr = np.eye(4)
        tr[:3, :3] = euler_angles_to_rotation_matrix(pose_params[i + offset])
        relatives[i] = base_relatives[i] @ tr
    return relatives


def relatives_to_absolutes(relatives, parents):
    absolutes = np.zeros_like(relatives)
    for i in range(len(relatives)):
        if parents[i] == -1:
            absolutes[i] = relatives[i]
        else:
            absolutes[i] = absolutes[parents[i]] @ relatives[i]
    return absolutes


def apply_global_transform(pose_params, positions):
    R = angle_axis_to_rotation_matrix(pose_params[0])
    R *= pose_params[1]
    return R @ positions + pose_params[2].reshape((3, 1))


def get_skinned_vertex_positions(model, pose_params, apply_global=True):
    relatives = get_posed_relatives(pose_params, model.base_relatives)
    absolutes = relatives_to_absolutes(relatives, model.parents)
    transforms = np.zeros_like(absolutes)
    for i in range(len(absolutes)):
        transforms[i, :, :] = absolutes[i] @ model.inverse_base_absolutes[i]
    n_verts = model.base_positions.shape[1]
    positions = np.zeros((3, n_verts))
    for i in range(len(transforms)):
        positions += (transforms[i, :3, :] @ model.base_positions) * model.weights[i]
    if model.is_mirrored:
        positions[0, :] *= -1
    if apply_global:
        positions = apply_global_transform(pose_params, positions)
    return positions


def hand_objective(theta, model, correspondences, points):
    pose_params = to_pose_params(theta, len(model.parents))
    vertex_positions = get_skinned_vertex_positions(model, pose_params)
    n_corr = len(correspondences)
    err = np.zeros((n_corr, 3))
    for i in range(n_corr):
        err[i, :] = points[:, i] - vertex_positions[:, correspondences[i]]
    return err.reshape(-1)


def hand_objective_complicated(params, model, correspondences, points):
    """The unknowns are barycentric coordinates of each point on its triangle, and then theta."""
    n_corr = len(correspondences)
    us = params[: 2 * n_corr].reshape((n_corr, 2))
    theta = params[2 * n_corr :]
    pose_params = to_pose_params(theta, len(model.parents))
    vertex_positions = get_skinned_vertex_positions(model, pose_params)
    err = np.empty(3 * n_corr)
    for i in range(n_corr):
        verts = model.triangles[correspondences[i]]
        u = us[i]
        hand_point = np.zeros(3)
        hand_point += u[0] * vertex_positions[:, verts[0]]
        hand_point += u[1] * vertex_positions[:, verts[1]]
        hand_point += (1.0 - u[0] - u[1]) * vertex_positions[:, verts[2]]
        err[3 * i : 3 * i + 3] = points[:, i] - hand_point
    return err


def small_model(seed=0, n_verts=10, is_mirrored=False):
    """A hand of 22 bones, made up."""
    rng = np.random.default_rng(seed)
    parents = np.array([-1, 0, *[p for f in range(5) for p in (1, 2 + 4 * f, 3 + 4 * f, 4 + 4 * f)]])
    base_relatives = np.zeros((22, 4, 4))
    for i in range(22):
        base_relatives[i] = np.eye(4)
        base_relatives[i, :3, :3] = euler_angles_to_rotation_matrix(0.2 * rng.standard_normal(3))
        base_relatives[i, :3, 3] = 0.3 * rng.standard_normal(3)
    inverse = np.linalg.inv(relatives_to_absolutes(base_relatives, parents))
    base_positions = np.vstack([rng.standard_normal((3, n_verts)), np.ones(n_verts)])
    weights = rng.random((22, n_verts))
    weights /= weights.sum(axis=0)
    triangles = rng.integers(0, n_verts, (6, 3))
    return HandModel(base_relatives, parents, inverse, base_positions, weights, triangles, is_mirrored)

"""Random functions of matrices with equal eigenvalues: what depends on no choice of vectors, against differences.

A program computes symmetric positive definite matrices from each other: functions of them, congruences, inverses,
nearest rotations. Whatever it draws is smooth, so every first derivative must be a number, and the right one. Second
ones may be NaN, where the first went through vectors of equal values, and are right otherwise.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import external_kinds as kinds
import numpy as np

import symgrad as sg

Step = Callable[[Any], Any]

#: of eigenvalues, which stay between 0.1 and 10 or so
_OF_VALUES: dict[str, Step] = {
    "root": np.sqrt,
    "decay": lambda w: 2 * np.exp(-w / 2) + 0.2,
    "saturating": lambda w: 3 * w / (1 + w),
    "logarithm": lambda w: np.log1p(w) + 0.1,
    "power": lambda w: w**1.5 / (1 + w / 2),
    "flat at one": lambda w: 1 + (w - 1) ** 2 / (1 + w**2),
    "bump": lambda w: 1 + np.sin(w) ** 2,
    "shares of all": lambda w: 1 + w / np.sum(w),
}


def _by_eigh(v: Any, g: Step) -> Any:
    values, vectors = np.linalg.eigh(v)
    return (vectors * g(values)) @ vectors.T


def _by_diag(v: Any, g: Step) -> Any:
    return np.linalg.eigh(v)[1] @ np.diag(g(np.linalg.eigvalsh(v))) @ np.linalg.eigh(v)[1].T


def _by_svd(v: Any, g: Step) -> Any:
    u, s, vh = np.linalg.svd(v)
    return (u * g(s)) @ vh


def _by_right_vectors(v: Any, g: Step) -> Any:
    _, s, vh = np.linalg.svd(v)
    return (vh.T * g(s)) @ vh


_WAYS = (_by_eigh, _by_diag, _by_svd, _by_right_vectors)


def _nearest_rotation(v: Any) -> Any:
    u, _, vh = np.linalg.svd(v)
    return u @ vh


@dataclass(frozen=True)
class Spectral:
    """A program, as text too, the matrix where it is differentiated, and weights."""

    run: Callable[[Any], Any]
    text: tuple[str, ...]
    point: np.ndarray
    direction: np.ndarray
    other: np.ndarray


def random_spectral(seed: int) -> Spectral:
    """A program of this seed."""
    r, rng = random.Random(seed), np.random.default_rng(seed)
    n = r.choice((2, 3, 3, 4))
    values = [r.choice((1.0, 1.0, 2.0, 0.5)) for _ in range(n)]
    turn = r.choice((np.eye(n), np.linalg.qr(rng.standard_normal((n, n)))[0]))
    skew = rng.standard_normal((n, n))
    skew = 0.3 * (skew - skew.T)
    weights, v, w = rng.standard_normal((3, n, n))
    text: list[str] = [f"{n} values {values}, {'turned' if turn[0, 0] != 1 else 'diagonal'}"]
    steps: list[Callable[[list[Any]], Any]] = []

    def drawn() -> int:
        return r.randrange(len(steps) + 1)

    for _ in range(r.randint(1, 3)):
        kind = r.choice(("values", "values", "values", "congruence", "inverse", "sum", "rotation", "scaled"))
        k, j, name, way = drawn(), drawn(), r.choice(list(_OF_VALUES)), r.choice(_WAYS)
        g = _OF_VALUES[name]
        own = r.choice(list(kinds.KINDS.values()))
        text.append(f"m{len(steps) + 1} = {kind} {name} {way.__name__} of m{k}, m{j}, {own.__name__}")
        if kind == "values":
            steps.append(lambda m, k=k, g=g, way=way: way(m[k], g))
        elif kind == "congruence":
            steps.append(lambda m, k=k, j=j: m[k] @ m[j] @ m[k] / (1 + np.trace(m[k]) / 2) ** 2 + np.eye(n) / 2)
        elif kind == "inverse":
            steps.append(lambda m, k=k: np.linalg.inv(m[k]) + np.eye(n) / 4)
        elif kind == "sum":
            steps.append(lambda m, k=k, j=j: (m[k] + 2 * m[j]) / 3)
        elif kind == "rotation":
            steps.append(lambda m, k=k, j=j: (lambda q: q @ m[j] @ q.T)(_nearest_rotation(m[k] + skew)))
        else:
            steps.append(lambda m, k=k, own=own: m[k] * own(np.trace(m[k]) * 0.1))
    end = r.choice(("sum", "sum", "determinant", "norm", "values", "singular"))
    text.append(end)

    def run(a: Any) -> Any:
        made = [a]
        for step in steps:
            made.append(step(made))
        last = made[-1]
        if end == "determinant":
            return np.log(np.linalg.det(last))
        if end == "norm":
            return np.linalg.norm(last, "nuc")
        if end == "values":
            return np.sum(np.log(np.linalg.eigvalsh((last + last.T) / 2)) ** 2)
        if end == "singular":
            return np.sum(np.linalg.svd(last, compute_uv=False) ** 1.5)
        return np.sum(weights * last)

    a = turn @ np.diag(values) @ turn.T
    return Spectral(run, tuple(text), (a + a.T) / 2, (v + v.T) / 2, (w + w.T) / 2)


def wrong_with(program: Spectral) -> str | None:
    """What is wrong with the derivatives of a program."""
    f, a, v, w = program.run, program.point, program.direction, program.other
    # an error of rounding over the step, and one of its fourth power
    h = 2e-3
    ahead = [f(a + k * h * v) for k in (-2, -1, 1, 2)]
    want = (ahead[0] - 8 * ahead[1] + 8 * ahead[2] - ahead[3]) / (12 * h)
    slope = sg.grad(f)
    found = {"reverse": np.sum(slope(a) * v), "forward": sg.jvp(f, (a,), (v,))[1]}
    size = 1 + abs(want) + np.abs(slope(a)).max()
    for mode, got in found.items():
        if not abs(got - want) <= 1e-7 * size:
            return f"{mode}: {got}, differences {want}"
    mixed = [
        sum(s * t * f(a + h * (s * v + t * w)) for s in (-1, 1) for t in (-1, 1)) / (4 * h * h) for h in (4e-3, 8e-3)
    ]
    want = (4 * mixed[0] - mixed[1]) / 3
    curved = {
        "hvp": np.sum(v * sg.hvp(f, (a,), (w,))[-1]),
        "reverse over reverse": np.sum(v * sg.grad(lambda a: np.sum(w * slope(a)))(a)),
    }
    for mode, got in curved.items():
        if not np.isnan(got) and not abs(got - want) <= 1e-4 * (1 + abs(want) + np.abs(slope(a)).max()):
            return f"{mode}: {got}, second differences {want}"
    return None

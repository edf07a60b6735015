"""Long loops of which steps are left out, and for which that shows later that each is needed."""

import numpy as np
from loops_left_out import N


def the_same_from_both_ends(h, a, xs):
    total = 0.0
    for t in range(N):
        total = total + (np.sin(xs[t]) * np.cos(xs[N - 1 - t]) * h).sum() * np.sum(np.sin(xs[N - 1 - t]))
    return total + (a @ h).sum()


def cross_over(h, a, xs):
    u, v = h, -2 * h
    for _ in range(N - 1):
        u, v = 1.001 * v, 1.001 * u
    return (u * xs[0]).sum() + a.sum()


def held_error(h, a, xs):
    try:
        for t in range(N + 5):
            h = np.sin(a @ h + xs[t])
    except IndexError:
        h = h * 7
    return h.sum()


def held_error_and_more(h, a, xs):
    try:
        for t in range(N):
            h = np.sin(a @ h)
            k = xs[t + 2]
    except IndexError:
        for t in range(20):
            h = np.sin(a @ h)
            k = xs[t]
    return h.sum() + k.sum()


def by_its_value(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t])
    return h.sum() if h[0] > 0 else -h.sum()


def held_by_a_bare_except(h, a, xs):
    try:
        for t in range(N):
            h = np.sin(a @ h + xs[t])
        if h[0] > 0:
            h = -h
    except:  # noqa: E722
        h = h * 7
    return h.sum()


def not_alike_all_the_way(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t - N // 2 - 3])
    return h.sum()


def once_more(h, a, xs):
    total = 0.0
    for count in (N, N, 12, N // 2, 11):
        u = h
        for _ in range(count):
            u = np.sin(a @ u) + 0.1 * u
        total = total + u.sum() * xs[0, 0]
    return total

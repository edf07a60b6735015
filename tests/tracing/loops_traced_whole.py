"""Long loops of which no step may be left out: what a step finds is another thing in each."""

import numpy as np
from loops_left_out import N

#: places that are alike at both ends
ORDER = np.arange(N)
ORDER[20:-20] = np.random.default_rng(0).permutation(ORDER[20:-20])


def counter(h, a, xs):
    k = 0
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        k = k + 1
    return h.sum() * k


def counter_as_place(h, a, xs):
    k = -1
    for _ in range(N):
        k += 1
        h = np.sin(a @ h + xs[k])
    return h.sum()


def rate_that_falls(h, a, xs):
    rate = 1.0
    for t in range(N):
        h = np.sin(a @ h + xs[t]) * rate
        rate = rate * 0.999
    return h.sum() * rate


def any_order(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[ORDER[t]])
    return h.sum()


def any_order_elsewhere(h, a, xs):
    def at():
        return xs[ORDER[t]]

    for t in range(N):  # noqa: B007
        h = np.sin(a @ h + at())
    return h.sum()


def kept(h, a, xs):
    found = []
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        found.append(h)
    return np.stack(found).sum()


def kept_by_a_name(h, a, xs):
    found = []
    keep = found.append
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        _ = keep(h)
    return np.stack(found).sum()


def one_step_is_another(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        if t == 100:
            h = h * 2
    return h.sum()


def known_array_changes(h, a, xs):
    z = np.ones(3)
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        z = z * 0.99
    return h.sum() + z.sum()


def known_array_is_updated(h, a, xs):
    z = np.ones(3)
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        z *= 0.99
    return h.sum() + z.sum()


def known_array_is_written_by_name(h, a, xs):
    z = np.ones(3)
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        _ = np.add(z, 1, z)
    return h.sum() + z.sum()


def number_of_the_step(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t]) * (1 - 0.001 * t)
    return h.sum()


def last_number(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        last = t
    return h.sum() * last


def arguments_change_places(h, a, xs):
    u, v = xs[0], xs[1]
    for t in range(N - 1):
        h = np.sin(a @ h + xs[t])
        u, v = v, u
    return (h * u).sum() - v.sum()


def arguments_change_places_in_a_tuple(h, a, xs):
    pair = (xs[0], xs[1])
    for t in range(N - 1):
        h = np.sin(a @ h + xs[t])
        pair = (pair[1], pair[0])
    return (h * pair[0]).sum() - pair[1].sum()


def what_was_made_before(h, a, xs):
    u, v, w = h, h * 0.5, np.sin(h)
    for _ in range(60):
        v, u = u, np.sin(v)
        w, u = u, np.sin(w)
    return (u + 2 * v + 3 * w).sum() + (a.sum() * xs).sum()


def parts_of_a_list(h, a, xs):
    parts = [xs[t] for t in range(N)]
    for t in range(N):
        h = np.sin(a @ h + parts[t])
    return h.sum()


PULSE = np.zeros(N)
PULSE[N // 2] = 1.0
LISTED = [0.0] * 100 + [1.0] * 50 + [0.0] * (N - 150)
PLACES = [0] * 100 + [1] * 50 + [0] * (N - 150)


def pulse(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t]) + PULSE[t]
    return h.sum()


def pulse_of_a_list(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t]) + LISTED[t]
    return h.sum()


def pulse_by_a_name(h, a, xs):
    h = np.array([h[0], h[1], h[2]])
    for t in range(N):
        k = PLACES[t]
        h = np.sin(a @ h + xs[k])
    return h.sum()


def pulse_summed_up(h, a, xs):
    h, total = np.array([h[0], h[1], h[2]]), 0.0
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        total = total + LISTED[t]
    return h.sum() * total


def listed_values(h, a, xs):
    matrices = [a] * 100 + [a * 0.5] * 50 + [a] * (N - 150)
    for t in range(N):
        h = np.sin(matrices[t] @ h + xs[t])
    return h.sum()


def kept_for_long(h, a, xs):
    last = [h] * 6
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        last = last[1:] + [h]
    return sum(last).sum()


def kept_in_names(h, a, xs):
    u = v = w = x = y = h
    for t in range(N):
        y, x, w, v, u = x, w, v, u, h
        h = np.sin(a @ h + xs[t])
    return (h - y).sum()


def kept_in_fewer_names(h, a, xs):
    u = v = w = x = h
    for t in range(N):
        x, w, v, u = w, v, u, h
        h = np.sin(a @ h + xs[t])
    return (h * x).sum() + v.sum()


def same_value_twice(h, a, xs):
    start = np.sin(h)
    old, new = start, np.sin(h)  # the same node, and two objects
    for t in range(N - 1):
        old, new = new, old
        h = np.sin(a @ h + xs[t])
    old -= h
    return (start * h).sum()


def lists_trade_places(h, a, xs):
    u, v = [h], [h]
    first = u
    for t in range(N - 1):
        u, v = v, u
        h = np.sin(a @ h + xs[t])
    u += [h]
    return sum(first).sum() + h.sum()


def written_in_turns(h, a, xs):
    now, then = h * 1.0, h * 2.0
    keep = now
    for _ in range(N - 1):
        now, then = then, now
        now += 0.001 * np.sin(a @ then)
    return keep.sum() + (now * xs[0]).sum()


def sign_of_zero(h, a, xs):
    h, s = np.array([h[0], h[1], h[2]]), 0.0
    for t in range(N - 1):
        s = -s
        h = np.sin(a @ h + xs[t])
    return h.sum() + np.copysign(1.0, s)


def number_in_a_list(h, a, xs):
    w = [1.0]
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        w = [w[0] * 0.999]
    return h.sum() * w[0]


def random_each(h, a, xs):
    rng = np.random.default_rng(0)
    for t in range(N):
        h = np.sin(a @ h + xs[t] + rng.normal(size=3))
    return h.sum()


def with_their_numbers(h, a, xs):
    for t, x in enumerate(xs):  # noqa: B007
        h = np.sin(a @ h + x)
    return h.sum() * t


def in_a_ring(value):
    ring = [value]
    ring.append(ring)
    return ring


def rings_trade_places(h, a, xs):
    one, other = in_a_ring(1.0), in_a_ring(1.0)
    for t in range(N - 1):
        h = np.sin(a @ h + xs[t])
        one, other = other, one
    return h.sum() * one[0]

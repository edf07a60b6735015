"""Random functions with long loops, written as text: of some loops steps can be left out, of others they cannot."""

import linecache

import numpy as np

#: statements of a body over the arrays u, v and w, after which every step does what the one before it did
STRAIGHT = (
    "{x} = np.tanh({y} + xs[{place}])",
    "{x} = np.tanh({y} * 0.5 + b @ {z})",
    "{x}, {y} = {y}, np.sin({x})",
    "s = s + ({x} * {y}).sum()",
    "s += np.sum({x})",
    "{x} = {x} * 0.5\n{x} += 0.1 * {y}",
    "{x} = step({y}, xs[t])",
    "{x} = held.of({y})",
    "{x}, q = both({y})\ns = s + q",
    "pair = ({x}, {y})\n{z} = np.cos(pair[0] - pair[1])",
    "{x} = np.tanh(given['b'] @ {y} + given['more'][0])",
    "{x} = np.where({y} > 0.1, {z}, np.cos({z}))",
    "{x} = np.array([{y}[0], {z}[1]]) * 0.5",
    "{x} = b.T.dot({y}).clip(-1, 1)",
    "half = 0.5\n{x} = half * {y} + 0.1",
    "{x} = apply(step, {y})",
    "{x} = np.sin({y})",
    "old, new = new, old",
    "old, new = new, {x}",
    "first, second, third = second, third, first",
    "trio = (trio[1], trio[2], {x})",
    "{x}, {y} = 0.9 * {y}, 0.9 * {x}",
)
#: others, which do something else in some steps, or change what is no traced value
OTHERS = (
    "k = k + 1\n{x} = np.sin({x} + xs[k % 40])",
    "{x} = {x} * rate\nrate = rate * 0.99",
    "{x} = np.tanh({y} + xs[order[t]])",
    "{x} = np.tanh({y} + xs[t // 3])",
    "if t == 17:\n    {x} = {y} * 2",
    "kept.append({x})",
    "last = t",
    "known *= 0.99",
    "known = known * 0.99",
    "np.add(known, 0.1, known)",
    "{x} = {y} * (0.01 * t)",
    "{x} = counted({y})",
    "{x} = there()",
    "weights = [weights[0] * 0.99]\n{x} = {x} * weights[0]",
    "{x} = np.sin({x}) + pulse[t]",
    "s = s + flat[t]",
    "{x} = np.sin({y} + xs[flat[t]])",
    "five = five[1:] + [{x}]",
    "p, q2, r, o = q2, r, o, {x}",
)
PLACES = ("t", "t", "t + 1", "t - 1", "n - 1 - t", "-t - 1", "2 * t - t", "t, 0", "t - 30")
HEADS = ("for t in range(n - 1):", "for t in range(n - 2, -1, -1):", "for t in range(1, n - 1):", "for t in range(40):")

SOURCE = """
count = [0]

def step(h, x=0.1):
    made = np.tanh(h + 0.3 * x)
    return made * 0.9

def both(h):
    return np.sin(h), (h * h).sum()

def apply(f, h):
    return f(h) + 0.1

def counted(h):
    count[0] += 1
    return h * 0.99

class Held:
    factor = 0.7

    def of(self, h):
        return np.sin(h) * self.factor + self.shift

held = Held()
held.shift = 0.2

def reset():
    count[0] = 0
    return 0

def program(a, b, xs):
    n = len(xs){reset}
    u, v, w, s, k, rate, last = a, a * 0.5, np.sin(a), 0.0, 0, 1.0, 0
    given, weights, kept, known, t = {{"b": b, "more": (a, 1.0)}}, [1.0], [], np.ones(2), 0
    p, q2, r, o = a, b[0], b[1], a
    pulse, flat, five = np.eye(60)[30], [0] * 20 + [1] * 20 + [0] * 20, [a] * 5
    old, new, first, second, third, trio = a, b[0], b[0], b[1], a, (a, b[0], b[1])
{loops}
    numbers = k + rate + last + weights[0] + known.sum() + count[0] + t
    arrays = old - 2 * new + first - 3 * second + 5 * third + trio[0] - 7 * trio[1] + trio[2] + sum(five) + p
    return (u * v + w + arrays).sum() + s + numbers + sum(h.sum() for h in kept)
"""


def loop(rng, depth):
    lines = []
    for _ in range(rng.integers(1, 5)):
        pool = OTHERS if rng.random() < 0.12 else STRAIGHT
        names = dict(zip("xyz", rng.permutation(["u", "v", "w"]), strict=True))
        text = pool[rng.integers(len(pool))].format(**names, place=PLACES[rng.integers(len(PLACES))])
        lines += text.split("\n")
    head = HEADS[rng.integers(len(HEADS))]
    if depth and rng.random() < 0.2:
        lines += loop(rng, 0)
        head = "for t in range(5):"
    elif rng.random() < 0.2 and not any("t" in line.split("xs[")[-1] and "xs[" in line for line in lines):
        head = "for row in xs:"
        lines.append("u = u * 0.5 + row")
    return [head, *("    " + line for line in lines)]


class LongLoops:
    """``program(a, b, xs)``, drawn with ``rng``; ``source`` is its text."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        lines = [line for _ in range(rng.integers(1, 3)) for line in loop(rng, 1)]
        if any("there()" in line for line in lines):
            lines = ["def there():", "    return np.sin(xs[order[t]])", *lines]
        reset = " + reset()" if any("counted" in line for line in lines) else ""  # others have no effects
        self.source = SOURCE.format(loops="\n".join("    " + line for line in lines), reset=reset)
        self.arguments = rng.normal(size=2), rng.normal(size=(2, 2)), rng.normal(size=(60, 2)) * 0.3
        name = f"<long loops {seed}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(keepends=True), name)
        space = {"np": np, "order": rng.permutation(60)}
        exec(compile(self.source, name, "exec"), space)
        self.program = space["program"]

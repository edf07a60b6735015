"""Random programs of what moves elements: plain NumPy functions, every step one that NumPy accepts."""

from __future__ import annotations

import math
import random
import warnings
from dataclasses import dataclass, field

import numpy as np

SHAPES = [(5,), (4,), (6,), (2, 3), (3, 3), (2, 2, 2), (), (1,), (3, 1), (1, 4)]
#: elements and rank of what a program may hold
MOST, RANK = 40, 4


@dataclass
class Program:
    """Steps ``(text, function, operands)`` over all values made so far; ``indices`` are passed as arguments."""

    shape: tuple
    indices: list = field(default_factory=list)
    steps: list = field(default_factory=list)

    def __call__(self, x, *indices):
        values = [x]
        for _, function, at in self.steps:
            values.append(function(*[values[k] for k in at], indices))
        return values[-1]

    def __str__(self):
        lines = [f"v{k + 1} = {t} of {', '.join(f'v{a}' for a in at)}" for k, (t, _, at) in enumerate(self.steps)]
        return f"v0: {self.shape}, indices {[i.tolist() for i in self.indices]}\n" + "\n".join(lines)


def entry(r, d):
    """An index along an axis of ``d``: an int or a slice with a positive or negative step."""
    if d and r.random() < 0.2:
        return r.randrange(-d, d)
    ends = [slice(None), slice(None, None, -1), slice(1, None), slice(None, -1), slice(d // 2, d // 2)]
    steps = [slice(r.choice([None, 1]), None, 2), slice(r.choice([None, -1]), r.choice([None, 0]), r.choice([-1, -2]))]
    return r.choice([*ends[: 4 + (r.random() < 0.2)], *steps])


def split(r, count):
    """A shape of ``count`` elements."""
    if not count:
        return r.choice([(0,), (0, 2)])
    shape = []
    while count > 1:
        shape.append(r.choice([d for d in range(2, count + 1) if count % d == 0]))
        count //= shape[-1]
    for _ in range(r.choice([0, 0, 1, 2])):
        shape.insert(r.randint(0, len(shape)), 1)
    return tuple(shape)


def index(r, d, shape=None):
    """An index array with repeats and negative entries."""
    shape = r.choice([(2,), (3,), (2, 2), (1,), (3, 1), (5,)]) if shape is None else shape
    return np.array([r.randrange(-d, d) for _ in range(math.prod(shape))], np.intp).reshape(shape)


def numbers(r, shape):
    """A constant with zeros in it."""
    values = [0.0 if r.random() < 0.4 else round(r.uniform(-1.5, 1.5), 2) for _ in range(math.prod(shape))]
    return np.array(values).reshape(shape)


def axis_of(r, s):
    if not s:
        raise ValueError("no axis")
    return r.randrange(len(s))


def gathered(r, s, program):
    a = axis_of(r, s)
    lead = (slice(None),) * a
    if r.random() < 0.5:
        i = index(r, s[a])
        return f"[{a}: {i.tolist()}]", lambda x, J: x[(*lead, i)]
    program.indices.append(index(r, s[a]))
    k = len(program.indices) - 1
    return f"[{a}: index {k}]", lambda x, J: x[(*lead, J[k])]


def paired(r, s, program):
    a, b = sorted(r.sample(range(len(s)), 2))
    i = index(r, s[a])
    j = r.choice([index(r, s[b], i.shape), r.randrange(s[b])])
    program.indices.append(i)
    k, traced = len(program.indices) - 1, r.random() < 0.5

    def take(x, J):
        at = [slice(None)] * len(s)
        at[a], at[b] = J[k] if traced else i, j
        return x[tuple(at)]

    return f"[{a}, {b}: {i.tolist()}, {np.asarray(j).tolist()}]{' traced' if traced else ''}", take


def assigned(r, s, program):
    at = tuple(entry(r, d) for d in s) if r.random() < 0.6 else index(r, s[0], (2,))

    def put(x, J):
        y = x * 1.0
        y[at] = np.sin(x[at]) if kind else 0.5
        return y

    kind = r.random() < 0.7
    return f"put {at}", put


EINSUMS = ["ii->i", "ii", "ij->ji", "ij,ji->ij", "ij,jk->ik", "ij,ii->j", "ij,jj,ki->k", "iji->ij", "ijj->ji"]
ELEMENTWISE = {
    "sin": np.sin,
    "square": np.square,
    "twice": lambda x: 2 * x,
    "cube": lambda x: x**3 * 0.3,
    "exp": lambda x: np.exp(-x * x),
    "abs": np.abs,
    "clip": lambda x: np.clip(x, -0.4, 0.6),
    "relu": lambda x: np.maximum(x, 0),
    "where": lambda x: np.where(x > 0.1, x * x, np.sin(x)),
    "safe log": lambda x: np.where(x > 0.05, np.log(np.where(x > 0.05, x, 1.0)), x),
}


def einsum(r, s, program):
    fits = [e for e in EINSUMS if all(len(own) == len(s) for own in e.split("->")[0].split(","))]
    e = r.choice(fits)
    return f"einsum {e}", lambda x, J: np.einsum(e, *[x] * (e.count(",") + 1))


def diagonal(r, s, program):
    names = ["diag"] if len(s) == 1 else ["diagonal", "tril", "triu", "trace"]
    name, k = r.choice(names), r.choice([-1, 0, 0, 1])
    return f"{name} {k}", lambda x, J: getattr(np, name)(x, k)


def reduced(r, s, program):
    name = r.choice(["sum", "mean", "max", "min", "prod", "sum"])
    axis = r.choice([None, *range(len(s)), tuple(range(len(s)))])
    keep = r.random() < 0.3
    return f"{name} {axis} {keep}", lambda x, J: getattr(np, name)(x, axis=axis, keepdims=keep)


def along(r, s, program):
    name, a = r.choice(["cumsum", "diff", "sort", "flip"]), axis_of(r, s)
    return f"{name} {a}", lambda x, J: getattr(np, name)(x, axis=a)


def elementwise(r, s, program):
    name = r.choice(list(ELEMENTWISE))
    return name, lambda x, J: ELEMENTWISE[name](x)


def weighted(r, s, program):
    if s and r.random() < 0.5:
        m = numbers(r, (s[-1], 2))
        return f"@ {m.tolist()}", lambda x, J: x @ m
    m = numbers(r, s)
    return f"* {m.tolist()}", lambda x, J: x * m


def moved(r, s, program):
    shape = split(r, math.prod(s))
    order = r.sample(range(len(s)), len(s))
    k = r.randrange(-2, 3)
    kinds = {
        f"reshape {shape}": lambda x, J: x.reshape(shape),
        f"transpose {order}": lambda x, J: np.transpose(x, order),
        f"roll {k}": lambda x, J: np.roll(x, k),
        "ravel F": lambda x, J: x.ravel(order="F"),
        "pad": lambda x, J: np.pad(x, 1 if x.ndim else 0),
        "repeat": lambda x, J: np.repeat(x, 2),
        "tile": lambda x, J: np.tile(x, (2, 1)),
        "new axis": lambda x, J: x[..., None],
        "broadcast": lambda x, J: np.broadcast_to(x, (2, *x.shape)),
    }
    name = r.choice(list(kinds))
    return name, kinds[name]


def sliced(r, s, program):
    at = tuple(entry(r, d) for d in s)
    return f"[{at}]", lambda x, J: x[at]


def multiplied(r, s, program):
    axis_of(r, s)
    kinds = {
        "outer": lambda x, J: np.outer(x, x),
        "differences of pairs": lambda x, J: x[..., :, None] * (x[..., None, :] + 1),
        "Gram": lambda x, J: x @ np.swapaxes(x, -1, -2),
        "softmax": lambda x, J: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True),
    }
    name = r.choice(list(kinds))
    return name, kinds[name]


UNARY = [sliced, sliced, moved, moved, moved, gathered, gathered, paired, assigned, einsum, diagonal, reduced, along]
UNARY += [elementwise, elementwise, weighted, multiplied]
BINARY = {
    "+": lambda a, b, J: a + b,
    "-": lambda a, b, J: a - b,
    "*": lambda a, b, J: a * b,
    "maximum": lambda a, b, J: np.maximum(a, b),
    "where": lambda a, b, J: np.where(a < b, a * b, a),
    "divide": lambda a, b, J: a / (1.5 + b * b),
    "matmul": lambda a, b, J: a @ b,
    "outer": lambda a, b, J: np.multiply.outer(a, b),
    "concatenate": lambda a, b, J: np.concatenate([a, b * 2.0]),
    "stack": lambda a, b, J: np.stack([a, b], -1),
    "flat": lambda a, b, J: np.concatenate([a.ravel(), b.ravel()]),
}


def random_program(seed, most=7, shapes=SHAPES):
    """A program whose every step NumPy accepts, and a point."""
    r = random.Random(seed)
    program = Program(r.choice(shapes))
    x = np.random.default_rng(seed).uniform(-1, 1, program.shape)
    values = [x]
    for _ in range(r.randint(1, most)):
        known = len(program.indices)
        last = len(values) - 1
        try:
            if r.random() < 0.7:
                at = (last if r.random() < 0.8 else r.randint(0, last),)
                text, function = r.choice(UNARY)(r, values[at[0]].shape, program)
            else:
                at = (last, r.randint(0, last))[:: r.choice([1, -1])]
                text = r.choice(list(BINARY))
                function = BINARY[text]
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                made = np.asarray(function(*[values[k] for k in at], program.indices))
            if made.size > MOST or made.ndim > RANK or np.abs(made).max(initial=0) > 50:
                raise ValueError
            values.append(made)
            program.steps.append((text, function, at))
        except (ValueError, IndexError, TypeError, RuntimeWarning):  # this step does not fit; go on without it
            del program.indices[known:]
    return program, x

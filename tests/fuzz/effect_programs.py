"""Random functions that do more than compute: they count, keep, take from iterators, catch, ask what things are.

Each lives in a world of its own, made anew from the same text: ``program(x, v, n, given)`` of a number, a vector, an
int and a dict. ``a`` is a number and ``w`` a vector throughout; what a statement keeps is the world's.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

#: what the world holds, and the functions that work on it
WORLD = """
import collections, contextlib, contextvars, copy, dataclasses, enum, functools, io, itertools, math, operator, random
import threading, types, array
import numpy as np

count = {"n": 0, "f": 0}
numbers = itertools.count(1)
batches = iter([0.1 * k for k in range(1, 200)])
history, kept, seen, stack = [], [], set(), [1.0]
queue = collections.deque([0.5, 0.25])
order = collections.OrderedDict(a=1.0, b=2.0, c=3.0)
tally = collections.Counter()
groups = collections.defaultdict(list)
vec, items, table = np.array([1.0, 0.5, 0.25]), [1.0, 2.0, 3.0], {"k": 1.5}
log, raw = io.StringIO(), array.array("d", [1.0, 2.0])
rng, dice = np.random.default_rng(5), random.Random(7)
level = contextvars.ContextVar("level", default=1.0)
local, lock = threading.local(), threading.Lock()
scale, steps = 1.0, 0


class Total:
    made = 0

    def __init__(self):
        self.sum, self.parts, self.asked = 0.0, [], 0
        Total.made += 1

    def add(self, t):
        self.sum = self.sum + t
        self.parts.append(t)
        return self.sum * 0.1

    def __call__(self, t):
        self.asked += 1
        return t * self.asked

    @property
    def turn(self):
        self.asked += 1
        return self.asked * 0.5

    def __getattr__(self, name):
        if name.startswith("get_"):
            return 0.25
        raise AttributeError(name)

    def __enter__(self):
        self.parts.append("in")
        return self

    def __exit__(self, kind, error, trace):
        self.parts.append("out" if kind is None else kind.__name__)
        return kind is KeyError

    def __iter__(self):
        self.asked += 1
        return iter([0.5, 0.25])

    def __len__(self):
        return 2 + len(self.parts)

    def __eq__(self, other):
        self.asked += 1
        return isinstance(other, Total)

    def __hash__(self):
        return 3


class Level(enum.Enum):
    LOW, HIGH = 1, 2


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.5


Pair = collections.namedtuple("Pair", "first second")
total, point = Total(), Point(1.0)


def ticking():
    n = 0

    def tick():
        nonlocal n
        n += 1
        return 1 + 0.1 * n

    return tick


tick = ticking()


def drawn():
    k = 0
    while True:
        k += 1
        got = yield 0.3 * k
        if got is not None:
            k += 10


source = drawn()
next(source)


def walking(w):
    for t in w:
        count["n"] += 1
        yield t * 0.5


def stored(t, store=[]):
    store.append(1)
    return t * len(store)


def attributed(t):
    attributed.calls = getattr(attributed, "calls", 0) + 1
    return t + attributed.calls


@functools.lru_cache(maxsize=None)
def cached(k):
    count["f"] += 1
    return 0.5 * k


def noted(t):
    history.append(float(t))
    return t * 1.1


def changes(w):
    w[0] = w[1] * 2
    return w


def recursed(t, depth):
    count["n"] += 1
    return t if depth == 0 else recursed(t * 1.1, depth - 1)


@contextlib.contextmanager
def scaled(t):
    stack.append(t)
    try:
        yield t * 0.5
    finally:
        stack.pop()
"""

#: statements that keep, count, write or ask
STATEMENTS = (
    "count['n'] += 1\na = a + count['n'] * 0.1",
    "count['n'] += {k}",
    "a = a * (1 + 0.01 * next(numbers))",
    "a = a + next(batches)",
    "a = a + sum(t for t, _ in zip(batches, range({k})))",
    "a = a + (0.1 if any(t > 0.35 for t in batches) else 0.2)",
    "first, *rest = itertools.islice(batches, 3)\na = a + first * rest[0]",
    "a = a + next(source)",
    "a = a * source.send(1)",
    "a = a + total.add(a)",
    "a = total(a)",
    "a = a * total.turn",
    "a = a + total.get_this",
    "a = a + sum(total)",
    "a = a * len(total)",
    "a = a * (2 if total == Total() else 3)",
    "history.append(a)\na = a + len(history) * 0.01",
    "history.append(float(a))",
    "history.extend(w)",
    "history[:0] = [a, 1.0]",
    "kept.append(w)\na = a + kept[-1][0]",
    "kept.append(a * a)\na = a + sum(map(np.sum, kept[-2:])) * 0.1",
    "kept.append((a, {{'w': w}}))",
    "kept.extend([w[0], a])",
    "kept.append(Point(a, w))\na = a + kept[-1].x",
    "kept.append({{'point': Point(a), 'pair': Pair([a], w)}})",
    "queue.append([a, w[0]])\nqueue.popleft()\nqueue.appendleft(0.5)\nqueue.pop()",
    "queue.extend([a, w[0]])",
    "groups['q'] = collections.deque([a])",
    "a = a + stack.pop() if len(stack) > 1 else a * 2",
    "stack.append(w[{i}])\na = a + stack.pop()",
    "seen.add(int(a * 10) % 5)\na = a + len(seen)",
    "seen.add(n)",
    "queue.append(a)\na = a * 0.5 + queue.popleft()",
    "queue.rotate(1)\na = a + queue[0] * 0.1",
    "order.move_to_end('a')\na = a * next(iter(order.values()))",
    "order['d'] = order.pop('d', 0.5) + 1\na = a + list(order.values())[-1]",
    "tally[n] += 1\na = a + tally[n]",
    "tally.update('ab' * {k})",
    "groups[n % 2].append(a)\na = a + len(groups)",
    "groups['w'].append(w.sum())",
    "table['k'] = table.get('k', 0) * 1.5\na = a * table['k']",
    "table.setdefault('first', a)\na = a + table['first'] * 0.1",
    "table.update(last=a, n=n)",
    "table[f'n{{n}}'] = a",
    "del table[list(table)[-1]]\ntable['k'] = 1.5",
    "vec[{i}] += 0.5\nw = w * vec",
    "vec[:] = vec[::-1]\na = a + vec[0]",
    "np.add(vec, 0.1, out=vec)\nw = w + vec",
    "vec[vec > 1] *= 0.5\na = a * vec.sum()",
    "vec.sort()\nw = vec * w",
    "np.fill_diagonal(vec.reshape(1, 3), 2.0)\nw = w * vec",
    "items[{i}] = items[{i}] * 1.5\na = a * items[{i}]",
    "items.sort(key=lambda t: -t)\na = a * items[0]",
    "items.reverse()\na = a + items[0]",
    "alias = items\nalias.append(0.5)\na = a * len(items)",
    "log.write('line\\n')\na = a + log.tell() * 0.01",
    "log.write(f'{{a:.2f}};')",
    "log.write(str(n))\na = a + len(log.getvalue())",
    "raw.append(1.5)\na = a * raw[-1] + len(raw)",
    "raw[0] += 0.5\na = a + raw[0]",
    "a = a + rng.normal() * 0.1",
    "w = w + rng.uniform(size=3)",
    "a = a * dice.random()",
    "dice.shuffle(items)\na = a + items[0]",
    "level.set(level.get() * 1.5)\na = a * level.get()",
    "local.n = getattr(local, 'n', 0) + 1\na = a + local.n",
    "a = a * tick()",
    "a = stored(a)",
    "a = attributed(a)",
    "a = a + cached({k}) + cached(n)",
    "a = noted(a)",
    "w = changes(w.copy())",
    "a = recursed(a, {k})",
    "a = a + sum(walking(w))",
    "a = a + next(walking(w))",
    "a = a + max(walking(w))",
    "w = np.array([noted(t) for t in w])",
    "w = np.fromiter(map(noted, w), float)",
    "w = np.array(sorted(w, key=lambda t: (count.update(f=count['f'] + 1), t)[1]))",
    "a = functools.reduce(lambda s, t: s + noted(t), w, a)",
    "a = a + Total.made\nTotal.made += 1",
    "point.x = point.x + 1\na = a * point.x",
    "point.y = a",
    "here = dataclasses.replace(point, y=a)\na = a + here.x * here.y",
    "fresh = Total()\nfresh.add(a)\nfresh.extra = w\na = a + fresh.sum + fresh.extra[0]",
    "both = copy.copy(total)\nboth.sum = 5.0\na = a + both.sum + total.sum * 0.1",
    "both = copy.deepcopy(items)\nboth[0] = a\na = a + both[0] * items[0]",
    "setattr(total, 'more', n)\na = a + total.more",
    "total.last = a\ndel total.last",
    "vars(total)['asked'] += 1\na = a + total.asked",
    "pair = Pair(a, w)._replace(second=n)\na = pair.first + pair.second",
    "global scale\nscale = scale * 1.1\na = a * scale",
    "global steps\nsteps += 1\na = a + steps",
    "u = w.copy()\nu[{i}] = a\nw = u",
    "u = np.zeros(3)\nu[:2] = w[1:]\nu[2] = a\nview = u[1:]\nview *= 2\nw = u",
    "u = np.empty((2, 3))\nu[0], u[1] = w, a\nw = u.sum(axis=0)",
    "given['b'][0] = a\na = a + given['b'][0] * given['c']",
    "given['n'] = given.get('n', 0) + 1\na = a * given['n']",
    "held = given\nheld['z'] = w[0]\na = a + given['z']",
    "given['b'].append(1.0)\na = a + len(given['b'])",
    "a = a + given.pop('c')\ngiven['c'] = 0.5",
    "a = a * (2 if isinstance(a, float) else 3)",
    "a = a * (1 + isinstance(w, np.ndarray)) + isinstance(n, int)",
    "a = a + len(type(w).__name__) + len(type(n).__name__)",
    "a = a * (1.5 if hasattr(w, 'shape') and not hasattr(n, 'shape') else 2.5)",
    "a = a + w.ndim + w.shape[0] + w.size + np.ndim(a)",
    "a = a + n // 2 + n % 3 + (n << 1)",
    "a = a + int(a) % 3 + round(float(a), 1)",
    "a = a + math.floor(a) * 0.1 + math.trunc(a)",
    "a = a * ({k} + n) ** 2 % 7",
    "a = a + sum(divmod(int(a * 3), 2))",
    "a = a + (w > 0.5).sum() + np.count_nonzero(w)",
    "a = a + int(np.argmax(w)) + w.argsort()[0]",
    "a = a * (3 if n in (2, 3) else 4) * (1 if a is not None else 2)",
    "a = a if a == a and w[0] is not w[1] else 0 * a",
    "a = float(a) * 1.0\na = a + a.real",
    "a = a * {{'x': 2, 'y': 3}}['x' if w[0] > 0 else 'y']",
    "a = a * [1, 2, 3][int(a) % 3]",
    "try:\n    a = a * table['missing']\nexcept KeyError:\n    a = a * 1.1",
    "try:\n    a = a * table['missing']\nexcept KeyError as error:\n    a = a * len(error.args)",
    "try:\n    a = a + items[99]\nexcept (KeyError, IndexError):\n    count['f'] += 1\nfinally:\n    a = a * 1.05",
    "try:\n    a = a + w[7]\nexcept IndexError:\n    a = a + 0.1",
    "try:\n    raise ValueError(n)\nexcept ValueError as error:\n    a = a + error.args[0] * 0.1",
    "try:\n    a = a / (n - n)\nexcept ZeroDivisionError:\n    a = a + 1\nelse:\n    a = a + 2",
    "try:\n    a = a + math.sqrt(-1.0 - n)\nexcept ValueError:\n    a = a * 0.9",
    "try:\n    a = a + total.nothing\nexcept AttributeError:\n    count['n'] += 1",
    "try:\n    a = a + int('x')\nexcept ValueError:\n    history.append('x')",
    "try:\n    w = w + np.ones(4)\nexcept ValueError:\n    w = w + 0.5",
    "try:\n    t = iter([])\n    a = a + next(t)\nexcept StopIteration:\n    a = a * 1.2",
    "try:\n    assert n > 100, 'few'\nexcept AssertionError as error:\n    a = a + len(str(error))",
    "with contextlib.suppress(KeyError):\n    a = a + 1\n    a = a * table['missing']",
    "with lock:\n    count['n'] += 1\n    a = a * 1.5",
    "with total as t:\n    a = a + t.sum\n    a = a * table['missing']",
    "with total:\n    a = a * 1.5",
    "with scaled(a) as half:\n    a = a + half + len(stack)",
    "match given:\n    case {{'c': c}}:\n        a = a * c\n    case _:\n        a = a * 5",
    "match n:\n    case 2 | 3:\n        a = a + 1\n    case int():\n        a = a + 2",
    "if (m := len(history)) > {k}:\n    a = a + m\nelse:\n    a = a * 1.5",
    "for k, t in enumerate(items):\n    if t > 2:\n        break\n    a = a + t * k\nelse:\n    a = a * 2",
    "k = 0\nwhile k < {k}:\n    k += 1\n    if k == 2:\n        continue\n    a = a * 1.1 + next(batches)",
    "a = a * Level(1 + n % 2).value",
    "a = a + (lambda *t, **k: t[0] * k['c'])(a, c=given['c'])",
    "a = operator.attrgetter('x')(point) * a",
    "function = functools.partial(noted)\na = function(a)",
    "a, w = (lambda s: (s, w * s))(a)",
    "a = a + np.vectorize(noted)(w).sum()",
    "a = a + np.apply_along_axis(lambda t: noted(t[0]) + t[1], 0, w)",
    "w = np.where(w > 0.5, w, count['n'] + w)",
    "a = np.float64(a) + np.sum(a) + np.max([a, 0.5])",
    "with open(path, 'a') as file:\n    file.write('x')\nwith open(path) as file:\n    a = a * len(file.read())",
)
#: what computes alone
PLAIN = (
    "a = np.sin(a) + w[{i}]",
    "w = w * a",
    "a = a * w.sum()",
    "w = np.tanh(w) + 0.1",
    "a = math.exp(-a * a) + 0.5",
    "a = a + w @ w",
    "w = w[::-1] + a",
    "a = float(w[{i}]) * a",
    "a = 1 / (1 + math.exp(-a))",
)
BLOCKS = (
    "if {test}:\n{one}\nelse:\n{other}",
    "for k in range({k}):\n{one}",
    "for t in w:\n    a = a + 0.1 * t\n{one}",
    "try:\n{one}\n    if {test}:\n        raise KeyError('here')\nexcept KeyError:\n{other}",
    "with total:\n{one}",
)
TESTS = (
    "a > 0.7",
    "w[{i}] > 0.4",
    "n > 2",
    "count['n'] % 2",
    "len(history) > 1",
    "isinstance(a, float)",
    "w.sum() > a",
)
RETURNS = ("a", "a + w.sum()", "a * w[0] + n", "float(a)", "np.sum(w) * a", "w @ w + a")


#: numbers of the worlds, each of which has a file of its own in the current folder
_COUNT = itertools.count()


class World:
    """``program`` of one world, and the arguments of its calls."""

    def __init__(self, seed: int, lines: list[str] | None = None) -> None:
        rng = np.random.default_rng(seed)
        drawn = _body(rng, int(rng.integers(2, 7)), 2)
        self.seed, self.lines = seed, drawn if lines is None else lines
        self.result = RETURNS[rng.integers(len(RETURNS))]
        self.points = [
            (float(x), v) for x, v in zip(rng.uniform(0.3, 1.7, 2), rng.uniform(0.2, 1.2, (2, 3)), strict=True)
        ]
        self.n = int(rng.integers(1, 5))

    @property
    def text(self) -> str:
        head = [line for line in self.lines if line.strip().startswith("global ")]
        body = [line for line in self.lines if not line.strip().startswith("global ")]
        told = dict.fromkeys(line.strip() for line in head)
        lines = [*told, "a, w = x, v * 1.0", *body, f"return {self.result}"]
        return "\n".join(["def program(x, v, n, given):", *("    " + line for line in lines)]) + "\n"

    def made(self) -> Callable[..., Any]:
        """The function, in a new world."""
        text = WORLD + "\n\n" + self.text
        name = f"<effects {self.seed} {hash(text)}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        space: dict[str, Any] = {"__name__": "world", "path": f"world {next(_COUNT)}"}
        exec(compile(text, name, "exec", dont_inherit=True), space)
        return space["program"]

    def calls(self) -> list[tuple]:
        """The arguments of each call: the first twice, and others."""
        first, second = self.points
        made = [first, first, second, first]
        return [(x, v.copy(), self.n + (k == 2), {"b": [1.0], "c": 2.0}) for k, (x, v) in enumerate(made)]


def _body(rng: np.random.Generator, count: int, depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(count):
        names: dict[str, Any] = {"k": int(rng.integers(1, 4)), "i": int(rng.integers(3))}
        if depth and rng.random() < 0.2:
            text = BLOCKS[rng.integers(len(BLOCKS))]
            names["test"] = TESTS[rng.integers(len(TESTS))].format(**names)
            for part in ("one", "other"):
                names[part] = "\n".join("    " + line for line in _body(rng, int(rng.integers(1, 3)), depth - 1))
        else:
            pool = PLAIN if rng.random() < 0.25 else STATEMENTS
            text = pool[rng.integers(len(pool))]
        lines += text.format(**names).split("\n")
    return lines

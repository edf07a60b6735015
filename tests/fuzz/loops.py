"""Random programs of loops: scans, counted and conditional loops, nested, with branches and writes into arrays.

A program is the source of ``program(lib, a, b, X, Y)``: ``lib`` has the loops, either symgrad's, or ``Unrolled``, which
runs the steps one after the other in Python.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.tracing.tree import flatten, tree_map, unflatten

WIDTH = 3
LENGTHS = (0, 1, 2, 5, 7)
HEAD = "def program(lib, a, b, X, Y):"
M = np.array([[0.3, -0.2, 0.1], [0.0, 0.4, 0.5], [-0.6, 0.2, 0.1]])


@dataclass(frozen=True)
class LoopProgram:
    """The source of a program, and the shapes and the dtype of its arguments."""

    seed: int
    source: str
    length: int
    dtype: str

    def point(self) -> list[np.ndarray]:
        """The arguments."""
        rng = np.random.default_rng(self.seed)
        shapes = ((), (WIDTH,), (self.length, WIDTH), (self.length,))
        return [np.asarray(rng.uniform(-1.2, 1.2, s), self.dtype)[()] for s in shapes]

    def with_lib(self, lib: Any) -> Callable[..., Any]:
        """The program as a function of its arguments."""
        scope = {"np": np, "M": M.astype(self.dtype), "F": np.dtype(self.dtype).type}
        name = f"<loops {self.seed}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(keepends=True), name)
        exec(compile(self.source, name, "exec"), scope)
        return lambda *args: scope["program"](lib, *args)


class Unrolled:
    """The loops as Python runs them, on arrays or on traced values."""

    @staticmethod
    def scan(step: Callable, carry: Any, xs: Any = None, length: Any = None, reverse: bool = False, **_: Any) -> Any:
        arrays, structure = flatten(xs) if xs is not None else ([], None)
        count = len(arrays[0]) if arrays else length
        carry, kept = tree_map(_array, carry), []
        order = range(count)
        for t in reversed(order) if reverse else order:
            item = None if xs is None else unflatten(structure, [v[t] for v in arrays])
            carry, y = step(carry, item)
            kept.append(tree_map(_taken, y))
        if not kept:
            empty = None if xs is None else unflatten(structure, [np.sum(v[:0], axis=0) for v in arrays])
            _, y = step(tree_map(_taken, carry), empty)
            return carry, tree_map(_none_of, y)
        if reverse:
            kept.reverse()
        columns = zip(*[flatten(y)[0] for y in kept], strict=True)
        return carry, unflatten(flatten(kept[0])[1], [None if c[0] is None else np.stack(c) for c in columns])

    @staticmethod
    def fori_loop(lower: int, upper: int, body: Callable, carry: Any) -> Any:
        carry = tree_map(_array, carry)
        for i in range(lower, upper):
            carry = body(np.int64(i), carry)
        return carry

    @staticmethod
    def while_loop(condition: Callable, body: Callable, carry: Any) -> Any:
        carry = tree_map(_array, carry)
        while condition(carry):
            carry = body(carry)
        return carry

    @staticmethod
    def cond(pred: Any, true_fn: Callable, false_fn: Callable, *operands: Any) -> Any:
        return (true_fn if pred else false_fn)(*operands)

    @staticmethod
    def checkpoint(fn: Callable) -> Callable:
        return fn


def _none_of(value: Any) -> Any:
    """What no step has kept."""
    return None if value is None else np.zeros((0, *np.shape(value)), np.result_type(value))


def _array(value: Any) -> Any:
    """A Python number as an array; a copy, which a step may write into."""
    return np.asarray(value)[()] if type(value) in (bool, int, float) else _taken(value)


def _taken(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) and np.ndim(value) else value


class Writer:
    """Writes the statements of one function; ``names`` are those at hand, by their kind.

    Kinds are ``s`` and ``v``, a float and a vector of floats, ``i`` an integer and ``B`` a truth value.
    """

    def __init__(self, rng: random.Random, names: dict[str, list[str]], indent: int, depth: int) -> None:
        self.rng = rng
        self.names = {kind: [*own] for kind, own in names.items()}
        self.indent = indent
        self.depth = depth
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fresh(self, kind: str) -> str:
        name = f"{kind}{self.rng.randrange(10**6)}"
        self.names[kind].append(name)
        return name

    def pick(self, kind: str) -> str:
        own = self.names[kind]
        if kind == "i" and not own:
            return str(self.rng.randrange(3))
        if kind == "B" and not own:
            return f"({self.pick('s')} > 0.1)"
        return self.rng.choice(own[-4:] if self.rng.random() < 0.7 else own)

    def bind(self, kind: str, text: str) -> str:
        name = self.fresh(kind)
        self.line(f"{name} = {text}")
        return name

    def statement(self) -> None:
        roll = self.rng.random()
        if roll < 0.4:
            self.bind("s", self.scalar())
        elif roll < 0.72:
            self.bind("v", self.vector())
        elif roll < 0.78:
            self.bind("i", self.integer())
        elif roll < 0.84:
            self.bind(
                "B", self.rng.choice([f"{self.pick('s')} > {self.pick('s')}", f"np.all({self.pick('v')} > -0.5)"])
            )
        elif roll < 0.92:
            self.write()
        elif self.depth > 0:
            self.loop()
        else:
            self.chosen()

    def scalar(self) -> str:
        s, t, v, w, i = (self.pick(k) for k in ("s", "s", "v", "v", "i"))
        return self.rng.choice(
            [
                f"np.sin({s}) * {t}",
                f"np.tanh({s} + {t})",
                f"{s} * 0.5 - {t}",
                f"{s} / (1.5 + {t} * {t})",
                f"np.sum({v} * {w})",
                f"{v} @ {w} * 0.3",
                f"{v}[{self.rng.randrange(WIDTH)}]",
                f"np.where({s} > 0.2, {s} * {t}, np.cos({t}))",
                f"np.where({s} > 0.0, np.sqrt({s}), 0.25 * {t})",
                f"np.exp(-{s} * {s})",
                f"np.tanh(({i} * {s}).astype(F))",
                f"np.where({self.pick('B')}, {s}, {t} * 0.7)",
                f"np.mean({v}) + {s}",
                f"np.max({v}) * 0.5",
            ]
        )

    def vector(self) -> str:
        s, v, w = self.pick("s"), self.pick("v"), self.pick("v")
        return self.rng.choice(
            [
                f"np.sin({v}) + {w} * 0.3",
                f"{v} * {s}",
                f"np.tanh(M @ {v} + {w})",
                f"{v} - {w} * {s}",
                f"np.roll({v}, 1) * 0.9",
                f"{v}[::-1] + {s}",
                f"np.where({v} > 0, {v} * {w}, {s})",
                f"np.where({v} > 0, np.log({v}), {w})",
                f"np.concatenate([{v}[1:], {w}[:1]])",
                f"{v} / (1.0 + {w} * {w})",
                f"np.stack([{s}, {s} * 0.5, {v}[0]])",
                f"np.cumsum({v}) * 0.3",
            ]
        )

    def integer(self) -> str:
        i = self.pick("i")
        return self.rng.choice([f"({i} + 1) % 3", f"{i} * 2 - 1", f"np.where({self.pick('B')}, {i}, {i} + 2)"])

    def write(self) -> None:
        name = self.bind("v", f"{self.pick('v')} * 1")
        k = self.rng.randrange(WIDTH)
        place = f"{self.pick('i')} % {WIDTH}"
        self.line(
            self.rng.choice(
                [
                    f"{name}[{k}] = {self.pick('s')}",
                    f"{name}[{k}] += {self.pick('s')} * 0.5",
                    f"{name}[1:] *= {self.pick('v')}[:-1]",
                    f"{name}[:] = np.sin({name})",
                    f"{name}[{place}] = {self.pick('s')}",
                    f"{name}[{place}] += {self.pick('v')}[{place}] * 0.5",
                    f"{name}[1:][::-1][{place} // 2] *= {self.pick('s')}",
                ]
            )
        )

    def chosen(self) -> None:
        s, v = self.pick("s"), self.pick("v")
        root = self.rng.choice(["np.sqrt(t)", "np.log(t)", "1 / t", "t**0.3"])
        truth = self.pick("B")
        name = self.fresh("s")
        if self.rng.random() < 0.5:
            self.line(f"{name} = lib.cond({s} > 0.05, lambda t: {root} * 0.4, lambda t: t * 0.5, {s})")
        else:
            other = self.fresh("v")
            self.line(
                f"{name}, {other} = lib.cond({truth}, lambda t, u: (np.sin(t), u * t), "
                f"lambda t, u: (t * t, np.tanh(u)), {s}, {v})"
            )

    # loops

    def loop(self) -> None:
        rng = self.rng
        kinds = [rng.choice("svsvvi") for _ in range(rng.randrange(1, 4))]
        starts = [self.pick(k) for k in kinds]
        if rng.random() < 0.15:
            kinds.append("s")
            starts.append("F(0.5)")
        if rng.random() < 0.15:
            kinds.append("B")
            starts.append("np.bool_(False)")
        names = [f"c{k}{rng.randrange(10**6)}" for k in range(len(kinds))]
        nested = rng.random() < 0.5
        pack = (lambda vs: "{" + ", ".join(f"'k{k}': {v}" for k, v in enumerate(vs)) + "}") if nested else _tuple
        which = rng.random()
        step = f"step{rng.randrange(10**6)}"
        inner = Writer(rng, self.names, self.indent + 1, self.depth - 1)
        carry = f"carry{rng.randrange(10**6)}"
        top = which < 0.75
        self.line(f"def {step}({'carry, x' if top else 'i, carry'}):")
        for k, (kind, name) in enumerate(zip(kinds, names)):
            inner.line(f"{name} = carry[{repr(f'k{k}') if nested else k}]")
            inner.names[kind].append(name)
        xs, items = "None", []
        if top:
            xs, items = self.arrays()
            for kind, text in items:
                inner.bind(kind, text)
        else:
            inner.names["i"].append("i")
        for _ in range(rng.randrange(1, 6)):
            inner.statement()
        nexts = [self.next_of(inner, kind, name) for kind, name in zip(kinds, names)]
        kept = [(k, inner.pick(k)) for k in rng.choices("svvi", k=rng.randrange(3))] if top else []
        if top and rng.random() < 0.1:
            kept.append(("s", "F(1.5)"))
        inner.line(f"return {pack(nexts)}" + (f", {_tuple([t for _, t in kept]) if kept else 'None'}" if top else ""))
        self.lines += inner.lines
        if top:
            options = f", reverse={rng.random() < 0.4}, checkpoint={rng.choice([None, None, None, 'sqrt', 1, 2, 3])!r}"
            if xs == "None":
                options = f", None, {rng.choice((0, 1, 2, 4))}" + options
            else:
                options = f", {xs}" + options
            self.line(f"{carry}, ys{carry} = lib.scan({step}, {pack(starts)}{options})")
        else:
            low, count = rng.randrange(-1, 2), rng.choice((0, 1, 2, 4))
            self.line(f"{carry} = lib.fori_loop({low}, {low + count}, {step}, {pack(starts)})")
        for k, kind in enumerate(kinds):
            self.bind(kind, f"{carry}[{repr(f'k{k}') if nested else k}]")
        for k, (kind, _) in enumerate(kept):
            if kind == "s":
                self.bind("s", f"np.sum(ys{carry}[{k}] * 0.3)")
            elif kind == "v":
                self.bind("v", f"np.sum(ys{carry}[{k}], axis=0) * 0.2")
                self.bind("s", f"np.sum(np.sin(ys{carry}[{k}]))")
            else:
                self.bind("i", f"np.sum(ys{carry}[{k}]) % 3")

    def next_of(self, inner: Writer, kind: str, name: str) -> str:
        """What a carry becomes; it stays bounded."""
        other = inner.pick(kind)
        if kind in "sv":
            return self.rng.choice(
                [f"np.tanh({other})", f"np.sin({name} + {other})", f"{name} * 0.9 + 0.1 * {other}", other]
            )
        if kind == "i":
            return self.rng.choice([f"({other} + 1) % 4", f"{name} + 1", name])
        return self.rng.choice([f"~{name}", f"{name} | ({inner.pick('s')} > 0)", other])

    def arrays(self) -> tuple[str, list[tuple[str, str]]]:
        """What a scan goes over, and the parts of an element of it."""
        return self.rng.choice(
            [
                ("X", [("v", "x")]),
                ("Y", [("s", "x")]),
                ("(X, Y)", [("v", "x[0]"), ("s", "x[1]")]),
                ("{'x': X, 'n': np.arange(len(Y))}", [("v", "x['x']"), ("i", "x['n']")]),
                ("None", []),
                ("np.sin(X) * a", [("v", "x")]),
            ]
        )


def _tuple(texts: list[str]) -> str:
    return f"({', '.join(texts)},)"


def random_loops(seed: int) -> LoopProgram:
    """The program of a seed."""
    rng = random.Random(f"loops {seed}")
    writer = Writer(rng, {"s": ["a"], "v": ["b"], "i": [], "B": []}, 1, 2)
    for _ in range(rng.randrange(3)):
        writer.bind(*rng.choice([("s", writer.scalar()), ("v", writer.vector())]))
    writer.loop()
    for _ in range(rng.randrange(2)):
        writer.statement()
    if rng.random() < 0.1:
        writer.line("def kept(t, u):")
        writer.line("    return np.sin(t) * u, np.tanh(u)")
        call = f"lib.checkpoint(kept)({writer.pick('s')}, {writer.pick('v')})"
        writer.line(f"{writer.fresh('v')}, {writer.fresh('v')} = {call}")
    if rng.random() < 0.1:
        goes_on, step = (
            "lambda c: (c[0] < 6) & (c[1] < 0.8)",
            f"lambda c: (c[0] + 1, np.cos(c[1]) * {writer.pick('s')})",
        )
        begun = f"(0, {writer.pick('s')} * 1)"
        writer.line(f"_, {writer.fresh('s')} = lib.while_loop({goes_on}, {step}, {begun})")
    results = [writer.pick("s"), writer.pick("v"), writer.names["s"][-1], writer.names["v"][-1]]
    writer.line(f"return {results[0]} + {results[2]}, {results[1]} * {results[3]}")
    dtype = "float32" if rng.random() < 0.15 else "float64"
    return LoopProgram(seed, "\n".join([HEAD, *writer.lines]) + "\n", rng.choice(LENGTHS), dtype)

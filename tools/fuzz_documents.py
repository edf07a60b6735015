"""Documents for ``fuzz_load.py``: valid ones of every kind, mutated and spliced, and random ones."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.transforms.loops import fori_loop, scan

_PALETTE: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 63, 64, 2**31, 2**40, 2**63, 2**64, -(2**63), 10**30, 10**300, 10**3000),
    *(0.5, -0.0, 1e308, 1e-320, None, True, False, "", "x", "n", "nan", "inf", "-inf", "float64", "float32", "int64"),
    *("bool", "sin", "einsum", "custom", "reshape", "slice", "ij,jk->ik", "->iiii", "matmul", "sum"),
    *("__import__", "os.system('true')", "\ud800", "é" * 50, "a" * 5000, [], {}, [[]], [0]),
    *({"add": ["n", 1]}, {"mul": ["n", "n"]}, {"pow": ["n", 8]}, {"rational": [1, 3]}, {"at": 0}),
)


def documents() -> list[str]:
    """Valid documents of every kind: what is mutated and spliced."""
    x, A = np.array([0.3, -0.7, 1.1]), np.arange(9.0).reshape(3, 3) / 7 + 2 * np.eye(3)
    k = np.array([2, 0])
    return [
        sg.grad(lambda w, X, y: np.sum(np.log(1 + np.exp(-y * (X @ w))))).export("json", x, A, x),
        sg.hessian(lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2)).export("json", x),
        sg.grad(lambda X, A: np.linalg.slogdet(X)[1] + np.trace(np.linalg.solve(A, X))).export("json", A, A.T.copy()),
        sg.value_and_grad(lambda x: np.sum(np.sort(x) * np.cumsum(x)) if x[0] > 0 else x[1]).export("json", x),
        sg.grad(lambda X, w: np.mean(np.tanh(X[1:] @ w) ** 2)).export("json", "n d", "d"),
        sg.grad(lambda x: np.sum(np.reshape(np.outer(x, x), -1)[:7]) + x.size).export("json", "n"),
        sg.jacobian(lambda x: {"a": np.max(x), "b": [np.convolve(x, x), 2]}["b"][0]).export("json", x),
        sg.symbolic(lambda x, k: {"a": np.take(x, k), "b": (np.argmax(x), None, 1.5)}).export("json", x, k),
        sg.grad(lambda a, x: np.sum(a * x.astype(np.float32))).export("json", 2.0, x.astype(np.float32)),
        sg.symbolic(lambda x: np.where(x > 0, np.ones(300)[: x.size], x) * (x.size * (x.size - 1) / 2)).export(
            "json", x
        ),
        sg.jacobian(lambda x: np.concatenate([np.prod(x, keepdims=True), x[::-2]])).export("json", x),
        sg.grad(lambda x: np.sum(np.interp(x, A[0], A[1])) + np.linalg.norm(x)).export("json", x),
        sg.symbolic(_special).export("json", np.abs(x)),
        sg.jacobian(_recurrent, mode="reverse").export("json", x, A),
        sg.hessian(_nested).export("json", x),
    ]


def _special(x: Any) -> Any:
    from scipy import special

    return special.erf(x) + special.gammaln(x)


def _recurrent(h: Any, A: Any) -> Any:
    return scan(lambda h, x: (np.tanh(A @ h) * x, h[0]), h, A[0])[1]


def _nested(x: Any) -> Any:
    return np.sum(fori_loop(0, 2, lambda i, c: fori_loop(0, 3, lambda j, d: np.sin(d) * i, c), x))


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) within a value."""
    found: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        v = pending.pop()
        keys = list(v) if isinstance(v, dict) else range(len(v)) if isinstance(v, list) else ()
        for key in keys:
            found.append((v, key))
            pending.append(v[key])
    return found


def _text(value: Any) -> bytes:
    return json.dumps(value).encode()


class Mutations:
    """The ways a document is made from valid ones; each is a method that is given the generator."""

    def __init__(self, valid: list[str]) -> None:
        self.valid = valid
        self.ways: dict[str, Callable[[random.Random], bytes]] = {
            "byte flips": self.flips,
            "bytes cut out": self.cuts,
            "truncation": self.truncated,
            "tokens swapped": self.swaps,
            "a key or an item less": self.deletes,
            "a value replaced": self.replaces,
            "a number changed": self.numbers,
            "a part of another document": self.splices,
            "a node of another document": self.nodes,
            "an item twice": self.repeats,
            "parameters of another node": self.parameters,
            "a key renamed": self.renames,
            "random JSON": self.random_json,
            "random bytes": self.random_bytes,
            "deep nesting": self.nested,
            "a size beyond reason": self.sizes,
        }

    def _one(self, rng: random.Random) -> Any:
        return json.loads(rng.choice(self.valid))

    def flips(self, rng: random.Random) -> bytes:
        content = bytearray(rng.choice(self.valid).encode())
        for _ in range(rng.randint(1, 8)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        return bytes(content)

    def cuts(self, rng: random.Random) -> bytes:
        content = rng.choice(self.valid).encode()
        at = rng.randrange(len(content))
        return content[:at] + content[at + rng.randint(1, 20) :]

    def truncated(self, rng: random.Random) -> bytes:
        content = rng.choice(self.valid).encode()
        return content[: rng.randrange(len(content))]

    def swaps(self, rng: random.Random) -> bytes:
        value = self._one(rng)
        every = places(value)
        for _ in range(rng.randint(1, 3)):
            (a, j), (b, k) = rng.choice(every), rng.choice(every)
            if not _holds(a[j], b) and not _holds(b[k], a):
                a[j], b[k] = b[k], a[j]
        return _text(value)

    def deletes(self, rng: random.Random) -> bytes:
        value = self._one(rng)
        holder, key = rng.choice(places(value))
        del holder[key]
        return _text(value)

    def replaces(self, rng: random.Random) -> bytes:
        value = self._one(rng)
        for _ in range(rng.randint(1, 3)):
            holder, key = rng.choice(places(value))
            holder[key] = copy.deepcopy(rng.choice(_PALETTE))
        return _text(value)

    def numbers(self, rng: random.Random) -> bytes:
        value = self._one(rng)
        found = [(h, k) for h, k in places(value) if type(h[k]) in (int, float)]
        for _ in range(rng.randint(1, 3)):
            holder, key = rng.choice(found)
            old = holder[key]
            new = (old + 1, old - 1, -old, old * 2, 2**40, 10**19, 10**400, 0.5, float("nan"), float("inf"), 0, 1, 7)
            holder[key] = rng.choice(new)
        return _text(value)

    def splices(self, rng: random.Random) -> bytes:
        value, other = self._one(rng), self._one(rng)
        holder, key = rng.choice(places(value))
        source, at = rng.choice(places(other))
        same = [(h, k) for h, k in places(other) if k == key]
        holder[key] = (lambda p: p[0][p[1]])(rng.choice(same)) if same and rng.random() < 0.7 else source[at]
        return _text(value)

    def nodes(self, rng: random.Random) -> bytes:
        value, other = self._one(rng), self._one(rng)
        if value["nodes"] and other["nodes"]:
            at = rng.randrange(len(value["nodes"]))
            value["nodes"][at] = rng.choice(other["nodes"]) | {"number": value["nodes"][at]["number"]}
        return _text(value)

    def repeats(self, rng: random.Random) -> bytes:
        value = self._one(rng)
        found = [(h, k) for h, k in places(value) if isinstance(h[k], list) and h[k]]
        holder, key = rng.choice(found)
        holder[key].insert(rng.randrange(len(holder[key]) + 1), rng.choice(holder[key]))
        return _text(value)

    def parameters(self, rng: random.Random) -> bytes:
        value = self._one(rng)
        found = [n for n in value["nodes"] if "parameters" in n]
        if found:
            node, other = rng.choice(found), rng.choice(found)
            node["parameters"] = other["parameters"]
            inner = places(node["parameters"])
            holder, key = rng.choice(inner)
            if rng.random() < 0.7:
                own = [h[k] for h, k in inner if type(h) is type(holder)]
                holder[key] = copy.deepcopy(rng.choice([*_PALETTE, *own]))
        return _text(value)

    def renames(self, rng: random.Random) -> bytes:
        value = self._one(rng)
        found = [(h, k) for h, k in places(value) if isinstance(h, dict)]
        holder, key = rng.choice(found)
        holder[rng.choice((key.upper(), "", "__class__", "values", "base64", "weak", "op"))] = holder.pop(key)
        return _text(value)

    def random_json(self, rng: random.Random) -> bytes:
        names = ("format", "version", "nodes", "inputs", "op", "operands", "shape", "dtype", "number", "x")

        def grown(depth: int) -> Any:
            kind = rng.random()
            if depth > 4 or kind < 0.5:
                return copy.deepcopy(rng.choice(_PALETTE))
            if kind < 0.75:
                return [grown(depth + 1) for _ in range(rng.randint(0, 5))]
            return {rng.choice(names): grown(depth + 1) for _ in range(rng.randint(0, 5))}

        value = self._one(rng)
        if rng.random() < 0.6:
            value[rng.choice(list(value))] = grown(0)
        else:
            value = grown(0)
        return _text(value)

    def random_bytes(self, rng: random.Random) -> bytes:
        return rng.randbytes(rng.randint(0, 400))

    def nested(self, rng: random.Random) -> bytes:
        depth = rng.choice((30, 45, 500, 5_000, 200_000))
        opened, closed = rng.choice((("[", "]"), ('{"add":[1,', "]}"), ('{"a":', "}")))
        inner = opened * depth + "1" + closed * depth
        value = self._one(rng)
        holder, key = rng.choice(places(value))
        holder[key] = "@@@"
        return json.dumps(value).replace('"@@@"', inner).encode()

    def sizes(self, rng: random.Random) -> bytes:
        """Expressions in names, of sums of powers of sums, wherever a size may stand."""

        def size(depth: int) -> Any:
            if depth == 0 or rng.random() < 0.2:
                return rng.choice(("n", "d", "m", 1, 2, -3, 2**39))
            kind = rng.choice(("add", "mul", "pow", "rational"))
            if kind == "rational":
                return {"rational": [rng.choice((1, -1, 2**39, 3)), rng.choice((1, 2, 3, 2**39, 0))]}
            if kind == "pow":
                return {"pow": [size(depth - 1), rng.choice((-8, -1, 2, 3, 8, 9, 10**9))]}
            return {kind: [size(depth - 1) for _ in range(rng.randint(2, 4))]}

        value = self._one(rng)
        keys = ("shape", "sizes", "size", "start", "length", "at")
        for holder, key in places(value):
            if key in keys and rng.random() < 0.3:
                made = size(rng.randint(1, 6))
                inner = holder[key]
                if isinstance(inner, list) and inner:
                    inner[rng.randrange(len(inner))] = made
                elif not isinstance(inner, (list, dict)):
                    holder[key] = made
        return _text(value)


def _holds(value: Any, other: Any) -> bool:
    """Whether ``other`` is ``value`` or within it."""
    return value is other or any(holder[key] is other for holder, key in places(value))


def made_documents(valid: list[str], count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """So many documents, made of ``valid`` ones, with the way each was made; every thousandth is valid."""
    rng = random.Random(seed)
    mutations = Mutations(valid)
    ways = list(mutations.ways.items())
    for k in range(count):
        if k % 1000 == 0:
            yield "valid", rng.choice(valid).encode()
        else:
            name, way = ways[k % len(ways)]
            yield name, way(rng)

"""Random functions with Python loops, which carry, read, keep and write as people do."""

import numpy as np

#: functions of one number that stay in bounds
UNARY = (np.tanh, np.sin, np.cos, lambda v: np.exp(-v * v), lambda v: v / (1 + v * v), np.arctan)
BINARY = (
    lambda a, b: a + b,
    lambda a, b: a - 0.5 * b,
    lambda a, b: a * b,
    lambda a, b: np.maximum(a, b),
    lambda a, b: np.where(a > b, a, b * 0.5),
    lambda a, b: np.hypot(a, b + 2.0),
)


#: statements of a body; the last is none of a loop inside a loop
KINDS = [
    *("unary", "binary", "element", "number", "product", "sum", "swap"),
    *("write", "keep", "older", "even", "shift", "loop"),
]


class LoopProgram:
    """``f(a, b, xs)``: some loops over state that is drawn with ``rng``; the same statements for every call."""

    def __init__(self, rng):
        self.width = int(rng.integers(1, 4))
        self.loops = [self._loop(rng, depth=0) for _ in range(rng.integers(1, 3))]
        self.ends = int(rng.integers(4))

    def _loop(self, rng, depth):
        steps = int(rng.choice([3, 4, 5, 7] if depth else [0, 1, 2, 4, 5, 6, 9, 13]))
        body = [self._statement(rng, depth) for _ in range(rng.integers(1, 6))]
        return steps, body, rng.random() < 0.3

    def _statement(self, rng, depth):
        kinds = [
            "unary",
            "binary",
            "element",
            "number",
            "product",
            "sum",
            "swap",
            "write",
            "keep",
            "older",
            "even",
            "shift",
        ]
        if depth == 0:
            kinds += ["loop"]
        kind = str(rng.choice(kinds))
        names = [str(rng.choice(["u", "v", "w"])) for _ in range(3)]
        which = int(rng.integers(100))
        inner = self._loop(rng, depth + 1) if kind == "loop" else None
        return kind, names, which, inner

    def arguments(self, rng):
        n = self.width
        return rng.normal(size=n), rng.normal(size=(n, n)) * 0.4, rng.normal(size=(16, n))

    def __call__(self, a, b, xs):
        state = {"u": a, "v": a * 0.5, "w": np.sin(a), "s": 0.0, "kept": [], "b": b, "xs": xs, "old": a}
        for loop in self.loops:
            self._run(loop, state)
        out = np.sum(state["u"] * state["v"]) + state["s"]
        if self.ends == 1 and state["kept"]:
            out = out + np.sum(np.stack(state["kept"]) ** 2)
        if self.ends == 2:
            out = out + sum(np.sum(k) for k in state["kept"])
        if self.ends == 3 and state["kept"]:
            out = out + np.sum(np.array(state["kept"][-1]) * state["kept"][0])
        return out + np.sum(state["w"])

    def _run(self, loop, s):
        steps, body, backwards = loop
        for t in reversed(range(steps)) if backwards else range(steps):
            for statement in body:
                self._do(statement, s, t)

    def _do(self, statement, s, t):
        kind, (x, y, z), which, inner = statement
        if kind == "unary":
            s[x] = UNARY[which % len(UNARY)](s[y])
        elif kind == "binary":
            s[x] = np.tanh(BINARY[which % len(BINARY)](s[y], s[z]))
        elif kind == "element":
            s[x] = np.tanh(s[y] + s["xs"][(t + which % 3) % 16])
        elif kind == "number":
            s[x] = s[y] * (0.1 * t + 0.5)
        elif kind == "product":
            s[x] = s["b"] @ s[y]
        elif kind == "sum":
            s["s"] = s["s"] + np.sum(s[x] * s[y])
        elif kind == "swap":
            s[x], s[y] = s[y], s[x]
        elif kind == "write":
            made = s[x] * 1.0
            made[which % self.width] = np.sum(s[y])
            s[x] = np.tanh(made)
        elif kind == "keep":
            s["kept"].append(s[x])
        elif kind == "older":
            s[x], s["old"] = np.tanh(s["old"] + s[y]), s[y]
        elif kind == "even" and t % 2 == 0:
            s[x] = np.sin(s[y])
        elif kind == "shift":
            s[x] = np.roll(s[y], 1) + 0.1
        elif kind == "loop":
            self._run(inner, s)

"""Random compositions of vector and matrix functions: a form's own value is the kernel's, and its text says so too."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import numpy as np
import pytest

import symgrad
from symgrad.closed_form.matrix import matrix_forms

ARRAYS = {"v": (3,), "u": (4,), "X": (4, 3), "A": (3, 3), "c": (3, 1), "r": (1, 3), "t": ()}
#: kinds of arrays: scalars, vectors of two lengths, matrices, a square one, a column and a row, and three axes
LEAVES: dict[str, Callable[[dict], np.ndarray]] = {
    kind: lambda arrays, name=name: arrays[name]
    for kind, name in {"s": "t", "v": "v", "u": "u", "X": "X", "A": "A", "c": "c", "r": "r"}.items()
} | {"B": lambda arrays: arrays["X"][:, None, :] - arrays["A"]}


def softmax(x, axis):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


#: of any kind: the function and the kinds of its operands, * for the same
EVERYWHERE: list[tuple[Callable, str]] = [
    (lambda a, b: a + b, "**"),
    (lambda a, b: a - b, "**"),
    (lambda a, b: a * b, "**"),
    (lambda s, a: s * a, "s*"),
    (np.tanh, "*"),
    (lambda a: 1 / (1 + np.exp(-a)), "*"),
    (lambda a, b: a / (1.5 + b * b), "**"),
    (lambda a: a**2, "*"),
    (lambda a: np.sqrt(1 + a * a), "*"),
    (lambda a: np.sqrt(a * a), "*"),
    (lambda a: np.maximum(a, 0), "*"),
    (lambda a: (a > 0) * a, "*"),
    (lambda a: np.log(1 + np.exp(a)), "*"),
]
OWN: dict[str, list[tuple[Callable, str]]] = {
    "s": [
        (lambda a, b: a @ b, "vv"),
        (np.sum, "u"),
        (np.mean, "X"),
        (np.trace, "A"),
        (lambda a, b: np.trace(a @ b), "AA"),
        (np.linalg.norm, "v"),
        (lambda a, b: np.sum(a * b), "XX"),
        (np.max, "v"),
        (lambda a: np.linalg.slogdet(a @ a.T + 2 * np.eye(3))[1], "A"),
        (lambda x: x[1, 2], "X"),
        (np.sum, "B"),
    ],
    "v": [
        (lambda a, b: a @ b, "Av"),
        (lambda a, b: a.T @ b, "Xu"),
        (np.diag, "A"),
        (lambda x: np.mean(x, axis=0), "X"),
        (lambda x: softmax(x, 0), "v"),
        (lambda x: np.max(x, axis=0), "X"),
        (lambda c: c[:, 0], "c"),
        (lambda a, b: np.linalg.solve(a @ a.T + 2 * np.eye(3), b), "Av"),
    ],
    "u": [
        (lambda a, b: a @ b, "Xv"),
        (lambda x: np.sum(x, axis=1), "X"),
        (lambda x: np.log(np.sum(np.exp(x), axis=1)), "X"),
        (lambda b: np.sum(b, axis=(1, 2)), "B"),
    ],
    "X": [
        (lambda a, b: a @ b, "XA"),
        (np.outer, "uv"),
        (lambda x, v: x * v, "Xv"),
        (lambda x, u: x * u[:, None], "Xu"),
        (lambda x, r: x + r, "Xr"),
        (lambda x, c: x * c.T, "Xc"),
        (lambda x: softmax(x, 1), "X"),
        (lambda x: softmax(x, 0), "X"),
        (lambda b: np.sum(b, axis=2), "B"),
    ],
    "B": [
        (lambda x, a: x[:, None, :] + a, "XA"),
        (lambda x, v: x[:, :, None] * v, "Xv"),
        (lambda u, a: u[:, None, None] * a, "uA"),
        (lambda b: b.transpose(0, 2, 1), "B"),
        (lambda b, x: b * x[:, None, :], "BX"),
    ],
    "A": [
        (lambda a, b: a @ b, "AA"),
        (lambda a: a.T, "A"),
        (lambda a, b: a.T @ b, "XX"),
        (np.diag, "v"),
        (lambda s: s * np.eye(3), "s"),
        (lambda c, r: c @ r, "cr"),
        (lambda a: np.linalg.inv(a @ a.T + 2 * np.eye(3)), "A"),
    ],
    "c": [(lambda a, b: a @ b, "Ac"), (lambda r: r.T, "r"), (lambda v: v[:, None], "v")],
    "r": [(lambda c: c.T, "c"), (lambda r, a: r @ a, "rA"), (lambda x: np.sum(x, axis=0, keepdims=True), "X")],
}


def composed(draw: random.Random, kind: str, depth: int) -> Callable[[dict], np.ndarray]:
    """A random function of the inputs whose result is of this kind."""
    if depth == 0 or draw.random() < 0.1:
        return LEAVES[kind]
    function, kinds = draw.choice([*EVERYWHERE, *OWN[kind], *OWN[kind]])
    operands = [composed(draw, kind if k == "*" else k, depth - 1) for k in kinds]
    return lambda arrays: function(*[o(arrays) for o in operands])


def along(function):
    """A function of an array and an axis, of columns all of it."""
    return lambda x, axis=None: function(x, None if axis is None else int(axis.item()))


CALLED: dict[str, Callable] = {
    "softmax": along(softmax),
    "logsumexp": along(lambda x, a: np.log(np.sum(np.exp(x), axis=a, keepdims=True)).reshape(-1, 1)),
    "max": along(lambda x, a: np.max(x, axis=a, keepdims=True).reshape(-1, 1)),
    "σ": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
    "tr": lambda x: np.trace(x).reshape(1, 1),
    "sum": lambda x: np.sum(x).reshape(1, 1),
    "det": lambda x: np.linalg.det(x).reshape(1, 1),
    "diag": lambda x: np.diag(x[:, 0]),
    "mean": lambda x: np.mean(x).reshape(1, 1),
    "diagonal": lambda x: np.diagonal(x).reshape(-1, 1),
    "vec": lambda x: x.reshape(-1, 1),
    "√": np.sqrt,
    "where": np.where,
} | {name: getattr(np, name) for name in ("exp", "log", "tanh", "cosh", "sinh", "sign")}
COMPARED = {"=": np.equal, "≥": np.greater_equal, "≤": np.less_equal, ">": np.greater, "<": np.less}
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
#: what cannot start a factor
AFTER = ("", "+", "−", "⊗", "⊙", "⊘", ")", "]", ",", "/", *COMPARED)


class Reading:
    """Computes a formula from its text: products bind before ⊙ and ⊘, these before ⊗, and sums last."""

    def __init__(self, text: str, values: dict[str, np.ndarray]) -> None:
        self.values = values
        names = map(re.escape, sorted([*values, *CALLED], key=len, reverse=True))
        tokens = "|".join([r"\d+", *names, r"⁻¹|⁻ᵀ|\^⊙|_F|axis=|[⁰¹²³⁴⁵⁶⁷⁸⁹]+", r"\S"])
        self.tokens = [*re.findall(tokens, text), ""]
        self.bars: list[str] = []

    def take(self, *expected: str) -> str:
        return self.tokens.pop(0) if self.tokens[0] in expected else ""

    def sum(self) -> np.ndarray:
        total = -self.kron() if self.take("−") else self.kron()
        while sign := self.take("+", "−"):
            total = total + self.kron() if sign == "+" else total - self.kron()
        return total

    def kron(self) -> np.ndarray:
        value = self.hadamard()
        while self.take("⊗"):
            value = np.kron(value, self.hadamard())
        return value

    def hadamard(self) -> np.ndarray:
        value = self.product()
        while sign := self.take("⊙", "⊘"):
            value = value * self.product() if sign == "⊙" else value / self.product()
        return value

    def product(self) -> np.ndarray:
        value = self.factor()
        while True:
            if self.take("/"):
                value = value / self.factor()
            elif self.take("·") or self.tokens[0] not in (*AFTER, *self.bars[-1:]):
                other = self.factor()
                value = value * other if 1 in (value.size, other.size) else value @ other
            else:
                return value

    def factor(self) -> np.ndarray:
        value = self.atom()
        while True:
            raised = self.tokens[0].translate(RAISED)
            if self.take("ᵀ"):
                value = value.T
            elif self.take("⁻¹"):
                value = np.linalg.inv(value)
            elif self.take("⁻ᵀ"):
                value = np.linalg.inv(value).T
            elif self.take("^⊙"):
                value = value ** ((-1.0 if self.take("−") else 1.0) * self.atom())
            elif raised.isdigit() and raised != self.tokens[0]:
                self.tokens.pop(0)
                value = value ** int(raised) if value.size == 1 else np.linalg.matrix_power(value, int(raised))
            elif self.tokens[0] == "[" and set("".join(self.tokens[1 : self.tokens.index("]")])) <= set("0123456789:,"):
                value = self.sliced(value)
            else:
                return value

    def sliced(self, value: np.ndarray) -> np.ndarray:
        index = "".join(self.tokens[1 : self.tokens.index("]")])
        del self.tokens[: self.tokens.index("]") + 1]
        parts = [
            slice(*(int(n) if n else None for n in e.split(":"))) if ":" in e else int(e) for e in index.split(",")
        ]
        taken = value[tuple(parts)] if len(parts) == 2 else value[:, 0][parts[0]]
        return taken if np.ndim(taken) == 2 else np.reshape(taken, (-1, 1))

    def atom(self) -> np.ndarray:
        token = self.tokens.pop(0)
        if token.isdigit():
            return np.array([[float(token)]])
        if token in self.values:
            value = self.values[token]
            return value if value.ndim == 2 else value.reshape(-1, 1)
        if token in CALLED:
            raised = self.tokens[0].translate(RAISED)
            power = int(raised) if self.tokens[0] != "(" and self.tokens.pop(0) else 1
            assert self.take("(")
            arguments = [self.sum()]
            while self.take(","):
                self.take("axis=")
                arguments.append(self.sum())
            assert self.take(")")
            return CALLED[token](*arguments) ** power
        return self.enclosed(token)

    def enclosed(self, opening: str) -> np.ndarray:
        outer, self.bars = self.bars, [opening] if opening in "‖|" else []
        value = self.sum()
        if compared := self.take(*COMPARED):
            value = COMPARED[compared](value, self.sum()).astype(float)
        assert self.take({"(": ")", "[": "]"}.get(opening, opening)), self.tokens
        self.bars = outer
        if opening == "‖":
            self.take("_F")
            return np.linalg.norm(value).reshape(1, 1)
        return np.abs(value) if opening == "|" else value


def read(form, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """The value that the text of a form stands for, its parts first."""
    values = {name: np.asarray(value) for name, value in arrays.items()}
    for line in form.where:
        name, text = line.split(" = ", 1)
        if name in "MHGQPSpqsredzuvctghxa" or name[1:].isdigit():
            values[name] = Reading(text, values).sum()
    reading = Reading(form.text, values)
    value = reading.sum()
    assert reading.tokens == [""], f"{form.text!r} goes on with {reading.tokens}"
    return value


@pytest.mark.parametrize("seed", range(300))
def test_a_form_has_the_value_of_its_kernel(seed):
    draw, numbers = random.Random(seed), np.random.default_rng(seed)
    inside = composed(draw, draw.choice("ssvuXAcrB"), draw.choice((1, 2, 3, 3, 4)))
    values = [numbers.normal(size=shape) for shape in ARRAYS.values()]

    def function(v, u, X, A, c, r, t):
        return inside({"v": v, "u": u, "X": X, "A": A, "c": c, "r": r, "t": t})

    by = draw.choice((0, 2, 3, 5))
    derived = draw.choice(
        (symgrad.symbolic(function), symgrad.grad(function, tuple(range(6))), symgrad.jacobian(function, by))
    )
    program = derived.program(*values)
    arrays = dict(zip(program.names, values, strict=True))
    for form, value in zip(matrix_forms(program), derived.kernel(*values)(*values), strict=True):
        if form is not None:
            np.testing.assert_allclose(form.evaluate(arrays), value, rtol=1e-7, atol=1e-9)
            assert form.latex.count("{") == form.latex.count("}")
            if any(" = 0 for " in line for line in form.where):
                continue  # what a quotient counts as, evaluate knows, and code and text only say
            if form.numpy is not None:
                *lines, last = form.numpy.splitlines()
                scope = {"np": np, **{name: np.asarray(x) for name, x in arrays.items()}}
                exec("\n".join(lines), scope)
                found = np.broadcast_to(eval(last, scope), np.shape(value))
                np.testing.assert_allclose(found, value, rtol=1e-7, atol=1e-9, err_msg=form.numpy)
            if not set(str(form)) & set("𝟏IK₀₁₂₃₄₅₆₇₈₉"):  # whose sizes the text leaves to the reader
                found = read(form, arrays)
                found = found.item() if found.size == 1 else np.reshape(found, np.shape(value))
                np.testing.assert_allclose(np.full(np.shape(value), found), value, rtol=1e-7, atol=1e-9)

"""Random programs: NumPy functions as source, drawn step by step, each step one that NumPy accepts.

``random_program(seed)`` is a function of a few arrays that prints as a script; ``shrunk`` makes one that fails smaller.
What may be drawn is said by a ``Draw``: sizes, dtypes, and the families of steps.
"""

from __future__ import annotations

import math
import random
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

#: names of values in the source of a program
_NAME = re.compile(r"\b[vx]\d+\b")

ELEMENTWISE = [
    "np.sin({a})", "np.cos({a}) * {s}", "np.tanh({a})", "np.arctan({a})", "np.exp(-{a} * {a})", "np.exp({a} * 0.3)",
    "np.log1p({a} ** 2)", "np.log(1 + np.exp({a}))", "np.log({s} + {a} ** 2)", "np.sqrt(1.0 + {a} * {a})",
    "np.sqrt(1 + ({s} * {a}) ** 2)", "1 / (2 + np.cos({a}))", "1 / (1 + np.exp(-{a}))", "{a} ** 2", "{a} ** 3 * 0.1",
    "np.abs({a}) ** 1.5", "(1.5 + {a} * {a}) ** -0.5", "(2 + {a} ** 2) ** {a}", "np.square({a}) - {s}", "-{a}",
    "{s} - {a}", "{a} / {s}", "{a} * {s} + {t}", "({a} - {s}) / {t}", "np.abs({a})", "abs({a}) * {a}", "np.sign({a}) * {a}",
    "np.maximum({a}, 0)", "np.maximum({a}, {s})", "np.minimum({a}, {s}) * {t}", "np.clip({a}, -0.4, 0.6)",
    "np.where({a} > {s}, {a} * 2, np.sin({a}))", "np.where({a} < 0, 0.0, {a} ** 2)", "({a} > 0) * {a}", "np.floor({a}) + {a}",
    "np.cbrt({a} + 3)", "np.arcsinh({a})", "np.expm1({a} * 0.5)", "np.sinh({a} * 0.5)", "np.cosh({a} * 0.5)",
    "np.arcsin(np.tanh({a}) * 0.9)", "np.exp2({a} * 0.5)", "np.log2(2 + {a} ** 2)", "np.reciprocal(2 + {a} ** 2)",
    "np.float64(1.5) * {a}", "np.rint({a}) * {a}", "{a} % 1.7", "np.logaddexp({a}, 0)", "+{a}",
    "np.positive({a})", "np.true_divide({a}, {s})", "np.power(np.abs({a}) + 0.5, {s})", "np.deg2rad({a}) * 40",
    "np.nan_to_num({a})", "np.real({a})", "({a} * {a}) * ({a} * {a})", "np.heaviside({a}, 0.5) * {a}", "2 ** {a}",
]  # fmt: skip
BINARY = [
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} + {b}", "{a} * {b}", "{a} / (1.5 + {b} ** 2)", "{a} / {b}",
    "{a} * {s} - {b}", "({a} + {b}) * {s}", "np.maximum({a}, {b})", "np.minimum({a}, {b})", "np.arctan2({a}, 1.5 + {b} ** 2)",
    "np.hypot({a}, 1 + {b} ** 2)", "np.logaddexp({a}, {b})", "np.where({a} < {b}, {a} * {b}, {b})",
    "np.where({b} > {s}, {a}, {b})", "(1 + {a} ** 2) ** {b}", "np.power(np.abs({a}) + 0.5, {b})", "{a} * {b} * {a}",
    "{a} * np.sum({b})", "np.sum({a}) + {b}", "{a} * {b} + {c}", "({a} - {b}) * ({a} + {c})", "{a} * np.exp(-{b}) / (1 + {c} ** 2)",
    "np.where({a} > 0, {b}, {c})", "np.fmax({a}, {b})", "np.copysign({a}, {b})", "np.remainder({a}, 2 + {b} ** 2)",
    "np.sqrt({a} ** 2 + {b} ** 2 + 1)", "np.log(np.abs({a} / (2 + {b} ** 2)) + 1) ** 2", "np.multiply({a}, {b}) + {s}",
    "np.add({a}, {b}, dtype=np.float64)", "np.subtract({a}, {b})", "({a} > {b}) * {a}", "({a} - {b}) ** 2", "{a} * {a} / ({b} * {b} + 1)",
]  # fmt: skip
REDUCE = [
    "np.sum({a})", "np.sum({a}, axis={x})", "{a}.sum(axis={x}, keepdims=True)", "np.mean({a})", "{a}.mean(axis={x})",
    "{a} - {a}.mean(axis={x}, keepdims=True)", "np.max({a}, axis={x})", "{a}.max()", "np.min({a}, axis={x}, keepdims=True)",
    "np.prod({a}, axis={x})", "np.var({a}, axis={x})", "np.std({a} + np.arange({a}.shape[-1]), axis=-1)", "np.sum({a} * {a}, axis={x})",
    "np.linalg.norm({a})", "np.sqrt(np.sum({a} ** 2, axis={x}) + 1)", "np.log(np.sum(np.exp({a}), axis={x}))",
    "np.exp({a}) / np.sum(np.exp({a}), axis={x}, keepdims=True)", "np.sum({a}, axis={x}, dtype=np.float64)", "sum({a})",
    "np.average({a}, axis={x})", "np.ptp({a}, axis={x})", "np.add.reduce({a}, axis={x})", 
    "np.nansum({a}, axis={x})", "np.sum({a}, initial={s})", "np.max({a} * {b})", "np.sum({a} * {b}, axis={x})", "max({a}.ravel()[:3])",
    
]  # fmt: skip
SHAPE = [
    "{a}.T", "{a}.reshape(-1)", "{a}.reshape({shape})", "np.reshape({a}, {shape})", "np.reshape({a}, {shape}, order='F')",
    "{a}.ravel()", "np.ravel({a}, order='F')", "np.transpose({a}, {perm})", "{a}.transpose()", "np.swapaxes({a}, 0, -1)",
    "np.moveaxis({a}, 0, -1)", "np.expand_dims({a}, {x})", "np.squeeze({a})", "{a}[..., None]", "{a}[None]", "np.flip({a})",
    "np.flip({a}, {x})", "np.rot90({a})", "np.roll({a}, {k})", "np.roll({a}, {k}, axis={x})",
    "np.broadcast_to({a}, (2, *{a}.shape))", "np.tile({a}, 2)", "np.repeat({a}, 2, axis={x})", "np.pad({a}, 1)",
    "np.atleast_1d({a})", "np.atleast_2d({a})", "np.diag({a})", "np.diagonal({a})", "np.triu({a})", "np.tril({a}, {k})", "np.trace({a})",
    "np.concatenate([{a}, {a} * {s}])", "np.concatenate([{a}, {b}], axis={x})", "np.concatenate([{a}.ravel(), {b}.ravel()])",
    "np.stack([{a}, {b}])", "np.stack([{a}, {a} * 2], axis=-1)", "np.hstack([{a}, {b}])", "np.vstack([{a}, {b}])",
    "np.split({a}, [1, 2])[1]", "np.array_split({a}, 2)[0]", "np.block([[{a}, {a}], [{a}, {a}]])", 
    "np.copy({a})", "{a}.copy()",
    "np.outer({a}, {b})", "{a}.flatten()", "np.column_stack([{a}, {b}])",
]  # fmt: skip
INDEX = ["{a}[{i}]", "{a}[{i}]", "{a}[{i}] * {s}", "np.take({a}, {J}, axis={x})", "{a}[{J}]", "{a}[..., {J}]", "{a}[1:] - {a}[:-1]",
    "np.diff({a}, axis={x})", "np.diff({a})", "{a}[::-1] * {a}", "{a}[{n}]", "{a}[{n}] * 2", "np.take_along_axis({a}, np.argsort({a}, axis=-1), -1)",
"{a}.take({J})",
    "np.ix_(np.arange(1))[0] * {a}", 
]  # fmt: skip
PRODUCT = [
    "{a} @ {b}", "{a} @ {b}.T", "{a}.T @ {b}", "np.dot({a}, {b})", "np.matmul({a}, np.swapaxes({b}, -1, -2))", "np.vdot({a}, {b})",
    "np.inner({a}, {b})", "np.einsum('...i,...i->...i', {a}, {b})", "np.einsum('...i,...i', {a}, {b})", "np.einsum('ij,kj->ik', {a}, {b})",
    "np.einsum('ij,jk->ki', {a}, {b})", "np.einsum('ij,ij->j', {a}, {b})", "np.einsum('i,j->ij', {a}, {b})", "np.einsum('ii->i', {a})",
    "np.tensordot({a}, {b}, axes=1)", "np.kron({a}, {b})", "np.cross({a}, {b})", "{a} @ {a}.T", "{a}.T @ {a} @ {b}", "np.convolve({a}, {b})",
    "np.linalg.multi_dot([{a}, {a}.T, {a}])", "np.trapezoid({a})", "np.interp({a}, [-1.0, 0.2, 1.0], [0.0, 1.0, -1.0])", "np.polyval([1.0, {s}, 0.5], {a})",
    "np.gradient({a})",
]  # fmt: skip
ORDER = [
    "np.sort({a})", "np.sort({a}, axis={x})", "np.cumsum({a})", "np.cumsum({a}, axis={x})", "np.cumprod({a} + 1, axis={x})", "np.cumsum({a}[::-1])",
    "np.median({a}, axis={x})", "np.argmax({a}, axis={x})", "np.argsort({a}, axis={x})", 
    "{a}[np.argsort({a})]", "np.searchsorted([-0.5, 0.5], {a}) * {a}", 
    
]  # fmt: skip
LINALG = [
    "np.linalg.solve({a} @ {a}.T + 2 * np.eye({a}.shape[0]), {a})", "np.linalg.inv({a} @ {a}.T + 2 * np.eye({a}.shape[0]))",
    "np.linalg.det({a} @ {a}.T + np.eye({a}.shape[0]))", "np.linalg.slogdet({a} @ {a}.T + np.eye({a}.shape[0]))[1]",
    "np.linalg.cholesky({a} @ {a}.T + np.eye({a}.shape[0]))", "np.linalg.norm({a}, axis=-1)", "np.linalg.norm({a}, 'fro')",
    "np.linalg.matrix_power({a} @ {a}.T, 2)",
    "np.linalg.norm({a}, 1)", "np.linalg.norm({a}, np.inf)",
]  # fmt: skip
CONTROL = [
    "if np.sum({a}) > {s}:\n    {o} = {a} * 2\nelse:\n    {o} = np.sin({a})",
    "if {a}.ndim > 1 and np.max({a}) > {s}:\n    {o} = {a} * {b}\nelse:\n    {o} = {b} - {a}",
    "{o} = {a}\nfor k in range(3):\n    {o} = np.tanh({o}) * {s} + {b}",
    "{o} = {a}\nfor k in range({a}.shape[0]):\n    {o} = {o} + {a}[k] * k",
    "{o} = 0.0\nfor row in {a}:\n    {o} = {o} + row * row",
    "{o} = {a}\nwhile np.max(np.abs({o})) > 0.5:\n    {o} = {o} * 0.5",
    "{o} = sum(row * {s} for row in {a})",
    "{o} = np.stack([row - {s} for row in {a}])", "{o} = (lambda t: t * {b} + {s})({a})",
    "def inner(t, scale={s}):\n    return t * scale + {b}\n{o} = inner({a})", "{o} = functools.reduce(np.maximum, list({a}))",
    "{o} = [k * row for k, row in enumerate({a})][-1]", "{o} = {a} if {a}[0] < {a}[-1] else -{a}", "first, *rest = {a}\n{o} = first * {s} + sum(rest)",
]  # fmt: skip
SCALAR = [
    "max({z}, {s}) * {a}", "min({z}, {s}) + {z}",
    "{z} ** 2 * {a}", "{s} ** {z}", "abs({z}) * {z}", "np.float32(0.3) * {a}", "np.float32({s}) + {z}", "np.array({s}) * {a}",
    "np.int64(2) * {a}", "3 * {a}", "{a} * True", "np.arange(1, 1 + {a}.shape[0]) * {a}", "np.linspace({s}, 1, {a}.shape[-1]) * {a}",
    "{a} + np.float16(0.5)", "np.ones_like({a}) * {z}", "np.full_like({a}, {s}) + {a}", "np.eye({a}.shape[0]) * {a}",
    "{a} // 0.7 * {a}", "divmod({a}, 0.9)[1]", "np.int32(3) / (2 + {a} ** 2)", "np.arange(3) * {z}",
]  # fmt: skip
CAST = ["{a}.astype(np.float32)", "{a}.astype(np.float64)", "{a}.astype(bool) * {a}",
    "({a} > 0).astype(np.float32) * {a}", "{a}.astype(np.float16)", "np.sum({a}, dtype=np.float32)", "np.add({a}, {b}, dtype=np.float32)",
    "{a} * np.uint8(3)", "{a} * np.arange(3, dtype=np.int8)[0]", "np.multiply({a}, {s}, dtype=np.float32)",
]  # fmt: skip
WRITE = [
    "{w}[{i}] = {s}", "{w}[{i}] = {z}", "{w}[{i}] += {s}", "{w}[{i}] *= {s}", "{w} += {s}", "{w} *= {b}", "{w} -= {b}", "{w}[...] = {b} * 2",
    "{w}[0] = {w}[-1] * {s}", "{w}[1:] += {w}[:-1]", "{w}[::-1] *= {s}", "np.multiply({w}, {s}, out={w})", "np.sin({w}, out={w})", "np.add({w}, {b}, out={w})",
    "{w}[{w} < 0] = 0.0", "{w}[{w} > {s}] *= 0.5", "{w}.fill({s})", "{w}[{J}] = {s}", "{w}[{J}] += {s}",
 "for k in range({w}.shape[0]):\n    {w}[k] = {w}[k] * k + {s}",
    "{w}[0], {w}[-1] = {w}[-1], {w}[0]", "np.clip({w}, -0.5, 0.5, out={w})", "{w} **= 2", "{w} /= {s}",
    "np.negative({w}[1:], out={w}[1:])",
]  # fmt: skip
#: writes through a view of a value
VIEW_WRITE = [
    "{w}.T[0] = {s}", "{w}.reshape(-1)[0] = {s}", "{w}.ravel()[1:] *= {s}", "np.reshape({w}, (-1,))[0] = {s}", "np.ravel({w})[-1] = {z}",
    "np.transpose({w})[0] += {s}", "np.swapaxes({w}, 0, -1)[0] *= {s}", "np.flip({w})[0] = {s}", "np.atleast_2d({w})[0] = {s}", "np.squeeze({w})[0] = {s}",
    "np.expand_dims({w}, 0)[0] = {b}", "np.moveaxis({w}, 0, -1)[..., 0] = {s}", "np.rot90({w})[0] = {s}", "np.split({w}, [1])[0][:] = {s}",
    "{w}.astype({w}.dtype, copy=False)[0] = {s}", "np.real({w})[0] = {s}", "np.asarray({w})[0] = {s}", "np.diagonal({w}).copy()[0] = {s}",
    "np.fliplr({w})[0] = {s}", "{w}.view()[0] = {s}", "{w}[1:][0] = {s}", "{w}[None][0] *= {s}", "np.broadcast_to({w}, {w}.shape).copy()[0] = {s}",
]  # fmt: skip
MAKE = [
    "{o} = np.zeros_like({a})\nfor k in range({a}.shape[0]):\n    {o}[k] = {a}[k] * k + {s}", "{o} = np.empty_like({a})\n{o}[:] = {a} * {s}",
    "{o} = np.zeros_like({a})\n{o}[1:] = {a}[:-1]", "{o} = {a} * 1.0\n{o}[0] = {s}", "{o} = {a}.copy()\n{o}[{i}] = {s}",
    "{o} = np.ones_like({a})\n{o}[::2] = {a}[::2] * {s}", "{o} = {a} + 0.0\n{o} *= {b}\n{o} -= {s}", "{o} = np.empty_like({a})\nnp.sin({a}, out={o})",
]  # fmt: skip

#: the families of steps, and how often each is drawn
FAMILIES: dict[str, tuple[int, list[str]]] = {
    "elementwise": (8, ELEMENTWISE),
    "binary": (8, BINARY),
    "reduce": (4, REDUCE),
    "shape": (5, SHAPE),
    "index": (3, INDEX),
    "product": (3, PRODUCT),
    "order": (2, ORDER),
    "linalg": (1, LINALG),
    "control": (2, CONTROL),
    "scalar": (3, SCALAR),
    "cast": (1, CAST),
    "make": (2, MAKE),
    "write": (2, WRITE),
    "view": (3, VIEW_WRITE),
}


#: what makes far more elements, or lines, of many elements
_GROWS = re.compile(r"for |list|rest|sum\(\{a\}\)$|outer|diag|eye|kron|i,j->ij|convolve|trace|vander|linalg|None\]|block|\{a\}\.T")


@dataclass(frozen=True)
class Draw:
    """What programs are drawn from."""

    #: shapes of arguments and constants, and the elements a value may have
    shapes: tuple = ((), (3,), (1,), (1, 3), (2, 1), (2, 3), (3, 3), (3, 2), (2, 2, 3), (4,))
    most: int = 60
    steps: tuple[int, int] = (2, 8)
    families: tuple[str, ...] = tuple(f for f in FAMILIES if f != "view")
    #: dtypes of arguments that derivatives are taken by
    dtypes: tuple[str, ...] = ("float64", "float64", "float64", "float64", "float32", "float16")
    #: whether arguments may be Python floats, integers, or not contiguous
    scalars: bool = True
    layouts: bool = True
    #: whether special values (zeros with signs, NaN, infinities) and floating-point errors may occur
    special: bool = False
    #: whether what is written to may share memory with other values
    views: bool = False
    #: how large values may get
    largest: float = 100.0


#: real sizes: vectors and matrices of 100,000 elements and more
LARGE = Draw(shapes=((), (120_000,), (1,), (300, 400), (400,), (300, 1), (1, 400)), most=400_000)
#: what differences are taken of: nothing is rounded to fewer digits on the way
SMOOTH = Draw(families=tuple(f for f in FAMILIES if f not in ("cast", "view")), dtypes=("float64",))


@dataclass(frozen=True)
class Line:
    """A statement, the value that it makes ("" where it only writes), and the values that it reads."""

    text: str
    target: str
    reads: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Program:
    """A function of ``arguments``; those in ``held`` are not differentiated by."""

    arguments: dict[str, str]
    held: tuple[str, ...]
    constants: dict[str, str]
    lines: tuple[Line, ...]
    results: tuple[str, ...]
    seed: int = 0

    def __str__(self) -> str:
        made = [f"{name} = {source}" for name, source in (self.constants | self.arguments).items()]
        return "\n".join([*_IMPORTS, *made, "", *self._definition()])

    def _definition(self) -> list[str]:
        body = "\n".join(line.text for line in self.lines)
        returned = ", ".join(self.results)
        return [f"def f({', '.join(self.arguments)}):", textwrap.indent(f"{body}\nreturn {returned}".strip(), "    ")]

    @cached_property
    def _namespace(self) -> dict[str, Any]:
        namespace: dict[str, Any] = {}
        exec(compile(str(self), f"<random program {self.seed}>", "exec"), namespace)
        return namespace

    @property
    def function(self) -> Callable:
        return self._namespace["f"]

    def point(self) -> list[Any]:
        """The arguments, made anew."""
        namespace: dict[str, Any] = {}
        exec("\n".join([*_IMPORTS, *(f"{k} = {v}" for k, v in self.arguments.items())]), namespace)
        return [namespace[name] for name in self.arguments]

    @property
    def positions(self) -> tuple[int, ...]:
        """The arguments that derivatives are taken by."""
        return tuple(k for k, name in enumerate(self.arguments) if name not in self.held)


_IMPORTS = ("import functools", "import math", "import numpy as np")


def random_program(seed: int, draw: Draw = Draw()) -> Program:  # noqa: B008
    """The program of that seed."""
    return _Growing(random.Random(seed), draw, seed).program()


@dataclass
class _Growing:
    """A program so far, with the values of everything in it."""

    r: random.Random
    draw: Draw
    seed: int
    arguments: dict[str, str] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)
    constants: dict[str, str] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    def program(self) -> Program:
        for k in range(self.r.choice([1, 1, 2, 2, 3])):
            self.arguments[f"x{k}"] = self._array(self.r.choice(self.draw.dtypes), argument=True)
        if self.draw.scalars and self.r.random() < 0.2:
            self.arguments[f"x{len(self.arguments)}"] = repr(round(self.r.uniform(-1.5, 1.5), 2))
        if self.draw.scalars and self.r.random() < 0.15:
            self.held.append(f"x{len(self.arguments)}")
            self.arguments[self.held[-1]] = self._array(self.r.choice(["int64", "int32", "bool"]), argument=True)
        for k in range(self.r.choice([0, 0, 1, 2])):
            self.constants[f"C{k}"] = self._array(self.r.choice([*self.draw.dtypes, "int64", "bool"]))
        self._replay()
        for _ in range(self.r.randint(*self.draw.steps)):
            self._step()
        return Program(self.arguments, tuple(self.held), self.constants, tuple(self.lines), self._results(), self.seed)

    def _results(self) -> tuple[str, ...]:
        floats = [n for n, v in self.values.items() if np.asarray(v).dtype.kind == "f" and n[0] in "vx"]
        last = floats[-1]
        others = self.r.sample(floats, min(len(floats), self.r.choice([0, 0, 1, 2])))
        return (last, *[n for n in others if n != last])

    def _array(self, dtype: str, argument: bool = False) -> str:
        """The source of an array."""
        shape = self.r.choice(self.draw.shapes)
        rng = f"np.random.default_rng({self.r.randrange(10_000)})"
        if dtype == "bool":
            return f"{rng}.random({shape}) < 0.5"
        if dtype.startswith("int"):
            return f"{rng}.integers(-3, 4, {shape}).astype(np.{dtype})" if shape else f"np.{dtype}({self.r.randint(-3, 3)})"
        if self.draw.special and self.r.random() < 0.3:
            values = f"{rng}.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, 6e4], {shape})"
        else:
            values = f"{rng}.uniform(-1.5, 1.5, {shape})"
        if not shape:
            return f"np.{dtype}({values})" if self.r.random() < 0.5 else f"np.array({values}, np.{dtype})"
        made = values if dtype == "float64" else f"{values}.astype(np.{dtype})"
        if argument and self.draw.layouts and self.r.random() < 0.2:
            made = self.r.choice([f"np.asfortranarray({made})", f"{made}[::-1]", f"np.repeat({made}, 2, axis=-1)[..., ::2]", f"{made}.T"])
        return made

    def _replay(self) -> None:
        """Make all values anew."""
        self.values = {}
        made = "\n".join([*_IMPORTS, *(f"{k} = {v}" for k, v in (self.constants | self.arguments).items())])
        exec(made, self.values)
        for line in self.lines:
            exec(line.text, self.values)
        self._tidy()

    def _tidy(self) -> None:
        known = self.arguments.keys() | self.constants.keys() | {line.target for line in self.lines} | set(self._modules)
        self.values = {k: v for k, v in self.values.items() if k in known}

    _modules = ("functools", "math", "np")

    def _names(self) -> list[str]:
        return [n for n in self.values if n not in self._modules]

    def _step(self) -> None:
        """One more line, where one that fits is found soon."""
        weights = {name: FAMILIES[name][0] for name in self.draw.families}
        for _ in range(12):
            family = self.r.choices(list(weights), list(weights.values()))[0]
            try:
                template = self.r.choice(FAMILIES[family][1])
                if self.draw.most > 10_000 and _GROWS.search(template):
                    continue
                line = self._line(template, family)
                self._try(line, family)
            except (_Unfit, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, Warning):
                if family in ("write", "view"):
                    self._replay()
                self._tidy()
            else:
                return

    def _try(self, line: Line, family: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if self.draw.special else "error")
            exec(line.text, self.values)
        target = line.target or line.reads[0]
        value = np.asarray(self.values[target])
        if value.size > self.draw.most or value.ndim > 4 or value.dtype.kind not in "fib":
            raise _Unfit
        if value.dtype.kind == "f" and not self.draw.special and not np.abs(value).max(initial=0) <= self.draw.largest:
            raise _Unfit
        if isinstance(self.values[target], (list, tuple)):
            raise _Unfit
        self.lines.append(line)
        self._tidy()

    def _line(self, template: str, family: str) -> Line:
        """``template`` with operands in it."""
        fields: dict[str, Any] = {}
        names = self._names()
        floats = [n for n in names if np.asarray(self.values[n]).dtype.kind == "f"]
        recent = floats[-3:] if self.r.random() < 0.7 else floats
        if "{w}" in template:
            fields["w"] = self._written()
        first = fields.get("w") or self.r.choice(names if self.r.random() < 0.1 else recent)
        a = np.asarray(self.values[first])
        fields.setdefault("a", first)
        for key in "bc":
            fits = [n for n in names if self._broadcasts(self.values[n], a)]
            fields[key] = self.r.choice(names if self.r.random() < 0.15 or not fits else fits)
        numbers = [n for n in names if not np.ndim(self.values[n])]
        if "{z}" in template and not numbers:
            raise _Unfit
        fields["z"] = self.r.choice(numbers) if numbers else ""
        fields |= {key: self._scalar() for key in "st"}
        axes = [*range(-a.ndim, a.ndim)]
        if a.ndim:
            fields["x"] = self.r.choice(axes)
            fields["perm"] = tuple(self.r.sample(range(a.ndim), a.ndim))
            fields["i"] = self._index(a.shape)
            fields["J"] = self._positions(a.shape)
            fields["n"] = self.r.choice([n for n in names if np.asarray(self.values[n]).dtype.kind in "ib"] or ["0"])
        elif any("{%s}" % key in template for key in ("x", "perm", "i", "J", "n")):
            raise _Unfit
        fields["k"] = self.r.randint(-2, 2)
        fields["shape"] = self._shape(a.size)
        target = "" if family in ("write", "view") else f"v{len(self.lines)}"
        fields["o"] = target
        text = template.format(**fields)
        if target and "{o}" not in template:
            text = f"{target} = {text}"
        reads = tuple(dict.fromkeys(n for n in _NAME.findall(text) if n != target))
        return Line(text, target, (fields["w"], *[n for n in reads if n != fields["w"]]) if "w" in fields else reads)

    def _written(self) -> str:
        """A value that may be written to."""
        fits = []
        for name, value in self.values.items():
            if name[0] != "v" or not isinstance(value, np.ndarray) or not value.flags.writeable or value.dtype.kind != "f":
                continue
            shared = any(np.may_share_memory(value, v) for n, v in self.values.items() if n != name and isinstance(v, np.ndarray))
            if shared == self.draw.views or (self.draw.views and self.r.random() < 0.3):
                fits.append(name)
        if not fits:
            raise _Unfit
        return self.r.choice(fits)

    @staticmethod
    def _broadcasts(value: Any, other: np.ndarray) -> bool:
        try:
            np.broadcast_shapes(np.shape(value), other.shape)
        except ValueError:
            return False
        return True

    def _scalar(self) -> str:
        """A number as code writes it: an int, a float, of a dtype, or a global."""
        value = round(self.r.uniform(-1.5, 1.5), 2)
        kinds = [repr(value), repr(value), str(self.r.choice([-1, 1, 2, 3])), f"np.float64({value})", f"({value})"]
        if "float32" in self.draw.dtypes:
            kinds.append(f"np.float32({value})")
        kinds += [n for n in self.constants if not np.ndim(self.values[n])]
        return self.r.choice(kinds)

    def _index(self, shape: tuple) -> str:
        """Basic indices, with index arrays among them at times."""
        entries = []
        for d in shape[: self.r.randint(1, len(shape))]:
            kinds = ["0", "-1", ":", "1:", ":-1", "::2", "::-1", "1:3", "...", "None"]
            if self.r.random() < 0.1:
                kinds = [self._positions((d,))]
            entries.append(self.r.choice(kinds))
        return ", ".join(entries)

    def _positions(self, shape: tuple) -> str:
        d = shape[0]
        if not d:
            raise _Unfit
        made = [self.r.randrange(-d, d) for _ in range(self.r.choice([1, 2, 3]))]
        return self.r.choice([str(made), f"np.array({made})"])

    def _shape(self, count: int) -> tuple:
        """A shape of so many elements."""
        if not count:
            return (0,)
        shape: list[int] = []
        while count > 1 and len(shape) < 3:
            shape.append(self.r.choice([d for d in (2, 3, 4, 5, count) if count % d == 0]))
            count //= shape[-1]
        shape += [count] if count > 1 else []
        if self.r.random() < 0.2:
            shape.insert(self.r.randint(0, len(shape)), 1)
        return tuple(shape)


class _Unfit(Exception):
    """This step does not fit here."""


def shrunk(program: Program, fails: Callable[[Program], bool], most: int = 400) -> Program:
    """A program of fewer steps that ``fails`` too."""
    tried = 0
    smaller: Program | None = program
    while smaller is not None:
        program, smaller = smaller, None
        for candidate in _smaller(program):
            tried += 1
            if tried > most:
                return program
            if _runs(candidate) and fails(candidate):
                smaller = candidate
                break
    return program


def _runs(program: Program) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program.function(*program.point())
    except Exception:
        return False
    return True


def _smaller(program: Program) -> Iterator[Program]:
    """Programs with one thing less, those first that leave out most."""
    made = [line.target for line in program.lines if line.target]
    for name in (*program.arguments, *made):
        if program.results != (name,) and name not in program.held:
            cut = next((k + 1 for k, line in enumerate(program.lines) if line.target == name), 0)
            yield replace(program, lines=program.lines[:cut], results=(name,))
            yield replace(program, results=(name,))
    for k in reversed(range(len(program.lines))):
        line = program.lines[k]
        rest = [*program.lines[:k], *program.lines[k + 1 :]]
        read = {n for other in rest for n in other.reads} | set(program.results)
        if not line.target or line.target not in read:
            yield replace(program, lines=tuple(rest))
            continue
        for other in line.reads:
            renamed = [_renamed(later, line.target, other) for later in rest[k:]]
            results = tuple(dict.fromkeys(other if n == line.target else n for n in program.results))
            yield replace(program, lines=(*rest[:k], *renamed), results=results)
    used = set(program.results) | {n for line in program.lines for n in line.reads}
    for name in program.arguments:
        if name not in used and len(program.arguments) > 1:
            kept = {n: s for n, s in program.arguments.items() if n != name}
            if kept.keys() - set(program.held):
                yield replace(program, arguments=kept, held=tuple(n for n in program.held if n != name))
    text = "\n".join(line.text for line in program.lines)
    for name in program.constants:
        if not re.search(rf"\b{name}\b", text):
            yield replace(program, constants={n: s for n, s in program.constants.items() if n != name})
    for k, line in enumerate(program.lines):  # simpler text: one call less, a factor less
        for text in _simpler(line.text):
            reads = tuple(n for n in dict.fromkeys(_NAME.findall(text)) if n != line.target)
            if line.target or (reads and reads[0] == line.reads[0]):
                lines = (*program.lines[:k], replace(line, text=text, reads=reads), *program.lines[k + 1 :])
                yield replace(program, lines=lines)


def _simpler(text: str) -> Iterator[str]:
    for pattern, by in [(r"np\.\w+\(([^(),]*)\)", r"(\1)"), (r" [*+/-] [\w.()]+$", ""), (r"^(\w+ = )[\w.]+ [*+/-] ", r"\1")]:
        for found in re.finditer(pattern, text, flags=re.M):
            made = text[: found.start()] + found.expand(by) + text[found.end() :]
            if made != text:
                yield made


def _renamed(line: Line, old: str, new: str) -> Line:
    text = re.sub(rf"\b{old}\b", new, line.text)
    reads = tuple(dict.fromkeys(new if n == old else n for n in line.reads))
    return replace(line, text=text, reads=reads)

"""Random programs: NumPy functions as source, drawn step by step, each step one that NumPy accepts.

``random_program(seed)`` is a function of a few arrays that prints as a script.
What may be drawn is said by a ``Draw``: sizes, dtypes, and the families of steps.
"""

from __future__ import annotations

import contextlib
import random
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from steps import FAMILIES

#: names of values in the source of a program
NAMES = re.compile(r"\b[vx]\d+\b")

#: what makes far more elements, or lines, of many elements
_GROWS = re.compile(
    r"for |list|rest|tri[ul]|sum\(\{a\}\)$|outer|diag|eye|kron|i,j->ij|convolve|trace|linalg|None\]|block|\{a\}\.T"
)

#: what puts elements into row order, or writes among them: sums of what did not lie in it have other last digits
_REORDERS = re.compile(r"copy|sort|einsum|\{w\}|empty_like")
#: index arrays, of which NumPy may lay out the result in another order
_PICKS = re.compile(r"\[[^\]]*(\[|array)")
#: powers that are no squares, of which the last digit is another one for numbers
_POWERS = re.compile(r"power|\*\* (?!2\b)")
#: sums, which give the zero of a number another sign
_SUMS = re.compile(r"sum|mean|average|reduce")


@dataclass(frozen=True)
class Draw:
    """What programs are drawn from."""

    #: shapes of arguments and constants, and the elements a value may have
    shapes: tuple = ((), (3,), (1,), (1, 3), (2, 1), (2, 3), (3, 3), (3, 2), (2, 2, 3), (4,))
    most: int = 60
    steps: tuple[int, int] = (2, 8)
    families: tuple[str, ...] = tuple(f for f in FAMILIES if f not in ("view", "outside"))
    #: dtypes of arguments that derivatives are taken by
    dtypes: tuple[str, ...] = ("float64", "float64", "float64", "float64", "float32", "float16")
    #: whether arguments may be Python floats (of such programs nothing is rounded to fewer digits: what NumPy's
    #: functions make of these beside smaller floats is another dtype, as the README says), integers, or not contiguous
    scalars: bool = True
    layouts: bool = True
    #: whether steps are left out of which the last digits may be other ones than NumPy's, as the README says
    exact: bool = True
    #: whether the program is also called with arguments that do not lie in row order
    transposed: bool = False
    #: whether special values (zeros with signs, NaN, infinities) and floating-point errors may occur
    special: bool = False
    #: whether arguments are zeros, ones and equal values
    ties: bool = False
    #: whether what is written to may share memory with other values
    views: bool = False
    #: how large values may get
    largest: float = 100.0


#: real sizes: vectors and matrices of 100,000 elements and more
LARGE = Draw(shapes=((), (120_000,), (1,), (300, 400), (400,), (300, 1), (1, 400)), most=400_000)
#: loops of some length
MEDIUM = Draw(shapes=((), (1, 1), (33,), (5, 33), (70, 3), (70, 1), (3,), (40, 40)), most=5_000)
#: what differences are taken of: nothing is rounded to fewer digits on the way
SMOOTH = Draw(
    families=tuple(f for f in FAMILIES if f not in ("cast", "view", "outside")), dtypes=("float64",), exact=False
)
#: the same, with functions that run as they are
OUTSIDE = replace(SMOOTH, families=(*SMOOTH.families, "outside"), scalars=False)


#: the same, at zeros, equal values and coincident points
TIED = replace(OUTSIDE, ties=True)
#: of which arguments at such points are made
_TIES = ([0.0], [0.0, 1.0], [0.0, 0.5, -0.5], [1.0], [1.0, -1.0], [0.7])


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


_IMPORTS = ("import functools", "import math", "import external_kinds as kinds", "import numpy as np")
_MODULES = ("functools", "math", "kinds", "np")


def random_program(seed: int, draw: Draw = Draw()) -> Program:
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
    #: whether an argument is a Python float
    takes_float: bool = False

    def program(self) -> Program:
        self.takes_float = self.draw.scalars and self.r.random() < 0.2
        if self.takes_float:
            families = tuple(f for f in self.draw.families if f not in ("cast", "scalar"))
            self.draw = replace(self.draw, dtypes=("float64",), families=families)
        for k in range(self.r.choice([1, 1, 2, 2, 3])):
            self.arguments[f"x{k}"] = self._array(self.r.choice(self.draw.dtypes), argument=True)
        if self.takes_float:
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
            if not shape:
                return f"np.{dtype}({self.r.randint(-3, 3)})"
            return f"{rng}.integers(-3, 4, {shape}).astype(np.{dtype})"
        if self.draw.special and self.r.random() < 0.3:
            values = f"{rng}.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, 6e4], {shape})"
        elif self.draw.ties and argument and self.r.random() < 0.7:
            values = f"{rng}.choice({self.r.choice(_TIES)}, {shape})"
        else:
            values = f"{rng}.uniform(-1.5, 1.5, {shape})"
        if not shape:
            return f"np.{dtype}({values})" if self.r.random() < 0.5 else f"np.array({values}, np.{dtype})"
        made = values if dtype == "float64" else f"{values}.astype(np.{dtype})"
        if argument and self.draw.layouts and self.r.random() < 0.2:
            strided = f"np.repeat({made}, 2, axis=-1)[..., ::2]"
            made = self.r.choice([f"np.asfortranarray({made})", f"{made}[::-1]", strided, f"{made}.T"])
        return made

    def _replay(self) -> None:
        """Make all values anew."""
        self.values = {}
        made = "\n".join([*_IMPORTS, *(f"{k} = {v}" for k, v in (self.constants | self.arguments).items())])
        with self._warnings():
            exec(made, self.values)
            for line in self.lines:
                exec(line.text, self.values)
        self._tidy()

    @contextlib.contextmanager
    def _warnings(self) -> Iterator[None]:
        """Floating-point errors refuse a step, unless they may occur."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if self.draw.special else "error")
            yield

    def _tidy(self) -> None:
        known = {*_MODULES, *self.arguments, *self.constants, *(line.target for line in self.lines)}
        self.values = {k: v for k, v in self.values.items() if k in known}

    def _names(self) -> list[str]:
        return [n for n in self.values if n not in _MODULES]

    def _step(self) -> None:
        """One more line, where one that fits is found soon."""
        weights = {name: FAMILIES[name][0] for name in self.draw.families}
        for _ in range(12):
            family = self.r.choices(list(weights), list(weights.values()))[0]
            try:
                template = self.r.choice(FAMILIES[family][1])
                if self._is_left_out(template):
                    continue
                line = self._line(template, family)
                self._try(line, family)
            except (_Unfit, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, Warning):
                if family in ("write", "view"):
                    self._replay()
                self._tidy()
            else:
                return

    def _is_left_out(self, template: str) -> bool:
        if self.draw.most > 10_000 and _GROWS.search(template):
            return True
        if self.draw.special and "while" in template:  # infinity never gets smaller
            return True
        return self.draw.exact and bool(_REORDERS.search(template)) and not self._lies_in_rows()

    def _lies_in_rows(self) -> bool:
        arrays = [v for v in self.values.values() if isinstance(v, np.ndarray)]
        return not self.draw.transposed and all(v.flags.c_contiguous for v in arrays)

    def _has_other_digits(self, line: Line, value: Any) -> bool:
        if _POWERS.search(line.text) and self._reads_numbers(line):
            return True
        if "np.tile" in line.text and value.shape[-1] == 2:  # one element, which symgrad broadcasts
            return True
        is_new = isinstance(value, np.ndarray) and value.base is None
        laid_out = is_new and not value.flags.c_contiguous
        return (laid_out or self.draw.transposed) and bool(_PICKS.search(line.text))

    def _reads_numbers(self, line: Line) -> bool:
        return not all(np.ndim(self.values[n]) for n in line.reads)

    def _try(self, line: Line, family: str) -> None:
        with self._warnings():
            exec(line.text, self.values)
        target = line.target or line.reads[0]
        value = np.asarray(self.values[target])
        if value.size > self.draw.most or value.ndim > 4 or value.dtype.kind not in "fib":
            raise _Unfit
        if value.dtype.kind == "f" and not self.draw.special and not np.abs(value).max(initial=0) <= self.draw.largest:
            raise _Unfit
        if isinstance(self.values[target], (list, tuple)):
            raise _Unfit
        if _SUMS.search(line.text) and self._reads_numbers(line):
            raise _Unfit
        if self.draw.exact and self._has_other_digits(line, self.values[target]):
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
        elif any(key in template for key in ("{x}", "{perm}", "{i}", "{J}", "{n}")):
            raise _Unfit
        fields["k"] = self.r.randint(-2, 2)
        fields["shape"] = self._shape(a.size)
        target = "" if family in ("write", "view") else f"v{len(self.lines)}"
        fields["o"] = target
        text = template.format(**fields)
        if target and "{o}" not in template:
            text = f"{target} = {text}"
        reads = tuple(dict.fromkeys(n for n in NAMES.findall(text) if n != target))
        return Line(text, target, (fields["w"], *[n for n in reads if n != fields["w"]]) if "w" in fields else reads)

    def _written(self) -> str:
        """A value that may be written to."""
        fits = []
        for name, value in self.values.items():
            if not isinstance(value, np.ndarray) or not value.flags.writeable or value.dtype.kind != "f":
                continue
            arrays = {n: v for n, v in self.values.items() if n != name and isinstance(v, np.ndarray)}
            others = {n for n, v in arrays.items() if np.may_share_memory(value, v)}
            if name[0] != "v" or others & self.constants.keys():  # changed globals make another function
                continue
            if bool(others) == self.draw.views or (self.draw.views and self.r.random() < 0.3):
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

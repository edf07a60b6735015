"""The statements of a Routine as Python that numba compiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import UnsupportedOperation
from ...program.dims import Dim, dim_source, is_named
from .. import python_source
from ..loops import STATUSES
from ..loops.language import (
    Alias,
    Allocate,
    Apply,
    Array,
    Assign,
    Call,
    Cast,
    Counted,
    Element,
    Expression,
    Fill,
    Free,
    If,
    Index,
    Let,
    Literal,
    Loop,
    Name,
    Note,
    Require,
    Routine,
    Search,
    Size,
    Slab,
    Statement,
    Update,
    Variable,
)
from .library import Library

_INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "greater": ">",
    "greater_equal": ">=",
    "less": "<",
    "less_equal": "<=",
    "equal": "==",
    "not_equal": "!=",
    "logical_and": "and",
    "logical_or": "or",
    "logical_xor": "!=",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
}
_PREFIX = {"negative": "-", "logical_not": "not ", "invert": "~"}
#: operations that are functions of ``math``, which numba knows for numbers
_MATH = {
    "absolute": "abs",
    "arctan2": "math.atan2",
    **{name: f"math.{name}" for name in ("erf", "erfc", "hypot", "copysign", "ldexp", "isnan", "isinf", "isfinite")},
    **{name: f"math.{name}" for name in ("sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan")},
    **{name: f"math.{name}" for name in ("sinh", "cosh", "tanh")},
    **{f"arc{name}": f"math.a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
#: operations that are functions of NumPy
_NUMPY = frozenset(("cbrt", "exp2", "floor", "ceil", "trunc", "rint", "signbit", "fmod", "fmax", "fmin"))
_ERRORS = {"memory": "MemoryError", "index": "IndexError", "singular": "np.linalg.LinAlgError"}
_ERRORS |= {"indefinite": "np.linalg.LinAlgError"}
_UPDATES = {"add": "+=", "multiply": "*="}
_COMPARISONS = ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal")


def error(status: str) -> str:
    """The line that raises what a status says."""
    return f'raise {_ERRORS.get(status, "ValueError")}("{STATUSES[status]}")'


class Body:
    """The body of the function; ``lines`` begin without indentation."""

    def __init__(self, routine: Routine, library: Library) -> None:
        self._library = library
        self._dims = routine.dims
        self.lines: list[str] = []
        for out in routine.outputs:
            if out.shape:
                self._line(0, f"{out.name} = {self._empty(out)}")
        for statement in routine.body:
            self._write(statement, 0)

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _dim(self, dim: Dim) -> str:
        return dim_source(dim, self._dims)

    def _shape(self, shape: Sequence[Dim]) -> str:
        return "(" + ", ".join(map(self._dim, shape)) + ("," if len(shape) == 1 else "") + ")"

    def _empty(self, array: Array) -> str:
        return f"np.empty({self._shape(array.shape)}, {python_source.numpy_dtype(array.dtype)})"

    # statements

    def _write(self, s: Statement, depth: int) -> None:
        """One statement; what it nests are loops, no deeper than the ranks of arrays."""
        if isinstance(s, Let | Variable):
            self._line(depth, f"{s.name} = {self.spell(s.value)}")
        elif isinstance(s, Assign):
            self._line(depth, f"{self._target(s.target)} = {self.spell(s.value)}")
        elif isinstance(s, Update):
            self._update(s, depth)
        elif isinstance(s, Loop):
            size = self._dim(s.extent)
            turns = f"range({size} - 1, -1, -1)" if s.reverse else f"range({size})"
            self._nested(f"for {s.counter} in {turns}:", s.body, depth)
        elif isinstance(s, If):
            self._nested(f"if {self.spell(s.condition)}:", s.body, depth)
        elif isinstance(s, Require):
            self._line(depth, f"if not ({self.spell(s.condition)}):")
            self._line(depth + 1, error(s.status))
        elif isinstance(s, Note):
            self._line(depth, f"# {s.text}")
        elif isinstance(s, Allocate):
            self._line(depth, f"{s.array.name} = {self._empty(s.array)}")
        elif isinstance(s, Fill):
            self._line(depth, f"{s.array.name}.fill({self.spell(s.value)})")
        elif isinstance(s, Alias):
            self._line(depth, f"{s.array.name} = {s.source.name}.reshape({self._shape(s.array.shape)})")
        elif isinstance(s, Call):
            self._call(s, depth)
        else:
            assert isinstance(s, Free)  # Python frees what nobody reads

    def _nested(self, head: str, body: Sequence[Statement], depth: int) -> None:
        self._line(depth, head)
        for s in body:
            self._write(s, depth + 1)

    def _target(self, target: Name | Element) -> str:
        return target.array.name if isinstance(target, Element) and not target.place else self.spell(target)

    def _update(self, s: Update, depth: int) -> None:
        target = self._target(s.target)
        if s.operation in _UPDATES and s.target.dtype.itemsize == 8:
            self._line(depth, f"{target} {_UPDATES[s.operation]} {self.spell(s.value)}")
        else:
            value = Apply(s.operation, (s.target, s.value), s.target.dtype)
            self._line(depth, f"{target} = {self.spell(value)}")

    def _call(self, s: Call, depth: int) -> None:
        function = self._library.use(s.function)
        given = ", ".join(map(self._slab, s.operands))
        if isinstance(s.target, Slab):
            self._line(depth, f"{function}({given}, {self._slab(s.target)})")
        else:
            self._line(depth, f"{self._target(s.target)} = {self._kept(f'{function}({given})', s.target.dtype)}")

    def _slab(self, slab: Slab) -> str:
        lead = ", ".join(map(self._index, slab.lead))
        return f"{slab.array.name}[{lead}]" if lead else slab.array.name

    # expressions

    def _index(self, index: Index) -> str:
        parts = []
        for name, coefficient in index.terms:
            parts.append(name if coefficient == 1 else f"{name} * {self._factor(coefficient)}")
        if index.offset != 0 or not parts:
            parts.append(self._factor(index.offset))
        return " + ".join(parts)

    def _factor(self, dim: Dim) -> str:
        return self._dim(dim) if is_named(dim) or dim >= 0 else f"({self._dim(dim)})"

    def spell(self, e: Expression) -> str:
        """An expression; within others it stands in parentheses where it holds an operator."""
        if isinstance(e, Name):
            return e.name
        if isinstance(e, Literal):
            return self._kept(python_source.number(e.value), e.dtype)
        if isinstance(e, Element):
            place = ", ".join(map(self._index, e.place))
            return f"{e.array.name}[{place}]" if place else e.array.name
        if isinstance(e, Size):
            return f"float({self._dim(e.dim)})" if e.dtype == np.float64 else self._kept(self._dim(e.dim), e.dtype)
        if isinstance(e, Counted):
            return self._index(e.index)
        if isinstance(e, Cast):
            return self._cast(e)
        if isinstance(e, Search):
            return f"{self._library.use('search_' + e.side)}({e.knots.name}, {self.spell(e.value)})"
        return self._kept(self._applied(e), e.dtype)

    def _cast(self, e: Cast) -> str:
        if e.dtype.kind == "b":
            return f"{self._operand(e.operand)} != 0"
        if e.operand.dtype.kind == "b":
            one, zero = (self.spell(Literal(value, e.dtype)) for value in (e.dtype.type(1), e.dtype.type(0)))
            return f"({one} if {self._operand(e.operand)} else {zero})"
        if e.dtype == np.float64:
            return f"float({self.spell(e.operand)})"
        return f"{python_source.numpy_dtype(e.dtype)}({self.spell(e.operand)})"

    def _kept(self, text: str, dtype: np.dtype) -> str:
        """A number in its dtype where Python's arithmetic would widen it."""
        return text if dtype.itemsize == 8 or dtype.kind == "b" else f"{python_source.numpy_dtype(dtype)}({text})"

    def _operand(self, e: Expression) -> str:
        text = self.spell(e)
        narrow = e.dtype.itemsize != 8 and e.dtype.kind != "b"
        if isinstance(e, Apply) and not narrow and (e.operation in _INFIX or e.operation in (*_PREFIX, "where")):
            return f"({text})"
        if (isinstance(e, Cast) and e.dtype.kind == "b") or (isinstance(e, Literal) and text.startswith("-")):
            return f"({text})"
        return f"({text})" if isinstance(e, Counted) and " " in text else text

    def _applied(self, e: Apply) -> str:
        name, operands = e.operation, e.operands
        kind = operands[-1].dtype.kind
        if name == "where":
            condition, yes, no = map(self._operand, operands)
            return f"{yes} if {condition} else {no}"
        if name in _INFIX:
            right = []
            while name == "multiply" and e.dtype.itemsize == 8:  # products may have any number of factors
                first = operands[0]
                if not isinstance(first, Apply) or first.operation != name:
                    break
                right.append(self._operand(operands[1]))
                operands = first.operands
            return f" {_INFIX[name]} ".join([*map(self._operand, operands), *reversed(right)])
        if name in _PREFIX:
            return _PREFIX[name] + self._operand(operands[0])
        arguments = ", ".join(map(self.spell, operands))
        if name == "power" and kind == "f":
            return f"{self._operand(operands[0])} ** {self._operand(operands[1])}"
        if kind == "f" or name in ("absolute", "ldexp"):
            if name in _MATH:
                return f"{_MATH[name]}({arguments})"
            if name in _NUMPY:
                return f"np.{name}({arguments})"
        if kind == "u":
            raise UnsupportedOperation(f"{name} of {operands[0].dtype} has no form in numba; cast to int64 first.")
        return f"{self._library.use(name if kind == 'f' else f'{name}_int')}({arguments})"

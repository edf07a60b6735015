"""The statements of a Routine as Python that numba compiles: NumPy's functions on numbers, by their own names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...emit.loops import STATUSES
from ...emit.loops.language import Alias, Apply, Array, Literal, Loop, Require, Slab
from ..dialect import INFIX, LOOSE, SUM, Dialect, Functions, Text, called, is_zero
from ..python_source import number, numpy_dtype

#: the functions that numba lacks; they begin with an underscore, as no name of a user does
FUNCTIONS = Functions((Path(__file__).parent / "functions.py").read_text())
_OPERATIONS = {
    **called(lambda name: f"_{name}" if f"_{name}" in FUNCTIONS.sources else f"np.{name}"),
    **INFIX,
    "power": "{0} ** {1}",
    "absolute": "abs({0})",
    "where": "{1} if {0} else {2}",
    "logical_and": "{0} and {1}",
    "logical_or": "{0} or {1}",
    "logical_xor": "{0} != {1}",
    "logical_not": "not {0}",
    "bitwise_xor": "({0} ^ {1})",
    "erf": "math.erf({0})",
    "erfc": "math.erfc({0})",
    "ldexp": "math.ldexp({0}, {1})",
}
_WHOLE = _OPERATIONS | {f: f"_whole_{f}({{0}}, {{1}})" for f in ("floor_divide", "remainder", "fmod")}
_UNSIGNED = _OPERATIONS | {
    "sign": "({0} > 0)",
    "floor_divide": "_unsigned_floor_divide({0}, {1})",
    "remainder": "_unsigned_remainder({0}, {1})",
    "fmod": "_unsigned_remainder({0}, {1})",
}
_ERRORS = {"memory": "MemoryError", "index": "IndexError"}


class Body(Dialect):
    """The body of the function."""

    language = "numba"
    base, power, quotient, end = 0, "**", "({0})//({1})", ()
    tables: ClassVar = {"f": _OPERATIONS, "b": _OPERATIONS, "i": _WHOLE, "u": _UNSIGNED}
    calls: ClassVar = {
        "solve": "_solve({0}, {1})",
        **{
            name: f"_{name}({{0}})"
            for name in ("inverse", "determinant", "log_determinant", "determinant_sign", "cholesky")
        },
        "argsort": 'np.argsort({0}, kind="mergesort")',
    }

    def keeps(self, dtype: np.dtype) -> bool:
        return dtype.kind == "b" or (dtype.itemsize == 8 and dtype.kind != "u")

    def _kept(self, made: Text, dtype: np.dtype) -> Text:
        """A number in its dtype where Python's arithmetic would widen it."""
        return made if self.keeps(dtype) else Text(f"{numpy_dtype(dtype)}({made.source})")

    def number(self, value: Any, dtype: np.dtype) -> Text:
        source = number(value)
        return self._kept(Text(source, SUM) if source.startswith("-") else Text(source), dtype)

    def converted(self, operand: Text, given: np.dtype, wanted: np.dtype) -> Text:
        if given.kind == "b":
            one, zero = (self.number(wanted.type(k), wanted).source for k in (1, 0))
            return Text(f"{one} if {operand.within(LOOSE + 1)} else {zero}", LOOSE)
        return Text(f"{'float' if wanted == np.float64 else numpy_dtype(wanted)}({operand.source})")

    def applied(self, e: Apply, operands: Sequence[Text]) -> Text:
        return self._kept(super().applied(e, operands), e.dtype)

    def search(self, knots: str, value: Text, right: bool) -> Text:
        return Text(f'np.searchsorted({knots}, {value.source}, side="{"right" if right else "left"}")')

    def slab(self, slab: Slab) -> str:
        """A part that numba knows to lie in C order."""
        return self.place(slab.array, slab.lead)

    def loop(self, s: Loop) -> str:
        size = self.dim(s.extent)
        return f"for {s.counter} in range({f'{size} - 1, -1, -1' if s.reverse else size}):"

    def condition(self, source: str) -> str:
        return f"if {source}:"

    def require(self, s: Require) -> list[str]:
        error = _ERRORS.get(s.status, "ValueError")
        return [f"if not ({self.source(s.condition)}):", f'    raise {error}("{STATUSES[s.status]}")']

    def allocated(self, array: Array, fill: Literal | None = None) -> str:
        shape, own = self._shape(array), numpy_dtype(array.dtype)
        if not array.shape:
            return f"{array.name} = {own}(0)"
        if fill is None or is_zero(fill):
            return f"{array.name} = np.{'empty' if fill is None else 'zeros'}({shape}, {own})"
        return f"{array.name} = np.full({shape}, {self.source(fill)}, {own})"

    def refilled(self, array: str, value: str) -> str:
        return f"{array}.fill({value})"

    def alias(self, s: Alias) -> str:
        return f"{s.array.name} = {s.source.name}.reshape({self._shape(s.array)})"

    def _shape(self, array: Array) -> str:
        return f"({self.dims(array.shape)}{',' if len(array.shape) == 1 else ''})"

"""The statements of a Routine in Julia, whose arrays are counted from 1 and lie by columns."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...emit.loops.language import STATUSES, Alias, Array, Element, Index, Literal, Loop, Require, Slab
from ...emit.loops.reading import every, parts, read_by
from ...program.dims import Dim
from ..dialect import ATOM, INFIX, OR, SUM, Dialect, Functions, Text, called, is_zero

_SOURCE = (Path(__file__).parent / "functions.jl").read_text()
FUNCTIONS = Functions(_SOURCE)
#: functions of packages, which are imported where they are called
PACKAGES = {
    "LinearAlgebra": ("Symmetric", "cholesky", "det", "inv", "logabsdet", "lu"),
    "Printf": ("@printf",),
    "SpecialFunctions": ("digamma", "erf", "erfc", "erfcx", "logabsgamma", "zeta"),
}


def _name(operation: str) -> str:
    """Julia's name for a function of NumPy; where Julia throws, that of the one which gives NaN."""
    short = operation.replace("arc", "a")
    return f"{short}_or_nan" if f"{short}_or_nan" in FUNCTIONS.sources else short


_FLOATS = {
    **called(_name),
    **INFIX,
    "where": "ifelse({0}, {1}, {2})",
    "absolute": "abs({0})",
    "sign": "signum({0})",
    "reciprocal": "inv({0})",
    "maximum": "max({0}, {1})",
    "minimum": "min({0}, {1})",
    "fmax": "larger({0}, {1})",
    "fmin": "smaller({0}, {1})",
    "arctan2": "atan({0}, {1})",
    "remainder": "mod({0}, {1})",
    "fmod": "rem({0}, {1})",
    "rint": "round({0})",
    "logical_and": "{0} && {1}",
    "logical_or": "{0} || {1}",
    "logical_not": "!{0}",
    "logical_xor": "xor({0}, {1})",
    "bitwise_xor": "xor({0}, {1})",
}
_WHOLE = {"floor_divide": "{0}, {1}", "remainder": "{0}, {1}", "fmod": "{0}, {1}", "reciprocal": "{0}"}
_INTEGERS = {
    **_FLOATS,
    "power": "{0}^{1}",
    "sign": "sign({0})",
    **{name: f"integer_{name}({given})" for name, given in _WHOLE.items()},
}
_WORDS = """
    abstract baremodule begin break catch const continue do else elseif end export false finally for function global if
    import in isa let local macro module mutable outer primitive public quote return struct true try type using where
    while AbstractArray AbstractMatrix AbstractVector ArgumentError Array Base Bool BoundsError Core DimensionMismatch
    Float32 Float64 GOLDEN Inf Inf32 Int Int16 Int32 Int64 Int8 Integer Main NaN NaN32 PROGRAM_FILE Real UInt16 UInt32
    UInt64 UInt8 abspath error eval exit fill fill! include max permutedims println selectdim size throw undef
    unsafe_trunc vec zeros self_check
"""


class Body(Dialect):
    """The body of the function."""

    language = "Julia"
    base, power, quotient, end = 1, "^", "div({0}, {1})", ("end",)
    tables: ClassVar = {"f": _FLOATS, "b": _FLOATS, "i": _INTEGERS, "u": _INTEGERS}
    #: these throw where there is no result
    calls: ClassVar = {
        "inverse": "inv(lu({0}))",
        "solve": "lu({0}) \\ {1}",
        "determinant": "det({0})",
        "log_determinant": "logabsdet({0})[1]",
        "determinant_sign": "logabsdet({0})[2]",
        "cholesky": "cholesky(Symmetric({0}, :L)).L",
        "argsort": "sortperm({0} .+ 0) .- 1",  # a negative zero is equal to zero
    }

    def number(self, value: Any, dtype: np.dtype) -> Text:
        return number(value, dtype)

    def converted(self, operand: Text, given: np.dtype, wanted: np.dtype) -> Text:
        name = type_name(wanted)
        if given.kind == "f" and wanted.kind in "iu":
            return Text(f"unsafe_trunc({name}, {operand.source})")
        if given.kind in "iu" and wanted.kind in "iu":
            return Text(f"rem({operand.source}, {name})")
        return Text(f"{name}({operand.source})")

    def search(self, knots: str, value: Text, right: bool) -> Text:
        return Text(f"count_before({knots}, {value.source}, {'true' if right else 'false'})")

    def loop(self, s: Loop) -> str:
        last = self.dim(s.extent)
        # sizes were compared when it was called, so that only indices which are data could be out of bounds
        marked = "@inbounds " if self.depth == 0 and not self._looks_up(s) else ""
        return f"{marked}for {s.counter} in {f'{last}:-1:1' if s.reverse else f'1:{last}'}"

    def _looks_up(self, loop: Loop) -> bool:
        """True where an index is an element of an array."""
        read = [e for s in every([loop]) for top in read_by(s) for e in parts(top)]
        places: list[Index] = [i for e in read if isinstance(e, Element) for i in e.place]
        return any(name not in self.counters for i in places for name, _ in i.terms)

    def condition(self, source: str) -> str:
        return f"if {source}"

    def require(self, s: Require) -> list[str]:
        thrown = "DimensionMismatch" if s.status == "size" else "ArgumentError"
        return [f'{self.source(s.condition, OR + 1)} || throw({thrown}("{STATUSES[s.status]}"))']

    def allocated(self, array: Array, fill: Literal | None = None) -> str:
        if not array.shape:
            return f"{array.name} = zero({type_name(array.dtype)})"
        dims = "".join(f", {self.dim(d)}" for d in array.shape)
        if fill is None:
            return f"{array.name} = Array{{{type_name(array.dtype)}}}(undef{dims})"
        if is_zero(fill):
            return f"{array.name} = zeros({type_name(array.dtype)}{dims})"
        return f"{array.name} = fill({self.source(fill)}{dims})"

    def refilled(self, array: str, value: str) -> str:
        return f"fill!({array}, {value})"

    def alias(self, s: Alias) -> str:
        return f"{s.array.name} = in_rows({', '.join([s.source.name, *map(self.dim, s.array.shape)])})"

    def part(self, slab: Slab) -> str:
        (at,) = slab.lead
        return f"selectdim({slab.array.name}, 1, {self._linear(at, self.base).source})"

    def size(self, shape: tuple[Dim, ...]) -> str:
        """A shape as a tuple."""
        return f"({self.dims(shape)}{',' if len(shape) == 1 else ''})"


#: what nothing of a user's is called: Julia's words, types, and the functions that are called
RESERVED: frozenset[str] = frozenset(_WORDS.split()).union(
    re.findall(r"[A-Za-z]\w*(?=\()", " ".join([_SOURCE, *_INTEGERS.values(), *_FLOATS.values(), *Body.calls.values()])),
    PACKAGES,
    *PACKAGES.values(),
)


def type_name(dtype: np.dtype) -> str:
    """The type of a dtype.

    >>> type_name(np.dtype(np.float32)), type_name(np.dtype(np.uint8)), type_name(np.dtype(bool))
    ('Float32', 'UInt8', 'Bool')
    """
    kind = {"b": "Bool", "i": "Int", "u": "UInt", "f": "Float"}[dtype.kind]
    return kind if dtype.kind == "b" else f"{kind}{8 * dtype.itemsize}"


def number(value: Any, dtype: np.dtype) -> Text:
    """A number, exactly.

    >>> number(1e-7, np.dtype(np.float32)).source, number(-(2**63), np.dtype(np.int64)).source
    ('1f-07', 'typemin(Int64)')
    """
    if dtype.kind == "b":
        return Text("true" if value else "false")
    if dtype.kind in "iu":
        if value == np.iinfo(np.int64).min:
            return Text("typemin(Int64)")
        plain = str(int(value))
        return Text(plain, SUM if value < 0 else ATOM) if dtype == np.int64 else Text(f"{type_name(dtype)}({plain})")
    x = dtype.type(value)
    narrow = dtype == np.float32
    if np.isnan(x):
        return Text("NaN32" if narrow else "NaN")
    sign = "-" if math.copysign(1, x) < 0 else ""
    source = ("Inf32" if narrow else "Inf") if np.isinf(x) else str(abs(x))
    if narrow and not np.isinf(x):
        source = source.replace("e", "f") if "e" in source else f"{source}f0"
    return Text(sign + source, SUM if sign else ATOM)


def array(value: np.ndarray) -> str:
    """An array as source, its elements by columns.

    >>> array(np.array([[1, 2], [3, 4]])), array(np.zeros((0, 2))), array(np.full(3, 0.5, np.float32))
    ('reshape(Int64[1, 3, 2, 4], 2, 2)', 'zeros(Float64, 0, 2)', 'fill(0.5f0, 3)')
    """
    extents, own = ", ".join(map(str, value.shape)), type_name(value.dtype)
    listed = [number(v.item(), value.dtype).source for v in value.ravel(order="F")]
    if not listed:
        return f"zeros({own}, {extents})"
    if len(listed) > 1 and len(set(listed)) == 1:
        return f"fill({listed[0]}, {extents})"
    made = f"{own}[{', '.join(listed)}]"
    return made if value.ndim == 1 else f"reshape({made}, {extents})"

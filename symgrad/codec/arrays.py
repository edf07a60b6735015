"""Numbers in a document: dtypes, arrays and Python scalars, exact in every bit that counts.

A float is the shortest decimal that reads as the same float64, so every reader has it exactly; what JSON has no
number for is ``"nan"``, ``"inf"`` or ``"-inf"``. Arrays of up to 256 elements list them row by row; larger ones hold
their bytes, little-endian, as base64. A complex number is its real part and then its imaginary one.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import UnsupportedOperation
from .forms import Form, Listed, Made, OneOf, Real, Truth, Whole, Wrong
from .limits import MAX_BITS, MAX_LISTED, MAX_READ

_NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
_DTYPES: dict[str, np.dtype] = {name: np.dtype(name) for name in _NAMES}
_WRITTEN = {dtype: name for name, dtype in _DTYPES.items()}


def _written_dtype(dtype: np.dtype) -> str:
    name = _WRITTEN.get(dtype)
    if name is None:
        raise UnsupportedOperation(
            f"the JSON form has no dtype {dtype.str}; pass arrays of {', '.join(_DTYPES)} in this machine's byte order."
        )
    return name


#: what arrays and nodes may be of
DTYPE = Made(OneOf(*_NAMES), lambda name, known: _DTYPES[name], _written_dtype).named("dtype")
#: a whole number of 64 bits with its sign
SCALAR = Whole(-(2**MAX_BITS), 2**MAX_BITS - 1)
_REAL, _TRUTH = Real(), Truth()
_NUMBER: list[dict[str, Any]] = [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]
_ANY = Form({"oneOf": [*_NUMBER, {"type": "boolean"}]}).named("element")
_PAIR = Listed(_REAL, 2, 2)
_PARTS = {"type": "array", "items": {"oneOf": _NUMBER}, "minItems": 2, "maxItems": 2}


@lru_cache
def _elements(dtype: np.dtype) -> Form:
    """The elements of arrays of a dtype."""
    if dtype.kind == "b":
        return _TRUTH
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return Whole(int(limits.min), int(limits.max))

    def exact(value: float, known: Any) -> float:
        with np.errstate(over="ignore"):
            if float(dtype.type(value)) != value and value == value:
                raise Wrong(f"{value!r} is no {dtype}")
        return value

    return Made(_REAL, exact)


#: the members of which an array has one, and which depend on its dtype
ELEMENTS: Mapping[str, Form] = {
    "values": Listed(_ANY, MAX_READ),
    "base64": Form({"type": "string", "contentEncoding": "base64"}),
}


def written_elements(array: np.ndarray) -> dict[str, Any]:
    """The elements as the member ``values``, or ``base64`` where there are many.

    >>> written_elements(np.array([[0.1, np.nan]]))
    {'values': [0.1, 'nan']}
    """
    if array.size > MAX_LISTED:
        ordered = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        return {"base64": base64.b64encode(ordered.tobytes()).decode("ascii")}
    if array.dtype.kind == "c":
        array = np.stack([np.real(array), np.imag(array)], -1)
    if array.dtype.kind == "f":
        return {"values": [_REAL.write(v) for v in array.astype(np.float64).ravel().tolist()]}
    return {"values": array.ravel().tolist()}


def read_elements(members: Mapping[str, Any], shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """The array whose elements are one of ``members``."""
    if sum(name in members for name in ELEMENTS) != 1:
        raise Wrong("the elements should stand in one of values and base64")
    name = "values" if "values" in members else "base64"
    try:
        return (_listed if name == "values" else _decoded)(members[name], math.prod(shape), dtype).reshape(shape)
    except Wrong as wrong:
        raise wrong.within(name) from None


def _listed(values: tuple, count: int, dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "c":
        parts = _listed(values, 2 * count, np.dtype(f"f{dtype.itemsize // 2}"))
        return parts.view(dtype)
    if len(values) != count:
        raise Wrong(f"{len(values)} elements, where there should be {count}")
    return np.array(Listed(_elements(dtype), count).read([*values]), dtype)


def _decoded(text: Any, count: int, dtype: np.dtype) -> np.ndarray:
    if type(text) is not str:
        raise Wrong("should be a text")
    try:
        content = base64.b64decode(text.encode("ascii", "replace"), validate=True)
    except binascii.Error as error:
        raise Wrong(f"is not base64: {error}") from None
    if len(content) != count * dtype.itemsize:
        raise Wrong(f"{len(content)} bytes, and {count} of {dtype} take {count * dtype.itemsize}")
    if dtype.kind == "b" and content.strip(b"\0\1"):
        raise Wrong("a truth value is a byte of 0 or 1")
    return np.frombuffer(content, dtype.newbyteorder("<")).astype(dtype)


def _written_scalar(value: complex) -> Any:
    if type(value) is complex:
        return [_REAL.write(value.real), _REAL.write(value.imag)]
    if type(value) is float:
        return _REAL.write(value)
    if type(value) is int and value.bit_length() > MAX_BITS:
        raise UnsupportedOperation(
            f"the JSON form has whole numbers of at most {MAX_BITS} bits and a sign, and the function computes with "
            f"a number of {value.bit_length()}; write it as a float."
        )
    return value


#: a Python scalar, of the type that the dtype beside it says
LITERAL_VALUE = Made(Form({"oneOf": [*_NUMBER, {"type": "boolean"}, _PARTS]}).named("scalar"), write=_written_scalar)


def read_scalar(value: Any, dtype: np.dtype) -> complex:
    """The Python scalar of a literal: its dtype says of which type."""
    if dtype.kind == "c":
        return complex(*_PAIR.read(value))
    return (_TRUTH if dtype.kind == "b" else _REAL if dtype.kind == "f" else SCALAR).read(value)

"""Numbers in a document: dtypes, arrays and Python scalars, exact in every bit that counts.

A float is the shortest decimal that reads as the same float64, so every reader has it exactly; what JSON has no
number for is ``"nan"``, ``"inf"`` or ``"-inf"``. Arrays of up to 256 elements list them row by row; larger ones hold
their bytes, little-endian, as base64.
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
from .forms import Form, Given, OneOf, Real, Truth, Whole, Wrong, described
from .limits import MOST_BITS, MOST_LISTED, MOST_READ

_NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)
_DTYPES: dict[str, np.dtype] = {name: np.dtype(name) for name in _NAMES}


class _Dtype(OneOf):
    """The name of a dtype."""

    def write(self, value):
        if _DTYPES.get(value.name) != value:
            raise UnsupportedOperation(
                f"the JSON form has no dtype {value.str}; pass arrays of {', '.join(_DTYPES)} in this machine's byte "
                "order."
            )
        return value.name

    def read(self, value, known=None):
        return _DTYPES[super().read(value)]


#: what arrays and nodes may be of
DTYPE = _Dtype(*_NAMES).named("dtype")
#: a whole number of 64 bits with its sign
SCALAR = Whole(-(2**MOST_BITS), 2**MOST_BITS - 1)


class _Element(Form):
    """An element of an array of one dtype."""

    def __init__(self, dtype: np.dtype) -> None:
        self._type = dtype.type
        self._is_exact = dtype == np.float64

    def read(self, value, known=None):
        made = _REAL.read(value)
        with np.errstate(over="ignore"):
            if not self._is_exact and float(self._type(made)) != made and made == made:
                raise Wrong(f"{made!r} is no {np.dtype(self._type)}")
        return made


_REAL, _TRUTH = Real(), Truth()


@lru_cache
def _element_of(dtype: np.dtype) -> Form:
    if dtype.kind == "b":
        return _TRUTH
    if dtype.kind == "f":
        return _Element(dtype)
    limits = np.iinfo(dtype)
    return Whole(int(limits.min), int(limits.max))


_ANY = Given({"oneOf": [{"type": "number"}, {"type": "boolean"}, {"enum": ["nan", "inf", "-inf"]}]}).named("element")


class _Values(Form):
    """The elements row by row; their form depends on the dtype."""

    def schema(self, defs):
        return {"type": "array", "items": described(_ANY, defs), "maxItems": MOST_READ}


#: the members of which an array has one
ELEMENTS: Mapping[str, Form] = {"values": _Values(), "base64": Given({"type": "string", "contentEncoding": "base64"})}


def written_elements(array: np.ndarray) -> dict[str, Any]:
    """The elements as the member ``values``, or ``base64`` where there are many.

    >>> written_elements(np.array([[0.1, np.nan]]))
    {'values': [0.1, 'nan']}
    """
    if array.size > MOST_LISTED:
        ordered = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        return {"base64": base64.b64encode(ordered.tobytes()).decode("ascii")}
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


def _listed(values: Any, count: int, dtype: np.dtype) -> np.ndarray:
    if type(values) is not list or len(values) > MOST_READ:
        raise Wrong(f"should be a list of at most {MOST_READ} items")
    if len(values) != count:
        raise Wrong(f"{len(values)} elements, where there should be {count}")
    read, made = _element_of(dtype).read, []
    try:
        for value in values:
            made.append(read(value))
    except Wrong as wrong:
        raise wrong.within(len(made)) from None
    return np.array(made, dtype)


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


class _Scalar(Form):
    """A Python scalar, of the type that the dtype beside it says."""

    def write(self, value):
        if type(value) is float:
            return _REAL.write(value)
        if type(value) is int and value.bit_length() > MOST_BITS:
            raise UnsupportedOperation(
                f"the JSON form has whole numbers of at most {MOST_BITS} bits and a sign, and the function computes "
                f"with a number of {value.bit_length()}; write it as a float."
            )
        return value

    def schema(self, defs):
        return described(_ANY, defs)


LITERAL_VALUE = _Scalar()


def read_scalar(value: Any, dtype: np.dtype) -> bool | int | float:
    """The Python scalar of a literal: its dtype says of which type."""
    return (_TRUTH if dtype.kind == "b" else _REAL if dtype.kind == "f" else SCALAR).read(value)

"""Numbers in a document: dtypes, arrays and Python scalars, exact in every bit that counts.

A float is the shortest decimal that reads as the same float64, so every reader has it exactly; what JSON has no
number for is ``"nan"``, ``"inf"`` or ``"-inf"``. Arrays of up to 256 elements list them row by row; larger ones hold
their bytes, little-endian, as base64.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import UnsupportedOperation
from .field import Field
from .limits import MOST_BITS, MOST_LISTED, MOST_READ

_NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)
#: what arrays and nodes may be of
DTYPES: dict[str, np.dtype] = {name: np.dtype(name) for name in _NAMES}


def written_dtype(dtype: np.dtype) -> str:
    """The name of a dtype."""
    if DTYPES.get(dtype.name) != dtype:
        raise UnsupportedOperation(
            f"the JSON form has no dtype {dtype.str}; pass arrays of {', '.join(DTYPES)} in this machine's byte order."
        )
    return dtype.name


def read_dtype(field: Field) -> np.dtype:
    """The dtype of this name."""
    return DTYPES[field.one_of(DTYPES)]


def written_elements(array: np.ndarray) -> dict[str, Any]:
    """The elements as the member ``values``, or ``base64`` where there are many.

    >>> written_elements(np.array([[0.1, np.nan]]))
    {'values': [0.1, 'nan']}
    """
    if array.size > MOST_LISTED:
        ordered = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        return {"base64": base64.b64encode(ordered.tobytes()).decode("ascii")}
    if array.dtype.kind == "f":
        return {"values": [written_float(v) for v in array.astype(np.float64).ravel().tolist()]}
    return {"values": array.ravel().tolist()}


#: the members of which an array has one
ELEMENTS = ("values", "base64")


def read_elements(field: Field, members: dict[str, Field], shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """The array whose elements ``members`` of ``field`` hold."""
    if sum(name in members for name in ELEMENTS) != 1:
        field.fail("the elements should stand in one of values and base64")
    count = math.prod(shape)
    if "values" in members:
        items = members["values"].items(MOST_READ)
        if len(items) != count:
            members["values"].fail(f"{len(items)} elements, where there should be {count}")
        return np.array([_element(item, dtype) for item in items], dtype).reshape(shape)
    own = members["base64"]
    if type(own.value) is not str:
        own.fail("should be a text")
    try:
        content = base64.b64decode(own.value.encode("ascii", "replace"), validate=True)
    except binascii.Error as error:
        own.fail(f"is not base64: {error}")
    if len(content) != count * dtype.itemsize:
        own.fail(f"{len(content)} bytes, and {dtype}{list(shape)} takes {count * dtype.itemsize}")
    if dtype.kind == "b" and content.strip(b"\0\1"):
        own.fail("a truth value is a byte of 0 or 1")
    return np.frombuffer(content, dtype.newbyteorder("<")).astype(dtype).reshape(shape)


def _element(item: Field, dtype: np.dtype) -> Any:
    if dtype.kind == "b":
        return item.truth()
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return item.whole(int(limits.min), int(limits.max))
    value = item.real()
    with np.errstate(over="ignore"):
        if float(dtype.type(value)) != value and value == value:
            item.fail(f"{value!r} is no {dtype}")
    return value


def written_float(value: float) -> Any:
    """A float as JSON."""
    return value if math.isfinite(value) else str(value)


def written_scalar(value: bool | int | float) -> Any:
    """A Python scalar as JSON."""
    if type(value) is float:
        return written_float(value)
    if type(value) is int and value.bit_length() > MOST_BITS:
        raise UnsupportedOperation(
            f"the JSON form has whole numbers of at most {MOST_BITS} bits and a sign, and the function computes with "
            f"a number of {value.bit_length()}; write it as a float."
        )
    return value


def read_scalar(field: Field, dtype: np.dtype) -> bool | int | float:
    """The Python scalar of a literal: its dtype says of which type."""
    if dtype.kind == "b":
        return field.truth()
    if dtype.kind == "f":
        return field.real()
    return field.whole(-(2**MOST_BITS), 2**MOST_BITS - 1)


def written_shape(shape: Sequence[int]) -> list[int]:
    """A shape of numbers alone."""
    return [int(d) for d in shape]

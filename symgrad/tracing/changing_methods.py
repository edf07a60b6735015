"""Attributes by which something is changed, whatever it is."""

from __future__ import annotations

import collections

import numpy as np

#: kinds that have methods which change them, and the attributes of these that change nothing
_KINDS = (list, dict, set, bytearray, collections.deque, np.ndarray)
_KEEPING = frozenset(
    (
        *("copy", "get", "items", "keys", "values", "difference", "intersection", "isdisjoint"),
        *("issubset", "issuperset", "symmetric_difference", "union"),
        *(name for name in dir(tuple) + dir(str) + dir(float) + dir(complex) if not name.startswith("_")),
        *("T", "mT", "all", "any", "argmax", "argmin", "argsort", "astype", "base", "choose", "clip", "compress"),
        *("conj", "cumprod", "cumsum", "diagonal", "dot", "dtype", "flags", "flatten", "item", "itemsize", "max"),
        *("mean", "min", "nbytes", "ndim", "nonzero", "prod", "ptp", "ravel", "repeat", "reshape", "round"),
        *("searchsorted", "shape", "size", "squeeze", "std", "strides", "sum", "swapaxes", "take", "tobytes"),
        *("tolist", "trace", "transpose", "var", "to_device", "device", "maxlen", "fromkeys"),
    )
)
#: attributes by which something is changed, whatever it is
CHANGING_METHODS = frozenset(n for kind in _KINDS for n in dir(kind) if not n.startswith("_")) - _KEEPING
CHANGING_METHODS |= {"__setattr__", "__delattr__", "__setitem__", "__delitem__", "__setstate__", "__dict__"}

"""The functions that C lacks: NumPy's rules for numbers, special functions, linear algebra, sorting.

A text holds ``@T`` for the type, ``@s`` for what ends names of that type, ``@f`` for what ends names in math.h, and
``@OK``, ``@MEMORY``, … for statuses. A function is called ``operation_f64``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ...errors import UnsupportedOperation
from .spelling import TYPES, suffix, type_of
from .texts import ANY, FLOATS, INTEGERS, MEMORY, UNSIGNED, WHOLE

#: function -> functions of the same type that it calls
_NEEDS: dict[str, tuple[str, ...]] = {
    "solve": ("factorised",),
    "inverse": ("solve",),
    "determinant": ("factorised",),
    "log_determinant": ("factorised",),
    "determinant_sign": ("factorised",),
    "argsort": ("before",),
    "search_left": ("before",),
    "search_right": ("before",),
}
_ALLOCATING = ("solve", "determinant", "log_determinant", "determinant_sign", "argsort")
#: functions that are written for double, and called for it by those of float
_DOUBLE_ONLY = ("gammaln", "digamma", "zeta", "erfcx")
_ONE_ARGUMENT = "static @T @n_@s(@T x)\n{\n    return (@T)@n_f64((double)x);\n}"
_TWO_ARGUMENTS = "static @T @n_@s(@T x, @T y)\n{\n    return (@T)@n_f64((double)x, (double)y);\n}"


class Library:
    """The functions that a text calls, in the order in which C must see them.

    ``statuses`` says how the statuses of the loop language are spelled, and ``OK``.
    """

    def __init__(self, statuses: Mapping[str, str]) -> None:
        self.texts: dict[str, str] = {}
        self._statuses = statuses

    def use(self, name: str, dtype: np.dtype) -> str:
        """The C name of a function for a dtype, which is written from now on."""
        spelled = f"{name}_{suffix(dtype)}"
        if spelled in self.texts:
            return spelled
        if name in _ALLOCATING:
            self.use_memory("array_of")
        narrow = dtype == np.float32 and name in _DOUBLE_ONLY
        if narrow:
            self.use(name, np.dtype(np.float64))
        else:
            for needed in _NEEDS.get(name, ()):
                self.use(needed, dtype)
        self.texts[spelled] = self._written(name, dtype, narrow)
        return spelled

    def use_memory(self, name: str) -> str:
        """A function that gives memory, or counts it."""
        self.texts.setdefault(name, MEMORY[name].strip())
        return name

    def _written(self, name: str, dtype: np.dtype, narrow: bool) -> str:
        text = (
            (_TWO_ARGUMENTS if name == "zeta" else _ONE_ARGUMENT).replace("@n", name) if narrow else _text(name, dtype)
        )
        if dtype.kind in "iu":
            least = "0" if dtype.kind == "u" or dtype.itemsize < 4 else f"INT{8 * dtype.itemsize}_MIN"
            text = text.replace("@least", least)
        for status, spelled in self._statuses.items():
            text = text.replace(f"@{status.upper()}", spelled)
        text = text.replace("@T", type_of(dtype)).replace("@s", suffix(dtype))
        return text.replace("@f", "f" if dtype == np.float32 else "").strip()


def _text(name: str, dtype: np.dtype) -> str:
    if dtype.kind == "f":
        tables = (FLOATS, ANY)
    else:
        tables = (WHOLE, UNSIGNED if dtype.kind == "u" else {}, INTEGERS if dtype.kind in "iu" else {}, ANY)
    for table in tables:
        if name in table:
            return table[name]
    raise UnsupportedOperation(
        f"{name} of {dtype} has no form in C; cast to float64 in the function, or export it as python."
    )


def names() -> Iterator[str]:
    """Every name that the library may define."""
    kinds = [suffix(np.dtype(t)) for t in TYPES]
    for name in {*FLOATS, *INTEGERS, *ANY}:
        for s in kinds:
            yield f"{name}_{s}"
    yield from MEMORY

"""Field: a value of a document with the place where it stands, which every error names."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from ..errors import LoadError
from .limits import LONGEST_NAME

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBERS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class Field:
    """A value and its path, such as ``nodes[12].operands[0]``.

    >>> Field([1, "x"], "a").items(2)[1].whole(0, 9)
    Traceback (most recent call last):
    ...
    symgrad.errors.LoadError: a[1]: 'x' should be a whole number
    """

    __slots__ = ("path", "value")

    def __init__(self, value: Any, path: str = "") -> None:
        self.value = value
        self.path = path

    def fail(self, message: str) -> NoReturn:
        """A LoadError of this place."""
        raise LoadError(f"{self.path or 'the document'}: {message}")

    def _wrong(self, wanted: str) -> NoReturn:
        self.fail(f"{shown(self.value)} should be {wanted}")

    def members(self, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Field]:
        """The members of an object that has all of ``required``, and no others than these and ``optional``."""
        if type(self.value) is not dict:
            self._wrong("an object")
        required = tuple(required)
        for key in required:
            if key not in self.value:
                self.fail(f"{key!r} is missing")
        known = {*required, *optional}
        for key in self.value:
            if key not in known:
                self.fail(f"{shown(key)} is unknown here")
        return {key: Field(value, self._under(key)) for key, value in self.value.items()}

    def has(self, key: str) -> bool:
        """Whether it is an object with this member."""
        return type(self.value) is dict and key in self.value

    def pairs(self, most: int) -> Iterator[tuple[str, Field]]:
        """The members of an object, whatever they are called."""
        if type(self.value) is not dict or len(self.value) > most:
            self._wrong(f"an object of at most {most} members")
        return ((key, Field(value, self._under(key))) for key, value in self.value.items())

    def _under(self, key: str) -> str:
        own = key if _KEY.fullmatch(key) else f"[{shown(key)}]"
        return own if not self.path else f"{self.path}{'' if own[0] == '[' else '.'}{own}"

    def items(self, most: int, least: int = 0) -> list[Field]:
        """The items of a list."""
        if type(self.value) is not list:
            self._wrong("a list")
        if not least <= len(self.value) <= most:
            self.fail(f"{len(self.value)} items, where there may be {least} to {most}")
        return [Field(value, f"{self.path}[{k}]") for k, value in enumerate(self.value)]

    def text(self, most: int = LONGEST_NAME) -> str:
        """A text that can be written as UTF-8."""
        if type(self.value) is not str:
            self._wrong("a text")
        if len(self.value) > most:
            self.fail(f"a text of {len(self.value)} characters, where there may be {most}")
        if any("\ud800" <= c <= "\udfff" for c in self.value):
            self.fail("a text with half a surrogate pair")
        return self.value

    def one_of(self, choices: Iterable[str]) -> str:
        """One of these texts."""
        choices = tuple(choices)
        if type(self.value) is not str or self.value not in choices:
            self._wrong(f"one of {', '.join(choices)}")
        return self.value

    def whole(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``."""
        if type(self.value) is not int:
            self._wrong("a whole number")
        if not low <= self.value <= high:
            self._wrong(f"from {low} to {high}")
        return self.value

    def truth(self) -> bool:
        """true or false."""
        if type(self.value) is not bool:
            self._wrong("true or false")
        return self.value

    def real(self) -> float:
        """A number that a float is exactly, or ``"nan"``, ``"inf"``, ``"-inf"``."""
        value = self.value
        if type(value) is float:
            return value
        if type(value) is str and value in _NUMBERS:
            return _NUMBERS[value]
        if type(value) is int:
            with contextlib.suppress(OverflowError):
                if float(value) == value:
                    return float(value)
        self._wrong('a number that a float holds, or "nan", "inf" or "-inf"')


def shown(value: Any) -> str:
    """A value of a document, in an error: whole where it is short."""
    if type(value) is dict:
        return "an object"
    if type(value) is list:
        return "a list"
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int and value.bit_length() > 200:
        return f"a whole number of {value.bit_length()} bits"
    text = repr(value[:100]) if type(value) is str else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."

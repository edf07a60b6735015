"""Several files that belong together."""

from __future__ import annotations


class Sources(dict[str, str]):
    """Texts by file name, the main one first; printed one after the other.

    >>> print(Sources({"f.c": "int f(void);", "f.h": "…"}))
    === f.c ===
    int f(void);
    === f.h ===
    …
    """

    def __str__(self) -> str:
        return "\n".join(f"=== {name} ===\n{text}" for name, text in self.items())

    __repr__ = __str__

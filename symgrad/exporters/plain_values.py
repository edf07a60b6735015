"""Plain values of Python as source: keys of dicts, texts, and what a function takes or returns beside its arrays.

Nothing of the user's is written by a ``repr`` of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError

#: bits from which Python writes no whole number
_LONGEST = 10_000


def spelled(value: Any) -> str | None:
    r"""The expression of a plain value of Python, of its own exact type; None for what has none.

    >>> spelled({"it's": (1, None)}), spelled(float("-inf")), spelled(np.float64(1.0)), spelled(len)
    ('{"it\'s": (1, None)}', 'float("-inf")', None, None)
    """
    kind = type(value)
    if kind is float and not np.isfinite(value):
        return f'float("{value}")'
    if kind in (str, bytes, bool, float, complex, type(None)) or (kind is int and value.bit_length() < _LONGEST):
        return repr(value)
    if kind not in (tuple, list, dict):
        return None
    parts = [spelled(v) for pair in value.items() for v in pair] if kind is dict else [spelled(v) for v in value]
    texts = [text for text in parts if text is not None]
    if len(texts) < len(parts):
        return None
    if kind is dict:
        return "{" + ", ".join(f"{k}: {v}" for k, v in zip(texts[::2], texts[1::2], strict=True)) + "}"
    if kind is list:
        return f"[{', '.join(texts)}]"
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def quoted(text: str) -> str:
    """A text as Python source, in double quotes where that needs no escapes.

    >>> print(quoted("x"), quoted("p['w']"), quoted('a"b'))
    "x" "p['w']" 'a"b'
    """
    made = repr(text)
    return f'"{made[1:-1]}"' if made.startswith("'") and '"' not in made else made


def literal(value: Any) -> str:
    """A value that the function returned beside its arrays, or a key of them."""
    text = spelled(value)
    if text is None:
        raise ArgumentError(
            f"the function returns a {type(value).__name__} beside its arrays, which cannot be written into a module; "
            "return arrays, numbers and text."
        )
    return text

"""Written source as a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .blocks import Blocks
from .overwriting import check_overwriting


def compiled(source: str, namespace: dict[str, Any]) -> Callable:
    """The function ``kernel`` that ``source`` defines, checked; the source is symgrad's own."""
    exec(compile(source, "<symgrad kernel>", "exec"), namespace)
    check_overwriting(source, {name: v for name, v in namespace.items() if isinstance(v, Blocks)})
    return namespace["kernel"]

"""The source of users' code as a tree, parsed once for all that read it."""

from __future__ import annotations

import ast
import functools

from ..program.forks import Lock

#: Python 3.11 parses badly in two threads at a time
PARSING = Lock()
#: files whose trees are remembered
_FILES = 256


def source_tree(filename: str, lines: tuple[str, ...]) -> ast.Module | None:
    """The tree of these lines, to be read and not to be changed; None where they are no Python.

    >>> type(source_tree("a file", ("x = 1",)))
    <class 'ast.Module'>
    """
    with PARSING:
        return _parsed(filename, lines)


@functools.lru_cache(maxsize=_FILES)
def _parsed(filename: str, lines: tuple[str, ...]) -> ast.Module | None:
    try:
        return ast.parse("".join(lines), filename)
    except (SyntaxError, ValueError, RecursionError):
        return None

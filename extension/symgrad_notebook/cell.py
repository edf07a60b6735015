"""What a ``%%grad`` cell defines: the function or Cell to differentiate."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.nn import Cell


def defined_function(source: str, namespace: dict[str, Any]) -> tuple[str, Callable]:
    """The last function or Cell that ``source`` defines or assigns, after it has run in ``namespace``.

    A Cell class that takes no arguments is instantiated. Raises ArgumentError where there is none.
    """
    for name in reversed(list(_bound_names(ast.parse(source).body))):
        value = namespace.get(name)
        if isinstance(value, type) and issubclass(value, Cell):
            return name, _instance(name, value)
        if isinstance(value, Cell) or inspect.isfunction(value):
            return name, value
    raise ArgumentError("the cell defines no function and no Cell; write `def f(x): …` in it.")


def _bound_names(statements: Iterable[ast.AST]) -> Iterator[str]:
    """Names that the statements bind at the top level of the cell, inside ``if`` and ``with`` too."""
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield statement.name
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (t.id for t in targets if isinstance(t, ast.Name))
        elif isinstance(statement, (ast.stmt, ast.excepthandler)):
            yield from _bound_names(ast.iter_child_nodes(statement))


def _instance(name: str, cell: type) -> Cell:
    try:
        inspect.signature(cell).bind()
    except TypeError:
        raise ArgumentError(
            f"the Cell {name} takes arguments; make one in the cell, as its last line: `net = {name}(…)`."
        ) from None
    return cell()

"""What a ``%%grad`` cell defines: the function, the Cell or the expression to differentiate."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.nn import Cell

from .examples import is_example

#: what the function of a bare expression is called
EXPRESSION = "f"


def defined_function(tree: ast.Module, namespace: dict[str, Any]) -> tuple[str, Callable] | None:
    """The last function or Cell that the cell defines or assigns, after it has run in ``namespace``; None without one.

    A Cell class that takes no arguments is instantiated.
    """
    for name in reversed(list(_bound_names(tree.body))):
        value = namespace.get(name)
        if isinstance(value, type) and issubclass(value, Cell):
            return name, _instance(name, value)
        if isinstance(value, Cell) or inspect.isfunction(value):
            return name, value
    return None


def expression_function(
    tree: ast.Module, namespace: dict[str, Any], filename: str, wanted: Collection[str]
) -> tuple[str, Callable] | None:
    """The last expression of the cell as a function of the variables in it; None where there is none.

    Its arguments are the names that are numbers or arrays in the notebook, and those in ``wanted``, in the order in
    which they occur. Everything else that it names is read from ``namespace`` as in any function.
    """
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        return None
    names = [n.id for n in ast.walk(last) if isinstance(n, ast.Name)]
    places = {n.id: (n.lineno, n.col_offset) for n in reversed(list(ast.walk(last))) if isinstance(n, ast.Name)}
    used = sorted(dict.fromkeys(names), key=places.__getitem__)
    arguments = [n for n in used if n in wanted or (n in namespace and is_example(namespace[n]))]
    if not arguments:
        raise ArgumentError(
            "the expression has no variable with a number or an array in the notebook; assign one, or name it: "
            "--at 'x=1.0'."
        )
    module = ast.parse(f"def {EXPRESSION}(): return")
    made = module.body[0]
    assert isinstance(made, ast.FunctionDef)
    made.args.args = [ast.arg(n) for n in arguments]
    made.body = [ast.copy_location(ast.Return(last.value), last)]
    ast.fix_missing_locations(ast.copy_location(made, last))
    own: dict[str, Any] = {}
    exec(compile(module, filename, "exec"), namespace, own)
    return EXPRESSION, own[EXPRESSION]


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

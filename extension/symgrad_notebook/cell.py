"""What a ``%%grad`` cell defines: the function, the Cell or the expression to differentiate."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from symgrad.custom_functions import CustomFunction
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
        if isinstance(value, (Cell, CustomFunction)) or inspect.isfunction(value):
            return name, value
    return None


def first_statement(statements: Sequence[ast.stmt], wanted: Collection[str]) -> int:
    """Where what an expression needs begins: after the last statement that gives a name of ``wanted`` its value.

    A statement that reads one of them, such as ``x = 2 * x``, is part of what is differentiated.
    """
    for k in reversed(range(len(statements))):
        reads = _Reads()
        reads.visit(statements[k])
        if reads.bound & set(wanted) and not set(reads.names) & set(wanted):
            return k + 1
    return 0


def expression_function(
    statements: Sequence[ast.stmt],
    before: dict[str, Any],
    namespace: dict[str, Any],
    filename: str,
    wanted: Collection[str],
) -> tuple[str, Callable]:
    """The last expression, with the ``statements`` before it, as a function of the variables that they read.

    Its arguments are the names that are numbers or arrays ``before`` these run, and those in ``wanted``, in the order
    in which they are read. Everything else that is named is read from ``namespace`` as in any function.
    """
    reads = _Reads()
    for statement in statements:
        reads.visit(statement)
    arguments = [n for n in reads.names if n in wanted or (n in before and is_example(before[n]))]
    if not arguments:
        named = statements[-1].value if isinstance(statements[-1], ast.Expr) else None
        if isinstance(named, ast.Name) and callable(namespace.get(named.id)):
            raise ArgumentError(
                f"{named.id} is a function, and the cell does not call it. %grad {named.id} x y derives it, where x "
                f"and y are its arguments; in a cell, end with the call: {named.id}(x, y)."
            )
        raise ArgumentError(
            "the expression has no variable with a number or an array in the notebook; assign one, or name it: "
            "--at 'x=1.0'. One that the cell itself assigns is named by --wrt."
        )
    last = statements[-1]
    assert isinstance(last, ast.Expr)
    module = ast.parse(f"def {EXPRESSION}(): return")
    made = module.body[0]
    assert isinstance(made, ast.FunctionDef)
    made.args.args = [ast.arg(n) for n in arguments]
    made.body = [*statements[:-1], ast.copy_location(ast.Return(last.value), last)]
    ast.fix_missing_locations(ast.copy_location(made, statements[0]))
    own: dict[str, Any] = {}
    exec(compile(module, filename, "exec"), namespace, own)
    return EXPRESSION, own[EXPRESSION]


class _Reads(ast.NodeVisitor):
    """``names`` that statements read before they certainly bind them, in order; ``bound`` are those they bind."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.bound: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.bound.add(node.id)
        elif node.id not in self.bound and node.id not in self.names:
            self.names.append(node.id)

    def visit_Assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        for part in (node.value, *(node.targets if isinstance(node, ast.Assign) else [node.target])):
            if part is not None:
                self.visit(part)

    visit_AnnAssign = visit_Assign

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.visit_Name(ast.Name(node.target.id, ast.Load()))
        self.visit(node.value)
        self.visit(node.target)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self._perhaps([node.target, *node.body, *node.orelse])

    def visit_If(self, node: ast.If | ast.While) -> None:
        self.visit(node.test)
        self._perhaps(node.body)
        self._perhaps(node.orelse)

    visit_While = visit_If

    def visit_Try(self, node: ast.Try) -> None:
        for part in (node.body, node.handlers, node.orelse, node.finalbody):
            self._perhaps(part)

    def visit_Lambda(self, node: ast.Lambda | ast.FunctionDef) -> None:
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.visit(default)
        own = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
        inner = _Reads()
        inner.bound = {a.arg for a in own if a is not None}
        for part in node.body if isinstance(node, ast.FunctionDef) else [node.body]:
            inner.visit(part)
        self._read(inner.names)
        if isinstance(node, ast.FunctionDef):
            self.bound.add(node.name)

    visit_FunctionDef = visit_Lambda

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        inner = _Reads()
        for generator in node.generators:
            inner.visit(generator.iter)
            inner.visit(generator.target)
            for condition in generator.ifs:
                inner.visit(condition)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            inner.visit(part)
        self._read(inner.names)

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def visit_alias(self, node: ast.alias) -> None:
        self.bound.add((node.asname or node.name).split(".")[0])

    def _read(self, names: Iterable[str]) -> None:
        for name in names:
            self.visit_Name(ast.Name(name, ast.Load()))

    def _perhaps(self, statements: Iterable[ast.AST]) -> None:
        """Statements that may not run: what they bind may still be read from before."""
        bound = set(self.bound)
        for statement in statements:
            self.visit(statement)
        self.bound = bound


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

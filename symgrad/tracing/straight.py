"""Straight code: what it does follows from the kinds of the values that it is given, for it never chooses or stores.

A body of a loop is straight where it binds local names to what it computes, and does nothing else. Then a step does
what the step before did, on other values, if the names stood for values of the same kinds before both.
"""

from __future__ import annotations

import ast
import functools
import linecache
from types import CodeType
from typing import Any, NamedTuple

from .changing_methods import CHANGING_METHODS
from .sources import source_tree

#: of an array: what gives another one, and what tells how it is
METHODS = frozenset(
    (
        *("sum", "mean", "prod", "max", "min", "var", "std", "cumsum", "cumprod", "argmax", "argmin", "dot", "trace"),
        *("clip", "ravel", "reshape", "transpose", "squeeze", "swapaxes", "diagonal", "take", "astype", "copy"),
        *("conj", "conjugate", "flatten", "repeat", "round"),
    )
)
ATTRIBUTES = frozenset(("T", "mT", "real", "imag", "shape", "size", "ndim", "dtype"))
_OUT = "out"  # the argument that names an array to write into
_WITHOUT_OUT = frozenset(("reshape", "transpose", "swapaxes"))


class Straight(NamedTuple):
    """What straight code takes from elsewhere.

    ``variable`` is that of a loop, and empty for a function. ``bound`` are the local names that it binds (the arguments
    of a function too), ``carried`` those of them that it reads before, ``updated`` those that it updates in place,
    ``read`` the dotted names that it reads, ``called`` those that it calls, each with the number of arguments.
    ``by_place``: the variable is nothing but an index of those ``indexed``, as ``t`` is in ``x[t]`` and ``x[n - t]``.
    """

    variable: str
    bound: tuple[str, ...]
    carried: tuple[str, ...]
    updated: tuple[str, ...]
    read: tuple[str, ...]
    called: tuple[tuple[str, int], ...]
    by_place: bool
    indexed: tuple[str, ...]


class StraightFile(NamedTuple):
    """What is straight in a file: the loops, each with its first and last line, and the functions.

    A function is found by its name and its first line, where no other has these. ``closed`` are the functions that do
    nothing but bind names and give a value: they store nowhere, and make no call for another end than its value.
    """

    loops: list[tuple[int, int, Straight]]
    functions: dict[tuple[str, int], Straight]
    closed: set[tuple[str, int]]


def straight_loop(loop: ast.For) -> Straight | None:
    """The body of a loop, if it is straight and steps follow from one another."""
    if not isinstance(loop.target, ast.Name) or loop.orelse:
        return None
    found = _straight(_Code(loop.target.id, ()), loop.body)
    counts = isinstance(loop.iter, ast.Call) and isinstance(loop.iter.func, ast.Name) and loop.iter.func.id == "range"
    return None if found is not None and counts and not found.by_place else found


def straight_file(tree: ast.AST) -> StraightFile:
    """What is straight in a tree."""
    loops: list[tuple[int, int, Straight]] = []
    functions: dict[tuple[str, int], list[Straight | None]] = {}
    closed: set[tuple[str, int]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.For):
            own = straight_loop(node)
            if own is not None:
                loops.append((node.lineno, node.end_lineno or node.lineno, own))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
            functions.setdefault((name, node.lineno), []).append(_straight_function(node))
            if not any(map(_is_for_another_end, ast.walk(node))):
                closed.add((name, node.lineno))
    known = {place: own[0] for place, own in functions.items() if len(own) == 1 and own[0] is not None}
    return StraightFile(loops, known, {place for place in closed if len(functions[place]) == 1})


def _is_for_another_end(node: ast.AST) -> bool:
    """Whether it stores elsewhere than in local names, or is a call whose value nobody takes."""
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return not isinstance(node.ctx, ast.Load)
    return isinstance(node, (ast.Global, ast.Nonlocal, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)) or (
        isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
    )


def _straight_function(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Straight | None:
    a = node.args
    if isinstance(node, ast.AsyncFunctionDef) or a.vararg or a.kwarg:
        return None
    code = _Code("", [arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs)])
    if isinstance(node, ast.Lambda):
        return _straight(code, [ast.Return(node.body)])
    return _straight(code, node.body) if isinstance(node.body[-1], ast.Return) else None


def _straight(code: _Code, body: list[ast.stmt]) -> Straight | None:
    try:
        for statement in body:
            code.statement(statement)
    except _Choice:
        return None
    carried = tuple([name for name in code.bound if name in code.before])
    own = tuple(code.bound), carried, tuple(code.updated), tuple(code.read), tuple(code.called)
    return Straight(code.variable, *own, code.by_place, tuple(code.indexed))


class _Choice(Exception):
    """The code is not straight."""


class _Code:
    """What is read so far; ``variable`` is that of the loop, if it is one."""

    def __init__(self, variable: str, arguments: list[str] | tuple[()]) -> None:
        self.variable = variable
        self.bound = dict.fromkeys(arguments)
        self.updated: dict[str, None] = {}
        self.read: dict[str, None] = {}
        self.called: dict[tuple[str, int], None] = {}
        self.before: dict[str, None] = {}  # names that were not bound when they were read
        self.indexed: dict[str, None] = {}
        self.by_place = True

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            self._expression(node.value)
            for target in node.targets:
                self._bind(target)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            self._expression(node.value)
            self._bind(node.target)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and self.variable:
            self._expression(node.value)
            self._note(node.target.id)
            self.read[node.target.id] = None
            self.updated[node.target.id] = None
            self._bind(node.target)
        elif isinstance(node, ast.Return) and node.value is not None and not self.variable:
            self._expression(node.value)
        elif not isinstance(node, ast.Pass) and not (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            raise _Choice  # what is called for no value does something else

    def _bind(self, target: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self._bind(part)
        elif isinstance(target, ast.Name) and target.id != self.variable:
            self.bound[target.id] = None
        else:
            raise _Choice

    def _expression(self, node: ast.expr) -> None:
        if isinstance(node, (ast.Name, ast.Attribute)):
            self._name(node)
        elif isinstance(node, ast.Subscript):
            self._expression(node.value)
            if self._is_placed(node.slice):
                array = node.value
                while isinstance(array, ast.Subscript):
                    array = array.value
                name = _dotted(array)
                if name is None:
                    self.by_place = False
                else:
                    self.indexed[name] = None
            self._index(node.slice)
        elif isinstance(node, ast.BinOp):
            self._expression(node.left)
            self._expression(node.right)
        elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            self._expression(node.operand)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], _OF_NUMBERS):
            self._expression(node.left)
            self._expression(node.comparators[0])
        elif isinstance(node, (ast.Tuple, ast.List)):
            for part in node.elts:
                self._expression(part)
        elif isinstance(node, ast.Call):
            self._call(node)
        elif not isinstance(node, ast.Constant):
            raise _Choice

    def _name(self, node: ast.Name | ast.Attribute) -> None:
        name = _dotted(node)
        if name is not None:
            self._note(name)
            self.read[name] = None
        elif isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES:
            self._expression(node.value)
        else:
            raise _Choice

    def _note(self, name: str) -> None:
        """Note that a dotted name is read now."""
        first = name.partition(".")[0]
        self.by_place &= first != self.variable
        if first not in self.bound:
            self.before[first] = None

    def _call(self, node: ast.Call) -> None:
        name = _dotted(node.func)
        if name is not None:
            self._note(name)
            self.called[name, len(node.args)] = None
        elif isinstance(node.func, ast.Attribute) and is_method(node.func.attr, len(node.args)):
            self._expression(node.func.value)
        else:
            raise _Choice
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg == _OUT:
                raise _Choice
        for argument in (*node.args, *(k.value for k in node.keywords)):
            self._expression(argument)

    def _is_placed(self, node: ast.expr) -> bool:
        """Whether the variable of the loop is in it."""
        return any(isinstance(n, ast.Name) and n.id == self.variable for n in ast.walk(node))

    def _index(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                self._index(part)
        elif isinstance(node, ast.Slice):
            for part in (node.lower, node.upper, node.step):
                if part is not None:
                    self._expression(part)
        elif self._degree(node) > 1:
            raise _Choice

    def _degree(self, node: ast.expr) -> int:
        """The degree in the variable of the loop, of whole numbers that are added and multiplied; 2 stands for more."""
        if isinstance(node, ast.Name) and node.id == self.variable:
            return 1
        if not self._is_placed(node):
            self._expression(node)
            return 0
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._degree(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            return max(self._degree(node.left), self._degree(node.right))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            return self._degree(node.left) + self._degree(node.right)
        self.by_place = False  # x[p[t]] may go anywhere
        self._expression(node)
        return 0


_OF_NUMBERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


def is_method(name: str, count: int) -> bool:
    """Whether a method of an array gives another one of so many arguments, none of which can be ``out``."""
    return name in METHODS and (count <= 1 or name in _WITHOUT_OUT) and (name != "round" or not count)


def _dotted(node: ast.expr) -> str | None:
    """``a.b.c`` as it is written."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def changes_its_own(code: CodeType, arguments: bool) -> bool:
    """Whether a function sets items and calls changing methods of what it has bound alone, by its source.

    Items of ``arguments`` too, where these are traced. A name may stand for what others know; whether that was changed
    is looked at after a run.
    """
    lines = tuple(linecache.getlines(code.co_filename))
    return (code.co_name, code.co_firstlineno) in _changing_their_own(code.co_filename, lines)[arguments]


@functools.lru_cache(maxsize=256)
def _changing_their_own(filename: str, lines: tuple[str, ...]) -> tuple[set[Any], set[Any]]:
    """The functions in a file that do, by name and line: without their arguments, and with them."""
    tree = source_tree(filename, lines)
    found: dict[tuple[str, int], list[tuple[bool, bool]]] = {}
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            found.setdefault((name, first), []).append((_is_its_own(node, False), _is_its_own(node, True)))
    without, with_them = ({place for place, own in found.items() if all(o[k] for o in own)} for k in (0, 1))
    return without, with_them


def _is_its_own(function: ast.AST, arguments: bool) -> bool:
    nodes = list(ast.walk(function))
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    known = bound | {n.arg for n in nodes if isinstance(n, ast.arg)} if arguments else bound
    for node in nodes:
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            owner = node.value
            while isinstance(owner, ast.Subscript):
                owner = owner.value
            if not (isinstance(owner, ast.Name) and owner.id in known):
                return False
        elif isinstance(node, ast.Attribute) and node.attr in CHANGING_METHODS:
            is_modules = isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy")
            if not is_modules and not (isinstance(node.value, ast.Name) and node.value.id in bound):
                return False
    return True

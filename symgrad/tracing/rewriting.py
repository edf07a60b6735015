"""Code in which every call goes through a hook, compiled from the source of the user's code.

The user's functions stay as they are: what is made is another code object, with the same names, lines and columns. It
is taken only where the source, compiled as it stands, gives the very code that runs; what was edited meanwhile, or has
no source, has none.
"""

from __future__ import annotations
import __future__

import ast
import functools
import linecache
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, cast

from .sources import PARSING, source_tree
from .straight import Straight, StraightFile, straight_file, straight_loop

_FUTURE = functools.reduce(int.__or__, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))
#: what stands for the hook until the code is compiled: a constant that no source has
_STAND_IN = frozenset({"symgrad: calls"})
#: functions that look at the frame that calls them
LOOK_AT_CALLER = frozenset(("super", "locals", "globals", "vars", "dir", "eval", "exec", "breakpoint"))
#: objects that make arrays of what they are indexed by
_INDEXED = frozenset(("r_", "c_"))
_OPERATIONS = {"mult": "mul", "div": "truediv", "matmult": "matmul", "bitand": "and_", "bitor": "or_", "bitxor": "xor"}
_FILES = 256  # whose code is remembered
_STEPS = "steps"


def rewritten(code: CodeType, hook: Any) -> CodeType | None:
    """``code`` with its calls handed to ``hook``; None where its source is not at hand."""
    found = _found(code)
    return None if found is None else _with_hook(found, hook)


def straight_loop_at(code: CodeType, line: int) -> Straight | None:
    """What the body of a loop takes from elsewhere that this line of its code is in, if it is straight."""
    return next((own for first, last, own in _straight_in(code).loops if first <= line <= last), None)


def straight_function(code: CodeType) -> Straight | None:
    """What the code of a function takes from elsewhere, if it is straight and its source is at hand."""
    return _straight_in(code).functions.get((code.co_name, code.co_firstlineno))


def is_closed(code: CodeType) -> bool:
    """Whether a function does nothing but bind names and give a value, by its source."""
    return (code.co_name, code.co_firstlineno) in _straight_in(code).closed


def _straight_in(code: CodeType) -> StraightFile:
    """What is straight in the file of ``code``; nothing where its source is not at hand."""
    if _found(code) is None:
        return StraightFile([], {}, set())
    return _straight_lines(code.co_filename, tuple(linecache.getlines(code.co_filename)))


@functools.lru_cache(maxsize=_FILES)
def _straight_lines(filename: str, lines: tuple[str, ...]) -> StraightFile:
    tree = source_tree(filename, lines)
    return StraightFile([], {}, set()) if tree is None else straight_file(tree)


def _found(code: CodeType) -> CodeType | None:
    """``code`` with the stand-in."""
    lines = tuple(linecache.getlines(code.co_filename))
    if not lines:
        return None
    flags = code.co_flags & _FUTURE
    with PARSING:
        for way in _WAYS:
            for old, new in _compiled(code.co_filename, lines, flags, way):
                if old == code or (_place(old) == _place(code) and _is_of(code, new)):
                    return new
    return None


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _is_of(code: CodeType, new: CodeType) -> bool:
    """Whether ``code`` has a hook where another one has the stand-in, and is the same."""
    hook = next((value for value in code.co_consts if hasattr(value, _STEPS)), None)
    return hook is not None and _with_hook(new, hook) == code


@functools.lru_cache(maxsize=_FILES)
def _compiled(
    filename: str, lines: tuple[str, ...], flags: int, way: Callable[[str, str], list[ast.Module]]
) -> list[tuple[CodeType, CodeType]]:
    """All functions in a file: as they are, and with the stand-in taking their calls."""
    try:
        pairs = []
        for module in way("".join(lines), filename):
            old = compile(module, filename, "exec", flags, dont_inherit=True)
            new = compile(_Calls().visit(module), filename, "exec", flags, dont_inherit=True)
            olds, news = _functions(old), _functions(new)
            for place in olds.keys() & news.keys():  # of what can never run Python keeps the one, and not the other
                if len(olds[place]) == len(news[place]):
                    pairs += zip(olds[place], news[place], strict=True)
    except (SyntaxError, ValueError, RecursionError, SystemError):
        return []
    return pairs


def _as_one(text: str, filename: str) -> list[ast.Module]:
    return [ast.parse(text, filename)]


def _by_statement(text: str, filename: str) -> list[ast.Module]:
    """As notebooks do; Python makes other code of a statement that does not see what the file has imported."""
    return [ast.Module([node], []) for node in ast.parse(text, filename).body]


def _by_pytest(text: str, filename: str) -> list[ast.Module]:
    """With ``assert`` as pytest writes it."""
    rewrite = getattr(sys.modules.get("_pytest.assertion.rewrite"), "rewrite_asserts", None)
    if rewrite is None or "assert" not in text:
        return []
    tree = ast.parse(text, filename)
    rewrite(tree, text.encode(), filename)
    return [tree]


#: how Python may have been given a file
_WAYS = (_as_one, _by_statement, _by_pytest)


def _functions(code: CodeType) -> dict[tuple[str, int], list[CodeType]]:
    """All functions in code, by name and line."""
    found: dict[tuple[str, int], list[CodeType]] = {}
    pending = [code]
    while pending:
        inside = [value for value in pending.pop().co_consts if isinstance(value, CodeType)]
        for value in inside:
            found.setdefault(_place(value), []).append(value)
        pending += reversed(inside)
    return found


class _Calls(ast.NodeTransformer):
    """A call, an attribute, an operation and some indices, each handed to the hook.

    ``f(a, k=b)`` becomes ``hook.call(f, a, k=b)``, ``a + b`` ``hook.operate("add", a, b)``, ``np.r_[a, b]``
    ``hook.indexed(np.r_)[a, b]``, ``a[i] += b`` ``hook.update(hook.element(a, i), "add", b)``, ``a.b += c``
    ``hook.update(hook.member(a, "b"), "add", c)``, ``a["b"] = c`` ``hook.store(c, a, "b")``, ``a.b = c``
    ``hook.set(c, a, "b")``, ``a is True`` ``hook.decided(a) is True``, as in the cases of a ``match``, and ``b`` in
    ``for a in b`` ``hook.steps(b, …)`` where the body is straight.
    """

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        target = node.targets[0]
        self.generic_visit(node)
        if len(node.targets) > 1:
            return node
        if isinstance(target, ast.Attribute) and not target.attr.startswith("__"):
            return self._statement("set", [node.value, target.value, _named(target)], node)
        if not isinstance(target, ast.Subscript):
            return node
        if not isinstance(target.slice, (ast.Constant, ast.Name, ast.JoinedStr)) and not _is_of_several(target.slice):
            return node
        return self._statement("store", [node.value, target.value, target.slice], node)

    def visit_For(self, node: ast.For) -> ast.AST:
        straight = straight_loop(node)
        self.generic_visit(node)
        if straight is not None:
            code = ast.copy_location(ast.Constant(cast(Any, tuple(straight))), node.iter)
            node.iter = self._hooked(_STEPS, [node.iter, code], [], node.iter)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        for k, operation in enumerate(node.ops):
            for one, other in ((k, k + 1), (k + 1, k)) if isinstance(operation, (ast.Is, ast.IsNot)) else ():
                if _is_truth(sides[other]) and not isinstance(sides[one], ast.Constant):
                    sides[one] = self._hooked("decided", [sides[one]], [], sides[one])
        node.left, node.comparators = sides[0], sides[1:]
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        by_truth = any(_is_truth(p) for case in node.cases for p in ast.walk(case.pattern))
        self.generic_visit(node)
        if by_truth:
            node.subject = self._hooked("decided", [node.subject], [], node.subject)
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        pattern, node.pattern = node.pattern, ast.MatchAs()  # no code, though names and attributes stand in it
        self.generic_visit(node)
        node.pattern = pattern
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in LOOK_AT_CALLER:
            return node
        return self._hooked("call", [node.func, *node.args], node.keywords, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        self.generic_visit(node)
        if name in _INDEXED and isinstance(node.ctx, ast.Load):
            node.value = self._hooked("indexed", [node.value], [], node.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or node.attr.startswith("__"):  # which a class may call otherwise
            return node
        return self._hooked("attribute", [node.value, _named(node)], [], node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return self._hooked("operate", [_operation(node), node.left, node.right], [], node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.USub) or isinstance(node.operand, ast.Constant):
            return node
        return self._hooked("negative", [node.operand], [], node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        target = node.target
        is_index = isinstance(target, ast.Subscript) and (
            isinstance(target.slice, (ast.Name, ast.Compare, ast.Call)) or _is_of_several(target.slice)
        )
        self.generic_visit(node)
        if isinstance(target, ast.Attribute) and not target.attr.startswith("__"):
            place = self._hooked("member", [target.value, _named(target)], [], target)
        elif is_index and isinstance(target, ast.Subscript):
            place = self._hooked("element", [target.value, target.slice], [], target)
        else:
            return node
        return self._statement("update", [place, _operation(node), node.value], node)

    def _statement(self, name: str, args: list[ast.expr], at: ast.stmt) -> ast.stmt:
        return ast.copy_location(ast.Expr(self._hooked(name, args, [], at)), at)

    def _hooked(
        self, name: str, args: list[ast.expr], keywords: list[ast.keyword], at: ast.expr | ast.stmt
    ) -> ast.expr:
        start = ast.Constant(None, lineno=at.lineno, col_offset=at.col_offset)
        start.end_lineno, start.end_col_offset = (
            at.lineno,
            at.col_offset,
        )  # else the call is said to be at its last line
        hook = ast.copy_location(ast.Constant(cast(Any, _STAND_IN)), start)
        method = ast.copy_location(ast.Attribute(hook, name, ast.Load()), start)
        return ast.copy_location(ast.Call(method, args, keywords), at)


def _named(node: ast.Attribute) -> ast.Constant:
    """The name of an attribute."""
    return ast.copy_location(ast.Constant(node.attr), node)


def _is_truth(node: ast.AST) -> bool:
    """Whether it is True or False as it is written, in an expression or a pattern."""
    return isinstance(node, (ast.Constant, ast.MatchSingleton)) and type(node.value) is bool


def _is_of_several(index: ast.expr) -> bool:
    """Whether it is a row and a column, or more; slices are no expressions elsewhere."""
    return isinstance(index, ast.Tuple) and not any(isinstance(e, (ast.Slice, ast.Starred)) for e in index.elts)


def _operation(node: ast.BinOp | ast.AugAssign) -> ast.Constant:
    """The name of an operation, as ``operator`` has it."""
    name = type(node.op).__name__.lower()
    return ast.copy_location(ast.Constant(_OPERATIONS.get(name, name)), node)


def _with_hook(code: CodeType, hook: Any) -> CodeType:
    """``code`` with the hook in place of what stands for it."""
    constants: list[Any] = []
    for value in code.co_consts:
        if isinstance(value, CodeType):
            value = _with_hook(value, hook)
        constants.append(hook if type(value) is frozenset and value == _STAND_IN else value)
    return code.replace(co_consts=tuple(constants))

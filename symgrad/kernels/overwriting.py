"""The check of every written NumPy kernel: no memory is read as a value that it no longer holds.

Kernels hand the memory of a dead value on to a new one (``v3 = np.exp(v1, out=v1)``). In written source every value has
a name of its own, bound once, so the text alone says what each piece of memory holds at each line: ``v1`` is stale from
here on. A line that reads a stale name, or that writes into memory of the caller, is refused before anything runs. What
may be a view counts as one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..errors import KernelError

#: calls, beside those of ufuncs, whose result has memory of its own
_FRESH = {
    "empty", "evaluate", "gate", "gram", "self_dot", "scatter", "search", "embed_diagonal",
    *(f"np.{name}" for name in ("array", "concatenate", "convolve", "cumsum", "dot", "empty", "inner", "outer",
                                "searchsorted", "take", "tensordot", "trace", "where", "zeros")),
}  # fmt: skip
#: what writes its result before it has read all of its operands
_WRITES_EARLY = {"select"}
_Memory = frozenset[str]


def check_overwriting(tree: ast.Module) -> None:
    """A KernelError where a function of this source reads overwritten memory, or overwrites what is its caller's."""
    calls = [s.value for s in tree.body if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call)]
    blocks = {ast.unparse(call.args[0]): _Block(call) for call in calls}
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            arguments = [a.arg for a in function.args.args]
            block = blocks.get(function.name)
            lines = _Lines(blocks, arguments if block is None else block.operands(arguments))
            if block is not None:
                lines.lend(block.results(arguments))
            for statement in function.body:
                lines.read(statement)


class _Block:
    """What ``Blocks(function, outputs, reused, reductions, scratch, cost)`` says of the function's arguments.

    These are operands, results, scratch memory and the axes of reductions.
    """

    def __init__(self, call: ast.Call) -> None:
        outputs, self.reused, scratch = (ast.literal_eval(call.args[k]) for k in (1, 2, 4))
        self._outputs, self._scratch = len(outputs), len(scratch)

    def operands(self, arguments: Sequence[str]) -> Sequence[str]:
        """The arguments that are read."""
        return arguments[: len(arguments) - self._outputs - self._scratch - 1]

    def results(self, arguments: Sequence[str]) -> dict[str, str]:
        """The arguments that are written into, each with the name of its memory: it may be that of an operand."""
        lent = arguments[len(self.operands(arguments)) : -1]
        of_operand = {name: arguments[k] for name, k in zip(lent, self.reused, strict=False) if k >= 0}
        return {name: of_operand.get(name, name) for name in lent}


class _Lines:
    """The lines of one function, read in order: the memory of each name, and which names are stale."""

    def __init__(self, blocks: Mapping[str, _Block], arguments: Iterable[str]) -> None:
        self._blocks = blocks
        self._memory: dict[str, _Memory] = {name: frozenset((name,)) for name in arguments}
        self._callers = set(self._memory)
        self._stale: dict[str, str] = {}
        self._line = ""

    def lend(self, results: Mapping[str, str]) -> None:
        """Let these names be written into; they hold nothing yet."""
        self._callers -= set(results.values())
        self._memory |= {name: frozenset((memory,)) for name, memory in results.items()}
        self._stale |= dict.fromkeys(results, "nothing")

    def read(self, statement: ast.stmt) -> None:
        """Take in one line."""
        self._line = ast.unparse(statement)
        if isinstance(statement, ast.Assign) and not isinstance(statement.targets[0], ast.Subscript):
            (target,) = statement.targets
            names = [ast.unparse(t) for t in (target.elts if isinstance(target, ast.Tuple) else [target])]
            given = self._value(statement.value)
            for name, memory in zip(names, given if len(names) > 1 else [*given, frozenset()], strict=False):
                self._memory[name] = memory or frozenset((name,))
                self._stale.pop(name, None)
        elif isinstance(statement, (ast.Assign, ast.AugAssign)):  # into a part of what is there
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            self._check_read(statement.value)
            name = next(n.id for n in ast.walk(target) if isinstance(n, ast.Name) and n.id in self._memory)
            self._overwrite(self._memory[name])
            del self._stale[name]
        elif isinstance(statement, ast.Return):
            self._check_read(statement)

    def _value(self, value: ast.expr) -> list[_Memory]:
        """The memory of each of the values that an expression gives, empty for memory of its own."""
        outs = [k.value for c in ast.walk(value) if isinstance(c, ast.Call) for k in c.keywords if k.arg == "out"]
        self._check_read(value, besides=outs)
        if isinstance(value, ast.Call) and (block := self._blocks.get(ast.unparse(value.func).removesuffix("_of"))):
            return self._of_block(block, value.args[0])
        if not outs:
            return [self._shared(value)]
        (out,) = outs
        made = self._shared(out)
        if isinstance(value, ast.Call) and ast.unparse(value.func) in _WRITES_EARLY:
            self._refuse_shared(made, value.args)
        self._overwrite(made)
        return [made]

    def _of_block(self, block: _Block, operands: ast.expr) -> list[_Memory]:
        assert isinstance(operands, ast.Tuple)
        made: list[_Memory] = []
        for k in block.reused:
            taken: _Memory = self._shared(operands.elts[k]) if k >= 0 else frozenset()
            if taken:
                self._refuse_shared(taken, [o for j, o in enumerate(operands.elts) if j != k])
                self._overwrite(taken)
            made.append(taken)
        return made

    def _shared(self, value: ast.expr) -> _Memory:
        """The memory that a value may look into."""
        if isinstance(value, ast.Name):
            return self._memory.get(value.id, frozenset((value.id,)))
        if isinstance(value, ast.Attribute):
            return frozenset() if value.attr in ("shape", "size") else self._shared(value.value)
        if isinstance(value, ast.Subscript):
            return self._shared(value.value)
        if isinstance(value, ast.Call) and not _is_fresh(ast.unparse(value.func), len(value.args)):
            parts = [*value.args, *([value.func.value] if isinstance(value.func, ast.Attribute) else [])]
            return frozenset().union(*map(self._shared, parts))
        return frozenset()

    def _check_read(self, read: ast.AST, besides: Sequence[ast.expr] = ()) -> None:
        for node in ast.walk(read):
            if isinstance(node, ast.Name) and node.id in self._stale and node not in besides:
                self._refuse(f"reads {node.id}, which was overwritten by '{self._stale[node.id]}'")

    def _refuse_shared(self, memory: _Memory, read: Iterable[ast.expr]) -> None:
        for operand in read:
            if self._shared(operand) & memory:
                self._refuse(f"overwrites {ast.unparse(operand)} before all of it is read")

    def _overwrite(self, memory: _Memory) -> None:
        kept = memory & self._callers or memory - set().union(*self._memory.values())
        if kept:
            self._refuse(f"overwrites {', '.join(sorted(kept))}, which is not the kernel's own")
        self._stale |= {name: self._line for name, own in self._memory.items() if own & memory}

    def _refuse(self, what: str) -> None:
        raise KernelError(f"a written kernel is wrong, which is a defect of symgrad: the line '{self._line}' {what}.")


def _is_fresh(function: str, arguments: int) -> bool:
    """True for a call whose result looks into none of its arguments."""
    library, _, name = function.partition(".")
    if library != "np":
        return function in _FRESH or function.startswith("special_")
    if name == "einsum":  # of one array it may be a view
        return arguments > 2
    name = name.removesuffix(".reduce")
    return function in _FRESH or name.startswith("linalg.") or isinstance(getattr(np, name, None), np.ufunc)

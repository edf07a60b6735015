"""The check of every written NumPy kernel: no memory is read as a value that it no longer holds.

Kernels hand the memory of a dead value on to a new one (``v3 = np.exp(v1, out=v1)``). In written source every value has
a name of its own, bound once, so the text alone says what each piece of memory holds at each line: ``v1`` is stale from
here on. A line that reads a stale name, or that writes into memory of the caller, is refused before anything runs. What
may be a view counts as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..errors import KernelError
from .blocks import Blocks

_NAME = re.compile(r"\bv\d+\b")
_OUT = re.compile(r"\bout=(?:in_order\()?(v\d+)")
_HEAD = re.compile(r"def (\w+)\((.*)\):")
_CALL = re.compile(r"[\w.]+(?=\()")
_BOUND = re.compile(r"((?:v\d+,? )+)= (.*)")
_OPERAND = re.compile(r"\w+(?:\[[^\]]*\])?")
#: calls, beside those of ufuncs and np.linalg, whose result has memory of its own
_FRESH = {
    "cofactors", "decomposed", "empty", "evaluate", "gate", "gram", "self_dot", "scatter", "embed_diagonal", "row",
    "overlap_add", "windowed_product", "overlapped_product",
    *(f"np.{name}" for name in ("argmax", "argmin", "argsort")),
    *(f"np.{name}" for name in ("array", "concatenate", "convolve", "cumprod", "cumsum", "dot", "empty", "inner")),
    *(f"np.fft.{name}" for name in ("fft", "ifft", "rfft", "irfft")),
    *(f"np.{name}" for name in ("outer", "searchsorted", "take", "tensordot", "trace", "vdot", "where", "zeros")),
}  # fmt: skip
#: what writes its result before it has read all of its operands
_WRITES_EARLY = {"select"}
_Memory = frozenset[str]


def check_overwriting(source: str, blocks: Mapping[str, Blocks]) -> None:
    """A KernelError where a function in ``source`` reads overwritten memory, or overwrites what is its caller's.

    ``blocks`` are those that the source calls, by name: ``block0_of`` runs the function ``block0``.
    """
    lines = None
    for line in source.splitlines():
        head = _HEAD.fullmatch(line)
        if head:
            lines = _Lines(blocks, head[2].split(", ") if head[2] else [], blocks.get(f"{head[1]}_of"))
        elif line.startswith("    ") and lines is not None:
            lines.read(line.strip())


class _Lines:
    """The lines of one function, read in order: the memory of each name, and which names are stale."""

    def __init__(self, blocks: Mapping[str, Blocks], arguments: Sequence[str], own: Blocks | None) -> None:
        """``own`` runs this function: its arguments are operands, results, scratch memory and axes."""
        self._blocks = blocks
        self._memory: dict[str, _Memory] = {}
        self._names: dict[str, set[str]] = {}  # not stale, that look into memory, by the name it was made under
        self._stale: dict[str, str] = {}
        self._line = ""
        lent = [] if own is None else arguments[-1 - len(own.outputs) - len(own.scratch) : -1]
        taken = {name: arguments[k] for name, k in zip(lent, own.reused if own else (), strict=False) if k >= 0}
        for name in arguments:
            self._bind(name, frozenset((taken.get(name, name),)))
        self._callers = set(arguments) - {taken.get(name, name) for name in lent}
        self._stale |= dict.fromkeys(lent, "nothing")

    def _bind(self, name: str, memory: _Memory) -> None:
        self._memory[name] = memory
        self._stale.pop(name, None)
        for root in memory:
            self._names.setdefault(root, set()).add(name)

    def read(self, line: str) -> None:
        """Take in one line."""
        self._line = line
        bound = _BOUND.fullmatch(line)
        if bound:
            names = _NAME.findall(bound[1])
            given = self._given(bound[2])
            for k, name in enumerate(names):
                memory = given[k] if k < len(given) else None
                self._bind(name, frozenset((name,)) if memory is None else memory)
        elif not line.startswith("del "):
            self._check_read(_NAME.findall(line))
            target, equals, _ = line.partition(" = " if " += " not in line else " += ")
            if equals:  # into a part of what is there
                name = _NAME.findall(target)[0]
                self._overwrite(self._shared([name]))
                self._bind(name, self._memory[name])

    def _given(self, code: str) -> Sequence[_Memory | None]:
        """The memory of each value that an expression gives; None for memory of its own."""
        call = _CALL.match(code)
        function = call[0] if call else ""
        outs = _OUT.findall(code)
        self._check_read(_NAME.findall(_OUT.sub("", code)))
        if function in self._blocks:
            operands = code[code.index("((") + 2 : code.index("), (")]
            return self._of_blocks(self._blocks[function], _OPERAND.findall(operands))
        if outs:
            made = self._shared(outs)
            if function in _WRITES_EARLY:
                self._refuse_shared(made, _NAME.findall(_OUT.sub("", code)))
            self._overwrite(made)
            return [made]
        if code.partition("[")[0].endswith(".shape"):
            return [frozenset()]
        return [None if _is_fresh(function, code) else self._shared(_NAME.findall(code))]

    def _of_blocks(self, blocks: Blocks, operands: Sequence[str]) -> Sequence[_Memory | None]:
        made: list[_Memory | None] = []
        for k in blocks.reused:
            taken = self._shared(_NAME.findall(operands[k])) if k >= 0 else None
            if taken is not None:
                self._refuse_shared(taken, [n for j, o in enumerate(operands) if j != k for n in _NAME.findall(o)])
                self._overwrite(taken)
            made.append(taken)
        return made

    def _shared(self, names: Iterable[str]) -> _Memory:
        """The memory that these names look into."""
        return frozenset().union(*(self._memory.get(name, frozenset((name,))) for name in names))

    def _check_read(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._stale:
                self._refuse(f"reads {name}, which was overwritten by '{self._stale[name]}'")

    def _refuse_shared(self, memory: _Memory, read: Iterable[str]) -> None:
        for name in read:
            if self._shared([name]) & memory:
                self._refuse(f"overwrites {name} before all of it is read")

    def _overwrite(self, memory: _Memory) -> None:
        for root in memory:
            if root in self._callers or root not in self._names:
                self._refuse(f"overwrites {root}, which is not the kernel's own")
            self._stale |= dict.fromkeys(self._names[root], self._line)
            self._names[root].clear()  # a name is stale once, however often its memory is used again

    def _refuse(self, what: str) -> None:
        raise KernelError(f"a written kernel is wrong, which is a defect of symgrad: the line '{self._line}' {what}.")


def _is_fresh(function: str, code: str) -> bool:
    """True for a call whose result looks into none of its arguments."""
    if code.endswith(".copy()"):
        return True
    library, _, name = function.partition(".")
    if library != "np":
        return library == "blas" or function in _FRESH or function.startswith(("special_", "external_", "loop_"))
    if name == "einsum":  # of one array it may be a view
        return len(_NAME.findall(code)) > 1
    name = name.removesuffix(".reduce")
    return function in _FRESH or name.startswith("linalg.") or isinstance(getattr(np, name, None), np.ufunc)

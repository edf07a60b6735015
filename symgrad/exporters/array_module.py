"""A Python module around the lines of an ArrayWriter: what it says of itself, its function, helpers and check."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..passes.constants import fold_constants
from ..program.node import Node
from ..program.program import Program
from . import module_check, python_source
from .array_source import OPERATORS, ArrayWriter
from .naming import target_names
from .subject import Subject

#: names of Python that modules use themselves
RESERVED = frozenset(
    [*keyword.kwlist, "np", "sys", "special", "float", "int", "bool", "print", "isinstance", "any", "zip", "max", "map"]
    + ["len", "slice", "str", "tuple", "ValueError", "result", "dict", "list", "None", "range"]
)


@dataclass
class Signature:
    """What the function of a module is called, its arguments and its sizes by name."""

    function: str
    arguments: dict[Node, str]
    dims: dict
    program: Program
    outputs: int

    @classmethod
    def of(cls, subject: Subject, reserved: Sequence[str] = (), ascii: bool = False) -> Signature:
        """Names in a module for what ``subject`` has."""
        program = fold_constants(subject.guarded)
        words = RESERVED.union(reserved)
        (function,) = target_names([subject.name], words, ascii=ascii)
        dims = python_source.dims_of(program)
        names = target_names([*program.names, *map(str, dims)], words, ascii=ascii)
        arguments = dict(zip(program.inputs, names, strict=False))
        return cls(function, arguments, dict(zip(dims, names[len(arguments) :])), program, len(subject.program.outputs))


@dataclass
class Module:
    """The parts of a module, written by ``text``."""

    subject: Subject
    signature: Signature
    about: str
    imports: Sequence[str]
    kinds: tuple[str, str]
    argument: str = ""
    remarks: Sequence[str] = ()
    decorators: Sequence[str] = ()
    helpers: Sequence[str] = ()
    constants: Sequence[str] = ()
    check: Sequence[str] = field(default_factory=tuple)

    def text(self, entry: Sequence[str], writer: ArrayWriter, results: Sequence[str]) -> str:
        """The whole module; ``entry`` are the lines at the door of its function."""
        subject, signature = self.subject, self.signature
        title = subject.title[0].upper() + subject.title[1:]
        door = python_source.door(signature.program, signature.arguments, signature.dims)
        helpers = (
            [python_source.SHAPE_OF, *self.helpers] if any("_shape_of(" in line for line in door) else self.helpers
        )
        rows = [
            f'"""{title}, as symgrad derived it: {self.about}',
            "",
            "Run as a program it checks itself.",
            '"""',
            "",
            *python_source.comment_header(subject),
            "",
            *self.imports,
            *(["", *self.constants] if self.constants else []),
            "",
            "",
            *self.decorators,
            *self._head(),
            *[f"    {line}" if line else "" for line in self._docstring(title)],
            *[f"    {line}" for line in [*entry, *door, *writer.lines]],
            *self._returned(results),
            *[line for helper in helpers for line in ["", "", *helper.strip().splitlines()]],
            *self.check,
        ]
        return "\n".join(rows) + "\n"

    def _head(self) -> list[str]:
        signature = self.signature
        array = self.argument or self.kinds[0]
        arguments = [f"{name}: {'float' if n.weak else array}" for n, name in signature.arguments.items()]
        given = python_source.annotation(self.subject, *self.kinds)
        head = f"def {signature.function}({', '.join(arguments)}) -> {given}:"
        if len(head) <= 110:
            return [head]
        return [f"def {signature.function}(", *[f"    {a}," for a in arguments], f") -> {given}:"]

    def _docstring(self, title: str) -> list[str]:
        signature = self.signature
        rows = [f'"""{title}.', ""]
        for node, name in signature.arguments.items():
            rows.append(f"{name}: {python_source.described(node, signature.dims)}")
        rows += [f"returns {self._outcome()}"]
        if self.remarks:
            rows += ["", *self.remarks]
        return [*rows, '"""']

    def _outcome(self) -> str:
        outputs = self.subject.program.outputs
        if len(outputs) == 1 and len(self.subject.slots) == 1:
            return f"a {python_source.described(outputs[0], self.signature.dims)}"
        return f"{len(outputs)} arrays, nested as at its end"

    def _returned(self, results: Sequence[str]) -> list[str]:
        outputs = self.subject.program.outputs
        comments = [
            f"{python_source.plain_label(label)}: {python_source.described(n, self.signature.dims)}"
            for label, n in zip(self.subject.labels, outputs, strict=True)
        ]
        rows = python_source.nested(self.subject, results, comments)
        return [f"    {'return ' if k == 0 else ''}{row}" for k, row in enumerate(rows)]


def refusal(signature: Signature) -> Callable[[Node, str], list[str]]:
    """What makes the lines that raise where a condition of the derivation is not met."""

    def lines(node: Node, name: str) -> list[str]:
        said = condition_text(node, signature.arguments)
        return [
            f"if not {name}:",
            f'    raise ValueError("these arguments take another branch than the derived one, in which {said}")',
        ]

    return lines


#: parts of a condition that are written out
_DEEP = 5
_SIGNS = {**OPERATORS, "logical_not": "not {0}", "logical_and": "{0} and {1}", "logical_or": "{0} or {1}"}


def condition_text(node: Node, names: Mapping[Node, str], depth: int = _DEEP) -> str:
    """A condition in words of the arguments; what is further away than ``depth`` is left out.

    >>> import numpy as np, symgrad
    >>> program = symgrad.trace(lambda x: np.logical_not(np.sum(x * 2.0) > 1), np.ones(3))
    >>> condition_text(program.outputs[0], {program.inputs[0]: "x"})
    'not (sum(x * 2.0) > 1)'
    """
    if node in names:
        return names[node]
    if node.is_leaf:
        return node.primitive.spell(node) if node.is_literal else node.primitive.name
    if depth == 0:
        return "..."
    parts = [condition_text(o, names, depth - 1) for o in node.operands]
    kind = node.primitive.name
    if kind in _SIGNS:
        signed = [o.primitive.name in _SIGNS for o in node.operands]
        return _SIGNS[kind].format(*[f"({p})" if inner else p for p, inner in zip(parts, signed, strict=True)])
    if kind == "einsum" and len(parts) == 1 and not node.shape:
        kind = "sum"
    elif kind in ("einsum", "max", "min", "prod", "reshape", "cast"):
        kind = kind.replace("einsum", "product")
    else:
        kind = node.primitive.spell(node)
    return f"{kind}({', '.join(parts)})"


def constant_lines(writer: ArrayWriter, spelled: str = "{}") -> list[str]:
    """The captured arrays as lines; ``spelled`` says how a NumPy array becomes one of the library."""
    rows = []
    for name, node in writer.constants.items():
        made = spelled.format(python_source.array(python_source.captured(node)))
        rows += python_source.wrapped(f"{name} = {made}")
    return rows


def checked(signature: Signature, subject: Subject, **options: str) -> list[str]:
    """The lines of the check."""
    return module_check.lines(subject, function=signature.function, **options)

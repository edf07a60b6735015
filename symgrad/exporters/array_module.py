"""A Python module around the lines of an ArrayWriter: what it says of itself, its function, helpers and check."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..closed_form.labels import label_comment
from ..closed_form.latex import inputs_by_latex
from ..emit.arrays.dialect import OPERATORS
from ..emit.arrays.writer import ArrayWriter
from ..passes.constants import fold_constants
from ..passes.unrolling import parted
from ..program.node import Node
from ..program.program import Program
from . import arguments, header, module_check, nesting, plain_values, python_source, sparse_results
from .arguments import Leaf, Parameter, Taken
from .naming import target_names
from .subject import Subject

#: a function of the module itself where it is called
_CALLED = re.compile(r"\b(_[a-z_]+)\(")
#: a function of the special ones that are imported
_SPECIAL = re.compile(r"(?<![\w.])special\.")
#: names of Python that modules use themselves
RESERVED = frozenset(
    [*keyword.kwlist, "np", "sys", "special", "float", "int", "bool", "print", "isinstance", "any", "zip", "max", "map"]
    + ["len", "slice", "types", "str", "tuple", "ValueError", "result", "dict", "list", "None", "range"]
)


@dataclass
class Signature:
    """What the function of a module is called, its arguments and its sizes by name.

    ``arguments`` are the names of the arrays in the function, ``parameters`` those of what it is called with.
    """

    subject: Subject
    function: str
    parameters: list[str]
    arguments: dict[Node, str]
    dims: dict
    program: Program
    outputs: int

    @classmethod
    def of(
        cls, subject: Subject, reserved: Sequence[str] = (), ascii: bool = False, inner: Sequence[str] = ()
    ) -> Signature:
        """Names in a module for what ``subject`` has; ``inner`` are words that its arrays alone must not be called."""
        program = parted(fold_constants(subject.guarded))
        words = RESERVED.union(reserved, sparse_results.MODULES if subject.assembled else ())
        (function,) = target_names([subject.name], words.union(inner), ascii=ascii)
        dims = python_source.dims_of(program)
        parameters = target_names(arguments.labels(subject), words, ascii=ascii)
        bare = {
            a.slots[0][1]: name
            for a, name in zip(subject.arguments, parameters, strict=False)
            if arguments.is_array(a) and name not in inner
        }
        within = [k for k in range(len(program.inputs)) if k not in bare]
        labels = [*[program.names[k] for k in within], *map(str, dims)]
        made = target_names(labels, words.union(inner, parameters), ascii=ascii)
        names = bare | dict(zip(within, made, strict=False))
        own = {node: names[k] for k, node in enumerate(program.inputs)}
        sizes = dict(zip(dims, made[len(within) :], strict=True))
        return cls(subject, function, parameters, own, sizes, program, len(subject.program.outputs))

    def taken(self, array: str) -> Taken:
        """How the arguments are taken apart, where an array is of the type ``array``."""

        def described(node: Node) -> str:
            return python_source.described(node, self.dims)

        return arguments.taken(self.subject, self.program.inputs, self.parameters, array, described)

    def call(self, function: str, leaves: Sequence[str]) -> str:
        """A call of ``function`` with the arguments that are made of ``leaves``, one for each input."""
        return arguments.called(self.subject, self.parameters, function, leaves)


@dataclass
class Module:
    """The parts of a module, written by ``text``."""

    subject: Subject
    signature: Signature
    writer: ArrayWriter
    results: Sequence[str]
    needs: Sequence[str]
    imports: Sequence[str]
    kinds: tuple[str, str]
    #: how an array of the library is made of a captured one of NumPy
    captured: str = "{}"
    argument: str = ""
    remarks: Sequence[str] = ()
    decorators: Sequence[str] = ()
    helpers: Sequence[str] = ()
    constants: Sequence[str] = ()
    #: how the check calls the function, for ``module_check``
    check: Mapping[str, str] = field(default_factory=dict)
    #: functions that check arrays, by name
    entrances: Mapping[str, str] = field(default_factory=dict)

    def text(self, entry: Callable[[Sequence[Leaf]], Sequence[str]]) -> str:
        """The whole module; ``entry`` makes the lines that check the arrays of a call."""
        subject, signature, writer, dialect = self.subject, self.signature, self.writer, self.writer.dialect
        title = subject.title[0].upper() + subject.title[1:]
        taken = signature.taken(self.argument or self.kinds[0])
        said = {leaf.node: leaf.found for leaf in taken.leaves}
        rows = python_source.argument_checks(signature.program, signature.arguments, signature.dims, said)
        checks = [*taken.lines, *entry(taken.leaves), *rows]
        known = {**arguments.HELPERS, **self.entrances, "_shape_of": python_source.SHAPE_OF, **dialect.helpers}
        called = {name for line in [*checks, *writer.lines, *self.results] for name in _CALLED.findall(line)}
        called |= {name for text in called & known.keys() for name in _CALLED.findall(known[text])}
        helpers = [*[text for name, text in known.items() if name in called], *self.helpers]
        results, patterns = sparse_results.assembled(subject, self.results)
        special = dialect.special_from
        if not any(_SPECIAL.search(text) for text in [*writer.lines, *results, *helpers]):
            special = ""
        imports = [*self.imports, *([f"from {special} import special"] if special else [])]
        if patterns:
            imports = ["import functools", *imports, "from scipy import sparse"]
        first, *others = self.needs
        scipy = ["SciPy"] if patterns or special == "scipy" or any("scipy" in text for text in helpers) else []
        needs = [first, *scipy, *others]
        needs = needs if len(needs) > 1 else [f"{needs[0]} alone"]
        named = nesting.named_tuples(subject.structure)
        objects = nesting.has_objects(subject.structure, *[a.structure for a in subject.arguments])
        helpers += [nesting.OBJECT] if objects else []
        place = list(imports).index("import sys") + 1
        further = [("import types", objects), ("from collections import namedtuple", named)]
        imports = [*imports[:place], *[line for line, is_needed in further if is_needed], *imports[place:]]
        weights = arguments.values(subject.weights) if arguments.are_written(subject) else []
        constants = [*self._captured(), *self.constants, *map(_named_tuple, named, named.values()), *weights]
        rows = [
            f'"""{title}, as symgrad derived it: it needs {", ".join(needs[:-2] + [" and ".join(needs[-2:])])}.',
            "",
            "Run as a program it checks itself.",
            '"""',
            "",
            *header.python_comment(subject),
            "",
            *imports,
            *(["", *constants] if constants else []),
            "",
            "",
            *self.decorators,
            *self._head(taken.head),
            *[f"    {line}" if line else "" for line in self._docstring(title, taken.parameters)],
            *[f"    {line}" for line in [*checks, *writer.lines]],
            *self._returned(results, named),
            *[line for helper in [*helpers, *patterns] for line in ["", "", *helper.strip().splitlines()]],
            *module_check.lines(subject, function=signature.function, written=signature.call, **self.check),
        ]
        return "\n".join(rows) + "\n"

    def _captured(self) -> list[str]:
        """The captured arrays as lines."""
        rows = []
        for name, node in self.writer.constants.items():
            made = self.captured.format(python_source.array(python_source.captured(node)))
            rows += python_source.wrapped(f"{name} = {made}")
        return rows

    def _head(self, parameters: Sequence[str]) -> list[str]:
        function = self.signature.function
        given = nesting.annotation(self.subject, *self.kinds)
        head = f"def {function}({', '.join(parameters)}) -> {given}:"
        if len(head) <= 110:
            return [head]
        return [f"def {function}(", *[f"    {p}," for p in parameters], f") -> {given}:"]

    def _docstring(self, title: str, parameters: Sequence[Parameter]) -> list[str]:
        rows = [f'"""{title}.', "", *[row for p in parameters for row in p.said], f"returns {self._outcome()}"]
        if self.remarks:
            rows += ["", *self.remarks]
        return [*rows, '"""']

    def _described(self) -> list[str]:
        """What each array of the result is, in words."""
        outputs, dims = self.subject.program.outputs, self.signature.dims
        return [
            python_source.described(outputs[o], dims) if isinstance(o, int) else sparse_results.described(o)
            for o in self.subject.outcomes
        ]

    def _outcome(self) -> str:
        said = self._described()
        if len(said) == 1 and len(self.subject.slots) == 1:
            return f"a {said[0]}"
        return f"{len(said)} arrays, nested as at its end"

    def _returned(self, results: Sequence[str], named: Mapping[type, str]) -> list[str]:
        called = inputs_by_latex(self.subject.program)
        comments = [
            f"{label_comment(label, called)}: {said}"
            for label, said in zip(self.subject.labels, self._described(), strict=True)
        ]
        rows = nesting.rows(self.subject, results, comments, named)
        return [f"    {'return ' if k == 0 else ''}{row}" for k, row in enumerate(rows)]


def _named_tuple(kind: Any, name: str) -> str:
    """The line that makes a type of named tuples."""
    (called,) = target_names([kind.__name__], keyword.kwlist)
    return f"{name} = namedtuple({plain_values.quoted(called)}, {plain_values.spelled([*kind._fields])})"


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

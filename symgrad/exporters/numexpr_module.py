"""A module of numexpr strings: elementwise work fused into expressions, and NumPy lines around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..emit.arrays.numbers import number
from ..emit.arrays.numexpr import StringWriter, Text, stripped
from ..program.node import Node
from ..program.program import Program
from . import array_module
from .array_module import Module, Signature
from .python import ENTRANCES, QUIET, entered
from .subject import Subject


class NumexprModuleWriter(StringWriter):
    """Strings and their numbers are constants of the module."""

    def __init__(self, program: Program, names: Any, dims: Any) -> None:
        super().__init__(program, names, dims)
        #: the strings by name, with what is said of each
        self.expressions: dict[str, tuple[str, str]] = {}
        #: numbers that strings read, by their source
        self.numbers: dict[str, str] = {}
        self.find_inlined()

    def variable(self, value: Any, dtype: np.dtype) -> str:
        return self.numbers.setdefault(f"{self.dtype(dtype)}({number(value)})", f"_S{len(self.numbers)}")

    def evaluated(self, node: Node, text: Text, made_of: Sequence[Node]) -> str:
        name = f"_E{len(self.expressions)}"
        self.expressions[name] = (text.code, self.said(node).strip())
        reads = ", ".join(f'"{read}": {source}' for read, (source, _) in text.reads.items())
        return f"numexpr.evaluate({name}, {{{reads}}})"


def module(subject: Subject) -> str:
    """The derivative as numexpr strings and a function that evaluates them, in a module of its own."""
    from numexpr.expressions import functions

    subject = subject.as_sparse() if subject.as_sparse else subject
    signature = Signature.of(subject, ["numexpr", *functions], ascii=True)
    writer = NumexprModuleWriter(signature.program, signature.arguments, signature.dims)
    results = writer.write_body(signature.outputs, array_module.refusal(signature))
    strings: list[str] = []
    for name, (code, said) in writer.expressions.items():
        strings += [*([said] if said else []), f'{name} = "{stripped(code)}"']
    numbers = [f"{name} = {source}" for source, name in writer.numbers.items()]
    return Module(
        subject,
        signature,
        writer,
        results,
        ["NumPy", "numexpr"],
        ["import sys", "", "import numexpr", "import numpy as np"],
        ("np.ndarray", "np.generic"),
        decorators=[QUIET],
        constants=[*numbers, *strings],
        entrances=ENTRANCES,
    ).text(lambda leaves: entered(signature, leaves))

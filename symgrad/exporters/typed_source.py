"""What jax.numpy and torch share: other rules of promotion than NumPy's, so that every dtype is written down.

The dtypes in which an elementwise function computes are those of NumPy's loop for its operands. A Python scalar stays
one where an array of that dtype stands beside it; weak arguments are arrays of their dtype, and are cast to what they
would have given way to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..primitives.elementwise import Template
from ..program.node import Node
from .array_source import OPERATORS, ArrayWriter

_PYTHON: dict[str, Any] = {"b": np.dtype(bool), "i": int, "u": int, "f": float}


def loop_dtypes(node: Node, template: Template) -> list[np.dtype]:
    """The dtypes to which NumPy casts the operands of an elementwise node before it computes."""
    ufunc: Any = template.ufunc
    if not isinstance(ufunc, np.ufunc):  # where: a condition and two values
        return [np.dtype(bool), node.dtype, node.dtype]
    strong = any(not o.weak for o in node.operands)
    kinds = [_PYTHON[o.dtype.kind] if o.weak and strong else o.dtype for o in node.operands]
    return list(ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))[: ufunc.nin])


def is_raw(node: Node) -> bool:
    """True for what is written as a Python number."""
    return node.primitive.name in ("literal", "dim")


class TypedWriter(ArrayWriter):
    """Operands are cast to the dtypes of NumPy's loops."""

    #: elementwise function -> the format of its call
    table: Mapping[str, str] = MappingProxyType({})
    #: the same where it computes in integers or truth values, if that is not what floats take
    whole: Mapping[str, str] = MappingProxyType({})

    def takes_scalar(self, template: Template, place: int) -> bool:
        """Whether a call takes a Python number as this operand."""
        return True

    def scalar(self, code: str, dtype: np.dtype) -> str:
        """A Python number as an array."""
        raise NotImplementedError

    def converted(self, code: str, dtype: np.dtype) -> str:
        """An array as one of another dtype."""
        raise NotImplementedError

    def elementwise(self, node: Node, template: Template) -> str:
        loops = loop_dtypes(node, template)
        spelled = self.table.get(template.name) or OPERATORS.get(template.name)
        if loops[0].kind in "iub":
            spelled = self.whole.get(template.name, spelled)
        if spelled is None:
            raise self.refused(template.name)
        self.helpers.update(dict.fromkeys(re.findall(r"\b_\w+(?=\()|\bspecial(?=\.)", spelled)))
        code = spelled.format(*self.operands(node))
        ufunc: Any = template.ufunc
        made = node.dtype
        if isinstance(ufunc, np.ufunc):
            made = ufunc.resolve_dtypes((*loops, *[None] * ufunc.nout))[ufunc.nin]
        return code if made == node.dtype else self.converted(f"({code})", node.dtype)

    def operands(self, node: Node) -> list[str]:
        template = node.primitive
        assert isinstance(template, Template)
        loops = loop_dtypes(node, template)
        if not isinstance(template.ufunc, np.ufunc):
            condition, *values = node.operands
            first, second = values
            keeps = is_raw(second) or not is_raw(first)  # one of them is an array
            return [
                self.truth(condition),
                self.typed(first, node.dtype) if keeps else self.read(first),
                self.read(second) if is_raw(second) else self.typed(second, node.dtype),
            ]
        made = []
        for k, (o, dtype) in enumerate(zip(node.operands, loops, strict=True)):
            beside = any(not is_raw(p) and d == dtype for p, d in zip(node.operands, loops, strict=True))
            raw = is_raw(o) and beside and self.takes_scalar(template, k)
            made.append(self.read(o) if raw else self.typed(o, dtype))
        return made

    def truth(self, node: Node) -> str:
        """A value as a condition."""
        if is_raw(node):
            return self.scalar(str(bool(node.params[0])), np.dtype(bool))
        return self.read(node) if node.dtype.kind == "b" else f"{self.read(node)} != 0"

    def typed(self, node: Node, dtype: np.dtype) -> str:
        if is_raw(node):
            return self.scalar(self.read(node), dtype)
        return self.read(node) if node.dtype == dtype else self.converted(self.read(node), dtype)

    def cast(self, node: Node) -> str:
        return self.typed(node.operands[0], node.dtype)

    def own(self, node: Node, key: int = 0) -> str:
        """An operand in the dtype of the result."""
        return self.typed(node.operands[key], node.dtype)

    def common(self, node: Node) -> list[str]:
        """The operands in the dtype that NumPy compares them in."""
        dtype = np.result_type(*[o.dtype for o in node.operands])
        return [self.typed(o, dtype) for o in node.operands]

    def reshaped(self, node: Node) -> str:
        return f"{self.own(node)}.reshape({self.shape(node.shape)})"

    def gate(self, node: Node) -> str:
        m, t = node.operands
        value = self.typed(t, node.dtype)
        if m.dtype.kind == "b":
            return f"{self.library}.where({self.truth(m)}, {value}, 0)"
        factor = self.typed(m, node.dtype)
        return f"{factor} * {self.library}.where({factor} != 0, {value}, 0)"

    def inverse(self, node: Node) -> str:
        return f"{self.library}.linalg.inv({self.own(node)})"

    def solve(self, node: Node) -> str:
        a, b = self.own(node), self.own(node, 1)
        if 1 < node.ndim < node.operands[0].ndim:  # a stack of vectors would be taken for a matrix
            return f"{self.library}.linalg.solve({a}, {b}[..., None])[..., 0]"
        return f"{self.library}.linalg.solve({a}, {b})"

    def determinant(self, node: Node) -> str:
        return f"{self.library}.linalg.det({self.own(node)})"

    def log_determinant(self, node: Node) -> str:
        return f"{self.library}.linalg.slogdet({self.own(node)})[1]"

    def determinant_sign(self, node: Node) -> str:
        return f"{self.library}.linalg.slogdet({self.own(node)})[0]"

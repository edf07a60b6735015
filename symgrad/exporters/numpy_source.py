"""How NumPy spells the lines of a Program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import UnsupportedOperation
from ..primitives.elementwise import Template
from ..program.node import Node
from .array_contraction import ArrayContraction
from .array_source import OPERATORS, ArrayWriter
from .python_source import numpy_dtype

#: functions of a module, by name
HELPERS = {
    "_on_diagonal": '''
def _on_diagonal(values, shape, spelled):
    """Zeros with values on the diagonals that repeated letters name."""
    made = np.zeros(shape, values.dtype)
    np.einsum(spelled, made)[...] = values
    return made
''',
    "_scatter": '''
def _scatter(values, index, axis, size):
    """Zeros with the values added along an axis where the index says."""
    made = np.zeros((*values.shape[:axis], size, *values.shape[axis + np.ndim(index) :]), values.dtype)
    np.add.at(made, (slice(None),) * axis + (index,), values)
    return made
''',
}
_PYTHON = {"f": "float", "i": "int", "u": "int", "b": "bool"}


class NumpyWriter(ArrayWriter):
    """NumPy promotes dtypes itself, so operands are taken as they are; weak values are Python's own scalars."""

    freed_from = 1 << 16
    target = "NumPy"
    library = "np"

    def typed(self, node: Node, dtype: np.dtype) -> str:
        return self.read(node)

    def dtype(self, dtype: np.dtype) -> str:
        return numpy_dtype(dtype)

    def elementwise(self, node: Node, template: Template) -> str:
        operands = [self.read(o) for o in node.operands]
        spelled = OPERATORS.get(template.name)
        if spelled is not None and not all(o.weak for o in node.operands):
            return spelled.format(*operands)
        code = f"{self._function(template)}({', '.join(operands)})"
        # Python's own operator would raise where NumPy gives an infinity
        return f"{_PYTHON[node.dtype.kind]}({code})" if node.weak else code

    def _function(self, template: Template) -> str:
        """NumPy's function, or SciPy's where NumPy has none."""
        ufunc: Any = template.ufunc
        name = "zeta" if template.name == "zeta" else getattr(ufunc, "__name__", "")
        if getattr(np, name, None) is ufunc:
            return f"np.{name}"
        if template.name == "zeta" or _scipy_special(name) is ufunc:
            self.helpers["special"] = None
            return f"special.{name}"
        raise UnsupportedOperation(f"{template.name} has no function in NumPy or SciPy that a module could call.")

    def sum(self, code: str, axes: Sequence[int] | None) -> str:
        return f"np.sum({code})" if axes is None else f"np.sum({code}, axis={_axes(axes)})"

    def permuted(self, code: str, axes: Sequence[int]) -> str:
        return f"np.transpose({code}, {tuple(axes)})"

    def einsum(self, spelled: str, *codes: str) -> str:
        return f"np.einsum({spelled!r}, {', '.join(codes)})"

    def pair(self, term: ArrayContraction, left: Any, right: Any, groups: tuple) -> tuple[str, tuple]:
        """As matrix products of grouped axes, for which BLAS is used."""
        both, rows, summed, columns = groups
        if not rows and not columns:
            return super().pair(term, left, right, groups)

        def grouped(t: Any, first: list, second: list) -> str:
            code = term.arranged(t, (*both, *first, *second))
            if len(first) == len(second) == 1:
                return code
            extents = [*[term.extent([i]) for i in both], term.extent(first), term.extent(second)]
            return f"{code}.reshape({self.shape(extents)})"

        code = f"{grouped(left, rows, summed)} @ {grouped(right, summed, columns)}"
        order = (*both, *rows, *columns)
        if len(rows) != 1 or len(columns) != 1:
            code = f"({code}).reshape({self.shape([term.sizes[i] for i in order])})"
        return code, order

    def filled(self, shape: Sequence[Any], code: str, node: Node) -> str:
        if not shape:
            return f"{self.dtype(node.dtype)}({code})"
        return f"np.full({self.shape(shape)}, {code}, {self.dtype(node.dtype)})"

    def broadcast(self, code: str, shape: Sequence[Any]) -> str:
        return f"np.broadcast_to({code}, {self.shape(shape)})"

    def cast(self, node: Node) -> str:
        (x,) = node.operands
        kind = self.dtype(node.dtype)
        return f"{kind}({self.read(x)})" if x.weak else f"{self.read(x)}.astype({kind})"

    def result(self, node: Node, name: str, shared: bool) -> str:
        if node.primitive.name == "input" and node.weak:
            return name
        if node.weak or node.primitive.name in ("literal", "dim"):  # the kernel gives NumPy's scalars
            return f"{self.dtype(node.dtype)}({name})"
        if not shared:
            return name
        return f"np.array({name})" if node.shape else f"np.array({name})[()]"

    def reshaped(self, node: Node) -> str:
        return f"{self.read(node.operands[0])}.reshape({self.shape(node.shape)})"

    def stopped(self, node: Node) -> str:
        return self.read(node.operands[0])

    def assembled(self, node: Node) -> str:
        shape, specs = node.params
        name = self.assign(f"np.zeros({self.shape(shape)}, {self.dtype(node.dtype)})", node)
        for o, spec in zip(node.operands, specs, strict=True):
            index, turned = self.index(spec, shape)
            piece = self.turned(self.read(o), turned) if turned else self.read(o)
            self.lines.append(f"{name}[{index}] += {piece}")
        return name

    def gate(self, node: Node) -> str:
        m, t = node.operands
        value = self.read(t)
        if m.dtype.kind == "b":
            return f"np.where({self.read(m)}, {value}, 0)"
        if t.weak:
            value = f"{self.dtype(node.dtype)}({value})"
        return f"{self.read(m)} * np.where({self.read(m)} != 0, {value}, 0)"

    def gather(self, node: Node) -> str:
        x, index = node.operands
        return f"np.take({self.read(x)}, {self.read(index)}, axis={node.params[0]})"

    def scatter(self, node: Node) -> str:
        y, index = node.operands
        axis, size = node.params
        return self.call("_scatter", self.read(y), self.read(index), str(axis), self.dim(size))

    def concatenated(self, node: Node) -> str:
        parts = ", ".join(map(self.read, node.operands))
        return f"np.concatenate([{parts}], axis={node.params[0]})"

    def extremum(self, node: Node) -> str:
        return f"np.{node.primitive.name}({self._over(node)})"

    def prod(self, node: Node) -> str:
        return f"np.prod({self._over(node)})"

    def _over(self, node: Node) -> str:
        x = self.read(node.operands[0])
        return f"{x}, axis={_axes(node.params[0])}" if node.shape else x

    def accumulation(self, node: Node) -> str:
        (axis, reverse), name = node.params, node.primitive.name
        x = self.read(node.operands[0])
        return f"np.flip(np.{name}(np.flip({x}, {axis}), {axis}), {axis})" if reverse else f"np.{name}({x}, {axis})"

    def convolve(self, node: Node) -> str:
        return f"np.convolve({', '.join(map(self.read, node.operands))})"

    def searchsorted(self, node: Node) -> str:
        return f"np.searchsorted({', '.join(map(self.read, node.operands))}, side={node.params[0]!r})"

    def search(self, node: Node) -> str:
        name = node.primitive.name
        kind = ', kind="stable"' if name == "argsort" else ""
        return f"np.{name}({self.read(node.operands[0])}, axis={node.params[0]}{kind})"

    def inverse(self, node: Node) -> str:
        return f"np.linalg.inv({self.read(node.operands[0])})"

    def solve(self, node: Node) -> str:
        a, b = map(self.read, node.operands)
        if 1 < node.ndim < node.operands[0].ndim:  # NumPy takes a stack of vectors for a matrix
            return f"np.linalg.solve({a}, {b}[..., None])[..., 0]"
        return f"np.linalg.solve({a}, {b})"

    def determinant(self, node: Node) -> str:
        return f"np.linalg.det({self.read(node.operands[0])})"

    def log_determinant(self, node: Node) -> str:
        return f"np.linalg.slogdet({self.read(node.operands[0])})[1]"

    def determinant_sign(self, node: Node) -> str:
        return f"np.linalg.slogdet({self.read(node.operands[0])})[0]"

    def cholesky(self, node: Node) -> str:
        upper = ", upper=True" if node.params[0] else ""
        return f"np.linalg.cholesky({self.read(node.operands[0])}{upper})"


def _axes(axes: Sequence[int]) -> str:
    return str(axes[0]) if len(axes) == 1 else str(tuple(axes))


def _scipy_special(name: str) -> Any:
    try:
        import scipy.special
    except ImportError:
        return None
    return getattr(scipy.special, name, None)

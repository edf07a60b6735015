"""Linear algebra in closed forms: an entry of an inverse as a symbol, and small matrices written out by minors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from ..program.node import Node
from .symbols import as_number

if TYPE_CHECKING:
    from .index_form import IndexForm


class OfMatrix(sympy.Function):
    """``OfMatrix(name, element, row, column, size, *place)``: a function of the matrix of all elements.

    ``row`` and ``column`` are bound and run over ``size``; with a ``place`` it is one entry of the result.
    """

    is_real = True

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """Those of the element, the size and the place; row and column are bound."""
        _, element, row, column, *rest = self.args
        return (element.free_symbols - {row, column}).union(*(r.free_symbols for r in rest))

    def _whole(self, printer: Any) -> str | None:
        """The matrix where it is an array, at the indices of the stack, or all entries of another function."""
        _, element, row, column, *_ = self.args
        if isinstance(element, OfMatrix) and element.args[5:] == (row, column):
            return printer._print(element.func(*element.args[:5]))
        if not isinstance(element, sympy.Indexed) or element.indices[-2:] != (row, column):
            return None
        stack: Any = element.indices[:-2]
        if any(i.has(row, column) for i in stack):
            return None
        base: Any = element.base
        return printer._print(base[stack] if stack else base.label)

    def _sympystr(self, printer: Any) -> str:
        name, element, row, column, size, *place = self.args
        body = self._whole(printer)
        if body is None:
            p, q, n = map(printer._print, (row, column, size))
            body = f"{printer._print(element)} for {p}, {q} < {n}"
        return f"{name}({body})" + (f"[{', '.join(map(printer._print, place))}]" if place else "")

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        name, element, row, column, size, *place = self.args
        body = self._whole(printer)
        if body is None:
            p, q, n = map(printer._print, (row, column, size))
            body = rf"\left[{printer._print(element)}\right]_{{{p},{q} < {n}}}"
        indices = ",".join(map(printer._print, place))
        if str(name) == "inv":
            whole = rf"\left({{{body}}}^{{-1}}\right)" + (f"_{{{indices}}}" if place else "")
        else:
            whole = rf"\operatorname{{{name}}}\left({body}\right)" + (f"_{{{indices}}}" if place else "")
        return whole if exp is None else rf"{{{whole}}}^{{{exp}}}"


# one element, at indices


def _of_matrix(name: str, form: IndexForm, x: Node, stack: tuple, place: tuple) -> Any:
    row, column = form.indices.fresh(), form.indices.fresh()
    element: Any = as_number(form.at(x, (*stack, row, column)))
    if name == "inv" and isinstance(element, sympy.Indexed) and element.indices[-2:] == (column, row):
        base: Any = element.base
        element, place = base[(*element.indices[:-2], row, column)], place[::-1]  # (xᵀ)⁻¹ is (x⁻¹)ᵀ
    return OfMatrix(sympy.Symbol(name), element, row, column, x.shape[-1], *place)


def _inverse_at(form: IndexForm, node: Node, index: tuple) -> Any:
    return _of_matrix("inv", form, node.operands[0], index[:-2], index[-2:])


def _cholesky_at(form: IndexForm, node: Node, index: tuple) -> Any:
    place = index[:-3:-1] if node.params[0] else index[-2:]
    return _of_matrix("chol", form, node.operands[0], index[:-2], place)


def _solve_at(form: IndexForm, node: Node, index: tuple) -> Any:
    a, b = node.operands
    stacked = len(a.shape) - 2
    stack, row, columns = index[:stacked], index[stacked], index[stacked + 1 :]
    k = form.indices.fresh()
    body = _of_matrix("inv", form, a, stack, (row, k)) * as_number(form.at(b, (*stack, k, *columns)))
    return form.summed(body, [(k, a.shape[-1])])


def _determinant_at(form: IndexForm, node: Node, index: tuple) -> Any:
    return _of_matrix("det", form, node.operands[0], index, ())


FORMS: dict[str, Callable[[Any, Node, tuple], Any]] = {
    "inverse": _inverse_at,
    "solve": _solve_at,
    "determinant": _determinant_at,
    "log_determinant": lambda form, node, index: sympy.log(sympy.Abs(_determinant_at(form, node, index))),
    "determinant_sign": lambda form, node, index: sympy.sign(_determinant_at(form, node, index)),
    "cholesky": _cholesky_at,
}


# every entry, of object arrays


def _minor(x: np.ndarray, row: int, column: int) -> np.ndarray:
    return np.delete(np.delete(x, row, 0), column, 1)


def _det(x: np.ndarray) -> Any:
    """By the first row; the budget keeps matrices small."""
    if not len(x):
        return sympy.Integer(1)
    return sympy.Add(*[(-1) ** k * x[0, k] * _det(_minor(x, 0, k)) for k in range(len(x))])


def _adjugate(x: np.ndarray) -> np.ndarray:
    n = len(x)
    made = np.empty((n, n), dtype=object)
    for i, j in np.ndindex(n, n):
        made[i, j] = (-1) ** (i + j) * _det(_minor(x, j, i))
    return made


def _cholesky(x: np.ndarray) -> np.ndarray:
    """The lower factor, of which ``x`` below and on the diagonal is read."""
    factor = np.full(x.shape, sympy.Integer(0), dtype=object)
    for j in range(len(x)):
        factor[j, j] = sympy.sqrt(x[j, j] - sympy.Add(*[e**2 for e in factor[j, :j]]))
        for i in range(j + 1, len(x)):
            known = sympy.Add(*[a * b for a, b in zip(factor[i, :j], factor[j, :j], strict=True)])
            factor[i, j] = (x[i, j] - known) / factor[j, j]
    return factor


def _stacked(function: Callable[..., Any], shape: tuple, *stacks: np.ndarray) -> np.ndarray:
    made = np.empty(shape, dtype=object)
    for k in np.ndindex(stacks[0].shape[:-2]):
        made[k] = function(*[s[k] for s in stacks])
    return made


def _of_all(function: Callable[[Any], Any]) -> Callable[..., np.ndarray]:
    """A function of one matrix on stacks of them, whose results are scalars."""
    return lambda params, x: _stacked(function, x.shape[:-2], x)


ENTRIES: dict[str, Callable[..., np.ndarray]] = {
    "inverse": lambda params, x: _stacked(lambda m: _adjugate(m) / _det(m), x.shape, x),
    "solve": lambda params, a, b: _stacked(lambda m, v: _adjugate(m) @ v / _det(m), b.shape, a, b),
    "determinant": _of_all(_det),
    "log_determinant": _of_all(lambda m: sympy.log(sympy.Abs(_det(m)))),
    "determinant_sign": _of_all(lambda m: sympy.sign(_det(m))),
    "cholesky": lambda params, x: _stacked(lambda m: _cholesky(m.T).T if params[0] else _cholesky(m), x.shape, x),
}

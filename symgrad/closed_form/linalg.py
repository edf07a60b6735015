"""Linear algebra in closed forms: an entry of an inverse as a symbol, and small matrices written out by minors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from ..program.node import Node
from .bound import OfMatrix
from .symbols import as_number

if TYPE_CHECKING:
    from .index_form import IndexForm


# one element, at indices


def _of_matrix(name: str, form: IndexForm, x: Node, stack: tuple, place: tuple) -> Any:
    row, column = form.indices.fresh(x.shape[-1]), form.indices.fresh(x.shape[-1])
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
    k = form.indices.fresh(a.shape[-1])
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

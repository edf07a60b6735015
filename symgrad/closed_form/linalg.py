"""Linear algebra in closed forms: an entry of an inverse as a symbol, and small matrices written out by minors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from ..errors import ClosedFormTooLarge
from ..primitives.decompositions import Factors
from ..primitives.matrix_functions import DECOMPOSITIONS
from ..program.node import Node
from .bound import Applied, AppliedComplex, OfComplexMatrix, OfMatrix
from .symbols import as_number, cases

if TYPE_CHECKING:
    from .index_form import IndexForm


# one element, at indices


def _of_matrix(name: str, form: IndexForm, x: Node, stack: tuple, place: tuple, is_complex: bool = False) -> Any:
    row, column = form.indices.fresh(x.shape[-2]), form.indices.fresh(x.shape[-1])
    size = x.shape[-1] if x.shape[-1] == x.shape[-2] else sympy.Tuple(*x.shape[-2:])
    element: Any = as_number(form.at(x, (*stack, row, column)))
    if name == "inv" and isinstance(element, sympy.Indexed) and element.indices[-2:] == (column, row):
        base: Any = element.base
        element, place = base[(*element.indices[:-2], row, column)], place[::-1]  # (xᵀ)⁻¹ is (x⁻¹)ᵀ
    kind = OfComplexMatrix if is_complex or x.is_complex else OfMatrix
    return kind(sympy.Symbol(name), element, row, column, size, *place)


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


#: decomposition -> the functions that have its factors, called as these are behind a dot; those with a prime are
#: transposed
_FACTORS = {
    **dict.fromkeys(("eigh", "eigvalsh"), ("eigh.lambda", "eigh.V")),
    **dict.fromkeys(("eig", "eigvals"), ("eig.lambda", "eig.V")),
    **dict.fromkeys(("svd", "svdvals", "least_squares_values"), ("svd.sigma", "svd.U", "svd.V")),
    "qr": ("qr.Q", "qr.R'"),
    "pseudo_inverse": ("pinv",),
    **{name: (name,) for name in ("expm", "logm", "sqrtm")},
}


def all_of(form: IndexForm, node: Node, lead: tuple = ()) -> Any:
    """Every element of ``node``, or of what it has at the indices ``lead``, as what a function is of."""
    bound = [(form.indices.fresh(d), d) for d in node.shape[len(lead) :]]
    element = as_number(form.at(node, (*lead, *[i for i, _ in bound])))
    return sympy.Tuple(element, *[sympy.Tuple(*b) for b in bound]) if bound else element


def _factor_at(form: IndexForm, node: Node, index: tuple) -> Any:
    """An entry of one of the factors, which stand one below the other."""
    primitive: Any = node.primitive
    name = primitive.name
    if name not in _FACTORS:
        kind = AppliedComplex if node.is_complex else Applied
        return kind(sympy.Symbol(name), sympy.Tuple(*index), *[all_of(form, o) for o in node.operands])
    (x,) = node.operands
    if not isinstance(primitive, Factors):
        stacked = x.ndim - 2
        return _of_matrix(_FACTORS[name][0], form, x, index[:stacked], index[stacked:], node.is_complex)
    *stack, row, column = index
    ends = _ends(form, sympy.sympify(row))
    start, told = 0, []
    for factor, rows in zip(_FACTORS[name], primitive.heights(x), strict=True):
        height = 1 if rows is None else rows
        place = (column,) if rows is None else (row - start, column)
        turned = place[::-1] if factor.endswith("'") else place
        entry = _of_matrix(factor.rstrip("'"), form, x, tuple(stack), turned, node.is_complex)
        if all((e - start).is_nonnegative and (e - start - height).is_negative for e in ends):
            return entry
        start += height
        told.append((entry, row < start))
    return cases(*told[:-1], (told[-1][0], True))


def _ends(form: IndexForm, row: Any) -> list[Any]:
    """What a row is where each index in it is at one of its ends, between which it lies."""
    known = form.indices.sizes
    free = sorted(row.free_symbols, key=str)
    if not all(s in known for s in free):
        return [row]
    ends = itertools.product(*[(sympy.Integer(0), known[s] - 1) for s in free])
    return [row.xreplace(dict(zip(free, map(sympy.sympify, end), strict=True))) for end in ends]


def _least_squares_at(form: IndexForm, node: Node, index: tuple) -> Any:
    """An entry of the solution, or below it a sum of squares of what it leaves."""
    a, b = node.operands
    (rows, columns), (row, column) = a.shape, index

    def solution(j: Any) -> Any:
        k = form.indices.fresh(rows)
        body = _of_matrix("pinv", form, a, (), (j, k)) * as_number(form.at(b, (k, column)))
        return form.summed(body, [(k, rows)])

    if row != columns:
        return solution(row)
    i, j = form.indices.fresh(rows), form.indices.fresh(columns)
    product = form.summed(as_number(form.at(a, (i, j))) * solution(j), [(j, columns)])
    return form.summed((as_number(form.at(b, (i, column))) - product) ** 2, [(i, rows)])


def _no_entries(params: tuple, *values: np.ndarray) -> np.ndarray:
    raise ClosedFormTooLarge('a decomposition has no formula in the entries of a matrix; take form="index".')


FORMS: dict[str, Callable[[Any, Node, tuple], Any]] = {
    "inverse": _inverse_at,
    "solve": _solve_at,
    "determinant": _determinant_at,
    "log_determinant": lambda form, node, index: sympy.log(sympy.Abs(_determinant_at(form, node, index))),
    "determinant_sign": lambda form, node, index: sympy.sign(_determinant_at(form, node, index)),
    "cholesky": _cholesky_at,
    **dict.fromkeys(DECOMPOSITIONS, _factor_at),
    "least_squares": _least_squares_at,
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
    **dict.fromkeys(DECOMPOSITIONS, _no_entries),
    "inverse": lambda params, x: _stacked(lambda m: _adjugate(m) / _det(m), x.shape, x),
    "solve": lambda params, a, b: _stacked(lambda m, v: _adjugate(m) @ v / _det(m), b.shape, a, b),
    "determinant": _of_all(_det),
    "log_determinant": _of_all(lambda m: sympy.log(sympy.Abs(_det(m)))),
    "determinant_sign": _of_all(lambda m: sympy.sign(_det(m))),
    "cholesky": lambda params, x: _stacked(lambda m: _cholesky(m.T).T if params[0] else _cholesky(m), x.shape, x),
}

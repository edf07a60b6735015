"""Fourier transforms as sums of their definition: an element in index notation, and every entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from ..program.node import Node
from .cases import over
from .symbols import as_number

if TYPE_CHECKING:
    from .index_form import IndexForm


def _axis_of(node: Node) -> int:
    return node.ndim + node.params[0]


def _count(node: Node) -> Any:
    """How many elements a full sequence has."""
    return node.params[1] if node.primitive.name == "irfft" else node.operands[0].shape[node.params[0]]


def _term(node: Node, element: Any, k: Any, place: Any) -> Any:
    """What the element at ``k`` gives to that of the transform at ``place``."""
    n, name, norm = _count(node), node.primitive.name, node.params[-1]
    inverse = name == "irfft" or (name == "fft" and node.params[1])
    turned = element * sympy.exp((2 if inverse else -2) * sympy.pi * sympy.I * k * place / n)
    if name == "irfft":  # frequencies stand for their mirror images too
        alone = sympy.KroneckerDelta(k, 0) + (sympy.KroneckerDelta(2 * k, n) if n % 2 == 0 else 0)
        turned = (2 - alone) * sympy.re(turned)
    scaled = {"ortho": sympy.sqrt(n), "forward": 1 if inverse else n, "backward": n if inverse else 1}
    return turned / scaled[norm]


def element(form: IndexForm, node: Node, index: tuple) -> Any:
    """An element of a transform in index notation."""
    axis, (x,) = _axis_of(node), node.operands
    k = form.indices.fresh(x.shape[axis])
    own = as_number(form.at(x, (*index[:axis], k, *index[axis + 1 :])))
    return over(sympy.Sum, _term(node, own, k, index[axis]), (k, 0, x.shape[axis] - 1))


def entries(node: Node, values: np.ndarray) -> np.ndarray:
    """Every element of a transform of these expressions."""
    axis = _axis_of(node)
    rows = np.moveaxis(values, axis, -1)
    made = np.empty((*rows.shape[:-1], node.shape[axis]), dtype=object)
    for place in np.ndindex(made.shape):
        own = rows[place[:-1]]
        made[place] = sympy.Add(*[_term(node, e, sympy.Integer(k), place[-1]) for k, e in enumerate(own)])
    return np.moveaxis(made, -1, axis)

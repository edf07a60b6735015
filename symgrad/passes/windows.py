"""Gathers by evenly spaced indices, and their transposes, as views: what convolutions and pooling are made of.

``# einsum(gather(x, s·i + d·k), w) -> windowed_product(x, w)``
``# scatter(einsum(a, b), s·i + d·k) -> overlapped_product(a, b)``
``# scatter(y, s·i + d·k) -> overlap_add(y)``

For kernels: formulas and derivatives have the operations that it began with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..primitives.contraction import EINSUM, Labels, contract
from ..primitives.selection import GATHER, SCATTER
from ..primitives.windows import OVERLAP_ADD, OVERLAPPED_PRODUCT, WINDOWED_PRODUCT, Windows
from ..program.dims import Shape, is_named
from ..program.node import Node, emit
from ..program.program import Program
from .loops import with_bodies
from .rewrite import rewrite

#: multiplications of a product of windows from which it is worth a call of its own
_WORTH = 1 << 12


def with_windows(program: Program) -> Program:
    """``program`` with the views that its gathers and scatters are, where that saves work."""
    if not any(n.primitive is GATHER or n.primitive is SCATTER for n in program.every_node):
        return program
    program = with_bodies(program, with_windows)
    uses = program.uses

    def rule(node: Node, old: Node) -> Node | None:
        return _windowed(node) if old.primitive is EINSUM else _overlapped(node, uses[old.operands[0]] == 1)

    return rewrite(program, rule, of=(EINSUM, SCATTER))


def _gathered(node: Node) -> tuple[Node, Windows] | None:
    """The array that a chain of gathers begins with, and the view of it that they are."""
    chain: list[Node] = []
    while node.primitive is GATHER:
        chain.append(node)
        node = node.operands[0]
    view: Windows | None = Windows.whole(node.ndim)
    for x in reversed(chain):
        own = _view(x.operands[0].shape, x.operands[1], x.params[0])
        if own is None:
            return None
        view = view.then(own)
    return (node, view) if chain else None


def _view(shape: Shape, index: Node, axis: int) -> Windows | None:
    """What a gather by ``index`` reads of an array, as a view."""
    if index.primitive.name != "constant" or not isinstance(shape[axis], int):
        return None
    return Windows.gathered(len(shape), axis, shape[axis], index.params[0].value)


def _windowed(node: Node) -> Node | None:
    factors, product = _product(node)
    if product is None:
        return None
    operands, labels, out = product
    for k, o in enumerate(operands):
        found = _gathered(o)
        if found is not None:
            x, view = found
            made = emit(WINDOWED_PRODUCT, (x, operands[1 - k]), (view, labels[k], labels[1 - k], out, node.shape))
            return _scaled(factors, made)
    return None


def _overlapped(node: Node, is_own: bool) -> Node | None:
    """A scatter; with what it adds up, where that ``is_own``."""
    y, index = node.operands
    view = _view(node.shape, index, node.params[0])
    if view is None:
        return None
    if is_own and y.primitive is OVERLAP_ADD:
        return emit(OVERLAP_ADD, y.operands, (view.then(y.params[0]), node.shape))
    if is_own and y.primitive is OVERLAPPED_PRODUCT:
        return emit(OVERLAPPED_PRODUCT, y.operands, (view.then(y.params[0]), *y.params[1:-1], node.shape))
    factors, product = _product(y) if is_own and y.primitive is EINSUM else ([], None)
    if product is None:
        return emit(OVERLAP_ADD, (y,), (view, node.shape))
    operands, labels, out = product
    return _scaled(factors, emit(OVERLAPPED_PRODUCT, tuple(operands), (view, *labels, out, node.shape)))


def _scaled(factors: Sequence[Node], x: Node) -> Node:
    """``x`` times scalars."""
    labels = tuple(range(x.ndim))
    return contract([*factors, x], [*[()] * len(factors), labels], labels, x.shape) if factors else x


def _product(node: Node) -> tuple[list[Node], tuple[list[Node], list[Labels], Labels] | None]:
    """What an einsum is times Python scalars: products of matrices of two arrays; None where it is no such."""
    labels, out, sizes, spelling = node.params
    factors = [o for o in node.operands if o.is_literal]
    operands = [o for o in node.operands if not o.is_literal]
    own = [ls for o, ls in zip(node.operands, labels, strict=True) if not o.is_literal]
    if spelling or len(operands) != 2 or any(o.dtype != node.dtype for o in operands) or node.dtype.kind not in "fc":
        return [], None
    first, second = map(set, own)
    fits = all(len(set(ls)) == len(ls) for ls in (*own, out)) and first ^ second <= set(out) <= first | second
    worth = any(map(is_named, sizes)) or math.prod(sizes) >= _WORTH
    return (factors, (operands, own, out)) if fits and worth and first - second and second - first else ([], None)

"""The lines of all operations that are not elementwise: which parts each call is made of.

How the call looks is the dialect's; what the libraries share is NumPy's meaning: indices, broadcasting, dtypes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...primitives.identity import IDENTITIES
from ...primitives.matrix_functions import DECOMPOSITIONS
from ...primitives.selection import Spec
from ...program.dims import Shape, is_concrete
from ...program.node import Node

if TYPE_CHECKING:
    from .writer import ArrayWriter

#: the source of a node, and whether that is memory of its own
Statement = Callable[[Any, Node], tuple[str, bool]]


def _sliced(w: ArrayWriter, node: Node) -> tuple[str, bool]:
    (x,) = node.operands
    index, turned = w.index(node.params[0], x.shape)
    code = w.read(x)
    return w.turned(code if set(index) <= set(":, ") else f"{code}[{index}]", turned), False


def _assembled(w: ArrayWriter, node: Node) -> tuple[str, bool]:
    shape, specs = node.params
    if w.dialect.functional:
        widths = [_widths(spec, shape) for spec in specs]
        if None not in widths:
            return " + ".join([w.call("pad", w.own(node, k), widths=own) for k, own in enumerate(widths)]), True
    name = w.assign(w.call("zeros", shape=w.shape(shape), dtype=w.dtype(node.dtype)), node)
    for k, spec in enumerate(specs):
        index, turned = w.index(spec, shape)
        piece = w.turned(w.own(node, k), turned)
        if w.dialect.functional:
            name = w.assign(f"{name}.at[{index}].{'add' if k else 'set'}({piece})")
        else:
            w.lines.append(f"{name}[{index}] {'+=' if k else '='} {piece}")
    return name, True


def _widths(spec: Spec, shape: Shape) -> list[tuple[int, int]] | None:
    """What is beside a piece that stands at ``spec`` in an array; None for a small one, or for one in steps."""
    if not (is_concrete(shape) and all(isinstance(e, tuple) and e[2] == 1 for e in spec)):
        return None
    if 2 * math.prod([length for _, length, _ in spec]) < math.prod(shape):
        return None  # to add up many padded arrays takes longer than to write pieces into one
    return [(start, d - start - length) for (start, length, _), d in zip(spec, shape, strict=True)]


def _gate(w: ArrayWriter, node: Node) -> tuple[str, bool]:
    m, t = node.operands
    value = w.converted(t, node.dtype) if w.is_number(t) else w.typed(t, node.dtype)
    if m.dtype.kind == "b":
        return w.call("gate_truth", w.truth(m), value), True
    return w.call("gate", w.typed(m, node.dtype), value), True


def _gather(w: ArrayWriter, node: Node) -> tuple[str, bool]:
    axis = node.params[0]
    return w.call("gather", w.own(node), _index_of(w, node), axis=axis, lead=":, " * axis), True


def _scatter(w: ArrayWriter, node: Node) -> tuple[str, bool]:
    axis, size = node.params
    parts = {"size": w.dim(size), "lead": ":, " * axis, "shape": w.shape(node.shape), "dtype": w.dtype(node.dtype)}
    return w.call("scatter", w.own(node), _index_of(w, node), axis=axis, **parts), True


def _index_of(w: ArrayWriter, node: Node) -> str:
    index = node.operands[1]
    return w.typed(index, w.dialect.index or index.dtype)


def _concatenated(w: ArrayWriter, node: Node) -> tuple[str, bool]:
    parts = [w.own(node, k) for k in range(len(node.operands))]
    return w.call("concatenate", *parts, axis=node.params[0]), True


def _reduced(w: ArrayWriter, node: Node) -> tuple[str, bool]:
    return w.reduced(node.primitive.name, w.own(node), node.params[0] if node.shape else None), True


def _accumulated(w: ArrayWriter, node: Node) -> tuple[str, bool]:
    axis, reverse = node.params
    name = node.primitive.name
    return w.call("from_end" if reverse else name, w.own(node), axis=axis, name=name), not reverse


def _searched(w: ArrayWriter, node: Node) -> tuple[str, bool]:
    """Places of elements; truth values are compared as numbers."""
    (x,) = node.operands
    is_truth = x.dtype.kind == "b" and not w.dialect.promotes
    code = w.typed(x, np.dtype(np.uint8)) if is_truth else w.read(x)
    return w.call(node.primitive.name, code, axis=node.params[0], dtype=w.dtype(node.dtype)), True


def _searchsorted(w: ArrayWriter, node: Node) -> tuple[str, bool]:
    common = np.result_type(*[o.dtype for o in node.operands])
    codes = [w.typed(o, common) for o in node.operands]
    return w.call("searchsorted", *codes, side=node.params[0], dtype=w.dtype(node.dtype)), True


def _transformed(w: ArrayWriter, node: Node) -> tuple[str, bool]:
    axis, *rest, norm = node.params
    name = node.primitive.name
    count = f"{rest[0]}, " if name == "irfft" else ""
    name = "ifft" if name == "fft" and rest[0] else name
    own = w.own(node) if name in ("fft", "ifft") else w.read(node.operands[0])  # rfft takes real numbers
    return w.call("fourier", own, name=name, count=count, axis=axis, norm=norm), True


def _linear(name: str) -> Statement:
    def write(w: ArrayWriter, node: Node) -> tuple[str, bool]:
        codes = [w.own(node, k) for k in range(len(node.operands))]
        return w.call(name, *codes, linalg=w.linalg(node.operands[0])), True

    return write


def _solved(w: ArrayWriter, node: Node) -> tuple[str, bool]:
    is_stack = 1 < node.ndim < node.operands[0].ndim
    return _linear("solve_vectors" if is_stack else "solve")(w, node)


def _factored(w: ArrayWriter, node: Node) -> tuple[str, bool]:
    return _linear("cholesky_upper" if node.params[0] else "cholesky")(w, node)


def _decomposed(w: ArrayWriter, node: Node) -> tuple[str, bool]:
    codes = [w.own(node, k) for k in range(len(node.operands))]
    parts = dict(zip(("rcond", "hermitian"), node.params))
    return w.call(node.primitive.name, *codes, linalg=w.linalg(node.operands[0]), **parts), True


#: primitive -> what writes it
STATEMENTS: dict[str, Statement] = {
    "einsum": lambda w, n: w.contraction(n),
    **dict.fromkeys(IDENTITIES, lambda w, n: (w.read(n.operands[0]), n.operands[0] in w.fresh)),
    "cast": lambda w, n: (w.converted(n.operands[0], n.dtype), True),
    "slice": _sliced,
    "reshape": lambda w, n: (w.call("reshape", w.own(n), shape=w.shape(n.shape)), False),
    "stop_gradient": lambda w, n: (w.call("stop_gradient", w.own(n)), False),
    "assemble": _assembled,
    "gate": _gate,
    **dict.fromkeys(("real", "imag"), lambda w, n: (f"{w.read(n.operands[0])}.{n.primitive.name}", False)),
    "gather": _gather,
    "scatter": _scatter,
    "concatenate": _concatenated,
    **dict.fromkeys(("max", "min", "prod"), _reduced),
    **dict.fromkeys(("cumsum", "cumprod"), _accumulated),
    **dict.fromkeys(("fft", "rfft", "irfft"), _transformed),
    "convolve": lambda w, n: (w.call("convolve", w.own(n), w.own(n, 1)), True),
    "searchsorted": _searchsorted,
    **dict.fromkeys(("argmax", "argmin", "argsort"), _searched),
    **dict.fromkeys(DECOMPOSITIONS, _decomposed),
    "solve": _solved,
    "cholesky": _factored,
    **{name: _linear(name) for name in ("inverse", "determinant", "log_determinant", "determinant_sign")},
}

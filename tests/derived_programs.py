"""Program → Program: the derivatives of a whole Program as Programs again."""

from __future__ import annotations

from symgrad.differentiation.forward import forward_sweep
from symgrad.differentiation.reverse import reverse_sweep
from symgrad.primitives.casting import flow_as
from symgrad.primitives.contraction import expand
from symgrad.primitives.primitive import input_node, literal
from symgrad.program.node import Node
from symgrad.program.program import Program


def pushforward(program: Program) -> Program:
    """Inputs ``x…, d_x…`` and outputs ``y…, d_y…``: the values and the tangents.

    Only float inputs have tangents. Size and work are linear in the program's.

    >>> import symgrad
    >>> print(pushforward(symgrad.trace(lambda x: x * x, 1.0)))
    program(x: float64[], d_x: float64[]) {
      v0 = multiply(x, x)
      v1 = einsum[,->](x, d_x)
      v2 = add(v1, v1)
    } -> v0, v2
    """
    with program.graph:
        tangents = {n: input_node(f"d_{name}", n.shape, n.dtype) for n, name in _floats(program)}
        flows = forward_sweep(program.outputs, tangents)
        outputs = [_whole(t, o) for t, o in zip(flows, program.outputs, strict=True)]
    names = [*program.names, *(f"d_{name}" for _, name in _floats(program))]
    return Program((*program.inputs, *tangents.values()), (*program.outputs, *outputs), names, program.graph)


def pullback(program: Program) -> Program:
    """Inputs ``x…, ct_0, ct_1, …`` (one an output) and outputs the cotangents of the float inputs.

    >>> import symgrad
    >>> print(pullback(symgrad.trace(lambda X, w: X @ w, "n d", "d")))
    program(X: float64[n,d], w: float64[d], ct_0: float64[n]) {
      v0 = einsum[i,j->ij](ct_0, w)  # float64[n,d]
      v1 = einsum[ij,i->j](X, ct_0)  # float64[d]
    } -> v0, v1
    """
    with program.graph:
        cotangents = [input_node(f"ct_{k}", o.shape, o.dtype) for k, o in enumerate(program.outputs)]
        wrt = [n for n, _ in _floats(program)]
        flows = reverse_sweep(program.outputs, cotangents, wrt)
        outputs = [_whole(t, w) for t, w in zip(flows, wrt, strict=True)]
    names = [*program.names, *(f"ct_{k}" for k in range(len(cotangents)))]
    return Program((*program.inputs, *cotangents), outputs, names, program.graph)


def _floats(program: Program) -> list[tuple[Node, str]]:
    return [(n, name) for n, name in zip(program.inputs, program.names, strict=True) if n.differentiable]


def _whole(flow: Node | None, like: Node) -> Node:
    return expand(literal(0.0), like.shape) if flow is None else flow_as(flow, like.dtype)

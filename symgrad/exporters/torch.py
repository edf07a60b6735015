"""A module of torch: on the device of its arguments, and differentiable by autograd itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..primitives.elementwise import Template
from ..program.node import Node
from . import array_module, plain_values
from .arguments import Leaf
from .array_module import Module, Signature
from .array_source import OPERATORS
from .subject import Subject
from .torch_helpers import ENTRANCES, HELPERS
from .typed_source import TypedWriter, is_raw

_SAME_NAMES = (
    "sqrt square exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh "
    "arccosh arctanh deg2rad rad2deg floor ceil trunc isfinite isnan isinf signbit logical_not"
)
_SAME_PAIRS = (
    "float_power logaddexp logaddexp2 arctan2 hypot maximum minimum fmax fmin copysign fmod logical_and "
    "logical_or logical_xor bitwise_and bitwise_or bitwise_xor remainder floor_divide"
)
_SPECIAL = "erf erfc erfcx digamma expit logit log_ndtr"

#: elementwise function -> how torch spells it
TABLE = {
    **{name: f"torch.{name}({{0}})" for name in _SAME_NAMES.split()},
    **{name: f"torch.{name}({{0}}, {{1}})" for name in _SAME_PAIRS.split()},
    **{name: f"torch.special.{name}({{0}})" for name in _SPECIAL.split()},
    "norm_sqrt": "torch.sqrt({0})",
    "power": "torch.pow({0}, {1})",
    "radians": "torch.deg2rad({0})",
    "degrees": "torch.rad2deg({0})",
    "absolute": "torch.abs({0})",
    "fabs": "torch.abs({0})",
    "rint": "torch.round({0})",
    "reciprocal": "torch.reciprocal({0})",
    "invert": "torch.bitwise_not({0})",
    "where": "torch.where({0}, {1}, {2})",
    "conjugate": "{0}",
    "positive": "{0}",
    "gammaln": "_gammaln({0})",
    "ndtr": "_ndtr({0})",
    "sign": "_sign({0})",
    "cbrt": "_cbrt({0})",
    "heaviside": "_heaviside({0}, {1})",
    "ldexp": "_ldexp({0}, {1})",
    "xlogy": "torch.special.xlogy({0}, {1})",
    "zeta": "torch.special.zeta({0}, {1})",
}
#: elementwise function of integers and truth values -> how torch spells it
WHOLE = {
    "reciprocal": "_reciprocal({0})",
    "floor_divide": "_floor_divide({0}, {1})",
    "remainder": "_remainder({0}, {1})",
    "fmod": "_fmod({0}, {1})",
    "sign": "torch.sign({0})",
    "floor": "{0}",
    "ceil": "{0}",
    "trunc": "{0}",
}
_FLOATS = {"float16", "float32", "float64"}
_DTYPES = _FLOATS | {"int8", "int16", "int32", "int64", "uint8", "bool"}


class TorchWriter(TypedWriter):
    """Tensors are written into only where the function has just made them."""

    freed_from = 1 << 16
    target = "torch"
    library = "torch"
    table = TABLE
    whole = WHOLE

    def takes_scalar(self, template: Template, place: int) -> bool:
        return template.name in OPERATORS

    def elementwise(self, node: Node, template: Template) -> str:
        if template.name == "absolute" and node.dtype.kind == "b":
            return self.read(node.operands[0])
        return super().elementwise(node, template)

    def dtype(self, dtype: np.dtype) -> str:
        if dtype.name not in _DTYPES:
            raise self.refused(dtype.name)
        return f"torch.{dtype.name}"

    def _statement(self, node: Node) -> None:
        super()._statement(node)
        if node.primitive.name == "constant":
            self.names[node] += ".to(device)"

    def scalar(self, code: str, dtype: np.dtype) -> str:
        return f"torch.tensor({code}, dtype={self.dtype(dtype)}, device=device)"

    def converted(self, code: str, dtype: np.dtype) -> str:
        return f"{code}.to({self.dtype(dtype)})"

    def sum(self, code: str, axes: Sequence[int] | None) -> str:
        return f"torch.sum({code})" if axes is None else f"torch.sum({code}, dim={_axes(axes)})"

    def permuted(self, code: str, axes: Sequence[int]) -> str:
        return f"torch.permute({code}, {tuple(axes)})"

    def einsum(self, spelled: str, *codes: str) -> str:
        return f'torch.einsum("{spelled}", {", ".join(codes)})'

    def filled(self, shape: Sequence[Any], code: str, node: Node) -> str:
        if not all(map(is_raw, node.operands)):
            return f"torch.broadcast_to({code if code.isidentifier() else f'({code})'}, {self.shape(shape)}).clone()"
        if not shape:
            return self.scalar(code, node.dtype)
        return f"torch.full({self.shape(shape)}, {code}, dtype={self.dtype(node.dtype)}, device=device)"

    def broadcast(self, code: str, shape: Sequence[Any]) -> str:
        return f"torch.broadcast_to({code}, {self.shape(shape)})"

    def result(self, node: Node, name: str, shared: bool) -> str:
        if is_raw(node):
            return self.scalar(name, node.dtype)
        return f"{name}.clone()" if shared else name

    def stopped(self, node: Node) -> str:
        return f"{self.own(node)}.detach()"

    def assembled(self, node: Node) -> str:
        shape, specs = node.params
        zeros = f"torch.zeros({self.shape(shape)}, dtype={self.dtype(node.dtype)}, device=device)"
        name = self.assign(zeros, node)
        for k, spec in enumerate(specs):
            index, turned = self.index(spec, shape)
            piece = self.own(node, k)
            self.lines.append(f"{name}[{index}] += {self.turned(piece, turned) if turned else piece}")
        return name

    def gather(self, node: Node) -> str:
        index = self.typed(node.operands[1], np.dtype(np.int64))
        return f"{self.own(node)}[{':, ' * node.params[0]}{index}]"

    def scatter(self, node: Node) -> str:
        axis, size = node.params
        index = self.typed(node.operands[1], np.dtype(np.int64))
        return self.call("_scatter", self.own(node), index, str(axis), self.dim(size))

    def concatenated(self, node: Node) -> str:
        parts = ", ".join(self.own(node, k) for k in range(len(node.operands)))
        return f"torch.cat([{parts}], dim={node.params[0]})"

    def extremum(self, node: Node) -> str:
        x = self.own(node)
        return f"torch.a{node.primitive.name}({x}" + (f", dim={_axes(node.params[0])})" if node.shape else ")")

    def prod(self, node: Node) -> str:
        code = self.own(node)
        if not node.shape:
            return f"torch.prod({code})"
        for axis in sorted(node.params[0], reverse=True):
            code = f"torch.prod({code}, dim={axis})"
        return code

    def accumulation(self, node: Node) -> str:
        (axis, reverse), name = node.params, node.primitive.name
        x = self.own(node)
        if reverse:
            return f"torch.flip(torch.{name}(torch.flip({x}, ({axis},)), dim={axis}), ({axis},))"
        return f"torch.{name}({x}, dim={axis})"

    def convolve(self, node: Node) -> str:
        return self.call("_convolve", self.own(node), self.own(node, 1))

    def searchsorted(self, node: Node) -> str:
        knots, values = self.common(node)
        return f'torch.searchsorted({knots}.contiguous(), {values}.contiguous(), side="{node.params[0]}")'

    def search(self, node: Node) -> str:
        x = node.operands[0]
        code = self.typed(x, np.dtype(np.uint8)) if x.dtype.kind == "b" else self.read(x)
        stable = ", stable=True" if node.primitive.name == "argsort" else ""
        return f"torch.{node.primitive.name}({code}, dim={node.params[0]}{stable})"

    def cholesky(self, node: Node) -> str:
        x = self.own(node)
        return f"torch.linalg.cholesky({x}.mT).mT" if node.params[0] else f"torch.linalg.cholesky({x})"


def module(subject: Subject) -> str:
    """The derivative as a function of tensors, in a module of its own."""
    signature = Signature.of(subject, ["torch", "device"])
    writer = TorchWriter(signature.program, signature.arguments, signature.dims)
    results = writer.write(signature.outputs, array_module.refusal(signature))
    return Module(
        subject,
        signature,
        "it needs torch alone.",
        ["import sys", "", "import numpy as np", "import torch"],
        ("torch.Tensor", "torch.Tensor"),
        remarks=["It computes on the device of its first tensor; autograd differentiates it further."],
        helpers=[HELPERS[name] for name in writer.helpers if name in HELPERS],
        constants=array_module.constant_lines(writer, "torch.from_numpy({})"),
        check=array_module.checked(signature, argument="torch.from_numpy({})", result="{}.detach().cpu().numpy()"),
        entrances=ENTRANCES,
    ).text(lambda leaves: _entered(signature, writer, leaves, results), writer, results)


def _entered(signature: Signature, writer: TorchWriter, leaves: Sequence[Leaf], results: Sequence[str]) -> list[str]:
    """The arguments as tensors of their dtypes; numbers and weights go where the first tensor is."""
    own = [leaf for leaf in leaves if not leaf.node.weak and not leaf.is_weight]
    others = [leaf for leaf in leaves if leaf.node.weak or leaf.is_weight]
    if not own and others and others[-1].is_weight:
        own.append(others.pop())
    rows = [_converted(signature, writer, leaf) for leaf in own]
    device = f"{signature.arguments[own[0].node]}.device" if own else 'torch.device("cpu")'
    if others or any("device" in line for line in [*writer.lines, *results]):
        rows.append(f"device = {device}")
    for leaf in others:
        rows.append(_converted(signature, writer, leaf, ", device"))
        if leaf.node.weak:
            rows.append(f"_shape_of({plain_values.quoted(leaf.found)}, {signature.arguments[leaf.node]})")
    return rows


def _converted(signature: Signature, writer: TorchWriter, leaf: Leaf, device: str = "") -> str:
    made = f"_tensor({plain_values.quoted(leaf.found)}, {leaf.found}, {writer.dtype(leaf.node.dtype)}{device})"
    return f"{signature.arguments[leaf.node]} = {made}"


def _axes(axes: Sequence[int]) -> str:
    return str(axes[0]) if len(axes) == 1 else str(tuple(axes))

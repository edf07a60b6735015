"""A module of torch: on the device of its arguments, and differentiable by autograd itself."""

from __future__ import annotations

from collections.abc import Sequence

from ..emit.arrays.torch import TORCH
from ..emit.arrays.writer import ArrayWriter
from . import array_module, plain_values
from .arguments import Leaf
from .array_module import Module, Signature
from .subject import Subject

#: functions that arguments go through, by name
ENTRANCES = {
    "_tensor": '''
def _tensor(name, given, dtype, device=None):
    """An argument as a tensor of the dtype; an error that names it where it is none."""
    if not isinstance(given, torch.Tensor):
        try:
            given = torch.as_tensor(np.require(np.asarray(given), requirements="CW"))
        except (TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"{name} is no tensor: {error}") from None
    if given.numel() and not torch.can_cast(given.dtype, dtype):
        raise TypeError(f"{name} holds {given.dtype}, and {dtype} is expected")
    return given.to(device=device, dtype=dtype)
''',
}


def module(subject: Subject) -> str:
    """The derivative as a function of tensors, in a module of its own."""
    signature = Signature.of(subject, ["torch", "device"])
    writer = ArrayWriter(signature.program, signature.arguments, signature.dims, TORCH)
    results = writer.write_body(signature.outputs, array_module.refusal(signature))
    return Module(
        subject,
        signature,
        writer,
        results,
        ["torch"],
        ["import sys", "", "import numpy as np", "import torch"],
        ("torch.Tensor", "torch.Tensor"),
        "torch.from_numpy({})",
        remarks=["It computes on the device of its first tensor; autograd differentiates it further."],
        check={"argument": "torch.from_numpy({})", "result": "{}.detach().cpu().numpy()"},
        entrances=ENTRANCES,
    ).text(lambda leaves: _entered(signature, writer, leaves, results))


def _entered(signature: Signature, writer: ArrayWriter, leaves: Sequence[Leaf], results: Sequence[str]) -> list[str]:
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


def _converted(signature: Signature, writer: ArrayWriter, leaf: Leaf, device: str = "") -> str:
    made = f"_tensor({plain_values.quoted(leaf.found)}, {leaf.found}, {writer.dtype(leaf.node.dtype)}{device})"
    return f"{signature.arguments[leaf.node]} = {made}"

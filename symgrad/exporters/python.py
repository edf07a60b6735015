"""A Python module that needs nothing but NumPy (and SciPy, for its special functions)."""

from __future__ import annotations

from ..program.node import Node
from . import array_module, python_source
from .array_module import Module, Signature
from .numpy_source import HELPERS, NumpyWriter
from .subject import Subject

QUIET = '@np.errstate(all="ignore")'


def module(subject: Subject) -> str:
    """The derivative as a function of the same arguments, one line a binding, in a module of its own.

    Arguments that are nested are taken apart, one argument an array; parameters of a network follow as further ones.
    """
    signature = Signature.of(subject)
    writer = NumpyWriter(signature.program, signature.arguments, signature.dims)
    results = writer.write(signature.outputs, array_module.refusal(signature))
    special = "special" in writer.helpers
    return Module(
        subject,
        signature,
        "it needs NumPy and SciPy." if special else "it needs NumPy alone.",
        ["import sys", "", "import numpy as np", *(["from scipy import special"] if special else [])],
        ("np.ndarray", "np.generic"),
        decorators=[QUIET],
        helpers=[HELPERS[name] for name in writer.helpers if name in HELPERS],
        constants=array_module.constant_lines(writer),
        check=array_module.checked(signature, subject),
    ).text(entered(signature), writer, results)


def entered(signature: Signature) -> list[str]:
    """The arguments as arrays of their dtypes; a Python float stays one, and gives way to the dtype of its partners."""
    return [f"{name} = {_entered(node, name)}" for node, name in signature.arguments.items()]


def _entered(node: Node, name: str) -> str:
    if node.weak:
        return f"{ {'f': 'float', 'b': 'bool'}.get(node.dtype.kind, 'int') }({name})"
    return f"np.asarray({name}, {python_source.numpy_dtype(node.dtype)})"

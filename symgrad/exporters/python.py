"""A Python module that needs nothing but NumPy (and SciPy, for its special functions)."""

from __future__ import annotations

from collections.abc import Sequence

from ..emit.arrays.writer import ArrayWriter
from . import array_module, plain_values, python_source
from .arguments import Leaf
from .array_module import Module, Signature
from .subject import Subject

#: functions that arguments go through
ENTRANCES = {
    "_number": '''
def _number(name, given, kind):
    """An argument as a number of Python; an error that names it where it is none."""
    if type(given) is kind:
        return given
    array = _array(name, given, kind)
    if array.shape:
        raise ValueError(f"{name} has shape {array.shape}, and a number is expected")
    return array.item()
''',
    "_array": '''
def _array(name, given, dtype):
    """An argument as an array of the dtype; an error that names it where it is none."""
    if type(given) is np.ndarray and given.dtype == dtype:
        return given
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; fill it with values")
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{name} is no array: {error}") from None
    kind = np.dtype(dtype).kind
    if array.size and array.dtype.kind not in {"b": "b", "f": "biuf", "c": "biufc"}.get(kind, "biu"):
        raise TypeError(f"{name} holds {array.dtype}, and {np.dtype(dtype)} is expected")
    made = array.astype(dtype, copy=False)
    if kind in "iu" and not np.array_equal(made, array):
        raise ValueError(f"{name} has values that {np.dtype(dtype)} does not hold")
    return made
''',
}
QUIET = '@np.errstate(all="ignore")'


def module(subject: Subject) -> str:
    """The derivative as a function of the same arguments, one line a binding, in a module of its own.

    Arguments are nested as the derivative takes them; the weights of a network follow in a dict.
    """
    subject = subject.as_sparse() if subject.as_sparse else subject
    signature = Signature.of(subject)
    writer = ArrayWriter(signature.program, signature.arguments, signature.dims)
    results = writer.write_body(signature.outputs, array_module.refusal(signature))
    return Module(
        subject,
        signature,
        writer,
        results,
        ["NumPy"],
        ["import sys", "", "import numpy as np"],
        ("np.ndarray", "np.generic"),
        decorators=[QUIET],
        entrances=ENTRANCES,
    ).text(lambda leaves: entered(signature, leaves))


def entered(signature: Signature, leaves: Sequence[Leaf]) -> list[str]:
    """The arguments as arrays of their dtypes; a Python float stays one, and gives way to the dtype of its partners."""
    return [f"{signature.arguments[leaf.node]} = {converted(leaf)}" for leaf in leaves]


def converted(leaf: Leaf) -> str:
    """An argument as an array of its dtype, or a number of Python."""
    node, given = leaf.node, f"{plain_values.quoted(leaf.found)}, {leaf.found}"
    if node.weak:
        return f"_number({given}, { {'c': 'complex', 'f': 'float', 'b': 'bool'}.get(node.dtype.kind, 'int') })"
    return f"_array({given}, {python_source.numpy_dtype(node.dtype)})"

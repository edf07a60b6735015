"""The module of the format ``numba``: the function that is called, and the loops that numba compiles."""

from __future__ import annotations

from collections.abc import Sequence

from ...emit.arrays.writer import ArrayWriter
from ...emit.loops import COUNTERS, lower
from .. import array_module, python_source
from ..arguments import Leaf
from ..array_module import Module, Signature
from ..dialect import indented
from ..naming import target_names
from ..python import ENTRANCES, converted
from ..subject import Subject
from .printing import FUNCTIONS, Body

#: what the loops have names for beside the names of ``array_module``
_NAMES = ("math", "njit", "abs", "min", "range", "float", *COUNTERS)


def module(subject: Subject) -> str:
    """The derivative as a function of the same arguments: it looks at them and calls loops that numba compiles.

    Arguments are nested as the derivative takes them; the weights of a network follow in a dict.
    The first call with arrays of a new kind compiles; nothing is kept on disk.
    """
    subject = subject.as_sparse() if subject.as_sparse else subject
    signature = Signature.of(subject, inner=_NAMES)
    program = signature.program
    arguments = list(signature.arguments.values())
    taken = [*array_module.RESERVED, *_NAMES, *arguments, *signature.dims.values(), signature.function]
    labels = subject.output_names
    labels = [str(k) for k in range(signature.outputs)] if subject.assembled else labels
    outputs = target_names([f"out_{label}" for label in labels], taken)
    routine = lower(program, arguments, outputs, signature.dims)
    body = Body(routine)
    lines = [*[body.allocated(out) for out in routine.outputs if out.shape], *body.lines]
    given = ", ".join([*signature.dims.values(), *arguments])
    returned = f"return ({''.join(f'{name}, ' for name in outputs).strip()})"
    loops = "\n".join([f"def _loops({given}):", *indented([*lines, returned])])
    names = [f"v{k}" for k in range(len(outputs))]
    call = f"{', '.join(names)}{',' if len(names) == 1 else ''} = _loops({given})"
    results = [
        name if node.shape else f"{python_source.numpy_dtype(node.dtype)}({name})"
        for name, node in zip(names, program.outputs, strict=False)
    ]
    read = routine.names_read()
    constants = [
        row
        for array, value in routine.constants
        if array.name in read
        for row in python_source.wrapped(f"{array.name} = {python_source.array(value)}")
    ]
    writer = ArrayWriter(program)
    writer.lines.append(call if names else f"_loops({given})")
    return Module(
        subject,
        signature,
        writer,
        results,
        ["NumPy", "numba"],
        ["import math", "import sys", "", "import numpy as np", "from numba import njit"],
        ("np.ndarray", "np.generic"),
        helpers=[f'@njit(error_model="numpy")\n{text}' for text in (*FUNCTIONS.called_in(loops), loops)],
        constants=constants,
        entrances=ENTRANCES,
    ).text(lambda leaves: _entered(signature, leaves))


def _entered(signature: Signature, leaves: Sequence[Leaf]) -> list[str]:
    """The arguments as numbers and arrays in C order, of their dtypes."""
    rows = []
    for leaf in leaves:
        name, made = signature.arguments[leaf.node], converted(leaf)
        if leaf.node.shape:
            made = f'np.asarray({made}, order="C")'
        elif not leaf.node.weak:
            made = f"{made}[()]"
        rows.append(f"{name} = {made}")
    return rows

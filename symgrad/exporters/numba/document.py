"""The module of the format ``numba``: the function that is called, and the loops that numba compiles."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .. import array_module, python_source
from ..array_module import Module, Signature
from ..loops import COUNTERS, lower
from ..naming import target_names
from ..subject import Subject
from .library import Library
from .printing import Body

#: what the module has for globals beside the names of ``array_module``
_NAMES = ("math", "njit", "abs", "min", "range", "float", *COUNTERS)


def module(subject: Subject) -> str:
    """The derivative as a function of the same arguments: it looks at them and calls loops that numba compiles.

    Arguments that are nested are taken apart, one argument an array; parameters of a network follow as further ones.
    The first call with arrays of a new kind compiles; nothing is kept on disk.
    """
    signature = Signature.of(subject, _NAMES)
    program = signature.program
    arguments = list(signature.arguments.values())
    taken = [*array_module.RESERVED, *_NAMES, *arguments, *signature.dims.values(), signature.function]
    labels = [python_source.plain_label(label) for label in subject.labels]
    outputs = target_names([f"out_{label}" for label in labels], taken)
    routine = lower(program, arguments, outputs, signature.dims)
    library = Library()
    body = Body(routine, library)
    given = ", ".join([*signature.dims.values(), *arguments])
    loops = [
        '@njit(error_model="numpy")',
        f"def _loops({given}):",
        *[f"    {line}" for line in body.lines],
        f"    return ({''.join(f'{name}, ' for name in outputs).strip()})",
    ]
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
    writer: Any = SimpleNamespace(lines=[call] if names else [f"_loops({given})"])
    return Module(
        subject,
        signature,
        "it needs NumPy and numba.",
        ["import math", "import sys", "", "import numpy as np", "from numba import njit"],
        ("np.ndarray", "np.generic"),
        helpers=["\n".join(loops), *library.texts()],
        constants=constants,
        check=array_module.checked(signature, subject),
    ).text(_entered(signature), writer, results)


def _entered(signature: Signature) -> list[str]:
    """The arguments as numbers and arrays in C order, of their dtypes."""
    rows = []
    for node, name in signature.arguments.items():
        if node.weak:
            rows.append(f"{name} = { {'f': 'float', 'b': 'bool'}.get(node.dtype.kind, 'int') }({name})")
        elif node.shape:
            rows.append(f'{name} = np.asarray({name}, {python_source.numpy_dtype(node.dtype)}, order="C")')
        else:
            rows.append(f"{name} = np.asarray({name}, {python_source.numpy_dtype(node.dtype)})[()]")
    return rows

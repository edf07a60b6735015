"""A Julia module with a function that computes the derivative, and checks itself where it is run."""

from __future__ import annotations

import re

from .. import header
from ..check import GOLDEN
from ..loops.language import Array, Name, Routine
from ..naming import target_names
from ..printed import Places, Signature
from ..subject import Subject
from .body import Body, allocated, called, indented
from .checking import check_function
from .numbers import constant
from .spelling import PACKAGES, PROCEDURES, RESERVED, number, type_name


def source(subject: Subject) -> str:
    """The module as text.

    >>> import symgrad
    >>> text = symgrad.grad(lambda x: x**3).export("julia", 2.0)
    >>> print(*[line for line in text.splitlines() if "grad_f(" in line], sep="\\n")
        grad_f(x)
    function grad_f(x::Real)
        got_1 = grad_f(given_1)
    """
    signature = Signature.of(subject, RESERVED, 100, ascii=False)
    routine = signature.routine()
    function = _function(subject, signature, routine)
    check = check_function(subject, signature, routine)
    written = "\n".join([*function, *check])
    helpers = [
        row for name in PROCEDURES.needed(called(written, PROCEDURES.sources)) for row in ["", PROCEDURES.sources[name]]
    ]
    constants = [row for array, value in routine.constants for row in constant(f"const {array.name}", value)]
    everything = "\n".join([written, *helpers])
    if "GOLDEN" in everything:
        constants.insert(0, f"const GOLDEN = {GOLDEN!r}")
    name = _module_name(signature.name)
    packages = {package: called(everything, names) for package, names in PACKAGES.items()}
    return "\n".join(
        [
            *[f"# {line}".rstrip() for line in header.lines(subject)],
            *(["# needs the package SpecialFunctions"] if packages["SpecialFunctions"] else []),
            "# checks itself where it is run as a program",
            "",
            f"module {name}",
            "",
            *[f"using {package}: {', '.join(names)}" for package, names in packages.items() if names],
            f"export {signature.name}",
            *(["", *constants] if constants else []),
            "",
            *function,
            "",
            *check,
            *helpers,
            "",
            f"end # module {name}",
            "",
            "if abspath(PROGRAM_FILE) == @__FILE__",
            f"    exit({name}.self_check())",
            "end",
            "",
        ]
    )


def _module_name(function: str) -> str:
    """A name for the module, which is not that of the function."""
    words = "".join(word[:1].upper() + word[1:] for word in function.split("_"))
    return target_names([words], [function, *RESERVED], ascii=False)[0]


def _function(subject: Subject, signature: Signature, routine: Routine) -> list[str]:
    body = Body(routine)
    outputs = [
        allocated(a, body.places) if a.shape else f"{a.name} = {number(0, a.dtype).source}" for a in routine.outputs
    ]
    arguments = ", ".join(f"{a.name}::{_accepted(a)}" for a in routine.inputs)
    returned = ", ".join(a.name for a in routine.outputs) or "nothing"
    return [
        *_documentation(subject, signature, routine, body.places),
        f"function {signature.name}({arguments})",
        *indented([*_door(routine, body.places), *outputs, *body.lines, f"return {returned}"]),
        "end",
    ]


def _accepted(argument: Name | Array) -> str:
    """The type that an argument must have."""
    own = type_name(argument.dtype)
    if isinstance(argument, Array) and argument.shape:
        rank = len(argument.shape)
        if rank < 3:
            return f"{('AbstractVector', 'AbstractMatrix')[rank - 1]}{{{own}}}"
        return f"AbstractArray{{{own}, {rank}}}"
    return {"f": "Real", "b": "Bool"}.get(argument.dtype.kind, "Integer")


def _door(routine: Routine, places: Places) -> list[str]:
    """Numbers in their types, sizes read off the arrays and compared."""
    numbers = [a for a in routine.inputs if not isinstance(a, Array) and a.dtype.kind != "b"]
    arrays = [a for a in routine.inputs if isinstance(a, Array)]
    rows = [f"{a.name} = {type_name(a.dtype)}({a.name})" for a in numbers]
    if arrays:
        rows.append(f"Base.require_one_based_indexing({', '.join(a.name for a in arrays)})")
    for symbol, name in routine.dims.items():
        array, axis = next((a, k) for a in arrays for k, d in enumerate(a.shape, 1) if d == symbol)
        rows.append(f"{name} = size({array.name}, {axis})")
    for array in arrays:
        name, size = array.name, _size(array, places)
        rows.append(f'size({name}) == {size} || throw(DimensionMismatch("{name} must have the size {size}"))')
    return rows


def _size(array: Array, places: Places) -> str:
    dims = [places.dim(d).source for d in array.shape]
    return f"({', '.join(dims)}{',' if len(dims) == 1 else ''})"


def _documentation(subject: Subject, signature: Signature, routine: Routine, places: Places) -> list[str]:
    title = re.sub(r"[^ A-Za-z0-9_]", "_", subject.title)

    def kind(a: Name | Array) -> str:
        if isinstance(a, Array) and a.shape:
            return f"{type_name(a.dtype)} array of the size {_size(a, places)}"
        return f"{type_name(a.dtype)} number"

    return [
        '"""',
        f"    {signature.name}({', '.join(signature.inputs)})",
        "",
        f"{title[0].upper()}{title[1:]}.",
        "",
        *[f"- `{a.name}`: {kind(a)}" for a in routine.inputs],
        "",
        f"Returns {'a tuple of these' if len(routine.outputs) > 1 else 'this'}:",
        "",
        *[f"- `{a.name}`: {kind(a)}" for a in routine.outputs],
        '"""',
    ]

"""A Julia module with a function that computes the derivative, and checks itself where it is run."""

from __future__ import annotations

import re

from ...emit.loops import Routine, lower, named_dims
from ...emit.loops.language import Array, Name
from ...passes.constants import fold_constants
from ...passes.unrolling import parted
from .. import header
from ..check import GOLDEN
from ..dialect import indented
from ..naming import target_names
from ..python_source import wrapped
from ..subject import Subject
from .checking import check_function
from .printing import FUNCTIONS, PACKAGES, RESERVED, Body, array, number, type_name

_LONGEST = 100


def source(subject: Subject) -> str:
    """The module as text.

    >>> import symgrad
    >>> text = symgrad.grad(lambda x: x**3).export("julia", 2.0)
    >>> print(*[line for line in text.splitlines() if "grad_f(" in line], sep="\\n")
        grad_f(x)
    function grad_f(x::Real)
        got_1 = grad_f(given_1)
    """
    function, routine = _named(subject)
    written = "\n".join([*_function(subject, function, routine), "", *check_function(subject, function, routine)])
    helpers = FUNCTIONS.called_in(written)
    constants = [row for a, value in routine.constants for row in wrapped(f"const {a.name} = {array(value)}")]
    everything = "\n".join([written, *helpers])
    if "GOLDEN" in everything:
        constants.insert(0, f"const GOLDEN = {GOLDEN!r}")
    name = _module_name(function)
    words = set(re.findall(r"@?\b\w++(?=\()|@\w+", everything))
    packages = {package: [n for n in names if n in words] for package, names in PACKAGES.items()}
    return "\n".join(
        [
            *[f"# {line}".rstrip() for line in header.lines(subject)],
            *(["# needs the package SpecialFunctions"] if packages["SpecialFunctions"] else []),
            "# checks itself where it is run as a program",
            "",
            f"module {name}",
            "",
            *[f"using {package}: {', '.join(names)}" for package, names in packages.items() if names],
            f"export {function}",
            *(["", *constants] if constants else []),
            "",
            written,
            *[f"\n{helper}" for helper in helpers],
            "",
            f"end # module {name}",
            "",
            "if abspath(PROGRAM_FILE) == @__FILE__",
            f"    exit({name}.self_check())",
            "end",
            "",
        ]
    )


def _named(subject: Subject) -> tuple[str, Routine]:
    """The name of the function, and its loops, the first axes of arrays innermost."""
    program = parted(fold_constants(subject.guarded))
    dims = named_dims(program)
    labels = [*program.names, *subject.output_names, *map(str, dims)]
    (function,) = target_names([subject.name], RESERVED, longest=_LONGEST, ascii=False)
    names = target_names(labels, [*RESERVED, function], longest=_LONGEST, ascii=False)
    first, second = len(program.names), len(program.names) + len(subject.program.outputs)
    inputs, outputs, sizes = names[:first], names[first:second], dict(zip(dims, names[second:], strict=True))
    taken = [name.lower() for name in (function, *names)]
    return function, lower(program, inputs, outputs, sizes, row_major=False, taken=taken)


def _module_name(function: str) -> str:
    """A name for the module, which is not that of the function."""
    words = "".join(word[:1].upper() + word[1:] for word in function.split("_"))
    return target_names([words], [function, *RESERVED], ascii=False)[0]


def _function(subject: Subject, function: str, routine: Routine) -> list[str]:
    body = Body(routine)
    outputs = [body.allocated(a) if a.shape else f"{a.name} = {number(0, a.dtype).source}" for a in routine.outputs]
    arguments = ", ".join(f"{a.name}::{_accepted(a)}" for a in routine.inputs)
    returned = ", ".join(a.name for a in routine.outputs) or "nothing"
    return [
        *_documentation(subject, function, routine, body),
        f"function {function}({arguments})",
        *indented([*_argument_checks(routine, body), *outputs, *body.lines, f"return {returned}"]),
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


def _argument_checks(routine: Routine, body: Body) -> list[str]:
    """Numbers in their types, sizes read off the arrays and compared."""
    numbers = [a for a in routine.inputs if not isinstance(a, Array) and a.dtype.kind != "b"]
    arrays = [a for a in routine.inputs if isinstance(a, Array)]
    rows = [f"{a.name} = {type_name(a.dtype)}({a.name})" for a in numbers]
    if arrays:
        rows.append(f"Base.require_one_based_indexing({', '.join(a.name for a in arrays)})")
    for symbol, name in routine.dims.items():
        found, axis = next((a, k) for a in arrays for k, d in enumerate(a.shape, 1) if d == symbol)
        rows.append(f"{name} = size({found.name}, {axis})")
    for found in arrays:
        name, size = found.name, body.size(found.shape)
        rows.append(f'size({name}) == {size} || throw(DimensionMismatch("{name} must have the size {size}"))')
    return rows


def _documentation(subject: Subject, function: str, routine: Routine, body: Body) -> list[str]:
    title = re.sub(r"[^ A-Za-z0-9_]", "_", subject.title)

    def described(a: Name | Array) -> str:
        shape = a.shape if isinstance(a, Array) else ()
        what = f"array of the size {body.size(shape)}" if shape else "number"
        return f"- `{a.name}`: {type_name(a.dtype)} {what}"

    return [
        '"""',
        f"    {function}({', '.join(a.name for a in routine.inputs)})",
        "",
        f"{title[0].upper()}{title[1:]}.",
        "",
        *map(described, routine.inputs),
        "",
        f"Returns {'a tuple of these' if len(routine.outputs) > 1 else 'this'}:",
        "",
        *map(described, routine.outputs),
        '"""',
    ]

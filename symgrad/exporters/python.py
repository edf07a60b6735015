"""A Python module that needs nothing but NumPy (and SciPy, for its special functions)."""

from __future__ import annotations

import ast
import inspect
import keyword
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..closed_form.symbols import safe_names
from ..errors import ArgumentError, UnsupportedOperation
from ..kernels import runtime
from ..kernels.numpy_backend import Writer
from ..passes.constants import fold_constants
from ..primitives.spelling import self_dot
from ..program.dims import size
from ..program.node import Node
from ..tracing.tree import LEAF
from .subject import Subject

#: elements of a captured array that is still written into the source
_MOST_CAPTURED = 10_000
#: name in generated source -> the functions that it needs, whose source is copied
_HELPERS: dict[str, list[Callable]] = {
    "gate": [runtime.gate],
    "gram": [runtime._square, runtime.gram],
    "scatter": [runtime.scatter],
    "cumulative_sum": [runtime.cumulative_sum],
    "diagonal": [runtime.diagonal],
    "embed_diagonal": [runtime.diagonal, runtime.embed_diagonal],
    "search": [runtime.search],
    "self_dot": [self_dot],
}


def module(subject: Subject) -> str:
    """The derivative as a function of the same arguments, one line a binding, in a module of its own.

    Arguments that are nested are taken apart, one argument an array; parameters of a network follow as further ones.
    """
    program = fold_constants(subject.program)
    writer = Writer(program)
    lines = writer.write().splitlines()
    names = _argument_names(program.names)
    body = [f"    {writer.names[n]} = {_read(n, name)}" for n, name in zip(program.inputs, names, strict=True)]
    body += lines[1:-1]
    results = re.fullmatch(r"    return \((.*)\)", lines[-1])
    assert results is not None
    values = [v for v in results[1].split(", ") if v]
    body.append(f"    return {_nested(subject, values)}")
    source = "\n".join(body)
    imports = ["import numpy as np", *_special_imports(writer)]
    constants = _constants(writer)
    if re.search(r"\b(inf|nan)\b", "\n".join([source, *constants])):
        imports.append("from numpy import inf, nan")
    needs = "NumPy and SciPy" if any("scipy" in line for line in imports) else "NumPy alone"
    shapes = "\n".join(f"    {name}: {_described(n)}" for name, n in zip(names, program.inputs))
    arguments = ", ".join(names)
    return "\n".join(
        [
            f'"""{_sentence(subject.title)}, as symgrad derived it. Needs {needs}."""\n',
            *imports,
            *_helpers(source),
            *constants,
            f"\n\ndef {subject.name}({arguments}):",
            f'    """{_sentence(subject.title)}.\n\n{shapes}\n    """',
            source,
            "",
        ]
    )


def _argument_names(labels: Iterable[str]) -> list[str]:
    """Names of the arguments that are no keywords, no names of the module and no bindings."""
    taken = {"np", "inf", "nan", *_HELPERS}
    clashing = re.compile(r"v\d+|special_\w*")
    # letters of other scripts may stand in names, signs such as ² may not
    names = safe_names("".join(c if f"a{c}".isidentifier() else "_" for c in label) for label in labels)
    while any(n in taken or keyword.iskeyword(n) or clashing.fullmatch(n) for n in names):
        names = safe_names(
            [f"arg_{n}" if n in taken or keyword.iskeyword(n) or clashing.fullmatch(n) else n for n in names]
        )
    return names


def _read(node: Node, name: str) -> str:
    """An argument as the kernel takes it; a Python float gives way to the dtype of its partners, so it stays one."""
    return f"float({name})" if node.weak else f"np.asarray({name}, np.{node.dtype.name})"


def _literal(value: Any) -> str:
    """A value that the function returned beside its arrays."""
    text = repr(value)
    try:
        if ast.literal_eval(text) == value:
            return text
    except (ValueError, SyntaxError):
        pass
    raise ArgumentError(
        f"the function returns a {type(value).__name__} beside its arrays, which cannot be written into a module; "
        "return arrays, numbers and text."
    )


def _described(node: Node) -> str:
    shape = "(" + ", ".join(map(str, node.shape)) + ("," if len(node.shape) == 1 else "") + ")"
    return f"{node.dtype.name} array of shape {shape}" if node.shape else f"{node.dtype.name} number"


def _nested(subject: Subject, values: list[str]) -> str:
    """The result in its structure."""
    slots = iter(subject.slots)

    def written(structure: Any) -> str:
        if structure == LEAF:
            is_array, value = next(slots)
            return values[value] if is_array else _literal(value)
        if structure[0] == "dict":
            return (
                "{" + ", ".join(f"{k!r}: {written(s)}" for k, s in zip(structure[1], structure[2], strict=True)) + "}"
            )
        parts = [written(s) for s in (structure[2] if structure[0] == "named" else structure[1])]
        if structure[0] == "list":
            return f"[{', '.join(parts)}]"
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"

    return written(subject.structure)


def _special_imports(writer: Writer) -> list[str]:
    """Functions of SciPy that NumPy has not."""
    found = []
    for name, function in writer.namespace.items():
        if name.startswith("special_"):
            own = function.__name__
            from_scipy = _scipy_special(own) is function
            if not from_scipy:
                raise UnsupportedOperation(f"{own} has no function in NumPy or SciPy that a module could call.")
            found.append(f"from scipy.special import {own} as {name}")
    return sorted(found)


def _scipy_special(name: str) -> Any:
    try:
        import scipy.special
    except ImportError:
        return None
    return getattr(scipy.special, name, None)


def _helpers(source: str) -> list[str]:
    """The source of what generated lines call beside NumPy."""
    needed: dict[Callable, None] = {}
    for name, functions in _HELPERS.items():
        if re.search(rf"\b{name}\(", source):
            needed.update(dict.fromkeys(functions))
    texts = [_plain_source(function) for function in needed]
    if runtime.gram in needed:
        texts.insert(0, f"_GRAM_FROM = {runtime._GRAM_FROM}")
    return [f"\n\n{text}" for text in texts]


def _plain_source(function: Callable) -> str:
    """The source of a function, without the annotations, whose names the module does not have."""
    tree = ast.parse(inspect.getsource(function))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(tree)


def _constants(writer: Writer) -> list[str]:
    """The arrays that the function captured."""
    made = []
    for node, name in writer.names.items():
        if node.primitive.name == "constant":
            if size(node.shape) > _MOST_CAPTURED:
                raise ArgumentError(
                    f"the function reads an array of shape {node.shape} from its surroundings, too large to write into "
                    "source; make it an argument of the function."
                )
            value = np.asarray(node.params[0].value)
            made.append(f"\n{name} = np.array({value.tolist()!r}, np.{value.dtype.name}).reshape({value.shape})")
    return made


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]

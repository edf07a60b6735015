"""A script that makes the formulas of a derivative by plain sympy calls, prints them and checks them on numbers."""

from __future__ import annotations

import builtins
import inspect
import keyword
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from ..closed_form import numbers
from ..closed_form.budget import predicted_operations
from ..closed_form.entries import entry_names
from ..closed_form.index_form import constant_names
from ..closed_form.symbols import safe_names
from ..program.dims import is_named
from ..program.program import Program
from . import header, module_check, nesting, python_source
from .naming import target_names
from .subject import Subject
from .sympy_code import Code, imports, named_functions, parts, symbols_of

if TYPE_CHECKING:
    from .sympy_objects import SympyObjects

#: numbers that the check computes one by one
_MAX_NUMBERS = 100_000
#: names that the script itself has
_OWN = (
    "np",
    "sys",
    "types",
    "_object",
    "bindings",
    "outputs",
    "conditions",
    "known",
    "results",
    "shape",
    "_check",
    "_off",
    "_drawn",
)


def script(subject: Subject, made: SympyObjects) -> str:
    """The source of the script."""
    formulas = [*made.outputs, *made.conditions, *[e for pair in made.bindings for e in pair]]
    formulas = [part for formula in formulas for part in parts(formula)]
    given = [part for v in (*made.inputs.values(), *made.indices) for part in (v if isinstance(v, tuple) else parts(v))]
    sizes = [d for n in (*subject.program.outputs, *subject.guarded.bindings) for d in n.shape if is_named(d)]
    symbols = symbols_of([*formulas, *given, *sizes])
    reserved = {*keyword.kwlist, *dir(builtins), *dir(sympy), *dir(numbers), *np.__all__, *_OWN}
    function = target_names([subject.name], reserved, ascii=False)[0]
    reserved.add(function)
    names = dict(zip(symbols, target_names(symbols, reserved, ascii=False), strict=True))
    body = [*_declarations(symbols, names, formulas), "", *_formulas(subject, made, Code(names))]
    evaluation = _function(subject, made, function, names, reserved, numbers.numpy_functions(formulas))
    if _numbers(subject.guarded, made.kind) > _MAX_NUMBERS:
        subject = replace(subject, checked=lambda: "the arrays are too large for sums one element at a time")
    unknown = numbers.without_numbers(formulas)
    if unknown:
        subject = replace(subject, checked=lambda: f"sympy has no numbers of {', '.join(unknown)}")
    return "\n".join(
        [
            *header.python_comment(subject),
            f'"""{header.harmless(subject.title[0].upper() + subject.title[1:])}, as formulas of sympy."""',
            "",
            "import itertools",
            "import sys",
            *(["import types"] if nesting.has_objects(subject.structure) else []),
            "",
            "import numpy as np",
            "import sympy",
            *imports("\n".join(body)),
            "",
            *body,
            "",
            "",
            *_evaluator(),
            *evaluation,
            *module_check.lines(subject, result="np.asarray({})", function=function),
            "",
        ]
    ).replace('if __name__ == "__main__":\n', f'if __name__ == "__main__":\n{_SHOWN}')


_SHOWN = """    for bound, formula, _ in bindings:
        print(bound, "=", formula)
    for free, formula, _ in outputs:
        print(*(["at", *free, "it is"] if free else []), formula)
"""


def _numbers(program: Program, kind: str) -> int:
    """How many numbers the check computes, at least."""
    if kind != "let-bound":
        return predicted_operations(program, True)
    extents = [n.params[2] if n.primitive.name == "einsum" else n.shape for n in program.bindings]
    return sum(math.prod(d for d in dims if isinstance(d, int)) for dims in extents)


def _declarations(symbols: dict[str, Any], names: dict[str, str], formulas: Sequence[Any]) -> list[str]:
    rows = []
    for name, symbol in symbols.items():
        label: Any = symbol.label if isinstance(symbol, sympy.IndexedBase) else symbol
        given = "".join(f", {k}={v}" for k, v in sorted(label._assumptions_orig.items()) if k != "commutative")
        rows.append(f"{names[name]} = {type(symbol).__name__}({name!r}{given})")
    return rows + [f"{name} = Function({name!r}, real=True)" for name in named_functions(formulas)]


def _formulas(subject: Subject, made: SympyObjects, code: Code) -> list[str]:
    """The lists of bindings, outputs and conditions."""

    def listed(name: str, comment: str, rows: list[str]) -> list[str]:
        return [f"{name} = [  # {comment}", *[f"    {row}," for row in rows], "]"] if rows else [f"{name} = []"]

    bound = [
        f"({code.doprint(a)}, {code.doprint(e)}, {code.tuple(n.shape)})"
        for (a, e), n in zip(made.bindings, subject.guarded.bindings, strict=False)
    ]
    outputs = [
        f"({code.tuple(free)}, {code.doprint(formula)}, {code.tuple(node.shape)})"
        for free, formula, node in zip(made.indices, made.outputs, subject.program.outputs, strict=True)
    ]
    return [
        *listed("bindings", "what is bound, its formula, its shape", bound),
        *listed("outputs", "free indices, which count from 0, the formula, the shape", outputs),
        *listed("conditions", "the formulas hold where all of these do", list(map(code.doprint, made.conditions))),
    ]


def _function(
    subject: Subject,
    made: SympyObjects,
    function: str,
    names: dict[str, str],
    reserved: set[str],
    functions: dict[str, str],
) -> list[str]:
    """The function that computes the result from arrays, element by element."""
    program = subject.program
    dims = {d: names.get(d.name, d.name) for d in python_source.dims_of(program)}
    bases = safe_names(program.names)
    arguments = target_names(bases, {*reserved, *dims.values()}, ascii=False)
    checks = python_source.argument_checks(program, dict(zip(program.inputs, arguments, strict=True)), dims)
    known = [f"{name + '()'!r}: np.{called}" for name, called in functions.items()]
    for base, argument, node in zip(bases, arguments, program.inputs, strict=True):
        known.append(f"{base + '[]' * bool(node.shape)!r}: {argument}")
    known += [f"{name + '[]'!r}: {python_source.array(value)}" for name, value in constant_names(program).items()]
    known += [f"{d.name!r}: {name}" for d, name in dims.items()]
    entries = zip(arguments, entry_names(program), strict=True) if made.kind == "entries" else ()
    values = [f"results[{k}]" for k in range(len(program.outputs))]
    comments = [python_source.shape_text(n.shape) for n in program.outputs]
    nested = nesting.rows(subject, values, comments)
    body = [
        *[f"{a} = np.asarray({a})" for a in arguments],
        *checks,
        *(["known = {", *[f"    {row}," for row in known], "}"] if known else ["known = {}"]),
        *[f"known.update(zip({own!r}, {argument}.reshape(-1)))" for argument, own in entries],
        "results = _results(known)",
        f"return {nested[0]}",
        *nested[1:],
    ]
    said = "The result for NumPy arrays, computed from the formulas one element after the other."
    needs_shape = any("_shape_of(" in row for row in checks)
    objects = nesting.OBJECT if nesting.has_objects(subject.structure) else ""
    return [
        *([*objects.strip().splitlines(), "", ""] if objects else []),
        *([*python_source.SHAPE_OF.strip().splitlines(), "", ""] if needs_shape else []),
        f"def {function}({', '.join(arguments)}):",
        f'    """{said}"""',
        *[f"    {row}" for row in body],
    ]


_RESULTS = '''
def _results(known):
    """The numbers of the outputs; a ValueError where the formulas do not hold."""
    with np.errstate(all="ignore"):
        for bound, formula, shape in bindings:
            free, name = (bound.indices, f"{bound.base}[]") if bound.args else ((), bound.name)
            known[name] = _array(free, formula, known, shape)
        if not all(_known(sympy.sympify(c), known) for c in conditions):
            raise ValueError("these arguments take another branch than the formulas were derived for")
        return [_array(free, formula, known, shape) for free, formula, shape in outputs]
'''


def _evaluator() -> list[str]:
    """The functions that compute numbers."""
    source = inspect.getsource(numbers)
    functions = source[source.index("_FUNCTIONS = ") :].rstrip()
    return [*functions.splitlines(), "", *_RESULTS.splitlines(), "", ""]

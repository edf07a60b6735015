"""A script that makes the formulas of a derivative by plain sympy calls, prints them and checks them on numbers."""

from __future__ import annotations

import builtins
import inspect
import keyword
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from ..closed_form.budget import predicted_operations
from ..closed_form.entries import entry_names
from ..closed_form.index_form import constant_names
from ..closed_form.symbols import safe_names
from ..program.program import Program
from . import header, module_check, python_source, sympy_values
from .naming import target_names
from .subject import Subject
from .sympy_code import MODULES, OF_WHOLE_ARRAYS, Code

if TYPE_CHECKING:
    from .sympy_objects import SympyObjects

#: numbers that the check computes one by one
_MOST_NUMBERS = 100_000
#: names that the script itself has
_OWN = ("np", "sys", "bindings", "outputs", "conditions", "known", "results", "shape", "_check", "_off", "_drawn")


def script(subject: Subject, made: SympyObjects) -> str:
    """The source of the script."""
    symbols = _symbols(made)
    reserved = {*keyword.kwlist, *dir(builtins), *dir(sympy), *dir(sympy_values), *np.__all__, *_OWN}
    function = target_names([subject.name], reserved, ascii=False)[0]
    reserved.add(function)
    names = dict(zip(symbols, target_names(symbols, reserved, ascii=False), strict=True))
    code = Code(names)
    body = _formulas(subject, made, code)
    evaluation = _function(subject, made, function, names, reserved)
    declared = _declarations(symbols, names, code)
    if _numbers(subject.guarded, made.kind) > _MOST_NUMBERS:
        subject = replace(subject, checked=lambda: "the arrays are too large for sums one element at a time")
    return "\n".join(
        [
            *header.python_comment(subject),
            f'"""{python_source.plain_label(subject.title[0].upper() + subject.title[1:])}, as formulas of sympy."""',
            "",
            "import itertools",
            "import sys",
            "",
            "import numpy as np",
            "import sympy",
            *_imports(code),
            "",
            *declared,
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


def _symbols(made: SympyObjects) -> dict[str, Any]:
    """Every symbol and array of the formulas by its name."""
    found: dict[str, Any] = {}
    formulas = [*made.outputs, *made.conditions, *[e for pair in made.bindings for e in pair], *made.inputs.values()]
    for formula in formulas:
        for base in [formula] if isinstance(formula, sympy.IndexedBase) else sorted(_bases(formula), key=str):
            found[str(base)] = base
    for formula in [*formulas, *[i for free in made.indices for i in free]]:
        hidden = {str(b) for b in _bases(formula)} | {str(f.args[0]) for f in _of_arrays(formula)}
        for symbol in sorted(_atoms(formula, sympy.Symbol), key=str):
            if symbol.name not in hidden and symbol.name not in found:
                found[symbol.name] = symbol
    return found


def _atoms(formula: Any, kind: Any) -> set:
    if hasattr(formula, "_array"):
        return set().union(*(e.atoms(kind) for e in formula._array))
    return formula.atoms(kind) if isinstance(formula, sympy.Basic) else set()


def _bases(formula: Any) -> set:
    return _atoms(formula, sympy.IndexedBase)


def _of_arrays(formula: Any) -> list[Any]:
    return [f for f in _atoms(formula, sympy.Function) if type(f).__name__ in OF_WHOLE_ARRAYS]


def _declarations(symbols: dict[str, Any], names: dict[str, str], code: Code) -> list[str]:
    rows = []
    for name, symbol in symbols.items():
        kind = type(symbol).__name__
        code.used[kind] = "sympy"
        assumed = symbol.label._assumptions_orig if kind == "IndexedBase" else symbol._assumptions_orig
        given = "".join(f", {k}={v}" for k, v in sorted(assumed.items()) if k != "commutative")
        rows.append(f"{names[name]} = {kind}({name!r}{given})")
    for name, module in sorted(code.used.items()):
        if not module:
            code.used["Function"] = "sympy"
            rows.append(f"{name} = Function({name!r}, real=True)")
    return rows


def _imports(code: Code) -> list[str]:
    rows = []
    for module in MODULES:
        used = sorted(name for name, source in code.used.items() if source == module)
        if used:
            rows.append(f"from {module} import {', '.join(used)}")
    return rows


def _formulas(subject: Subject, made: SympyObjects, code: Code) -> list[str]:
    """The lists of bindings, outputs and conditions."""

    def listed(name: str, comment: str, rows: list[str]) -> list[str]:
        return [f"{name} = [  # {comment}", *[f"    {row}," for row in rows], "]"] if rows else [f"{name} = []"]

    bound = [
        f"({code.doprint(a)}, {code.doprint(e)}, {_shape(n.shape, code)})"
        for (a, e), n in zip(made.bindings, subject.guarded.bindings, strict=False)
    ]
    outputs = []
    for free, formula, node in zip(made.indices, made.outputs, subject.program.outputs, strict=True):
        places = "(" + "".join(f"{code.doprint(i)}, " for i in free).rstrip() + ")"
        outputs.append(f"({places}, {code.array(formula)}, {_shape(node.shape, code)})")
    conditions = [code.doprint(c) for c in made.conditions]
    return [
        *listed("bindings", "what is bound, its formula, its shape", bound),
        *listed("outputs", "free indices, which count from 0, the formula, the shape", outputs),
        *listed("conditions", "the formulas hold where all of these do", conditions),
    ]


def _shape(shape: tuple, code: Code) -> str:
    return "(" + "".join(f"{d if isinstance(d, int) else code.doprint(d)}, " for d in shape).rstrip() + ")"


def _function(
    subject: Subject, made: SympyObjects, function: str, names: dict[str, str], reserved: set[str]
) -> list[str]:
    """The function that computes the result from arrays, element by element."""
    program = subject.program
    labels = list(made.inputs)[: len(program.inputs)]
    dims = {d: names.get(d.name, d.name) for d in python_source.dims_of(program)}
    arguments = target_names(labels, {*reserved, *dims.values()}, ascii=False)
    bases = safe_names(program.names)
    by_node = dict(zip(program.inputs, arguments, strict=True))
    rows = [f"{a} = np.asarray({a})" for a in arguments] + python_source.door(program, by_node, dims)
    rows.append("known = {}")
    if made.kind == "entries":
        for argument, entries in zip(arguments, entry_names(program), strict=True):
            rows.append(f"known.update(zip({entries!r}, {argument}.reshape(-1)))")
    else:
        rows += [
            f"known[{n!r}] = {a}" for n, a, i in zip(labels, arguments, program.inputs, strict=True) if not i.shape
        ]
    rows += [f"known['{n}[]'] = {a}" for n, a, i in zip(bases, arguments, program.inputs, strict=True) if i.shape]
    rows += [f"known['{n}[]'] = {python_source.array(v)}" for n, v in constant_names(program).items()]
    rows += [f"known[{d.name!r}] = {name}" for d, name in dims.items()]
    values = [f"results[{k}]" for k in range(len(program.outputs))]
    comments = [python_source.shape_text(n.shape) for n in program.outputs]
    nested = python_source.nested(subject, values, comments)
    body = [*rows, "results = _results(known)", f"return {nested[0]}", *nested[1:]]
    said = "The result for NumPy arrays, computed from the formulas one element after the other."
    shape_of = python_source.SHAPE_OF.strip().splitlines()
    needs_shape = any("_shape_of(" in row for row in rows)
    return [
        *([*shape_of, "", ""] if needs_shape else []),
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
    source = inspect.getsource(sympy_values)
    functions = source[source.index("_FUNCTIONS = ") :].rstrip()
    return [*functions.splitlines(), "", *_RESULTS.splitlines(), "", ""]

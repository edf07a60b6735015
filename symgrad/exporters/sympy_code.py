"""sympy's expressions as Python source that makes them."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable, Sequence
from typing import Any

import sympy
from sympy.core.function import AppliedUndef
from sympy.printing.str import StrPrinter

from ..closed_form.bound import OverIndices

#: where names are imported from; of two that fit the first one
_MODULES = ("sympy", "sympy.codegen.cfunctions", "sympy.codegen.numpy_nodes")


class Code(StrPrinter):
    """sympy's text of an expression, with symbols by their ``names`` in the source, and numbers as sympy's."""

    def __init__(self, names: dict[str, str]) -> None:
        super().__init__()
        self.names = names

    def _print(self, expr: Any, **kwargs: Any) -> str:
        if isinstance(expr, OverIndices):  # which print themselves otherwise, as arrays do
            name, *rest = expr.args
            return f"{type(expr).__name__}(Symbol({str(name)!r}), {', '.join(map(self._print, rest))})"
        if isinstance(expr, sympy.NDimArray):
            return f"Array([{', '.join(map(self._print, parts(expr)))}], {tuple(map(int, expr.shape))})"
        return super()._print(expr, **kwargs)

    def _print_Symbol(self, expr: Any) -> str:
        return self.names[expr.name]

    def _print_Float(self, expr: Any) -> str:
        return repr(float(expr))

    def _print_Rational(self, expr: Any) -> str:
        return f"S({expr.p})/{expr.q}"

    _print_Half = _print_Rational

    def tuple(self, values: Sequence[Any]) -> str:
        """A tuple of expressions, or of Python's numbers."""
        return "(" + "".join(f"{self.doprint(v)}, " for v in values).rstrip() + ")"


def parts(formula: Any) -> list[Any]:
    """The entries of an array of formulas; of any other formula itself; nothing of None."""
    if formula is None:
        return []
    return sympy.flatten(formula) if isinstance(formula, sympy.NDimArray) else [sympy.sympify(formula)]


def symbols_of(formulas: Iterable[Any]) -> dict[str, Any]:
    """The symbols of formulas by their names, the arrays first; what names a part of another thing is none."""
    found: dict[str, Any] = {}
    pending = list(formulas)
    while pending:
        e = pending.pop()
        if isinstance(e, (sympy.Symbol, sympy.IndexedBase)):
            found[str(e)] = e
        else:
            pending += e.args[1:] if isinstance(e, OverIndices) else e.args
    return dict(sorted(found.items(), key=lambda item: (item[1].is_Symbol, item[0])))


def named_functions(formulas: Iterable[Any]) -> list[str]:
    """The functions that sympy has no class for, which formulas only name."""
    return sorted({type(f).__name__ for e in formulas for f in e.atoms(AppliedUndef, OverIndices)})


def imports(source: str) -> list[str]:
    """The lines that import what ``source`` takes from sympy.

    >>> imports("y = sin(x) + log1p(S(1)/2)")
    ['from sympy import S, sin', 'from sympy.codegen.cfunctions import log1p']
    """
    names = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)]
    used = {n.id for n in names} - {n.id for n in names if isinstance(n.ctx, ast.Store)}
    rows = []
    for module in _MODULES:
        found = {name for name in used if hasattr(importlib.import_module(module), name)}
        used -= found
        rows += [f"from {module} import {', '.join(sorted(found))}"] if found else []
    return rows

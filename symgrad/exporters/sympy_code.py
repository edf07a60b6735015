"""sympy's expressions as Python source that makes them."""

from __future__ import annotations

from typing import Any

import sympy
from sympy.printing.str import StrPrinter

#: functions of symgrad's index form, which bind indices
OF_WHOLE_ARRAYS = ("ExtremumOver", "SearchOver", "OfMatrix")
#: where names are imported from; of two that fit the later one
MODULES = ("sympy", "sympy.codegen.cfunctions", "sympy.codegen.numpy_nodes")


class Code(StrPrinter):
    """sympy's text of an expression, with symbols by their ``names`` in the source.

    ``used`` are the names that the source needs, and the modules that they come from; undefined functions have none.
    """

    def __init__(self, names: dict[str, str]) -> None:
        super().__init__()
        self.names = names
        self.used: dict[str, str] = {}

    def _print(self, expr: Any, **kwargs: Any) -> str:
        if type(expr).__name__ in OF_WHOLE_ARRAYS:  # which print themselves otherwise
            return self._print_Function(expr)
        return super()._print(expr, **kwargs)

    def _print_Symbol(self, expr: Any) -> str:
        return self.names.get(expr.name, "")  # what a function of arrays computes is no symbol of the script

    def _print_Float(self, expr: Any) -> str:
        return repr(float(expr))

    def _print_Indexed(self, expr: Any) -> str:
        return f"{self.names[str(expr.base)]}[{', '.join(map(self._print, expr.indices))}]"

    def _print_Function(self, expr: Any) -> str:
        name = type(expr).__name__
        module = type(expr).__module__ or ""
        arguments = [self._print(a) for a in expr.args]
        if name in OF_WHOLE_ARRAYS:
            self.used["Symbol"] = "sympy"
            arguments[0] = f"Symbol({str(expr.args[0])!r})"
        self.used[name] = next((m for m in reversed(MODULES) if module.startswith(m)), "")
        return f"{name}({', '.join(arguments)})"

    _print_Max = _print_Min = _print_LatticeOp = _print_Mod = _print_Abs = _print_Function

    def _print_Piecewise(self, expr: Any) -> str:
        self.used["Piecewise"] = "sympy"
        return f"Piecewise({', '.join(f'({self._print(v)}, {self._print(c)})' for v, c in expr.args)})"

    def _called(self, expr: Any) -> str:
        name = {"Equality": "Eq", "Unequality": "Ne", "StrictLessThan": "Lt", "LessThan": "Le"}.get(
            type(expr).__name__, {"StrictGreaterThan": "Gt", "GreaterThan": "Ge"}.get(type(expr).__name__)
        ) or type(expr).__name__
        self.used[name] = "sympy"
        return f"{name}({', '.join(map(self._print, expr.args))})"

    _print_Relational = _print_And = _print_Or = _print_Not = _print_Xor = _print_ITE = _called
    _print_KroneckerDelta = _called

    def _over(self, expr: Any) -> str:
        name = type(expr).__name__
        self.used[name] = "sympy"
        limits = ", ".join(f"({', '.join(map(self._print, limit))})" for limit in expr.limits)
        return f"{name}({self._print(expr.function)}, {limits})"

    _print_Sum = _print_Product = _over

    def _print_BooleanTrue(self, expr: Any) -> str:
        return "True"

    def _print_BooleanFalse(self, expr: Any) -> str:
        return "False"

    def constant(self, name: str) -> str:
        self.used[name] = "sympy"
        return name

    def _print_NaN(self, expr: Any) -> str:
        return self.constant("nan")

    def _print_Infinity(self, expr: Any) -> str:
        return self.constant("oo")

    def _print_NegativeInfinity(self, expr: Any) -> str:
        return f"-{self.constant('oo')}"

    def _print_Pi(self, expr: Any) -> str:
        return self.constant("pi")

    def _print_Exp1(self, expr: Any) -> str:
        return self.constant("E")

    def array(self, formula: Any) -> str:
        """An expression, or an Array of them, which sympy's printer writes as a list."""
        if not isinstance(formula, sympy.NDimArray):
            return self.doprint(formula)
        self.used["Array"] = "sympy"
        entries: Any = formula
        return f"Array([{', '.join(map(self.doprint, entries._array))}], {tuple(map(int, entries.shape))})"

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        if abs(expr.exp) == sympy.S.Half:
            self.used["sqrt"] = "sympy"
        return super()._print_Pow(expr, rational)

    def _print_Integer(self, expr: Any) -> str:
        return str(expr.p)

    def _print_Rational(self, expr: Any) -> str:
        self.used["S"] = "sympy"
        return f"S({expr.p})/{expr.q}"

    _print_Half = _print_Rational

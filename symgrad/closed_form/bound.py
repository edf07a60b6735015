"""Functions of whole arrays in the index form, whose indices they bind: extrema, searches, functions of matrices."""

from __future__ import annotations

from typing import Any

import sympy


class ExtremumOver(sympy.Function):
    """``ExtremumOver(name, element, index, size)``: the largest or smallest element over an index."""

    nargs = (4,)

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """Those of the element and the size; the index is bound."""
        _, element, index, size = self.args
        return (element.free_symbols - {index}) | size.free_symbols

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        element, index, size = map(printer._print, self.args[1:])
        raised = "" if exp is None else f"^{{{exp}}}"
        return rf"\{self.args[0]}_{{{index} < {size}}}{raised} \left({element}\right)"

    def _sympystr(self, printer: Any) -> str:
        name, element, index, size = self.args
        return f"{name}({printer._print(element)} for {printer._print(index)} < {printer._print(size)})"


class SearchOver(sympy.Function):
    """``SearchOver(name, element, index, size, *place)``: where in a row of elements something stands.

    ``index`` is bound and runs over ``size``. The place is the position of an ``argsort``, the value that
    ``searchsorted`` looks for; ``argmax`` and ``argmin`` have none.
    """

    is_integer = True
    is_nonnegative = True

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """Those of the element, the size and the place; the index is bound."""
        _, element, index, *rest = self.args
        return (element.free_symbols - {index}).union(*(r.free_symbols for r in rest))

    def _row(self, printer: Any) -> str | None:
        """The array, where its elements in order are the row."""
        _, element, index, *_ = self.args
        if not isinstance(element, sympy.Indexed) or element.indices[-1] != index:
            return None
        stack: Any = element.indices[:-1]
        if any(i.has(index) for i in stack):
            return None
        base: Any = element.base
        return printer._print(base[stack] if stack else base.label)

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        element, index, size, *place = map(printer._print, self.args[1:])
        name = str(self.args[0])
        row = self._row(printer) or rf"\left[{element}\right]_{{{index} < {size}}}"
        if name in ("argmax", "argmin"):
            made = rf"\operatorname{{{name}}}_{{{index} < {size}}} \left({element}\right)"
        elif name == "argsort":
            made = rf"\operatorname{{{name}}}\left({row}\right)_{{{place[0]}}}"
        else:
            sign = "<" if name.endswith("left") else r"\leq"
            made = rf"\#\left\{{{index} < {size} : {element} {sign} {place[0]}\right\}}"
        return made if exp is None else rf"\left({made}\right)^{{{exp}}}"

    def _sympystr(self, printer: Any) -> str:
        name = str(self.args[0])
        element, index, size, *place = map(printer._print, self.args[1:])
        row = self._row(printer) or f"{element} for {index} < {size}"
        if name.startswith("searchsorted"):
            side = name.partition("_")[2]
            return f"searchsorted({row}, {place[0]}{', right' if side == 'right' else ''})"
        return f"{name}({row})" + "".join(f"[{p}]" for p in place)


class OfMatrix(sympy.Function):
    """``OfMatrix(name, element, row, column, size, *place)``: a function of the matrix of all elements.

    ``row`` and ``column`` are bound and run over ``size``; with a ``place`` it is one entry of the result.
    """

    is_real = True

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """Those of the element, the size and the place; row and column are bound."""
        _, element, row, column, *rest = self.args
        return (element.free_symbols - {row, column}).union(*(r.free_symbols for r in rest))

    def _whole(self, printer: Any) -> str | None:
        """The matrix where it is an array, at the indices of the stack, or all entries of another function."""
        _, element, row, column, *_ = self.args
        if isinstance(element, OfMatrix) and element.args[5:] == (row, column):
            return printer._print(element.func(*element.args[:5]))
        if not isinstance(element, sympy.Indexed) or element.indices[-2:] != (row, column):
            return None
        stack: Any = element.indices[:-2]
        if any(i.has(row, column) for i in stack):
            return None
        base: Any = element.base
        return printer._print(base[stack] if stack else base.label)

    def _sympystr(self, printer: Any) -> str:
        name, element, row, column, size, *place = self.args
        body = self._whole(printer)
        if body is None:
            p, q, n = map(printer._print, (row, column, size))
            body = f"{printer._print(element)} for {p}, {q} < {n}"
        return f"{name}({body})" + (f"[{', '.join(map(printer._print, place))}]" if place else "")

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        name, element, row, column, size, *place = self.args
        body = self._whole(printer)
        if body is None:
            p, q, n = map(printer._print, (row, column, size))
            body = rf"\left[{printer._print(element)}\right]_{{{p},{q} < {n}}}"
        indices = ",".join(map(printer._print, place))
        if str(name) == "inv":
            whole = rf"\left({{{body}}}^{{-1}}\right)" + (f"_{{{indices}}}" if place else "")
        else:
            whole = rf"\operatorname{{{name}}}\left({body}\right)" + (f"_{{{indices}}}" if place else "")
        return whole if exp is None else rf"{{{whole}}}^{{{exp}}}"

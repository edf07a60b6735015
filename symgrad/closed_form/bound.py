"""Functions of whole arrays in the index form, whose indices they bind: extrema, searches, functions of matrices."""

from __future__ import annotations

from typing import Any

import sympy


class OverIndices(sympy.Function):
    """``(name, element, *indices, size, *place)``: a function of all elements, at indices that run over ``size``.

    With a ``place`` it is one entry of the result.
    """

    #: of the elements that it takes, an index each
    axes = 1

    def parts(self) -> tuple[str, Any, tuple, Any, tuple]:
        """The name, without that of the decomposition, the element, its indices, the size and the place."""
        name, element, *rest = self.args
        return (
            str(name).rpartition(".")[2],
            element,
            tuple(rest[: self.axes]),
            rest[self.axes],
            tuple(rest[self.axes + 1 :]),
        )

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """Those of the element, the size and the place; the indices are bound."""
        _, element, indices, size, place = self.parts()
        return (element.free_symbols - {*indices}).union(size.free_symbols, *(p.free_symbols for p in place))

    def _whole(self, printer: Any) -> str | None:
        """The array of the elements where it has a name, at the indices of the stack, or another such function."""
        _, element, indices, *_ = self.parts()
        if isinstance(element, OverIndices) and element.parts()[-1] == indices:
            return printer._print(element.func(*element.args[: 3 + element.axes]))
        if not isinstance(element, sympy.Indexed) or element.indices[-self.axes :] != indices:
            return None
        base: Any = element.base
        stack: Any = element.indices[: -self.axes]
        if any(i.has(*indices) for i in stack):
            return None
        return printer._print(base[stack] if stack else base.label)

    def _over(self, printer: Any, separator: str = ", ") -> str:
        _, _, indices, size, _ = self.parts()
        return f"{separator.join(map(printer._print, indices))} < {printer._print(size)}"

    def _row(self, printer: Any) -> str:
        return self._whole(printer) or f"{printer._print(self.args[1])} for {self._over(printer)}"

    def _row_latex(self, printer: Any) -> str:
        whole = self._whole(printer)
        return whole or rf"\left[{printer._print(self.args[1])}\right]_{{{self._over(printer, ',')}}}"

    def _sympystr(self, printer: Any) -> str:
        name, *_, place = self.parts()
        entry = ", ".join(map(printer._print, place))
        return f"{name}({self._row(printer)})" + (f"[{entry}]" if entry else "")

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        name, element, _, _, place = self.parts()
        made = self._latex_of(printer, name, printer._print(element), [*map(printer._print, place)])
        return made if exp is None else rf"{{{made}}}^{{{exp}}}"

    def _latex_of(self, printer: Any, name: str, element: str, place: list[str]) -> str:
        raise NotImplementedError


class ExtremumOver(OverIndices):
    """``ExtremumOver(name, element, index, size)``: the largest or smallest element over an index."""

    def _latex_of(self, printer: Any, name: str, element: str, place: list[str]) -> str:
        return rf"\{name}_{{{self._over(printer)}}} \left({element}\right)"

    def _row(self, printer: Any) -> str:
        return f"{printer._print(self.args[1])} for {self._over(printer)}"


class SearchOver(OverIndices):
    """``SearchOver(name, element, index, size, *place)``: where in a row of elements something stands.

    The place is the position of an ``argsort``, the value that ``searchsorted`` looks for; the others have none.
    """

    is_integer = True
    is_nonnegative = True

    def _latex_of(self, printer: Any, name: str, element: str, place: list[str]) -> str:
        over = self._over(printer)
        if name in ("argmax", "argmin"):
            return rf"\operatorname{{{name}}}_{{{over}}} \left({element}\right)"
        if name == "argsort":
            return rf"\operatorname{{{name}}}\left({self._row_latex(printer)}\right)_{{{place[0]}}}"
        sign = "<" if name.endswith("left") else r"\leq"
        return rf"\#\left\{{{over} : {element} {sign} {place[0]}\right\}}"

    def _sympystr(self, printer: Any) -> str:
        name, _, side = str(self.args[0]).partition("_")
        if name != "searchsorted":
            return super()._sympystr(printer)
        right = ", right" if side == "right" else ""
        return f"{name}({self._row(printer)}, {printer._print(self.parts()[-1][0])}{right})"


class OfMatrix(OverIndices):
    """``OfMatrix(name, element, row, column, size, *place)``: a function of the matrix of all elements.

    A factor is named behind its decomposition: ``eigh.V``. The size of a matrix that is not square is that of both
    axes.
    """

    axes = 2
    is_real = True

    def _latex_of(self, printer: Any, name: str, element: str, place: list[str]) -> str:
        body = self._row_latex(printer)
        sign = rf"\{name}" if name in ("lambda", "sigma") else name if len(name) == 1 else rf"\operatorname{{{name}}}"
        whole = rf"\left({{{body}}}^{{-1}}\right)" if name == "inv" else rf"{sign}\left({body}\right)"
        return whole + (f"_{{{','.join(place)}}}" if place else "")


class OfComplexMatrix(OfMatrix):
    """The same, of which nobody knows that it is real."""

    is_real = None


class Applied(OverIndices):
    """``Applied(name, place, *operands)``: an element of what a function gives that nobody looks into.

    ``place`` is a tuple of indices. An operand is a number, or ``(element, (index, size), …)`` for an array.
    """

    is_real = True

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """Those of the place, of numbers and elements, and of sizes; the indices of elements are bound."""
        args: Any = self.args
        _, place, *operands = args
        found = set(place.free_symbols)
        for element, bound in map(_opened, operands):
            found |= element.free_symbols - {index for index, _ in bound}
            found = found.union(*(size.free_symbols for _, size in bound))
        return found

    def _sympystr(self, printer: Any) -> str:
        args: Any = self.args
        name, place, *operands = args
        made = f"{name}({', '.join(_operand(o, printer, '{} for {}') for o in operands)})"
        return f"{made}[{', '.join(map(printer._print, place))}]" if place.args else made

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        args: Any = self.args
        name, place, *operands = args
        inside = ", ".join(_operand(o, printer, r"\left[{}\right]_{{{}}}") for o in operands)
        made = rf"\operatorname{{{name!s}}}".replace("_", r"\_") + rf"\left({inside}\right)"
        if place.args:
            made += f"_{{{','.join(map(printer._print, place))}}}"
        return made if exp is None else rf"{{{made}}}^{{{exp}}}"


class AppliedComplex(Applied):
    """The same, of which nobody knows that it is real."""

    is_real = None


def _opened(operand: Any) -> tuple[Any, list[Any]]:
    """The element of an operand, with its indices and their sizes."""
    if not isinstance(operand, sympy.Tuple):
        return operand, []
    parts: Any = operand.args
    return parts[0], [tuple(bound) for bound in parts[1:]]


def _operand(operand: Any, printer: Any, listed: str) -> str:
    """An operand: the name of an array where it has one, or its elements."""
    element, bound = _opened(operand)
    if not bound:
        return printer._print(element)
    indices = tuple([index for index, _ in bound])
    if isinstance(element, sympy.Indexed) and element.indices[-len(indices) :] == indices:
        base: Any = element.base
        stack = element.indices[: -len(indices)]
        if not any(i.has(*indices) for i in stack):
            return printer._print(base[stack] if stack else base.label)
    over = ", ".join([f"{printer._print(index)} < {printer._print(size)}" for index, size in bound])
    return listed.format(printer._print(element), over)

"""Matrix expressions as NumPy code: ``2 / X.shape[0] * X.T @ (X @ w - y)``.

Vectors are one-dimensional in NumPy, columns and rows alike, so ``a @ b`` is their product and ``np.outer`` the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from ...primitives.elementwise import TEMPLATES
from ...primitives.selection import as_index
from .expression import Expression
from .terms import NotExpressible

_SUM, _PRODUCT, _ATOM = range(3)
_SPELLED = {
    "sigmoid": ("1 / (1 + np.exp(-{}))", _PRODUCT),
    "relu": ("np.maximum({}, 0)", _ATOM),
    "step": ("np.heaviside({}, 0.5)", _ATOM),
    "tie": ("np.where({} == {}, 0.5, 1.0)", _ATOM),
    "power": ("({}) ** ({})", _PRODUCT),
}
_CALLED = {
    "inverse": "np.linalg.inv({})",
    "det": "np.linalg.det({})",
    "logdet": "np.linalg.slogdet({})[1]",
    "trace": "np.trace({})",
    "diag": "np.diag({})",
    "diagonal": "np.diagonal({})",
    "total": "np.sum({})",
    "vec": "np.ravel({})",
}


class NumPyCode:
    """Writes expressions; ``dims`` spells named dims, ``names`` are given to parts."""

    def __init__(self, names: Mapping[Expression, str], dims: Mapping[Any, str]) -> None:
        self._given = names
        self._dims = {d: sympy.Symbol(spelled) for d, spelled in dims.items()}

    def __call__(self, x: Expression, opened: bool = False) -> str:
        """The code of ``x``; ``opened`` writes what a given name stands for."""
        return self._written(x, opened)[0]

    def reshaped(self, code: str, shape: Sequence[Any]) -> str:
        """The array of this shape whose rows and columns ``code`` counts row by row."""
        return f"np.reshape({code}, ({', '.join(map(self._of, shape))}))"

    def _written(self, x: Expression, opened: bool = False) -> tuple[str, int]:
        if x in self._given and not opened:
            return self._given[x], _ATOM
        if x.op in _CALLED:
            return _CALLED[x.op].format(self(x.args[0])), _ATOM
        return getattr(self, f"_{x.op}")(x)

    def _atom(self, x: Expression) -> str:
        code, precedence = self._written(x)
        return code if precedence == _ATOM else f"({code})"

    def _of(self, value: Any) -> str:
        named = {sympy.pi: sympy.Symbol("np.pi"), sympy.E: sympy.Symbol("np.e")}
        text = str(sympy.sympify(value).xreplace(self._dims | named))
        return re.sub(r"\b(sqrt|log|exp)\(", r"np.\1(", text)

    def _leaf(self, x: Expression) -> tuple[str, int]:
        return x.data, _ATOM

    def _number(self, x: Expression) -> tuple[str, int]:
        return self._of(x.data), _ATOM if x.data.is_Atom and x.data.is_nonnegative else _SUM

    def _identity(self, x: Expression) -> tuple[str, int]:
        return f"np.eye({self._of(x.rows)})", _ATOM

    def _ones(self, x: Expression) -> tuple[str, int]:
        return f"np.ones({self._of(x.rows)})", _ATOM

    def _all_ones(self, x: Expression) -> tuple[str, int]:
        return f"np.ones(({self._of(x.rows)}, {self._of(x.columns)}))", _ATOM

    def _zero(self, x: Expression) -> tuple[str, int]:
        sizes = [self._of(d) for d in (x.rows, x.columns) if d != 1]
        return f"np.zeros(({', '.join(sizes)}{',' * (len(sizes) == 1)}))", _ATOM

    def _sum(self, x: Expression) -> tuple[str, int]:
        code = ""
        for k, a in enumerate(x.args):
            piece = self._written(a)[0] if a.op != "sum" or a in self._given else self._atom(a)
            negative = piece.startswith("-")
            code += f" {'-' if negative else '+'} {piece.removeprefix('-')}" if k else piece
        return code, _SUM

    def _scaled(self, x: Expression) -> tuple[str, int]:
        cut = len(x.args) - 1 - x.data[1]
        value = x.data[0]
        factors = [self._atom(a) for a in x.args[:cut]]
        body = x.args[-1]
        if not (body.op == "number" and body.data == 1):
            whole = body.op == "product" and body not in self._given and not self._is_outer(body)
            factors.append(self(body) if whole else self._atom(body))
        sign = "-" if value.could_extract_minus_sign() else ""
        value = abs(value) if value.is_number else -value if sign else value
        written = self._of(value)
        if written != "1" or not factors:
            factors.insert(0, f"({written})" if value.is_Add else written)
        code = " * ".join(factors)
        if x.data[1] and "@" in code:
            code = f"({code})"
        return sign + "".join([code, *(f" / {self._atom(a)}" for a in x.args[cut:-1])]), _SUM if sign else _PRODUCT

    def _is_outer(self, x: Expression) -> bool:
        return any(a.columns == 1 for a in x.args[:-1])

    def _product(self, x: Expression) -> tuple[str, int]:
        cuts = [k for k, a in enumerate(x.args[:-1], 1) if a.columns == 1]  # a column before a row
        if not cuts:
            return self._chain(x.args), _PRODUCT
        return f"np.outer({self._chain(x.args[: cuts[0]])}, {self(self._rest(x.args[cuts[0] :]))})", _ATOM

    def _rest(self, args: Sequence[Expression]) -> Expression:
        return args[0] if len(args) == 1 else Expression("product", tuple(args), None, args[0].rows, args[-1].columns)

    def _chain(self, args: Sequence[Expression]) -> str:
        return " @ ".join(self._atom(a) for a in args) if len(args) > 1 else self(args[0])

    def _transpose(self, x: Expression) -> tuple[str, int]:
        (a,) = x.args
        if a.rows == 1 or a.columns == 1:
            return self._written(a)
        return self._atom(a) + ".T", _ATOM

    def _power(self, x: Expression) -> tuple[str, int]:
        exponent = str(x.data) if x.data.denominator == 1 else f"({x.data})"
        return f"{self._atom(x.args[0])} ** {exponent}", _PRODUCT

    def _hadamard(self, x: Expression) -> tuple[str, int]:
        cut = len(x.args) - x.data
        top = " * ".join(self._atom(a) for a in x.args[:cut])
        return "".join([top, *(f" / {self._atom(a)}" for a in x.args[cut:])]), _PRODUCT

    def _function(self, x: Expression) -> tuple[str, int]:
        inside = list(map(self, x.args))
        if x.data in _SPELLED:
            pattern, precedence = _SPELLED[x.data]
            if x.data in ("sigmoid", "tie"):
                inside = list(map(self._atom, x.args))
            return pattern.format(*inside), precedence
        function = TEMPLATES[x.data].ufunc
        if getattr(np, function.__name__, None) is not function:
            raise NotExpressible
        return f"np.{function.__name__}({', '.join(inside)})", _ATOM

    def _norm(self, x: Expression) -> tuple[str, int]:
        norm = f"np.linalg.norm({self(x.args[0])})"
        return (norm, _ATOM) if x.data == 1 else (f"{norm} ** {x.data}", _PRODUCT)

    def _kron(self, x: Expression) -> tuple[str, int]:
        return f"np.kron({', '.join(map(self._two_dimensional, x.args))})", _ATOM

    def _two_dimensional(self, x: Expression) -> str:
        return (
            self(x) if x.rows != 1 and x.columns != 1 else self._atom(x) + ("[:, None]" if x.columns == 1 else "[None]")
        )

    def _softmax(self, x: Expression) -> tuple[str, int]:
        inside, axis = self(x.args[0]), self._axis(x)
        reduced = f"np.logaddexp.reduce({inside}{axis and axis + ', keepdims=True'})"
        return f"np.exp({inside if x.args[0].op != 'sum' else f'({inside})'} - {reduced})", _ATOM

    def _logsumexp(self, x: Expression) -> tuple[str, int]:
        return f"np.logaddexp.reduce({self(x.args[0])}{self._axis(x)})", _ATOM

    def _reduction(self, x: Expression) -> tuple[str, int]:
        return f"np.{x.data[0]}({self(x.args[0])}{self._axis(x)})", _ATOM

    def _axis(self, x: Expression) -> str:
        axes = x.data[1] if x.op == "reduction" else x.data
        if x.args[0].columns == 1 or x.args[0].rows == 1:
            return ""
        return f", axis={axes[0] if len(axes) == 1 else None}"

    def _commutation(self, x: Expression) -> tuple[str, int]:
        m, n = map(self._of, x.data)
        turned = f"np.eye({m} * {n}).reshape({m}, {n}, {m}, {n}).swapaxes(0, 1)"
        return f"{turned}.reshape({m} * {n}, {m} * {n})", _ATOM

    def _slice(self, x: Expression) -> tuple[str, int]:
        index = []
        for e in as_index(x.data):
            parts = [e.start, e.stop, e.step] if isinstance(e, slice) else [e]
            index.append(":".join("" if p is None else self._of(p) for p in parts))
        return f"{self._atom(x.args[0])}[{', '.join(index)}]", _ATOM

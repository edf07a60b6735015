"""from_sympy and from_latex: derivatives of expressions that people already have."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy
from sympy.concrete.expr_with_limits import ExprWithLimits

from ..closed_form.reading.latex_reader import read_latex, read_name
from ..closed_form.reading.matrices import Matrices
from ..closed_form.reading.walk import check, computed, refused, spelled
from ..closed_form.symbols import safe_names
from ..compiled import Shapes
from ..errors import ArgumentError, ArgumentTypeError, mistakes
from ..named_dims import named
from ..tracebacks import briefly
from ..tracing.trace import as_node, current
from ..tracing.tree import flatten
from .derived import DerivedFunction
from .gradient import GradientFunction
from .jacobian import JacobianFunction


class Expression:
    """A sympy expression as a function of arrays: ``arguments`` in order, each with the ``names`` it is passed by."""

    def __init__(self, expr: Any, arguments: Sequence[Any]) -> None:
        self.expr = expr
        self.arguments = list(arguments)
        self.names = _argument_names([a.name for a in arguments])
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in self.names])
        self.__name__ = "expression"

    def __call__(self, *values: Any) -> Any:
        """The value; NaN where it is not real."""
        sizes: dict[str, Any] = {}
        known: dict[Any, Any] = {}
        for argument, value in zip(self.arguments, values, strict=True):
            if isinstance(argument, sympy.MatrixSymbol):
                shape = as_node(value).shape if current() is not None else np.shape(value)
                _fit(argument, shape, sizes)
            known[argument] = value
        for dim in {s for a in self.arguments if isinstance(a, sympy.MatrixSymbol) for s in _dims(a)}:
            if dim not in known and dim.name in sizes:
                known[dim] = _size(values, self.arguments, dim)
        plans = Matrices(sizes)
        (made,) = computed([self.expr], known, plans)
        if isinstance(self.expr, sympy.MatrixExpr) and not _is_array(self.expr):
            return made[0, 0]
        return float(made) if type(made) in (int, bool) else made

    def __repr__(self) -> str:
        return f"<{spelled(self.expr)}>"


def _argument_names(labels: Sequence[str]) -> list[str]:
    return [f"{name}_" if keyword.iskeyword(name) else name for name in safe_names(labels)]


def _dims(matrix: Any) -> set[Any]:
    return {s for d in matrix.shape for s in d.free_symbols}


def _fit(matrix: Any, shape: tuple, sizes: dict[str, Any]) -> None:
    """Note what the named sizes of ``matrix`` are where it is an array of this shape."""
    if len(shape) != 2:
        raise ArgumentError(f"{matrix} is a matrix of shape {matrix.shape}; it got an array of shape {shape}.")
    for d, size in zip(matrix.shape, shape, strict=True):
        if d.is_Symbol:
            sizes.setdefault(d.name, size)


def _size(values: Sequence[Any], arguments: Sequence[Any], dim: Any) -> Any:
    """A named size as a number, from an array that has it."""
    for value, argument in zip(values, arguments, strict=True):
        if isinstance(argument, sympy.MatrixSymbol) and dim in argument.shape:
            return value.shape[argument.shape.index(dim)]
    raise AssertionError(dim)


class _OfExpression(DerivedFunction):
    """A derivative of an expression; all of its arguments may be passed by name."""

    kind = "derivative"
    positions: tuple[int, ...]

    @property
    def expr(self) -> Any:
        """The expression, as it was read."""
        return self._expression.expr

    @property
    def _expression(self) -> Expression:
        fn: Any = self.fn
        return getattr(fn, "_fn", fn)

    def _in_order(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """All arguments, in order."""
        if not kwargs:
            return args, kwargs
        names = self._expression.names
        unknown = next((n for n in kwargs if n not in names), None)
        twice = next((n for n in names[: len(args)] if n in kwargs), None)
        missing = next((n for n in names[len(args) :] if n not in kwargs), None)
        wrong = (
            (unknown and f"there is no {unknown}")
            or (twice and f"{twice} is passed twice")
            or (missing and f"{missing} is missing")
        )
        if wrong:
            raise ArgumentTypeError(f"{wrong}: the arguments are {', '.join(names)}, in this order or by name.")
        return (*args, *(kwargs[n] for n in names[len(args) :])), {}

    def _shapes_of(self, args: tuple, kwargs: dict[str, Any]) -> Shapes | None:
        """As of functions; without arguments an expression is one of numbers."""
        if not args and not kwargs and self.declaration is None:
            args = ("",) * len(self._expression.names)
        return super()._shapes_of(args, kwargs)

    @property
    def _has_formulas(self) -> bool:
        is_of_numbers = not any(isinstance(a, sympy.MatrixSymbol) for a in self._expression.arguments)
        return is_of_numbers or super()._has_formulas

    def __repr__(self) -> str:
        by = ", ".join(str(self._expression.arguments[p]) for p in self.positions)
        return f"<the {self.kind} of {spelled(self.expr)} by {by}>"


class ExpressionGradient(_OfExpression, GradientFunction):
    """The gradient of an expression of one number; made by ``from_sympy`` and ``from_latex``."""

    kind = "gradient"


class ExpressionJacobian(_OfExpression, JacobianFunction):
    """The Jacobian of an expression of an array; made by ``from_sympy`` and ``from_latex``."""

    kind = "Jacobian"


@briefly
def from_sympy(expr: Any, wrt: Any) -> Any:
    """The gradient of a sympy expression by ``wrt``: a derivative like that of a function, compiled and shown.

    ``wrt`` is a symbol, a name, or a list of them; for a list the result is a tuple. The arguments are what it is taken
    by, in order, then the other symbols sorted by name; all may be passed by name. Numbers or arrays, the expression is
    one of each element. For a Matrix or an Array of expressions it is the Jacobian; each ``MatrixSymbol`` is
    an argument of two axes, whose named sizes are named dims. Arithmetic is real: NaN where sympy would be complex.

    Nothing is evaluated as code: the expression is walked. Raises UnsupportedOperation with the subexpression for what
    has no counterpart (I, integrals, unknown functions), ArgumentError for names that are not there.

    >>> import sympy
    >>> x, y = sympy.symbols("x y")
    >>> g = from_sympy(x**2 * sympy.sin(y), [x, y])
    >>> g
    <the gradient of x**2*sin(y) by x, y>
    >>> g(3.0, y=0.0)
    (np.float64(0.0), np.float64(9.0))
    >>> from_sympy(x**2 * sympy.sin(y), x).closed_form()
    2*x*sin(y)
    >>> A, b = sympy.MatrixSymbol("A", 3, 3), sympy.MatrixSymbol("b", 3, 1)
    >>> from_sympy(b.T * A * b, b).closed_form(form="matrix")
    (A + Aᵀ)b
    """
    with mistakes("from_sympy"):
        return _derivative(_as_expression(expr), wrt, "from_sympy")


def _derivative(expr: Any, wrt: Any, caller: str) -> Any:
    found = _symbols(expr)
    chosen = _chosen(wrt, found, caller)
    if not chosen:
        raise ArgumentError(f"{caller}: wrt names no symbol.")
    rest = sorted((s for s in found if s not in chosen), key=lambda s: s.name)
    arguments = [*chosen, *rest]
    alike = next((s for k, s in enumerate(arguments) for t in arguments[:k] if s.name == t.name), None)
    if alike is not None:
        raise ArgumentError(f"{caller}: two different symbols are called {alike.name}; rename one (expr.subs).")
    sizes = {d for a in arguments if isinstance(a, sympy.MatrixSymbol) for d in _dims(a)}
    check([expr], [*arguments, *sizes], Matrices({}))
    function = _declared(Expression(expr, arguments))
    bare = not isinstance(wrt, (list, tuple, set, frozenset))
    positions = tuple(range(len(chosen)))
    if _is_array(expr):
        return ExpressionJacobian(function, positions[0] if bare else positions, False, "auto", "auto")
    return ExpressionGradient(function, positions, None, bare_inputs=bare, bare_weights=False)


@briefly
def from_latex(text: str, wrt: Any) -> Any:
    r"""The gradient of an expression in LaTeX by ``wrt``, as ``from_sympy`` makes it; ``.expr`` is what was read.

    Variables are single letters, Greek letters and ``\mathit{names}``, with an index (``x_{max}`` is called
    ``x_max``, and ``\theta`` is ``theta``; ``wrt`` takes either). ``e`` and ``\pi`` are the numbers unless ``wrt``
    names them, ``\log`` is natural. What has two meanings is refused, with the place and what to write:
    ``\sin x y``, ``1/2x``, ``x^10``; ``x^T`` and ``e^{i x}`` unless ``wrt`` names the letter; and ``a(b)`` unless
    ``wrt`` names ``a``, which then is a factor.

    >>> g = from_latex(r"\frac{1}{2} k x^2 + e^{-x}", "x")
    >>> g
    <the gradient of k*x**2/2 + exp(-x) by x>
    >>> g(0.0, k=3.0)
    np.float64(-1.0)
    >>> from_latex("x^10", "x")
    Traceback (most recent call last):
    symgrad.errors.ArgumentError: from_latex: TeX raises the first digit alone; write ^{10}, at character 3:
        x^10
          ^^
    """
    bare = not isinstance(wrt, (list, tuple))
    listed = [read_name(w) if isinstance(w, str) else w for w in ([wrt] if bare else wrt)]
    expr = _as_expression(read_latex(text, frozenset(str(w) for w in listed)))
    return _derivative(expr, listed[0] if bare else listed, "from_latex")


def _as_expression(expr: Any) -> Any:
    if isinstance(expr, np.ndarray):
        expr = expr.tolist()
    if isinstance(expr, (list, tuple)):
        if any(isinstance(e, str) for e in flatten(expr)[0]):
            raise ArgumentTypeError("from_sympy: expr holds text; pass sympy expressions, or LaTeX to from_latex.")
        expr = sympy.ImmutableDenseNDimArray(expr)
    if isinstance(expr, sympy.matrices.MatrixBase):
        expr = sympy.ImmutableMatrix(expr)
    if isinstance(expr, sympy.NDimArray):
        expr = sympy.ImmutableDenseNDimArray(expr)
    if not isinstance(expr, (sympy.Basic, int, float)) or isinstance(expr, bool):
        raise ArgumentTypeError(f"from_sympy: expr must be a sympy expression, got a {type(expr).__name__}.")
    expr = sympy.sympify(expr)
    if isinstance(expr, (sympy.core.relational.Relational, sympy.logic.boolalg.Boolean)) and not expr.is_Symbol:
        raise refused(expr, "a condition has no derivative", "Pass an expression with a number as its value.")
    return expr


def _is_array(expr: Any) -> bool:
    if isinstance(expr, (sympy.NDimArray, sympy.matrices.MatrixBase)):
        return True
    return isinstance(expr, sympy.MatrixExpr) and expr.shape != (1, 1)


def _symbols(expr: Any) -> list[Any]:
    """The arguments of an expression: its symbols and matrices, without the names of sizes."""
    found: dict[Any, None] = {}
    sizes: set[Any] = set()
    seen: set[Any] = set()
    pending = [expr]
    while pending:
        e = pending.pop()
        if e in seen:
            continue
        seen.add(e)
        if isinstance(e, sympy.MatrixSymbol):
            found[e] = None
            sizes |= _dims(e)
        elif e.is_Symbol:
            found[e] = None
        elif isinstance(e, (sympy.Identity, sympy.ZeroMatrix, sympy.OneMatrix)):
            sizes |= _dims(e)
        elif isinstance(e, (sympy.NDimArray, sympy.matrices.MatrixBase)):
            pending += sympy.flatten(e)
        elif isinstance(e, (ExprWithLimits, sympy.Lambda, sympy.Subs)):  # which bind symbols
            pending += e.free_symbols
        else:
            pending += [a for a in e.args if isinstance(a, sympy.Basic)]
    return [s for s in found if s not in sizes]


def _chosen(wrt: Any, found: Sequence[Any], caller: str) -> list[Any]:
    """What ``wrt`` means among the symbols of the expression."""
    by_name: dict[str, Any] = {s.name: s for s in found}
    chosen = []
    for w in wrt if isinstance(wrt, (list, tuple)) else [wrt]:
        if isinstance(w, str):
            if w not in by_name:
                known = ", ".join(sorted(by_name)) or "none"
                raise ArgumentError(f"{caller}: the expression has no symbol {w!r}; it has {known}.")
            w = by_name[w]
        elif not isinstance(w, (sympy.Symbol, sympy.MatrixSymbol)):
            raise ArgumentTypeError(f"{caller}: wrt must be symbols or their names, got {spelled(w)}.")
        w = by_name.get(w.name, w)
        if w in chosen:
            raise ArgumentError(f"{caller}: wrt names {w} twice.")
        chosen.append(w)
    return chosen


def _declared(function: Expression) -> Any:
    """The function with the sizes of its matrices as named dims, where they are names and numbers."""
    matrices = [a for a in function.arguments if isinstance(a, sympy.MatrixSymbol)]
    dims: list[Any] = [d for m in matrices for d in m.shape]
    if not matrices or not all(d.is_Integer or (d.is_Symbol and d.name.isidentifier()) for d in dims):
        return function
    shapes = [" ".join(map(str, a.shape)) if a in matrices else "" for a in function.arguments]
    return named(function, **dict(zip(function.names, shapes, strict=True)))

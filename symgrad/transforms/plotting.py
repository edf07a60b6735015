"""plot: a function and its derivatives over a line or a plane, drawn with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError
from ..kernels.sparsity import new_axes
from ..tracing.tree import flatten
from .products import SymbolicFunction

if TYPE_CHECKING:
    from .derived import DerivedFunction

#: lines that one function is drawn with, and arrows along a side of a plane
_MAX_LINES, _MAX_ARROWS = 10, 20
#: a function, and its derivatives in order
_STYLES = ("-", "--", ":", "-.")


def plot(derived: DerivedFunction, *args: Any, axes: Any = None, **kwargs: Any) -> Any:
    """Draw the function and its derivative where arguments have points in place of a value; gives the axes.

    The arguments are those of a call, but for what is differentiated by. For a number that is an array of points: the
    function is a line over it, and so is each derivative up to this one. For two numbers it is an array for each, and
    for an array of two elements a pair of them: then numbers are contours (filled for what is derived last), and arrays
    of two are arrows, as a gradient is.

    Draws on ``axes``, or on a new figure of matplotlib. Raises ArgumentError for what is neither a line nor a
    plane, and for results of other shapes; MissingPart where there is no matplotlib.

    >>> import numpy as np, symgrad
    >>> axes = symgrad.grad(lambda x: x * np.exp(-x)).plot(np.linspace(0.0, 5.0, 100))
    >>> len(axes.lines), axes.get_xlabel()
    (2, '$x$')
    >>> field = symgrad.grad(lambda x: np.sum(x**2)).plot((np.linspace(-1.0, 1.0, 20), np.linspace(-2.0, 2.0, 20)))
    >>> field.get_xlabel(), field.get_ylabel()
    ('$x_{0}$', '$x_{1}$')
    """
    ranged = _Ranged(derived, args, kwargs)
    is_line = len(ranged.points) == 1
    layers = _lines(ranged) if is_line else _fields(ranged)
    axes = new_axes("plot") if axes is None else axes
    (_draw_lines if is_line else _draw_fields)(axes, ranged, layers)
    return axes


class _Ranged:
    """A derivative with points in place of some of its arguments: ``points`` along a line, or along both sides."""

    def __init__(self, derived: DerivedFunction, args: tuple, kwargs: dict[str, Any]) -> None:
        self.derived, self._args, self._kwargs = derived, args, kwargs
        positions = getattr(derived, "positions", None)
        if positions is None:
            positions = [k for k, a in enumerate(args) if _is_points(a) or _is_pair(a)]
        self._positions = [p for p in positions if p < len(args)]
        given = [args[p] for p in self._positions]
        self._is_pair = len(given) == 1 and _is_pair(given[0])
        self.points = [np.asarray(p, float) for p in (given[0] if self._is_pair else given)]
        if not 1 <= len(self.points) <= 2 or not all(map(_is_points, self.points)):
            raise ArgumentError(
                f"{derived.__name__}.plot: in place of what it is differentiated by, pass an array of two points or "
                "more for a number, one for each of two numbers, or a pair of them for an array of two elements."
            )

    def _at(self, numbers: Sequence[float]) -> tuple:
        """The arguments at one of the points."""
        args = list(self._args)
        own = [np.array(numbers)] if self._is_pair else map(np.float64, numbers)
        for p, value in zip(self._positions, own, strict=True):
            args[p] = value
        return tuple(args)

    def names(self) -> list[str]:
        """The arguments that range, as mathematics."""
        from ..closed_form.latex import symbol_latex  # slow to import

        names = self.derived._argument_names(len(self._args), self._kwargs)
        of = [symbol_latex(names[p]) for p in self._positions]
        return [f"{of[0]}_{{{k}}}" for k in range(2)] if self._is_pair else of

    def functions(self) -> list[tuple[str, Callable]]:
        """The function and its derivatives up to this one, with what they are called."""
        chain: list[Any] = [self.derived]
        while chain[-1] is not self.derived.underlying and not isinstance(chain[-1], SymbolicFunction):
            chain.append(chain[-1].fn)
        *derivatives, value = chain
        first = self._at([p[0] for p in self.points])
        made = [(fn.labels(fn._entry(first, self._kwargs)), fn) for fn in reversed(derivatives)]
        named = [(labels[-1 if _with_value(fn) else 0].replace(r"\frac", r"\dfrac"), fn) for labels, fn in made]
        return [("f", value), *named]

    def values(self, fn: Callable) -> np.ndarray:
        """A function at all points: an axis for each side, then those of its result."""
        sides = tuple(len(p) for p in self.points)
        grid = np.stack(np.meshgrid(*self.points, indexing="ij"), axis=-1).reshape(-1, len(sides))
        with np.errstate(all="ignore"):  # where it is not finite it is left blank
            found = [_array_of(fn, fn(*self._at(numbers), **self._kwargs), self.derived) for numbers in grid.tolist()]
        return np.array(found).reshape(*sides, *found[0].shape)


def _is_points(given: Any) -> bool:
    shape = np.shape(given) if isinstance(given, (np.ndarray, list)) else ()
    return len(shape) == 1 and shape[0] >= 2


def _is_pair(given: Any) -> bool:
    return isinstance(given, (tuple, list)) and len(given) == 2 and all(_is_points(np.asarray(p)) for p in given)


def _with_value(fn: Any) -> bool:
    return getattr(fn, "with_value", False)


def _array_of(fn: Any, result: Any, derived: DerivedFunction) -> np.ndarray:
    """The numbers of a result, those by several arguments one behind another."""
    if _with_value(fn):
        result = result[1]
    elif getattr(fn, "has_aux", False) or (fn is derived.underlying and getattr(derived, "has_aux", False)):
        result = result[0]
    leaves = [np.asarray(leaf) for leaf in flatten(result)[0]]
    if not leaves or any(leaf.dtype.kind not in "fiub" for leaf in leaves):
        raise ArgumentError(f"{derived.__name__}.plot draws real numbers, and there are others.")
    if len(leaves) == 1:
        return leaves[0].astype(float)
    return np.concatenate([leaf.astype(float).ravel() for leaf in leaves])


def _lines(ranged: _Ranged) -> list[tuple[str, np.ndarray]]:
    """The function and its derivatives along the line."""
    layers = [(label, ranged.values(fn)) for label, fn in ranged.functions()]
    most = max(math.prod(values.shape[1:]) for _, values in layers)
    if most > _MAX_LINES:
        raise ArgumentError(f"{ranged.derived.__name__}.plot: {most} elements over a line are more than {_MAX_LINES}.")
    return layers


def _draw_lines(axes: Any, ranged: _Ranged, layers: Sequence[tuple[str, np.ndarray]]) -> None:
    """A color for each function; where they have several elements, for each of these."""
    several = any(values.ndim > 1 for _, values in layers)
    for order, (label, values) in enumerate(layers):
        for k, place in enumerate(np.ndindex(values.shape[1:])):
            name = rf"\left({label}\right)_{{{','.join(map(str, place))}}}" if place else label
            color, style = (k, _STYLES[order % len(_STYLES)]) if several else (order, "-")
            axes.plot(ranged.points[0], values[:, *place], style, color=f"C{color}", label=f"${name}$")
    axes.set_xlabel(f"${ranged.names()[0]}$")
    axes.legend()


def _fields(ranged: _Ranged) -> list[tuple[str, np.ndarray]]:
    """The derivative and the value in the plane."""
    value, *_, derivative = [ranged.functions()[0], *ranged.functions()]
    layers = [(label, ranged.values(fn)) for label, fn in dict.fromkeys((derivative, value))]
    shapes = [found.shape[2:] for _, found in layers]
    if not set(shapes) <= {(), (2,)} or shapes == [(2,), (2,)]:
        raise ArgumentError(
            f"{ranged.derived.__name__}.plot: over a plane it draws numbers, and arrays of two as arrows; the results "
            f"have shapes {' and '.join(map(str, shapes))}."
        )
    return layers


def _draw_fields(axes: Any, ranged: _Ranged, layers: Sequence[tuple[str, np.ndarray]]) -> None:
    """Numbers are contours, the first of them filled, and arrays of two are arrows."""
    x, y = ranged.points
    is_filled = False
    for label, values in layers:
        found = np.ma.masked_invalid(values)
        if found.ndim == 3:
            every = [max(1, len(p) // _MAX_ARROWS) for p in (x, y)]
            arrows = found[:: every[0], :: every[1]].T
            axes.quiver(x[:: every[0]], y[:: every[1]], *arrows, angles="xy", zorder=3)
        elif is_filled:
            axes.contour(x, y, found.T, colors="black", linewidths=0.7)
        else:
            is_filled = True
            axes.figure.colorbar(axes.contourf(x, y, found.T, levels=20), ax=axes, label=f"${label}$")
    axes.set(**{f"{side}label": f"${name}$" for side, name in zip("xy", ranged.names(), strict=True)})

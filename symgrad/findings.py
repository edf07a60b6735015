"""What every node holds for the arguments at hand, and where values stop being finite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .errors import SymgradError
from .kernels.explanation import operation
from .primitives.elementwise import Elementwise
from .program.interpret import evaluated, stepwise
from .program.node import Node
from .program.program import Program

#: elements beyond which a node is not computed: a kernel may never build it
_LARGEST = 1 << 26
#: elements of an array that is kept whole, to be shown
_SHOWN = 36
_HEAD = 6
#: functions whose infinities come of large operands, not of a pole
_GROWING = {"exp", "exp2", "expm1", "sinh", "cosh", "square", "add", "subtract", "multiply", "logaddexp"}
_INFIX = {"add": "+", "subtract": "−", "multiply": "·", "divide": "/", "power": "**", "float_power": "**"}


@dataclass(frozen=True)
class Finding:
    """What a node holds: the first elements, the range of the finite ones, how many are NaN or infinite.

    ``origin`` says what went wrong: where ``first``, finite operands gave what is not finite; else infinite ones NaN.
    ``reaches`` is whether the result is spoiled by it.
    """

    shape: tuple
    sample: np.ndarray
    low: float | None
    high: float | None
    nans: int = 0
    infinities: int = 0
    origin: str = ""
    first: bool = False
    reaches: bool = False

    @property
    def finite(self) -> bool:
        return not self.nans and not self.infinities

    @property
    def text(self) -> str:
        """The value, long ones cut.

        >>> found(np.arange(100.0)).text
        '[0, 1, 2, 3, 4, 5, … 100 elements]'
        """
        formatter: Any = dict.fromkeys(("float_kind", "complex_kind"), lambda v: number(v, 6))
        shown = np.array2string(self.sample, threshold=_SHOWN, separator=", ", formatter=formatter)
        size = int(np.prod(self.shape))
        return shown if self.sample.size == size else f"{shown[:-1]}, … {size} elements]"

    @property
    def span(self) -> str:
        """A scalar's value, an array's range; a few characters.

        >>> found(np.array([0.5, np.inf])).span
        '0.5 … 0.5, inf'
        """
        parts = []
        if self.low is not None and self.high is not None:
            alike = self.low == self.high and self.finite
            parts.append(number(self.low) if alike else f"{number(self.low, 3)} … {number(self.high, 3)}")
        parts += [word for word, count in (("NaN", self.nans), ("inf", self.infinities)) if count]
        return ", ".join(parts)


def number(value: Any, digits: int = 4) -> str:
    """A number in a few characters, with a real minus sign.

    >>> number(-0.123456), number(True)
    ('−0.1235', 'True')
    """
    return str(bool(value)) if isinstance(value, (bool, np.bool_)) else f"{value:.{digits}g}".replace("-", "−")


def found(value: Any) -> Finding:
    """What there is to say about one value."""
    array = np.asarray(value)
    sample = array.copy() if array.size <= _SHOWN else np.array(array.flat[:_HEAD])
    if not array.size:
        return Finding(array.shape, sample, None, None)
    if array.dtype.kind == "b":
        return Finding(array.shape, sample, bool(array.min()), bool(array.max()))
    if array.dtype.kind not in "fc":
        return Finding(array.shape, sample, int(array.min()), int(array.max()))
    kept = np.isfinite(array)
    if array.dtype.kind == "c":  # which has no range
        nans = int(np.isnan(array).sum())
        return Finding(array.shape, sample, None, None, nans, array.size - int(kept.sum()) - nans)
    if kept.all():
        return Finding(array.shape, sample, float(array.min()), float(array.max()))
    nans = int(np.isnan(array).sum())
    infinities = array.size - int(kept.sum()) - nans
    finite = array[kept]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (None, None)
    return Finding(array.shape, sample, low, high, nans, infinities)


def findings(program: Program, arrays: Sequence[Any]) -> dict[Node, Finding]:
    """What each node holds, computed by NumPy one after the other; those too large to compute are left out.

    >>> import symgrad
    >>> program = symgrad.trace(lambda x: np.sum(np.log(x)), np.ones(2))
    >>> [f.origin for f in findings(program, [np.array([1.0, 0.0])]).values() if f.origin]
    ['log of 0 at [1]']
    """
    values: dict[Node, Any] = dict(zip(program.inputs, arrays, strict=True))
    made: dict[Node, Finding] = {}
    with np.errstate(all="ignore"):
        for node, operands in stepwise(program, values, _computed):
            value = values[node]
            if isinstance(value, _Failure):
                values[node] = None
                made[node] = Finding(tuple(node.shape), np.empty(0), None, None, nans=1, origin=value.text, first=True)
            elif value is not None:
                finding = found(value)
                if not finding.finite:
                    origin, first = _origin(node, operands, value)
                    finding = replace(finding, origin=origin, first=first)
                made[node] = finding
    return _with_reach(program, made)


@dataclass(frozen=True)
class _Failure:
    """Why a value cannot be had, where that is the arguments' fault."""

    text: str


def _computed(node: Node, operands: list[Any]) -> Any:
    """The value, None where it cannot be had."""
    if node.primitive.name in ("input", "dim") or any(v is None for v in operands):
        return None
    if not node.is_leaf and int(np.prod(node.shape, dtype=object)) > _LARGEST:
        return None
    try:
        return evaluated(node, operands)
    except (ArithmeticError, LookupError, ValueError, SymgradError) as error:
        return _Failure(f"{node.primitive.name}: {error}")


def _with_reach(program: Program, made: dict[Node, Finding]) -> dict[Node, Finding]:
    """The findings, each that spoils the result marked."""
    spoiling = {n for n in program.outputs if n in made and not made[n].finite}
    for node in reversed(program.nodes):
        if node in spoiling:
            spoiling.update(o for o in node.operands if o in made and not made[o].finite)
    return {n: replace(f, reaches=True) if n in spoiling else f for n, f in made.items()}


def _origin(node: Node, operands: list[Any], value: Any) -> tuple[str, bool]:
    """What made finite operands infinite or NaN, then True, or infinite ones NaN; empty where nothing did."""
    array = np.asarray(value)
    if not operands:
        places = ~np.isfinite(array)
        held = "NaN" if np.isnan(array[places][0]) else "inf"
        return f"{node.primitive.name} holds {held}{places_text(places)}", True
    if isinstance(node.primitive, Elementwise) or _is_product(node):
        spread = [np.broadcast_to(np.asarray(v), array.shape) for v in operands]
        tame = np.logical_and.reduce([np.isfinite(v) for v in spread])
        known = np.logical_and.reduce([~np.isnan(v) for v in spread])
        for places, first in ((~np.isfinite(array) & tame, True), (np.isnan(array) & known, False)):
            if places.any():
                at = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(places)))[: array.ndim]
                return _said(node, [v[at] for v in spread], array[at]) + places_text(places), first
        return "", False
    arrays = [np.asarray(v) for v in operands]
    if all(np.isfinite(v).all() for v in arrays):
        return f"{operation(node)} overflows" + places_text(~np.isfinite(array)), True
    if np.isnan(array).any() and not any(np.isnan(v).any() for v in arrays):
        return f"inf − inf or 0 · inf inside {operation(node)}" + places_text(np.isnan(array)), False
    return "", False


def _is_product(node: Node) -> bool:
    """True for an einsum that multiplies element by element."""
    labels = node.params[0] if node.primitive.name == "einsum" else ()
    return bool(labels) and all(ls in ((), node.params[1]) for ls in labels)


def _said(node: Node, operands: list[Any], value: Any) -> str:
    """One element's calculation in words: ``log of 0``, ``1 / 0``, ``exp of 1000 overflows``."""
    name = node.primitive.name
    told = [number(v) for v in operands]
    sign = "·" if name == "einsum" else _INFIX.get(name)
    if sign and len(told) > 1:
        text = f" {sign} ".join([told[0], *(f"({t})" if t.startswith("−") else t for t in told[1:])])
    else:
        text = f"{name} of {', '.join(told)}"
    pole = operands[-1] == 0 if name == "divide" else operands[0] == 0 if sign == "**" else sign != "·"
    grows = name in _GROWING or not pole
    return f"{text} overflows" if np.isinf(value) and grows and np.isfinite(operands).all() else text


def places_text(places: np.ndarray) -> str:
    """The first place that is marked, and how many there are, as the end of a sentence.

    >>> places_text(np.array([False, True, True]))
    ' at [1] and 1 more'
    """
    count = int(np.count_nonzero(places))
    if not places.ndim:
        return ""
    first = ", ".join(str(int(k[0])) for k in np.nonzero(places))
    return f" at [{first}]" + (f" and {count - 1} more" if count > 1 else "")

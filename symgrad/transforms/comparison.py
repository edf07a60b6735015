"""Two functions compared at points: where they agree, where they differ, where they are not defined."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ArgumentError, SymgradError
from ..tracing.tree import flatten, unflatten
from .sample_points import Point

#: how far numbers of so many bytes may be apart, relative to themselves, and to the largest of their array
_CLOSE = {8: (1e-7, 1e-10), 4: (2e-3, 1e-5), 2: (5e-2, 1e-2)}
#: how much farther at large and small arguments, where rounding is amplified
_EXTREME = 1e4
#: points with differences after which more would not say more
_ENOUGH = 8


@dataclass(frozen=True)
class Counterexample:
    """Arguments at which two functions differ: what each gives, and the largest difference, NaN for an undefined one.

    ``place`` is the index of that difference in the array number ``output`` of the result.
    """

    args: tuple
    kwargs: dict[str, Any]
    left: Any
    right: Any
    difference: float
    output: int
    place: tuple[int, ...]
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        named = zip(self.names, (*self.args, *self.kwargs.values()), strict=False)
        given = ", ".join(f"{name} = {_short(v)}" for name, v in named)
        left, right = (np.asarray(flatten(v)[0][self.output]) for v in (self.left, self.right))
        if left.shape != right.shape:
            return f"at {given}: shape {left.shape} and shape {right.shape}"
        where = f" at [{', '.join(map(str, self.place))}]" if self.place else ""
        which = f" of result {self.output}" if len(flatten(self.left)[0]) > 1 else ""
        return f"{left[self.place]:.6g} and {right[self.place]:.6g}{where}{which}, for {given}"


@dataclass(frozen=True)
class Equality:
    """Whether two functions agree; true or false in an ``if``.

    ``how`` says how that was decided. ``symbolic`` is true where algebra has proved it; otherwise they agree at
    ``points`` points to within ``largest``, which is no proof. ``counterexample`` is where they differ. ``notes`` are
    what else was seen, such as points at which they are not defined.
    """

    equal: bool
    how: str
    symbolic: bool
    points: int
    largest: float
    counterexample: Counterexample | None = None
    notes: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.equal

    def __repr__(self) -> str:
        word = "equal" if self.equal and self.symbolic else "agree" if self.equal else "differ"
        lines = [f"{word if self.equal or self.counterexample else 'undecided'}: {self.how}"]
        if self.counterexample is not None:
            lines.append(f"  {self.counterexample!r}")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])


class Comparison:
    """What was seen at the points so far."""

    def __init__(self, left: Callable[..., Any], right: Callable[[Point], Any], names: Sequence[str]) -> None:
        """``names`` are those of the arguments."""
        self._left = left
        self._right = right
        self._names = tuple(names)
        self._count = 0
        self._largest = 0.0
        self._undefined = 0
        self._apart: dict[str, Counterexample] = {}
        self._times: dict[str, int] = {}

    @property
    def is_settled(self) -> bool:
        """True where more points would not say more."""
        return self._times.get("general", 0) >= _ENOUGH

    @property
    def is_refuted(self) -> bool:
        """True where values differ at points where nothing is special."""
        return "general" in self._apart or "undefined" in self._apart

    def add(self, point: Point) -> None:
        """Compare at one point."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)
            left = self._value(self._left, point)
            right = self._other_value(point)
        if left is None and right is None:
            self._undefined += 1
            return
        if left is None or right is None:
            known = flatten(right if left is None else left)[0]
            nothing = unflatten(
                flatten(right if left is None else left)[1], [np.full(np.shape(v), np.nan) for v in known]
            )
            left, right = (nothing if v is None else v for v in (left, right))
        ours, theirs = flatten(left)[0], flatten(right)[0]
        if len(ours) != len(theirs):
            raise ArgumentError(f"equals: one result holds {len(ours)} arrays, and the other {len(theirs)}.")
        compared = False
        with np.errstate(all="ignore"):
            for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                compared |= self._compare(point, k, np.asarray(a), np.asarray(b), left, right)
        self._count += compared
        self._undefined += not compared

    def _value(self, function: Callable, point: Point) -> Any:
        try:
            return function(*point.args, **point.kwargs)
        except (np.linalg.LinAlgError, ArithmeticError):
            return None

    def _other_value(self, point: Point) -> Any:
        try:
            return self._right(point)
        except (np.linalg.LinAlgError, ArithmeticError):
            return None
        except SymgradError:
            raise
        except ValueError as error:
            if "domain" in str(error):  # of Python's own math
                return None
            raise ArgumentError(f"equals: the other function fails: {type(error).__name__}: {error}") from error
        except Exception as error:
            raise ArgumentError(f"equals: the other function fails: {type(error).__name__}: {error}") from error

    def _compare(self, point: Point, output: int, a: np.ndarray, b: np.ndarray, left: Any, right: Any) -> bool:
        """Compare one array; True where some element is defined on both sides."""
        if a.shape != b.shape:
            self._note(
                "general", Counterexample(point.args, point.kwargs, left, right, np.inf, output, (), self._names)
            )
            return True
        if a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub":
            raise ArgumentError(f"equals: results of dtype {a.dtype} and {b.dtype} are not compared.")
        bytes_ = min((v.dtype.itemsize for v in (a, b) if v.dtype.kind == "f"), default=8)
        relative, beside = _CLOSE[min(max(bytes_, 2), 8)]
        loose = _EXTREME if point.kind == "extreme" else 1.0
        a, b = a.astype(np.float64), b.astype(np.float64)
        both = np.isfinite(a) & np.isfinite(b)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        scale = float(np.max(np.maximum(np.abs(a), np.abs(b)), where=both, initial=0.0))
        off = np.where(both, np.abs(a - b), 0.0)
        beyond = off > loose * (relative * np.maximum(np.abs(a), np.abs(b)) + beside * scale)
        beyond &= both
        if beyond.any():
            place = tuple(int(k) for k in np.unravel_index(np.argmax(np.where(beyond, off, -1.0)), a.shape))
            found = Counterexample(point.args, point.kwargs, left, right, float(off[place]), output, place, self._names)
            self._note(point.kind, found)
        elif both.any():
            self._largest = max(self._largest, float(off.max()) / max(1.0, scale))
        apart = ~both & ~same
        if apart.any():
            place = tuple(int(k) for k in np.unravel_index(np.argmax(apart), a.shape))
            found = Counterexample(point.args, point.kwargs, left, right, np.nan, output, place, self._names)
            self._note({"extreme": "far", "special": "hole"}.get(point.kind, "undefined"), found)
        return bool(both.any() or (same & ~np.isnan(a)).any() or not a.size)

    def _note(self, kind: str, found: Counterexample) -> None:
        self._times[kind] = self._times.get(kind, 0) + 1
        known = self._apart.get(kind)
        if known is None or _weight(found) < _weight(known):
            self._apart[kind] = found

    def decided(self, proved: bool) -> Equality:
        """What follows from all points, and from a proof that the formulas are the same."""
        apart, times, count = self._apart, self._times, self._count
        notes = [f"neither is defined at {self._undefined} more points"] if self._undefined else []
        if "far" in apart:
            notes.append(f"far out only one is defined: {apart['far']!r}")

        def differ(kind: str, how: str) -> Equality:
            return Equality(False, how, False, count, apart[kind].difference, apart[kind], notes)

        if "general" in apart:
            return differ("general", f"at {times['general']} of {count} points")
        if "undefined" in apart:
            return differ("undefined", "one is defined where the other is not")
        if "hole" in apart:
            notes.append(f"at special values only one is defined: {apart['hole']!r}")
        rare = [k for k in ("special", "extreme") if k in apart]
        if proved:
            notes += [f"though in floating point: {apart[k]!r}" for k in rare]
            return Equality(
                True, "the difference of the formulas simplifies to 0", True, count, self._largest, None, notes
            )
        if rare:
            where = "very large or small values" if rare == ["extreme"] else "special values, such as zeros and ties"
            others = count - sum(times[k] for k in rare)
            return differ(rare[0], f"only at {where}; they agree at {max(others, 0)} other points")
        if not count:
            return Equality(False, "no point was found at which both are defined", False, 0, np.nan, None, notes)
        how = f"at {count} points to {self._largest:.1e}, which is no proof"
        return Equality(True, how, False, count, self._largest, None, notes)


def _weight(found: Counterexample) -> float:
    """Small for a counterexample that is easy to read: few elements, moderate numbers."""
    leaves = [
        np.asarray(v, float) for v in flatten((found.args, found.kwargs))[0] if np.asarray(v).dtype.kind in "fiub"
    ]
    return sum(v.size for v in leaves) + 0.01 * sum(float(np.sum(np.abs(v))) for v in leaves)


def _short(value: Any) -> str:
    return np.array2string(np.asarray(value), precision=4, threshold=8, edgeitems=2, separator=", ").replace("\n", "")

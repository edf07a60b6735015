"""Two functions compared at points: where they agree, where they differ, where they are not defined."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ArgumentError, SymgradError
from ..program.forks import cached_property
from ..tracing.tree import flatten, unflatten
from .positions import data_of
from .sample_points import Point

#: how far numbers of so many bytes may be apart, relative to the largest of their array, whatever is computed
_CLOSE = {8: 1e-10, 4: 2e-5, 2: 2e-2}
#: how much farther at large and small arguments
_EXTREME = 1e4
#: and how many times what rounding moves them
_ROUNDINGS = 4.0
#: how far, relative to themselves, where a function cannot be traced, so nothing says how it rounds
_UNKNOWN = {8: 1e-7, 4: 2e-3, 2: 5e-2}
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
        left, right = (np.asarray(data_of(v)[0][self.output]) for v in (self.left, self.right))
        if left.shape != right.shape:
            return f"at {given}: shape {left.shape} and shape {right.shape}"
        where = f" at [{', '.join(map(str, self.place))}]" if self.place else ""
        which = f" of result {self.output}" if len(data_of(self.left)[0]) > 1 else ""
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

    def __init__(
        self,
        left: Callable[..., Any],
        right: Callable[[Point], Any],
        names: Sequence[str],
        rounding: Callable[[Point], Sequence[np.ndarray] | None] = lambda _: None,
    ) -> None:
        """``names`` are those of the arguments; ``rounding`` is how far rounding moves the results at a point.

        It is None where that is not known.
        """
        self._left = left
        self._right = right
        self._rounding = rounding
        self._names = tuple(names)
        self._count = 0
        self._largest = 0.0
        self._undefined = 0
        self._chance = 0
        self._blurred = 0.0
        self._guessed = 0.0
        self._apart: dict[str, Counterexample] = {}
        self._times: Counter[str] = Counter()

    @property
    def is_settled(self) -> bool:
        """True where more points would not say more."""
        return self._times["general"] >= _ENOUGH

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
            known, structure = data_of(right if left is None else left)
            nothing = unflatten(structure, [np.full(np.shape(v), np.nan) for v in known])
            left, right = (nothing if v is None else v for v in (left, right))
        ours, theirs = data_of(left)[0], data_of(right)[0]
        if len(ours) != len(theirs):
            raise ArgumentError(f"equals: one result holds {len(ours)} arrays, and the other {len(theirs)}.")
        compared = False
        kinds: set[str] = set()
        rounding = _Rounding(self._rounding, point, len(ours))
        with np.errstate(all="ignore"):
            for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                found, defined = self._compare(point, k, np.asarray(a), np.asarray(b), left, right, rounding)
                compared |= defined
                kinds |= found
        self._times.update(kinds)
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

    def _compare(
        self, point: Point, output: int, a: np.ndarray, b: np.ndarray, left: Any, right: Any, rounding: _Rounding
    ) -> tuple[set[str], bool]:
        """Compare one array: the kinds of differences; and whether some element is defined on both sides."""
        kinds: set[str] = set()

        def note(kind: str, difference: float, place: tuple[int, ...]) -> None:
            kinds.add(kind)
            found = Counterexample(point.args, point.kwargs, left, right, difference, output, place, self._names)
            known = self._apart.get(kind)
            if known is None or _weight(found) < _weight(known):
                self._apart[kind] = found

        if a.shape != b.shape:
            note("general", np.inf, ())
            return kinds, True
        if a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub":
            raise ArgumentError(f"equals: results of dtype {a.dtype} and {b.dtype} are not compared.")
        bytes_ = min(max(min((v.dtype.itemsize for v in (a, b) if v.dtype.kind == "f"), default=8), 2), 8)
        a, b = a.astype(np.float64), b.astype(np.float64)
        both = np.isfinite(a) & np.isfinite(b)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        sizes = np.where(both, np.maximum(np.abs(a), np.abs(b)), 0.0)
        scale = max(float(np.max(np.abs(v), where=np.isfinite(v), initial=0.0)) for v in (a, b))
        off = np.where(both, np.abs(a - b), 0.0)
        loose = _EXTREME if point.kind == "extreme" else 1.0
        allowed = _CLOSE[bytes_] * loose * scale
        if point.kind == "extreme":  # where one underflows and the other not yet
            allowed += float(np.finfo(f"f{bytes_}").tiny) ** 0.5
        beyond = off > allowed
        if beyond.any():
            moved = rounding.of(output, a.shape)
            explained = _UNKNOWN[bytes_] * loose * sizes
            if moved is not None:
                explained = _ROUNDINGS * moved
            unexplained = off > allowed + explained
            hidden = float(np.max(off / sizes, where=beyond & ~unexplained, initial=0.0))
            if moved is None:
                self._guessed = max(self._guessed, hidden)
            else:
                self._blurred = max(self._blurred, hidden)
            beyond = unexplained
        if beyond.any():
            place = tuple(int(k) for k in np.unravel_index(np.argmax(np.where(beyond, off, -1.0)), a.shape))
            note(point.kind, float(off[place]), place)
        elif both.any():
            self._largest = max(self._largest, float(np.max(off, where=off <= allowed, initial=0.0)) / max(1.0, scale))
        apart = ~both & ~same
        if apart.any() and (moved := rounding.of(output, a.shape)) is not None:
            self._chance += bool((apart & np.isinf(moved)).any())
            apart &= np.isfinite(moved)
        if apart.any():
            place = tuple(int(k) for k in np.unravel_index(np.argmax(apart), a.shape))
            note({"extreme": "far", "special": "hole"}.get(point.kind, "undefined"), np.nan, place)
        return kinds, bool(both.any() or (same & ~np.isnan(a)).any() or not a.size)

    def decided(self, proved: bool) -> Equality:
        """What follows from all points, and from a proof that the formulas are the same."""
        apart, times, count = self._apart, self._times, self._count
        notes = [f"neither is defined at {self._undefined} more points"] if self._undefined else []
        if self._blurred:
            notes.append(f"differences of up to {self._blurred:.0e} are no larger than rounding explains there")
        if self._chance:
            notes.append("at some points it is for rounding to say whether they are defined, which tells nothing")
        if self._guessed:
            apart_by = f"they are apart by up to {self._guessed:.0e}"
            notes.append(f"{apart_by}, which may be rounding: the other function cannot be traced")
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


class _Rounding:
    """What rounding does at one point, computed where it is asked for."""

    def __init__(self, known: Callable[[Point], Sequence[np.ndarray] | None], point: Point, count: int) -> None:
        self._known = known
        self._point = point
        self._count = count

    @cached_property
    def _all(self) -> Sequence[np.ndarray] | None:
        found = self._known(self._point)
        return found if found is not None and len(found) == self._count else None

    def of(self, output: int, shape: tuple[int, ...]) -> np.ndarray | None:
        """How far each element of an output may have been moved; None where it is not known."""
        if self._all is None or self._all[output].shape != shape:
            return None
        return self._all[output]


def _weight(found: Counterexample) -> float:
    """Small for a counterexample that is easy to read: few elements, moderate numbers."""
    leaves = [
        np.asarray(v, float) for v in flatten((found.args, found.kwargs))[0] if np.asarray(v).dtype.kind in "fiub"
    ]
    return sum(v.size for v in leaves) + 0.01 * sum(float(np.sum(np.abs(v))) for v in leaves)


def _short(value: Any) -> str:
    return np.array2string(np.asarray(value), precision=4, threshold=8, edgeitems=2, separator=", ").replace("\n", "")

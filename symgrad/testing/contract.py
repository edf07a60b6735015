"""Does a function keep the contract? It is run plainly and traced, and what differs is told.

The contract is ``docs/contract.md``. Each run is in a process of its own, from the same state, so that effects can be
compared, and none is left.
"""

from __future__ import annotations

import html
import io
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiled import CompiledFunction
from ..errors import SymgradError, place
from ..finite_differences import differences
from ..program.interpret import evaluated, walk
from ..program.node import Node, ancestors
from ..signature import called_name
from ..tracing.bytecode.places import line_that_names
from ..tracing.guards import Guards
from ..tracing.local_names import code_of, watching
from ..tracing.provenance import SourceLine
from ..tracing.trace import as_followed
from ..tracing.tree import flatten, unflatten
from ..tracing.walk import Walk
from ..transforms.positions import checked_function
from ..transforms.products import jvp, symbolic
from .apart import apart
from .content import Content, codes_of, content_of, difference, state_of_function

#: the rules of the contract, as they are headed there
VALUES = "Values and slopes are those of the plain function"
ONE_RUN = "One run"
ARGUMENTS = "Arguments keep what they share"
REFUSED = "What is refused"
YOURS = "What is your part"
#: names by which code reads what no guard sees -> what that is
_UNSEEN = {
    "getrecursionlimit": "the recursion limit",
    "isenabled": "whether the collector of garbage is at work",
    **dict.fromkeys(("localeconv", "getlocale", "strxfrm", "strcoll"), "the locale"),
    **dict.fromkeys(("get_option", "option_context"), "options of pandas"),
    "filters": "the filters of warnings",
    "from_address": "memory behind a pointer",
}
#: how far values may be apart, relative to the largest: kernels add in another order than NumPy
_CLOSE = 1e-10
#: how far slopes may be apart, and in float32
_SLOPES, _SINGLE = 1e-5, 5e-3
#: inputs that are tried beside the given ones, and how far from them
_NEAR, _FAR = 2, 0.01
#: dtypes in which little is left of differences
_LOW = tuple(map(np.dtype, (np.float16, np.float32, np.complex64)))
_PRINTED = "what it prints"


@dataclass(frozen=True)
class Breach:
    """What differs between a function and what is traced of it, at which line, and the rule that it concerns."""

    what: str
    rule: str
    line: SourceLine | None = None

    def __str__(self) -> str:
        where = f"\n    at {place(*self.line)}: {self.line.text}" if self.line is not None else ""
        return f"- {self.what}{where}\n    contract: {self.rule}"


@dataclass(frozen=True)
class Contract:
    """What ``check`` has found: no ``breaches`` where the function keeps the contract, as far as was looked."""

    name: str
    breaches: tuple[Breach, ...]
    looked: str

    @property
    def kept(self) -> bool:
        return not self.breaches

    def __str__(self) -> str:
        head = f"{self.name} {'keeps' if self.kept else 'does not keep'} the contract: {self.looked}."
        return "\n".join([head, *map(str, self.breaches)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def check(fn: Callable, *args: Any, **kwargs: Any) -> Contract:
    """Whether symgrad sees all of ``fn(*args, **kwargs)``: what differs between it and what is traced of it.

    The function runs plainly and traced, twice at the given arguments and twice at others near to them. Values, types,
    errors, and all that the function changes (its arguments, globals, attributes, what it prints) are compared, and
    slopes with finite differences. Each run is in a process of its own, so that nothing of this is left but what the
    function writes into files; where the system has no ``fork``, it is left, and such functions differ more.

    >>> print(check(lambda x: np.sum(x * np.sin(x)), np.ones(3)))
    f keeps the contract: 6 calls compared, slopes at 3 points.
    >>> def f(x):
    ...     print("called")
    ...     return x * x
    >>> print(check(f, 2.0))  # doctest: +ELLIPSIS
    f does not keep the contract: 6 calls compared, slopes at 3 points.
    - call 2 changes what it prints in the plain function alone.
        at ...: print("called")
        contract: What is your part
    """
    checked_function(fn)
    points = _points(args)
    calls = [point for point in points for _ in range(2)]
    plain = apart(lambda: _calls(fn, fn, calls, kwargs))
    traced = apart(lambda: _calls(fn, symbolic(fn), calls, kwargs))
    found = _Findings(fn)
    found.compare(plain, traced)
    if found.differs_in_value and found.is_by_chance(plain, apart(lambda: _calls(fn, fn, calls, kwargs))):
        return Contract(called_name(fn), tuple(found.breaches), "two plain runs from the same state differ")
    if found.differs_in_value:
        line = apart(lambda: _first_line(fn, args, kwargs))
        found.set_line(SourceLine(*line) if line else None)
    slopes = 0
    if not found.is_refused and found.repeats:
        slopes = found.slopes([apart(lambda p=p: _slopes(fn, p, kwargs)) for p in points])
    found.unseen(args)
    looked = f"{len(calls)} calls compared, slopes at {slopes} points" if not found.is_refused else "it is refused"
    return Contract(called_name(fn), tuple(found.breaches), looked)


# the runs, each in its own process


def _points(args: Sequence[Any]) -> list[tuple]:
    """The arguments, and others near to them: each float is another by up to a hundredth, of the same sign."""
    rng = np.random.default_rng(0)
    leaves, structure = flatten(tuple(args))
    made = [tuple(args)]
    for _ in range(_NEAR):
        near = [_near(leaf, rng) for leaf in leaves]
        made.append(unflatten(structure, near))
    return made


def _near(leaf: Any, rng: np.random.Generator) -> Any:
    if not _is_float(leaf):
        return leaf
    array = np.asarray(leaf)
    moved = (array + _FAR * rng.random(array.shape) * np.where(array == 0, 1, array)).astype(array.dtype)
    return _like(type(leaf), moved)


def _is_float(leaf: Any) -> bool:
    return isinstance(leaf, (float, np.floating)) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f")


def _like(kind: type, array: np.ndarray) -> Any:
    """An array as a number of this kind, or as an array."""
    if kind is float:
        return float(array)
    return array[()] if issubclass(kind, np.generic) else array


def _copied(args: tuple) -> tuple:
    leaves, structure = flatten(args)
    return unflatten(structure, [np.copy(v) if type(v) is np.ndarray else v for v in leaves])


def _calls(fn: Callable, called: Callable, calls: Sequence[tuple], kwargs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What each call gives and leaves: its result or error, the arguments, and what the function reads."""
    made = []
    printed = io.StringIO()
    out, sys.stdout = sys.stdout, printed
    try:
        for args in calls:
            args = _copied(args)
            outcome: dict[str, Any] = {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    outcome["value"] = content_of(called(*args, **kwargs))
                except Exception as error:
                    outcome["error"] = [c.__name__ for c in type(error).__mro__], str(error)
                    outcome["refused"] = isinstance(error, SymgradError)
            outcome["arguments"] = content_of(args)
            outcome["state"] = state_of_function(fn) | {_PRINTED: content_of(printed.getvalue())}
            made.append(outcome)
    finally:
        sys.stdout = out
    return made


def _first_line(fn: Callable, args: tuple, kwargs: Mapping[str, Any]) -> tuple[str, int] | None:
    """The line of ``fn`` that binds the first name to another value when it is traced."""
    entry, arrays = CompiledFunction(fn, fn, cache=False).recorded(*_copied(args), **kwargs)
    plain: list[tuple[str, SourceLine, Content]] = []
    with watching(fn, lambda name, line, value: plain.append((name, line, content_of(value))), plain=True):
        fn(*_copied(args), **kwargs)
    known: dict[Node, Any] = dict(zip(entry.program.inputs, arrays, strict=True))
    walk(ancestors([b.node for b in entry.trace.bindings]), known, evaluated)
    for bound in entry.trace.bindings:
        held = [content for name, line, content in plain if (name, line) == (bound.name, bound.line)]
        value = content_of(np.asarray(known[bound.node]))
        if held and all(difference(value, other, _CLOSE, kinds=False) for other in held):
            return bound.line.file, bound.line.number
    return None


def _slopes(fn: Callable, args: tuple, kwargs: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether slopes could be compared with differences along a direction, and how they differ."""
    leaves, structure = flatten(args)
    places = [k for k, leaf in enumerate(leaves) if _is_float(leaf)]
    given = [leaves[k] for k in places]
    kinds = list(map(type, given))
    point = [np.array(v) for v in given]
    kept = [None if k in places else leaf for k, leaf in enumerate(leaves)]

    def of_arrays(*arrays: Any) -> tuple:
        filled = list(kept)
        for k, kind, array in zip(places, kinds, arrays, strict=True):
            filled[k] = _like(kind, array) if isinstance(array, np.ndarray) else array
        return tuple([v for v in flatten(as_followed(fn)(*unflatten(structure, filled), **kwargs))[0] if _is_float(v)])

    rng = np.random.default_rng(1)
    along = [rng.standard_normal(x.shape).astype(x.dtype) for x in point]
    if not point:
        return False, ""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            wants, errors, _ = differences(of_arrays, point, [along])
            inputs = tuple(given)
            got = jvp(of_arrays, inputs, tuple(map(_like, kinds, along)))[1]
        except Exception as error:
            return False, str(error) if isinstance(error, SymgradError) else ""
    single = any(x.dtype.itemsize < 8 for x in point)
    entry, _ = CompiledFunction(of_arrays, of_arrays, cache=False).recorded(*inputs)
    single |= any(node.dtype in _LOW for node in entry.program.bindings)
    compared = False
    for slope, want, error in zip(got, wants, errors, strict=True):
        largest = max(1.0, float(np.max(np.abs(want), initial=0, where=np.isfinite(want))))
        loose = _SINGLE if single else _SLOPES
        settled = np.isfinite(want) & (error <= loose * largest)
        compared |= bool(np.any(settled))
        wrong = settled & ~(np.abs(np.asarray(slope, float) - want) <= 10 * loose * largest)
        if np.any(wrong):
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            return True, f"{np.asarray(slope)[at]:.6g}, and {float(want[at]):.6g} by differences"
    return compared, ""


# what is told of them


class _Findings:
    """The breaches of one function."""

    def __init__(self, fn: Callable) -> None:
        self._fn = fn
        self.breaches: list[Breach] = []
        self.is_refused = self.differs_in_value = False
        self.repeats = True
        codes = codes_of(fn) or [c for c in [code_of(fn)] if c is not None]
        self._own = SourceLine(codes[0].co_filename, codes[0].co_firstlineno) if codes else None
        self._codes = codes

    def _add(self, what: str, rule: str, line: SourceLine | None = None) -> None:
        breach = Breach(what, rule, line)
        if breach not in self.breaches:
            self.breaches.append(breach)

    def compare(self, plain: Sequence[Mapping[str, Any]], traced: Sequence[Mapping[str, Any]]) -> None:
        """Call by call, until one differs: what comes after may follow from it."""
        same = difference(plain[0].get("value", ()), plain[1].get("value", ()), 0.0) if "value" in plain[1] else None
        self.repeats = "value" in plain[0] and same is None
        for k, (wanted, made) in enumerate(zip(plain, traced, strict=True)):
            before = len(self.breaches)
            if made.get("refused") and "error" not in wanted:
                self.is_refused = True
                self._add(f"it is refused: {made['error'][1]}", REFUSED)
                return
            self._compare_results(k, wanted, made)
            self._compare_effects(k, wanted, made)
            if len(self.breaches) > before:
                return

    def _compare_results(self, k: int, wanted: Mapping[str, Any], made: Mapping[str, Any]) -> None:
        rule = VALUES if k == 0 else YOURS
        if "error" in wanted and "error" in made:
            if wanted["error"][0][0] not in made["error"][0]:
                said = f"call {k + 1} raises {made['error'][0][0]}, the plain function {wanted['error'][0][0]}"
                self._add(f"{said}: {wanted['error'][1]}", rule, self._own)
            return
        if "error" in wanted or "error" in made:
            which, other = ("plain", wanted) if "error" in wanted else ("traced", made)
            raised = f"{other['error'][0][0]}: {other['error'][1]}"
            self._add(f"call {k + 1} raises in the {which} function alone, {raised}", rule, self._own)
            return
        found = difference(made["value"], wanted["value"], _CLOSE, kinds=False)
        if found is not None:
            self.differs_in_value = True
            self._add(f"call {k + 1} gives {found[0]}, the plain function {found[1]}.", rule, self._own)

    def _compare_effects(self, k: int, wanted: Mapping[str, Any], made: Mapping[str, Any]) -> None:
        found = difference(made["arguments"], wanted["arguments"], _CLOSE)
        if found is not None:
            self._add(
                f"the plain function alone changes its arguments: {found[1]} stands in one.", ARGUMENTS, self._own
            )
        ours, theirs = made["state"], wanted["state"]
        for name in sorted(ours.keys() | theirs.keys()):
            told: Content = ("text", "", "")
            found = difference(ours.get(name, told), theirs.get(name, told), _CLOSE)
            if found is None:
                continue
            line = self._line_of(name)
            if k == 0:
                self._add(
                    f"after a call {name} is {found[0]}, after one of the plain function {found[1]}.", ONE_RUN, line
                )
            else:
                self._add(f"call {k + 1} changes {name} in the plain function alone.", YOURS, line)

    def is_by_chance(self, plain: Sequence[Mapping[str, Any]], again: Sequence[Mapping[str, Any]]) -> bool:
        """Whether values differ because those of two plain runs do: then nothing else can be compared."""
        nothing: Content = ("text", "", "")
        if all(
            difference(a.get("value", nothing), b.get("value", nothing), 0.0) is None
            for a, b in zip(plain, again, strict=True)
        ):
            return False
        what = "its values are others in each run: it reads a clock, random numbers without a seed, or the like"
        self.breaches = [Breach(f"{what}.", YOURS, self._own)]
        return True

    def set_line(self, line: SourceLine | None) -> None:
        """The line where values begin to differ."""
        if line is not None:
            self.breaches = [Breach(b.what, b.rule, line if " gives " in b.what else b.line) for b in self.breaches]

    def slopes(self, found: Sequence[tuple[bool, str]]) -> int:
        """At how many points slopes were compared."""
        wrong = [k for k, (_, what) in enumerate(found) if what]
        if wrong:
            alone = " (there alone: a kink?)" if wrong == [0] else ""
            self._add(f"the slope along a direction is {found[wrong[0]][1]}{alone}.", VALUES, self._own)
        return sum(compared for compared, _ in found)

    def unseen(self, args: tuple) -> None:
        """What the function may read, and no guard sees."""
        reached = Walk(Guards())
        reached.run(self._fn, args)
        for name, what in _UNSEEN.items():
            if name in reached.names:
                self._add(f"it may read {what}.", YOURS, self._line_of(name))

    def _line_of(self, name: str) -> SourceLine | None:
        """The first line that writes a name, or speaks of it."""
        last = "print" if name == _PRINTED else name.rpartition(".")[2]
        line = line_that_names(self._codes, last)
        return SourceLine(*line) if line is not None else self._own

"""What the values of a recurrence are called: h, h_t, h_{t+1}; λ for what flows back."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count

from ...errors import ClosedFormTooLarge
from ...primitives.casting import CAST
from ...primitives.scan import SCAN
from ...program.dims import Dim
from ...program.node import Node
from ...program.program import Program
from ..derivation.naming import Name, Names, user_name
from ..letters import LOWERED, name_latex, without_steps
from .equations import Range

#: letters that count the steps, of an outer loop first
_LETTERS = "tsrknmpl"
#: names that nobody has given
_GENERIC = re.compile(r"(kept_|ct_|s|e)\d+$|carry(_.*)?$|$")
_BACK = ("λ", "μ", "ν", "η", "κ")
_POOLS = {0: "szwcq", 1: "huzvw", 2: "PSZHM"}
_SHARED = {0: "cabdeg", 1: "rzqedg", 2: "MGQKSL"}
_SHARED_BACK = {0: "δεηγζ", 1: "δεηγζ", 2: "ΔΓΩΨΦ"}


class Bases:
    """Names of what is the same from step to step, no two alike; those of the inputs are among them."""

    def __init__(self, program: Program, names: Names, reserved: Collection[str]) -> None:
        """What nobody has named is called otherwise than ``reserved``, the user's names of other values."""
        self._reserved = reserved
        self._called = dict(names)
        self._inputs = {n.latex: node for node, n in names.items()}
        self._given: set[str] = set()
        own = set(map(str, names.values())) | {str(d) for n in program.inputs for d in n.shape}
        own |= {name_latex(label).partition("_")[0] for label in _labels(program) if not _GENERIC.match(label)}
        self._letters = [c for c in _LETTERS if c not in own]
        #: what the carries of a body are called, by their labels there
        self.of_label: dict[str, str] = {}

    def letter(self, depth: int) -> str:
        """The letter of a loop that stands in so many others."""
        found = self._letters[depth % len(self._letters)]
        self._given.add(found)  # nothing else is called so
        return found

    def carry(self, label: str, begins: Node, alone: bool, reverse: bool) -> str:
        """The name of a carry that is called ``label`` in the body; ``alone`` where nothing else flows back.

        What begins with ``u_0`` may be called u, unless that is what it ends with: in ``reverse``.
        """
        while begins.primitive is CAST:  # a Python number as an array
            (begins,) = begins.operands
        made = self._fresh(self._of_carry(label, begins, alone), begins, not reverse)
        self.of_label[label] = made
        return made

    def _of_carry(self, label: str, begins: Node, alone: bool) -> Iterator[str]:
        kind, _, rest = label.partition("_")
        own = self.of_label.get(rest, "" if _GENERIC.match(rest) else rest)
        if kind in ("λ", "sum"):
            yield from (letter if alone or not own else f"{letter}_{own}" for letter in _BACK)
        elif kind == "d" and rest:
            pool = _some(self._lettered(_POOLS, begins.ndim))
            yield from (user_name(name).marked("dot") for name in ([own] if own else []) + pool)
        elif not _GENERIC.match(label):
            yield label
        name = self._called.get(begins)
        if name is not None:
            yield re.sub(r"_?0$|_?init$", "", name) or name
            yield name
        yield from self._lettered(_POOLS, begins.ndim)

    def row(self, label: str, whole: Node) -> str:
        """The name of the rows of an array: its own, or what the step calls them."""
        called = [] if _GENERIC.match(label) else [label]
        return self.own_row(label, whole) or self._fresh([*called, *_some(self._lettered(_POOLS, whole.ndim - 1))])

    def own_row(self, label: str, whole: Node) -> str | None:
        """The name of the rows of an array, as it is called or what ends in it; None where that is another's."""
        name = self._called.get(whole)
        if name is None:
            return None
        one = str(name)[:-1] if len(name) > 1 and name.endswith("s") else str(name)
        alike = [label] if label.lower() == one.lower() else [one] if len(one) == 1 else []
        return self._first([*alike, name], whole)

    def shared(self, shape: Sequence[Dim], back: bool, called: str | None = None) -> str:
        """The name of a value that several lines read; ``back`` where it is made of what flows back.

        It is what the user has ``called`` it, if nothing else is called so.
        """
        letters = self._lettered(_SHARED_BACK if back else _SHARED, len([d for d in shape if d != 1]))
        return self._fresh(chain([] if called is None else [called], letters))

    def _lettered(self, pools: Mapping[int, str], rank: int) -> Iterator[str]:
        letters = [c for c in pools[min(rank, 2)] if c not in self._reserved] or [pools[min(rank, 2)][0]]
        yield from letters
        yield from (f"{letters[0]}{k}" for k in count(2))

    def _fresh(self, candidates: Iterable[str], owner: Node | None = None, indexed: bool = False) -> str:
        """The first candidate that nothing is called.

        What begins with ``owner`` may be called as that, and where it is ``indexed`` as that is without its index.
        """
        found = self._first(candidates, owner, indexed)
        if found is None:
            raise ClosedFormTooLarge("more values stand beside each other than there are names for")
        return found

    def _first(self, candidates: Iterable[str], owner: Node | None = None, indexed: bool = False) -> str | None:
        others = {latex for latex, node in self._inputs.items() if node is not owner}
        for candidate in candidates:
            name = user_name(candidate)
            near = others if indexed else self._inputs
            begins = f"{name.latex[:-1]}," if name.latex.endswith("}") and "_{" in name.latex else f"{name.latex}_"
            if name.latex not in others | self._given and not any(latex.startswith(begins) for latex in near):
                self._given.add(name.latex)
                return str(name)
        return None


def _labels(program: Program) -> Iterator[str]:
    """What the values of all loops are called."""
    for n in program.nodes:
        if n.primitive is SCAN:
            yield from n.params[0].body.names
            yield from _labels(n.params[0].body)


def _some(names: Iterator[str]) -> list[str]:
    return [next(names) for _ in range(100)]


def at_step(base: str, steps: Range, offset: int = 0) -> Name:
    """``base`` at a step, or so many after it.

    >>> made = at_step("h", Range("t", 5, False), 1)
    >>> made, made.latex
    ('hₜ₊₁', 'h_{t+1}')
    """
    return Name(base + lowered(f"{_outer(steps)}{steps.letter}{offset:+d}" if offset else _outer(steps) + steps.letter))


def at_end(base: str, steps: Range, place: Dim) -> Name:
    """``base`` before the first step or after the last one.

    >>> made = at_end("h", Range("t", 5, False), 5)
    >>> made, made.latex
    ('h₅', 'h_{5}')
    """
    own = str(place)
    if steps.outer is not None:
        own = f"{_outer(steps)}{own}"
    if set(own) <= LOWERED.keys() and not (base[-1].isdecimal() and own.isdecimal()):
        return Name(base + lowered(own))
    return Name(f"{base}_{re.sub(r'[^0-9A-Za-z]+', '_', own)}")


def entry_of(name: str, k: int, others: Collection[str] = ()) -> Name:
    """An entry of a vector that is called ``name``, where ``others`` are called so too.

    >>> entry_of("uₜ₊₁", 2).latex, entry_of("uₜ₊₁", 2, ["u1ₜ"])
    ('u_{2,t+1}', 'uₜ₊₁[2]')
    """
    bare = without_steps(name)
    if any(re.fullmatch(r"_?\d+", other.removeprefix(bare)) for other in map(without_steps, others)):
        return Name(f"{name}[{k}]")
    return Name(f"{bare}{k}{name[len(bare) :]}" if bare[-1] not in "0123456789" else f"{bare}_{k}{name[len(bare) :]}")


def _outer(steps: Range) -> str:
    return "" if steps.outer is None else _outer(steps.outer) + steps.outer.letter


def lowered(index: str) -> str:
    """An index as it stands behind a name in text."""
    return "".join(LOWERED[c] for c in index)

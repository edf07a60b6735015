"""Rows and sums: what an array holds of one step, and what is added up over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...primitives.casting import CAST, cast
from ...primitives.contraction import EINSUM, GATE, contract, expand, float_operands
from ...primitives.elementwise import Elementwise
from ...primitives.functions import (
    add,
    divide,
    greater_equal,
    less,
    logical_and,
    multiply,
    negative,
    terms_of,
    where,
)
from ...primitives.primitive import CONSTANT, INPUT, CapturedArray, constant, literal
from ...primitives.selection import ASSEMBLE, SLICE, Structural, take_slice
from ...primitives.shaping import RESHAPE, reshape
from ...program.interpret import rebuilt
from ...program.node import Node, ancestors, emit
from ..derivation.lines import inputs_of
from ..derivation.naming import user_name
from .equations import Equation, Range, Total, depth_of
from .histories import by_rows, is_zero
from .naming import at_end, at_step

if TYPE_CHECKING:
    from .unfolding import Unfolding


class _Sum(NamedTuple):
    """What is added up over steps, and what is added to that."""

    over: Range
    summand: Node
    rest: Node | None


class Steps:
    """Knows of arrays along the steps of a loop what a row is, and of sums over the steps what is added."""

    def __init__(self, unfolding: Unfolding) -> None:
        self._unfolding = unfolding
        #: stand-ins of arrays that hold a value of each step, and of sums
        self._stacks: dict[Node, tuple[Range, Node]] = {}
        self._sums: dict[Node, _Sum] = {}
        self._made: dict[tuple, Node] = {}
        self._bases: dict[Node, str] = {}
        #: the arrays that rows are of, with how many steps on; and the numbers of steps
        self.rows: dict[Node, tuple[Node, int]] = {}
        #: arrays that are one of those that an argument holds, with that and the place
        self.picked: dict[Node, tuple[Node, int]] = {}
        #: what carries are after one of the steps, with what they are after each and the step
        self.after: dict[Node, tuple[Node, int]] = {}
        self.counters: dict[str, Node] = {}

    # arrays of values of each step

    def stack(self, row: Node, steps: Range) -> Node:
        """The array of what ``row`` is in each step."""
        made = Node(INPUT, (), ("stack",), (steps.length, *row.shape), row.dtype)
        self._stacks[made] = (steps, row)
        return made

    def kept(self, node: Node) -> tuple[Range, Node] | None:
        """The steps of which an array holds a value each, and that value; None where it is no such array."""
        return self._stacks.get(node)

    def over(self, node: Node) -> Range | None:
        """The steps of a loop of which ``node`` reads what was kept; None where it reads of none."""
        return next((self._stacks[n][0] for n in ancestors([node]) if n in self._stacks), None)

    def row(self, node: Node, steps: Range, label: str) -> Node:
        """What ``node`` holds for a step; an array that must be named for it is, with rows called ``label``."""
        found = self.known_row(node, steps, label)
        if found is not None:
            return found
        key = (node, steps.outer)
        if key not in self._made:
            base = self._unfolding.bases.row(label, node)
            whole = self._unfolding.named(user_name(base), node.shape, node.dtype, steps.outer)
            self._unfolding.equations.append(Equation(whole, self.total(node, steps.outer), steps.outer))
            self._bases[whole] = base
            self._made[key] = whole
        return self._leaf(self._made[key], steps, 0, label)

    def known_row(self, node: Node, steps: Range | None, label: str = "", offset: int = 0) -> Node | None:
        """What ``node`` holds for a step, ``offset`` steps on; None where it must be named for that.

        Without ``steps`` what it holds at the place ``offset``.
        """
        if node in self._stacks and not offset and self._stacks[node][0].agrees(steps):
            return self._stacks[node][1]
        if node.primitive is INPUT:
            if node not in self._unfolding.names:
                return None
            if steps is None:
                return self._unfolding.histories.element(node, offset)
            if (own := self._unfolding.histories.in_step(node, steps, offset)) is not None:
                return own
            return self._leaf(node, steps, offset, label) if self._names_rows(node, label) else None
        if node.primitive is CONSTANT:
            if steps is None:
                return self._unfolding.histories.element(node, offset)
            return self._of_constant(node, steps, label, offset)
        if node.primitive is EINSUM:
            return self._of_contraction(node, steps, offset)
        if node.primitive is SLICE:
            first, *rest = node.params[0]
            if not isinstance(first, tuple) or first[2] != 1:
                return None
            row = self.known_row(node.operands[0], steps, label, offset + first[0])
            return None if row is None else take_slice(row, tuple(rest))
        if node.primitive is ASSEMBLE and steps is not None:
            return self._of_pieces(node, steps, offset)
        if isinstance(node.primitive, Elementwise) or node.primitive in (CAST, GATE):
            found = [self._of_operand(o, node, steps, offset) for o in node.operands]
            rows = tuple([r for r in found if r is not None])
            return emit(node.primitive, rows, node.params) if len(rows) == len(found) else None
        return None

    def _of_pieces(self, node: Node, steps: Range, offset: int) -> Node | None:
        """What pieces of some rows, with zeros around them, are in a step."""
        shape, specs = node.params
        if any(list(spec[1:]) != [(0, d, 1) for d in shape[1:]] for spec in specs):
            return None
        first, count = specs[0][0][:2] if isinstance(specs[0][0], tuple) else (min(s[0] for s in specs), len(specs))
        if len(specs) == 1 and isinstance(specs[0][0], tuple):
            row = self.known_row(node.operands[0], steps, "", offset - first) if specs[0][0][2] == 1 else None
        else:
            pieces = {spec[0]: piece for spec, piece in zip(specs, node.operands, strict=True)}
            is_joined = pieces.keys() == set(range(first, first + count))
            ordered = [pieces[k] for k in sorted(pieces)] if is_joined else []
            row = self._unfolding.histories.row_of(ordered, steps, offset - first)
        if row is None:
            return None
        place = self._counter(steps, offset, np.dtype(np.int64))
        tests = [less(place, literal(first + count))] if first + count < shape[0] + offset else []
        tests += [greater_equal(place, literal(first))] if first > offset else []
        inside = reduce(logical_and, tests) if tests else None
        return row if inside is None else where(expand(inside, row.shape), row, literal(0.0))

    def _of_operand(self, operand: Node, node: Node, steps: Range | None, offset: int) -> Node | None:
        """What of an operand an elementwise operation reads for a step."""
        if operand.ndim < node.ndim:
            return operand
        if operand.shape[0] == node.shape[0]:
            return self.known_row(operand, steps, "", offset)
        return take_slice(operand, (0, *[(0, d, 1) for d in operand.shape[1:]]))

    def _of_contraction(self, node: Node, steps: Range | None, offset: int) -> Node | None:
        labels, out, sizes, _ = node.params
        lead = out[0]
        if out.count(lead) > 1 or not all(_leads(lead, ls) or lead not in ls for ls in labels):
            return None
        pairs = zip(float_operands(node), labels, strict=True)
        found = [self.known_row(o, steps, "", offset) if lead in ls else o for o, ls in pairs]
        rows = [r for r in found if r is not None]
        if len(rows) < len(found):
            return None
        return self.contracted(rows, [_without(lead, ls) for ls in labels], out[1:], sizes)

    def _of_constant(self, node: Node, steps: Range, label: str, offset: int) -> Node | None:
        value = np.asarray(node.params[0].value)
        if value.size and (value == value[:1]).all():
            return constant(CapturedArray(value[0]))
        if (
            value.ndim == 1
            and value.size
            and value.dtype.kind in "iuf"
            and (value == value[0] + np.arange(len(value))).all()
        ):
            return self._counter(steps, value[0].item() + offset, node.dtype)
        return self._leaf(node, steps, offset, label or "c")

    def _counter(self, steps: Range, first: float, dtype: np.dtype) -> Node:
        """The number of the step, counted from ``first``."""
        if steps.letter not in self.counters:
            name = user_name(steps.letter)
            self.counters[steps.letter] = self._unfolding.named(name, (), dtype, steps)
        counted = self.counters[steps.letter]
        return add(counted, literal(first)) if first else counted

    def _names_rows(self, whole: Node, label: str) -> bool:
        """Whether rows may be called as the array is, or as what ends in it; where ``y0`` is beside y they may not."""
        carry = self._unfolding.histories.carries.get(whole)
        if whole not in self._bases and carry is not None:
            self._bases[whole] = carry.base
        if whole not in self._bases and (base := self._unfolding.bases.own_row(label, whole)):
            self._bases[whole] = base
        return whole in self._bases

    def _leaf(self, whole: Node, steps: Range, offset: int, label: str) -> Node:
        key = (whole, steps.letter, steps.outer, offset)
        if key not in self._made:
            if whole not in self._bases:
                self._bases[whole] = self._unfolding.bases.row(label, whole)
            name = at_step(self._bases[whole], steps, offset)
            made = self._unfolding.named(name, whole.shape[1:], whole.dtype, steps)
            self._made[key] = made
            self.rows[made] = (whole, offset)
        return self._made[key]

    def constant_rows(self) -> list[tuple[Node, str]]:
        """The arrays of numbers that lines have the rows of, and what these are called."""
        whole = dict.fromkeys(w for w, _ in self.rows.values() if w.primitive is CONSTANT)
        return [(node, self._bases[node]) for node in whole]

    # sums over steps

    def sum(self, summand: Node, steps: Range, rest: Node | None = None) -> Node:
        """The sum of what ``summand`` is in each step, and of ``rest``."""
        made = Node(INPUT, (), ("sum",), summand.shape, summand.dtype)
        self._sums[made] = _Sum(steps, summand, None if rest is None or is_zero(rest) else rest)
        return made

    def made(self, node: Node, operands: Sequence[Node]) -> Node:
        """``node`` on other operands; what is linear in sums is a sum again."""
        if node.primitive is SLICE and _is_one_of_several(node) and operands[0] in self._unfolding.names:
            return self._one(operands[0], node)
        if node.primitive is SLICE and operands[0] in self._stacks:
            return self._after_one(operands[0], node) or rebuilt(node, operands)
        histories = self._unfolding.histories
        if node.primitive in (RESHAPE, SLICE) and (rows := by_rows(node, operands[0])) is not None:
            is_new = rows.operands and rows not in operands[0].operands
            return reshape(self.made(rows, rows.operands) if is_new else rows, node.shape)
        joined = histories.joined(node, operands)
        if joined is not None:
            return joined
        if node.primitive is SLICE and histories.are_in(operands[0]):
            one = self._one_row(node, operands[0])
            return rebuilt(node, operands) if one is None else one
        if node.primitive is EINSUM:
            labels, out, sizes, _ = node.params
            if any(o in self._sums or o in self._stacks for o in ancestors(operands)):
                return self.contracted(
                    [_like(o, n) for o, n in zip(operands, float_operands(node), strict=True)], labels, out, sizes
                )
        sums = [k for k, o in enumerate(operands) if o in self._sums]
        if not sums or not _is_linear(node, operands, sums):
            return rebuilt(node, operands)
        return self._through(operands, sums, lambda given: emit(node.primitive, tuple(given), node.params))

    def _one_row(self, node: Node, whole: Node) -> Node | None:
        """A slice of one row; None for another slice, or where it is not known what that row is."""
        first, *rest = node.params[0]
        place = first[0] if isinstance(first, tuple) and first[1] == 1 else first
        if not isinstance(place, int) or rest != [(0, d, 1) for d in whole.shape[1:]]:
            return None
        row = self.known_row(whole, None, "", place)
        return None if row is None else reshape(row, node.shape)

    def _one(self, whole: Node, node: Node) -> Node:
        """One of the arrays of three axes or more that an argument holds: ``x₀`` of ``xs``."""
        place = node.params[0][0]
        key = (whole, place)
        if key not in self._made:
            if whole not in self._bases:
                self._bases[whole] = self._unfolding.bases.row("", whole)
            name = at_end(self._bases[whole], Range("", place, False), place)
            made = self._made[key] = self._unfolding.named(name, node.shape, node.dtype)
            self.picked[made] = key
        return self._made[key]

    def _after_one(self, stack: Node, node: Node) -> Node | None:
        """What a carry is after one of the steps, where the row of a stack is that: ``x₅``."""
        steps, row = self._stacks[stack]
        first, *rest = node.params[0]
        carry = self._unfolding.carry_after(row, steps)
        if carry is None or not isinstance(first, int) or rest != [(0, d, 1) for d in node.shape]:
            return None
        key = (carry.after, first)
        if key not in self._made:
            name = at_end(carry.base, steps, first if steps.reverse else first + 1)
            made = self._made[key] = self._unfolding.named(name, node.shape, node.dtype, steps.outer)
            self.after[made] = key
        return self._made[key]

    def contracted(self, operands: Sequence[Node], labels: Sequence, out: tuple, sizes: tuple) -> Node:
        """A contraction; over steps it is a sum."""
        for lead in dict.fromkeys(ls[0] for ls in labels if ls and ls[0] not in out):
            own = [k for k, ls in enumerate(labels) if lead in ls]
            steps = next(
                (s for k in own if (s := self.over(operands[k])) is not None and s.length == sizes[lead]), None
            )
            if steps is None or not all(_leads(lead, labels[k]) for k in own):
                continue
            found = [self.known_row(o, steps) if k in own else o for k, o in enumerate(operands)]
            rows = [r for r in found if r is not None]
            if len(rows) == len(found):
                return self.sum(self.contracted(rows, [_without(lead, ls) for ls in labels], out, sizes), steps)
        sums = [k for k, o in enumerate(operands) if o in self._sums]
        if len(sums) == 1:
            return self._through(operands, sums, lambda given: contract(given, labels, out, sizes))
        return contract(operands, labels, out, sizes)

    def _through(self, operands: Sequence[Node], sums: Sequence[int], make: Callable[[list[Node]], Node]) -> Node:
        """A linear operation on sums, as the sum of what it makes of what they add."""
        totals = [self._sums[operands[k]] for k in sums]
        first = totals[0].over
        others = [o for k, o in enumerate(operands) if k not in sums]
        within = any(depth_of(self._unfolding.ranges.get(n)) >= depth_of(first) for n in inputs_of(*others))
        together = all(t.over.agrees(first) and t.rest is None for t in totals[1:])
        if within or not together or (len(sums) > 1 and totals[0].rest is not None):
            return make(list(operands))

        def on(parts: Sequence[Node]) -> Node:
            given = list(operands)
            for k, part in zip(sums, parts, strict=True):
                given[k] = part
            return make(given)

        rest = totals[0].rest
        return self.sum(on([t.summand for t in totals]), first, rest and on([rest]))

    def total(self, node: Node, steps: Range | None) -> Total:
        """``node``, in a line for these steps, as a sum over steps and what is added to that."""
        terms, least = terms_of(node), depth_of(steps)
        own = [t for t in terms if t in self._sums and depth_of(self._sums[t].over) > least]
        if not own:
            return Total(node)
        first = self._sums[own[0]].over
        together = [self._sums[t] for t in own if first.agrees(self._sums[t].over)]
        rest = [t for t in terms if t not in own or not first.agrees(self._sums[t].over)]
        rest += [t.rest for t in together if t.rest is not None]
        return Total(reduce(add, rest) if rest else None, first, reduce(add, [t.summand for t in together]))

    # lines of their own

    def is_undefined(self, node: Node) -> bool:
        """True for a sum or a stack that stands in a line as it is."""
        return node in self._sums or node in self._stacks

    def defined(self, node: Node) -> Equation:
        """The line of a sum or of a stack, which has a name then."""
        bases = self._unfolding.bases
        if node in self._sums:
            total = self._sums[node]
            outer = total.over.outer
            base = bases.shared(node.shape, False)
            self._unfolding.names[node] = user_name(base) if outer is None else at_step(base, outer)
            if outer is not None:
                self._unfolding.ranges[node] = outer
            return Equation(node, Total(total.rest, total.over, total.summand), outer)
        steps, row = self._stacks[node]
        base = bases.row("", node)
        self._unfolding.names[node] = user_name(base)
        self._bases[node] = base
        return Equation(self._leaf(node, steps, 0, base), self.total(row, steps), steps)


def _is_one_of_several(node: Node) -> bool:
    """Whether it is an array at one place along the first axis, which matrix notation has no sign for."""
    first, *rest = node.params[0]
    (whole,) = node.operands
    return isinstance(first, int) and len(rest) > 1 and rest == [(0, d, 1) for d in whole.shape[1:]]


def _is_linear(node: Node, operands: Sequence[Node], sums: Sequence[int]) -> bool:
    """True where an operation is linear in those operands together."""
    if isinstance(node.primitive, Structural):
        return len(sums) == len(operands)
    if node.primitive is add:
        return len(sums) == len(operands) and all(o.shape == node.shape for o in operands)
    if node.primitive is multiply:
        return len(sums) == 1 and operands[sums[0]].shape == node.shape
    if node.primitive is divide:
        return list(sums) == [0] and operands[0].shape == node.shape
    return node.primitive in (negative, CAST)


def _like(operand: Node, given: Node) -> Node:
    return operand if operand.dtype == given.dtype else cast(operand, given.dtype)


def _leads(label: int, labels: Sequence[int]) -> bool:
    return bool(labels) and labels[0] == label and labels.count(label) == 1


def _without(label: int, labels: Sequence[int]) -> tuple[int, ...]:
    return tuple([i for i in labels if i != label])

"""C loops for a region: axes merged and ordered, elements read once, values computed, stored, reduced and put.

The text names arrays ``a0, a1, …`` and values ``v0, v1, …`` and takes large sizes and strides as arguments, so that
regions of one form, whatever their sizes, are one C function.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from .form import Code, Form, Sum
from .region import product_format
from .spelling import HELD, STORED

#: sizes and strides up to this are written into the text, larger ones are arguments
_MOST_WRITTEN = 32
#: elements of a row of results that is held in registers
_MOST_HELD = 64
#: elements of a result that is added to from the outermost loop
_CACHED = 4096
#: elements that one partial sum runs over
_RUN = 2048
#: what a reduction starts from
_START = {"+": "0", "*": "1", "max": "-INFINITY", "min": "INFINITY"}
#: marks a line of the body that the innermost loop does not change
_INVARIANT = "/*invariant*/"


@dataclass(frozen=True)
class Written:
    """The body of a C function, the sizes that it takes, and the extent of its outermost loop.

    ``parted`` are the accesses that are reduced over the outermost loop, with their operators, and whether they add
    to what is there.
    """

    text: str
    sizes: tuple[int, ...]
    outer: int
    parted: tuple[tuple[int, str, bool], ...]


@functools.lru_cache(maxsize=4096)
def written(form: Form) -> Written:
    """The loops of a form."""
    loops = Loops(form)
    return Written(loops.text, tuple(loops.sizes), loops.levels[0] if loops.levels else 1, tuple(loops.parted))


class Loops:
    """Writes one form. ``text`` is the body of the function."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.extents = form.extents
        self.deals = form.deals
        self.sizes: list[int] = []
        self.parted: list[tuple[int, str, bool]] = []
        self._size_names: dict[int, str] = {}
        self._loaded: set[int] = set()
        self._order = self._ordered()
        self._merge()
        self.text = self._write()

    # axes

    def _ordered(self) -> list[int]:
        """The axes from the outermost to the innermost."""
        axes = [k for k, d in enumerate(self.extents) if d != 1]
        form = self.form
        if not form.closed or len(axes) < 2:
            return axes
        results = [r.access for r in (*form.sums, *form.puts)] + list(form.fills)
        out = form.accesses[results[0]][1]
        operands = [strides for k, (_, strides) in enumerate(form.accesses) if k not in results]
        if not form.sums:
            return sorted(axes, key=lambda k: -abs(out[k]))
        kept = sorted([k for k in axes if out[k]], key=lambda k: -out[k])
        summed = sorted([k for k in axes if not out[k]], key=lambda k: -max(abs(s[k]) for s in operands))

        def streams(k: int) -> bool:
            return all(s[k] in (0, 1) for s in operands) and self.extents[k] >= 4

        inner = [k for k in reversed(kept) if out[k] == 1 and streams(k)]
        if inner:
            rest = [k for k in kept if k != inner[0]]
            size = math.prod(self.extents[k] for k in kept)
            depth = math.prod(self.extents[k] for k in summed)
            if size <= _CACHED and depth > _MOST_HELD and self.extents[inner[0]] > _MOST_HELD // 16:
                return [*summed, *rest, inner[0]]
            return [*rest, *summed, inner[0]]
        runs = [k for k in summed if streams(k)]
        if runs:
            return [*kept, *[k for k in summed if k != runs[-1]], runs[-1]]
        return [*kept[:-1], *summed, kept[-1]] if kept else summed

    def _merge(self) -> None:
        """Neighbouring axes that every array runs through as one become one."""
        order = self._order
        extents = [self.extents[k] for k in order]
        strides = [[own[k] for k in order] for _, own in self.form.accesses]
        k = len(order) - 2
        while k >= 0:
            if all(s[k] == s[k + 1] * extents[k + 1] for s in strides):
                extents[k : k + 2] = [extents[k] * extents[k + 1]]
                for s in strides:
                    s[k : k + 2] = [s[k + 1]]
            k -= 1
        self.levels = extents
        self.strides = strides

    # text

    def _size(self, value: int) -> str:
        if abs(value) <= _MOST_WRITTEN:
            return str(value)
        if value not in self._size_names:
            self._size_names[value] = f"d{len(self.sizes)}"
            self.sizes.append(value)
        return self._size_names[value]

    def _offset(self, k: int, levels: range) -> str:
        """The index into an access that the loops of ``levels`` are at."""
        terms = []
        for level in levels:
            stride = self.strides[k][level]
            if stride:
                terms.append(f"i{level}" if stride == 1 else f"i{level} * {self._size(stride)}")
        return " + ".join(terms) or "0"

    def _write(self) -> str:
        depth = len(self.levels)
        self._zero: list[str] = []
        self._before: list[list[str]] = [[] for _ in range(depth + 1)]
        self._after: list[list[str]] = [[] for _ in range(depth + 1)]
        self._rows: list[str] = []
        self._run_before: list[str] = []
        self._run_after: list[str] = []
        self._clauses: list[str] = []
        self._body: list[str] = []
        for k, (dtype, _) in enumerate(self.form.accesses):
            at = self._offset(k, range(depth - 1))
            self._rows.append(f"{STORED[dtype]} *const r{k} = a{k}{'' if at == '0' else ' + ' + at};")
        for number, point in enumerate(self.form.points):
            code = point.format.format(*map(self._value, point.operands))
            self._body.append(f"const {HELD[point.dtype]} v{number} = {code};")
            if point.stored is not None:
                self._body.append(f"{self._at(point.stored)} = v{number};")
        for number, r in enumerate(self.form.sums):
            self._reduction(r, number)
        for p in self.form.puts:
            self._body.append(f"{self._at(p.access)} {'+=' if p.adds else '='} {self._product(p.factors)};")
        for k in self.form.fills:
            self._body.append(f"{self._at(k)} = 0;")
        loops = self._nest()
        names = [f"{STORED[dtype]} *const a{k} = (void *)p[{k}];" for k, (dtype, _) in enumerate(self.form.accesses)]
        sizes = [f"const int64_t d{k} = d[{k}];" for k in range(len(self.sizes))]
        return "\n".join("  " + line for line in (*names, *sizes, *self._zero, *loops))

    def _nest(self) -> list[str]:
        depth = len(self.levels)
        if not depth:
            return [*self._rows, *self._body]
        lines: list[str] = []
        last = depth - 1
        for level in range(last):
            lines += self._before[level]
            lines.append(self._loop(level))
        lines += [*self._before[last], *self._rows]
        invariant = [line for line in self._body if line.startswith(_INVARIANT)]
        lines += [line.removeprefix(_INVARIANT) for line in invariant]
        body = [line for line in self._body if not line.startswith(_INVARIANT)]
        clause = f"#pragma omp simd{''.join(' ' + c for c in self._clauses)}"
        low, high = self._bounds(last)
        if self._clauses and not (low == "0" and high.isdigit()):
            lines.append(f"for (int64_t from = {low}; from < {high}; from += {_RUN}) {{")
            lines.append(f"const int64_t to = {high} - from > {_RUN} ? from + {_RUN} : {high};")
            lines += [
                *self._run_before,
                clause,
                f"for (int64_t i{last} = from; i{last} < to; i{last}++) {{",
                *body,
                "}",
            ]
            lines += [*self._run_after, "}"]
        else:
            lines += [*self._run_before, clause, self._loop(last), *body, "}", *self._run_after]
        lines += self._after[last]
        for level in reversed(range(last)):
            lines += ["}", *self._after[level]]
        return lines

    def _bounds(self, level: int) -> tuple[str, str]:
        if level == 0 and (self.deals or self.levels[0] > _MOST_WRITTEN):
            return "lo", "hi"
        return "0", self._size(self.levels[level])

    def _loop(self, level: int) -> str:
        low, high = self._bounds(level)
        return f"for (int64_t i{level} = {low}; i{level} < {high}; i{level}++) {{"

    def _at(self, k: int) -> str:
        """The element of an access in the innermost loop."""
        if not self.levels or not self.strides[k][-1]:
            return f"*r{k}"
        return f"r{k}[{self._offset(k, range(len(self.levels) - 1, len(self.levels)))}]"

    def _value(self, code: Code) -> str:
        kind, what, own, wanted = code
        if kind == "access":
            assert isinstance(what, int)
            name = f"x{what}"
            if what not in self._loaded:
                self._loaded.add(what)
                invariant = bool(self.levels) and not self.strides[what][-1]
                self._body.append(f"{_INVARIANT if invariant else ''}const {HELD[own]} {name} = {self._at(what)};")
        else:
            name = f"v{what}" if kind == "point" else str(what)
        return name if own == wanted else f"(({HELD[wanted]}){name})"

    def _product(self, factors: tuple[Code, ...]) -> str:
        negates = factors[0][1] in ("(-0x1.0000000000000p+0)", "(-0x1.0000000000000p+0f)")
        return product_format(len(factors), negates).format(*map(self._value, factors))

    def _reduction(self, r: Sum, number: int) -> None:
        k, value = r.access, self._product(r.factors)
        kind, depth, kept = HELD[r.dtype], len(self.levels), [bool(s) for s in self.strides[k]]
        if depth and not kept[0]:
            self.parted.append((k, r.operator, r.adds))
        if not depth:
            self._body.append(f"*r{k} {'+=' if r.adds else '='} {value};")
            return
        first = depth  # the loops from here on are summed over
        while first and not kept[first - 1]:
            first -= 1
        if first < depth:
            self._in_register(r, number, value, first)
            return
        above = depth - 1  # the loops from here on, but the innermost, are summed over
        while above and not kept[above - 1]:
            above -= 1
        width = self.levels[-1]
        held = above < depth - 1 and width <= _MOST_WRITTEN and not (depth == 1 and self.deals)
        if not held:
            self._start(r, kept)
            self._body.append(combined(r.operator, self._at(k), value))
            return
        name, i = f"h{number}", f"i{depth - 1}"
        zero = _START[r.operator]
        self._before[above].append(f"{kind} {name}[{width}];")
        self._before[above].append(f"for (int j = 0; j < {width}; j++) {name}[j] = {zero};")
        self._body.append(combined(r.operator, f"{name}[{i}]", value))
        whole = all(kept[:above]) and not self._continues(r, kept)
        if not whole:
            self._start(r, kept)
        at = self._offset(k, range(above))
        place = f"a{k}[{at} + j * {self._size(self.strides[k][-1])}]"
        written = f"{place} = {name}[j];" if whole else combined(r.operator, place, f"{name}[j]")
        self._after[above].append(f"for (int j = 0; j < {width}; j++) {{ {written} }}")

    def _in_register(self, r: Sum, number: int, value: str, first: int) -> None:
        k, kind = r.access, HELD[r.dtype]
        kept = [bool(s) for s in self.strides[k]]
        total, run, zero = f"t{number}", f"s{number}", _START[r.operator]
        self._before[first].append(f"{kind} {total} = {zero};")
        self._run_before.append(f"{kind} {run} = {zero};")
        self._clauses.append(f"reduction({r.operator}:{run})")
        if r.operator in ("max", "min"):
            sign = ">" if r.operator == "max" else "<"
            held = f"e{number}"
            self._run_before.append(f"int n{number} = 0;")
            self._clauses.append(f"reduction(|:n{number})")
            self._body.append(f"const {kind} {held} = {value};")
            self._body.append(f"{run} = {held} {sign} {run} ? {held} : {run}; n{number} |= {held} != {held};")
            self._run_after.append(f"if (n{number}) {run} = NAN;")
        else:
            self._body.append(f"{run} {r.operator}= {value};")
        self._run_after.append(combined(r.operator, total, run))
        whole = all(kept[:first]) and not self._continues(r, kept)
        if not whole:
            self._start(r, kept)
        place = f"a{k}[{self._offset(k, range(first))}]"
        self._after[first].append(f"{place} = {total};" if whole else combined(r.operator, place, total))

    def _continues(self, r: Sum, kept: list[bool]) -> bool:
        """True where the loops add to a result that is there; the parts of one begin anew."""
        return r.adds and not (self.deals and not kept[0])

    def _start(self, r: Sum, kept: list[bool]) -> None:
        """Loops that set a result to what its reduction starts from."""
        if self._continues(r, kept):
            return
        k, operator = r.access, r.operator
        loops = [self._loop(level).removesuffix("{") for level in range(len(kept)) if kept[level]]
        place = f"a{k}[{self._offset(k, range(len(kept)))}]"
        self._zero.append(f"{' '.join(loops)} {place} = {_START[operator]};")


def combined(operator: str, target: str, value: str) -> str:
    """``target`` with ``value`` taken in; NaN stays."""
    if operator in ("+", "*"):
        return f"{target} {operator}= {value};"
    sign = ">" if operator == "max" else "<"
    return f"{{ const __typeof__({target}) e = {value}; {target} = e {sign} {target} || e != e ? e : {target}; }}"

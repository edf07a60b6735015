"""The entry form: every element of every output as a scalar expression in the elements of the inputs.

A vector ``x`` of three is ``x0, x1, x2``, counted as its code does; a matrix is numbered row by row; an array of
one element keeps its bare name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy
from sympy.simplify.fu import TR5, TR10i

from ..errors import ClosedFormTooLarge, UnsupportedOperation
from ..primitives.elementwise import SLOTS, Elementwise
from ..primitives.external import External
from ..program.dims import is_concrete
from ..program.node import Node
from ..program.program import Program
from . import fourier
from .bound import Applied, OverIndices
from .budget import BUDGET
from .cases import in_two_cases, within_cases
from .index_form import IndexForm, constant_names
from .intervals import by_intervals
from .linalg import ENTRIES as LINEAR_ALGEBRA
from .symbols import as_number, gated, instantiate, number, safe_names, symbol, unrounded

#: how much longer than predicted the entries may be: a case is one operation of the program and several here
BEYOND = 4


def entry_forms(program: Program, most: int = BEYOND * BUDGET) -> list[np.ndarray]:
    """An object array of sympy expressions for each output; the caller has checked the predicted size.

    Raises ClosedFormTooLarge where there turn out to be more than ``most`` operations, or where sympy would not end.
    """
    value: dict[Node, Any] = {}
    written = _Written(most)
    for node, names in zip(program.inputs, entry_names(program), strict=True):
        symbols = np.empty(len(names), dtype=object)
        symbols[:] = [symbol(n, node.dtype) for n in names]
        value[node] = symbols.reshape(node.shape)
    for node in program.nodes:
        if node not in value:
            value[node] = _entry_values(node, [value[o] for o in node.operands])
            for entry in np.asarray(value[node], dtype=object).flat:
                written.check([entry])
    written.check([entry for o in program.outputs for entry in np.asarray(value[o], dtype=object).flat])
    return [_tidied(np.broadcast_to(np.asarray(value[o], dtype=object), o.shape)) for o in program.outputs]


def entry_at(program: Program, node: Node, index: Sequence[int]) -> sympy.Basic:
    """One element of ``node``: its sums written out, in the names of the entries, where they are short.

    Long sums stay ``sympy.Sum`` over ``x[i, j]``, which count from 0. Only what the element needs is built.
    """
    element: Any = IndexForm(program).element(node, index)
    if written_operations(element) > MAX_OPERATIONS or not all(is_concrete(n.shape) for n in program.inputs):
        return sympy.factor_terms(element)
    written: Any = element.doit() if element.has(sympy.Sum) else element
    named: dict[sympy.Basic, Any] = {}
    bases = safe_names(program.names)
    counts = [math.prod(n.shape) for n in program.inputs]
    for source, base, stem, count in zip(program.inputs, bases, _stems(bases, counts), counts, strict=True):
        for e, place in _inside(written, base, source.shape):
            flat = int(np.ravel_multi_index(place, source.shape))
            named[e] = symbol(stem if count == 1 else f"{stem}{flat}", source.dtype)
    for base, value in constant_names(program).items():
        counted = value.astype(int) if value.dtype.kind == "b" else value  # of which places are factors in formulas
        named.update({e: number(counted[place]) for e, place in _inside(written, base, value.shape)})
    return _shortest(written.xreplace(named))


def entries_apart(program: Program) -> list[np.ndarray]:
    """``entry_forms``, each entry taken from the index form on its own.

    It takes longer, and expands nothing but what an entry needs: what is zero by structure is gone before.
    """
    made = []
    for node in program.outputs:
        entries = np.empty(node.shape, dtype=object)
        for place in np.ndindex(entries.shape):
            entries[place] = entry_at(program, node, place)
        made.append(entries)
    return made


class _Written:
    """Counts the operations of formulas, in the order in which they are made of each other.

    ``last`` has for indices of sums the largest value.
    """

    def __init__(self, most: int, last: Mapping[Any, Any] | None = None) -> None:
        self.most = most
        self.last = last or {}
        self._count: dict[Any, float] = {}

    def check(self, entries: Sequence[Any]) -> None:
        """Raise ClosedFormTooLarge where the entries together have more operations than allowed."""
        if sum(map(self.operations, entries)) > self.most:
            raise ClosedFormTooLarge(
                f"the entry form has more than {self.most} operations when it is written out. The let-bound form is "
                "shorter: print .program(), or raise budget=."
            )

    def operations(self, expression: Any) -> float:
        """How many there are when sums are written out, at most."""
        known = self._count.get(expression)
        if known is None:
            parts = getattr(expression, "args", ())  # zeros of arrays are plain numbers
            if isinstance(expression, sympy.Sum):
                limits: Any = expression.limits
                steps = math.prod(_steps(low, high, self.last) for _, low, high in limits)
                known = steps * (self.operations(expression.function) + 1)
            elif isinstance(expression, sympy.Indexed) or not parts:
                known = 0
            else:
                known = max(len(parts) - 1, 1) + sum(map(self.operations, parts))
            self._count[expression] = known
        return known


#: operations of an entry whose sums are written out
MAX_OPERATIONS = 200


def _inside(written: Any, base: str, shape: Sequence[int]) -> list[tuple[sympy.Indexed, tuple[int, ...]]]:
    """The elements of one array in a formula, each with its place; one outside stands in a case that does not hold."""
    found = []
    for e in written.atoms(sympy.Indexed):
        if str(e.base) == base and all(i.is_Integer and 0 <= i < d for i, d in zip(e.indices, shape, strict=False)):
            found.append((e, tuple(map(int, e.indices))))
    return found


def written_operations(element: sympy.Basic) -> float:
    """How many operations a formula has when its sums are written out, at most."""
    last = {i: high for s in element.atoms(sympy.Sum) for i, _, high in s.limits}  # type: ignore[attr-defined]
    return _Written(0, last).operations(element)


def _steps(low: Any, high: Any, last: Mapping[Any, Any]) -> float:
    """How many indices there are, at most; the end of an inner sum may be the index of an outer one."""
    steps = _number_of(sympy.Min, high) - _number_of(sympy.Max, low) + 1
    for _ in last:
        if steps.is_Integer:
            break
        steps = steps.xreplace(last)
    return max(int(steps), 0) if steps.is_Integer else math.inf


def _number_of(kind: Any, bound: Any) -> Any:
    """The number that the least or the greatest of several bounds is compared with, where there is one."""
    numbers = [a for a in bound.args if a.is_Integer] if isinstance(bound, kind) else []
    return numbers[0] if numbers else bound


def entry_names(program: Program) -> list[list[str]]:
    """What the elements of each input are called, no two alike: ``x0``, or ``x_entry_0`` where ``x0`` is taken."""
    counts = [math.prod(n.shape) for n in program.inputs]
    stems = _stems(safe_names(program.names), counts)
    return [
        [stem] if count == 1 else [f"{stem}{k}" for k in range(count)]
        for stem, count in zip(stems, counts, strict=True)
    ]


def _stems(bases: list[str], counts: list[int]) -> list[str]:
    """The names of inputs of one element, and what the numbers of the others' elements follow."""
    for mark in ("", "_entry_", "_element_"):
        stems = [base if count == 1 else base + mark for base, count in zip(bases, counts, strict=True)]
        named = list(zip(stems, counts, strict=True))
        if not any(_clash(stem, count, *other) for stem, count in named if count != 1 for other in named):
            break
    return stems


def _clash(stem: str, count: int, other: str, others: int) -> bool:
    """True where an element named by ``stem`` and a number is called as ``other``, or as an element of it."""
    rest = other[len(stem) :].lstrip("_")  # x1 and x_1 are typeset alike
    if not other.startswith(stem) or not (rest.isascii() and rest.isdigit()):
        return False
    called = [rest] if others == 1 else [rest, f"{rest}0"]  # the array itself is called so too
    return any(str(int(number)) == number and int(number) < count for number in called)


def _entry_values(node: Node, operands: list[Any]) -> Any:
    name = node.primitive.name
    if name == "literal":
        return np.asarray(number(node.params[0]), dtype=object)
    if name == "constant":
        return _each(number, np.asarray(node.params[0].value))
    if isinstance(node.primitive, Elementwise):
        expr = node.primitive.expr
        return _each(lambda *v: instantiate(expr, SLOTS, list(v)), *operands)
    if name == "cast":
        return operands[0]
    if name == "gate":
        return _each(gated, *operands)
    if name in ("gather", "scatter"):
        index = np.asarray(operands[1], dtype=object)
        if all(e.is_number for e in index.ravel()):
            return node.primitive.evaluate(node.params, np.asarray(operands[0]), index.astype(int))
    if name in ("max", "min"):
        function = sympy.Max if name == "max" else sympy.Min
        return _reduced(function, _each(as_number, operands[0]), node.params[0])
    if isinstance(node.primitive, External):
        return _external(node, [_each(as_number, o) for o in operands])
    if name in SEARCHES or name in ("gather", "scatter"):
        raise UnsupportedOperation(f'an index computed from values ({name}) has no entry form; take form="index".')
    numbers = [_each(as_number, o) for o in operands]
    if name in ("fft", "rfft", "irfft"):
        return fourier.entries(node, *numbers)
    if name in LINEAR_ALGEBRA:
        return LINEAR_ALGEBRA[name](node.params, *numbers)
    return node.primitive.evaluate(node.params, *numbers)


def _external(node: Node, operands: list[np.ndarray]) -> np.ndarray:
    """Each element of what a function gives, by its place and the numbers that the function is given."""
    call, _, _, levels = node.params
    made = np.empty(node.shape, dtype=object)
    for place in np.ndindex(made.shape):
        entries = []
        for k, o in enumerate(operands):
            lead = tuple([i for i, (flags, _) in zip(place, levels, strict=False) if flags[k]])
            entries += np.asarray(o[lead], dtype=object).ravel().tolist()
        own = sympy.Tuple(*place[len(levels) :])
        made[place] = Applied(sympy.Symbol(call.name), own, *entries)
    return made


#: primitives whose results are indices
SEARCHES = ("argmax", "argmin", "argsort", "searchsorted")


def _each(function: Any, *arrays: Any) -> np.ndarray:
    arrays = np.broadcast_arrays(*[np.asarray(a, dtype=object) for a in arrays])
    made = np.empty(arrays[0].shape, dtype=object)
    for k in np.ndindex(made.shape):
        made[k] = function(*[a[k] for a in arrays])
    return made


def _reduced(function: Any, x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    rest = [k for k in range(x.ndim) if k not in axes]
    moved = x.transpose(*rest, *axes)
    flat = moved.reshape(*(x.shape[k] for k in rest), -1)
    made = np.empty(flat.shape[:-1], dtype=object)
    for k in np.ndindex(made.shape):
        made[k] = function(*flat[k])
    return made


def _tidied(array: np.ndarray) -> np.ndarray:
    """Common factors taken out, as a person would write it."""
    return _each(lambda e: _unrounded(_shortest(sympy.sympify(as_number(e)))), array)


def at_free_indices(element: Any) -> Any:
    """An element at free indices, tidied as entries are: those of arrays that it is made of are numbers to it."""
    if element.has(sympy.Sum, sympy.Product, OverIndices):
        return element
    numbers = {e: sympy.Dummy(str(e), real=True) for e in element.atoms(sympy.Indexed) if e.is_real}
    return _unrounded(_shortest(element.xreplace(numbers))).xreplace({own: e for e, own in numbers.items()})


def _unrounded(e: Any) -> Any:
    return e.xreplace({f: unrounded(f) for f in e.atoms(sympy.Float)})


#: operations up to which sums of angles and of fractions are put together, and terms that it may be multiplied out to
_MAX_TOGETHER, _MAX_TERMS = 80, 200
#: terms of a polynomial that may be multiplied out where that is shorter
_MAX_GATHERED = 8


def _shortest(e: Any) -> Any:
    """``e`` with common factors taken out, sums of fractions and of angles put together, where that is shorter."""
    e = by_intervals(in_two_cases(e))
    made: Any = sympy.factor_terms(e)
    gathered = sympy.Mul(*[_gathered(factor) for factor in sympy.Mul.make_args(made)])
    ways = list(dict.fromkeys((e, made, gathered, within_cases(made))))
    if made.is_Mul and made.args[0].is_Rational:
        ways.append(sympy.Mul(*made.args))  # a number times a sum is multiplied out
    is_short = made.count_ops() <= _MAX_TOGETHER
    if is_short and not made.has(sympy.exp) and _nested(made) and _is_expandable(made):
        ways.insert(0, sympy.together(made))
    if is_short and made.has(sympy.sin) and made.has(sympy.cos) and _is_expandable(made):
        expanded = sympy.expand(made)
        ways += [sympy.factor_terms(TR10i(way)) for way in (expanded, sympy.expand(TR5(expanded)))]
    return min(ways, key=lambda way: way.count_ops() + _NESTED * _nested(way) if len(ways) > 1 else 0)


#: operations that a fraction within a fraction is worth
_NESTED = 2


def _nested(e: Any) -> int:
    """How many fractions stand in the numerator or the denominator of others."""
    count, parts = 0, [(e, False)]
    while parts:
        part, is_inside = parts.pop()
        factors = sympy.Mul.make_args(part)
        powers = [f.as_base_exp() for f in factors]
        divides = any(f.is_Pow and exponent.could_extract_minus_sign() for f, (_, exponent) in zip(factors, powers))
        count += is_inside and divides
        parts += [(term, is_inside or divides) for base, _ in powers if base.is_Add for term in base.args]
    return count


def _gathered(factor: Any) -> Any:
    """A polynomial of few terms multiplied out: ``t² − 4t + 2``, not ``t (t − 2) − 2t + 2``."""
    is_short = factor.is_Add and _terms(factor) <= _MAX_GATHERED and factor.is_polynomial()
    return sympy.expand(factor) if is_short else factor


def _is_expandable(e: Any) -> bool:
    return all(_terms(part) <= _MAX_TERMS for part in sympy.preorder_traversal(e))


def _terms(e: Any) -> int:
    """How many terms there are when ``e`` is multiplied out."""
    if e.is_Add:
        return sum(map(_terms, e.args))
    if e.is_Mul:
        return math.prod(map(_terms, e.args))
    if e.is_Pow and e.exp.is_Integer:
        return _terms(e.base) ** min(abs(int(e.exp)), _MAX_TERMS)
    return 1

"""Outcome: everything that a panel shows for one state of its flags and inputs, computed without widgets."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.flags.registry import shown_by
from symgrad.program.program import Program
from symgrad.tracing.tree import flatten
from symgrad.transforms.derived import DerivedFunction

from ..structure import caption, operation_count, shape_tree, visible
from .code import code_lines
from .flags import Flags, asks_alike, derivative
from .formulas import Formula, formulas, formulas_of_steps, labels
from .marks import Row, compared
from .subject import Subject

#: derivatives that a study remembers
_MAX_KEPT = 64


@dataclass(frozen=True)
class Value:
    """An array of the result: its name, its shape and its numbers."""

    name: str
    shape: tuple[int, ...]
    numbers: str


@dataclass(frozen=True)
class Outcome:
    """What is shown of one derivative: formulas with marks, shapes in their structure, values, code, remarks."""

    flags: Flags
    formulas: list[Formula]
    rows: list[Row]
    tree: str
    caption: str
    values: list[Value]
    operations: int
    code: str
    notes: list[str]
    program: Program
    result: Any
    shown: list[tuple[str, str]]


class Study:
    """The derivatives of one subject by its flags. Each is traced once, and once more where its formulas have names.

    ``namespace`` and ``derived`` are what ``code_lines`` finds names by.

    >>> study = Study(Subject.of(lambda x, y: x * y, (2.0, 3.0)))
    >>> first = study.outcome(Flags())
    >>> [row.text for row in first.rows], first.tree
    (['∂f/∂x = y'], '∂f/∂x: ()')
    >>> second = study.outcome(Flags(grad_position=(0, 1)), before=first)
    >>> [(row.status, row.text) for row in second.rows]
    [('stayed', '∂f/∂x = y'), ('appeared', '∂f/∂y = x')]
    """

    def __init__(self, subject: Subject, namespace: Mapping[str, Any] | None = None, derived: Any = None) -> None:
        self.subject = subject
        self.namespace = namespace
        self.derived = derived
        self._derivatives: dict[Flags, DerivedFunction] = {}
        self._formulas: dict[Flags, tuple[Program, list[Formula]]] = {}

    def derivative(self, flags: Flags) -> DerivedFunction:
        """The derivative of these flags, the same one each time."""
        if flags not in self._derivatives:
            while len(self._derivatives) >= _MAX_KEPT:
                oldest = next(iter(self._derivatives))
                del self._derivatives[oldest]
                self._formulas.pop(oldest, None)
            made = derivative(self.subject, flags)
            self._derivatives[flags] = self.derived if asks_alike(made, self.derived) else made
        return self._derivatives[flags]

    def arguments(self, flags: Flags, args: Sequence[Any], sens: Any) -> tuple[tuple, dict[str, Any]]:
        """What the derivative of these flags is called with."""
        own = dict(self.subject.kwargs)
        if not flags.takes_sens:
            return tuple(args), own
        # only the operation itself knows sens by name; gradients of its gradients take it as an argument
        return (tuple(args), own | {"sens": sens}) if flags.order == 1 else ((*args, sens), own)

    def outcome(
        self, flags: Flags, args: Sequence[Any] | None = None, sens: Any = None, before: Outcome | None = None
    ) -> Outcome:
        """What the derivative of ``flags`` is at ``args`` (the subject's own where None), marked against ``before``.

        ``sens`` None weighs every output by one. Whatever the public calls refuse is raised as they raise it.
        """
        subject = self.subject
        values = subject.args if args is None else tuple(args)
        if flags.takes_sens and sens is None:
            sens = subject.ones()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            derived = self.derivative(flags)
            called, named = self.arguments(flags, values, sens)
            result = derived(*called, **named)
            entry = derived._entry(called, named)
        program = entry.readable
        names = labels(derived, entry, called)
        known = self._formulas.get(flags)
        if known is None or known[0] is not program:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they have been caught above
                told = formulas_of_steps(derived, entry, called, named)
            known = self._formulas[flags] = (program, formulas(program, names, subject.small, told))
        return Outcome(
            flags,
            known[1],
            compared(before.formulas if before else None, known[1]),
            visible(shape_tree(entry, [label.text for label in names])),
            caption(derived, subject.shapes) or "∂out: the gradient of the output",
            _values([label.text for label in names], result, entry.shapes),
            operation_count(program),
            code_lines(subject, flags, self.namespace, args=values, sens=sens, derived=self.derived),
            _notes(subject, before, known[1], result, caught),
            program,
            result,
            [(name, visible(str(thing))) for name, thing in _shown(flags, derived, called, named)],
        )


def _shown(flags: Flags, derived: DerivedFunction, args: tuple, kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What flags show besides, with their names."""
    for name, value in flags.others:
        for thing in shown_by(derived, args, kwargs, {name: value}):
            yield name, thing


def _values(names: Sequence[str], result: Any, shapes: Sequence[tuple | None]) -> list[Value]:
    leaves, _ = flatten(result)
    arrays = [np.asarray(v) for v, shape in zip(leaves, shapes, strict=True) if shape is not None]
    return [Value(visible(name), a.shape, _numbers(a)) for name, a in zip(names, arrays, strict=True)]


def _numbers(array: np.ndarray) -> str:
    return np.array2string(array, precision=5, threshold=60, edgeitems=2, suppress_small=False, max_line_width=100)


def _notes(
    subject: Subject,
    before: Outcome | None,
    found: list[Formula],
    result: Any,
    caught: Sequence[warnings.WarningMessage],
) -> list[str]:
    notes = list(dict.fromkeys(" ".join(str(w.message).split()).split(". ")[0] for w in caught))
    numbers = [np.asarray(v) for v in flatten(result)[0] if isinstance(v, (float, np.ndarray, np.generic))]
    if not all(np.isfinite(v).all() for v in numbers if v.dtype.kind == "f"):
        notes.append("not finite here: the function or its derivative has no number at these inputs")
    if subject.branches:
        notes.append("the function branches on values: the formulas hold while it goes the way of these")
    if before is not None and before.formulas == found:
        notes.append("the formulas are the same as before")
    return [visible(note) for note in notes]

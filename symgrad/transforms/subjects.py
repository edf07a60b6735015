"""The Subject of an export: what a derivative is, where it came from, and what it is checked by."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..closed_form.symbols import safe_name
from ..errors import ArgumentError
from ..exporters.check import SPARSE_PARTS, Check, Wanted, check_of, wanted_of
from ..exporters.subject import Argument, Facts, SparseOutcome, Subject
from ..kernels.kernel import lower, optimized
from ..kernels.sparse import SparseBlock
from ..named_dims import is_shapes, parameters_of
from ..passes.cofactors import written_out
from ..passes.rare import without_rare
from ..primitives import functions as f
from ..primitives.casting import cast
from ..primitives.contraction import contract
from ..primitives.primitive import CapturedArray, constant, literal
from ..program.node import Node
from ..program.program import Program
from ..signature import called_name
from ..trace_entry import TraceEntry
from .differenced import Differenced

if TYPE_CHECKING:
    from .derived import DerivedFunction

#: entries of a dense result that is computed to take finite differences of a sparse one
_MAX_DENSE = 1 << 20
_WORDS = {"grad": "gradient", "jacobian": "Jacobian", "hessian": "Hessian", "symbolic": "value"}


def subject_of(
    derived: DerivedFunction, args: tuple, kwargs: dict[str, Any], path: str | Path | None, form: str, document: bool
) -> Subject:
    """``derived`` at these arguments as an export sees it; the latest traced ones where there are none."""
    asked, derived = derived, derived._readable()
    known = bool(args or kwargs) and not is_shapes(args, kwargs)
    arrays: list[np.ndarray] | None = None
    if known:
        entry, given = derived._served(args, kwargs)
        arrays = [np.asarray(a) for a in given]
    else:
        entry = derived._entry(args, kwargs)
        if entry.host is not None:
            raise ArgumentError(
                f"{derived.__name__}: the latest call took an int that changes from call to call, and Python computes "
                "a part of it; pass example arguments, for whose ints the export then is."
            )
    program, conditions, traced = _guarded(entry)
    called = safe_name(called_name(derived.underlying))
    name = safe_name(f"{derived.verb}_{called}")

    def checked() -> Check | str:
        whole = program.with_outputs((*program.outputs, *conditions))
        found = check_of(whole, len(conditions), arrays)
        if isinstance(found, str) or arrays is None:
            return found
        if any(g.values is None for g in found.given):
            return replace(found, differences="not taken for large arrays")
        residual, said = Differenced(derived, entry, args, kwargs).residual()
        return replace(found, residual=residual, differences=said)

    made = Subject(
        name,
        f"the {_WORDS.get(derived.verb, derived.verb)} of {called}",
        name if path is None else Path(path).stem,
        program,
        conditions,
        derived.labels(entry),
        entry.structure,
        entry.slots,
        _arguments(derived, entry),
        _weights(entry),
        Facts(called, _source_hash(derived.underlying), _spelled(derived.flags), entry.operations()),
        checked,
        traced,
        form,
        document,
    )
    return replace(made, as_sparse=lambda: _sparse_subject(made, asked, args, kwargs)) if asked.sparse else made


def _sparse_subject(dense: Subject, derived: DerivedFunction, args: tuple, kwargs: dict[str, Any]) -> Subject:
    """The sparse ``derived`` of which ``dense`` is the dense one."""
    if not (args or kwargs) or is_shapes(args, kwargs):
        raise ArgumentError("sparse=True needs sizes; export it with example arrays, or the dense derivative.")
    entry, given = derived._served(args, kwargs)
    arrays = [np.asarray(a) for a in given]
    program, conditions, traced = _guarded(entry)
    outcomes: list[int | SparseOutcome] = []
    slots: list[tuple[bool, Any]] = []
    for k, (is_array, value) in enumerate(entry.slots):
        if not is_array and k not in entry.assembled:
            slots.append((False, value))
            continue
        slots.append((True, len(outcomes)))
        if is_array:
            outcomes.append(value)
        else:
            block, own = entry.assembled[k]
            assert isinstance(block, SparseBlock)
            outcomes.append(SparseOutcome(block, own))

    def checked() -> Check | str:
        whole = program.with_outputs((*program.outputs, *conditions))
        found = check_of(whole, len(conditions), arrays)
        if isinstance(found, str):
            return found
        given = [float(g.array()) if n.weak else g.array() for g, n in zip(found.given, program.inputs, strict=True)]
        with np.errstate(all="ignore"):
            results = lower(program, "numpy")(*given)
        wanted: list[Wanted] = []
        for outcome in outcomes:
            if isinstance(outcome, int):
                wanted.append(found.wanted[outcome])
            else:
                block = outcome.block.assemble(results[outcome.own])
                wanted += [wanted_of(getattr(block, part)) for part in SPARSE_PARTS]
        found = replace(found, wanted=tuple(wanted))
        count = sum(math.prod(o.block.shape) for o in outcomes if not isinstance(o, int))
        if count > _MAX_DENSE or dense.check is None:
            return replace(found, differences="not taken for large results")
        return replace(found, residual=dense.check.residual, differences=dense.check.differences)

    return replace(
        dense,
        program=program,
        conditions=conditions,
        structure=entry.structure,
        slots=slots,
        checked=checked,
        traced=traced,
        as_sparse=None,
        assembled=outcomes,
    )


def _arguments(derived: DerivedFunction, entry: TraceEntry) -> list[Argument]:
    """The arguments in the order of the function's own, whichever of them were passed by name."""
    inputs = itertools.count()
    given = [
        Argument(label, structure, tuple([(True, next(inputs)) if is_input else (False, v) for is_input, v in slots]))
        for label, structure, slots in entry.taken_as
    ]
    count = len(given) - len(entry.keywords)
    ordered, by_name = given[:count], {a.label: a for a in given[count:]}
    for parameter in parameters_of(derived)[count:]:
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD or parameter.name not in by_name:
            break
        ordered.append(by_name.pop(parameter.name))
    return [*ordered, *[replace(a, by_name=True) for a in by_name.values()]]


def _weights(entry: TraceEntry) -> dict[str, np.ndarray]:
    """What the weights that the function reads are now, by names of which no two are the same."""
    made: dict[str, np.ndarray] = {}
    for parameter in entry.parameters:
        name, count = parameter.name, 1
        while name in made:
            count += 1
            name = f"{parameter.name}_{count}"
        made[name] = np.array(parameter)
    return made


def _guarded(entry: TraceEntry) -> tuple[Program, tuple[Node, ...], Program]:
    """The program after the passes, what must be True for it to hold, and both as one program before the passes."""
    if not entry.taken:
        return entry.exported, (), entry.program
    with entry.program.graph:
        held = [_holds(n, v) for n, v in zip(entry.branches.outputs, entry.taken, strict=True)]
    traced = entry.program.with_outputs((*entry.program.outputs, *dict.fromkeys(held)))
    together = optimized(written_out(without_rare(traced)[0]))
    count = len(entry.program.outputs)
    return together.with_outputs(together.outputs[:count]), together.outputs[count:], traced


def _holds(node: Node, taken: Any) -> Node:
    """Whether a value that was branched on is what it was, as one truth value."""
    if node.shape == () and node.dtype.kind == "b":
        return node if taken else f.logical_not(node)
    same = f.equal(node, literal(taken.item()) if node.shape == () else constant(CapturedArray(np.array(taken))))
    if node.shape == ():
        return same
    count = contract([cast(same, np.dtype(np.int64))], [tuple(range(node.ndim))], (), node.shape, "sum")
    return f.equal(count, literal(int(np.prod(node.shape))))


def _source_hash(function: Any) -> str:
    """The first digits of the SHA-256 of a function's source; of its code, where the source is not known."""
    function = inspect.unwrap(function) if callable(function) else function
    described = function if inspect.isroutine(function) else type(function)
    try:
        content = inspect.getsource(described).encode()
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        if code is None:
            return "unknown"
        content = code.co_code + repr([c for c in code.co_consts if not inspect.iscode(c)]).encode()
    return hashlib.sha256(content).hexdigest()[:16]


def _spelled(flags: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in flags.items()) or "none"

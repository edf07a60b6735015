"""The Subject of an export: what a derivative is, where it came from, and what it is checked by."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..closed_form.symbols import safe_name
from ..compiled import Entry
from ..exporters.check import Check, check_of
from ..exporters.subject import Facts, Subject
from ..kernels.kernel import optimized
from ..named_dims import is_shapes
from ..primitives import functions as f
from ..primitives.contraction import contract
from ..primitives.elementwise import cast
from ..primitives.primitive import Captured, constant, literal
from ..program.node import Node
from ..program.program import Program
from .differenced import Differenced

if TYPE_CHECKING:
    from .derived import DerivedFunction

_WORDS = {"grad": "gradient", "jacobian": "Jacobian", "hessian": "Hessian", "symbolic": "value"}


def subject_of(
    derived: DerivedFunction, args: tuple, kwargs: dict[str, Any], path: str | Path | None, form: str, document: bool
) -> Subject:
    """``derived`` at these arguments as an export sees it; the latest traced ones where there are none."""
    known = bool(args or kwargs) and not is_shapes(args, kwargs)
    arrays: list[np.ndarray] | None = None
    if known:
        derived._check(args, kwargs)
        entry, leaves = derived._compiled.served(*args, **kwargs)
        arrays = [np.asarray(a) for a in entry.arguments(leaves)]
    else:
        entry = derived._entry(args, kwargs)
    program, conditions, traced = _guarded(entry)
    called = safe_name(_called(derived))
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

    return Subject(
        name,
        f"the {_WORDS.get(derived.verb, derived.verb)} of {called}",
        name if path is None else Path(path).stem,
        program,
        conditions,
        derived.labels(entry),
        entry.structure,
        entry.slots,
        Facts(called, _source_hash(derived.underlying), _spelled(derived.flags), _primitives(entry)),
        checked,
        traced,
        form,
        document,
    )


def _called(derived: DerivedFunction) -> str:
    from .derived import called_name

    return called_name(derived.underlying)


def _guarded(entry: Entry) -> tuple[Program, tuple[Node, ...], Program]:
    """The program after the passes, what must be True for it to hold, and both as one program before the passes."""
    if not entry.taken:
        return entry.readable, (), entry.program
    with entry.program.graph:
        held = [_holds(n, v) for n, v in zip(entry.branches.outputs, entry.taken, strict=True)]
    traced = entry.program.with_outputs((*entry.program.outputs, *dict.fromkeys(held)))
    together = optimized(traced)
    count = len(entry.program.outputs)
    return together.with_outputs(together.outputs[:count]), together.outputs[count:], traced


def _holds(node: Node, taken: Any) -> Node:
    """Whether a value that was branched on is what it was, as one truth value."""
    if node.shape == () and node.dtype.kind == "b":
        return node if taken else f.logical_not(node)
    same = f.equal(node, literal(taken.item()) if node.shape == () else constant(Captured(np.array(taken))))
    if node.shape == ():
        return same
    count = contract([cast(same, np.dtype(np.int64))], [tuple(range(node.ndim))], (), node.shape, "sum")
    return f.equal(count, literal(int(np.prod(node.shape))))


def _primitives(entry: Entry) -> frozenset[str]:
    """The operations of the trace: the function's own too, which its derivative may not read."""
    return frozenset(n.primitive.name for n in entry.program.graph.table.values())


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

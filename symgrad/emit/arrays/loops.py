"""A loop as lines: ``for`` around those of its body, or a function of a step where a library repeats such.

A step reads what the lines before the loop have named; what it carries has one name from step to step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...primitives.loop import Loop
from ...program.node import Node

if TYPE_CHECKING:
    from .writer import ArrayWriter

_INDENT = "    "


def write_loop(w: ArrayWriter, node: Node) -> list[str]:
    """Write a loop as one text of several lines; the names of its results."""
    return _stepped(w, node) if w.dialect.scan else _repeated(w, node)


def _repeated(w: ArrayWriter, node: Node) -> list[str]:
    """``for t in range(n):``"""
    loop: Loop = node.params[0]
    arrays = node.operands[loop.carries : loop.carries + loop.elements]
    carries = [w.assign(strong(w, o)) for o in node.operands[: loop.carries]]
    kept = [_room(w, loop, o) for o in loop.kept]
    count, step = f"range({w.dim(loop.length)})", w.new_step()
    rows = [f"for {step} in {f'reversed({count})' if loop.reverse else count}:"]
    items = [w.new_name() for _ in arrays]
    body = w.within(loop.body, [*carries, *items, *_constants(w, node)], step)
    rows += [f"{_INDENT}{item} = {w.read(a)}[{step}]" for item, a in zip(items, arrays, strict=True)]
    after = body.written()
    rows += [_INDENT + line for line in body.lines]
    nexts = [strong(body, o) for o in loop.body.outputs[: loop.carries]]
    store = "{}.append({})" if w.dialect.stacks else f"{{}}[{step}] = {{}}"
    values = zip(kept, loop.kept, after[loop.carries :], strict=True)
    rows += [_INDENT + store.format(name, strong(body, o) if w.dialect.stacks else code) for name, o, code in values]
    moved = [(name, code) for name, code in zip(carries, nexts, strict=True) if name != code]
    if moved:
        rows.append(f"{_INDENT}{', '.join(name for name, _ in moved)} = {', '.join(code for _, code in moved)}")
    w.lines.append("\n".join(rows if len(rows) > 1 else [*rows, f"{_INDENT}pass"]))
    if w.dialect.stacks:
        turned = "[::-1]" if loop.reverse else ""
        kept = [w.assign(w.call("stack", f"{name}{turned}")) if _runs(loop) else name for name in kept]
    return [*[carries[k] for k in loop.finals], *kept]


def _room(w: ArrayWriter, loop: Loop, node: Node) -> str:
    """What is kept of the steps, before them."""
    if w.dialect.stacks and _runs(loop):
        return w.assign("[]")
    shape = (loop.length, *node.shape)
    return w.assign(w.call("zeros", shape=w.shape(shape), dtype=w.dtype(node.dtype)), shape=shape)


def _runs(loop: Loop) -> bool:
    """Whether there is a step; sizes that are names are positive."""
    return not isinstance(loop.length, int) or loop.length > 0


def _stepped(w: ArrayWriter, node: Node) -> list[str]:
    """A function of what is carried and an element of each array."""
    loop: Loop = node.params[0]
    first = loop.carries + loop.elements
    carried, items = [w.new_name() for _ in range(loop.carries)], [w.new_name() for _ in range(loop.elements)]
    step = w.new_step("_step")
    body = w.within(loop.body, [*carried, *items, *_constants(w, node)], step)
    body.written()
    values = [strong(body, o) for o in loop.body.outputs]
    rows = [f"def {step}(_carry, _elements):"]
    rows += [f"{_INDENT}{_tuple(own)} = {given}" for own, given in ((carried, "_carry"), (items, "_elements")) if own]
    rows += [_INDENT + line for line in body.lines]
    rows.append(f"{_INDENT}return {_tuple(values[: loop.carries])}, {_tuple(values[loop.carries :])}")
    w.lines.append("\n".join(rows))
    begun = [strong(w, o) for o in node.operands[: loop.carries]]
    arrays = [w.read(o) for o in node.operands[loop.carries : first]]
    finals, kept = [w.new_name() for _ in carried], [w.new_name() for _ in loop.kept]
    results = ", ".join([_tuple(finals) if finals else "_", _tuple(kept) if kept else "_"])
    parts = {"step": step, "begun": _tuple(begun), "arrays": _tuple(arrays), "length": w.dim(loop.length)}
    w.lines.append(f"{results} = {w.dialect.scan.format(**parts, reverse=loop.reverse)}")
    return [*[finals[k] for k in loop.finals], *kept]


def strong(w: ArrayWriter, node: Node) -> str:
    """A value as an array, or a number of the library."""
    return w.converted(node, node.dtype) if w.is_number(node) or node.weak else w.read(node)


def _constants(w: ArrayWriter, node: Node) -> list[str]:
    loop: Loop = node.params[0]
    first = loop.carries + loop.elements
    return [
        w.read(o) if own.weak or not w.is_number(o) else w.converted(o, own.dtype)
        for o, own in zip(node.operands[first:], loop.inputs[first:], strict=True)
    ]


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(names)}{',' * (len(names) == 1)})"

"""A region as the source of a function of one block: a ufunc call a line, each into a result or into scratch memory.

Values that a block makes live in few scratch arrays, which are used again as soon as a value is dead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from ..primitives.casting import CAST
from ..primitives.contraction import EINSUM, GATE, Labels
from ..primitives.elementwise import Elementwise
from ..primitives.functions import add, divide, negative, power, subtract, where
from ..primitives.primitive import literal_value
from ..program.node import Node
from .numpy_backend import Writer
from .regions import REDUCTIONS, Region, kept_axes

#: whole exponents up to this one are multiplications
_MAX_FACTORS = 16


def kept_by(node: Node) -> tuple[int, ...]:
    """The axes that a reduction keeps."""
    if node.primitive is not EINSUM:
        return tuple(k for k in range(node.operands[0].ndim) if k not in node.params[0])
    labels, out, _, _ = node.params
    kept = kept_axes(max(labels, key=len), out)
    assert kept is not None
    return kept


def whole_exponent(node: Node) -> int:
    """The exponent of a power that multiplications compute, else 0."""
    if node.primitive is not power or node.dtype.kind != "f" or not node.operands[1].is_literal:
        return 0
    value = literal_value(node.operands[1])
    return int(value) if value == int(value) and 2 <= abs(value) <= _MAX_FACTORS else 0


class BlockFunction:
    """The source of one region's function, and ``operands``: the source of what it is called with."""

    def __init__(self, writer: Writer, region: Region, name: str, cost: float) -> None:
        self.region = region
        self.name = name
        self._cost = cost
        self.operands: list[str] = []
        self._writer = writer
        self._lines: list[str] = []
        self._views: dict[str, str] = {}
        self._place: dict[Node, str] = {}  # the name of each value
        self._memory: dict[Node, str] = {}  # the scratch memory of those that are there and may still be read
        self._scratch: list[tuple[str, np.dtype]] = []
        self._free: dict[np.dtype, list[str]] = {}
        self._own = set(region.members)
        self._same: dict[Node, Node] = {}
        for node in region.members:
            if node.primitive.name == "stop_gradient":
                (x,) = node.operands
                self._same[node] = x
        self._outputs = {n: writer.new_name() for n in region.outputs if n not in region.reductions}
        self._inverted: set[Node] = set()
        self._unsigned: set[Node] = set()
        self._negated: dict[Node, tuple[Node, Node]] = {}
        self._simplify()
        self._last: dict[Node, int] = {}
        for k, node in enumerate(region.members):
            self._last.update((self._value(o), k) for o in node.operands)
        self._reduced: list[str] = []
        taken = [(n, self._taken_over(n, k)) for k, n in enumerate(region.members) if n in self._outputs]
        for k, node in enumerate(region.members):
            self._member(node, k)
        self._reused = [self._reused_operand(name) for _, name in taken]

    def source(self) -> str:
        """The function, and the ``Blocks`` that runs it."""
        region = self.region
        arguments = [*self._views.values(), *self._outputs.values(), *[name for name, _ in self._scratch], "axes"]
        body = "\n".join(f"    {line}" for line in self._lines)
        results = "".join(f"{r}, " for r in self._reduced)
        reductions = "".join(f"(np.{REDUCTIONS[n.primitive.name]}, {kept_by(n)}), " for n in region.reductions)
        settings = (
            f"{_dtypes(n.dtype for n in self._outputs)}, {tuple(self._reused)}, ({reductions}), "
            f"{_dtypes(d for _, d in self._scratch)}, {self._cost:.1f}"
        )
        return (
            f"def {self.name}({', '.join(arguments)}):\n{body}\n    return ({results})\n\n"
            f"{self.name}_of = Blocks({self.name}, {settings})\n"
        )

    def _simplify(self) -> None:
        """Find signs that a sum takes on, and reciprocals that a product divides by."""
        reads = Counter([*self._outputs, *(o for n in self.region.members for o in n.operands)])
        for node in self.region.members:
            if node.primitive in (add, subtract):
                first, second = node.operands
                for o, other in ((second, first), (first, second))[: 1 + (node.primitive is add)]:
                    if o in self._own and reads[o] == 1 and self._loses_sign(o):
                        self._negated[node] = (other, o)
                        break
            elif node.primitive is EINSUM and node not in self.region.reductions:
                for o in node.operands:
                    if o in self._own and reads[o] == 1 and o.primitive is divide and self._code(o.operands[0]) == "1":
                        self._inverted.add(o)
                        self._same[o] = o.operands[1]

    def _loses_sign(self, node: Node) -> bool:
        """True for a negated value, which from now on stands for what it negates."""
        if node.dtype.kind != "f" or node.primitive not in (negative, EINSUM):
            return False
        wide = [o for o in node.operands if o.shape]
        if node.primitive is EINSUM and "(-1.0)" not in map(self._code, node.operands):
            return False
        if len(node.operands) <= 2 and len(wide) == 1 and wide[0] not in self._inverted:
            if wide[0].shape != node.shape:
                return False
            self._same[node] = wide[0]
        self._unsigned.add(node)
        return True

    def _taken_over(self, output: Node, k: int) -> str | None:
        """A value from outside that dies in this region, and before the member at ``k``, which takes its memory."""
        read = [o for o in self.region.reads if self._last.get(o, k) < k]
        return self._writer._dying_buffer(output, read)

    def _reused_operand(self, name: str | None) -> int:
        """Which operand's memory a result takes; -1 for none: where it is read along other axes too, it is kept."""
        read = [k for k, code in enumerate(self.operands) if code.partition("[")[0] == name]
        return read[0] if len(read) == 1 and self.operands[read[0]] == name else -1

    def _code(self, o: Node) -> str:
        """The source of a number, empty for what is none."""
        return self._writer.names[o] if o.is_literal else ""

    def _value(self, o: Node) -> Node:
        """What is read where ``o`` is read."""
        while o in self._same:
            o = self._same[o]
        return o

    def _member(self, node: Node, k: int) -> None:
        if node in self.region.reductions:
            self._reduce(node, k)
        elif node in self._same:
            if node in self._outputs:
                self._elementwise("copied", node, node.operands, k)
        elif node.primitive is where:
            self._elementwise("select", node, node.operands, k)
        elif node.primitive is GATE:
            self._elementwise("masked", node, node.operands, k, node.operands[1:])
        elif node.primitive is CAST:
            self._elementwise("copied", node, node.operands, k)
        elif node.primitive is EINSUM:
            self._product(node, node.params[0], node.params[1], k)
        elif whole_exponent(node):
            self._power(node, k)
        else:
            assert isinstance(node.primitive, Elementwise)
            function = self._writer.function(node.primitive)
            if node in self._negated:
                function = "np.add" if node.primitive is subtract else "np.subtract"
            self._elementwise(function, node, self._negated.get(node, node.operands), k, node.operands)
        self._release(node.operands, k)

    def _elementwise(
        self, function: str, node: Node, operands: Sequence[Node], k: int, overwritten: Sequence[Node] = ()
    ) -> None:
        """One call, into memory of ``overwritten`` where that dies."""
        read = [self._operand(o) for o in operands]
        target = self._target(node, k, overwritten)
        self._place[node] = self._call(function, read, target)

    def _call(self, function: str, operands: Sequence[str], target: str) -> str:
        """The name of a new value: each has one of its own, so that the text says what it reads."""
        name = self._writer.new_name()
        self._lines.append(f"{name} = {function}({', '.join(operands)}, out={target})")
        return name

    def _operand(self, o: Node, labels: Labels = (), out: Labels = ()) -> str:
        o = self._value(o)
        if o in self._place:
            return self._place[o]
        code = self._writer.names[o]
        if o.is_literal:
            return code
        return self._named(code + aligned_index(labels, out))

    def _named(self, code: str) -> str:
        """The name in the function of what the kernel computes as ``code``."""
        if code.startswith("(") or code[0].isdigit():
            return code  # a number
        if code not in self._views:
            self._views[code] = code if code.isidentifier() else self._writer.new_name()
            self.operands.append(code)
        return self._views[code]

    def _target(self, node: Node, k: int, overwritten: Sequence[Node]) -> str:
        """Where a node's value goes: its result, or scratch memory; that of ``overwritten`` where they die."""
        if node in self._outputs:
            return self._outputs[node]
        self._release(overwritten, k)
        self._memory[node] = self._take(node.dtype)
        return self._memory[node]

    def _take(self, dtype: np.dtype) -> str:
        free = self._free.setdefault(dtype, [])
        if not free:
            self._scratch.append((self._writer.new_name(), dtype))
            free.append(self._scratch[-1][0])
        return free.pop()

    def _release(self, nodes: Sequence[Node], k: int) -> None:
        for o in map(self._value, nodes):
            if self._dies(o, k):
                self._free.setdefault(o.dtype, []).append(self._memory.pop(o))

    def _product(self, node: Node, labels: Sequence[Labels], out: Labels, k: int) -> None:
        scalars = [self._writer.names[o] for o in node.operands if not o.shape]
        if node in self._unsigned:
            scalars.remove("(-1.0)")
        negated = scalars == ["(-1.0)"]
        wide = [(o, ls) for o, ls in zip(node.operands, labels, strict=True) if o.shape]
        wide.sort(key=lambda p: not self._dies(p[0], k))  # what is overwritten is read first
        read = [(o, self._operand(o, ls, out)) for o, ls in wide]
        factors = [(o, code) for o, code in read if o not in self._inverted]
        divisors = [(o, code) for o, code in read if o in self._inverted]
        if not negated:
            factors += [(None, self._named(s)) for s in self._writer.folded(scalars, node.operands)]
        factors = factors or [(None, "1")]
        target = self._target(node, k, self._read_once([o for o, _ in factors + divisors]))
        made = self._chained("np.multiply", [code for _, code in factors], target)
        made = self._chained("np.divide", [made, *(code for _, code in divisors)], target)
        self._place[node] = self._call("np.negative", [made], target) if negated else made

    def _chained(self, function: str, read: Sequence[str], target: str) -> str:
        """The name of what ``function`` makes of the first two, then of that and the next, in ``target``."""
        made, *rest = read
        for operand in rest:
            made = self._call(function, [made, operand], target)
        return made

    def _read_once(self, read: Sequence[Node | None]) -> list[Node]:
        """Those of the first two values, which one call reads, that no later call reads."""
        later = {self._value(o) for o in read[2:] if o is not None}
        return [o for o in read[:2] if o is not None and self._value(o) not in later]

    def _power(self, node: Node, k: int) -> None:
        """A whole power by squaring."""
        exponent = whole_exponent(node)
        made = base = self._operand(node.operands[0])
        bits = bin(abs(exponent))[3:]
        target = self._target(node, k, () if "1" in bits else node.operands[:1])
        for bit in bits:
            made = self._call("np.square", [made], target)
            if bit == "1":
                made = self._call("np.multiply", [made, base], target)
        self._place[node] = self._call("np.divide", ["1", made], target) if exponent < 0 else made

    def _reduce(self, node: Node, k: int) -> None:
        axes = f"axis=axes[{len(self._reduced)}]"
        wide = [o for o in node.operands if o.shape]
        factors = [self._operand(o) for o in wide]
        if len(wide) > 1:
            self._release(self._read_once(wide), k)
            target = self._take(node.dtype)
            self._free[node.dtype].append(target)
            factors = [self._chained("np.multiply", factors, target)]
        (made,) = factors
        code = f"np.{REDUCTIONS[node.primitive.name]}.reduce({made}, {axes})"
        scalars = [self._writer.names[o] for o in node.operands if not o.shape]
        for factor in self._writer.folded(scalars, node.operands):
            code = f"np.multiply({code}, {self._named(factor)})"
        self._reduced.append(self._writer.new_name())
        self._lines.append(f"{self._reduced[-1]} = {code}")

    def _dies(self, o: Node, k: int) -> bool:
        """True where the scratch memory of a value is free after the member at ``k``."""
        o = self._value(o)
        return self._last[o] == k and o in self._memory


def aligned_index(labels: Labels, out: Labels) -> str:
    """The index that makes an array with axes ``labels`` broadcast over ``out``.

    >>> aligned_index((0,), (0, 1)), aligned_index((1,), (0, 1)), aligned_index((0, 2), (0, 1))
    ('[:, None]', '', '[:, 0, None]')
    """
    if labels == out[len(out) - len(labels) :]:
        return ""
    entries, k = [], 0
    for i in labels:
        if i not in out:
            entries.append("0")
            continue
        while out[k] != i:
            entries += ["None"] if entries else []  # in front broadcasting adds them
            k += 1
        entries.append(":")
        k += 1
    entries += ["None"] * (len(out) - k)
    return f"[{', '.join(entries)}]"


def _dtypes(dtypes: Iterable[np.dtype]) -> str:
    return "(" + "".join(f"{d.name!r}, " for d in dtypes) + ")"

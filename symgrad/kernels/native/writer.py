"""The native backend's writer: a schedule as compiled steps, and the Python source that calls them.

Steps that follow one another are one call into C; between them stand the lines of the NumPy backend for what C does not
compute. Values that NumPy sees are arrays; the others live in one block of memory that is used again and again.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ...emit.loops.regions import Block, Put, Region
from ...primitives.loop import Loop
from ...primitives.primitive import Leaf
from ...primitives.scan import PART
from ...program.node import Node
from ...program.program import Program
from ..explanation import Step as Told
from ..explanation import named, node_step
from ..numpy_backend import REUSED_FROM, Writer
from .form import Access, Form
from .memory import bytes_of, placed
from .points import for_loops, work_of
from .scans import part_sums
from .schedule import Schedule
from .steps import Emitted, Pointer
from .threads import THREADS, DealIfFaster, deal, in_turn, on_contiguous, take_block
from .turns import steps_in

#: bytes of the block up to which it stands on the stack
_ON_STACK = 1 << 15
#: bytes of the block up to which it is kept for the next call
_MAX_KEPT = 1 << 28
#: additions from which a call releases the interpreter's lock
_LONG = 20_000.0

#: additions of a step from which other threads help, however long it takes to wake them
_CERTAIN = 2e7
#: additions of one call into C, where it can be cut, so that Python sees an interrupt within a tenth of a second
_MAX_WORK = 5e7
#: bytes of the copies of a result that chunks beyond one a thread may make
_MAX_COPIES = 1 << 26

#: the copies of a result that chunks make, one after another
_PARTS = Leaf("parts")
#: why NumPy computes a step
_WHY_NUMPY = {
    "einsum": "BLAS is faster at this size",
    "scan": "a loop in Python over the kernel of its body, which is long or not all compiled",
}


class Segment(ctypes.Structure):
    """What C knows of a run of steps."""

    _fields_ = [
        ("words", ctypes.c_void_p),
        ("first", ctypes.c_int64),
        ("last", ctypes.c_int64),
        ("arrays", ctypes.c_int64),
        ("arena", ctypes.c_int64),
        ("long_running", ctypes.c_int64),
    ]


class Functions(dict[str, int]):
    """C functions with their numbers; ``library`` holds the functions that they call, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.library: dict[str, str] = {}


class Run:
    """Compiled steps that follow one another: one call, or ``chunks`` that threads take where that is more than 1."""

    def __init__(self, chunks: int) -> None:
        self.steps: list[Emitted] = []
        self.chunks = chunks
        self.work = 0.0
        self.bases: dict[Node, None] = {}
        self.name = ""
        self.arguments: list[str] = []
        self.first = self.last = 0
        self.uses_block = False


class NativeWriter(Writer):
    """Writes a Program whose dims are ints as Python source, which ``bind`` joins with the compiled functions."""

    exact = False

    def __init__(self, program: Program, functions: Functions) -> None:
        """``functions`` numbers the C functions there are; new ones are added."""
        super().__init__(program)
        self.delayed = {}
        self.schedule = Schedule(program)
        self.functions = functions
        self.runs: list[Run] = []
        self.words: list[int] = []
        self._blocks: dict[Node, int] = {}  # where a value is in the block
        self._contiguous: dict[Node, str] = {}  # the names of copies that C reads
        self._made_in_c: set[Node] = set()
        self._bodies: list[tuple[NativeWriter, str]] = []  # of loops in Python, with their sources
        self._bound: list[Callable] = []
        self.namespace |= {"deal": deal, "deal_if_faster": DealIfFaster(), "in_turn": in_turn}
        self.namespace["on_contiguous"] = on_contiguous

    def write(self) -> str:
        program = self.program
        arguments = self._arguments()
        for node in program.nodes:
            if node.primitive.name in ("literal", "constant", "dim"):
                super().statement(node)
        self._lines(self._emit())
        return self._function_of(arguments)

    # the steps in C

    def _emit(self) -> list[Block | Run]:
        """Calls of NumPy and runs of compiled steps."""
        made: list[Block | Run] = []
        for step in steps_in(self.schedule):
            if isinstance(step, Block):
                made.append(step)
                continue
            chunks = self._chunks(step)
            latest = made[-1] if made else None
            joins = isinstance(latest, Run) and latest.chunks == 1 == chunks and latest.work + step.work <= _MAX_WORK
            run = latest if isinstance(latest, Run) and joins else Run(chunks)
            if run is not latest:
                made.append(run)
            run.steps.append(step)
            run.work += step.work
            if step.deals and step.written.parted:  # one chunk too begins anew, whatever is there
                together = Run(1)
                together.steps += [self._parted(step, *p, chunks) for p in step.written.parted]
                made.append(together)
        return made

    def _chunks(self, step: Emitted) -> int:
        """The parts that the outermost loop of a step is cut into."""
        if not (step.deals or step.turns):
            return 1
        chunks = max(THREADS if step.deals else 1, math.ceil(step.work / _MAX_WORK))
        for access, _, _ in step.written.parted:
            chunks = min(chunks, max(THREADS, _MAX_COPIES // bytes_of(step.accesses[access].base)))
        return max(min(chunks, step.written.outer), 1)

    def _parted(self, step: Emitted, access: int, operator: str, adds: bool, chunks: int) -> Emitted:
        """Give each chunk a copy of a result of its own; the step that adds them up."""
        whole = step.accesses[access]
        count, dtype = math.prod(whole.base.shape), whole.base.dtype
        parts = step.accesses[access] = Access(Node(_PARTS, (), (), (chunks, count), dtype), 0)
        step.chunks[access] = count * dtype.itemsize
        return Emitted(part_sums(count, chunks, dtype, operator, adds), [parts, whole], float(count * chunks))

    # memory

    def _place_in_block(self, runs: Sequence[Run]) -> None:
        """Every value that compiled steps alone read and write gets a place in the block."""
        seen = self.schedule.seen
        bases = [[access.base for access in step.accesses] for run in runs for step in run.steps]
        self._blocks, self.block_size = placed(
            bases, lambda base: base not in seen and base.primitive.name not in ("input", "constant")
        )

    # the Python around them

    def _lines(self, emitted: Sequence[Block | Run]) -> None:
        schedule = self.schedule
        runs = [item for item in emitted if isinstance(item, Run)]
        self._place_in_block(runs)
        for run in runs:
            for step in run.steps:
                for access in step.accesses:
                    if access.base in self._blocks:
                        run.uses_block = True
                    else:
                        run.bases[access.base] = None
        self.on_stack = self.block_size <= _ON_STACK and len(runs) == 1 and runs[0].chunks == 1
        if self.block_size and not self.on_stack:
            self.lines.append("block = take_block(blocks, block_size)")
            self.namespace |= {"blocks": [], "block_size": self.block_size, "take_block": take_block}
        native = dict.fromkeys(n for run in runs for n in run.bases)
        for node in self.program.inputs:
            if node in native and node.weak:
                self._contiguous[node] = self.assign(f"np.array({self.names[node]}, np.{node.dtype.name})")
        for node in native:
            if node.primitive.name == "constant":
                if node not in self.names:  # of the body of a loop
                    super().statement(node)
                value = self.namespace[self.names[node]]
                if not value.flags.c_contiguous:
                    self._contiguous[node] = self.new_name()
                    self.namespace[self._contiguous[node]] = np.ascontiguousarray(value)
        for item in emitted:
            if isinstance(item, Block):
                self._called(item.node, native)
            else:
                self._run(item)
        if self.block_size and not self.on_stack:
            self.lines.append("blocks.append(block)" if self.block_size <= _MAX_KEPT else "del block")
        for node in dict.fromkeys(self.program.outputs):
            if not node.shape and schedule.views.get(node) is not None and node in self._made_in_c:
                self.lines.append(f"{self.names[node]} = {self.names[node]}[()]")

    def _called(self, node: Node, native: Collection[Node]) -> None:
        weak = {o: self.names[o] for o in node.operands if o.weak and o in self._made_in_c}
        # Python scalars give way to smaller floats
        self.names |= {o: f"{name}.item()" for o, name in weak.items()}
        super().compute(node)
        self.names |= weak
        if node in native:
            self._contiguous[node] = self.assign(f"np.ascontiguousarray({self.names[node]})", node)

    def _run(self, run: Run) -> None:
        for base in run.bases:
            if base not in self.names:
                called = "empty" if self.is_large(base, REUSED_FROM) else "np.empty"
                self.names[base] = self.assign(f"{called}({base.shape}, np.{base.dtype.name})", base)
                self.fresh.add(base)
                self._made_in_c.add(base)
        run.arguments = [self._contiguous.get(b, self.names[b]) for b in run.bases]
        if run.uses_block and not self.on_stack:
            run.arguments.append("block")
        place = {b: k for k, b in enumerate(run.bases)}
        run.first = len(self.words)
        for step in run.steps:
            self._encode(step, self._pointers(step, place))
        run.last = len(self.words)
        run.name = f"run{len(self.runs)}"
        self.runs.append(run)
        given = ", ".join(run.arguments)
        if run.chunks > 1:
            called = "in_turn" if run.steps[0].turns else "deal" if run.work >= _CERTAIN else "deal_if_faster"
            self.lines.append(f"{called}({run.name}, {run.steps[0].written.outer}, {run.chunks}, {given})")
        else:
            self.lines.append(f"if {run.name}({given}): on_contiguous({run.name}, {given})")

    def _pointers(self, step: Emitted, place: Mapping[Node, int]) -> list[Pointer]:
        """The pointers of a step into the arguments of its run, of which the last one is the block."""
        found = [Pointer(place.get(a.base, len(place)), self._blocks.get(a.base, 0)).at(a) for a in step.accesses]
        return [p._replace(turn=chunk) for p, chunk in zip(found, step.chunks, strict=True)]

    def _encode(self, step: Emitted, pointers: Sequence[Pointer]) -> None:
        loops = step.written
        function = self.functions.setdefault(loops.text, len(self.functions))
        start = len(self.words)
        self.functions.library |= dict(loops.library)
        self.words += [function, len(pointers), len(loops.sizes), loops.outer, 0]
        for pointer in pointers:
            self.words += pointer
        self.words += loops.sizes
        if step.parts:
            self._encode_parts(step)
        self.words[start + 4] = len(self.words) - start

    def _encode_parts(self, step: Emitted) -> None:
        """What a loop does before its turns and at each, after how much that is."""
        head = len(self.words)
        _, turn = step.parts
        self.words += [0, 0, len(turn), sum(len(own) for _, own in turn)]
        for k, part in enumerate(step.parts):
            first = len(self.words)
            for inner, own in part:
                self._encode(inner, own)
            self.words[head + k] = len(self.words) - first

    def loop(self, loop: Loop) -> Callable[..., Sequence[Any]]:
        """A loop of which NumPy computes a part, or whose turns are long: in Python, over the kernel of its body."""
        body, number = NativeWriter(for_loops(loop.body), self.functions), len(self._bodies)
        self._bodies.append((body, body.write()))
        return lambda *values: loop.run(values, self._bound[number])

    def _dying_buffer(self, node: Node, read: Any) -> str | None:
        return None

    @property
    def compiles(self) -> bool:
        """True where there is something for the C compiler."""
        return bool(self.runs) or any(body.compiles for body, _ in self._bodies)

    @property
    def calls_numpy(self) -> bool:
        """True where NumPy computes something in between."""
        return any(isinstance(step, Block) and step.kind == "numpy" for step in self.schedule.steps)

    def steps_told(self) -> list[Told]:
        """What each step does, for an explanation."""
        made = []
        for step in self.schedule.steps:
            if isinstance(step, Region):
                if step.items:
                    made.append(self._told(step))
            elif step.kind == "numpy":
                why = _WHY_NUMPY.get(step.node.primitive.name, "NumPy does what C has no loop for")
                if step.node.primitive is not PART:
                    made.append(node_step(step.node, "numpy", why))
            elif step.kind == "scan":
                made.append(node_step(step.node, "native", "a compiled loop of running sums"))
            elif step.kind == "loop":
                made.append(node_step(step.node, "native", "a compiled loop over its body"))
        return made

    def _told(self, region: Region) -> Told:
        form = Form(region, self.schedule)
        nodes = [item.node for item in region.items if not isinstance(item, Put)]
        what = named(nodes) if nodes else "pieces put in place"
        dealt = form.deals and min(THREADS, form.written().outer) > 1
        why = f"one loop{f', dealt out to {THREADS} threads' if dealt else ''}"
        return Told(what, tuple(region.extents), work_of(region), form.bytes(), "native", why)

    def bind(self, source: str, library: Any) -> Callable[..., tuple]:
        """The function that ``source``, which was written, is with the compiled library."""
        self._bound = [body.bind(text, library) for body, text in self._bodies]
        words = np.array(self.words, np.int64)
        namespace = {**self.namespace, "plan": words}
        for run in self.runs:
            arena = self.block_size if self.on_stack else 0
            segment = Segment(words.ctypes.data, run.first, run.last, len(run.arguments), arena, run.work >= _LONG)
            namespace[f"{run.name}_segment"] = segment
            namespace[run.name] = library.bind(ctypes.addressof(segment), run.chunks > 1)
        exec(compile(source, "<symgrad kernel>", "exec"), namespace)
        kernel = namespace["kernel"]
        return namespace["deal_if_faster"].tried(kernel) if "deal_if_faster(" in source else kernel

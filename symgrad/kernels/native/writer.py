"""The native backend's writer: a schedule as compiled steps, and the Python source that calls them.

Steps that follow one another are one call into C; between them stand the lines of the NumPy backend for what C does not
compute. Values that NumPy sees are arrays; the others live in one block of memory that is used again and again.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...emit.loops.flat import steps_of
from ...emit.loops.regions import Block, Put, Read, Region, loops_of, own_read
from ...emit.loops.views import own_places
from ...errors import KernelError
from ...primitives.primitive import Leaf, literal
from ...program.node import Graph, Node
from ...program.program import Program
from ..explanation import Step as Told
from ..explanation import named, node_step
from ..numpy_backend import REUSED_FROM, Writer
from .form import Access, Form, Written, is_dealt
from .memory import Memory
from .points import work_of
from .scans import part_sums, scan_loops
from .schedule import Schedule
from .threads import THREADS, deal, on_contiguous, take_block

#: bytes of the block up to which it stands on the stack
_ON_STACK = 1 << 15
#: additions from which a call releases the interpreter's lock
_LONG = 20_000.0

#: additions of one call into C, where it can be cut, so that Python sees an interrupt within a tenth of a second
_MAX_WORK = 5e7
#: bytes of the copies of a result that chunks beyond one a thread may make
_MAX_COPIES = 1 << 26

#: the copies of a result that chunks make, one after another
_PARTS = Leaf("parts")


class Emitted:
    """A step in C, its pointers, and for each the bytes from one chunk's copy to the next."""

    def __init__(self, written: Written, accesses: list[Access]) -> None:
        self.written = written
        self.accesses = accesses
        self.chunks = [0] * len(accesses)


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
        self.namespace |= {"deal": deal, "on_contiguous": on_contiguous}

    def write(self) -> str:
        program = self.program
        arguments = self._arguments()
        for node in program.nodes:
            if node.primitive.name in ("literal", "constant", "dim"):
                super().statement(node)
        emitted = self._emit()
        self._place_in_block(emitted)
        self._lines(emitted)
        return self._function_of(arguments)

    # the steps in C

    def _emit(self) -> list[tuple[int, Block | Run]]:
        """Calls of NumPy and runs of compiled steps, each with the number of its first step."""
        made: list[tuple[int, Block | Run]] = []
        steps = list(enumerate(self.schedule.steps))
        for number, step in [(k, s) for k, own in steps for s in (*self._zeros(k), own)]:
            if isinstance(step, Block) and step.kind == "numpy":
                made.append((number, step))
            if (isinstance(step, Block) and step.kind != "scan") or (isinstance(step, Region) and not step.items):
                continue
            step_in_c, deals = self._written(step)
            work = work_of(step) if isinstance(step, Region) else float(math.prod(step.node.shape))
            chunks = self._chunks(step_in_c, work) if deals else 1
            latest = made[-1][1] if made else None
            joins = isinstance(latest, Run) and latest.chunks == 1 == chunks and latest.work + work <= _MAX_WORK
            run = latest if isinstance(latest, Run) and joins else Run(chunks)
            if run is not latest:
                made.append((number, run))
            run.steps.append(step_in_c)
            run.work += work
            if deals and step_in_c.written.parted:  # one chunk too begins anew, whatever is there
                together = Run(1)
                together.steps += [self._parted(step_in_c, *p, chunks) for p in step_in_c.written.parted]
                made.append((number, together))
        return made

    def _zeros(self, number: int) -> list[Region]:
        """What sets to zero the values that begin so and are first written by a step."""
        schedule = self.schedule
        made = []
        for node in schedule.zeroed:
            if schedule.born[node] == number:
                with Graph():
                    zero = literal(0.0)
                place = own_read(node)
                extents = loops_of(node.shape)[0]
                made.append(Region(extents, range(len(extents)), items=[Put(node, (Read(zero, ()),), place.places)]))
        return made

    def _written(self, step: Region | Block) -> tuple[Emitted, bool]:
        """A step in C, and whether it is dealt out to threads."""
        schedule = self.schedule
        if isinstance(step, Region):
            form = Form(step, schedule)
            return Emitted(form.written(), form.accessed), form.deals
        node = step.node
        accesses: list[Access] = []
        strides: list[tuple[int, ...]] = []
        axis, reverse = node.params
        for read in (*step.reads, Read(node, own_places(node.shape))):
            offset, steps = steps_of(read, range(node.ndim))
            base, start = schedule.base_of(read.root)
            accesses.append(Access(base, start + offset))
            strides.append(steps)
        loops = scan_loops(node.primitive.name, node.shape, axis, reverse, strides[0], strides[1], node.dtype)
        return Emitted(loops, accesses), is_dealt(math.prod(node.shape))

    def _chunks(self, step: Emitted, work: float) -> int:
        """The parts that the outermost loop of a step is dealt out in."""
        chunks = max(THREADS, math.ceil(work / _MAX_WORK))
        for access, _, _ in step.written.parted:
            chunks = min(chunks, max(THREADS, _MAX_COPIES // _bytes(step.accesses[access].base)))
        return min(chunks, step.written.outer)

    def _parted(self, step: Emitted, access: int, operator: str, adds: bool, chunks: int) -> Emitted:
        """Give each chunk a copy of a result of its own; the step that adds them up."""
        whole = step.accesses[access]
        count, dtype = math.prod(whole.base.shape), whole.base.dtype
        parts = step.accesses[access] = Access(Node(_PARTS, (), (), (chunks, count), dtype), 0)
        step.chunks[access] = count * dtype.itemsize
        return Emitted(part_sums(count, chunks, dtype, operator, adds), [parts, whole])

    # memory

    def _place_in_block(self, emitted: list[tuple[int, Block | Run]]) -> None:
        """Every value that compiled steps alone read and write gets a place in the block."""
        block = Memory()
        order = [step for _, item in emitted if isinstance(item, Run) for step in item.steps]
        first: dict[Node, int] = {}
        last: dict[Node, int] = {}
        for k, step in enumerate(order):
            for base in [a.base for a in step.accesses]:
                if base not in self.schedule.seen and base.primitive.name not in ("input", "constant"):
                    first.setdefault(base, k)
                    last[base] = k
        starts: dict[int, list[Node]] = {}
        ends: dict[int, list[Node]] = {}
        for base in first:
            starts.setdefault(first[base], []).append(base)
            ends.setdefault(last[base], []).append(base)
        for k in range(len(order)):
            for base in starts.get(k, ()):
                self._blocks[base] = block.take(_bytes(base))
            for base in ends.get(k, ()):
                block.give(self._blocks[base], _bytes(base))
        self.block_size = block.size
        self._check_block(order)

    def _check_block(self, order: list[Emitted]) -> None:
        """A KernelError where a step reads a place of the block that holds another value by then."""
        holds: dict[int, Node] = {}
        written: set[Node] = set()
        for step in order:
            bases = {a.base for a in step.accesses if a.base in self._blocks}
            new = bases - written
            written |= new
            holds.update((self._blocks[base], base) for base in new)
            lost = [base for base in bases if holds[self._blocks[base]] is not base]
            if lost:
                raise KernelError(
                    f"a compiled kernel would read {lost[0]} where another value stands, a defect of symgrad."
                )

    # the Python around them

    def _lines(self, emitted: list[tuple[int, Block | Run]]) -> None:
        schedule = self.schedule
        runs = [item for _, item in emitted if isinstance(item, Run)]
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
        native = {n for run in runs for n in run.bases}
        for node in self.program.inputs:
            if node in native and node.weak:
                self._contiguous[node] = self.assign(f"np.array({self.names[node]}, np.{node.dtype.name})")
        for node in native:
            if node.primitive.name == "constant":
                value = self.namespace[self.names[node]]
                if not value.flags.c_contiguous:
                    self._contiguous[node] = self.new_name()
                    self.namespace[self._contiguous[node]] = np.ascontiguousarray(value)
        for _, item in emitted:
            if isinstance(item, Block):
                self._called(item.node, native)
            else:
                self._run(item)
        if self.block_size and not self.on_stack:
            self.lines.append("blocks.append(block)")
        for node in dict.fromkeys(self.program.outputs):
            if not node.shape and schedule.views.get(node) is not None and node in self._made_in_c:
                self.lines.append(f"{self.names[node]} = {self.names[node]}[()]")

    def _called(self, node: Node, native: set[Node]) -> None:
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
            self._encode(step, place)
        run.last = len(self.words)
        run.name = f"run{len(self.runs)}"
        self.runs.append(run)
        given = ", ".join(run.arguments)
        if run.chunks > 1:
            self.lines.append(f"deal({run.name}, {run.steps[0].written.outer}, {run.chunks}, {given})")
        else:
            self.lines.append(f"if {run.name}({given}): on_contiguous({run.name}, {given})")

    def _encode(self, step: Emitted, place: Mapping[Node, int]) -> None:
        loops = step.written
        function = self.functions.setdefault(loops.text, len(self.functions))
        start = len(self.words)
        self.functions.library |= dict(loops.library)
        self.words += [function, len(step.accesses), len(loops.sizes), loops.outer, 0]
        for (base, offset), chunk in zip(step.accesses, step.chunks, strict=True):
            at = offset * base.dtype.itemsize + self._blocks.get(base, 0)
            self.words += [place.get(base, len(place)), at, chunk]
        self.words += loops.sizes
        self.words[start + 4] = len(self.words) - start

    def _dying_buffer(self, node: Node, read: Any) -> str | None:
        return None

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
                shared = step.node.primitive.name == "einsum"
                why = "BLAS is faster at this size" if shared else "NumPy does what C has no loop for"
                made.append(node_step(step.node, "numpy", why))
            elif step.kind == "scan":
                made.append(node_step(step.node, "native", "a compiled loop of running sums"))
        return made

    def _told(self, region: Region) -> Told:
        form = Form(region, self.schedule)
        nodes = [item.node for item in region.items if not isinstance(item, Put)]
        what = named(nodes) if nodes else "pieces put in place"
        dealt = form.deals and min(THREADS, form.written().outer) > 1
        why = f"one loop{f', dealt out to {THREADS} threads' if dealt else ''}"
        return Told(what, tuple(region.extents), work_of(region), form.bytes(), "native", why)

    def bind(self, library: Any) -> dict[str, Any]:
        """The namespace of the source, its runs bound to the compiled library."""
        words = np.array(self.words, np.int64)
        namespace = {**self.namespace, "plan": words}
        for run in self.runs:
            arena = self.block_size if self.on_stack else 0
            segment = Segment(words.ctypes.data, run.first, run.last, len(run.arguments), arena, run.work >= _LONG)
            namespace[f"{run.name}_segment"] = segment
            namespace[run.name] = library.bind(ctypes.addressof(segment), run.chunks > 1)
        return namespace


def _bytes(base: Node) -> int:
    return math.prod(base.shape) * base.dtype.itemsize

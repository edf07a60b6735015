"""Lowering: the kernel of a Program for a backend, or for whatever sizes its named dims have."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy

from ..errors import ShapeError
from ..passes.axis_orders import unturned
from ..passes.cholesky_factors import without_halves
from ..passes.constants import fold_constants
from ..passes.elementary import OF_NUMPY, in_elementary
from ..passes.expansion import expand_formulas
from ..passes.gates import float_gates
from ..passes.grams import expose_grams
from ..passes.loops import pruned_loops, with_bodies
from ..passes.marks import strip_marks
from ..passes.products import absorb_products
from ..passes.rare import without_rare
from ..passes.sizes import at_sizes
from ..passes.sums import distribute_sums
from ..passes.transposes import share_transposes
from ..passes.windows import with_windows
from ..primitives.order import NAMED
from ..primitives.scan import PART
from ..program.collector import collector_paused
from ..program.dims import is_concrete, size, size_function
from ..program.forks import cached_property
from ..program.kept import kept
from ..program.program import Program
from .array_libraries import by_library
from .backend import BACKENDS, LIBRARY_BACKENDS, Backend, checked_backend
from .base import Kernel
from .block_backend import BLOCKS_FROM, LONG, BlockWriter
from .explanation import Explanation, Step, bytes_of, named, node_step
from .memory import memory_limit, require_memory
from .native.kernel import NativeKernel, TieredKernel
from .numpy_backend import SMALL, Writer
from .rare_kernel import RareKernel
from .regions import Region
from .reuse import keep_freed
from .source import compiled
from .tape import TapeKernel, tape_of


class SizedKernel(Kernel):
    """A kernel for named dims: right for every size, and written anew where the sizes make another one faster.

    Sizes that every array is small or large with alike share what is written for the first of them. ``source`` and
    ``backend`` are those of the latest call.
    """

    def __init__(self, program: Program, backend: str) -> None:
        self.program = program
        self._wanted = checked_backend(backend)
        places = _places_of_dims(program)
        self._names = tuple(places)
        self._places = tuple(places.values())
        self._counts = size_function(_numbers_of_elements(program), self._names)
        self._written: dict[tuple[int, ...], Kernel] = {}
        self._known: dict[tuple[int, ...], Kernel] = {}
        self._latest: Kernel | None = None

    @property
    def backend(self) -> str:
        return self._shown().backend

    @property
    def source(self) -> str:
        return self._shown().source

    @property
    def compile_seconds(self) -> float:
        return self._shown().compile_seconds

    def explain(self) -> Explanation:
        return self._shown().explain()

    def ready(self, timeout: float | None = None) -> bool:
        return self._shown().ready(timeout)

    def _shown(self) -> Kernel:
        return self._latest or self._of_class((NAMED,) * len(self._names))

    @cached_property
    def call(self) -> Callable[..., tuple]:
        return self._sized

    def _sized(self, *arrays: Any) -> tuple:
        sizes = tuple([arrays[k].shape[axis] for k, axis in self._places])
        self._latest = kernel = self._known.get(sizes) or self._of(sizes)
        return kernel.call(*arrays)

    def _of(self, sizes: tuple[int, ...]) -> Kernel:
        by_name = dict(zip(self._names, sizes, strict=True))
        broken = self.program.graph.sizes.broken(by_name)
        if broken:
            listed = ", ".join(f"{name} = {n}" for name, n in by_name.items())
            raise ShapeError(f"the program is for sizes with {broken}, and {listed}; derive it for these sizes.")
        if _WIDEST * max(self._counts(*sizes)) > memory_limit():
            require_memory(self.program, by_name)
        if len(self._known) >= _MAX_SIZES:
            self._known.clear()
        kernel = self._known[sizes] = self._at(sizes, by_name)
        return kernel

    def _at(self, sizes: tuple[int, ...], by_name: Mapping[Any, int]) -> Kernel:
        if self._wanted.compile is None:
            return self._of_class(sizes)
        return self._wanted.compile(at_sizes(self.program, by_name), lambda: self._of_class(sizes))

    def _of_class(self, sizes: tuple[int, ...]) -> Kernel:
        counts = [bisect.bisect(_STEPS, count) for count in self._counts(*sizes)]
        key = (*counts, *[size.bit_length() // _BITS for size in sizes])  # the order of products goes by the sizes
        if key not in self._written:
            expected = dict(zip(self._names, sizes, strict=True))
            self._written[key] = self._wanted.write(self.program, expected)
        return self._written[key]


#: sizes whose kernels are remembered
_MAX_SIZES = 1024
#: numbers of elements from which an array is treated in another way
_STEPS = (SMALL, BLOCKS_FROM, LONG)
#: sizes are of one class up to a factor of 16
_BITS = 4
#: bytes that an element has at most
_WIDEST = np.dtype(np.longdouble).itemsize


def _places_of_dims(program: Program) -> dict[Any, tuple[int, int]]:
    """For each named dim an input and its axis that have this size."""
    found: dict[Any, tuple[int, int]] = {}
    for k, node in enumerate(program.inputs):
        for axis, d in enumerate(node.shape):
            if isinstance(d, sympy.Symbol):
                found.setdefault(d, (k, axis))
    return found


def _numbers_of_elements(program: Program) -> list[Any]:
    """How many elements the arrays of ``program`` have, equal numbers once."""
    return list(dict.fromkeys(size(n.shape) for n in (*program.inputs, *program.bindings)))


@kept
@collector_paused()
def optimized(program: Program) -> Program:
    """``program`` after the passes that every kernel wants; they run once, for what is shown and for what runs."""
    inside = with_bodies(pruned_loops(strip_marks(program)), optimized, tidies=True)
    bare = pruned_loops(inside)  # a body may read less now
    made = absorb_products(distribute_sums(float_gates(bare)))
    return unturned(share_transposes(expose_grams(without_halves(made))))


def lower(program: Program, backend: str = "auto") -> Kernel:
    """Compile ``program`` for a backend.

    ``numpy`` gives NumPy's values to the bit; ``numexpr`` runs elementwise regions through numexpr; ``native``
    compiles C, and is as ``auto`` without it where there is no compiler (a warning says where one does not work);
    ``jax``, ``torch`` and ``cupy`` give arrays of these libraries, on the device where those of the arguments are;
    ``auto`` begins with NumPy, large arrays block by block, and goes on with compiled C as soon as that pays and is
    built.
    """
    checked_backend(backend)
    keep_freed()
    usual, rare = without_rare(program)
    if not rare or not all(n.primitive.foldable for n in program.bindings):  # else something might run twice
        return _lowered(program, backend)
    return RareKernel(
        program,
        _lowered(usual.with_outputs([*usual.outputs, *rare]), backend),
        lambda: _lowered(program, backend),
        len(rare),
    )


def _lowered(program: Program, backend: str) -> Kernel:
    wanted = checked_backend(backend)
    ready = fold_constants(optimized(expand_formulas(program, values_only=True)))
    if wanted.windows:
        ready = with_windows(ready)
    if all(is_concrete(shape) for shape, _ in ready.types):
        return wanted.kernel(ready, lambda: wanted.write(ready, {}))
    return SizedKernel(ready, backend)


@collector_paused()
def _by_numpy(program: Program, sizes: Mapping[Any, int]) -> Kernel:
    program = in_elementary(program, OF_NUMPY)
    tape = tape_of(program)
    if tape is not None:
        return TapeKernel(program, tape, lambda: _written(Writer(program)))
    return _written(Writer(program, sizes))


@collector_paused()
def _by_blocks(program: Program, sizes: Mapping[Any, int]) -> Kernel:
    """NumPy's calls, large arrays block by block."""
    program = in_elementary(program, OF_NUMPY)
    count = Writer(program, sizes).count
    if any(count(shape) >= BLOCKS_FROM for shape, _ in program.types):
        return _written(BlockWriter(program, sizes))
    return _by_numpy(program, sizes)


def _by_numexpr(program: Program, sizes: Mapping[Any, int]) -> Kernel:
    from .numexpr_backend import NumexprWriter  # numexpr is imported where it is asked for

    return _written(NumexprWriter(in_elementary(program, OF_NUMPY), sizes=sizes))


BACKENDS |= {
    "auto": Backend("NumPy first, compiled C as soon as it pays", _by_blocks, TieredKernel),
    "numpy": Backend("NumPy's own calls, its values to the bit", _by_numpy),
    "numexpr": Backend("elementwise regions by numexpr", _by_numexpr),
    "native": Backend("loops compiled by this machine's C compiler", _by_blocks, NativeKernel.or_plain),
}
LIBRARY_BACKENDS |= {
    "jax": Backend("JAX's calls, compiled by it, on the device of its arrays", _by_blocks, by_library("jax"), False),
    "torch": Backend("PyTorch's calls, on the device of its tensors", _by_blocks, by_library("torch"), False),
    "cupy": Backend("CuPy's calls, on the device of its arrays", _by_blocks, by_library("cupy"), False),
}


def _written(writer: Writer) -> Kernel:
    """The kernel that the source of ``writer`` is."""
    source = writer.write()
    function = compiled(source, writer.namespace)
    return Kernel(writer.program, writer.backend, source, function, lambda: _steps(writer))


def _steps(writer: Writer) -> list[Step]:
    """What the source of a writer does, one step a region or a node."""
    made = []
    for step in writer.steps:
        if isinstance(step, Region):
            inside = [*step.reads, *step.outputs]
            elements = math.prod(d for d in step.shape if isinstance(d, int))
            operations = elements * len(step.members)
            what, shape = named(step.members), tuple(step.shape)
            made.append(Step(what, shape, operations, bytes_of(inside), "numpy", "one region, block by block"))
        elif not step.is_leaf and step.primitive is not PART:
            made.append(node_step(step, *writer.place(step)))
    return made

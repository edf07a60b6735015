"""Kernels on the arrays of another library, on the device where they live: the source that is exported for it, loaded.

A library is one entry of ``LIBRARIES``; its calls are those of its dialect.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..emit.arrays.dialect import Dialect
from ..emit.arrays.jax import JAX
from ..emit.arrays.torch import TORCH
from ..emit.arrays.writer import ArrayWriter
from ..errors import BackendError, DtypeError
from ..passes.unrolling import parted
from ..program.program import Program
from .base import Kernel


@dataclass(frozen=True)
class ArrayLibrary:
    """An array library: its dialect, what its source reads, and how its arrays come and go."""

    dialect: Dialect
    #: the names in its source
    modules: Mapping[str, str]
    #: gives the class of its arrays
    kind: Callable[[], type]
    #: makes an argument an array of this dtype, which may be weak; all arguments of the call are given too
    taken: Callable[[Any, np.dtype, bool, Sequence[Any]], Any]
    #: what an array holds; None where it stands for values that nobody knows yet
    read: Callable[[Any], np.ndarray | None]
    #: what NumPy calls the dtype of an array
    dtype_of: Callable[[Any], str]
    #: the dtype that it has for one of NumPy's, where that depends on its settings
    held: Callable[[np.dtype], np.dtype] | None = None
    #: makes what is called of the function that is written
    finished: Callable[[Callable], Callable] | None = None

    @property
    def name(self) -> str:
        return self.dialect.target

    def is_array(self, value: Any) -> bool:
        """Whether ``value`` is an array of the library, which nothing imports for that."""
        return self.name in sys.modules and isinstance(value, self.kind())

    def stand_in(self, array: Any) -> np.ndarray:
        """An array of NumPy with the shape and dtype of ``array``; its values mean nothing."""
        name = self.dtype_of(array)
        try:
            dtype = np.dtype(name)
        except TypeError:
            raise DtypeError(f"arrays of {name} cannot be traced, since NumPy has no such dtype.") from None
        return np.broadcast_to(np.ones((), dtype), tuple(array.shape))


class LibraryKernel(Kernel):
    """A kernel that takes arrays of a library, of NumPy and numbers, and gives arrays of the library."""

    needs_errstate = False

    def __init__(self, program: Program, library: ArrayLibrary) -> None:
        program = parted(program)
        name = library.name
        try:
            space: dict[str, Any] = {a: importlib.import_module(m) for a, m in library.modules.items()}
        except ImportError as error:
            raise BackendError(f"backend={name!r} needs {name}, which is not installed: {error}") from None
        _check_precision(program, library)
        names = {node: f"a{k}" for k, node in enumerate(program.inputs)}
        known = library.dialect.dtypes
        held = {own: own if library.held is None else library.held(np.dtype(own)).name for own in known}
        dtypes = {own: known[name] for own, name in held.items()}
        writer = ArrayWriter(program, names, {}, replace(library.dialect, dtypes=dtypes))
        results = writer.write_body(len(program.outputs), lambda node, name: ())
        for own, node in writer.constants.items():
            value = node.params[0].value
            space[own] = library.taken(np.asarray(value), np.dtype(held[value.dtype.name]), False, ())
        lines = [*writer.lines, f"return ({', '.join(results)}{',' if len(results) == 1 else ''})"]
        if any("device" in line for line in lines):
            lines.insert(0, f"device = {'a0.device' if names else None}")
        source = f"def kernel({', '.join(names.values())}):\n" + "\n".join(f"    {line}" for line in lines) + "\n"
        exec(compile("\n".join([*writer.dialect.helpers.values(), source]), "<symgrad kernel>", "exec"), space)
        run = space["kernel"]
        if library.finished is not None:
            run = library.finished(run)
        inputs = [(np.dtype(held.get(n.dtype.name, n.dtype)), n.weak) for n in program.inputs]

        def function(*arrays: Any) -> tuple:
            return run(*[library.taken(a, *own, arrays) for a, own in zip(arrays, inputs, strict=True)])

        super().__init__(program, name, source, function)


def _check_precision(program: Program, library: ArrayLibrary) -> None:
    """A DtypeError where the library would cut an array that is passed to another dtype."""
    if library.held is None:
        return
    for label, node in zip(program.names, program.inputs, strict=True):
        held = library.held(node.dtype)
        if held != node.dtype and node.shape and node.dtype.kind in "fc":
            raise DtypeError(
                f"{label} is an array of {node.dtype}, which {library.name} has as {held} now. Pass {held}, or give "
                'JAX double precision: jax.config.update("jax_enable_x64", True).'
            )


def _in_jax(value: Any, dtype: np.dtype, weak: bool, beside: Sequence[Any]) -> Any:
    jnp = sys.modules["jax.numpy"]
    if weak:
        return jnp.asarray(value)
    return value if isinstance(value, jnp.ndarray) and value.dtype == dtype else jnp.asarray(value, dtype)


def _held_by_jax(dtype: np.dtype) -> np.dtype:
    import jax

    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))


def _with_jit(function: Callable) -> Callable:
    import jax

    return jax.jit(function)


def _in_torch(value: Any, dtype: np.dtype, weak: bool, beside: Sequence[Any]) -> Any:
    torch: Any = importlib.import_module("torch")
    wanted = getattr(torch, TORCH.dtypes[dtype.name].removeprefix("torch."))
    if isinstance(value, torch.Tensor):
        return value.detach().to(wanted)
    device = next((a.device for a in beside if isinstance(a, torch.Tensor)), None)
    return torch.from_numpy(np.array(value, order="C")).to(device=device, dtype=wanted)


#: every library by the name of its backend
LIBRARIES = {
    "jax": ArrayLibrary(
        JAX,
        {"jax": "jax", "jnp": "jax.numpy", "special": "jax.scipy.special", "np": "numpy"},
        lambda: sys.modules["jax"].Array,
        _in_jax,
        lambda array: None if isinstance(array, sys.modules["jax"].core.Tracer) else np.asarray(array),
        lambda array: array.dtype.name,
        _held_by_jax,
        _with_jit,
    ),
    "torch": ArrayLibrary(
        TORCH,
        {"torch": "torch", "np": "numpy"},
        lambda: sys.modules["torch"].Tensor,
        _in_torch,
        lambda tensor: tensor.detach().cpu().numpy(),
        lambda tensor: str(tensor.dtype).removeprefix("torch."),
    ),
}


def is_dask(value: Any) -> bool:
    """True for an array of Dask; it is asked without importing Dask.

    >>> is_dask(np.ones(3))
    False
    """
    known = sys.modules.get("dask.array")
    return known is not None and isinstance(value, known.Array)


def library_of(values: Sequence[Any]) -> ArrayLibrary | None:
    """The library that some of these are arrays of."""
    found = [lib for lib in LIBRARIES.values() if lib.name in sys.modules and any(map(lib.is_array, values))]
    return found[0] if found else None


def by_library(name: str) -> Callable[[Program, Callable[[], Kernel]], Kernel]:
    """What makes kernels for the library of this name."""
    return lambda program, plain: LibraryKernel(program, LIBRARIES[name])

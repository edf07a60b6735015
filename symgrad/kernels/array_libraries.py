"""Kernels on the arrays of another library, on the device where they live: the source that is exported for it, loaded.

A library is one entry of ``LIBRARIES``; its calls are those of its dialect.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..emit.arrays.cupy import CUPY
from ..emit.arrays.dialect import Dialect
from ..emit.arrays.jax import JAX
from ..emit.arrays.torch import TORCH
from ..emit.arrays.writer import ArrayWriter
from ..errors import BackendError, DtypeError
from ..passes.cofactors import written_out
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
    #: makes an argument an array of the dtype of this name, which may be weak; all arguments of the call are given too
    taken: Callable[[Any, str, bool, Sequence[Any]], Any]
    #: what an array holds; None where it stands for values that nobody knows yet
    read: Callable[[Any], np.ndarray | None]
    #: what NumPy calls the dtype of an array
    dtype_of: Callable[[Any], str]
    #: its bfloat16 in the source; None where it has none, or none that is known here
    brief: str | None = None
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
        """An array of NumPy with the shape and dtype of ``array``; its values mean nothing.

        One of bfloat16 is traced as one of float16, which promotes as it does.
        """
        return stand_in(tuple(array.shape), self._dtype(array))

    def _dtype(self, array: Any) -> np.dtype:
        name = self.dtype_of(array)
        known = "float16" if self.brief and name == "bfloat16" else name
        if known not in self.dialect.dtypes:
            listed = ", ".join((*(["bfloat16"] if self.brief else []), *self.dialect.dtypes))
            raise DtypeError(f"arrays of {self.name} of dtype {name} cannot be computed with; the dtypes are {listed}.")
        return np.dtype(known)

    def values_of(self, array: Any) -> np.ndarray | None:
        """What an array holds, in the dtype that it is traced in; None where that is not known, or cannot be."""
        held, dtype = self.read(array), self._dtype(array)
        if held is None or held.dtype == dtype:
            return held
        with np.errstate(over="ignore"):
            made = held.astype(dtype)
        fits = np.array_equal(np.isfinite(made), np.isfinite(held.astype(np.float64)))
        return made if fits else None


class LibraryKernel(Kernel):
    """A kernel that takes arrays of a library, of NumPy and numbers, and gives arrays of the library."""

    needs_errstate = False

    def __init__(self, program: Program, library: ArrayLibrary) -> None:
        program = written_out(parted(program))
        name = library.name
        try:
            space = {a: importlib.import_module(m) for a, m in library.modules.items()}
        except ImportError as error:
            raise BackendError(f"backend={name!r} needs {name}, which is not installed: {error}") from None
        _check_precision(program, library)
        source, run = _loaded(program, library, space)
        of_brief: list[Callable] = []

        def by_precision(*arrays: Any) -> tuple:
            kinds = {library.dtype_of(a) for a in arrays if library.is_array(a)}
            if "bfloat16" not in kinds:
                return run(*arrays)
            if "float16" in kinds:
                raise DtypeError("arrays of float16 and of bfloat16 have no dtype in common; pass float32.")
            if not of_brief:
                of_brief.append(_loaded(program, library, space, library.brief)[1])
            return of_brief[0](*arrays)

        has_half = library.brief is not None and any(n.dtype == np.float16 for n in program.inputs)
        super().__init__(program, name, source, by_precision if has_half else run)


def _loaded(
    program: Program, library: ArrayLibrary, modules: Mapping[str, Any], half: str | None = None
) -> tuple[str, Callable]:
    """The source for a program, and the function that it is; with the dtype ``half`` in place of float16."""
    names = {node: f"a{k}" for k, node in enumerate(program.inputs)}
    known = library.dialect.dtypes
    dtypes = {own: known[own if library.held is None else library.held(np.dtype(own)).name] for own in known}
    if half is not None:
        dtypes["float16"] = half
    writer = ArrayWriter(program, names, {}, replace(library.dialect, dtypes=dtypes))
    results = writer.write_body(len(program.outputs), lambda node, name: ())
    space = dict(modules)
    for own, node in writer.constants.items():
        value = np.asarray(node.params[0].value)
        space[own] = library.taken(value, dtypes[value.dtype.name], False, ())
    lines = [*writer.lines, f"return ({', '.join(results)}{',' if len(results) == 1 else ''})"]
    if any("device" in line for line in lines):
        lines.insert(0, f"device = {'a0.device' if names else None}")
    source = f"def kernel({', '.join(names.values())}):\n" + "\n".join(f"    {line}" for line in lines) + "\n"
    exec(compile("\n".join([*writer.dialect.helpers.values(), source]), "<symgrad kernel>", "exec"), space)
    run = space["kernel"]
    if library.finished is not None:
        run = library.finished(run)
    inputs = [(dtypes.get(n.dtype.name, n.dtype.name), n.weak) for n in program.inputs]

    def function(*arrays: Any) -> tuple:
        return run(*[library.taken(a, *own, arrays) for a, own in zip(arrays, inputs, strict=True)])

    return source, function


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


def _in_jax(value: Any, dtype: str, weak: bool, beside: Sequence[Any]) -> Any:
    jax, jnp = sys.modules["jax"], sys.modules["jax.numpy"]
    wanted = None if weak else getattr(jnp, dtype.removeprefix("jnp."))
    if beside:
        is_taken = isinstance(value, jnp.ndarray) and (weak or value.dtype == wanted)
        return value if is_taken else jnp.asarray(value, wanted)
    with jax.ensure_compile_time_eval():  # a constant, which is one after the jit too that it is loaded in
        return jnp.asarray(value, wanted)


def _read_of_jax(array: Any) -> np.ndarray | None:
    return None if isinstance(array, sys.modules["jax"].core.Tracer) else np.asarray(array)


def _held_by_jax(dtype: np.dtype) -> np.dtype:
    import jax

    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))


def _with_jit(function: Callable) -> Callable:
    import jax

    return jax.jit(function)


def _in_cupy(value: Any, dtype: str, weak: bool, beside: Sequence[Any]) -> Any:
    cupy: Any = importlib.import_module("cupy")
    wanted = getattr(cupy, dtype.removeprefix("cp."))
    if isinstance(value, cupy.ndarray):
        return value.astype(wanted, copy=False)
    try:
        with _device_of(beside):
            return cupy.asarray(value, wanted)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise BackendError(f"cupy finds no device to compute on: {error}") from None


def _device_of(arrays: Sequence[Any]) -> Any:
    """What makes the device of the first array of cupy the one that is computed on."""
    cupy: Any = importlib.import_module("cupy")
    return next((a.device for a in arrays if isinstance(a, cupy.ndarray)), contextlib.nullcontext())


def _on_own_device(function: Callable) -> Callable:
    def run(*arrays: Any) -> Any:
        with _device_of(arrays):
            return function(*arrays)

    return run


def _in_torch(value: Any, dtype: str, weak: bool, beside: Sequence[Any]) -> Any:
    torch: Any = importlib.import_module("torch")
    wanted = getattr(torch, dtype.removeprefix("torch."))
    if isinstance(value, torch.Tensor):
        return value.to(wanted)
    device = next((a.device for a in beside if isinstance(a, torch.Tensor)), None)
    return torch.from_numpy(np.array(value, order="C")).to(device=device, dtype=wanted)


def _read_of_torch(tensor: Any) -> np.ndarray | None:
    torch: Any = importlib.import_module("torch")
    if tensor.layout is not torch.strided:
        raise DtypeError("sparse tensors cannot be computed with; pass x.to_dense().")
    plain = tensor.detach()
    try:
        plain = plain.cpu().resolve_conj().resolve_neg()
        return (plain.float() if plain.dtype is torch.bfloat16 else plain).numpy()
    except (RuntimeError, NotImplementedError):  # of torch.func, or on the device "meta": nobody knows yet
        return None


def _class_in(module: str, name: str) -> Any:
    """A class of a module that is imported; no class where that is half imported, or another one of its name."""
    return getattr(sys.modules.get(module), name, ())


#: every library by the name of its backend
LIBRARIES = {
    "jax": ArrayLibrary(
        JAX,
        {"jax": "jax", "jnp": "jax.numpy", "special": "jax.scipy.special", "np": "numpy"},
        lambda: _class_in("jax", "Array"),
        _in_jax,
        _read_of_jax,
        lambda array: array.dtype.name,
        "jnp.bfloat16",
        _held_by_jax,
        _with_jit,
    ),
    "cupy": ArrayLibrary(
        CUPY,
        {"cp": "cupy", "special": "cupyx.scipy.special", "np": "numpy"},
        lambda: _class_in("cupy", "ndarray"),
        _in_cupy,
        lambda array: array.get(),
        lambda array: array.dtype.name,
        finished=_on_own_device,
    ),
    "torch": ArrayLibrary(
        TORCH,
        {"torch": "torch", "np": "numpy"},
        lambda: _class_in("torch", "Tensor"),
        _in_torch,
        _read_of_torch,
        lambda tensor: str(tensor.dtype).removeprefix("torch."),
        "torch.bfloat16",
    ),
}


def stand_in(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array of NumPy that takes no memory, to be traced in place of one that is elsewhere."""
    return np.broadcast_to(np.ones((), dtype), shape)


def is_dask(value: Any) -> bool:
    """True for an array of Dask; it is asked without importing Dask.

    >>> is_dask(np.ones(3))
    False
    """
    return isinstance(value, _class_in("dask.array", "Array"))


def library_of(values: Sequence[Any]) -> ArrayLibrary | None:
    """The library that some of these are arrays of."""
    found = [lib for lib in LIBRARIES.values() if lib.name in sys.modules and any(map(lib.is_array, values))]
    return found[0] if found else None


def by_library(name: str) -> Callable[[Program, Callable[[], Kernel]], Kernel]:
    """What makes kernels for the library of this name."""
    return lambda program, plain: LibraryKernel(program, LIBRARIES[name])

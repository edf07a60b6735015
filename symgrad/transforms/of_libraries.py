"""Derivatives of arrays of another library: arrays of jax, torch or cupy in, the same library's out, where they live.

What is traced are shapes and dtypes. The values of the first arrays of a signature come to NumPy too, in case the
function branches on them; a function that does is asked again at each call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled import CompiledFunction, is_tracing
from ..context import is_debugging
from ..errors import BackendError, UnsupportedOperation
from ..kernels.array_libraries import LIBRARIES, ArrayLibrary, is_dask, library_of, stand_in
from ..trace_entry import TraceEntry
from ..tracing.trace import current
from ..tracing.tree import flatten, unflatten

if TYPE_CHECKING:
    from .derived import DerivedFunction


#: signatures whose traces are remembered
_MAX_KEYS = 64
#: the classes of arrays that calls were kept of, and float
_kinds: set[type] = {float}


def as_numpy(args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments with what arrays of other libraries hold as arrays of NumPy, to read formulas of.

    Of arrays that hold nothing yet, as inside of ``jax.jit`` and in Dask, the shapes and dtypes alone are known.
    """
    leaves, structure = flatten((args, kwargs))
    if library_of(leaves) is None and not any(map(is_dask, leaves)):
        return args, kwargs
    return unflatten(structure, [_as_numpy(leaf) for leaf in leaves])


def _as_numpy(leaf: Any) -> Any:
    if is_dask(leaf):
        return stand_in(leaf.shape, leaf.dtype)
    library = library_of([leaf])
    if library is None:
        return leaf
    held = library.values_of(leaf)
    return library.stand_in(leaf) if held is None else held


def library_for(derived: DerivedFunction, args: tuple, kwargs: dict[str, Any]) -> ArrayLibrary | None:
    """The library that a call computes in: that of its arguments, or that of the backend; None for NumPy."""
    asked = LIBRARIES.get(derived.backend)
    found = library_of(flatten((args, kwargs))[0])
    if found is None or asked is found:
        return found or asked
    if asked is not None or derived.backend != "auto":
        raise BackendError(
            f"{derived.__name__} runs on backend={derived.backend!r}, and an argument is an array of {found.name}; "
            f"leave backend='auto', or pass numpy.asarray(x)."
        )
    return found


def kept_for(derived: DerivedFunction, args: tuple) -> TraceEntry | None:
    """The trace that a call alike has left, which may run with nothing else done."""
    entry = derived._by_library.get(_key(args))
    if entry is None or current() is not None or is_debugging() or not entry.unchanged():
        return None
    return entry


def of_library(derived: DerivedFunction, library: ArrayLibrary, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The result of a call in arrays of ``library``."""
    if derived.sparse:
        raise UnsupportedOperation(f"{derived.__name__} is sparse: scipy.sparse is NumPy's. Ask for a dense one.")
    if is_tracing((args, kwargs)):
        raise UnsupportedOperation.here(
            f"{derived.__name__} of arrays of {library.name} cannot be part of a function that is traced; pass "
            "the traced values."
        )
    if is_debugging() and all(
        library.values_of(a) is not None for a in flatten((args, kwargs))[0] if library.is_array(a)
    ):
        plain, named = as_numpy(args, kwargs)
        derived(*plain, **named)  # says where something is not finite
    compiled = _compiled_for(derived, library)
    leaves, structure = flatten((args, kwargs))
    real: dict[int, Any] = {}

    def tree(made: Callable[[Any], np.ndarray]) -> tuple[tuple, dict[str, Any]]:
        """The arguments with arrays of NumPy in place of those of the library."""
        stands = [made(leaf) if library.is_array(leaf) else leaf for leaf in leaves]
        real.update({id(s): leaf for s, leaf in zip(stands, leaves, strict=True) if s is not leaf})
        return unflatten(structure, stands)

    shaped = tree(library.stand_in)
    derived._check(*shaped)
    found = compiled.kept(*shaped)
    if found is None:
        held = [library.values_of(leaf) for leaf in leaves if library.is_array(leaf)]
        is_known = all(values is not None for values in held)
        rest = iter(held)
        known = tree(lambda _: np.asarray(next(rest))) if is_known else shaped
        found = compiled.served(*known[0], **known[1])
        if found[0].taken and not is_known:
            raise UnsupportedOperation(
                f"{derived.__name__} branches on values, and these arrays of {library.name} have none yet: write the "
                "branch as np.where, or call it outside of what compiles or transforms it."
            )
    entry, traced = found
    is_plain = not kwargs and all(type(a) is float or library.is_array(a) for a in args)
    if is_plain and not entry.taken and entry.host is None and compiled.shapes is None:
        kept = derived._by_library
        if len(kept) >= _MAX_KEYS:
            del kept[next(iter(kept))]
        _kinds.update(map(type, args))
        kept[_key(args)] = entry
    return entry.run([real.get(id(leaf), leaf) for leaf in traced])


def _key(args: tuple) -> tuple | None:
    """What calls alike share whose arguments are floats and arrays of classes that calls were kept of."""
    kinds = [type(a) for a in args]
    if not _kinds.issuperset(kinds):
        return None
    return tuple([float if kind is float else (kind, a.shape, a.dtype) for kind, a in zip(kinds, args, strict=True)])


def _compiled_for(derived: DerivedFunction, library: ArrayLibrary) -> CompiledFunction:
    """What traces for the backend of ``library``."""
    if derived.backend == library.name:
        return derived._compiled
    kept = derived._compiled_by_library
    if library.name not in kept:
        kept[library.name] = derived._new_compiled(backend=library.name)
    return kept[library.name]

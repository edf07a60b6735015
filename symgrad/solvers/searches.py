"""Functions of SciPy that search: what they give are whole numbers, which no small change of their arguments moves.

They run as they are. A call in which they give others has another trace, as one has that takes another branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import TracingError, UnsupportedArguments
from ..tracing.dispatch import answers_for
from ..tracing.external_calls import known_values
from ..tracing.local_array import unwrapped
from ..tracing.trace import as_node, is_traced, running
from ..tracing.tracer import Tracer
from ..tracing.tree import flatten, unflatten
from .closed import held, is_known


def _found(name: str, search: Callable[..., Sequence[Any]], args: Any, kwargs: Any) -> list[np.ndarray]:
    """The arrays of whole numbers that ``search`` gives for the values of this call, guarded."""
    leaves, structure = flatten(unwrapped((args, kwargs), traced=True))
    nodes = {k: as_node(v) for k, v in enumerate(leaves) if is_traced(v)}

    def searched(*values: Any) -> list[np.ndarray]:
        given = dict(zip(nodes, values, strict=True))
        own, named = unflatten(structure, [given.get(k, v) for k, v in enumerate(leaves)])
        return [np.asarray(v, np.int64) for v in search(*own, **named)]

    known = known_values(running(), list(nodes.values()))
    if known is None:
        raise TracingError.here(f"{name} searches among values, and nobody knows these while the function is traced.")
    found = searched(*known)
    if not all(map(is_known, map(Tracer, nodes.values()))):
        size = sum(v.size for v in found)

        def again(*values: Any) -> tuple[np.ndarray, np.ndarray]:
            made = searched(*values)
            flat = np.concatenate([v.ravel() for v in made])
            return np.resize(flat, size), np.array([n for v in made for n in v.shape] or [0])

        shapes = ((size,), (max(sum(v.ndim for v in found), 1),))
        for made in held(name.rpartition(".")[2], again, shapes, list(nodes.values())):
            running().guard(as_node(made))
    return found


def _declare(name: str, search: Callable[[], Callable[..., Any]], result: Callable[[list], Any]) -> None:
    answers_for(name)(lambda *args, **kwargs: result(_found(name, search(), args, kwargs)))


def _assignment() -> Callable[..., Any]:
    import scipy.optimize

    return scipy.optimize.linear_sum_assignment


def _peaks() -> Callable[..., Any]:
    import scipy.signal

    def search(x: Any, **given: Any) -> list[Any]:
        places, properties = scipy.signal.find_peaks(x, **given)
        return [places, *[v for name, v in properties.items() if np.asarray(v).dtype.kind in "iu"]]

    return search


def _label() -> Callable[..., Any]:
    import scipy.ndimage

    return scipy.ndimage.label


_declare("scipy.optimize.linear_sum_assignment", _assignment, tuple)
_declare("scipy.ndimage.label", _label, lambda found: (found[0], int(found[1])))


@answers_for("scipy.signal.find_peaks")
def _find_peaks(x, height=None, threshold=None, distance=None, prominence=None, width=None, **more):
    if threshold is not None or prominence is not None or width is not None:
        raise UnsupportedArguments.here(
            "scipy.signal.find_peaks with threshold, prominence or width gives numbers that have no derivative rule. "
            "Find the peaks outside of the function, and pass their places."
        )
    (places, *_) = _found("scipy.signal.find_peaks", _peaks(), (x,), {"height": height, "distance": distance, **more})
    return places, {} if height is None else {"peak_heights": x[places]}

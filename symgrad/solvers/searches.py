"""Functions of SciPy that search: what they give are whole numbers, which no small change of their arguments moves.

They run as they are. A call in which they give others has another trace, as one has that takes another branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..errors import TracingError, UnsupportedArguments, UnsupportedOperation
from ..tracing.dispatch import answers_for
from ..tracing.external_calls import known_values
from ..tracing.given_arrays import array
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


@answers_for("scipy.spatial.KDTree", "scipy.spatial.cKDTree")
class _Tree:
    """A tree of traced points."""

    def __init__(self, data: Any, *args: Any, **kwargs: Any) -> None:
        self.data = array(data)

    def query(self, *args: Any, **kwargs: Any) -> Any:
        return _query(self, *args, **kwargs)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise UnsupportedOperation.here(f"KDTree.{name} of traced points has no derivative rule: take query.")


@answers_for("scipy.spatial.KDTree.query", "scipy.spatial.cKDTree.query")
def _query(tree, x, k=1, eps=0.0, p=2.0, distance_upper_bound=np.inf, workers=1):
    """How far the nearest points are, and which they are."""
    if eps or distance_upper_bound != np.inf:
        raise UnsupportedArguments.here(
            "scipy.spatial.KDTree.query with eps or distance_upper_bound has no derivative rule in symgrad. Leave them "
            "out, and choose with np.where."
        )

    def search(data: Any, x: Any) -> list[Any]:
        from scipy.spatial import KDTree

        return [KDTree(data).query(x, k, p=p)[1]]

    data, x = tree.data, array(x)
    (places,) = _found("scipy.spatial.KDTree.query", search, (data, x), {})
    apart = (x if places.ndim < x.ndim else np.expand_dims(x, -2)) - array(data)[places]
    return np.linalg.norm(apart, ord=p, axis=-1), places


@answers_for("scipy.signal.find_peaks")
def _find_peaks(x, height=None, threshold=None, distance=None, prominence=None, width=None, **more):
    if threshold is not None or prominence is not None or width is not None:
        raise UnsupportedArguments.here(
            "scipy.signal.find_peaks with threshold, prominence or width gives numbers that have no derivative rule. "
            "Find the peaks outside of the function, and pass their places."
        )
    (places, *_) = _found("scipy.signal.find_peaks", _peaks(), (x,), {"height": height, "distance": distance, **more})
    return places, {} if height is None else {"peak_heights": x[places]}

"""How far a derivative is from finite differences of the function, at the arguments that it is exported with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled import CompiledFunction
from ..errors import SymgradError
from ..finite_differences import differences
from ..passes.unrolling import steps_in, unrolled
from ..primitives.casting import Cast
from ..program.interpret import evaluated, interpreted
from ..program.node import Node
from ..trace_entry import TraceEntry
from ..tracing.tree import flatten, unflatten
from .positions import data_of

if TYPE_CHECKING:
    from .derived import DerivedFunction

#: operations of the function up to which differences are taken: each takes dozens of runs
_MAX_NODES = 5000
#: elements up to which differences are taken by each of them
_MAX_ELEMENTS = 32


class Differenced:
    """A derivative and the function it is of, both along one direction through the arguments."""

    def __init__(self, derived: DerivedFunction, entry: TraceEntry, args: tuple, kwargs: dict[str, Any]) -> None:
        self._derived = derived
        self._entry = entry
        self._args, self._kwargs = args, kwargs

    def residual(self) -> tuple[float | None, str]:
        """The largest difference, relative to the largest entry or 1, and the same in words; None where none is taken.

        The function is run by NumPy, in extended precision where it can be.
        """
        verb = self._derived.verb
        along = {
            "grad": self._gradient,
            "jacobian": self._jacobian,
            "hessian": self._hessian,
            "laplacian": self._laplacian,
            "divergence": self._divergence,
        }.get(verb)
        if along is None:
            return None, f"not taken for {verb}"
        if verb in ("laplacian", "divergence") and sum(n.size for n in self._point()) > _MAX_ELEMENTS:
            return None, "not taken by so many elements"
        try:
            if steps_in(self._entry.program) > _MAX_NODES:
                return None, "not taken for long programs"
            with np.errstate(all="ignore"):
                pairs = along()
        except (SymgradError, ArithmeticError, TypeError, ValueError, AttributeError) as error:
            return None, f"not taken, the function does not run on other arrays ({type(error).__name__})"
        off = 0.0
        for got, want, error in pairs:
            want, error = np.asarray(want), np.asarray(error, float)
            settled = np.isfinite(want) & (error <= 1e-3 * np.maximum(1, np.abs(want)))
            if not np.all(settled):
                return None, "they do not settle at these arguments (a kink, a jump or the edge of the domain)"
            scale = max(1.0, float(np.max(np.abs(want), initial=0)))
            off = max(off, float(np.max(np.abs(np.asarray(got) - want), initial=0)) / scale)
        return off, f"off by {off:.0e}"

    # what is compared: along the direction, the derivative and the differences with their errors

    def _gradient(self) -> list[tuple]:
        derived: Any = self._derived
        own, kwargs, sens = derived._split_sens(self._args, self._kwargs)
        weights = list(derived.weights or ())
        function, point, places = self._function(derived._chosen(own), own, kwargs, weights, derived.has_aux)
        seeds = None if sens is None else [np.asarray(s) for s in data_of(sens)[0]]

        def total(*arrays: np.ndarray) -> tuple:
            outputs = function(*arrays)
            weighed = outputs if seeds is None else [np.real(o * s.conj()) for o, s in zip(outputs, seeds, strict=True)]
            return (sum(np.sum(o) for o in weighed),)

        count = len(places) + len(weights)
        results = self._results()
        gradients = results[-count:] if derived.with_value else results[:count]
        along = _directions(point)
        got = sum(np.sum(_along(np.asarray(g), v, derived.holomorphic)) for g, v in zip(gradients, along, strict=True))
        (want,), (error,), _ = differences(total, point, [along])
        return [(got, want, error)]

    def _jacobian(self) -> list[tuple]:
        derived: Any = self._derived
        function, point, _ = self._function(derived.positions, self._args, self._kwargs, [], derived.has_aux)
        along = _directions(point)
        values, errors, _ = differences(function, point, [along])
        if any(map(np.iscomplexobj, (*point, *values))):
            raise TypeError("complex numbers")
        blocks = self._results()
        pairs = []
        for k, (want, error) in enumerate(zip(values, errors, strict=True)):
            row = blocks[k * len(point) : (k + 1) * len(point)]
            got = sum(np.tensordot(np.asarray(b, float), v, v.ndim) for b, v in zip(row, along, strict=True))
            pairs.append((got, want, error))
        return pairs

    def _hessian(self) -> list[tuple]:
        derived: Any = self._derived
        function, point, _ = self._function(derived.positions, self._args, self._kwargs, [], derived.has_aux)
        first, second = _directions(point), _directions(point, seed=1)

        def total(*arrays: np.ndarray) -> tuple:
            return (sum(np.sum(o) for o in function(*arrays)),)

        (want,), (error,), _ = differences(total, point, [first, second])
        blocks = iter(self._results())
        got = 0.0
        for v in first:
            for w in second:
                got += np.sum(v * np.tensordot(np.asarray(next(blocks), float), w, w.ndim))
        return [(got, want, error)]

    def _laplacian(self) -> list[tuple]:
        function, point = self._field()
        found = [differences(function, point, [e, e]) for e in _elements(point)]
        sums = [[sum(parts) for parts in zip(*own, strict=True)] for own in zip(*[f[:2] for f in found], strict=True)]
        return list(zip(self._results(), *sums, strict=True))

    def _divergence(self) -> list[tuple]:
        function, point = self._field()
        found = [differences(function, point, [e]) for e in _elements(point)]
        parts = [[np.concatenate([np.ravel(v) for v in own])[k] for own in f[:2]] for k, f in enumerate(found)]
        return [(self._results()[0], *map(sum, zip(*parts, strict=True)))]

    # the function

    def _point(self) -> list[np.ndarray]:
        return self._field()[1]

    def _field(self) -> tuple[Callable[..., Sequence], list[np.ndarray]]:
        derived: Any = self._derived
        return self._function(derived.positions, self._args, self._kwargs, [], False)[:2]

    def _results(self) -> list[np.ndarray]:
        """The arrays of the derivative, in the order of the program."""
        _, arrays = self._derived._served(self._args, self._kwargs)
        return list(self._entry.kernel(*arrays))

    def _function(
        self, positions: Sequence[int], args: tuple, kwargs: dict[str, Any], weights: list, has_aux: bool
    ) -> tuple[Callable[..., Sequence], list[np.ndarray], list[int]]:
        """The floats of the function's output as a function of the arrays it is derived by, these, and their places."""
        leaves, structure = flatten((args, kwargs))
        offsets = np.cumsum([0, *(len(flatten(a)[0]) for a in args)])
        places = [k for p in positions for k in range(offsets[p], offsets[p + 1]) if _is_array(leaves[k])]
        point = [np.asarray(leaves[k]) for k in places] + [np.asarray(w) for w in weights]
        if weights:
            return self._traced(args, kwargs, weights, leaves, places, has_aux), point, places

        def plain(*arrays: np.ndarray) -> list[np.ndarray]:
            filled = list(leaves)
            for k, array in zip(places, arrays, strict=True):
                filled[k] = array if array.shape else array[()]
            own, named = unflatten(structure, filled)
            return _floats(self._derived.fn(*own, **named), has_aux)

        return plain, point, places

    def _traced(
        self, args: tuple, kwargs: dict[str, Any], weights: list, leaves: list, places: list[int], has_aux: bool
    ) -> Callable[..., Sequence]:
        """The function as its trace, which takes the weights as inputs, in the precision of what it is given."""
        entry = CompiledFunction(self._derived.fn, self._derived.fn).entry(*args, **kwargs)
        straight = unrolled(entry.program)
        traced = [k for k, leaf in enumerate(leaves) if _is_array(leaf)]
        base = [leaves[k] for k in traced] + [np.asarray(p) for p in entry.parameters]
        own = [traced.index(k) for k in places]
        own += [len(traced) + [id(p) for p in entry.parameters].index(id(w)) for w in weights]

        def function(*arrays: np.ndarray) -> list[np.ndarray]:
            filled = list(base)
            for k, array in zip(own, arrays, strict=True):
                filled[k] = array
            return _floats(entry.filled(interpreted(straight, filled, _in_full)), has_aux)

        return function


def _in_full(node: Node, operands: list[Any]) -> Any:
    """The value in the precision of the operands: a cast down would lose what is differenced."""
    is_down = isinstance(node.primitive, Cast) and node.dtype.kind == "f" and node.operands[0].dtype.kind == "f"
    return operands[0] if is_down else evaluated(node, operands)


def _floats(output: Any, has_aux: bool) -> list[np.ndarray]:
    main = output[0] if has_aux else output
    return [np.asarray(v) for v in flatten(main)[0] if np.asarray(v).dtype.kind in "fc"]


def _is_array(leaf: Any) -> bool:
    return type(leaf) in (float, complex) or isinstance(leaf, (np.ndarray, np.generic))


def _directions(point: Sequence[np.ndarray], seed: int = 0) -> list[np.ndarray]:
    draw = np.random.default_rng(seed)
    drawn = [np.asarray(draw.standard_normal(x.shape)) for x in point]
    return [v * (1 + 0.7j) if np.iscomplexobj(x) else v for v, x in zip(drawn, point, strict=True)]


def _elements(point: Sequence[np.ndarray]) -> Iterator[list[np.ndarray]]:
    """A direction for each element of ``point``."""
    for k, x in enumerate(point):
        for place in np.ndindex(x.shape):
            made = [np.zeros(y.shape) for y in point]
            made[k][place] = 1
            yield made


def _along(gradient: np.ndarray, v: np.ndarray, holomorphic: bool) -> np.ndarray:
    """The slope of each element along ``v``."""
    return gradient * v if holomorphic or not np.iscomplexobj(gradient) else np.real(gradient.conj() * v)

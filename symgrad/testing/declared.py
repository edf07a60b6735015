"""The rules that a function declares of its own, each compared with finite differences, argument by argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..finite_differences import differences
from ..named_dims import argument_names
from ..tracing.tree import flatten, leaf_labels, unflatten
from ..transforms.products import jvp, vjp
from .check import Call, Check, CheckFailed


def check_declared(custom: Any, args: tuple, kwargs: dict[str, Any], order: int, tolerance: float, seed: int) -> None:
    """CheckFailed where a rule of ``custom`` is not the derivative of the function at these arguments.

    The function is called with float64 arrays alone: code of C takes no others.
    """
    if custom.jvp is None and custom.vjp is None:
        raise ArgumentError.here(f"{custom.__name__} declares no derivative; there is nothing to check.")
    one = _OfFloats(custom, args, kwargs, np.random.default_rng(seed))
    for rule in ("jvp", "vjp"):
        if getattr(custom, rule) is not None:
            one.check(rule, custom.only(rule), tolerance)
    if order > 1:
        _second_order(custom, one, seed)


class _OfFloats:
    """A custom function as one of its float arrays, and what it gives there."""

    def __init__(self, custom: Any, args: tuple, kwargs: dict[str, Any], rng: np.random.Generator) -> None:
        self.name = custom.__name__
        args, kwargs = custom.bound(args, kwargs)
        leaves, self._structure = flatten((args, kwargs))
        self._leaves = leaves
        self._places = [k for k in range(len(flatten(args)[0])) if _is_float(leaves[k])]
        self.point = [np.array(leaves[k], np.float64) for k in self._places]
        if not self.point:
            raise ArgumentError.here(f"{self.name} is checked with floats, and no argument is one.")
        named = zip(argument_names(custom, len(args)), args, strict=True)
        names = [label for name, value in named for label in leaf_labels(name, flatten(value)[1])]
        self.labels = [names[k] for k in self._places]
        self.directions = [self._drawn(rng, x) for x in self.point]
        self._plain = self.floats(custom)
        with np.errstate(all="ignore"):
            values = self._plain(*self.point)
        self.weights = [np.asarray(rng.standard_normal(np.shape(v))) for v in values]

    @staticmethod
    def _drawn(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
        """A direction as large as the argument, which may be in any unit."""
        scale = float(np.max(np.abs(x), initial=0.0)) or 1.0
        return np.asarray(scale * rng.standard_normal(x.shape))

    def floats(self, function: Callable[..., Any]) -> Callable[..., tuple]:
        """``function`` of its float arrays alone, with its float results."""

        def of_arrays(*arrays: Any) -> tuple:
            filled = list(self._leaves)
            for k, array in zip(self._places, arrays, strict=True):
                filled[k] = array.astype(np.float64)[()]
            args, kwargs = unflatten(self._structure, filled)
            results = flatten(function(*args, **kwargs))[0]
            return tuple(v for v in results if v is not None and np.result_type(v).kind == "f")

        return of_arrays

    def check(self, rule: str, alone: Any, tolerance: float) -> None:
        """Compare one rule with finite differences, an argument at a time."""
        function = self.floats(alone)
        for k, label in enumerate(self.labels):
            along = [v if k == j else np.zeros_like(v) for j, v in enumerate(self.directions)]
            slopes, errors, _ = differences(self._plain, self.point, [along])
            what = f"the {rule} by argument {label}"
            loose = [10 * tolerance * np.maximum(1, np.abs(s)) for s in slopes]
            if not all(np.all(e <= bound) for e, bound in zip(errors, loose, strict=True)):
                raise CheckFailed(
                    f"{self.name}: {what}: finite differences do not settle here (a kink, a jump, noise, or the edge "
                    "of the domain is near); choose another point."
                )
            if rule == "jvp":
                got = jvp(function, tuple(self.point), tuple(along), backend="numpy")[1]
                self._compare(what, got, slopes, tolerance)
            else:
                pulled = vjp(function, *self.point, backend="numpy")[1](tuple(self.weights))
                along_it = np.sum(np.asarray(pulled[k]) * self.directions[k])
                wanted = sum(np.sum(w * s) for w, s in zip(self.weights, slopes, strict=True))
                self._compare(f"{what}, along a direction", [along_it], [wanted], tolerance)

    def _compare(self, what: str, got: Sequence[Any], wanted: Sequence[Any], tolerance: float) -> None:
        for k, (mine, theirs) in enumerate(zip(got, wanted, strict=True)):
            mine, theirs = np.asarray(mine, np.float64), np.asarray(theirs, np.float64)
            off = np.abs(mine - theirs)
            bound = tolerance * max(1.0, float(np.max(np.abs(theirs), initial=0.0)))
            if not np.all(off <= bound):
                at = np.unravel_index(int(np.argmax(np.where(np.isnan(off), np.inf, off))), off.shape)
                place = f", output {k}" * (len(got) > 1) + (f" at {[int(i) for i in at]}" if at else "")
                raise CheckFailed(
                    f"{self.name}: {what}{place}: it gives {mine[at]:.8g}, finite differences {theirs[at]:.8g}; the "
                    f"difference {off[at]:.3g} is above {bound:.3g}."
                )


def _second_order(custom: Any, one: _OfFloats, seed: int) -> None:
    """Second derivatives in every mixture of modes."""
    function = one.floats(custom)
    function.__name__ = custom.__name__
    Check(Call(function, one.point), seed, "check").derivatives(2)


def _is_float(leaf: Any) -> bool:
    return isinstance(leaf, (float, np.floating)) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f")

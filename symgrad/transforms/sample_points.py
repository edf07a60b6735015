"""Points at which functions are compared: spread over the plausible domains, near kinks, and at special values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..program.dims import is_named, value_of
from ..tracing.tree import unflatten

#: what named dims are, one choice after another: different, one, larger
_SIZES = ((3, 2, 4, 5), (1, 1, 1, 1), (2, 5, 3, 4), (7, 6, 5, 8))


@dataclass(frozen=True)
class Leaf:
    """One argument: ``value`` where there is one, else an array of ``shape`` is drawn."""

    shape: tuple
    dtype: np.dtype
    value: Any = None
    drawn: bool = True


@dataclass(frozen=True)
class Point:
    """Arguments; ``kind`` is ``general``, ``special`` (zeros, ties, whole numbers) or ``extreme`` (large, small)."""

    args: tuple
    kwargs: dict[str, Any]
    kind: str


_Draw = Callable[[np.random.Generator, Leaf, tuple], np.ndarray]


def points(leaves: Sequence[Leaf], structure: Any, constants: Sequence[float]) -> Iterator[Point]:
    """Points of all kinds in turn; ``constants`` are numbers near which something may happen."""
    rng = np.random.default_rng(0)
    if all(leaf.value is not None for leaf in leaves):
        yield _point(structure, [leaf.value for leaf in leaves], "general")
    dims = sorted({s for leaf in leaves for d in leaf.shape if is_named(d) for s in d.free_symbols}, key=str)
    chosen = [dict(zip(dims, [s[k % 4] for k in range(len(dims))], strict=True)) for s in _SIZES] if dims else [{}]
    for turn in range(_TURNS):
        for kind, family in _FAMILIES:
            sizes = chosen[rng.integers(len(chosen))] if turn else chosen[0]
            values = []
            for leaf in leaves:
                shape = tuple([value_of(d, sizes) for d in leaf.shape])
                draw = _MIXED[rng.integers(len(_MIXED))] if family == "mixed" else family
                values.append(_drawn(rng, leaf, shape, draw, constants))
            if min((np.size(v) for v in values), default=1):
                yield _point(structure, values, kind)


_TURNS = 5


def _point(structure: Any, values: list[Any], kind: str) -> Point:
    args, kwargs = unflatten(structure, values)
    return Point(tuple(args), kwargs, kind)


def _drawn(rng: np.random.Generator, leaf: Leaf, shape: tuple, draw: str, constants: Sequence[float]) -> Any:
    if not leaf.drawn:
        return leaf.value
    if draw == "near constants":
        made = np.array(constants or [0.0])[rng.integers(max(len(constants), 1), size=shape)]
        made = made * (1 + 0.3 * rng.standard_normal(shape)) + 0.01 * rng.standard_normal(shape)
    else:
        made = _DRAWS[draw](rng, leaf, shape)
    made = np.asarray(made, leaf.dtype)
    return made.item() if type(leaf.value) is float else made


def _near(rng: np.random.Generator, leaf: Leaf, shape: tuple) -> np.ndarray:
    """About as large as the values that there are."""
    if leaf.value is None:
        return rng.standard_normal(shape)
    base = np.asarray(leaf.value, np.float64)
    spread = float(np.max(np.abs(base), initial=0.0)) or 1.0
    return base * (1 + 0.1 * rng.standard_normal(shape)) + 0.03 * spread * rng.standard_normal(shape)


def _nearest(rng: np.random.Generator, leaf: Leaf, shape: tuple) -> np.ndarray:
    base = 0.5 if leaf.value is None else np.asarray(leaf.value, np.float64)
    return base * (1 + 0.01 * rng.standard_normal(shape))


def _definite(rng: np.random.Generator, leaf: Leaf, shape: tuple) -> np.ndarray:
    """A positive definite matrix where the argument is square."""
    made = rng.standard_normal(shape)
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        return made @ np.swapaxes(made, -1, -2) + shape[-1] * np.eye(shape[-1])
    return made


_DRAWS: dict[str, _Draw] = {
    "near": _near,
    "nearest": _nearest,
    "definite": _definite,
    "normal": lambda rng, leaf, shape: 1.5 * rng.standard_normal(shape),
    "positive": lambda rng, leaf, shape: np.exp(rng.standard_normal(shape)),
    "negative": lambda rng, leaf, shape: -np.exp(rng.standard_normal(shape)),
    "between": lambda rng, leaf, shape: rng.uniform(0.05, 0.95, shape),
    "wide": lambda rng, leaf, shape: rng.uniform(-10, 10, shape),
    "close to zero": lambda rng, leaf, shape: 1e-3 * rng.standard_normal(shape),
    "whole": lambda rng, leaf, shape: rng.integers(-2, 3, shape).astype(np.float64),
    "alike": lambda rng, leaf, shape: np.full(shape, rng.choice([0.0, 1.0, -1.0, 0.5, 2.0])),
    "some zeros": lambda rng, leaf, shape: _near(rng, leaf, shape) * (rng.uniform(size=shape) > 0.5),
    "extreme": lambda rng, leaf, shape: np.sign(rng.standard_normal(shape)) * 10 ** rng.uniform(-3, 3, shape),
}
_MIXED = ("near", "normal", "positive", "negative", "between")
#: families of points, each taken in every turn; ``mixed``: one of ``_MIXED`` for each argument
_FAMILIES = [
    ("general", "near"),
    ("general", "normal"),
    ("general", "positive"),
    ("special", "whole"),
    ("general", "between"),
    ("general", "mixed"),
    ("general", "near constants"),
    ("general", "negative"),
    ("general", "definite"),
    ("special", "alike"),
    ("general", "wide"),
    ("general", "nearest"),
    ("general", "close to zero"),
    ("special", "some zeros"),
    ("extreme", "extreme"),
    ("general", "mixed"),
]

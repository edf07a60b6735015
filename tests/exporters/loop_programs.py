"""Programs for the formats that are made of loops: every operation with its derivative, many in one program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import array_programs
import numpy as np
from operands import draw

import symgrad as sg
from symgrad.exporters.subject import Subject
from symgrad.kernels.kernel import lower
from symgrad.primitives.elementwise import TEMPLATES
from symgrad.primitives.functions import DOMAINS
from symgrad.tracing.declare import CASES as FUNCTION_CASES
from symgrad.tracing.declare import Given
from symgrad.transforms.subjects import subject_of

SHAPES = {
    1: [((),), ((2, 3),)],
    2: [((2, 3), (3,)), ((2, 1), (1, 3)), ((), ())],
    3: [((2, 3), (2, 3), (2, 3)), ((2, 1), (3,), ())],
}
#: what NumPy makes of these is part of every operation's meaning
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 3.0, np.inf, -np.inf, np.nan)


@dataclass(frozen=True)
class Exportable:
    """A derivative: what is exported, the arrays it takes, and what the NumPy kernel gives for them."""

    subject: Subject
    inputs: Sequence[np.ndarray]
    wanted: Sequence[np.ndarray]


def exportable(name: str, derived: Any, args: tuple, shapes: tuple = ()) -> Exportable:
    """The export called ``name``, without a check; derived for ``shapes`` where these are given."""
    derived = derived._readable()
    entry, leaves = derived._compiled.served(*args)
    inputs = [np.asarray(a) for a in entry.arguments(leaves)]
    made = subject_of(derived, shapes or args, {}, None, "auto", True)
    subject = replace(made, name=name, stem=name, checked=lambda: "it is compared here")
    return Exportable(subject, inputs, kernel_values(subject, inputs))


def kernel_values(subject: Subject, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What the NumPy kernel of a subject gives."""
    given = [a.item() if n.weak else a for a, n in zip(inputs, subject.program.inputs, strict=True)]
    with np.errstate(all="ignore"):
        return [np.asarray(r) for r in lower(subject.program, "numpy")(*given)]


def same(got: np.ndarray, want: np.ndarray, what: str = "", tolerance: float | None = None) -> None:
    """Shapes and dtypes are alike, and values to the tolerance of a check."""
    got, want = np.asarray(got), np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype), (what, got.dtype, got.shape, want.dtype, want.shape)
    bound = tolerance or (1e-4 if want.dtype == np.float32 else 1e-9)
    scale = max([1.0, *np.abs(want[np.isfinite(want)].astype(float)).ravel()])
    off = ~np.isclose(got.astype(float), want.astype(float), rtol=0, atol=bound * scale, equal_nan=True)
    assert not off.any(), (what, got[off][:5], want[off][:5])


class Together:
    """Calls of many functions as one function of a list of float arrays and a list of the others."""

    def __init__(self) -> None:
        self.floats: list[np.ndarray] = []
        self.others: list[np.ndarray] = []
        self._calls: list[Callable[[list, list], Any]] = []

    def add(self, function: Callable, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """One more call; its arrays become arguments of the whole, what is ``Given`` stays as it is."""

        def place(arg: Any) -> Callable[[list, list], Any]:
            if isinstance(arg, Given):
                return lambda floats, others: arg.value
            if isinstance(arg, list):
                parts = [place(a) for a in arg]
                return lambda floats, others: [p(floats, others) for p in parts]
            own = self.floats if arg.dtype.kind == "f" else self.others
            own.append(arg)
            k, first = len(own) - 1, own is self.floats
            return lambda floats, others: (floats if first else others)[k]

        places = [place(a) for a in args]
        self._calls.append(lambda floats, others: function(*[p(floats, others) for p in places], **kwargs))

    def values(self, floats: list, others: list) -> list:
        """The arrays that the calls give."""
        results = [call(floats, others) for call in self._calls]
        return [value for value in _leaves(results) if getattr(value, "dtype", None) is not None]

    def total(self, floats: list, others: list) -> Any:
        """A number that every float result counts in, each element by its own weight."""
        made: Any = 0.0
        for value in self.values(floats, others):
            if value.dtype.kind == "f":
                weights = np.cos(np.arange(int(np.prod(value.shape)))).reshape(value.shape)
                made = made + np.sum(value * weights)
        return made

    def exportables(self, name: str) -> list[Exportable]:
        """The values, and the derivative of the total by every float."""
        args = (self.floats, self.others)
        made = [exportable(f"{name}_values", sg.symbolic(self.values), args)]
        if self.floats:
            made.append(exportable(f"{name}_slopes", sg.grad(self.total), args))
        return made


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from _leaves(v)
    else:
        yield value


#: what derivatives alone bring in is no function of the user's
_CALLED = {name: template for name, template in TEMPLATES.items() if name != "zeta"}


def templates(most: int = 3) -> list[Exportable]:
    """Every elementwise function on its domain, in so many broadcasts at most."""
    rng = np.random.default_rng(7)
    together = Together()
    for name in _CALLED:
        for shapes in SHAPES[TEMPLATES[name].arity][:most]:
            operands = [draw(rng, i, shape) for i, shape in zip(DOMAINS[name], shapes, strict=True)]
            together.add(TEMPLATES[name].ufunc, operands, {})
    return together.exportables("templates")


def special_values(refused: Sequence[str] = (), dtype: Any = np.float64) -> Exportable:
    """Every elementwise function at zeros, infinities and NaN."""
    together = Together()
    row = np.array(SPECIAL, dtype)
    for name, template in _CALLED.items():
        intervals = DOMAINS[name]
        if name in refused or any(isinstance(low, int) for low, _ in intervals):
            continue
        shapes = [(-1,), (-1, 1), (-1,)][: template.arity]
        together.add(template.ufunc, [row.reshape(s) for s in shapes], {})
    return exportable(
        f"special_values_{np.dtype(dtype).name}", sg.symbolic(together.values), (together.floats, together.others)
    )


def integers(dtype: Any) -> Exportable:
    """Every elementwise function that NumPy computes for integers, or truth values, without going to half floats."""
    together = Together()
    row = np.array([0, 1, 2, 3, 7, 100] if dtype is not bool else [0, 1], dtype)
    if np.dtype(dtype).kind == "i":
        row = np.concatenate([row, -row, [np.iinfo(dtype).min, np.iinfo(dtype).max]]).astype(dtype)
    for name, template in _CALLED.items():
        if name in ("where", "ldexp", "power", "float_power"):
            continue
        own = [np.dtype(dtype)] * template.arity
        try:
            made = template.ufunc.resolve_dtypes((*own, *[None] * template.ufunc.nout))
        except TypeError:
            continue
        if any(d == np.float16 for d in made) or (name == "reciprocal" and dtype is not bool):
            continue
        shapes = [(-1,), (-1, 1)][: template.arity]
        together.add(template.ufunc, [row.reshape(s) for s in shapes], {})
    if np.dtype(dtype).kind in "iu":
        together.add(np.power, [row, np.abs(row[:6, None]) % 5], {})
    name = f"integers_{np.dtype(dtype).name}"
    return exportable(name, sg.symbolic(together.values), (together.floats, together.others))


def primitives() -> list[Exportable]:
    """Every primitive that is not elementwise, once, with its derivative."""
    rng = np.random.default_rng(5)
    together = Together()
    square = rng.normal(size=(2, 3, 3)) + 3 * np.eye(3)
    for function in (np.linalg.inv, np.linalg.det, lambda a: list(np.linalg.slogdet(a))):
        together.add(function, [square], {})
    together.add(lambda a: np.linalg.cholesky(a @ a.T), [square[0]], {})
    together.add(lambda a: np.linalg.cholesky(a @ a.T, upper=True), [square[1]], {})
    together.add(np.linalg.solve, [square[0], rng.normal(size=(3, 2))], {})
    together.add(np.linalg.solve, [square[1], rng.normal(size=3)], {})
    x, v = rng.normal(size=(3, 4)), rng.normal(size=4)
    for axis in (0, 1):
        for function in (np.max, np.min, np.prod, np.cumsum, np.argmax, np.argmin, np.argsort, np.sort, np.sum):
            together.add(function, [x], {"axis": axis})
    together.add(lambda a, b: np.searchsorted(np.sort(a), b), [v, x], {})
    together.add(lambda a, b: np.searchsorted(np.sort(a), b, side="right"), [v, x], {})
    together.add(np.convolve, [v, x[0]], {})
    together.add(lambda a, i: a[i] + a.T[:3][:, i[:1]], [x[:, :3], np.array([0, -1, 0])], {})
    together.add(lambda a: [np.reshape(a, (2, 6)).T, np.concatenate([a, a[::-1]], 1), np.diag(a[0])], [x], {})
    together.add(lambda a, b: [np.einsum("ij,jk,k->i", a, a.T @ a, b), a @ a.T, np.outer(b, b)], [x, v], {})
    together.add(lambda a: a.astype(np.float32) * np.float32(0.1), [x], {})
    return together.exportables("primitives")


def functions() -> list[Exportable]:
    """Every NumPy function, in the cases that its rule is tested by."""
    rng = np.random.default_rng(3)
    made: list[Exportable] = []
    together = Together()
    for function, cases in FUNCTION_CASES.items():
        for case in cases:
            together.add(case.of_drawn(function), _as_drawn(case, rng), case.kwargs)
        if len(together.floats) > 60:
            made += together.exportables(f"functions_{len(made)}")
            together = Together()
    return made + together.exportables(f"functions_{len(made)}")


def _as_drawn(case: Any, rng: np.random.Generator) -> list[Any]:
    """The arguments of a case: arrays, and what is given as it is."""

    def marked(spec: Any) -> Any:
        if isinstance(spec, Given):
            return spec
        if isinstance(spec, list):
            return [marked(s) for s in spec]
        return np.asarray(rng.uniform(*case.domain, size=spec))

    return [marked(a) for a in case.args]


def bench() -> list[Exportable]:
    """The derivatives of the benchmarks at small sizes."""
    return [exportable(f"bench_{k}", *array_programs.bench(name)) for k, name in enumerate(array_programs.BENCH)]


def random_function(seed: int) -> tuple[Callable, tuple[np.ndarray, np.ndarray]]:
    """A function of a vector and a matrix, made of a dozen operations drawn by ``seed``, and arguments for it."""
    rng = np.random.default_rng(seed)
    n, m = (int(k) for k in rng.integers(1, 5, 2))
    plan = [(int(rng.integers(len(_STEPS))), *rng.integers(0, 1 << 30, 3).tolist()) for _ in range(12)]

    def function(x: Any, a: Any) -> Any:
        pool = [x, a, np.outer(x, x), a.T, np.tanh(a) * 0.5]
        for which, *picks in plan:
            pool.append(_STEPS[which](pool, *picks))
        total: Any = 0.0
        for k, value in enumerate(pool):
            total = total + np.sum(np.sin(value)) * (0.1 + 0.1 * (k % 7))
        return total

    return function, (rng.uniform(-1, 1, n), rng.uniform(-1, 1, (n, m)))


def _any(pool: list, pick: int) -> Any:
    return pool[pick % len(pool)]


def _like(pool: list, x: Any, pick: int) -> Any:
    """A value of the pool that broadcasts with ``x``."""
    fitting = [p for p in pool if p.ndim == 0 or p.shape == x.shape or p.shape == x.shape[-p.ndim :]]
    return fitting[pick % len(fitting)]


def _matrix(pool: list, pick: int) -> Any:
    found = [p for p in pool if p.ndim == 2]
    return found[pick % len(found)]


def _product(pool: list, i: int, j: int, k: int) -> Any:
    left = _matrix(pool, i)
    fitting = [p for p in pool if p.ndim in (1, 2) and p.shape[0] == left.shape[1]]
    return np.tanh(left @ fitting[j % len(fitting)]) if fitting else np.tanh(left @ left.T)


def _cut(pool: list, i: int, j: int, k: int) -> Any:
    x = _matrix(pool, i)
    start = j % x.shape[0]
    return (x[start:], x[start], x[::-1], x[:, :: 1 + k % 2], x[:, -1], x[start, :1])[k % 6]


def _moved(pool: list, i: int, j: int, k: int) -> Any:
    x = _matrix(pool, i)
    moves = (np.transpose, np.ravel, lambda v: np.cumsum(v, axis=j % 2), lambda v: np.concatenate([v, v * v], j % 2))
    return (*moves, lambda v: np.reshape(v, (v.shape[1], v.shape[0])), lambda v: np.roll(v, 1, axis=0))[k % 6](x)


_STEPS: Sequence[Callable[[list, int, int, int], Any]] = (
    lambda pool, i, j, k: np.tanh(_any(pool, i)),
    lambda pool, i, j, k: np.exp(-(_any(pool, i) ** 2)),
    lambda pool, i, j, k: np.sqrt(1.0 + np.abs(_any(pool, i))),
    lambda pool, i, j, k: _any(pool, i) * _like(pool, _any(pool, i), j),
    lambda pool, i, j, k: _any(pool, i) - np.cos(_like(pool, _any(pool, i), j)),
    lambda pool, i, j, k: np.where(_any(pool, i) > 0.1, _like(pool, _any(pool, i), j), _like(pool, _any(pool, i), k)),
    lambda pool, i, j, k: np.sum(_any(pool, i)),
    lambda pool, i, j, k: np.mean(_matrix(pool, i), axis=j % 2),
    lambda pool, i, j, k: np.max(_matrix(pool, i), axis=j % 2),
    lambda pool, i, j, k: np.prod(_matrix(pool, i), axis=j % 2),
    lambda pool, i, j, k: np.trace(_matrix(pool, i) @ _matrix(pool, i).T) * np.ones(2),
    lambda pool, i, j, k: np.take(_matrix(pool, i), np.array([0, -1, 0]), axis=j % 2),
    lambda pool, i, j, k: np.sort(_matrix(pool, i), axis=j % 2),
    _product,
    _product,
    _cut,
    _cut,
    _moved,
    _moved,
)


def random_programs(seeds: Sequence[int]) -> list[Exportable]:
    """Gradients, and Hessians, of random functions."""
    made = []
    for k, seed in enumerate(seeds):
        function, args = random_function(seed)
        derived = sg.hessian(function) if k % 4 == 3 else sg.value_and_grad(function, (0, 1))
        made.append(exportable(f"random_{k}", derived, args))
    return made

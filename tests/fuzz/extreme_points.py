"""Random chains of functions at extreme points, against mpmath in hundreds of digits.

A chain is drawn as an expression of numbers and evaluated by NumPy and by mpmath. Functions that run as they are stand
beside it in one program. What is compared is what floats can say: where the value of NumPy is that of the chain, and
the slope not one of which rounding a step of the chain makes another.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import external_kinds as kinds
import mpmath
import numpy as np
from scipy import special

import symgrad as sg

_DIGITS = 760
#: zeros and equal values, and what is far out, so far that powers of four are floats
POINTS = {
    "float64": (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 20.0, -40.0, 170.0, -180.0, 1e-8, -1e-8, 1e75, -1e75, 1e-75, -1e-75),
    "float32": (0.0, -0.0, 1.0, -1.0, 0.5, 10.0, -20.0, 1e-4, 1e6, -1e6, 1e-6, -1e-6),
}
#: farther, where functions stand alone
FARTHER = {
    "float64": (340.0, -350.0, 700.0, -745.0, 1e150, -1e150, 1e-150, -1e-150, 1.7e308, 5e-324, -2e-308),
    "float32": (43.0, 88.0, -103.0, 1e19, -1e19, 1e-19, -1e-19, 3.4e38, 1.2e-38, 1e-45),
}
#: powers of two beyond which a value is beyond every float, and mpmath slow
_MOST_BITS = 5000
#: what is so far below a value and its argument is not asked for
_NEGLIGIBLE = 1e-30
#: how far slopes may be off; to how many digits single functions have them is told by the table of their precision
_RELATIVE = {"float64": 1e-8, "float32": 2e-3}
#: steps whose own formula takes numbers from each other in its slope or its curvature, which then has digits behind
#: the point alone: they are compared near 0
_CANCELLING = frozenset(("direction", "softmax", "log of a sum", "root", "norm", "hypot of both", "angle"))
_FAR = 50.0

Two = tuple[Callable[..., Any], Callable[..., Any]]


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def _softplus(x: Any) -> Any:
    return mpmath.log1p(mpmath.exp(x))


def _log_cosh(x: Any) -> Any:
    return mpmath.log(mpmath.cosh(x))


def _sinc(x: Any) -> Any:
    return mpmath.sinc(mpmath.pi * x)


#: name -> the function as NumPy has it, and mpmath's, of numbers
OF_ONE: dict[str, Two] = {
    "exp": (np.exp, mpmath.exp),
    "expm1": (np.expm1, mpmath.expm1),
    "exp of minus the square": (lambda x: np.exp(-x * x), lambda x: mpmath.exp(-x * x)),
    "tanh": (np.tanh, mpmath.tanh),
    "arctan": (np.arctan, mpmath.atan),
    "arcsinh": (np.arcsinh, mpmath.asinh),
    "log1p of the square": (lambda x: np.log1p(x * x), lambda x: mpmath.log1p(x * x)),
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), _sigmoid),
    "other logistic": (lambda x: np.exp(x) / (1 + np.exp(x)), _sigmoid),
    "expit": (special.expit, _sigmoid),
    "log_expit": (special.log_expit, lambda x: -_softplus(-x)),
    "softplus": (lambda x: np.log(1 + np.exp(x)), _softplus),
    "softplus by log1p": (lambda x: np.log1p(np.exp(x)), _softplus),
    "softplus by a size": (lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), _softplus),
    "softplus by logaddexp": (lambda x: np.logaddexp(x, 0), _softplus),
    "log cosh": (lambda x: np.log(np.cosh(x)), _log_cosh),
    "one by cosh": (lambda x: 1 / np.cosh(x), mpmath.sech),
    "cauchy": (lambda x: 1 / (1 + x * x), lambda x: 1 / (1 + x * x)),
    "root": (lambda x: np.sqrt(1 + x * x), lambda x: mpmath.sqrt(1 + x * x)),
    "hypot": (lambda x: np.hypot(1, x), lambda x: mpmath.sqrt(1 + x * x)),
    "direction": (lambda x: x / np.sqrt(1 + x * x), lambda x: x / mpmath.sqrt(1 + x * x)),
    "direction by hypot": (lambda x: x / np.hypot(x, 1), lambda x: x / mpmath.sqrt(1 + x * x)),
    "square of a size": (lambda x: np.abs(x) ** 2, lambda x: x * x),
    "cosine of a size": (lambda x: np.cos(np.abs(x)), mpmath.cos),
    "sinc": (np.sinc, _sinc),
    "erf": (special.erf, mpmath.erf),
    "erfc": (special.erfc, mpmath.erfc),
    "ndtr": (special.ndtr, mpmath.ncdf),
    "sin": (np.sin, mpmath.sin),
    "cube": (lambda x: x**3, lambda x: x**3),
    "minus": (lambda x: -x, lambda x: -x),
    "half": (lambda x: x / 2, lambda x: x / 2),
    "pseudo_huber": (lambda x: special.pseudo_huber(1.5, x), lambda x: 2.25 * (mpmath.sqrt(1 + (x / 1.5) ** 2) - 1)),
}
OF_TWO: dict[str, Two] = {
    "sum": (np.add, lambda a, b: a + b),
    "product": (np.multiply, lambda a, b: a * b),
    "norm": (lambda a, b: np.sqrt(1 + a * a + b * b), lambda a, b: mpmath.sqrt(1 + a * a + b * b)),
    "hypot of both": (lambda a, b: np.hypot(a, np.hypot(b, 1)), lambda a, b: mpmath.sqrt(1 + a * a + b * b)),
    "logaddexp": (np.logaddexp, lambda a, b: b + _softplus(a - b)),
    "log of a sum": (lambda a, b: np.log(np.exp(a) + np.exp(b)), lambda a, b: b + _softplus(a - b)),
    "softmax": (lambda a, b: np.exp(a) / (np.exp(a) + np.exp(b)), lambda a, b: _sigmoid(a - b)),
    "angle": (lambda a, b: np.arctan2(a, np.hypot(1, b)), lambda a, b: mpmath.atan(a / mpmath.sqrt(1 + b * b))),
    "damped": (lambda a, b: a * np.exp(-b * b), lambda a, b: a * mpmath.exp(-b * b)),
    "quotient": (lambda a, b: a / (1 + b * b), lambda a, b: a / (1 + b * b)),
}


@dataclass(frozen=True)
class Chain:
    """Steps: each a function and the values that it takes, the arguments first; and the point."""

    steps: tuple[tuple[str, tuple[int, ...]], ...]
    point: tuple[float, ...]
    dtype: str
    beside: str

    def of(self, numpys: bool, xs: Any, wrong: Any = None) -> Any:
        """The last value; a step ``k`` of mpmath's is wrong by a factor ``1 + wrong[k]``."""
        values = list(xs)
        for k, (name, places) in enumerate(self.steps):
            function = (OF_ONE if len(places) == 1 else OF_TWO)[name][0 if numpys else 1]
            made = function(*[values[p] for p in places])
            if not numpys and made and mpmath.mag(made) > _MOST_BITS:
                raise OverflowError(name)
            values.append(made if wrong is None else made * (1 + wrong[k]))
        return values[-1]

    def __str__(self) -> str:
        return f"{self.dtype} at {self.point}, beside {self.beside}: {list(self.steps)}"


def random_chain(seed: int, dtype: str, beside: str) -> Chain:
    """The chain of that seed."""
    r = random.Random(seed)
    count = r.choice((1, 2))
    length = r.choice((1, 1, 2, 2, 3))
    points = POINTS[dtype] + (FARTHER[dtype] if count == length == 1 else ())
    point = tuple(r.choice(points) for _ in range(count))
    if count == 2 and r.random() < 0.3:
        point = (point[0], point[0])
    steps: list[tuple[str, tuple[int, ...]]] = []
    for k in range(length):
        last = count + k - 1
        if count == 2 and (not k or r.random() < 0.3):
            steps.append((r.choice(list(OF_TWO)), (last, r.randrange(last))))
        else:
            steps.append((r.choice(list(OF_ONE)), (last,)))
    return Chain(tuple(steps), point, dtype, beside)


def _differences(chain: Chain, xs: list, wrong: Any) -> tuple[list, list]:
    """The gradient and the rows of the Hessian, of mpmath's numbers."""

    def at(*moves: tuple[int, Any]) -> Any:
        moved = list(xs)
        for k, by in moves:
            moved[k] = moved[k] + by
        return chain.of(False, moved, wrong)

    steps = [mpmath.mpf(10) ** -120 for _ in xs]
    here = at()
    ahead = [at((k, h)) for k, h in enumerate(steps)]
    back = [at((k, -h)) for k, h in enumerate(steps)]
    gradient = [(a - b) / (2 * h) for a, b, h in zip(ahead, back, steps)]
    hessian = [
        [
            (ahead[k] - 2 * here + back[k]) / h**2
            if k == j
            else (at((k, h), (j, g)) - at((k, h), (j, -g)) - at((k, -h), (j, g)) + at((k, -h), (j, -g))) / (4 * h * g)
            for j, g in enumerate(steps)
        ]
        for k, h in enumerate(steps)
    ]
    return gradient, hessian


def _bounded(chain: Chain, r: random.Random) -> list[tuple[float, float]]:
    """Value, gradient and Hessian in a row: each what it is, and how far roundings of steps and arguments move it."""
    eps = float(np.finfo(chain.dtype).eps)

    def row(wrong: Any, by: list) -> list:
        xs = [mpmath.mpf(float(x)) * (1 + b) for x, b in zip(np.array(chain.point, chain.dtype), by)]
        gradient, hessian = _differences(chain, xs, wrong)
        return [chain.of(False, xs, wrong), *gradient, *(h for own in hessian for h in own)]

    def off() -> Any:
        return mpmath.mpf(eps) * r.uniform(-1, 1)

    true = row(None, [0] * len(chain.point))
    moved = [row([off() for _ in chain.steps], [off() for _ in chain.point]) for _ in range(3)]
    return [(t, max(abs(m[k] - t) for m in moved)) for k, t in enumerate(true)]


def extreme(chains: Sequence[Chain]) -> dict[Chain, str]:
    """What is wrong with chains of one dtype, in one program with a function that runs as it is.

    Their values, slopes in both modes and curvatures are as exact as floats can be. A chain of which NumPy's own value
    is another one, and derivatives that say that they are no numbers, are not compared.
    """
    other = getattr(kinds, chains[0].beside)
    dtype = chains[0].dtype
    points = np.array([x for chain in chains for x in chain.point], dtype)
    first = np.cumsum([0, *(len(chain.point) for chain in chains)])

    def values(x: Any) -> list:
        return [c.of(True, x[a : a + len(c.point)]) for c, a in zip(chains, first)]

    def function(x: Any, t: Any) -> Any:
        return np.stack([np.asarray(v) for v in values(x)]) if t is None else sum(values(x)) + 0 * other(t)

    with np.errstate(all="ignore"):
        own = values(points)
        slopes = sg.grad(function, 0)(points, 0.7)
        forward = sg.jacfwd(lambda x: function(x, 0.7))(points)
        curved = sg.hessian(lambda x: function(x, 0.7 + 0 * np.tanh(x[0])))(points)
        again = sg.jacfwd(sg.jacfwd(lambda x: function(x, 0.7)))(points)
    wrong = {}
    for chain, start, value in zip(chains, first, own):
        places = slice(start, start + len(chain.point))
        message = _wrong(chain, value, slopes[places], forward[places], curved[places, places], again[places, places])
        if message:
            wrong[chain] = message
    return wrong


def _wrong(chain: Chain, value: Any, slopes: Any, forward: Any, curved: Any, again: Any) -> str:
    count = len(chain.point)
    with mpmath.workdps(_DIGITS):
        try:
            known = _bounded(chain, random.Random(str(chain)))
        except OverflowError:
            return ""
        if not np.isfinite(value) or _is_off(value, *known[0], chain):
            return ""
        found = {
            "gradient": (slopes, known[1 : 1 + count]),
            "forward": (forward, known[1 : 1 + count]),
            "Hessian": (curved, known[1 + count :]),
            "forward over forward": (again, known[1 + count :]),
        }
        for what, (got, wanted) in found.items():
            for k, (one, (true, spread)) in enumerate(zip(np.ravel(got), wanted, strict=True)):
                if not np.isnan(one) and _is_off(one, true, spread, chain):
                    return f"{what}[{k}] is {one!r}, by mpmath {mpmath.nstr(true, 17)} to {mpmath.nstr(spread, 2)}"
    return ""


def _is_off(got: Any, true: Any, spread: Any, chain: Chain) -> bool:
    """Whether a number is not the one that is true, as far as floats say it: what none can hold is any."""
    info = np.finfo(chain.dtype)
    bound = 64 * spread + _RELATIVE[chain.dtype] * abs(true) + _NEGLIGIBLE
    if max(map(abs, chain.point)) <= _FAR:
        bound += 256 * float(info.eps)
    elif any(name in _CANCELLING for name, _ in chain.steps):
        return False
    if (spread > 1e-3 * abs(true) and abs(true) > _NEGLIGIBLE) or abs(true) + bound > float(info.max):
        return False
    return not abs(mpmath.mpf(float(got)) - true) <= bound

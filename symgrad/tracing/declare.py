"""How a NumPy function is added: one decorator with the cases that its tests draw from.

    @implements(np.sum, cases=[Case((3, 4)), Case((3, 4), axis=1)])
    def _sum(a, axis=None, ...): ...

In a Case a tuple of ints is a float array of that shape, a list of tuples a list of arrays, and
anything in ``Given`` is passed as it is. ``of`` makes the arguments from what was drawn, where the function is
not defined everywhere: ``Case((3, 3), of=positive_definite)`` tests ``np.linalg.cholesky(positive_definite(x))``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dispatch import ADVICE, FUNCTIONS
from .trace import as_followed


@dataclass(frozen=True)
class Given:
    """An argument that is passed as it stands."""

    value: Any


class Case:
    """One call that the rule test makes: shapes of the arrays, and the other arguments."""

    def __init__(
        self,
        *args: Any,
        domain: tuple[float, float] = (-3.0, 3.0),
        of: Callable[..., tuple] | None = None,
        **kwargs: Any,
    ) -> None:
        self.args = args
        self.kwargs = kwargs
        self.domain = domain
        self.of = of

    def draw(self, rng: np.random.Generator, dtype: Any = np.float64) -> list[Any]:
        """The positional arguments, arrays filled from the domain."""

        def make(spec: Any) -> Any:
            if isinstance(spec, Given):
                return spec.value
            if isinstance(spec, list):
                return [make(s) for s in spec]
            return np.asarray(rng.uniform(*self.domain, size=spec)).astype(dtype)

        return [make(a) for a in self.args]

    def of_drawn(self, function: Callable) -> Callable:
        """``function`` of the arguments that ``of`` makes from what was drawn."""
        if self.of is None:
            return function
        of = self.of

        def composed(*drawn: Any, **kwargs: Any) -> Any:
            return as_followed(function)(*of(*drawn), **kwargs)

        composed.__name__ = function.__name__
        return composed

    def __repr__(self) -> str:
        shown = [_shown(a.value) if isinstance(a, Given) else str(a) for a in self.args]
        shown += [f"{k}={_shown(v)}" for k, v in self.kwargs.items()]
        return ", ".join(shown) + (f" of {self.of.__name__}" if self.of else "")


def _shown(value: Any) -> str:
    """A value as it is the same in every process, which tests are called by."""
    return value.__name__ if callable(value) and hasattr(value, "__name__") else repr(value)


#: NumPy function -> the cases its rule test runs
CASES: dict[Callable, Sequence[Case]] = {}


def implements(*functions: Callable, cases: Sequence[Case]) -> Callable[[Callable], Callable]:
    """Declare what NumPy ``functions`` do to traced values, with the cases that test it."""

    def declared(rule: Callable) -> Callable:
        for function in functions:
            FUNCTIONS[function] = rule
            CASES[function] = cases
        return rule

    return declared


def advise(function: Callable, instead: str) -> None:
    """Say what to write instead of a NumPy ``function`` that stays refused."""
    ADVICE[function] = instead

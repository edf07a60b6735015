"""The check that a document carries, run on what was loaded from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..exporters.check import Given, Wanted, agrees
from ..program.node import Node
from ..tracing.tree import flatten
from .document import Document


@dataclass(frozen=True)
class CheckResult:
    """What came of a document's own check; true where it passed.

    ``largest`` is the largest difference from what is wanted, relative to the largest entry or 1, where up to
    ``allowed`` passes.
    """

    name: str
    passed: bool
    largest: float
    allowed: float

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        said = "pass" if self.passed else "FAIL"
        return f"{self.name}: {said} (largest difference {self.largest:.1e}, allowed {self.allowed:.0e})"


def checked(document: Document, function: Callable[..., Any]) -> CheckResult:
    """The check of ``document``, which ``function`` was loaded from; an ArgumentError where it carries none."""
    check = document.check
    if isinstance(check, str):
        raise ArgumentError(f"{document.name} carries no check: {check}.")
    inputs = document.read.program.inputs
    leaves, _ = flatten(function(*[_argument(g, n) for g, n in zip(check.given, inputs, strict=True)]))
    arrays = [np.asarray(leaf) for leaf, (is_array, _) in zip(leaves, document.slots, strict=True) if is_array]
    pairs = list(zip(arrays, check.wanted, strict=True))
    passed = all(agrees(got, wanted, check.tolerance) and got.dtype == wanted.dtype for got, wanted in pairs)
    return CheckResult(document.name, passed, max([_off(*pair) for pair in pairs], default=0.0), check.tolerance)


def _argument(given: Given, node: Node) -> Any:
    """An input as the function takes it: a Python float where it was one."""
    return float(given.array()) if node.weak else given.array()


def _off(got: np.ndarray, wanted: Wanted) -> float:
    """The largest difference, relative to the largest entry that is wanted or 1."""
    want = wanted.values.astype(np.float64)
    mine = np.ravel(got)[:: wanted.step].astype(np.float64)
    if mine.shape != want.shape:
        return float("inf")
    with np.errstate(invalid="ignore"):
        same = (mine == want) | (np.isnan(mine) & np.isnan(want))
        off = np.where(same, 0.0, np.nan_to_num(np.abs(mine - want), nan=np.inf))
    scale = max(1.0, float(np.abs(want[np.isfinite(want)]).max(initial=0.0)))
    return float(off.max(initial=0.0)) / scale

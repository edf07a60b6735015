"""The check that a document carries, run on what was loaded from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..exporters.check import Given, difference
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
    largest = max([difference(*pair) for pair in zip(arrays, check.wanted, strict=True)], default=0.0)
    passed = largest <= check.tolerance and [a.dtype for a in arrays] == [w.dtype for w in check.wanted]
    return CheckResult(document.name, passed, largest, check.tolerance)


def _argument(given: Given, node: Node) -> Any:
    """An input as the function takes it: a Python float where it was one."""
    return float(given.array()) if node.weak else given.array()

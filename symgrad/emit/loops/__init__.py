"""Programs as loops: ``lower`` makes a ``Routine`` of the loop language, which targets print."""

from . import language
from .language import COUNTERS, FAILURES, OPERATIONS, STATUSES, Routine
from .lowering import lower, named_dims

__all__ = ["COUNTERS", "FAILURES", "OPERATIONS", "STATUSES", "Routine", "language", "lower", "named_dims"]

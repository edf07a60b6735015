"""Programs as loops: ``lower`` makes a ``Routine`` of the loop language, which targets print."""

from .language import COUNTERS, OPERATIONS, STATUSES
from .lowering import lower, named_dims
from .reading import Routine

__all__ = ["COUNTERS", "OPERATIONS", "STATUSES", "Routine", "lower", "named_dims"]

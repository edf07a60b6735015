"""A function that runs as it is, in matrix notation: by its name, and with its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...primitives.external import External
from ...program.dims import is_concrete
from .terms import NotExpressible


@dataclass(frozen=True)
class Application:
    """The call that a node is, on matrices without axes of length one."""

    external: External
    params: tuple

    @property
    def name(self) -> str:
        """What the function is called."""
        return self.params[0].name

    def __call__(self, *values: Any) -> np.ndarray:
        """The value; NotExpressible where the shapes of the operands are not known."""
        _, _, given, levels = self.params
        arrays = []
        for k, (value, own) in enumerate(zip(values, given, strict=True)):
            shape = (*[size for flags, size in levels if flags[k]], *own)
            if not is_concrete(shape):
                raise NotExpressible
            arrays.append(np.reshape(value, shape))
        return np.squeeze(self.external.evaluate(self.params, *arrays))

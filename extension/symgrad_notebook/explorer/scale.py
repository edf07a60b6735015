"""Values as levels of a diverging scale, −127 to 127, one byte a cell, and the colours of the levels.

Blue is below zero and orange above, which colour-blind eyes tell apart as well. Magnitude is lightness, away from the
background of either theme, so that a print without colour is still right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

#: the level of the largest magnitude
TOP = 127
#: decades that a logarithmic scale spans at most: those of a float64's precision
_MAX_DECADES = 16
#: how tinted the levels next to 0 are
_TINT = 0.12


@dataclass(frozen=True)
class Scale:
    """From magnitudes to levels: linear from 0 to ``largest``, or by the logarithm from ``smallest`` on."""

    smallest: float
    largest: float
    is_log: bool

    def levels(self, values: np.ndarray) -> np.ndarray:
        """The level of each finite value. What is not 0 never gets level 0.

        >>> scale_of(np.array([-100.0, 1e-9, 0.0]), is_log=False).levels(np.array([-100.0, 50.0, 1e-9, 0.0]))
        array([-127,   64,    1,    0], dtype=int8)
        """
        if not self.largest:
            return np.zeros(values.shape, np.int8)
        if self.is_log:
            heights = self._logarithms(np.abs(values)) * np.sign(values)
        else:
            heights = values / self.largest * TOP
        levels = np.rint(heights).astype(np.int8)
        vanished = (levels == 0) & (values != 0)
        levels[vanished] = np.sign(values[vanished])
        return levels

    def _logarithms(self, sizes: np.ndarray) -> np.ndarray:
        low, high = math.log10(self.smallest), math.log10(self.largest)
        if high <= low:
            return np.full(sizes.shape, float(TOP))
        with np.errstate(divide="ignore"):
            return 1 + np.clip((np.log10(sizes) - low) / (high - low), 0, 1) * (TOP - 1)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places of a legend, −1 to 1, with what stands there.

        >>> scale_of(np.array([0.01, -100.0]), is_log=True).ticks
        [(-1.0, '-100'), (-0.5, '-1'), (0.0, '±0.01'), (0.5, '1'), (1.0, '100')]
        """
        if not self.largest:
            return [(0.0, "0")]
        if not self.is_log:
            middle, half = "0", self.largest / 2
        else:
            middle, half = f"±{short(self.smallest)}", math.sqrt(self.smallest) * math.sqrt(self.largest)
        if self.is_log and self.smallest == self.largest:
            return [(-1.0, short(-self.largest)), (0.0, "0"), (1.0, short(self.largest))]
        up = [(0.5, half), (1.0, self.largest)]
        return [
            *[(-at, short(-value)) for at, value in reversed(up)],
            (0.0, middle),
            *[(at, short(value)) for at, value in up],
        ]


def scale_of(numbers: np.ndarray, is_log: bool) -> Scale:
    """The scale for finite numbers: as far as the largest magnitude, from the smallest that is not 0."""
    sizes = np.abs(numbers, dtype=float)
    largest = float(sizes.max(initial=0))
    if not largest:
        return Scale(0.0, 0.0, is_log)
    smallest = float(sizes.min(initial=largest, where=sizes > 0))
    return Scale(max(smallest, largest * 10.0**-_MAX_DECADES), largest, is_log)


def short(value: float) -> str:
    """A value to three digits.

    >>> short(1801.99), short(-0.01234)
    ('1802', '-0.0123')
    """
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e5 else f"{value:.3g}"


class Colors(TypedDict):
    """The stops of the scale from the most negative on, and what the marks are drawn with."""

    stops: list[str]
    paper: str
    hatch: str
    ink: str
    alarm: str


LIGHT: Colors = {
    "stops": ["#0c356a", "#1f64ab", "#5b9bd0", "#a9cde8", "#f7f6f2", "#f9cf9c", "#ec9a45", "#c2600f", "#6f2f02"],
    "paper": "#ffffff",
    "hatch": "#d3d3d3",
    "ink": "#1a1a1a",
    "alarm": "#ffe600",
}
DARK: Colors = {
    "stops": ["#c4e2ff", "#7db9f5", "#4187cc", "#2c527d", "#303238", "#744818", "#bd7220", "#f5a84e", "#ffdfb5"],
    "paper": "#17181b",
    "hatch": "#3d4046",
    "ink": "#f2f2f2",
    "alarm": "#d6b800",
}


def rgb(color: str) -> tuple[int, int, int]:
    """``#rrggbb`` as three numbers.

    >>> rgb("#0c356a")
    (12, 53, 106)
    """
    red, green, blue = bytes.fromhex(color[1:])
    return red, green, blue


def ramp(stops: list[str], levels: np.ndarray, top: int) -> np.ndarray:
    """The colour of each level from −top to top. A level next to 0 is already tinted: it is no zero."""
    share = np.sign(levels) * (_TINT + (1 - _TINT) * np.abs(levels) / top)
    places = np.linspace(-1, 1, len(stops))
    channels = np.array([rgb(s) for s in stops]).T
    return np.stack([np.rint(np.interp(share, places, c)) for c in channels], axis=-1).astype(np.uint8)

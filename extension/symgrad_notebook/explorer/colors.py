"""The colours of the explorer, blue below zero and orange above, which colour-blind eyes tell apart as well.

Magnitude is lightness, away from the background of either theme, so that a print without colour is still right.
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np


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


_TINT = 0.12

"""``docs/conventions.md`` is the table of conventions, with slopes that are computed at kinks and singular points."""

import os
from pathlib import Path

import numpy as np
import pytest

import symgrad as sg
from symgrad.primitives.conventions import CONVENTIONS

PAGE = Path(__file__).parents[2] / "docs" / "conventions.md"
#: functions and where they have a kink, a tie, a step or a singular point
POINTS = {
    "np.abs(x)": 0.0,
    "np.maximum(x, 0)": 0.0,
    "np.minimum(x, 0)": 0.0,
    "np.where(x > 0, x, 0.0)": 0.0,
    "np.clip(x, -1, 1)": 1.0,
    "np.sign(x)": 0.0,
    "np.floor(x)": 0.0,
    "np.hypot(x, 0)": 0.0,
    "np.linalg.norm(x * np.ones(2))": 0.0,
    "np.sqrt(x)": 0.0,
    "np.cbrt(x)": 0.0,
    "np.log(x)": 0.0,
    "1 / x": 0.0,
    "x**2.0": 0.0,
    "x**0.5": 0.0,
    "0.0**x": 1.0,
    "x * np.log(x)": 0.0,
    "np.arcsin(x)": 1.0,
    "np.arccos(x)": 1.0,
    "np.arccosh(x)": 1.0,
    "np.arctanh(x)": 1.0,
}


def _slope(text, at, mode):
    function = eval(f"lambda x: {text}", {"np": np})
    with np.errstate(all="ignore"):
        return float(sg.grad(function, mode=mode, backend="numpy")(np.float64(at)))


def _page():
    chosen = [f"| {', '.join(f'`{n}`' for n in names)} | {text} |" for names, text in CONVENTIONS.items()]
    points = [f"| `{text}` | {at:g} | {_slope(text, at, 'reverse'):g} |" for text, at in POINTS.items()]
    return "\n".join(
        [
            "# Conventions at kinks and singular points",
            "",
            "Exports say in their header which of these conventions concern the function.",
            "",
            "| operations | convention |",
            "| --- | --- |",
            *chosen,
            "",
            "Slopes as both modes compute them. At a singular point the slope is what the formula of the",
            "derivative gives in floating point; where NumPy makes the value NaN, as of `x * np.log(x)` at 0,",
            "neither it nor the slope is mended.",
            "",
            "Second and third derivatives are the function's where a size is 0 in what is smooth there:",
            "`np.cos(np.abs(x))` has second derivative -1 at 0, as `np.cos(x)` has, and a Matérn kernel of",
            "`np.linalg.norm(x - y)` its Hessian at coincident points. Sizes are `np.abs`, norms, distances,",
            "`np.hypot`, standard deviations. A true kink counts 0 in these too: `np.exp(-np.abs(x))` has 1 at 0, that",
            "of `x**2 / 2`. From the fourth on, all that goes through a size counts 0 where it is 0, and in the second",
            "so does the size of what touches 0, as of `np.linalg.norm(np.outer(x, x))` at 0.",
            "",
            "At other kinks, as of `np.maximum`, derivatives of higher order are those of these slopes, of what is",
            "smooth though its parts are not, as `np.ptp(x) ** 2` at a tie, too. Known for what they are, in every",
            "order, are `np.abs(x) ** 2`, `np.hypot(x, y) ** 2`, and the stable softplus",
            "`np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))`.",
            "",
            "Where eigenvalues or singular values are equal, which vectors belong to them is arbitrary. What does",
            "not depend on that, as `V @ np.diag(np.log(w)) @ V.T` of `w, V = np.linalg.eigh(A)` or the nearest",
            "rotation `U @ Vh`, has its slope there, and what reads the values alone its second derivatives; of",
            "the rest they are NaN. Values count as equal to rounding. Where they are closer than half of the digits",
            "the limit is taken, of which more digits are right than of a quotient by their gap.",
            "",
            "| function | at x | slope |",
            "| --- | --- | --- |",
            *points,
            "",
            "Made by `SYMGRAD_GOLDEN=write pytest tests/primitives/test_conventions.py`.",
            "",
        ]
    )


def test_the_page_is_current():
    made = _page()
    if os.environ.get("SYMGRAD_GOLDEN") == "write":
        PAGE.write_text(made, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == made, "SYMGRAD_GOLDEN=write writes it anew"


@pytest.mark.parametrize("text", POINTS)
def test_both_modes_have_the_same_slope(text):
    np.testing.assert_equal(_slope(text, POINTS[text], "forward"), _slope(text, POINTS[text], "reverse"))

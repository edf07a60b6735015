"""What was chosen where a function has no derivative, or more than one: exports say it, and ``docs/conventions.md``."""

from __future__ import annotations

#: operation of the function or its derivative -> what was chosen where it has no derivative, or more than one
CONVENTIONS = {
    ("absolute", "fabs"): "abs(x) has slope 0 at x = 0",
    ("maximum", "minimum", "fmax", "fmin"): "at ties of two arguments max and min share the slope evenly",
    ("max", "min"): "at ties within an array max and min share the slope evenly",
    ("norm_sqrt",): "the norm has slope 0 at the origin",
    ("hypot",): "hypot has slope 0 at the origin",
    ("floor", "ceil", "trunc", "rint", "heaviside", "floor_divide"): "steps have slope 0 everywhere",
    ("where",): "a choice has the slope of the side that is taken",
    ("argsort", "argmax", "argmin", "searchsorted"): "the order of elements is held constant",
    ("stop_gradient",): "what stands in stop_gradient is a constant to derivatives",
    ("rare",): "at equal eigenvalues the slope of what reads vectors is NaN here; symgrad itself has the limit",
    ("custom",): "derivative rules declared by the user were taken at their word",
}

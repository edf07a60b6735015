"""The words of LaTeX that are read, and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

#: Greek letters that are names
GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota", "kappa"),
    *("varkappa", "lambda", "mu", "nu", "xi", "rho", "varrho", "sigma", "varsigma", "tau", "upsilon", "phi", "varphi"),
    *(
        "chi",
        "psi",
        "omega",
        "Gamma",
        "Delta",
        "Theta",
        "Lambda",
        "Xi",
        "Pi",
        "Sigma",
        "Upsilon",
        "Phi",
        "Psi",
        "Omega",
    ),
)
#: functions of one argument, which may stand without brackets
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{n: getattr(sympy, n) for n in ["sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "exp"]},
    "arcsin": sympy.asin,
    "arccos": sympy.acos,
    "arctan": sympy.atan,
    "arsinh": sympy.asinh,
    "arcosh": sympy.acosh,
    "artanh": sympy.atanh,
    "ln": sympy.log,
    "log": sympy.log,
    "erf": sympy.erf,
    "erfc": sympy.erfc,
    "sign": sympy.sign,
    "sgn": sympy.sign,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "sinc": sympy.sinc,
}
#: functions of several arguments
SEVERAL = {"max": sympy.Max, "min": sympy.Min, "atan2": sympy.atan2}
#: commands around a word
WORDS = ("mathrm", "mathit", "operatorname", "mathop", "text")
#: signs of a norm
NORMS = (r"\|", r"\Vert", r"\lVert", r"\norm")
#: opening brackets, and what closes them
BRACKETS = {"(": ")", "[": "]", "{": "}", r"\{": r"\}"}
BRACKETS |= {r"\lvert": r"\rvert", r"\lfloor": r"\rfloor", r"\lceil": r"\rceil"}
#: environments of matrices
MATRICES = ("matrix", "pmatrix", "bmatrix")
#: signs of comparison
COMPARISONS = {
    "<": sympy.Lt,
    ">": sympy.Gt,
    "=": sympy.Eq,
    r"\le": sympy.Le,
    r"\leq": sympy.Le,
    r"\ge": sympy.Ge,
    r"\geq": sympy.Ge,
    r"\ne": sympy.Ne,
    r"\neq": sympy.Ne,
    r"\lt": sympy.Lt,
    r"\gt": sympy.Gt,
}
#: commands that begin no factor
CLOSING = {r"\right", r"\end", r"\rvert", r"\rfloor", r"\rceil", r"\}", r"\cdot", r"\times", r"\div"}
#: what is known and not read
KNOWN = {
    "sum": "a sum over an index",
    "prod": "a product over an index",
    "int": "an integral",
    "lim": "a limit",
    "partial": "a derivative",
    "nabla": "a derivative",
    "mathbf": "a vector or a matrix",
    "boldsymbol": "a vector or a matrix",
    "hat": "an accent",
    "bar": "an accent",
    "tilde": "an accent",
    "dot": "an accent",
    "vec": "an accent",
    "overline": "an accent",
    "lg": "a logarithm of unclear base",
}

"""What is registered, each operation with the cases it declares."""

import numpy as np
import pytest
from numpy_code import CODE
from operands import draw

from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.functions import DOMAINS
from symgrad.testing import Call
from symgrad.tracing.declare import CASES, Given

#: families of polynomials whose code is that of Chebyshev's series but for a recurrence
_ALIKE = {f"numpy.polynomial.{name}" for name in ("hermite", "hermite_e", "laguerre", "legendre")}

SHAPES = {
    1: [((),), ((3,),), ((2, 3),), ((0,),)],
    2: [
        ((2, 3), (2, 3)),
        ((2, 3), (3,)),
        ((3,), (2, 3)),
        ((2, 1), (1, 3)),
        ((), (3,)),
        ((3,), ()),
        ((), ()),
        ((0,), (1,)),
    ],
    3: [((2, 3), (2, 3), (2, 3)), ((2, 1), (3,), ()), ((), (2, 1), (3,)), ((3,), (), (2, 3))],
}


TEMPLATE_CASES = [
    pytest.param(name, shapes, id=f"{name}-{'-'.join(map(str, shapes)).replace(' ', '')}")
    for name, template in ELEMENTWISE.items()
    if name not in ("zeta", "squared_sech")  # which derivatives alone bring in
    for shapes in SHAPES[template.arity]
]
FUNCTION_CASES = [
    pytest.param(function, case, id=f"{function.__name__}-{case}")
    for function, cases in CASES.items()
    for case in cases
]


def distinct(cases):
    """The functions of a table but for those that are alike: enough where the code of all takes the same way."""
    return {function: own for function, own in cases.items() if function.__module__ not in _ALIKE}


def rounding_of(function):
    """How many roundings a value may be off NumPy's: its loops over arrays out of row order differ by processor."""
    return 8.0 if function in (np.matvec, np.vecmat) else 0.0


def order_of(function):
    """How often a rule is derived in a check: what is composed of other operations has their further orders."""
    return 1 if function in CODE else 2


def first_of_each(cases):
    """One case an operation."""
    return list({case.values[0]: case for case in reversed(cases)}.values())


def elementwise(name, shapes):
    rng = np.random.default_rng(7)
    operands = [draw(rng, interval, shape) for interval, shape in zip(DOMAINS[name], shapes, strict=True)]
    return Call(ELEMENTWISE[name].ufunc, operands)


def of_function(function, case):
    held = [k for k, a in enumerate(case.args) if isinstance(a, Given)]
    return Call(case.of_drawn(function), case.draw(np.random.default_rng(7)), case.kwargs, held)

"""Every registered operation: where it has a matrix form, the form's own value is the kernel's."""

from __future__ import annotations

import numpy as np
import pytest
from registered import distinct

import symgrad
from symgrad.closed_form.matrix import matrix_forms
from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.functions import DOMAINS
from symgrad.primitives.special import SPECIAL
from symgrad.tracing.declare import CASES, Given
from symgrad.tracing.dispatch import UFUNCS
from symgrad.tracing.tree import flatten, unflatten

SHAPES = {1: [((),), ((3,),), ((0,),)], 2: [((2, 3), (3,)), ((2, 1), (1, 3)), ((), (3,))], 3: [((2, 1), (3,), ())]}
OF_NUMBERS = [
    pytest.param(name, shapes, id=f"{name}-{'-'.join(map(str, shapes)).replace(' ', '')}")
    for name, operation in ELEMENTWISE.items()
    if operation.ufunc in {np.where, *UFUNCS, *SPECIAL}  # the others are called by derivatives alone
    for shapes in SHAPES[operation.arity]
]
FUNCTIONS = [
    pytest.param(function, case, id=f"{function.__name__}-{case}")
    for function, cases in distinct(CASES).items()
    for case in cases
]


def check(function, operands, kwargs, held=()):
    """Values and gradients by the float arrays among the leaves of the arguments, of the formula and of the kernel."""
    leaves, structure = flatten(tuple(operands))
    fixed = {id(leaf) for k in held for leaf in flatten(operands[k])[0]}
    floats = [k for k, x in enumerate(leaves) if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    places = [k for k in floats if id(leaves[k]) not in fixed]
    point = [leaves[k] for k in places]

    def call(*arrays):
        filled = list(leaves)
        for k, array in zip(places, arrays, strict=True):
            filled[k] = array
        return function(*unflatten(structure, filled), **kwargs)

    with np.errstate(all="ignore"):
        kinds = {np.asarray(v).dtype.kind for v in flatten(call(*point))[0]}
    derivatives = [symgrad.symbolic(call)]
    if point and kinds == {"f"}:
        derivatives += [symgrad.grad(call, tuple(range(len(point)))), symgrad.jacobian(call, 0)]
    for derived in derivatives:
        program = derived.program(*point)
        arrays = dict(zip(program.names, point, strict=True))
        for form, value in zip(matrix_forms(program), derived.kernel(*point)(*point), strict=True):
            if form is not None:
                np.testing.assert_allclose(form.evaluate(arrays), value, rtol=1e-7, atol=1e-9, err_msg=form.text)
                assert form.latex


@pytest.mark.parametrize(("name", "shapes"), OF_NUMBERS)
def test_elementwise(name, shapes):
    rng = np.random.default_rng(5)
    operands = []
    for (low, high), shape in zip(DOMAINS[name], shapes, strict=True):
        integers = isinstance(low, int)
        drawn = rng.integers(low, high + isinstance(low, bool), shape) if integers else rng.uniform(low, high, shape)
        operands.append(np.asarray(drawn, bool) if isinstance(low, bool) else np.asarray(drawn))
    check(ELEMENTWISE[name].ufunc, operands, {})


@pytest.mark.parametrize(("function", "case"), FUNCTIONS)
def test_function(function, case):
    held = [k for k, a in enumerate(case.args) if isinstance(a, Given)]
    check(case.of_drawn(function), case.draw(np.random.default_rng(5)), case.kwargs, held)

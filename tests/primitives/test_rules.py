"""Every registered operation, against NumPy and finite differences: nothing here names an operation."""

import numpy as np
import pytest
from operands import draw

from symgrad.primitives.elementwise import TEMPLATES
from symgrad.primitives.functions import DOMAINS
from symgrad.tracing.declare import CASES, Given
from symgrad.tracing.tracer import FUNCTIONS

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
    for name, template in TEMPLATES.items()
    if name != "zeta"  # which derivatives alone bring in
    for shapes in SHAPES[template.arity]
]
FUNCTION_CASES = [
    pytest.param(function, case, id=f"{function.__name__}-{case}")
    for function, cases in CASES.items()
    for case in cases
]


@pytest.mark.parametrize(("name", "shapes"), TEMPLATE_CASES)
def test_elementwise_rule(check_rule, name, shapes):
    rng = np.random.default_rng(7)
    operands = [draw(rng, interval, shape) for interval, shape in zip(DOMAINS[name], shapes, strict=True)]
    check_rule(TEMPLATES[name].ufunc, operands)


@pytest.mark.parametrize(("function", "case"), FUNCTION_CASES)
def test_function_rule(check_rule, function, case):
    held = [k for k, a in enumerate(case.args) if isinstance(a, Given)]
    check_rule(case.of_drawn(function), case.draw(np.random.default_rng(7)), case.kwargs, held=held)


def test_every_template_has_a_domain_for_each_operand():
    assert {name for name, t in TEMPLATES.items() if len(DOMAINS.get(name, ())) != t.arity} == set()


def test_every_function_has_a_case():
    assert {function.__name__ for function in FUNCTIONS if not CASES.get(function)} == set()

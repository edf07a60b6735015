"""Every registered operation, against NumPy and finite differences: nothing here names an operation."""

import numpy as np
import pytest
from operands import draw

from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.functions import DOMAINS
from symgrad.testing import Call, check_backends
from symgrad.tracing.declare import CASES, Given
from symgrad.tracing.dispatch import FUNCTIONS

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
    if name != "zeta"  # which derivatives alone bring in
    for shapes in SHAPES[template.arity]
]
FUNCTION_CASES = [
    pytest.param(function, case, id=f"{function.__name__}-{case}")
    for function, cases in CASES.items()
    for case in cases
]


#: how many rules are compiled by one run of the compiler, which takes longer to start than for a rule
TOGETHER = 40


def elementwise(name, shapes):
    rng = np.random.default_rng(7)
    operands = [draw(rng, interval, shape) for interval, shape in zip(DOMAINS[name], shapes, strict=True)]
    return Call(ELEMENTWISE[name].ufunc, operands)


def of_function(function, case):
    held = [k for k, a in enumerate(case.args) if isinstance(a, Given)]
    return Call(case.of_drawn(function), case.draw(np.random.default_rng(7)), case.kwargs, held)


@pytest.mark.parametrize(("name", "shapes"), TEMPLATE_CASES)
def test_elementwise_rule(check_arrays, name, shapes):
    fn, args, kwargs, held = elementwise(name, shapes)
    check_arrays(fn, args, kwargs, held=held)


@pytest.mark.parametrize(("function", "case"), FUNCTION_CASES)
def test_function_rule(check_arrays, function, case):
    fn, args, kwargs, held = of_function(function, case)
    check_arrays(fn, args, kwargs, held=held)


@pytest.mark.needs("native")
@pytest.mark.parametrize("cases", [TEMPLATE_CASES[k : k + TOGETHER] for k in range(0, len(TEMPLATE_CASES), TOGETHER)])
def test_elementwise_rules_compiled(cases):
    check_backends(*[called(elementwise(*case.values), case.id) for case in cases], backends=["native"])


@pytest.mark.needs("native")
@pytest.mark.parametrize("cases", [FUNCTION_CASES[k : k + TOGETHER] for k in range(0, len(FUNCTION_CASES), TOGETHER)])
def test_function_rules_compiled(cases):
    check_backends(*[called(of_function(*case.values), case.id) for case in cases], backends=["native"])


def called(call, name):
    """``call``, which errors call so."""

    def fn(*args, **kwargs):
        return call.fn(*args, **kwargs)

    fn.__name__ = name
    return call._replace(fn=fn)


def test_every_template_has_a_domain_for_each_operand():
    assert {name for name, t in ELEMENTWISE.items() if len(DOMAINS.get(name, ())) != t.arity} == set()


def test_every_function_has_a_case():
    assert {function.__name__ for function in FUNCTIONS if not CASES.get(function)} == set()

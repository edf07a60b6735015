"""Every registered operation, against NumPy and finite differences: nothing here names an operation."""

import pytest
from registered import FUNCTION_CASES, TEMPLATE_CASES, elementwise, first_of_each, of_function, order_of, rounding_of

from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.functions import DOMAINS
from symgrad.testing import check_backends
from symgrad.tracing.declare import CASES
from symgrad.tracing.dispatch import FUNCTIONS

#: how many rules are compiled by one run of the compiler, which takes longer to start than for a rule
TOGETHER = 40
FIRST = [case for case in first_of_each(FUNCTION_CASES) if order_of(case.values[0]) > 1]


@pytest.mark.parametrize(("name", "shapes"), TEMPLATE_CASES)
def test_elementwise_rule(check_arrays, name, shapes):
    fn, args, kwargs, held = elementwise(name, shapes)
    check_arrays(fn, args, kwargs, held=held)


@pytest.mark.parametrize(("function", "case"), FUNCTION_CASES)
def test_function_rule(check_arrays, function, case):
    fn, args, kwargs, held = of_function(function, case)
    check_arrays(fn, args, kwargs, held=held, order=order_of(function), rounding=rounding_of(function))


@pytest.mark.needs("native")
@pytest.mark.parametrize("cases", [TEMPLATE_CASES[k : k + TOGETHER] for k in range(0, len(TEMPLATE_CASES), TOGETHER)])
def test_elementwise_rules_compiled(cases):
    check_backends(*[called(elementwise(*case.values), case.id) for case in cases], backends=["native"])


@pytest.mark.needs("native")
@pytest.mark.parametrize("cases", [FUNCTION_CASES[k : k + TOGETHER] for k in range(0, len(FUNCTION_CASES), TOGETHER)])
def test_function_rules_compiled(cases):
    check_backends(*[called(of_function(*case.values), case.id) for case in cases], order=1, backends=["native"])


@pytest.mark.needs("native")
@pytest.mark.parametrize("cases", [FIRST[k : k + TOGETHER] for k in range(0, len(FIRST), TOGETHER)])
def test_second_orders_compiled(cases):
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

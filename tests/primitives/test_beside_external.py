"""Every registered operation in one program with every kind of function that runs as it is, before it and behind it.

Such functions declare what goes around them, so sweeps find their way by what is declared: no operation beside one may
lose its own slope for it.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from external_kinds import KINDS, every_kind
from registered import FUNCTION_CASES, TEMPLATE_CASES, distinct, elementwise, first_of_each, of_function, order_of

from symgrad.errors import TracingError, UnsupportedOperation
from symgrad.testing import Call, CheckFailed, check_grads
from symgrad.tracing.declare import CASES
from symgrad.tracing.trace import as_followed
from symgrad.tracing.tree import flatten, unflatten

#: operations of one program: the solvers of every kind run once in it
TOGETHER = 24
#: the same of those that no long double computes and that are derived twice, decompositions: what vectors make of equal
#: values is derived of all that stands beside them, 240 s for 18 in one program and 95 s by twos
DECOMPOSED_TOGETHER = 2
ANY = np.array([0.4, -0.7, 0.2])

#: compositions that have a rule of their own, past the nodes between
SHAPES = {1: ((3,),), 2: ((2, 3), (3,)), 3: ((2, 3), (3,), (2, 1))}
COMPOSED = {
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "scaled logistic": lambda x: 3.5 / (np.exp(2 * x) + 1),
    "reciprocal of a sum": lambda x: np.reciprocal(1 + np.exp(x)),
    "softmax of two": lambda x: np.exp(x) / (1 + np.exp(x)),
    "softplus": lambda x: np.log(1 + np.exp(x)),
    "softplus by log1p": lambda x: np.log1p(np.exp(-x)),
    "softplus of a size": lambda x: np.log1p(np.exp(-np.abs(x))),
    "square of a size": lambda x: np.abs(x) ** 2,
    "product of sizes": lambda x: np.abs(x) * np.abs(x),
    "square of a norm": lambda x: np.linalg.norm(x) ** 2,
    "square of a root": lambda x: np.sqrt(x * x + 1) ** 2,
    "square of hypot": lambda x: np.hypot(x, 2 * x + 1) ** 2,
    "square of a deviation": lambda x: np.std(x) ** 2,
    "square of a complex size": lambda x: np.abs(x + 2j * x * x) ** 2,
    "one by cosh": lambda x: 1 / np.cosh(x),
    "quotient by cosh": lambda x: x / np.cosh(x),
    "quotient by exp": lambda x: x / np.exp(x * x),
    "log of cosh": lambda x: np.log(np.cosh(x)),
    "log of exp": lambda x: np.log(np.exp(x)),
}


def beside(calls, scales=True):
    """All of ``calls`` in one function: each alone, of arguments scaled by every kind, and every kind of it."""
    parts = [flatten(tuple(call.args)) for call in calls]
    places = [
        [k for k, leaf in enumerate(leaves) if _is_free(call, k, leaf)] for call, (leaves, _) in zip(calls, parts)
    ]
    point = [np.array(leaves[k]) for (leaves, _), own in zip(parts, places) for k in own]

    def fn(*arrays):
        left = list(arrays)
        given = [[left.pop(0) for _ in own] for own in places]
        mean = sum(np.mean(a) for own in given for a in own if a.size) / max(1, len(calls))
        scale = every_kind(mean) if scales else 1.0
        plain = [_total(_called(*one, own)) for one, own in zip(zip(calls, parts, places), given)]
        behind = [_total(_called(*one, [a * scale for a in own])) for one, own in zip(zip(calls, parts, places), given)]
        before = every_kind(sum(t / (1 + abs(float(v))) for t, v in zip(plain, sizes)))
        return (before, *plain, *behind)

    sizes = [0.0] * len(calls)
    with np.errstate(all="ignore"):
        sizes[:] = fn(*point)[1 : 1 + len(calls)]
    return fn, point


def _is_free(call, k, leaf):
    held = {id(v) for h in call.held for v in flatten(call.args[h])[0]}
    return isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind == "f" and id(leaf) not in held


def _called(call, part, own, arrays):
    leaves, structure = list(part[0]), part[1]
    for k, array in zip(own, arrays, strict=True):
        leaves[k] = array
    return as_followed(call.fn)(*unflatten(structure, leaves), **(call.kwargs or {}))


def _total(result):
    """A weighed sum of all floats of a result."""
    total = 0.0
    for value in flatten(result)[0]:
        for part in (np.real(value), np.imag(value)) if np.iscomplexobj(value) else (value,):
            if isinstance(part, float) or getattr(getattr(part, "dtype", None), "kind", "") == "f":
                total = total + np.sum(part * (1 + np.arange(np.size(part)).reshape(np.shape(part)) % 3))
    return total


def _precise(call):
    """Whether the function computes in long doubles, in which differences are exact."""
    leaves, structure = flatten(tuple(call.args))
    wide = [v.astype(np.longdouble) if _is_free(call, k, v) else v for k, v in enumerate(leaves)]
    try:
        with np.errstate(all="ignore"):
            found = flatten(call.fn(*unflatten(structure, wide), **(call.kwargs or {})))[0]
    except Exception:  # of any library, in words of its own
        return False
    return all(np.asarray(np.real(v)).dtype == np.longdouble for v in found if np.asarray(v).dtype.kind in "fc")


def _has_slope(call):
    """Whether the result holds floats: what compares or counts has no slope to lose."""
    with np.errstate(all="ignore"):
        return isinstance(_total(call.fn(*call.args, **(call.kwargs or {}))), np.floating)


def _cases():
    """Name, call and highest order of every operation, those alike in order and precision one after another."""
    cases = [
        (f"elementwise {c.values[0]}", elementwise(c.values[0], SHAPES[len(c.values[1])]), 2)
        for c in first_of_each(TEMPLATE_CASES)
    ]
    functions = [c for c in first_of_each(FUNCTION_CASES) if c.values[0] in distinct(CASES)]
    cases += [(c.id, of_function(*c.values), order_of(c.values[0])) for c in functions]
    cases += [(f"composed {name}", Call(fn, [ANY]), 2) for name, fn in COMPOSED.items()]
    cases = [case for case in cases if _has_slope(case[1])]
    return sorted(cases, key=lambda case: (case[2], _precise(case[1])))


def groups():
    """The cases, so many together that one run of the solvers serves them."""
    made = []
    for (order, precise), found in itertools.groupby(_cases(), key=lambda case: (case[2], _precise(case[1]))):
        count = DECOMPOSED_TOGETHER if order == 2 and not precise else TOGETHER
        own = list(found)
        made += [own[k : k + count] for k in range(0, len(own), count)]
    return made


def check(*cases, scales=True):
    """Both modes, and the second order, against differences."""
    fn, point = beside([call for _, call, _ in cases], scales)
    if point:
        check_grads(fn, point, order=cases[0][2])


def refused(*cases):
    """Check those of the cases that are not refused behind other functions; those that are, as they decide by values.

    Nobody knows values that such functions give.
    """
    try:
        check(*cases)
    except (TracingError, UnsupportedOperation):
        if len(cases) == 1:
            return [*cases]
        half = len(cases) // 2
        return [*refused(*cases[:half]), *refused(*cases[half:])]
    return []


@pytest.mark.parametrize("group", [pytest.param(own, id=f"{own[0][0]} to {own[-1][0]}") for own in groups()])
def test_no_operation_loses_its_slope_beside_functions_that_run_as_they_are(group):
    try:
        check(*refused(*group), scales=False)
    except CheckFailed:  # which of them is it
        for case in group:
            try:
                check(*refused(case), scales=False)
            except CheckFailed as error:
                pytest.fail(f"{case[0]}: {error}")
        raise


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_what_its_formula_says(kind):
    t = np.array(0.4)
    np.testing.assert_allclose(KINDS[kind].solved(t), KINDS[kind](t), rtol=1e-9)
    check_grads(KINDS[kind], [t])

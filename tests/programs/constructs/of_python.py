"""The habits in each construct of Python: where a call stands, what a name is, who calls whom."""

import functools
import math
import operator

import numpy
import numpy as np
from collection import program

X = np.array([0.5, 1.5, -0.7])
A = np.array
make = np.zeros


@program(X)
def aliases_of_the_module(x):
    y = make(3)
    y[:] = A([x[0], x[1] * x[2], math.sin(x[0])])
    return y


@program(X)
def module_by_its_own_name(x):
    y = numpy.zeros(2)
    y[0] = x[0] * x[1]
    return numpy.array([y[0], x[2] ** 2])


@program(X)
def imports_within(x):
    import math as m
    from math import sin as s

    import numpy
    from numpy import array, zeros

    z = zeros(2)
    z[0] = s(x[0])
    return array([z[0], m.cos(x[1])]) + numpy.array([x[2], 1.0])


@program(X)
def default_arguments(x, array=np.array, zeros=np.zeros, *, f=math.tanh):
    y = zeros(2)
    y[1] = f(x[0])
    return array([y[1], x[1]]) * x[2]


@program(X)
def looked_up_functions(x):
    table = {"sin": math.sin, "exp": math.exp, "float": float}
    values = [table[name](v) for name, v in zip(("sin", "exp", "float"), x)]
    return np.array(values) * math.sqrt(x[1])


@program(X)
def partial_functions(x):
    as_floats = functools.partial(np.array, dtype=float)
    power = functools.partial(pow, x[1])
    buffer = functools.partial(np.full, fill_value=2.0)(3)
    buffer += as_floats([x[0], x[1], x[2]])
    return buffer * power(3)


@program(X)
def mapped_functions(x):
    a = sum(map(math.sin, x))
    b = list(map(float, x))
    c = functools.reduce(operator.mul, map(abs, x))
    return a * b[0] + c + max(map(math.exp, x))


@program(X)
def filtered_and_starred(x):
    positive = list(filter(lambda v: v > 0, x))
    return math.hypot(*positive) + np.array([*x, *positive]).sum() + sum((*x[:2], 1.0))


@program(X)
def several_lambdas(x):
    f, g = lambda v: math.sin(v), lambda v: np.array([v, v**2])
    return (lambda a, b: a @ b)(g(x[0]), g(f(x[1]))) + (lambda: float(x[2]))()


@program(X)
def walrus_and_conditions(x):
    if (s := float(np.sum(x))) > 1 and (n := len(x)) == 3:
        return s**2 / n
    return -1.0


@program(X)
def nonlocal_and_closures(x):
    total = 0.0
    calls = np.zeros(3)

    def add(k, v):
        nonlocal total
        total += math.exp(v)
        calls[k] = total * v
        return total

    for k, v in enumerate(x):
        add(k, v)
    return np.array([total, calls.sum()])


@program(X)
def generators(x):
    def squares(values):
        buffer = np.zeros(1)
        for v in values:
            buffer[0] = v * v
            yield float(buffer[0])

    def both():
        yield from squares(x)
        yield math.cos(x[0])

    return np.array(list(both())), sum(v for v in squares(x) if v > 0.3)


@program(X)
def nested_comprehensions(x):
    table = [[math.exp(-abs(a - b)) if i != j else 1.0 for j, b in enumerate(x)] for i, a in enumerate(x)]
    named = {k: float(v) ** 2 for k, v in zip("abc", x)}
    return np.array(table) @ np.array([named[k] for k in sorted(named)])


@program(X)
def try_and_finally(x):
    y = np.zeros(2)
    try:
        y[0] = math.log(x[0])
        y[5] = x[1]
    except IndexError:
        y[1] = x[1] ** 2
    finally:
        y *= 2
    return y


@program(X)
def with_statements(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.zeros(3)
        y[:] = 1 / x
        y[x < 0] = math.pi
    return y


@program(X)
def while_and_else(x):
    k, total = 0, np.zeros(1)
    while k < 3:
        total[0] += float(x[k]) ** (k + 1)
        k += 1
    else:
        total *= 2
    return total[0]


@program(X)
def deleted_and_swapped(x):
    y = np.array([x[0], x[1], x[2]])
    y[0], y[2] = y[2], y[0]
    first, *rest = y
    del y
    return np.array(rest[::-1]) * first


@program(X)
def calls_of_calls(x):
    return np.array(np.array([x[0], x[1]]).reshape(2, 1).T.tolist()[0]).cumsum() * np.zeros(2).__add__(1.0)


@program(X)
def keywords_and_star_arguments(x):
    def build(*rows, **options):
        return np.array(rows, **options)

    shape = {"shape": 2, "dtype": float}
    out = np.zeros(**shape)
    out[:] = build(x[0], math.exp(x[1]), dtype=np.float64)
    return np.full(shape=(2,), fill_value=x[2]) + out


GLOBAL_CALLS = [0]


def count_calls(v):
    GLOBAL_CALLS[0] = 1
    return math.atan(v)


@program(X)
def globals_that_are_written(x):
    return count_calls(x[0]) * GLOBAL_CALLS[0]


@program(X)
def recursive_closure(x):
    def total(values):
        if len(values) == 0:
            return 0.0
        head = np.zeros(1)
        head[0] = math.sin(values[0])
        return float(head[0]) + 0.5 * total(values[1:])

    return total(x)


@program(X)
def sorted_with_operators(x):
    pairs = sorted(zip(x, range(3)), key=operator.itemgetter(0))
    order = [k for _, k in pairs]
    return np.array([x[k] for k in order]) * np.array([v for v, _ in pairs])


@program(X)
def printed_through_a_helper(x):
    lines = []

    def log(template, *values):
        lines.append(template % tuple(map(float, values)) if values else template)

    log("x %.3f %g", x[0], x[1])
    log(f"{x!r:>10} {x[0]:+.2e} {float(x[1]):8.3f}")
    return x[0] * x[1] * len(lines)


@program(X)
def locals_by_name(x):
    a = np.array([x[0], x[1]])
    names = locals()
    return names["a"] * names["x"][2]


@program(X)
def reduce_with_writes(x):
    def step(state, v):
        new = state.copy()
        new[0] += v
        new[1] = math.tanh(new[0]) * state[1]
        return new

    return functools.reduce(step, x, np.ones(2))


@program(X)
def matrices_of_functions(x):
    entries = [[math.cos, math.sin], [lambda v: -math.sin(v), math.cos]]
    R = np.array([[f(x[0]) for f in row] for row in entries])
    return R @ x[1:]

"""A function that has no source runs as it is; where its calls would have to be followed, it is refused."""

import math

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import UnsupportedOperation

X = np.array([0.5, 1.5])


def made(text, **space):
    """What ``f`` is after the text has run, which nobody can read later."""
    exec(text, space)
    return space["f"]


PROGRAMS = {
    "array code": "import numpy as np\ndef f(x): return np.sum(np.sin(x) ** 2)",
    "a function in itself": "def f(x, n=3): return x if not n else x[0] * f(x, n - 1)",
    "an object compared with itself": "box = object()\ndef f(x): return x * (2.0 if box is box else 3.0)",
    "nonlocal": "def outer():\n n = 0\n def f(x):\n  nonlocal n\n  n += 1\n  return x * n\n return f\nf = outer()",
    "attributes of a function": "def g(x): return x\ng.k = 4.0\ndef f(x): return g(x) * g.k",
    "globals": "n = 0\ndef f(x):\n global n\n n += 1\n return x * n",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_what_needs_no_following_runs_as_it_is(text):
    np.testing.assert_array_equal(sg.symbolic(made(text))(X), made(text)(X))


def test_functions_that_know_one_another_by_identity():
    f = made("import math\ndef g(x): return x\nh = g\nknown = [g]\ndef f(x): return x * (2.0 if h in known else 3.0)")
    assert sg.grad(f)(1.0) == 2.0


def test_calls_with_plain_numbers_are_refused_by_name():
    f = made("import math\ndef f(x): return math.sin(x)")
    with pytest.raises(UnsupportedOperation, match="calls in f are followed by its source"):
        sg.grad(f)(0.5)


@pytest.mark.parametrize("asked", ["type(x) is float", "hasattr(x, 'shape')"])
def test_code_that_asks_what_a_value_is_is_refused(asked):
    f = made(f"def f(x): return x * (2.0 if {asked} else 3.0)")
    with pytest.raises(UnsupportedOperation, match="tells a traced value from what it stands for"):
        sg.grad(f)(0.5)


def test_what_has_a_source_and_calls_it_is_followed():
    scaled = made("def f(x): return 2.0 * x")
    assert sg.grad(lambda x: scaled(math.sin(x)))(0.5) == 2.0 * math.cos(0.5)

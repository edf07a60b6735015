"""Functions without source see the names that they call through a hook, and nothing else changes."""

import math
import types

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import TracingError
from symgrad.tracing.calls import HOOK
from symgrad.tracing.names import Names, with_names

X = np.array([0.5, 1.5])


def made(text, **space):
    """What ``f`` is after the text has run, which nobody can read later."""
    exec(text, space)
    return space["f"]


PROGRAMS = {
    "modules": "import numpy as np, math\ndef f(x): return np.array([math.sin(x[0]), np.sum(x)])",
    "names": "from numpy import array\nfrom math import *\ndef f(x): return array([sin(x[0]), exp(x[1])])",
    "float": "import numpy as np\ndef f(x): return float(x[0]) * np.ones(2) * float(x[1])",
    "types": "def f(x): return x * 2 if isinstance(x[0], object) and float(x[0]) else x",
    "helpers": "import math\ndef g(v): return math.sqrt(v)\ndef f(x): return g(x[0]) * x",
    "inside": "def f(x):\n import math\n from numpy import array\n return array([math.cosh(x[0]), x[1]])",
    "lambdas": "import math\nf = lambda x: (lambda v: math.log(v) * x)(x[1])",
    "closures": "import math\ndef g(m):\n def f(x): return k * m.sin(x[0]) * x\n k = 2.0\n return f\nf = g(math)",
    "arrays": "import numpy as np\nA = np.ones(2)\ndef f(x):\n y = A.copy()\n y[0] = x[1]\n return y",
    "r_": "import numpy as np\ndef f(x): return np.r_[x[0], 1.0]",
    "at": "import numpy as np\ndef f(x):\n y = np.zeros(2)\n np.add.at(y, [0, 0], x)\n return y",
    "keywords": "import numpy as np\ndef g(x, *, k=2.0): return np.array([x[0] * k])\ndef f(x, s=3.0): return g(x) * s",
    "caught": "import math\ndef f(x):\n try: return math.asin(x[1]) * x\n except ValueError: return x * 3",
    "recursion": "def f(x, n=3): return x if not n else float(x[0]) * f(x, n - 1)",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name):
    f = made(PROGRAMS[name])
    np.testing.assert_allclose(sg.symbolic(f)(X), f(X), rtol=1e-14)
    steps = np.eye(2) * 1e-6
    wanted = np.stack([(f(X + s) - f(X - s)) / 2e-6 for s in steps], -1)
    np.testing.assert_allclose(sg.jacobian(f)(X), wanted, atol=1e-7)


def test_methods_are_followed_by_their_instance():
    text = """
import math
class Model:
    k = 2.0
    def scaled(self, v): return math.sin(v) * self.k
    def f(self, x): self.seen = True; return self.scaled(x[0]) * x
model = Model()
f = model.f
"""
    f = made(text)
    np.testing.assert_allclose(sg.symbolic(f)(X), f(X))
    assert f.__self__.seen
    assert type(f.__self__.seen) is bool


def test_names_are_looked_up_when_they_are_used():
    f = made("import math\nk = 2.0\ndef f(x): return math.sin(x) * k")
    gradient = sg.grad(f)
    assert gradient(0.0) == 2.0
    f.__globals__["k"] = 5.0
    assert gradient(0.0) == 5.0


def test_the_function_and_its_globals_stay_as_they_are():
    f = made("import math\ndef f(x): return math.sin(x)")
    before = dict(f.__globals__)
    sg.grad(f)(0.5)
    assert {k: v for k, v in f.__globals__.items() if k != "__builtins__"} == {
        k: v for k, v in before.items() if k != "__builtins__"
    }
    assert f.__globals__["math"] is math
    assert type(f.__globals__) is dict


def test_code_that_rebinds_globals_keeps_them():
    f = made("n = 0\ndef f(x):\n global n\n n += 1\n return x")
    assert with_names(f, HOOK) is f
    g = with_names(made("def f(x): return abs(x)"), HOOK)
    assert type(g.__globals__) is Names
    assert with_names(g, HOOK) is g
    assert isinstance(g, types.FunctionType)


def test_missing_names_are_pythons_own_error():
    with pytest.raises(NameError, match="missing"):
        sg.grad(made("import math\ndef f(x): return math.sin(x) + missing"))(1.0)


def test_what_names_cannot_show_is_refused():
    with pytest.raises(TracingError, match="plain"):
        sg.grad(made("import math\ntable = {'sin': math.sin}\ndef f(x): return table['sin'](x)"))(1.0)

"""Size: a named dim while the function is traced; it computes as an int does, or becomes a traced value."""

from __future__ import annotations

import math

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ShapeError
from symgrad.tracing.sizes import Size

WHOLE = {
    "sum": lambda n, d: n + d + 1 - 2,
    "reflected": lambda n, d: 20 + n - (30 - d) + 3 * n,
    "product": lambda n, d: n * d * 2,
    "power": lambda n, d: n**2 - d**0,
    "signs": lambda n, d: -n + (+d),
    "exact quotient": lambda n, d: (n * d) // n + n * d % d,
    "quotient": lambda n, d: n // 2 + n % 3 + 2 * (d // 4),
    "divmod": lambda n, d: sum(divmod(n, 2)),
    "math.prod": lambda n, d: math.prod((n, d, 2)),
    "numpy int": lambda n, d: np.int64(3) + n * np.int64(2),
    "booleans": lambda n, d: (
        (n > d) + 2 * (n >= d) + 4 * (n == d) + 8 * (n < d) + 16 * (n <= 4) + 32 * (n > 4) + (n != 6)
    ),
    "truth": lambda n, d: 1 if n and n - 1 else 2,
}
REAL = {
    "quotient": lambda n, d: n / d + 1 / n,
    "root": lambda n, d: np.sqrt(n) + d**0.5,
    "floats": lambda n, d: 0.5 * n - d * 1.5 + n**-1,
    "arrays": lambda n, d: np.sum(np.ones(3) * n + d),
    "exponent": lambda n, d: 2.0**n,
    "floor": lambda n, d: n // 2.5 + n % 2.5,
    "where": lambda n, d: np.where(np.ones(2) > 0, n, d).sum(),
    "maximum": lambda n, d: np.maximum(n, d),
}


@pytest.mark.parametrize("name", [*WHOLE, *(f"real {name}" for name in REAL)])
def test_it_computes_as_a_number(name):
    f = WHOLE.get(name) or REAL[name.removeprefix("real ")]
    made = sg.symbolic(sg.named(lambda X: f(*X.shape) * np.sum(X), X="n d"))
    for n, d in ((5, 3), (3, 3), (2, 7), (1, 1), (4, 9)):
        np.testing.assert_allclose(made(np.ones((n, d))), f(n, d) * n * d, rtol=1e-14)


def test_it_stays_whole_where_it_can():
    seen = []

    def f(X):
        n, d = X.shape
        seen.extend([n + d, n * 2, n - n + 3, n * d // d, X.size, len(X.shape)])
        return np.sum(X.reshape(d, n)[:, : n - 1])

    sg.trace(f, "n d")
    assert [type(v) for v in seen] == [Size, Size, int, Size, Size, int]
    assert [str(v) for v in seen] == ["d + n", "2*n", "3", "n", "d*n", "2"]


def test_equal_sizes_hash_alike():
    def f(X):
        assert len({X.shape[0], X.T.shape[1]}) == 1
        assert X.shape == np.shape(X) == (X.shape[0], X.shape[1])
        assert X.shape[0] != "n"
        return X

    sg.trace(f, "n d")


@pytest.mark.parametrize(
    "use",
    [
        lambda n: range(n),
        lambda n: [1] * n,
        lambda n: n * (1, 2),
        lambda n: np.asarray(n),
        lambda n: math.sqrt(n),
        lambda n: 10 // n,
    ],
)
def test_what_needs_a_number_is_refused_with_the_line(use):
    with pytest.raises(ShapeError, match=r"(?s)for every size.*test_sizes\.py"):
        sg.grad(sg.named(lambda x: (use(x.shape[0]), np.sum(x))[1], x="n"))(np.ones(3))


def test_a_choice_without_sizes_is_refused():
    for choose in (lambda n: n > 3, lambda n: n == 3, lambda n: n % 2, lambda n: n - 1):
        with pytest.raises(ShapeError, match="Give sizes in place of the names"):
            sg.trace(lambda x, choose=choose: x if choose(x.shape[0]) else -x, "n")
    assert sg.trace(lambda x: x if x.shape[0] > 0 else -x, "n").bindings == ()

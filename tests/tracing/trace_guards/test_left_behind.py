"""What a traced function leaves in what it read from outside: values, as the plain function leaves them."""

import numpy as np
import pytest
from scipy.optimize import minimize

import symgrad as sg
from symgrad.errors import TracingError

X = np.array([1.0, 2.0])
TOTAL = 0.0


@pytest.mark.filterwarnings("ignore::symgrad.errors.TracedAgain")  # it changes what it reads
def test_the_best_so_far_is_a_number():
    best = {"f": np.inf, "at": None}

    def objective(x):
        f = np.sum((x - 1) ** 2)
        if f < best["f"]:
            best.update(f=f, at=x)
        return f

    found = minimize(sg.value_and_grad(objective), np.zeros(2), jac=True)
    np.testing.assert_allclose(found.x, 1)
    assert type(best["f"]) is np.float64
    assert best["f"] == min(found.fun, best["f"])
    np.testing.assert_allclose(best["at"], 1, atol=1e-6)


def test_a_log_is_one_of_numbers():
    log = []

    def loss(x):
        log.append((value := np.sum(x**2), [value, {"x": x}]))
        log.append(value)
        return value

    for scale in (1.0, 2.0):
        sg.grad(loss)(scale * X)
    assert log[1::2] == [5.0, 20.0]
    assert all(type(v) is np.float64 for v in log[1::2])
    value, (again, named) = log[2]
    assert value == again == 20.0
    np.testing.assert_array_equal(named["x"], 2 * X)


class Standardised:
    def __init__(self):
        self.parts = []

    def fit(self, x):
        self.mean, self.parts[:] = np.mean(x), [x - np.mean(x)]
        return np.sum(self.parts[0] ** 2 * x)


def test_attributes_and_their_lists_are_values():
    own = Standardised()
    plain = Standardised()
    for x in (X, 3 * X):
        sg.grad(own.fit)(x)
        plain.fit(x)
        assert own.mean == plain.mean
        assert type(own.parts[0]) is np.ndarray
        np.testing.assert_array_equal(own.parts[0], plain.parts[0])


def test_names_of_closures_and_modules_are_values():
    last = None

    def loss(x):
        nonlocal last
        global TOTAL
        last = 2 * x
        TOTAL = np.sum(x)
        return np.sum(x**2)

    sg.grad(loss)(X)
    np.testing.assert_array_equal(last, [2.0, 4.0])
    assert type(last) is np.ndarray
    assert TOTAL == 3.0


def test_what_is_left_is_a_copy():
    kept = []
    x = X.copy()
    sg.grad(lambda x: kept.append(x) or np.sum(x**2))(x)
    x[:] = 7
    np.testing.assert_array_equal(kept[0], X)


def test_a_function_that_fails_leaves_values_too():
    kept = {}

    def failing(x):
        kept["x"] = 2 * x
        raise ValueError("after it was kept")

    with pytest.raises(ValueError, match="after it was kept"):
        sg.grad(failing)(X)
    np.testing.assert_array_equal(kept["x"], [2.0, 4.0])


def test_what_has_no_value_is_refused_later():
    kept = []
    sg.grad(sg.named(lambda x: kept.append(x) or np.sum(x**2), x="n"))(X)
    with pytest.raises(TracingError, match="after its trace had ended"):
        kept[0] + 1

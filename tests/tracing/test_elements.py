"""Elements that were written somewhere are put together as they lie."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.tracing.elements import KNOWN, Elements
from symgrad.tracing.local_array import unwrapped
from symgrad.tracing.tracer import Tracer

X = np.arange(1.0, 7.0).reshape(2, 3)


def pieces_of(x):
    """The numbers of two values, one of them without axes."""
    elements = Elements()
    return elements, elements.numbers((x * 1.0)._symgrad_node), elements.numbers(np.sum(x)._symgrad_node)


LAYOUTS = {
    "one as it is": lambda a, s: a,
    "one turned": lambda a, s: a.T,
    "a part": lambda a, s: a[0, 1:],
    "backwards": lambda a, s: a.ravel()[::-1],
    "rows and columns backwards": lambda a, s: a[::-1, ::-2].T,
    "turned with unit axes": lambda a, s: a.T[1:, None, :1],
    "a part over the ends of rows": lambda a, s: a.ravel()[1::2],
    "picked": lambda a, s: np.tile(a.ravel()[[5, 0, 0, 3, 1, 2]], 4),
    "known among them": lambda a, s: np.concatenate([[KNOWN], a[1], [KNOWN, KNOWN], [s[()]]]),
    "many known": lambda a, s: np.insert(np.repeat(a.ravel(), 3), [1, 5, 7, 9, 11], KNOWN),
    "one again and again": lambda a, s: np.full((2, 2), s),
    "none": lambda a, s: a[:0],
    "known alone": lambda a, s: np.full(3, KNOWN),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_values_and_derivatives_go_where_the_numbers_say(name):
    def layout(x):
        elements, a, s = pieces_of(x)
        numbers = LAYOUTS[name](a, s)
        known = np.arange(numbers.size, dtype=float).reshape(numbers.shape) + 10
        return Tracer(elements.assembled(unwrapped(numbers), unwrapped(known)))

    numbers = LAYOUTS[name](np.arange(6).reshape(2, 3), np.array(6))
    known = np.arange(numbers.size, dtype=float).reshape(numbers.shape) + 10
    wanted = np.where(numbers == KNOWN, known, np.append(X, X.sum())[numbers])
    np.testing.assert_array_equal(sg.symbolic(layout)(X), wanted)
    rows = np.vstack([np.eye(6), np.ones(6)])
    jacobian = np.where((numbers == KNOWN)[..., None], 0.0, rows[numbers]).reshape(*numbers.shape, 2, 3)
    np.testing.assert_array_equal(sg.jacobian(layout)(X), jacobian)


def test_a_value_is_numbered_once_and_its_elements_are_found_again():
    def fn(x):
        elements, a, s = pieces_of(x)
        assert elements.numbers((x * 1.0)._symgrad_node)[0, 0] == a[0, 0]
        assert elements.element(s[()]) is np.sum(x)._symgrad_node
        return Tracer(elements.element(a[1, 2]))

    assert sg.value_and_grad(fn)(X)[1].tolist() == [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]

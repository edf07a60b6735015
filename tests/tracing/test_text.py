"""The text of traced values: guarded where it decides anything, and that of the traced call where it is only shown."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import TracingError

RATES = {"0": 5.0, "1": 2.0, "2": 3.0, "01": 1.0, "10": 2.0, "True": 1.0, "False": 2.0, "w1": 3.0, "w2": 4.0}
TWO = np.array([1.0, 2.0]), np.array([3.0, 2.0])

DECIDES = {
    "a key": (lambda x: RATES[f"{x:.0f}"] * x, (1.2,), (2.2,)),
    "a key to get": (lambda x: RATES.get(f"{x:.0f}", 9.0) * x, (1.2,), (7.2,)),
    "a rounded number": (lambda x: float(f"{x:.2f}") * x, (1.234,), (5.678,)),
    "a comparison": (lambda x: x**2 if str(x).startswith("-") else x, (1.2,), (-2.2,)),
    "a member": (lambda x: x**2 if "-" in repr(x) else x, (1.2,), (-2.2,)),
    "a length": (lambda x: len(f"{x:.0f}") * x, (1.2,), (12.2,)),
    "of another argument": (lambda x, s: RATES[f"w{s:.0f}"] * x, (1.5, 1.0), (1.5, 2.0)),
    "of NumPy's integer": (lambda x, k: RATES[f"w{k}"] * x, (1.5, np.int64(1)), (1.5, np.int64(2))),
    "of integers": (lambda x, k: sum(RATES[f"w{i}"] * x for i in k), (1.5, np.array([1, 1])), (1.5, np.array([2, 1]))),
    "of the place of the greatest": (lambda x: RATES[f"{np.argmax(x)}"] * x[0], TWO[:1], TWO[1:]),
    "of an order": (lambda x: RATES["".join(str(k) for k in np.argsort(x))] * x[0], TWO[:1], TWO[1:]),
    "of a truth value": (lambda x: RATES[str(x > 0)] * x, (1.0,), (-1.0,)),
    "of a whole number": (lambda x: RATES[f"{int(x)}"] * x, (1.2,), (2.2,)),
    "of a rounded one": (lambda x: RATES[f"{round(x)}"] * x, (1.2,), (1.9,)),
    "by %": (lambda x: RATES["%d" % int(x)] * x, (1.2,), (2.2,)),  # noqa: UP031
    "by format": (lambda x: RATES["{:.0f}".format(x)] * x, (1.2,), (2.2,)),  # noqa: UP032
}


@pytest.mark.parametrize("name", DECIDES)
def test_text_that_decides_is_that_of_each_call(name):
    f, *calls = DECIDES[name]
    g = sg.value_and_grad(f)
    for args in (*calls, calls[0]):
        assert g(*args)[0] == f(*args)


def _shown(x):
    print(f"x = {x:.2f}", x, [f"{q:.1f}" for q in (x, 2 * x)], ", ".join(f"{q}" for q in (x, x)))
    print("x = " + str(x))
    print("%.2f" % x)  # noqa: UP031
    logging.getLogger("shown").info(f"{x}")
    if x < -20:
        raise ValueError(f"{x} is small")
    return x**2


def test_text_that_is_only_shown_needs_no_other_trace(capsys):
    g, kernels = sg.grad(_shown), set()
    for x in (1.0, 2.0, 3.0):
        assert g(x) == 2 * x
        kernels.add(g.kernel())
    assert len(kernels) == 1
    assert "x = 1.00 1.0 ['1.0', '2.0'] 1.0, 1.0\nx = 1.0\n1.00\n" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"-30\.0 is small"):
        g(-30.0)


def test_what_is_printed_on_the_way():
    g, kernels = sg.grad(lambda x: print(f"{x}", repr(x)) or x**2), set()
    for x in (1.0, 2.0):
        assert g(x) == 2 * x
        kernels.add(g.kernel())
    assert len(kernels) == 1
    rate = sg.value_and_grad(lambda x: print(RATES[f"{x:.0f}"]) or RATES[f"{x:.0f}"] * x)
    assert [rate(1.2)[0], rate(2.2)[0]] == [2.4, 3 * 2.2]


def test_text_of_a_value_that_is_not_known():
    with pytest.raises(TracingError, match=r"text of a traced value(.|\n)*RATES\[f"):
        sg.vmap(lambda x: RATES[f"{x:.0f}"] * x)(np.array([1.2, 2.2]))
    seen = []

    def noted(x):
        seen.append(f"{x}")
        return 2 * x

    assert sg.vmap(noted)(np.ones(2)).tolist() == [2.0, 2.0]
    assert seen[0].startswith("Tracer(shape=[]")

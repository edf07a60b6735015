"""The text of traced values: guarded where it decides anything, and that of the traced call where it is only shown."""

from __future__ import annotations

import ast
import configparser
import contextlib
import io
import json
import logging
import sqlite3
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import TracingError

RATES = {"0": 5.0, "1": 2.0, "2": 3.0, "01": 1.0, "10": 2.0, "True": 1.0, "False": 2.0, "w1": 3.0, "w2": 4.0}
TWO = np.array([1.0, 2.0]), np.array([3.0, 2.0])

DECIDES = {
    "a key": (lambda x: RATES[f"{x:.0f}"] * x, (1.2,), (2.2,)),
    "a key to get": (lambda x: RATES.get(f"{x:.0f}", 9.0) * x, (1.2,), (7.2,)),
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


def test_text_of_a_value_that_is_not_known(capsys):
    with pytest.raises(TracingError, match=r"text of a traced value(.|\n)*RATES\[f"):
        sg.vmap(lambda x: RATES[f"{x:.0f}"] * x)(np.array([1.2, 2.2]))
    assert sg.vmap(lambda x: print(f"{x}") or 2 * x)(np.ones(2)).tolist() == [2.0, 2.0]
    assert capsys.readouterr().out.startswith("Tracer(shape=[]")


class Kept(logging.Handler):
    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


def _logged(x):
    kept, log = Kept(), logging.getLogger("kept in a test")
    log.addHandler(kept)
    log.warning(f"{x:.1f}")
    log.removeHandler(kept)
    return RATES.get(kept.texts[0][:1], 7.0) * x


def _listed(x):
    parts = []
    parts.append(f"{x:.0f}")
    return RATES.get("".join(parts), 7.0) * x


def _written(x):
    out = io.StringIO()
    out.write(str(x)[:1])
    print(f"{x:.0f}", file=out)
    return RATES.get(out.getvalue()[0], 7.0) * x


def _caught(x):
    try:
        raise ValueError(f"{x:.0f}")
    except ValueError as error:
        return RATES.get(str(error), 7.0) * x


def _given(x):
    def name(text):
        return RATES.get(text, 7.0)

    found = []
    found.append(name(f"{x:.0f}"))
    return found[0] * x


def _printed_by_its_own(x):
    texts = []

    def print(text):
        texts.append(text)

    print(f"{x:.0f}")
    return RATES.get(texts[0], 7.0) * x


def _of_a_dict(x):
    d = {}
    d.update(k=f"{x:.0f}")
    return RATES.get(d["k"], 7.0) * x


@pytest.mark.parametrize("f", [_logged, _listed, _written, _caught, _given, _printed_by_its_own, _of_a_dict])
@pytest.mark.filterwarnings("ignore::symgrad.errors.TracedAgain")
def test_text_that_is_handed_on_is_that_of_each_call(f):
    g = sg.value_and_grad(f)
    for x in (1.0, 2.0, 5.0, 1.0):
        assert g(x)[0] == f(x)


class _Rate(float):
    pass


class _Named:
    def __init__(self, rate):
        self.rate = rate

    def __repr__(self):
        return "%.3f" % self.rate  # noqa: UP031


READ_BACK = {
    "by %": lambda x: float("%.3f" % x[0]) * x[1],  # noqa: UP031
    "by % of several": lambda x: float(("%s=%s" % ("rate", x[0] * x[1]))[5:]),  # noqa: UP031
    "in part": lambda x: float(str(x[0] * 1.0123456)[:5]) * x[1],
    "by % of bytes": lambda x: float(b"%f" % x[0]) * x[1],
    "by a class of floats": lambda x: _Rate(str(x[0])) * x[1],
    "of an object of the user's": lambda x: float(repr(_Named(x[0]))) * x[1],
    "of its text": lambda x: float(str(x[0])) * x[1],
    "as Python shows it": lambda x: float(repr(float(x[0]))) * x[1],
    "of an f-string": lambda x: np.float64(f"{x[0]}") * x[1],
    "by format": lambda x: float("{}".format(x[0])) * x[1],  # noqa: UP032
    "one after the other": lambda x: sum(map(float, map(str, x))),
    "rounded": lambda x: float(f"{x[0]:.2f}") * x[1],
    "among others": lambda x: sum(float(p) for p in f"{x[0]},{2 * x[0]}".split(",")) * x[1],
    "in a list": lambda x: np.array([str(x[0]), "2.0"]).astype(float).sum() * x[1],
    "of a file": lambda x: np.loadtxt(io.StringIO(f"{x[0]} 2.0")).sum() * x[1],
    "of the function's own array": lambda x: float(str(np.array([x[0] * 2])[0])) * x[1],
}
READ_OTHERWISE = {
    "Decimal": lambda x: float(Decimal(str(x[0])) * 2) * x[1],
    "Fraction": lambda x: float(Fraction(f"{x[0]}")) * x[1],
    "complex": lambda x: complex(str(x[0])).real * x[1],
    "eval": eval("lambda x: eval(f'{x[0]} * 2') * x[1]", {}),  # in a module of its own: it may read all of one
    "literal_eval": lambda x: ast.literal_eval(str(x[0])) * x[1],
    "loads": lambda x: json.loads(f"[{x[0] * 1.2345678}]")[0] * x[1],
}


@pytest.mark.parametrize("name", READ_BACK)
def test_a_number_that_is_read_back_is_refused(name):
    with pytest.raises(TracingError, match="reads a number back"):
        sg.grad(READ_BACK[name])(np.array([1.5, 2.25]))


@pytest.mark.parametrize("name", READ_OTHERWISE)
def test_a_number_whose_derivative_would_be_lost_is_refused(name):
    with pytest.raises(TracingError, match=rf"{name} reads a number back|text of a traced value is made here"):
        sg.grad(READ_OTHERWISE[name])(np.array([1.5, 2.25]))


def getfloat(x):
    parser = configparser.ConfigParser()
    parser.read_dict({"all": {"rate": str(x[0])}})
    return parser.getfloat("all", "rate") * x[1]


def parts(x):
    whole, rest = str(x[0]).split(".")
    return (float(whole) + float("0." + rest)) * x[1]


def selected(x):
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        return database.execute(f"select {x[0]}").fetchone()[0] * x[1]


IN_PIECES = {
    "a digit before": lambda x: float("1" + str(x[0])) * x[1],
    "an exponent behind": lambda x: float(f"{x[0]}e1") * x[1],
    "without its sign": lambda x: float(str(-x[0])[1:]) * x[1],
    "parts": parts,
    "a whole number": lambda x: int(str(x[0]).replace(".", "")) * x[1],
    "bytes that change": lambda x: float(bytearray(str(x[0]), "ascii")) * x[1],
    "kept by an object": getfloat,
    "of a database": selected,
}


@pytest.mark.parametrize("read", IN_PIECES.values(), ids=IN_PIECES)
def test_a_number_of_many_digits_is_known_in_pieces(read):
    with pytest.raises(TracingError, match="reads a number back"):
        sg.grad(read)(np.array([2.123456, 0.5]))


def test_texts_of_zeros_have_their_signs():
    signed = sg.value_and_grad(lambda x: x + len(str(x)))
    beside = sg.value_and_grad(lambda x, z: x * len(str(z)))
    for zero in (0.0, -0.0, 0.0):
        assert signed(zero)[0] == zero + len(str(zero))
        assert beside(2.0, complex(0, zero))[0] == 2.0 * len(str(complex(0, zero)))


def test_an_array_of_texts_is_refused():
    with pytest.raises(TracingError, match="derivative would be lost"):
        sg.grad(lambda x: np.array([str(v) for v in x], dtype=float)[0] * x[1])(np.array([1.5, 2.25]))


def test_what_reads_other_texts_stays():
    def weighed(x):
        names = {f"{v}": v for v in x}
        rates = {"1.5": 2.0} | json.loads('{"11.5": 0.5}')
        return sum(rates[name] * v for name, v in names.items() if name in rates) * float(Decimal("0.5"))

    assert sg.grad(weighed)(np.array([1.5, 2.25])).tolist() == [1.0, 0.0]


def test_the_text_of_a_traced_number_is_text():
    held = []
    sg.grad(lambda x: held.append(str(x)) or x**2)(1.5)
    assert held == ["1.5"]
    assert type(held[0]) is str


def test_what_is_computed_beside_a_text_of_many_digits_is_no_number_of_it():
    texts = []
    gradient = sg.value_and_grad(lambda x: (texts.append(repr(x)), np.sum(x), x[0] * 2.0, float(x[1]))[1])
    assert gradient(np.array([2.123456, 0.5]))[0] == 2.623456
    assert texts == ["array([2.123456, 0.5     ])"]


def test_how_long_a_text_is_and_where_something_stands_in_it_is_no_number_of_it():
    def fn(x):
        text, out = f"{x:.4f};", io.StringIO()
        return x * (len(text) + text.index(";") + out.write(text) + text.count("1"))

    assert sg.value_and_grad(fn)(12.3456) == (fn(12.3456), fn(12.3456) / 12.3456)

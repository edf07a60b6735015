"""Call: the signature of arguments, read the short way where they are plain arrays and floats."""

import copy
import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import symgrad
from symgrad.errors import DtypeError
from symgrad.signature import Call, VaryingInts, ints_of, key_of_arrays

X = np.arange(3.0)
PLAIN = [(), (X,), (X, X), (1.5,), (X, 2.0, X.astype(np.float32)), (np.array(1.0),), (np.ones((2, 0), np.int8), X)]
OTHERS = [
    (1,),
    (X, None),
    (X, np.array(["a"])),
    (np.array(["a"]),),
    (np.float64(1.0),),
    ((X, X),),
    (X, "a"),
    (symgrad.Tensor(X),),
    ({"a": X},),
    (X, True),
]


@pytest.mark.parametrize("args", PLAIN)
def test_the_short_way_reads_the_same_signature(args):
    assert key_of_arrays(args) == Call(args, {}).read().key


@pytest.mark.parametrize("args", OTHERS)
def test_what_is_not_plain_is_left_to_the_long_way(args):
    assert key_of_arrays(args) is None


def test_signatures_of_different_arguments_differ():
    by_name = [Call((X,), {"y": X}), Call((X,), {"z": X})]
    calls = [*(Call(args, {}) for args in (*PLAIN, *OTHERS)), *by_name]
    keys = [call.read().key for call in calls]
    scalars = Call((np.float64(1.0),), {}).read().key, Call((np.array(1.0),), {}).read().key
    tensors = Call((symgrad.Tensor(X),), {}).read().key, Call((X,), {}).read().key
    assert scalars[0] != scalars[1]
    assert tensors[0] == tensors[1]
    assert len(set(keys)) == len(keys) - 1


def test_ints_are_left_open_once_they_have_changed():
    seen = VaryingInts(4)
    keys = [Call((X, k, (7, True), 2**60 + k), {"step": 2 * k}).read().key for k in range(3)]
    assert [ints_of(key) for key in keys] == [[k, 7, 2**60 + k, 2 * k] for k in range(3)]
    assert seen.of(keys[0]) == (set(), keys[0])
    varying, left_open = seen.of(keys[1])
    assert varying == {0, 3}  # what no dtype of 64 bits and no float holds stays
    assert seen.of(keys[2])[0] == {0, 3}
    assert left_open != seen.of(keys[2])[1]
    seen.fix(keys[0], {0})
    assert seen.of(keys[2])[0] == {3}
    for k in range(10):
        seen.of(Call((np.ones(k), k), {}).read().key)
    assert len(seen._known) == 4


@pytest.mark.parametrize(
    ("labels", "others"),
    [
        (np.array(["a", "b"]), np.array(["b", "b"])),
        (np.array([b"a", b"b"]), np.array([b"b", b"b"])),
        (np.array(["2020-01-01", "2021-01-01"], "M8[D]"), np.array(["2020-01-01", "2020-01-01"], "M8[D]")),
        (np.array([1, 2], "m8[s]"), np.array([2, 2], "m8[s]")),
    ],
)
def test_arrays_of_text_and_times_are_settings(labels, others):
    def f(x, labels):
        return np.sum(x[labels == labels[0]] ** 2)

    g = symgrad.grad(f)
    for _ in range(2):
        assert g(np.ones(2), labels).tolist() == [2.0, 0.0]
        assert g(np.ones(2), others).tolist() == [2.0, 2.0]
        assert g(np.ones(2), labels=labels).tolist() == [2.0, 0.0]
    assert symgrad.vmap(f, in_axes=(0, None))(np.ones((3, 2)), labels).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(DtypeError, match="argument 1 has dtype"):
        symgrad.grad(f, 1)(np.ones(2), labels)


def test_times_since_a_date():
    def value(rate, dates):
        years = (dates - dates[0]) / np.timedelta64(365, "D")
        return np.sum(np.exp(-rate * years))

    dates = np.array(["2021-01-01", "2022-01-01", "2023-01-01"], "M8[D]")
    wanted = -np.exp(-0.05) - 2 * np.exp(-0.1)
    assert symgrad.grad(value)(0.05, dates) == pytest.approx(wanted, rel=1e-14)


class Unit:
    """Its name alone says what equals it."""

    def __init__(self, name, scale):
        self.name, self.scale = name, scale

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


class Setting:
    def __init__(self, unit):
        self.unit = unit

    def __eq__(self, other):
        return self.unit == other.unit

    def __hash__(self):
        return hash(self.unit)


_NOON = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC)
EQUAL = {
    "times of two zones": (_NOON, _NOON.astimezone(datetime.timezone(datetime.timedelta(hours=1)))),
    "folds": (datetime.datetime(2020, 10, 25, 2, 30), datetime.datetime(2020, 10, 25, 2, 30, fold=1)),
    "decimals": (Decimal("1.0"), Decimal("1.000")),
    "whole numbers and fractions": (Fraction(2), 2),
    "truth values": (True, 1),
    "in tuples": ((1, True), (1, 1)),
    "frozen sets": (frozenset([1]), frozenset([True])),
    "keys": ({1: X}, {True: X}),
    "keys of zeros": ({0.0: X}, {-0.0: X}),
    "of the user's": (Unit("m", 1.0), Unit("m", 5.0)),
    "in objects of the user's": (Setting(Unit("m", 1.0)), Setting(Unit("m", 5.0))),
}


@pytest.mark.parametrize("name", EQUAL)
def test_what_is_equal_and_not_the_same_has_signatures_of_its_own(name):
    one, other = EQUAL[name]
    assert Call((one,), {}).read().key != Call((other,), {}).read().key
    for value in (one, other):
        try:
            again = copy.deepcopy(value)
        except TypeError:
            continue
        assert Call((value,), {}).read().key == Call((again,), {}).read().key


def test_what_stands_twice_is_told_from_what_is_equal():
    one, other = [X], [X]
    keys = {
        Call(args, {}).read().key for args in (([one, one],), ([one, other],), ([one, [X]],), (one, one), (one, other))
    }
    assert len(keys) == 4

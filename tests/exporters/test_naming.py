"""Names in a target: valid, distinct, none of the target's own words."""

from __future__ import annotations

import keyword
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symgrad.exporters.naming import target_names

RESERVED = frozenset([*keyword.kwlist, "np", "result", "arg", "x_2"])
HOSTILE = [
    "",
    "*/",
    '"""',
    "a\nb",
    "\\input{/etc/passwd}",
    "</script>",
    "'); drop",
    "v0",
    "V12",
    "for",
    "fc.weight",
    "fc_weight",
    "x",
    "x_2",
    "x",
    "Δt",
    "ß",
    "é",
    "变量",
    "_private",
    "__init__",
    "9lives",
    "a" * 300,
    "a" * 301,
    "\u202eabc",
]


@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("caseless", [True, False])
@pytest.mark.parametrize("longest", [None, 31, 8])
@given(labels=st.lists(st.text(max_size=12) | st.sampled_from(HOSTILE), max_size=30))
@example(labels=HOSTILE)
def test_names_are_valid_distinct_and_free(ascii, caseless, longest, labels):
    names = target_names(labels, RESERVED, ascii=ascii, caseless=caseless, longest=longest)
    assert len(names) == len(labels)
    fold = str.casefold if caseless else str
    assert len({fold(n) for n in names}) == len(names)
    for name in names:
        assert name.isidentifier()
        assert name[0].isalpha()
        assert "__" not in name
        assert len(name) <= (longest or 100)
        assert fold(name) not in {fold(word) for word in RESERVED}
        assert not re.fullmatch(r"[vV]\d+", name)
        if ascii:
            assert re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII)


def test_good_names_stay():
    assert target_names(["w", "X", "learning_rate", "x1"], RESERVED) == ["w", "X", "learning_rate", "x1"]


def test_letters_of_other_scripts_are_spelled_where_the_target_has_none():
    assert target_names(["θ", "Δx", "é"], ()) == ["theta", "Delta_x", "e"]
    assert target_names(["θ", "Δx"], (), ascii=False) == ["θ", "Δx"]


def test_case_alone_does_not_tell_apart_where_it_does_not_count():
    assert target_names(["x", "X"], (), caseless=True) == ["x", "X_2"]
    assert target_names(["END"], {"end"}, caseless=True) == ["END_"]

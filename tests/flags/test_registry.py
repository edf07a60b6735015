"""The registry refuses what would be ambiguous, and values that are not given do nothing."""

from __future__ import annotations

import pytest

from symgrad.errors import ArgumentError
from symgrad.flags import FLAGS, Flag, register
from symgrad.flags.registry import derivative


def test_names_are_free_and_flags_do_one_thing():
    with pytest.raises(ArgumentError, match="there is a flag --get-all already"):
        register(Flag("get_all", "again"))
    with pytest.raises(ArgumentError, match="there is a flag -a already"):
        register(Flag("again", "again", short="-a"))
    with pytest.raises(ArgumentError, match="no name of a flag"):
        register(Flag("get-all", "again"))
    with pytest.raises(ArgumentError, match="there is a flag --form already"):
        register(Flag("form", "that of the command line"))
    with pytest.raises(ArgumentError, match="'--long' is no short form"):
        register(Flag("again", "again", short="--long"))
    with pytest.raises(ArgumentError, match="does several things"):
        register(Flag("both", "both", derive=lambda d, _: d, show=lambda *_: ""))
    assert "both" not in FLAGS


def test_values_that_are_not_given_do_nothing():
    plain = dict.fromkeys(FLAGS) | {"get_all": False}
    assert derivative(lambda x: x**2, plain)(3.0) == 6.0

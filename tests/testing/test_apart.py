"""Runs in a process of their own."""

import os
import random
import warnings

import pytest

from symgrad.errors import SymgradError
from symgrad.testing.apart import apart

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def test_its_effects_end_with_it():
    kept = {"n": 1}

    def work():
        kept["n"] += 1
        return kept["n"], os.getpid() == mine

    mine = os.getpid()
    assert [apart(work), apart(work), kept["n"]] == [(2, False), (2, False), 1]


def test_random_numbers_go_on_from_where_they_are():
    random.seed(3)
    here = apart(random.random)
    assert here == apart(random.random) == random.random()


def test_a_process_that_ends_early_is_told():
    with pytest.raises(SymgradError, match="ended early, with status"):
        apart(lambda: os._exit(3))
    with pytest.raises(SymgradError, match="ended early: KeyError: 'no'"):
        apart(lambda: {}["no"])


def test_more_than_a_pipe_holds():
    assert len(apart(lambda: b"a" * 10**7)) == 10**7


def test_libraries_that_warn_of_forks_are_not_heard():
    forked = []

    def warn():
        if forked == [0]:
            forked.append(1)
            warnings.warn("os.fork() was called", RuntimeWarning, stacklevel=1)

    os.register_at_fork(before=warn)
    forked.append(0)
    with warnings.catch_warnings(record=True) as heard:
        assert (apart(lambda: 1.0), len(heard), forked) == (1.0, 0, [0, 1])

"""Trials with clocks of their own: the faster of two is found, however the machine is disturbed."""

import random

import pytest

from symgrad.kernels.native import trial
from symgrad.kernels.native.trial import Trial


class Timed:
    """Two functions that take ``costs`` on a clock that nothing else moves, and ``disturbed`` longer."""

    def __init__(self, monkeypatch, costs, disturbed=lambda: 0.0, span=0.0):
        self.now, self.calls, self.decided = 0.0, [0, 0], None
        monkeypatch.setattr(trial, "_SPAN", span)
        monkeypatch.setattr(trial, "clock", lambda: self.now)

        def function(k):
            def call(x):
                self.calls[k] += 1
                self.now += costs[k] + disturbed()
                return (k, x)

            return call

        def decide(first):
            self.decided = first

        self.trial = Trial(function(0), function(1), decide)

    def run(self):
        while self.decided is None:
            self.trial(7.0)
        return self.decided


@pytest.mark.parametrize(("costs", "most"), [((1, 10), 3), ((10, 1), 3), ((2, 3), 9), ((3, 2), 9), ((100, 101), 64)])
def test_the_faster_one_is_found_in_few_calls(monkeypatch, costs, most):
    timed = Timed(monkeypatch, costs)
    assert timed.run() == (costs[0] < costs[1])
    assert max(timed.calls) <= most


def test_calls_of_seconds_are_not_repeated_where_they_are_far_apart(monkeypatch):
    timed = Timed(monkeypatch, (1e8, 1e10))
    assert timed.run()
    assert timed.calls == [1, 1]
    timed = Timed(monkeypatch, (1e9, 2e9))
    assert timed.run()
    assert timed.calls[1] > 1


def test_both_give_results_meanwhile(monkeypatch):
    timed = Timed(monkeypatch, (1, 1))
    assert sorted(timed.trial(2.5) for _ in range(4)) == [(0, 2.5), (0, 2.5), (1, 2.5), (1, 2.5)]


def test_a_call_that_fails_decides_nothing(monkeypatch):
    def fails(x):
        raise ZeroDivisionError

    tried = Trial(fails, lambda x: (x,), lambda first: pytest.fail("decided"))
    with pytest.raises(ZeroDivisionError):
        tried(1.0)
    assert tried(1.0) == (1.0,)


@pytest.mark.parametrize("costs", [(10, 15), (15, 10), (10, 40), (40, 10)])
def test_a_busy_machine_does_not_decide(monkeypatch, costs):
    """Each call is held up with one chance in three, for up to five times as long as it takes."""
    chance = random.Random(5)
    wrong = 0
    for _ in range(300):
        timed = Timed(monkeypatch, costs, lambda: chance.uniform(0, 50) if chance.random() < 1 / 3 else 0.0)
        wrong += timed.run() != (costs[0] < costs[1])
    assert wrong <= 3


@pytest.mark.parametrize("costs", [(10, 12), (12, 10)])
def test_close_ones_are_told_apart_where_most_calls_are_disturbed(monkeypatch, costs):
    chance = random.Random(6)
    wrong = 0
    for _ in range(300):
        timed = Timed(monkeypatch, costs, lambda: chance.uniform(0, 50) if chance.random() < 0.9 else 0.0)
        wrong += timed.run() != (costs[0] < costs[1])
    assert wrong <= 15  # of 300; a quarter where the fastest call alone counts


def test_trying_costs_a_few_calls_however_close_both_are(monkeypatch):
    for slower in (1.05, 1.1, 1.3, 2.0, 5.0):
        timed = Timed(monkeypatch, (1.0, slower))
        assert timed.run()
        assert timed.calls[1] * (slower - 1) <= 12


def test_whose_processor_is_taken_away_at_first_is_not_slower(monkeypatch):
    """The first calls of one are held up, all of them, as short ones are that fall into one turn of another process."""
    costs = [40, 2]
    timed = Timed(monkeypatch, costs, span=500.0)
    for _ in range(16):
        timed.trial(7.0)
    costs[0] = 1
    assert timed.run()

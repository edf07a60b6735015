"""What is remembered of a class whose methods stand-ins replace for a while, and what is put back into it."""

from __future__ import annotations

import math

from symgrad.tracing.guards import Guards
from symgrad.tracing.stand_ins import OF_CLASSES, own_members
from symgrad.tracing.users_methods import followed_methods


class Ball:
    radius = 2.0

    def volume(self):
        return 4 / 3 * math.pi * self.radius**3


def test_a_class_keeps_its_own_members_while_stand_ins_replace_them():
    own = dict(vars(Ball))
    with followed_methods([Ball]):
        assert vars(Ball)["volume"] is not own["volume"]
        assert dict(own_members(Ball)) == own
    assert dict(vars(Ball)) == own
    assert Ball not in OF_CLASSES


def test_guards_of_one_trace_leave_the_stand_ins_of_another():
    own, guards = dict(vars(Ball)), Guards()
    with followed_methods([Ball]):
        guards.watch_class(Ball)
        given = vars(Ball)["volume"]
        assert guards.unchanged()
        guards.restore()
        assert vars(Ball)["volume"] is given
    assert guards.unchanged()
    guards.restore()
    assert dict(vars(Ball)) == own


def test_guards_put_a_members_own_value_back():
    guards = Guards()
    guards.watch_class(Ball)
    with followed_methods([Ball]):
        Ball.radius, Ball.mass = 3.0, 1.0
        assert not guards.unchanged()
        guards.restore()
    assert Ball.radius == 2.0
    assert not hasattr(Ball, "mass")
    assert guards.unchanged()

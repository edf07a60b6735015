"""What is remembered of a class whose special methods stand-ins replace for a while."""

from __future__ import annotations

import math

import symgrad as sg
from symgrad.tracing.guards import Guards
from symgrad.tracing.stand_ins import OF_CLASSES, own_members
from symgrad.tracing.users_methods import followed_methods


class Ball:
    radius = 2.0

    def __abs__(self):
        return 4 / 3 * math.pi * self.radius**3


def test_a_class_keeps_its_own_members_while_stand_ins_replace_them():
    own = dict(vars(Ball))
    with followed_methods([Ball]):
        assert vars(Ball)["__abs__"] is not own["__abs__"]
        assert dict(own_members(Ball)) == own
    assert dict(vars(Ball)) == own
    assert Ball not in OF_CLASSES


def test_guards_of_one_trace_leave_the_stand_ins_of_another():
    own, guards = dict(vars(Ball)), Guards()
    with followed_methods([Ball]):
        guards.watch_class(Ball)
        given = vars(Ball)["__abs__"]
        assert guards.unchanged()
        assert vars(Ball)["__abs__"] is given
    assert guards.unchanged()
    assert dict(vars(Ball)) == own


def test_guards_see_what_is_set_beside_stand_ins(monkeypatch):
    guards = Guards()
    guards.watch_class(Ball)
    with followed_methods([Ball]):
        assert guards.unchanged()
        monkeypatch.setattr(Ball, "radius", 3.0)
        assert not guards.unchanged()


def test_a_method_that_is_kept_stays_what_it_is():
    class Trainer:
        def on_step(self, x):
            return math.sin(x)

    trainer = Trainer()
    callbacks, saved = [trainer.on_step], Trainer.on_step
    gradient = sg.grad(lambda x: math.sin(x) * (trainer.on_step in callbacks) * (Trainer.on_step is saved))
    assert gradient(1.0) == math.cos(1.0)

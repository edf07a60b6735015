"""Python's collector is left as it was found, whatever happens in a pause."""

import gc
import threading

import numpy as np
import pytest

import symgrad as sg
from symgrad.program.collector import collector_paused


@pytest.fixture(params=[True, False], ids=["on", "off"])
def before(request):
    was_on = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if was_on else gc.disable)()


def test_pauses_are_nested(before):
    with collector_paused():
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() == before


def test_an_error_ends_a_pause(before):
    with pytest.raises(KeyError), collector_paused():
        raise KeyError
    assert gc.isenabled() == before


def test_the_last_thread_ends_it(before):
    inside, leave = threading.Event(), threading.Event()

    def other():
        with collector_paused():
            inside.set()
            leave.wait()

    with collector_paused():
        thread = threading.Thread(target=other)
        thread.start()
        inside.wait()
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled() == before


def test_what_the_user_wrote_is_traced_with_the_collector_as_it_is(before):
    seen = []

    def function(x):
        seen.append(gc.isenabled())
        return np.sum(np.sin(x))

    sg.grad(function)(np.ones(3))
    assert seen == [before]
    assert gc.isenabled() == before

"""A child that is forked while other threads trace goes on without them."""

import gc
import math
import os
import signal
import sys
import threading
import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.kernels import reuse
from symgrad.program import collector
from symgrad.program.forks import cached_property
from symgrad.tracing import sources, stand_ins
from symgrad.tracing.users_methods import followed_methods

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
#: seconds after which a child is taken to hang; it takes milliseconds
_HANGS = 60


class Ball:
    def __abs__(self):
        return 2.0


class Slow:
    started, goes_on = threading.Event(), threading.Event()

    @cached_property
    def made(self):
        self.started.set()
        self.goes_on.wait()
        return 3


def answered(child):
    """What a forked child ends with; it is stopped where it hangs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are threads is what this is about
        process = os.fork()
    if not process:
        signal.alarm(_HANGS)
        try:
            child()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def derives():
    for f in (lambda x: np.sum(x**3), lambda x: math.sin(x[0])):
        assert sg.grad(f)(np.linspace(0.1, 2, 3)).shape == (3,)


@pytest.mark.parametrize("held", [lambda: collector._lock, lambda: sources.PARSING, lambda: reuse._lock])
def test_a_lock_that_another_thread_holds(held):
    with held():  # no thread of the child has it
        assert answered(derives) == 0


def test_a_property_that_another_thread_computes():
    thread = threading.Thread(target=lambda: Slow().made)
    thread.start()
    Slow.started.wait()

    def child():
        Slow.goes_on.set()
        assert Slow().made == 3

    try:
        assert answered(child) == 0
    finally:
        Slow.goes_on.set()
        thread.join()


def test_the_collector_goes_on():
    def child():
        assert gc.isenabled()
        derives()

    was_on = gc.isenabled()
    gc.enable()
    try:
        with collector.collector_paused():
            assert answered(child) == 0
            assert not gc.isenabled()
    finally:
        (gc.enable if was_on else gc.disable)()


def test_classes_have_their_own_methods():
    own = vars(Ball)["__abs__"]

    def child():
        assert vars(Ball)["__abs__"] is own
        with stand_ins.LOCK:
            derives()

    with followed_methods([Ball]):
        assert answered(child) == 0
        assert vars(Ball)["__abs__"] is not own


def test_a_cached_property_has_no_lock():
    assert sys.version_info >= (3, 12) or "lock" not in cached_property.__get__.__code__.co_names

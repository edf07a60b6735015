"""Cases of what a function reads from outside: each is called, changed, and called again."""

import contextlib
import pathlib
import sys
import types
import warnings
from collections.abc import Callable
from typing import IO

import numpy as np
import pytest

import symgrad
from symgrad.errors import TracedAgain

X = np.array([1.0, 2.0])

#: gives a function and what changes its value; what outlives the case is changed by way of the World
Case = Callable[["World"], tuple[Callable, Callable]]


class World:
    """What cases change, and what is changed back after each."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: pathlib.Path, files: contextlib.ExitStack) -> None:
        self.patch = patch
        self.folder = folder
        self._files = files

    def opened(self, path: pathlib.Path) -> IO[str]:
        """A file that is closed after the case."""
        return self._files.enter_context(path.open())

    def module(self, source: str = "K = 2.0", name: str = "module_of_the_user", file: str = "") -> types.ModuleType:
        """A module of the user's that can be imported."""
        made = types.ModuleType(name)
        made.__package__ = name.rpartition(".")[0]
        made.__file__ = file or f"/home/user/{name}.py"
        self.patch.setitem(sys.modules, name, made)
        exec(compile(source, made.__file__, "exec"), vars(made))
        return made


class Cases(list):
    """The cases of a file, each added by decorating it."""

    def __call__(self, make: Case) -> Case:
        self.append(make)
        return make

    def each(self) -> pytest.MarkDecorator:
        """Runs a test for each of them."""
        return pytest.mark.parametrize("make", self, ids=lambda make: make.__name__)


def check(make: Case, world: World) -> None:
    """The value is NumPy's and the derivative a fresh one's, before and after the change, which changes both."""
    fn, change = make(world)
    kept = symgrad.value_and_grad(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracedAgain)  # of what no guard can see; test_warnings.py has these
        before = _agrees(kept, fn)
        change()
        after = _agrees(kept, fn)
    assert before != after, "the case changes nothing"


def _agrees(kept: Callable, fn: Callable) -> float:
    for _ in range(2):  # the second call is served by the trace of the first, where it may
        value, gradient = kept(X)
        assert value == fn(X)
        np.testing.assert_array_equal(gradient, symgrad.grad(fn)(X))
    return float(value)

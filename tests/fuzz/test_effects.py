"""Functions with effects: value, type, effects and slope are those of the plain function, call by call."""

from __future__ import annotations

import collections
import warnings

import numpy as np
import pytest
from checks import Skipped, Wrong
from effect_programs import World
from fuzzing import report, seeds

import symgrad
from symgrad.errors import SymgradError
from symgrad.testing.content import content_of, difference, state_of_function

_MAX_SHOWN = 5
#: the part of all programs that may be refused
_MAX_REFUSED = 0.15
_CLOSE, _SLOPE = 1e-10, 1e-5
#: numbers beyond which nothing is compared
_LARGEST = 1e12
_STEPS = (1e-4, 0.5e-4)


def test_effects_are_those_of_the_plain_function(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the programs write their files
    wrong: list[tuple[World, str]] = []
    refused: collections.Counter[str] = collections.Counter()
    for seed in seeds(0.5):
        world = World(seed)
        try:
            check(world)
        except Skipped as error:
            refused[str(error)] += 1
        except Wrong as error:
            wrong.append((world, str(error)))
    for message, count in refused.most_common(20):
        print(f"\nnot compared {count} times: {message}")
    report("programs with effects", len(seeds(0.5)), refused.total(), wrong, _MAX_REFUSED)
    if wrong:
        pytest.fail("\n\n".join(_shown(*found) for found in wrong[:_MAX_SHOWN]), pytrace=False)


def check(world: World) -> None:
    """The plain function and what is traced of it, each in its world, call by call."""
    plain, traced = world.made(), world.made()
    function = symgrad.value_and_grad(traced, (0, 1))
    for k, (mine, theirs) in enumerate(zip(world.calls(), world.calls(), strict=True)):
        want, got = _outcome(plain, theirs), _outcome(function, mine)
        if isinstance(want, Exception) and _is_told(want, got):
            return
        if isinstance(got, SymgradError) and not isinstance(want, Exception):
            raise Skipped(str(got).splitlines()[0][:90])
        if isinstance(got, Exception) or isinstance(want, Exception):
            raise Wrong(f"call {k}: {got!r}, plainly {want!r}")
        if not abs(want) < _LARGEST:
            return
        found = difference(content_of(got[0]), content_of(want), _CLOSE, kinds=False)
        if found is not None:
            raise Wrong(f"call {k}: the value is {found[0]}, plainly {found[1]}")
        _same_state(k, state_of_function(traced), state_of_function(plain))
        if k == 0:
            _same_slope(world, got[1])


def _is_told(want: Exception, got: object) -> bool:
    """Whether it is the user's own error, or one of ours that says the same."""
    return isinstance(got, type(want)) or (isinstance(got, SymgradError) and str(want) in str(got))


def _outcome(function, call):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*call)
        except Exception as error:
            return error


def _same_state(k: int, ours: dict, theirs: dict) -> None:
    nothing = ("text", "", "")
    for name in sorted((ours.keys() | theirs.keys()) - {"path"}):
        found = difference(ours.get(name, nothing), theirs.get(name, nothing), _CLOSE)
        if found is not None:
            raise Wrong(f"after call {k} {name} is {found[0]}, plainly {found[1]}")


def _same_slope(world: World, gradients: tuple) -> None:
    """At the first call, along a direction: each evaluation in a world of its own."""
    x, v, n, _ = world.calls()[0]
    dx, dv = 0.6, np.array([0.3, -0.8, 0.5])
    slopes = []
    for step in _STEPS:
        ends = []
        for sign in (1, -1):
            call = (x + sign * step * dx, v + sign * step * dv, n, world.calls()[0][3])
            end = _outcome(world.made(), call)
            if isinstance(end, Exception):
                return
            ends.append(float(end))
        slopes.append((ends[0] - ends[1]) / (2 * step))
    want = (4 * slopes[1] - slopes[0]) / 3
    largest = max(1.0, abs(want), abs(end))
    if abs(slopes[1] - slopes[0]) > 1e-3 * largest:
        return  # a kink or a jump
    got = float(gradients[0]) * dx + float(np.dot(gradients[1], dv))
    if not abs(got - want) <= _SLOPE * largest:
        raise Wrong(f"the slope is {got:.8g}, by differences {want:.8g}")


def _shown(world: World, message: str) -> str:
    """The program with every line left out that it fails without."""
    lines, kind = list(world.lines), message.split(" is ")[0]
    k = 0
    while k < len(lines):
        fewer = World(world.seed, lines[:k] + lines[k + 1 :])
        try:
            check(fewer)
        except Wrong as error:
            if str(error).split(" is ")[0] == kind:
                lines = fewer.lines
                continue
        except Exception:  # no program, or another one
            pass
        k += 1
    return f"seed {world.seed}: {message}\n{World(world.seed, lines).text}"

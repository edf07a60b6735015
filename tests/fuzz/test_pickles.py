"""Derivatives of random programs travel: pickled and copied, before and after a call, here and to another process."""

from __future__ import annotations

import copy
import importlib
import os
import pickle
import subprocess
import sys

import pytest
from checks import Skipped, called, same_bits
from fuzzing import report, seeds
from random_programs import Draw, Program, random_program

import symgrad as sg

_ROUND_TRIPS = {"pickle": lambda g: pickle.loads(pickle.dumps(g)), "copy": copy.copy, "deepcopy": copy.deepcopy}
_THERE = """
import pickle, sys
import numpy as np
with open(sys.argv[1], "rb") as file, np.errstate(all="ignore"):
    made = [[g(*given) for g in derivatives] for derivatives, given in pickle.load(file)]
with open(sys.argv[1], "wb") as file:
    pickle.dump(made, file)
"""


@pytest.fixture
def derived(tmp_path, monkeypatch):
    """The derivative of a random program that another process can import."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))

    def make(program: Program):
        name = f"{tmp_path.name}_{program.seed}"  # of another test it is another program
        (tmp_path / f"{name}.py").write_text(str(program))
        importlib.invalidate_caches()
        function = importlib.import_module(name).f
        return sg.value_and_grad(function, program.positions, backend="numpy")

    return make


def _compared(derived, share: float, draw: Draw):
    """Programs with their derivatives, and what those give; not those that are refused."""
    for seed in seeds(share):
        program = random_program(seed, draw)
        derivative = derived(program)
        try:
            called(derived(program), program)
        except Skipped:
            continue
        yield program, derivative


@pytest.mark.parametrize("kind", _ROUND_TRIPS)
def test_round_trips(kind, derived):
    travels, count = _ROUND_TRIPS[kind], 0
    for program, derivative in _compared(derived, 0.05, Draw()):
        early = travels(derivative)
        want = called(derivative, program)
        for when, travelled in (("before", early), ("after", travels(derivative))):
            same_bits(f"seed {program.seed}, sent {when} a call,", called(travelled, program), want)
        count += 1
    report(f"round trips by {kind}", count, 0, [])


def test_another_process(derived, tmp_path):
    sent, wanted = [], []
    for program, derivative in _compared(derived, 0.05, Draw(layouts=False)):  # a copy's elements lie in row order
        early = pickle.loads(pickle.dumps(derivative))
        wanted.append((program.seed, called(derivative, program)))
        sent.append(([early, derivative], program.point()))
    file = tmp_path / "sent"
    file.write_bytes(pickle.dumps(sent))
    subprocess.run([sys.executable, "-c", _THERE, str(file)], check=True, timeout=600)
    for results, (seed, want) in zip(pickle.loads(file.read_bytes()), wanted, strict=True):
        for k, got in enumerate(results):
            same_bits(f"seed {seed}, way {k},", got, want)

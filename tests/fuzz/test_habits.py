"""However a program is written, its value and its gradient are the same: arrays stacked, made, written, by ``math``."""

from __future__ import annotations

import collections
import re

import pytest
from checks import Skipped, Wrong
from fuzzing import report, seeds
from rewrites import Rewritten, check, random_program, rewrites, shrunk

_MAX_SHOWN = 5
#: the part of all programs that may be refused
_MAX_REFUSED = 0.02


def test_all_ways_give_the_same():
    wrong: list[tuple[Rewritten, Rewritten, str]] = []
    refused: collections.Counter[str] = collections.Counter()
    for seed in seeds(0.35):
        program = random_program(seed)
        for rewritten in rewrites(program):
            try:
                check(program, rewritten)
            except Skipped as error:
                if rewritten.surroundings.has_source:  # without, what has to be followed is refused
                    refused[_kind(str(error))] += 1
            except Wrong as error:
                wrong.append((program, rewritten, str(error)))
    for message, count in refused.most_common(20):
        print(f"\nrefused {count} times: {message}")
    if wrong:
        pytest.fail("\n\n".join(_shown(*found) for found in wrong[:_MAX_SHOWN]), pytrace=False)
    report("rewritten programs", len(seeds(0.35)), refused.total(), wrong, _MAX_REFUSED)


def _kind(message: str) -> str:
    """The line that is refused, without the names of its values."""
    return re.sub(r"\bv\d+", "v", message.splitlines()[-1].strip() + " | " + message[:80])


def _shown(program: Rewritten, rewritten: Rewritten, message: str) -> str:
    def fails(plain: Rewritten, candidate: Rewritten) -> bool:
        try:
            check(plain, candidate)
        except Wrong as error:
            return str(error)[:20] == message[:20]
        except Exception:
            return False
        return False

    return f"seed {program.seed}: {message}\n{shrunk(program, rewritten, fails)}"

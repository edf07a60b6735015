"""Random programs in numbers: how many, from which seed, and the report on those that fail.

Each test runs its share of ``SYMGRAD_FUZZ`` programs, 400 where that is not set, from the seed ``SYMGRAD_FUZZ_SEED``
or 0: ``SYMGRAD_FUZZ=20000 pytest tests/fuzz -s`` says how many were compared.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from checks import Skipped, Wrong
from random_programs import Draw, Program, random_program
from shrinking import shrunk

_COUNT = int(os.environ.get("SYMGRAD_FUZZ", "400"))
_SEED = int(os.environ.get("SYMGRAD_FUZZ_SEED", "0"))
#: of those that fail, so many are shown
_MAX_SHOWN = 5
#: the part of all programs that may be refused, or have a kink where they are differentiated
_MAX_SKIPPED = 0.15


def seeds(share: float) -> range:
    """The seeds of a test that runs this part of all programs."""
    return range(_SEED, _SEED + max(1, round(_COUNT * share)))


def expect_right(
    check: Callable[[Program], None], share: float, draw: Draw, most_skipped: float = _MAX_SKIPPED
) -> None:
    """Random programs pass ``check``; those that do not are shown, as small as they still fail."""
    skipped, wrong = 0, []
    for seed in seeds(share):
        program = random_program(seed, draw)
        try:
            check(program)
        except Skipped:
            skipped += 1
        except Wrong as error:
            wrong.append((program, str(error)))
    report(check.__name__, len(seeds(share)), skipped, wrong, most_skipped)
    if wrong:
        pytest.fail("\n\n".join(_shown(check, *found) for found in wrong[:_MAX_SHOWN]), pytrace=False)


def report(what: str, count: int, skipped: int, wrong: list, most_skipped: float = _MAX_SKIPPED) -> None:
    """Print the figures; most programs must have been compared."""
    print(f"\n{what}: {count} programs from seed {_SEED}, {skipped} not compared, {len(wrong)} wrong")
    assert skipped <= max(3, most_skipped * count)


def _shown(check: Callable[[Program], None], program: Program, message: str) -> str:
    kind = _kind(message)

    def fails(candidate: Program) -> bool:
        try:
            check(candidate)
        except Wrong as error:
            return _kind(str(error)) == kind
        except Skipped:
            return False
        return False

    return f"seed {program.seed}: {message}\n{shrunk(program, fails)}"


def _kind(message: str) -> str:
    """What a message says before the first number."""
    return "".join(c for c in message[:60] if not (c.isdigit() or c in "+-.e"))

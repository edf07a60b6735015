"""How near ``backend="auto"`` ends to the best backend, whatever the machine did while it chose.

    python tests/bench/choice.py WORKLOAD BUSY

Beside ``BUSY`` other processes that keep the machine busy, a fresh process makes the first calls on every backend, and
those of some seconds on ``auto``; all are timed after the others have ended. What is timed is what was chosen, not how
soon products have all threads of BLAS again: each backend is timed when they have (``symgrad.kernels.blas`` gives them
fewer for up to some seconds after they were held up, by other processes or by another backend's threads). Prints one
line of JSON: the steady time of each backend, and ``runs``, what ``auto`` ended with, and whether that never came.
"""

from __future__ import annotations

import contextlib
import json
import math
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

#: processes that keep the machine busy
BUSY = 2
#: seconds of calls before and after a kernel is built, and after the machine is idle again
WARM, IDLE = 2.0, 4.0
#: seconds that products may take at most to have all threads of BLAS again
SETTLE = 10.0
#: how often each backend is timed, and for how many seconds; the fastest call counts
ROUNDS, BURST = 3, 1.0
#: how often at most, where the ratio is beyond the goal: another process may have been in the way of some
MAX_ROUNDS = 9
#: how near ``auto`` is to be
GOAL = 1.1
#: the situations: beside how many busy processes, and whether the cache on disk is one that was written beside them
SITUATIONS = {
    "idle": (0, False),
    f"beside {BUSY}": (BUSY, False),
    "idle, cache of a busy machine": (0, True),
    f"beside {BUSY}, its cache": (BUSY, True),
}


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Meanwhile so many processes compute."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def measured(workload: str, others: int) -> dict[str, Any]:
    """The steady time of each backend, after first calls beside ``others``."""
    import structure
    import workloads
    from peers import BACKENDS, SYSTEMS
    from timing import interleaved

    work = (workloads.WORKLOADS | structure.WORKLOADS)[workload]
    args = work.args()
    with busy(others):
        calls = {backend: SYSTEMS[system](work, args)() for system, backend in BACKENDS.items()}
        for _ in range(2):
            _repeat(calls["auto"], WARM)
            calls["auto"].wait()
        for backend in calls:
            calls[backend]()
    _repeat(calls["auto"], IDLE)
    times: dict[str, list[float]] = {backend: [] for backend in calls}
    settled = True
    steady: dict[str, Any] = {}
    for number in range(MAX_ROUNDS):
        if number >= ROUNDS and over_best(steady) <= GOAL:
            break
        for backend, call in calls.items():
            settled = settle(calls["auto"]) and settled
            times[backend] += interleaved({backend: call}, 1, math.inf, BURST)[backend]
        steady = {backend: min(found) for backend, found in times.items()}
    runs = calls["auto"].function.kernel(*args).backend
    return steady | {"runs": runs if settled else f"{runs}, fewer threads of BLAS"}


def settle(call: Callable[[], Any]) -> bool:
    """Call until products have all threads of BLAS; False where they have not after ``SETTLE`` seconds."""
    from symgrad.kernels.blas import has_fewer_threads

    end = time.perf_counter() + SETTLE
    while has_fewer_threads() and time.perf_counter() < end:
        call()
    return not has_fewer_threads()


def _repeat(call: Callable[[], Any], seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        call()


def by_situation(workload: str) -> dict[str, dict[str, Any]]:
    """What is measured of a workload, each situation in a process of its own."""
    from fresh import said

    with tempfile.TemporaryDirectory() as quiet, tempfile.TemporaryDirectory() as loaded:
        found = {}
        for situation, (others, is_kept) in SITUATIONS.items():
            cache = loaded if others or is_kept else quiet
            found[situation] = said([__file__, workload, str(others)], cache)
        return found


def over_best(found: dict[str, Any]) -> float | None:
    """The time of ``auto`` over that of the best backend."""
    times = {backend: t for backend, t in found.items() if isinstance(t, float)}
    return times["auto"] / min(times.values()) if "auto" in times else None


def show(names: list[str]) -> bool:
    """Print the table of ratios; False where one is beyond the goal, or is not there."""
    from report import digits, table

    rows, good = [], True
    for name in names:
        found = by_situation(name)
        cells = []
        for known in found.values():
            ratio = over_best(known)
            good = good and ratio is not None and ratio <= GOAL
            cells.append(known["absent"] if ratio is None else f"{digits(ratio)} ({known['runs']})")
        rows.append([name, *cells])
        print("    ".join(rows[-1]), file=sys.stderr, flush=True)
    print(table(["workload", *SITUATIONS], rows))
    return good


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))

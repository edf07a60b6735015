"""How times grow: the steady time of ``wave`` with its size, the time to derive with the length of the program."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

SIZES = tuple(10**k for k in range(3, 8))
OPERATIONS = tuple(10**k for k in range(2, 6))
#: seconds; a system whose first call is expected to pass them, going by the one before, is asked for none
PATIENCE = 60.0


def straight_line(xp, x, steps):
    """``steps`` operations on a small array, one after another, each reading two results before it."""
    before = x
    for k in range(steps // 2):
        before, x = x, xp.sin(x) * before if k % 2 else xp.tanh(x) + before
    return xp.sum(x)


def mixed_line(xp, x, steps):
    """``steps`` operations on a small array, drawn one by one: no stretch of them comes again, so there is no loop."""
    draw = random.Random(0)
    last = [x] * 8
    for _ in range(steps):
        kind, other = draw.randrange(5), last[draw.randrange(8)]
        x = last[-1]
        x = [xp.sin, xp.tanh, xp.cos][kind](x) if kind < 3 else x * other if kind == 3 else x - other
        last = [*last[1:], x]
    return xp.sum(x)


def grow(systems: list[str], rounds: int, limit: float) -> None:
    """Print both tables, a line for each size as it is there."""
    print("wave, nanoseconds an element")
    _print_table("elements", SIZES, systems, lambda size, known: _by_size(size, known, rounds, limit))
    for what, line in (("a straight line of operations", straight_line), ("operations of no order", mixed_line)):
        print(f"\n{what}, first call in milliseconds")
        _print_table("operations", OPERATIONS, systems, partial(by_operations, line=line), patient)


def _print_table(
    what: str, sizes: tuple[int, ...], systems: list[str], measure: Callable, keep: Callable = list
) -> None:
    known = list(systems)
    print(f"{what:>10s}" + "".join(f"{s:>17s}" for s in systems))
    for size in sizes:
        times = measure(size, known)
        cells = [f"{times[s]:17.2f}" if s in times else f"{'–':>17s}" for s in systems]
        print(f"{size:10d}" + "".join(cells), flush=True)
        known = keep(times)


def patient(times: dict[str, float]) -> list[str]:
    """The systems whose first call of a program ten times as long may be awaited; ``times`` in milliseconds."""
    return [s for s, t in times.items() if 10 * t / 1e3 < PATIENCE]


def _by_size(size: int, systems: list[str], rounds: int, limit: float) -> dict[str, float]:
    import numpy as np
    from timing import interleaved
    from workloads import WORKLOADS

    work = WORKLOADS["wave"]
    calls = _called(work, work.args(size), systems)
    times = interleaved(calls, rounds, limit)
    return {s: float(np.median(t)) / size * 1e9 for s, t in times.items()}


def by_operations(steps: int, systems: list[str], line: Callable = straight_line) -> dict[str, float]:
    import numpy as np
    from peers import SYSTEMS, Call, NotThere
    from structure import Workload
    from timing import seconds

    def fn(xp: Any, x: Any) -> Any:
        return line(xp, x, steps)

    work = Workload(fn, lambda: (np.linspace(0.1, 1.0, 4),), (0,), "value_and_grad", {}, {})
    times = {}
    for system in systems:
        try:
            build = SYSTEMS[system](work, work.args())
            calls: list[Callable] = []
            taken = seconds(lambda build=build, calls=calls: (calls.append(build()), calls[0]()))
            if isinstance(calls[0], Call):
                calls[0].wait()  # what is compiled beside this call is not to run beside the next
        except (NotThere, ImportError):
            continue
        except RecursionError as error:
            print(f"# {steps} operations: {system}: {error}")
            continue
        times[system] = taken * 1e3
    return times


def _called(work: Any, args: tuple, systems: list[str]) -> dict[str, Callable]:
    """The calls of the systems that are there, each called once and ready."""
    from peers import SYSTEMS, Call, NotThere

    calls = {}
    for system in systems:
        try:
            call = SYSTEMS[system](work, args)()
            call()
        except (NotThere, ImportError):
            continue
        if isinstance(call, Call):
            call.wait()
        calls[system] = call
    return calls

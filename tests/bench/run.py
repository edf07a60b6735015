"""Time gradients side by side: first call, steady time, memory.

    python tests/bench/run.py [--only wave,gmm] [--systems symgrad,jax,hand] [--rounds 9] [--write] [--growth]

For each workload the values are compared; then each system has a fresh process for its first call and its peak memory
(``--quick`` leaves these out); then the systems are timed in one process, their rounds interleaved. What differs,
fails or is not installed is said and not timed. ``--write`` puts the tables between the markers of README.md and draws
docs/performance.svg. ``--growth`` times growing sizes and growing programs instead. ``--choice`` prints how near
``auto`` ends to the best backend, on these workloads and those of run_structure.py, idle and beside busy processes,
with no cache and with one that was written beside them; it exits with 1 where that is beyond 1.1. Exits with 1 where a
value of symgrad's differs.
"""

from __future__ import annotations

import argparse
import pathlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
#: how far values may be off the reference, relative to the largest entry of the array
TOLERANCE = {np.dtype(np.float32): 2e-3, np.dtype(np.float64): 1e-9}


def arrays(result: Any) -> list[np.ndarray]:
    """The arrays of a nested result of any system."""
    from structure import flat

    return [np.asarray(r.detach() if hasattr(r, "detach") else r) for r in flat(result)]


def apart(got: list[np.ndarray], want: list[np.ndarray], tolerance: float) -> str:
    """How two results differ, nothing where they agree."""
    shapes = [[a.shape for a in result] for result in (got, want)]
    if shapes[0] != shapes[1]:
        return f"shapes {shapes[0]}, not {shapes[1]}"
    for k, (a, b) in enumerate(zip(got, want, strict=True)):
        off, largest = float(np.max(np.abs(a - b), initial=0.0)), float(np.max(np.abs(b), initial=0.0))
        if not off <= tolerance * max(1.0, largest):
            return f"array {k} is off by {off:.1e} of {largest:.1e}"
    return ""


def calls_of(work: Any, args: tuple, systems: list[str]) -> tuple[dict[str, Callable], dict[str, str]]:
    """The calls of the systems whose values agree, and why the others are left out."""
    from peers import SYSTEMS, NotThere

    calls: dict[str, Callable] = {}
    absent: dict[str, str] = {}
    reference: list[np.ndarray] | None = None
    tolerance = TOLERANCE[args[work.wrt[0]].dtype]
    for system in systems:
        try:
            call = SYSTEMS[system](work, args)()
            result = arrays(call())
        except NotThere as error:
            absent[system] = str(error)
        except ImportError as error:
            absent[system] = f"not installed: {error}"
        except Exception as error:  # what a system cannot do is a result too
            absent[system] = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:160]}"
        else:
            reference = result if reference is None else reference
            difference = apart(result, reference, tolerance)
            if difference:
                absent[system] = f"the values DIFFER: {difference}"
            else:
                calls[system] = call
    return calls, absent


def measure(name: str, systems: list[str], rounds: int, limit: float, fresh: bool) -> Any:
    """All that is measured of one workload."""
    from fresh import in_fresh_process
    from peers import BACKENDS, Call, function_alone
    from report import Measured, Row, measured
    from timing import interleaved
    from workloads import WORKLOADS

    work = WORKLOADS[name]
    args = work.args()
    calls, absent = calls_of(work, args, systems)
    row = Row({s: Measured(absent=why) for s, why in absent.items()})
    for system in calls:
        row.systems[system] = measured(in_fresh_process(name, system)) if fresh else Measured()
    alone = {f"{s} alone": function_alone(work, args, b) for s, b in BACKENDS.items() if s in calls}
    everything = calls | alone
    for call in everything.values():
        call()
        if isinstance(call, Call):
            call.wait()
    steady = {label: float(np.median(t)) for label, t in interleaved(everything, rounds, limit).items()}
    for system in calls:
        row.systems[system].steady = steady[system]
    row.in_functions = {s: steady[s] / steady[f"{s} alone"] for s in BACKENDS if s in calls}
    return row


def show(name: str, row: Any) -> None:
    """One workload as lines."""
    from report import digits, duration, memory, ratios

    print(name)
    for why in dict.fromkeys(m.absent for m in row.systems.values() if m.absent):
        print(f"    # {', '.join(s for s, m in row.systems.items() if m.absent == why)}: {why}")
    for system, m in row.systems.items():
        if m.steady is None:
            continue
        columns = {"steady": duration(m.steady), "first": duration(m.first)}
        columns |= {"peak": memory(m.peak), "held": memory(m.held)}
        if system in row.in_functions:
            columns |= {f"/{what}": digits(r) for what, r in ratios(row, system).items()}
            columns["in functions"] = digits(row.in_functions[system])
        if m.again is not None:
            columns["again"] = duration(m.again)
        if m.compile_seconds:
            columns["compile"] = duration(m.compile_seconds)
        print(f"    {system:16s}" + "".join(f" {what} {text:>8s} " for what, text in columns.items()))
    print(flush=True)


def main() -> int:
    import choice
    import structure
    from growth import grow
    from peers import SYSTEMS
    from report import plot, replaced, section
    from workloads import WORKLOADS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds after which a system has no more rounds")
    parser.add_argument("--quick", action="store_true", help="steady times alone")
    parser.add_argument("--growth", action="store_true", help="growing sizes and growing programs instead")
    parser.add_argument("--choice", action="store_true", help="auto against every backend instead")
    parser.add_argument("--write", action="store_true", help="write README.md and docs/performance.svg")
    a = parser.parse_args()
    every = WORKLOADS | structure.WORKLOADS if a.choice else WORKLOADS
    names, systems = a.only.split(",") if a.only else list(every), a.systems.split(",")
    for given, known in ((names, every), (systems, SYSTEMS)):
        if unknown := [n for n in given if n not in known]:
            parser.error(f"unknown: {', '.join(unknown)}; choose among {', '.join(known)}")
    if a.write and (a.quick or a.growth or a.choice or set(names) != set(WORKLOADS)):
        parser.error("--write is for a whole run, of every workload")
    warnings.simplefilter("ignore")  # the peers' own, of their own code
    if a.choice:
        return 0 if choice.show(names) else 1
    if a.growth:
        grow(systems, a.rounds, a.limit)
        return 0
    rows = {}
    for name in names:
        rows[name] = measure(name, systems, a.rounds, a.limit, not a.quick)
        show(name, rows[name])
    if a.write:
        readme = ROOT / "README.md"
        made = section(rows, "python tests/bench/run.py --write", a.rounds)
        readme.write_text(replaced(readme.read_text(), made))
        plot(rows, ROOT / "docs" / "performance.svg")
    wrong = [(n, s) for n, r in rows.items() for s, m in r.systems.items() if "DIFFER" in m.absent]
    return 1 if any(s.startswith("symgrad") for _, s in wrong) else 0


if __name__ == "__main__":
    raise SystemExit(main())

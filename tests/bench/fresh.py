"""A first call, and the memory of calls, in a process of their own.

    python tests/bench/fresh.py WORKLOAD SYSTEM

Prints one line of JSON: ``first``, the seconds of the first call after the system is imported and has its arguments;
``peak``, the most bytes in memory during three calls after it, beyond what was in memory before it; ``held``, what of
them is still there when the results are gone: code, caches, buffers that are kept; ``compile_seconds`` where symgrad
says them.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import warnings
from typing import Any

CALLS = 3


def measured(workload: str, system: str) -> dict[str, Any]:
    """What this process measures; it should have done nothing before."""
    from peers import SYSTEMS, Call
    from timing import peak_during, resident, seconds
    from workloads import WORKLOADS

    work = WORKLOADS[workload]
    build = SYSTEMS[system](work, work.args())
    gc.collect()
    before = resident()
    calls: list[Any] = []
    first = seconds(lambda: (calls.append(build()), calls[0]()))
    (call,) = calls
    if isinstance(call, Call):
        call.wait()

    def repeated() -> None:
        for _ in range(CALLS):
            call()

    peak = peak_during(repeated) - before
    gc.collect()
    result = {"first": first, "peak": peak, "held": resident() - before}
    if isinstance(call, Call):
        result["compile_seconds"] = call.compile_seconds()
    return result


def in_fresh_process(workload: str, system: str) -> dict[str, Any]:
    """What ``measured`` says in a process that finds no cache on disk; ``again`` is the first call of the next one."""
    with tempfile.TemporaryDirectory() as cache:
        command = [__file__, workload, system]
        known = said(command, cache)
        if "first" in known and os.listdir(cache):
            known["again"] = said(command, cache).get("first")
    return known


def said(command: list[str], cache: str, limit: float = 300.0) -> dict[str, Any]:
    """What a script prints as JSON, run in a process that has ``cache``; why it does not where it does not."""
    environment = {**os.environ, "SYMGRAD_CACHE_DIR": cache}
    try:
        done = subprocess.run(
            [sys.executable, *command], env=environment, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return {"absent": f"not done after {limit:.0f} s"}
    if done.returncode:
        return {"absent": (done.stderr.strip().splitlines() or ["it died"])[-1][:160]}
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measured(*sys.argv[1:])))

"""Weak scaling of a gradient over Dask's workers: measured on few, and what a model fitted to that says of many.

    python tests/bench/scaling.py [--workers 1,2] [--rows 2000000] [--rounds 5]

Each worker, a process with one thread, holds ``--rows`` rows of 32 columns in blocks; the gradient of logistic
regression runs over all. The model: a worker computes its bytes at ``speed`` and spends ``own`` seconds a task; the
scheduler spends ``central`` seconds a task, one after another; the last sums go up a tree of ``FAN_IN`` with ``step``
seconds a level. The call takes as long as the slower of workers and scheduler, and the tree. ``speed`` and ``own``
are fitted to one worker with long and with short blocks, ``central`` and ``step`` measured with tasks that do nothing.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

import symgrad as sg
from symgrad.chunked.dask_arrays import FAN_IN

COLUMNS = 32
BLOCKS = (4, 8, 32, 128)
MANY = (1, 2, 10, 100, 1000)


def loss(w, X, y):
    return np.mean(np.log1p(np.exp(-y * (X @ w))))


def seconds_of_a_call(client, workers: int, rows: int, blocks: int, rounds: int) -> float:
    """The median time of a gradient over ``blocks`` blocks a worker, which the workers hold."""
    import dask.array as da

    length = rows // blocks
    X = da.random.default_rng(0).random((rows * workers, COLUMNS), chunks=(length, COLUMNS)).persist()
    y = da.ones(rows * workers, chunks=length).persist()
    gradient = sg.grad(loss)
    taken = []
    for k in range(rounds + 1):
        w = np.full(COLUMNS, 0.01 * k)  # what was computed once is kept
        start = time.perf_counter()
        client.compute(gradient(w, X, y)).result()
        taken.append(time.perf_counter() - start)
    return float(np.median(taken[1:]))


def seconds_of_nothing(client, count: int, depth: int, rounds: int) -> tuple[float, float]:
    """What the scheduler takes a task that does nothing, and a step of a chain that goes from worker to worker."""
    taken = []
    for k in range(rounds):
        start = time.perf_counter()
        client.gather(client.map(_nothing, range(k * count, (k + 1) * count), pure=False))
        taken.append((time.perf_counter() - start) / count)
    steps = []
    for _ in range(rounds):
        start = time.perf_counter()
        value = client.submit(_nothing, 0, pure=False)
        for _ in range(depth):
            value = client.submit(_nothing, value, pure=False)
        value.result()
        steps.append((time.perf_counter() - start) / depth)
    return float(np.median(taken)), float(np.median(steps))


def _nothing(value):
    return value


def fitted(times: dict[int, float], size: float) -> tuple[float, float]:
    """Bytes a second, and seconds a task, of one worker: least squares of ``size / speed + blocks · own``."""
    blocks = np.array(list(times))
    (constant, own), *_ = np.linalg.lstsq(np.stack([np.ones(len(blocks)), blocks], 1), np.array(list(times.values())))
    return size / constant, own


def model(workers: int, blocks: int, size: float, speed: float, own: float, central: float, step: float) -> tuple:
    """Seconds of a call, what binds it, and the seconds of workers, scheduler and tree."""
    tasks = workers * blocks * (1 + 1 / FAN_IN + 1 / FAN_IN**2)
    parts = {
        "workers": size / speed + blocks * own,
        "scheduler": tasks * central,
    }
    tree = step * max(1, math.ceil(math.log(max(workers * blocks, 2), FAN_IN)))
    binds = max(parts, key=parts.__getitem__)
    return parts[binds] + tree, "tree" if tree > parts[binds] else binds, {**parts, "tree": tree}


def main() -> None:
    import distributed

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    size = options.rows * (COLUMNS + 1) * 8
    measured: dict[int, dict[int, float]] = {}
    central = step = math.nan
    for workers in map(int, options.workers.split(",")):
        with (
            distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
            distributed.Client(cluster) as client,
        ):
            measured[workers] = {
                blocks: seconds_of_a_call(client, workers, options.rows, blocks, options.rounds) for blocks in BLOCKS
            }
            central, step = seconds_of_nothing(client, 1000, 50, options.rounds)
    speed, own = fitted(measured[1], size)
    costs = {"own": own, "central": central, "step": step}
    print(f"speed {speed / 2**30:.2f} GiB/s,", ", ".join(f"{name} {1e3 * cost:.2f} ms" for name, cost in costs.items()))
    for workers in sorted({*measured, *MANY}):
        for blocks in BLOCKS:
            taken, binds, _ = model(workers, blocks, size, speed, own, central, step)
            known = measured.get(workers, {}).get(blocks)
            said = f"{known * 1e3:8.0f} ms measured" if known else ""
            print(f"{workers:5d} workers, {blocks:4d} blocks each: {taken * 1e3:8.0f} ms, by the {binds:9s} {said}")


if __name__ == "__main__":
    main()

"""The gradient of logistic regression over a file: symgrad's blocks beside the formula by hand and JAX, and the disk.

    python tests/bench/larger.py [--gib 20] [--block 64] [--folder /tmp] [--systems symgrad,hand,jax,disk,kernel]

Writes ``--gib`` of random rows to a file in ``--folder`` once, and reads it anew for each system, whose pages the
system is asked to forget before. ``disk`` reads and computes nothing, ``kernel`` computes on one block again and again
and reads nothing. ``hand`` is the loop over blocks that one would write with NumPy, as dask-glm has it. Prints seconds,
GiB a second and the most memory that was held besides the file's pages; the gradients are compared.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import symgrad as sg

COLUMNS = 128
GIB = 2**30


def loss(w: sg.Array["d"], X: sg.Array["n d"], y: sg.Array["n"]):
    return np.mean(np.log1p(np.exp(-y * (X @ w))))


def written(folder: Path, gib: float) -> tuple[Path, np.ndarray]:
    """A file of rows, and their labels; it is written where it is not there."""
    rows = int(gib * GIB) // (8 * COLUMNS)
    path = folder / f"rows-{rows}.npy"
    if not path.exists():
        made = np.lib.format.open_memmap(path, "w+", np.float64, (rows, COLUMNS))
        rng = np.random.default_rng(0)
        for at in range(0, rows, 100_000):
            made[at : at + 100_000] = rng.random((min(100_000, rows - at), COLUMNS)) - 0.5
        made.flush()
    return path, np.where(np.arange(rows) % 3, 1.0, -1.0)


def forgotten(path: Path) -> None:
    """Ask the system to read the file from the disk the next time."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def held() -> int:
    """The bytes of this process that are no pages of files."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def by_symgrad(block: int) -> Callable:
    return sg.grad(loss, backend="native").in_chunks(n=block)


def by_hand(block: int) -> Callable:
    def gradient(w, X, y):
        total = np.zeros_like(w)
        for at in range(0, len(X), block):
            own, labels = X[at : at + block], y[at : at + block]
            total += own.T @ (-labels / (1 + np.exp(labels * (own @ w))))
        return total / len(X)

    return gradient


def by_jax(block: int) -> Callable:
    import jax

    @jax.jit
    def part(w, X, y):
        return jax.grad(lambda w: jax.numpy.sum(jax.numpy.log1p(jax.numpy.exp(-y * (X @ w)))))(w)

    def gradient(w, X, y):
        total = 0.0
        for at in range(0, len(X), block):
            total += part(w, X[at : at + block], y[at : at + block])
        return np.asarray(total) / len(X)

    return gradient


def by_the_disk(block: int) -> Callable:
    def read(w, X, y):
        into = np.empty((block, COLUMNS))
        with open(X.filename, "rb", buffering=0) as file:
            file.seek(X.offset)
            while file.readinto(memoryview(into).cast("B")):
                pass
        return None

    return read


def by_the_kernel(block: int) -> Callable:
    inner = sg.grad(loss, backend="native")

    def repeated(w, X, y):
        own, labels = np.array(X[:block]), y[:block]
        for _ in range(0, len(X), block):
            inner(w, own, labels)
        return None

    return repeated


SYSTEMS = {"disk": by_the_disk, "kernel": by_the_kernel, "symgrad": by_symgrad, "hand": by_hand, "jax": by_jax}


def measured(system: str, path: Path, y: np.ndarray, block: int) -> tuple[float, int, np.ndarray | None]:
    """Seconds, the most bytes held beyond what was before, and the gradient."""
    w = np.linspace(-1, 1, COLUMNS)
    X = np.load(path, mmap_mode="r")
    run = SYSTEMS[system](block)
    run(w, X[: 2 * block], y[: 2 * block])  # compiled, and warm
    forgotten(path)
    before, most, over = held(), [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            most[0] = max(most[0], held() - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    try:
        found = run(w, X, y)
        taken = time.perf_counter() - start
    finally:
        over.set()
        watcher.join()
    return taken, most[0], found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gib", type=float, default=20)
    parser.add_argument("--block", type=float, default=64, help="MiB")
    parser.add_argument("--folder", type=Path, default=Path("/tmp"))
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    if "jax" in options.systems:
        import jax

        jax.config.update("jax_enable_x64", True)
    path, y = written(options.folder, options.gib)
    block = int(options.block * 2**20) // (8 * COLUMNS)
    wanted = None
    for _ in range(options.rounds):
        for system in options.systems.split(","):
            seconds, most, found = measured(system, path, y, block)
            print(f"{system:8s} {seconds:7.1f} s  {options.gib / seconds:5.2f} GiB/s  {most / 2**20:6.0f} MiB held")
            if found is not None:
                wanted = found if wanted is None else wanted
                np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-15)


if __name__ == "__main__":
    main()

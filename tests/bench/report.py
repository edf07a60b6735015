"""Measurements as a table in Markdown, a picture, and a section of the README."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

BEGIN, END = "<!-- performance:begin -->", "<!-- performance:end -->"
OWN = "symgrad"
PACKAGES = ("numpy", "numexpr", "sympy", "jax", "torch", "autograd", "casadi")


@dataclass
class Measured:
    """What is known of one system on one workload: seconds and bytes, None where it was not measured."""

    steady: float | None = None
    first: float | None = None
    again: float | None = None
    peak: int | None = None
    held: int | None = None
    compile_seconds: float | None = None
    absent: str = ""


@dataclass
class Row:
    """One workload: its systems by name, and the cost of its derivative in evaluations of the function."""

    systems: dict[str, Measured] = field(default_factory=dict)
    in_functions: dict[str, float] = field(default_factory=dict)

    def steady(self) -> dict[str, float]:
        """The steady times that were measured."""
        return {name: m.steady for name, m in self.systems.items() if m.steady is not None}


def is_peer(system: str) -> bool:
    """True for another library; a formula by hand is none."""
    return not system.startswith(OWN) and system != "hand"


def best_peer(row: Row) -> str | None:
    """The other library that is fastest."""
    peers = {name: t for name, t in row.steady().items() if is_peer(name)}
    return min(peers, key=peers.__getitem__) if peers else None


def ratios(row: Row, own: str = OWN) -> dict[str, float]:
    """The steady time of ``own`` over those of the best peer, of autograd and of the formula by hand."""
    steady, best = row.steady(), best_peer(row)
    if own not in steady:
        return {}
    others = {"best": best, "autograd": "autograd", "hand": "hand"}
    return {what: steady[own] / steady[name] for what, name in others.items() if name in steady}


# text

_LABELS = {"hand": "NumPy by hand", "sympy_math": "lambdify (math)", "sympy_numpy": "lambdify (numpy)"}


def title(system: str) -> str:
    """What a system is called."""
    return _LABELS.get(system, system.replace("symgrad_", "symgrad, "))


def duration(seconds: float | None) -> str:
    """Three digits and a unit."""
    if seconds is None:
        return "–"
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9)):
        if seconds * factor >= 0.9995 or unit == "ns":
            return f"{digits(seconds * factor)} {unit}"
    raise AssertionError


def memory(count: int | None) -> str:
    """Mebibytes."""
    return "–" if count is None else f"{digits(count / 2**20)} MiB"


def digits(value: float) -> str:
    """Three digits, two of a small number."""
    for below, places in ((0.0995, "2g"), (9.995, "2f"), (99.95, "1f")):
        if abs(value) < below:
            return f"{value:.{places}}"
    return f"{value:.0f}"


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table, the first column to the left and the others to the right."""
    header = list(header)
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def summary(rows: Mapping[str, Row]) -> str:
    """Two tables, a line a workload: steady time beside the other systems', and first call and memory."""
    header = ["workload", OWN, "best of the others", "its ratio", "autograd's", "by hand"]
    steady = table([*header, "cost in functions"], (_steady_line(name, row) for name, row in rows.items()))
    header = ["workload", "first call", "next process", "best's first call", "peak memory", "best's peak"]
    return "\n\n".join([steady, table(header, (_first_line(name, row) for name, row in rows.items()))])


def _steady_line(name: str, row: Row) -> list[str]:
    own, best, over = row.systems.get(OWN, Measured()), best_peer(row), ratios(row)
    shown = [digits(1 / over[k]) if k in over else "–" for k in ("best", "autograd", "hand")]
    peer = f"{title(best)} {duration(row.systems[best].steady)}" if best else "–"
    cost = digits(row.in_functions[OWN]) if OWN in row.in_functions else "–"
    return [name, duration(own.steady), peer, *shown, cost]


def _first_line(name: str, row: Row) -> list[str]:
    own, best = row.systems.get(OWN, Measured()), best_peer(row)
    other = row.systems[best] if best else Measured()
    firsts = [duration(own.first), duration(own.again), duration(other.first)]
    return [name, *firsts, memory(own.peak), memory(other.peak)]


def everything(rows: Mapping[str, Row], what: str) -> str:
    """One line a workload, one column a system; ``what`` is ``steady``, ``first``, ``peak`` or ``held``."""
    spelled = memory if what in ("peak", "held") else duration
    known = dict.fromkeys(s for row in rows.values() for s, m in row.systems.items() if getattr(m, what) is not None)
    lines = ([name, *(spelled(getattr(row.systems.get(s), what, None)) for s in known)] for name, row in rows.items())
    return table(["workload", *map(title, known)], lines)


def section(rows: Mapping[str, Row], command: str, rounds: int) -> str:
    """What stands between the markers of the README."""
    parts = [
        f"{BEGIN}",
        "![Steady time of each system over that of symgrad, a workload at a time](docs/performance.svg)",
        summary(rows),
        f"Steady time is the median of {rounds} interleaved rounds in one process. A *ratio* is the other's time over "
        "symgrad's: above 1 symgrad is faster. *By hand* is the gradient written in NumPy; *cost in functions* is the "
        "gradient's time over that of the function alone on the same backend. The *first call* is that of a fresh "
        "process after its imports (trace, derive, compile, run), *next process* that of the one after it, which finds "
        "on disk what was kept. *Peak memory* is what three further calls need in memory at most beyond "
        "what the fresh process had before the first; it includes code and caches.",
        "<details><summary>Every system: steady time, first call, peak memory</summary>",
        *(everything(rows, what) for what in ("steady", "first", "peak")),
        "</details>",
        f"Measured by `{command}` on {machine()}; {versions()}.",
        f"{END}",
    ]
    return "\n\n".join(parts)


def machine() -> str:
    """The machine in neutral words."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores ({platform.machine()}, vectors of {vector_bits()} bits), {platform.system()}"


def vector_bits() -> int:
    """How wide the vectors of the processor are."""
    flags = pathlib.Path("/proc/cpuinfo").read_text().split() if os.path.exists("/proc/cpuinfo") else []
    return 512 if "avx512f" in flags else 256 if "avx2" in flags else 128


def versions() -> str:
    """Python and the packages that are installed."""
    installed = []
    for package in PACKAGES:
        try:
            installed.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join([f"Python {platform.python_version()}", *installed])


def replaced(text: str, made: str) -> str:
    """``text`` with what stands between the markers, and the markers, replaced; each is there once."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"the text needs one {BEGIN} and after it one {END}.")
    return text[: text.index(BEGIN)] + made + text[text.index(END) + len(END) :]


# the picture

_COLOURS = {"hand": "#9aa0a6", "jax": "#4c78a8", "torch": "#e45756", "autograd": "#54a24b", "casadi": "#b279a2"}


def plot(rows: Mapping[str, Row], path: pathlib.Path) -> None:
    """Bars of each system's steady time over symgrad's, on a logarithmic axis."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "symgrad"
    import matplotlib.pyplot as plt

    shown = {name: row for name, row in rows.items() if OWN in row.steady()}
    systems = [s for s in ("hand", *_peers(shown)) if any(s in row.steady() for row in shown.values())]
    figure, axes = plt.subplots(figsize=(8.0, 3.4), layout="constrained", facecolor="white")
    width = 0.8 / max(len(systems), 1)
    for k, system in enumerate(systems):
        places = [i for i, row in enumerate(shown.values()) if system in row.steady()]
        over = [row.steady()[system] / row.steady()[OWN] for row in shown.values() if system in row.steady()]
        left = [i + (k - (len(systems) - 1) / 2) * width for i in places]
        axes.bar(left, [r - 1 for r in over], width, 1, label=title(system), color=_COLOURS.get(system))
    axes.set_yscale("log")
    axes.axhline(1, color="black", linewidth=1)
    axes.set_xticks(range(len(shown)), list(shown))
    axes.set_ylabel("time over symgrad's\n(above 1: symgrad is faster)")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(axis="y", color="#dddddd")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(ncols=len(systems), fontsize="small", frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    figure.savefig(path, format="svg", metadata={"Date": None})
    plt.close(figure)


def _peers(rows: Mapping[str, Row]) -> list[str]:
    return list(dict.fromkeys(s for row in rows.values() for s in row.steady() if is_peer(s)))


def measured(known: Mapping[str, Any]) -> Measured:
    """What a fresh process said, as far as it said something."""
    return Measured(**{k: v for k, v in known.items() if k in Measured.__dataclass_fields__})

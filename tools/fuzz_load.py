"""Feed ``symgrad.load`` with mutated and random documents, and say what came of them.

    .venv/bin/python tools/fuzz_load.py [--documents 100000] [--seed 0] [--megabytes 2000]

A document must give a LoadError (or a MissingPart), or a function whose Program the verifier passes. Anything else is
written to the folder that is named at the end, and the run exits with 1: another exception, memory, time, or an event
that a reader has no business with (code that is compiled or executed, an import, a file, a process, a socket).
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import resource
import sys
import tempfile
import time
import tracemalloc

import fuzz_documents

from symgrad.errors import LoadError, MissingPart
from symgrad.loading.document import read_document
from symgrad.loading.function import LoadedFunction
from symgrad.program.verify import verify

#: what a reader may not do, by the beginning of the name of its audit event
FORBIDDEN = (
    *("compile", "exec", "import", "open", "os.", "subprocess", "socket", "shutil", "ctypes", "pickle", "marshal"),
    *("code.", "function.__new__", "urllib", "http", "ftplib", "sqlite3", "tempfile", "glob", "pathlib"),
)
#: seconds of the processor and megabytes that one document may take
MAX_SECONDS, MAX_MEGABYTES = 10.0, 200.0


class Audit:
    """Counts forbidden events between ``begin`` and ``end``; the hook itself cannot be taken out again."""

    def __init__(self) -> None:
        self.active = False
        self.seen: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple) -> None:
        if self.active and event.startswith(FORBIDDEN):
            self.seen.append(f"{event} {args[:1]!r}"[:200])


class Outcome:
    """What came of one document: ``kind`` in words, ``problem`` where it must not be."""

    def __init__(self, content: bytes, audit: Audit) -> None:
        self.problem = ""
        audit.seen.clear()
        tracemalloc.reset_peak()
        held, begun = tracemalloc.get_traced_memory()[0], time.process_time()
        audit.active = True
        try:
            self.kind = self._read(content)
        except BaseException as error:
            self.kind = type(error).__name__
            self.problem = f"{type(error).__name__}: {error}"[:500]
        finally:
            audit.active = False
        self.seconds = time.process_time() - begun
        self.megabytes = (tracemalloc.get_traced_memory()[1] - held) / 2**20
        if audit.seen:
            self.problem = f"it did {audit.seen[0]}"
        elif self.seconds > MAX_SECONDS or self.megabytes > MAX_MEGABYTES:
            self.problem = f"it took {self.seconds:.1f} s and {self.megabytes:.0f} MB"

    def _read(self, content: bytes) -> str:
        try:
            document = read_document(content)
        except LoadError as error:
            if not str(error).isprintable():
                self.problem = f"an error that cannot be shown: {str(error)!r}"[:500]
            return "LoadError"
        except MissingPart:
            return "MissingPart"
        program, conditions = document.read.program, document.read.conditions
        verify(program.with_outputs((*program.outputs, *conditions)))
        LoadedFunction(document)
        return "a function"


def main() -> int:
    """Run it; 1 where there was a problem."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--megabytes", type=int, default=2000, help="what the process may grow by")
    options = parser.parse_args()
    valid = fuzz_documents.documents()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fuzz_load_"))
    audit = Audit()
    tracemalloc.start()
    used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = used + options.megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    outcomes: collections.Counter[tuple[str, str]] = collections.Counter()
    problems, slowest, largest, begun = 0, 0.0, 0.0, time.perf_counter()
    for k, (way, content) in enumerate(fuzz_documents.made_documents(valid, options.documents, options.seed)):
        outcome = Outcome(content, audit)
        outcomes[way, outcome.kind] += 1
        slowest, largest = max(slowest, outcome.seconds), max(largest, outcome.megabytes)
        if outcome.problem:
            problems += 1
            (folder / f"{k}.json").write_bytes(content)
            print(f"{k} ({way}): {outcome.problem}", flush=True)
    _report(outcomes)
    print(f"{options.documents} documents in {time.perf_counter() - begun:.0f} s", end="; ")
    print(f"at most {slowest:.2f} s and {largest:.1f} MB for one; {problems} problems, in {folder}")
    return 1 if problems else 0


def _report(outcomes: collections.Counter) -> None:
    kinds = sorted({kind for _, kind in outcomes})
    for way in dict.fromkeys(way for way, _ in outcomes):
        print(f"{way:28}" + "".join(f"{kind}: {outcomes[way, kind]:<9}" for kind in kinds if outcomes[way, kind]))
    print(", ".join(f"{sum(n for (_, k), n in outcomes.items() if k == kind)} {kind}" for kind in kinds))


if __name__ == "__main__":
    sys.exit(main())

"""Exported C functions, many compiled in one call of the compiler, called on NumPy arrays."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from exportables import Exportable

from symgrad.emit.loops.language import Array, Name
from symgrad.exporters.c import source
from symgrad.exporters.c.names import names_of
from symgrad.exporters.sources import Sources
from symgrad.program.dims import value_of

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
OPTIMIZED = ("-O1", "-fopenmp-simd")


def run(command: Sequence[str], folder: Path, **options) -> str:
    """What a command prints; an AssertionError that holds it all where it fails."""
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, **options)
    assert made.returncode == 0, f"{' '.join(command)}\n{made.stdout[-3000:]}\n{made.stderr[-6000:]}"
    return made.stdout


class Compiled:
    """Exports as one shared library."""

    def __init__(
        self, exports: Sequence[Exportable], folder: Path, flags: Sequence[str] = ("-O1", "-fopenmp-simd")
    ) -> None:
        self.names = {e.subject.name: names_of(e.subject) for e in exports}
        assert len(self.names) == len(exports)
        files = []
        for e in exports:
            made = source(e.subject)
            assert isinstance(made, Sources)
            for name, text in made.items():
                (folder / name).write_text(text, encoding="utf-8")
            files.append(f"{e.subject.stem}.c")
        run(["cc", *FLAGS, *flags, "-fPIC", "-shared", *files, "-lm", "-o", "exports.so"], folder)
        self._library = ctypes.CDLL(str(folder / "exports.so"))

    def status(self, name: str, inputs: Sequence[np.ndarray]) -> str:
        """The status of a call of which nothing may be copied."""
        return self(name, inputs, copied=False)[0]

    def __call__(self, name: str, inputs: Sequence[np.ndarray], copied: bool = True) -> tuple[str, list[np.ndarray]]:
        """The status of a call, as the loop language calls it, and the outputs."""
        names = self.names[name]
        sizes: dict = {}
        for node, given in zip(names.program.inputs, inputs, strict=True):
            sizes.update({d: n for d, n in zip(node.shape, np.shape(given), strict=True) if d in names.dims})
        arguments: list = [ctypes.c_size_t(sizes[d]) for d in names.dims]
        held = []
        for declared, given in zip(names.routine.inputs, inputs, strict=True):
            if isinstance(declared, Name):
                arguments.append(_number(given, declared.dtype))
            else:
                held.append(np.array(given, declared.dtype, order="C") if copied else given)
                arguments.append(held[-1].ctypes.data_as(ctypes.c_void_p))
        outputs = [self._room(out, sizes) for out in names.routine.outputs]
        arguments += [out.ctypes.data_as(ctypes.c_void_p) for out in outputs]
        status = getattr(self._library, names.function)(*arguments)
        spelled = {number: status for status, number in names.numbers.items()}
        return spelled[status], outputs

    def _room(self, out: Array, sizes: dict) -> np.ndarray:
        shape = tuple(max(0, value_of(d, sizes)) for d in out.shape)
        made = np.empty(shape, out.dtype)
        made.view(np.uint8).fill(0xA5) if made.size and made.ndim else None
        return made


def _number(given: np.ndarray, dtype: np.dtype):
    kinds = {"float64": ctypes.c_double, "float32": ctypes.c_float, "bool": ctypes.c_bool}
    kind = kinds.get(dtype.name) or getattr(ctypes, f"c_{dtype.name}")
    return kind(np.asarray(given, dtype).item())

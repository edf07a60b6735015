"""Exported Fortran subroutines, many compiled in one call of the compiler, called on NumPy arrays."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from exportables import Exportable

from symgrad.exporters.fortran import source
from symgrad.exporters.fortran.names import RESERVED
from symgrad.exporters.loops.language import STATUSES, Array
from symgrad.exporters.printed import Signature
from symgrad.program.dims import value_of

FLAGS = ["-std=f2008", "-Wall", "-Wextra", "-Werror"]


def run(command: Sequence[str], folder: Path, **options) -> str:
    """What a command prints; an AssertionError that holds it all where it fails."""
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, **options)
    assert made.returncode == 0, f"{' '.join(command)}\n{made.stdout[-3000:]}\n{made.stderr[-6000:]}"
    return made.stdout


class Compiled:
    """Exports as one shared library."""

    def __init__(self, exports: Sequence[Exportable], folder: Path, flags: Sequence[str] = ("-O1",)) -> None:
        self.signatures = {}
        text = ""
        for e in exports:
            assert e.subject.name not in self.signatures
            signature = Signature.of(e.subject, RESERVED, 50, caseless=True)
            self.signatures[e.subject.name] = (signature, signature.routine())
            files = source(replace(e.subject, document=True))
            assert isinstance(files, dict)
            text += next(iter(files.values()))
        (folder / "exports.f90").write_text(text, encoding="ascii")
        command = ["gfortran", *FLAGS, *flags, "-fPIC", "-shared", "exports.f90", "-o", "exports.so"]
        run(command, folder)
        self._library = ctypes.CDLL(str(folder / "exports.so"))

    def __call__(self, name: str, inputs: Sequence[np.ndarray]) -> tuple[str, list[np.ndarray]]:
        """The status of a call, as the loop language calls it, and the outputs."""
        signature, routine = self.signatures[name]
        sizes: dict = {}
        for node, given in zip(signature.program.inputs, inputs, strict=True):
            sizes.update({d: n for d, n in zip(node.shape, np.shape(given), strict=True) if d in signature.dims})
        held = [np.array(sizes[d], np.int64) for d in signature.dims]
        held += [_stored(given, a.dtype) for a, given in zip(routine.inputs, inputs, strict=True)]
        outputs = [_room(out, sizes) for out in routine.outputs]
        info = np.array(-1, np.int32)
        arguments = [a.ctypes.data_as(ctypes.c_void_p) for a in [*held, *outputs, info]]
        own = signature.name.lower()
        getattr(self._library, f"__{own}_module_MOD_{own}")(*arguments)
        status = ["", *STATUSES][int(info)]
        return status, [o.astype(a.dtype, order="C") for o, a in zip(outputs, routine.outputs, strict=True)]


def _stored(given: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """An argument in memory as Fortran has it: by columns, truth values in four bytes."""
    return np.array(given, np.int32 if dtype.kind == "b" else dtype, order="F")


def _room(out: Array, sizes: dict) -> np.ndarray:
    shape = tuple(max(0, value_of(d, sizes)) for d in out.shape)
    return np.full(shape, 77, np.int32 if out.dtype.kind == "b" else out.dtype, order="F")

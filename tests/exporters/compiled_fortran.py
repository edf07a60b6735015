"""Exported Fortran interfaces and the C behind them, many compiled together, called from Fortran on NumPy arrays."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from exportables import Exportable

from symgrad.emit.loops.language import STATUSES, Array, Name
from symgrad.exporters.c.names import names_of
from symgrad.exporters.fortran import source
from symgrad.exporters.fortran.spelling import type_of
from symgrad.program.dims import value_of

FLAGS = ["-std=f2008", "-Wall", "-Wextra", "-Werror"]


def run(command: Sequence[str], folder: Path, **options) -> str:
    """What a command prints; an AssertionError that holds it all where it fails."""
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, **options)
    assert made.returncode == 0, f"{' '.join(command)}\n{made.stdout[-3000:]}\n{made.stderr[-6000:]}"
    return made.stdout


class Compiled:
    """Exports as one shared library, each beside a Fortran procedure that calls it through its module."""

    def __init__(self, exports: Sequence[Exportable], folder: Path, flags: Sequence[str] = ("-O1",)) -> None:
        self.names = {e.subject.name: names_of(e.subject) for e in exports}
        self.modules: dict[str, str] = {}
        assert len(self.names) == len(exports)
        text, files = "", []
        for k, e in enumerate(exports):
            module, function, _ = source(e.subject).values()
            self.modules[e.subject.name] = module
            (folder / f"{k}.c").write_text(function, encoding="utf-8")
            files.append(f"{k}.c")
            text += module + _calling(k, module, self.names[e.subject.name].routine)
        (folder / "exports.f90").write_text(text, encoding="ascii")
        run(["cc", "-std=c99", *flags, "-fPIC", "-c", *files], folder)
        objects = [f"{k}.o" for k in range(len(exports))]
        command = ["gfortran", *FLAGS, *flags, "-fPIC", "-shared", "exports.f90", *objects, "-lm", "-o", "exports.so"]
        run(command, folder)
        self._library = ctypes.CDLL(str(folder / "exports.so"))

    def __call__(self, name: str, inputs: Sequence[np.ndarray]) -> tuple[str, list[np.ndarray]]:
        """The status of a call, as the loop language calls it, and the outputs."""
        names = self.names[name]
        sizes: dict = {}
        for node, given in zip(names.program.inputs, inputs, strict=True):
            sizes.update({d: n for d, n in zip(node.shape, np.shape(given), strict=True) if d in names.dims})
        held = [np.array(sizes[d], np.uintp) for d in names.dims]
        held += [np.array(given, a.dtype, order="C") for a, given in zip(names.routine.inputs, inputs, strict=True)]
        outputs = [np.full([max(0, value_of(d, sizes)) for d in a.shape], 1, a.dtype) for a in names.routine.outputs]
        places = (ctypes.c_void_p * (len(held) + len(outputs)))(*[a.ctypes.data for a in [*held, *outputs]])
        counts = np.array([a.size for a in [*held, *outputs]], np.int64)
        called = getattr(self._library, f"call_{[*self.names].index(name)}")
        return ["", *STATUSES][called(places, counts.ctypes.data_as(ctypes.c_void_p))], outputs


def _calling(k: int, module: str, routine) -> str:
    """A procedure that takes the places and the lengths of all arguments, and calls the function with them."""
    function = module.split("\nmodule ", 1)[1].split("_module", 1)[0]
    arguments: list[Name | Array | None] = [*[None] * len(routine.dims), *routine.inputs, *routine.outputs]
    declared, bound, passed = [], [], []
    for n, a in enumerate(arguments):
        declared.append(f"{'integer(c_size_t)' if a is None else type_of(a.dtype)}, pointer :: a{n}(:)")
        bound.append(f"call c_f_pointer(places({n + 1}), a{n}, [counts({n + 1})])")
        passed.append(f"a{n}" if isinstance(a, Array) and a.shape else f"a{n}(1)")
    rows = [
        f"function call_{k}(places, counts) bind(c) result(status)",
        "use, intrinsic :: iso_c_binding",
        f"use {function}_module, only: computed => {function}",
        "implicit none",
        "type(c_ptr), intent(in) :: places(*)",
        "integer(c_int64_t), intent(in) :: counts(*)",
        "integer(c_int) :: status",
        *declared,
        *bound,
        "status = computed( &",
        *[f"  {a}{', &' if a is not passed[-1] else ')'}" for a in passed],
        f"end function call_{k}",
    ]
    return "\n" + "\n".join(rows) + "\n"

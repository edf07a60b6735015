"""The registry of backends: what a Program can run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import BackendError
from ..program.program import Program

if TYPE_CHECKING:
    from .base import Kernel


@dataclass(frozen=True)
class Backend:
    """A backend; ``about`` says what a kernel does that runs on it.

    ``write(program, sizes)`` gives a kernel that serves any sizes, and is fast where named dims are about ``sizes``.
    ``compile(program, plain)``, where there is one, gives the kernel for a program whose dims are ints; ``plain()`` is
    what ``write`` gives for it.
    """

    about: str
    write: Callable[[Program, Mapping[Any, int]], Kernel]
    compile: Callable[[Program, Callable[[], Kernel]], Kernel] | None = None
    #: whether kernels take views of windows, where gathers and scatters are these
    windows: bool = True

    def kernel(self, program: Program, plain: Callable[[], Kernel]) -> Kernel:
        """The kernel for a program whose dims are ints."""
        return plain() if self.compile is None else self.compile(program, plain)


#: the backends whose arrays are NumPy's, and those of other array libraries, by their names
BACKENDS: dict[str, Backend] = {}
LIBRARY_BACKENDS: dict[str, Backend] = {}


def checked_backend(name: str) -> Backend:
    """The backend of this name; a BackendError that lists them for another one."""
    known = BACKENDS | LIBRARY_BACKENDS
    if not isinstance(name, str) or name not in known:
        raise BackendError(f"backend={name!r} is unknown; choose one of {', '.join(map(repr, known))}.")
    return known[name]

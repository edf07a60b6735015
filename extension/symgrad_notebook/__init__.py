"""The Jupyter extension of symgrad: ``%load_ext symgrad`` brings the ``%%grad`` cell magic."""

from __future__ import annotations

from typing import Any


def load_ipython_extension(shell: Any) -> None:
    """Register the magics; loading twice leaves one of each."""
    from .magic import SymgradMagics

    unload_ipython_extension(shell)
    shell.register_magics(SymgradMagics)


def unload_ipython_extension(shell: Any) -> None:
    """Take the magics back, with everything that registering them left in the shell."""
    from .magic import SymgradMagics

    manager = shell.magics_manager
    for kind, names in SymgradMagics.magics.items():
        for name in names:
            manager.magics[kind].pop(name, None)
    manager.registry.pop(SymgradMagics.__name__, None)
    shell.configurables[:] = [c for c in shell.configurables if type(c).__name__ != SymgradMagics.__name__]

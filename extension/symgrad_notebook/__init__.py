"""The Jupyter extension of symgrad: ``%load_ext symgrad`` brings ``%%grad``, ``%grad`` and ``%symgrad``.

The magics are thin shells: ``derivative_of`` makes the derivative and ``show`` displays it. Panel, explorer, picture
and annotation are rooms of their own, imported where a derivative is asked for them.
"""

from __future__ import annotations

import os
from typing import Any

from symgrad.errors import OWN_FOLDERS
from symgrad.flags.derivative import derivative_of

from . import completion
from .display import show
from .magic import SymgradMagics

__all__ = ["derivative_of", "load_ipython_extension", "show", "unload_ipython_extension"]


OWN_FOLDERS.append(os.path.dirname(os.path.abspath(__file__)) + os.sep)  # whose frames no user needs to read


def load_ipython_extension(shell: Any) -> None:
    """Register the magics; loading twice leaves one of each."""
    unload_ipython_extension(shell)
    shell.register_magics(SymgradMagics)
    completion.register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take the magics back, with everything that registering them left in the shell."""
    completion.unregister(shell)
    manager = shell.magics_manager
    for kind, names in (SymgradMagics.magics or {}).items():
        for name in names:
            manager.magics[kind].pop(name, None)
    manager.registry.pop(SymgradMagics.__name__, None)
    # by name: after a reload of the module the class is another one
    for magics in [c for c in shell.configurables if type(c).__name__ == SymgradMagics.__name__]:
        magics.reset_options()  # those that hold beyond the magics
        shell.configurables.remove(magics)

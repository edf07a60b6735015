"""Programs in pickles: as JSON, which says the same in every process."""

from __future__ import annotations

import copyreg
import json
from typing import Any

from ..program.program import Program
from .forms import Members
from .programs import PROGRAM, read_program, written_program


def pickled(program: Program) -> Any:
    """What ``pickle`` keeps of a Program; an UnsupportedOperation where it holds what JSON has no place for."""
    return unpickled, (json.dumps(written_program(program)),)


def unpickled(text: str) -> Program:
    """The Program that ``pickled`` kept, in a graph of its own."""
    return read_program(Members(PROGRAM), json.loads(text))[0].program


copyreg.pickle(Program, pickled)

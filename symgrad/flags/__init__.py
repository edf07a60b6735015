"""Flags: what a derivative can be asked for, in a notebook, in the panel and on the command line alike."""

from __future__ import annotations

from . import shown, taken
from .registry import FLAGS, Flag, bring, register, unregister

__all__ = ["FLAGS", "Flag", "register", "unregister"]

bring((*taken.FLAGS, *shown.FLAGS))

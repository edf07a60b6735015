"""Whether a folder is the user's alone: nobody else could have written into it, or put another in its place."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path


def make(path: str) -> None:
    """Make a folder, and those above it that are missing, for the user alone."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for each in reversed(missing):
        with contextlib.suppress(FileExistsError):
            os.mkdir(each, 0o700)


def danger(path: str) -> str | None:
    """Why another user could have a hand in ``path``: by a step of the way to it, or by itself; None where none could.

    The way begins at the user's home where the path lies in it, and at the root otherwise; a link on the way is
    followed one step after the other. What does not exist yet is no danger.
    """
    if not hasattr(os, "geteuid"):
        return None  # Windows: the profile is the user's by its access list
    here, steps = _start(path)
    steps, links = [step for step in steps if step], 0
    while True:
        last = not steps
        status = os.lstat(here)
        if stat.S_ISLNK(status.st_mode):
            if status.st_uid not in (0, os.geteuid()):
                return f"{here} is a link that another user made."
            links += 1
            if links > 40:
                return f"{path} goes round in links."
            target = os.readlink(here)
            here, more = _start(target) if os.path.isabs(target) else (os.path.dirname(here), target.split(os.sep))
            steps = [step for step in more if step not in ("", ".")] + steps
            continue
        if not stat.S_ISDIR(status.st_mode):
            return f"{here} is not a folder."
        if status.st_uid != os.geteuid() and (last or status.st_uid != 0):
            return f"{here} belongs to another user."
        if status.st_mode & 0o022 and (last or not status.st_mode & stat.S_ISVTX):
            return f"{here} can be written to by other users; chmod go-w it, or set SYMGRAD_CACHE_DIR."
        if last:
            return None
        step = steps.pop(0)
        here = os.path.dirname(here) if step == ".." else os.path.join(here, step)
        if not os.path.lexists(here):
            return None


def _start(path: str) -> tuple[str, list[str]]:
    home = os.path.realpath(os.path.expanduser("~"))
    for begin in (home, os.path.expanduser("~")):
        if os.path.isabs(begin) and path.startswith(begin.rstrip(os.sep) + os.sep):
            return home, path[len(begin) :].split(os.sep)
    return os.sep, path.split(os.sep)


def is_own_folder(path: Path) -> bool:
    """True for a folder, not a link to one, that the user alone can write to."""
    status = os.lstat(path)
    return stat.S_ISDIR(status.st_mode) and is_own(status)


def is_own(status: os.stat_result) -> bool:
    """True for what belongs to the user, and the user alone can write to."""
    return not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)

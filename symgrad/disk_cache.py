"""What outlives the process: derived programs, compiled kernels and measurements, kept in a folder of the user's.

An entry is bytes under a kind and a key. What is read back is checked against a SHA-256 checksum and belongs to the
user alone, or it is no entry: it is removed and made anew. Nothing here unpickles or evaluates anything. A cache that
cannot be had is no error, every function then answers as an empty cache does; `why_not` says why.

``SYMGRAD_CACHE_DIR`` names another folder, or none when it is empty; ``SYMGRAD_CACHE_MB`` bounds its size (512). Beyond
that, or beyond so many entries, those go that were not used for longest.

>>> made = key("a program", b"and its options")
>>> store("examples", made, b"derived") and load("examples", made)
b'derived'
>>> load("examples", key("another program")) is None
True
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from .private_folder import danger, is_own, is_own_folder, make

FORMAT = 1
"""Number of the way entries are kept; another number finds none of the others'."""

#: entries there are at most, however small: each takes a folder and a file
_MAX_ENTRIES = 20_000
#: times that an entry is written where others clear the cache meanwhile
_ATTEMPTS = 30
_HOUR = 3600.0
_KIND = re.compile(r"[a-z][a-z_]{0,31}")
_KEY = re.compile(r"[0-9a-f]{32,128}")
_ENTRY = re.compile(r"[0-9a-f]{64}\.bin")  # named by its checksum; the suffix is for systems that insist on one
_HALF = "half-"  # begins the name of a file that is being written
#: no link is followed, and a FIFO that nobody writes to is not waited for
_READING = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))

# An entry is the file KIND/KEY/CHECKSUM.bin. The checksum is the name, so content and checksum appear in one rename,
# and a shared library has not a byte more than it should. The time of the folder KEY says when the entry was last used.


def cache_folder() -> Path | None:
    """The folder of the cache, made where there is none yet; None where there can be no cache.

    It is used only where no other user could have written to it.
    """
    return _examined()[0]


def why_not() -> str:
    """One sentence on why there is no cache; empty where there is one."""
    return _examined()[1]


def key(*parts: bytes | str) -> str:
    """SHA-256 of the parts in order, of the symgrad that is installed and of the format, in hex.

    >>> key("ab", "c") == key("a", "bc")
    False
    """
    return content_key(_source(), *parts)


def content_key(*parts: bytes | str) -> str:
    """The same of the parts and the format alone, for what any symgrad makes of them alike.

    It does without a look at symgrad's files, which takes milliseconds.
    """
    digest = hashlib.sha256(f"symgrad format {FORMAT}\n".encode())
    for part in parts:
        text = isinstance(part, str)
        content = part.encode("utf-8", "surrogatepass") if text else part
        digest.update(f"{'text' if text else 'bytes'} {len(content)}:".encode())
        digest.update(content)
    return digest.hexdigest()


def load(kind: str, key: str) -> bytes | None:
    """The content stored under ``key``, or None."""
    found = _verified(kind, key)
    return found[1] if found else None


def file(kind: str, key: str) -> Path | None:
    """The file that holds the content stored under ``key``, checked just now, for what the system opens itself."""
    found = _verified(kind, key)
    return found[0] if found else None


def store(kind: str, key: str, content: bytes) -> bool:
    """Keep ``content`` under ``key``, in place of what was there; False, with nothing half-made, where it cannot be."""
    root = cache_folder()
    place = _place(root, kind, key)
    if root is None or place is None or len(content) > limit() // 4:
        return False
    name = f"{_checksum(kind, key, content)}.bin"
    for _ in range(_ATTEMPTS):  # again where the folder was removed under our hands
        try:
            for folder in (place.parent, place):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(folder, 0o700)
            if not (is_own_folder(place.parent) and is_own_folder(place)):
                return False
            _write(place, name, content)
        except FileNotFoundError:
            continue
        except OSError:
            return False
        _sweep_sometimes(root, len(content))
        return True
    return False


def clear() -> None:
    """Remove every entry, and nothing else that may lie in the folder."""
    root = cache_folder()
    for _, place in _places(root) if root else ():
        _remove(place)


def limit() -> int:
    """How many bytes the entries may take together before the oldest go."""
    text = os.environ.get("SYMGRAD_CACHE_MB", "")
    return (int(text) if text.isdecimal() and len(text) < 10 else 512) * 2**20


# --- entries ------------------------------------------------------------------------------------------------------


def _place(root: Path | None, kind: str, key: str) -> Path | None:
    if not _KIND.fullmatch(kind) or not _KEY.fullmatch(key):
        raise ValueError(f"a kind is a word and a key is hex, not {kind!r} and {key!r}")
    return None if root is None else root / kind / key


def _checksum(kind: str, key: str, content: bytes) -> str:
    """Of the content in its place: an entry that was moved to another key is damaged too."""
    digest = hashlib.sha256(f"{kind}/{key}\n".encode())
    digest.update(content)
    return digest.hexdigest()


def _verified(kind: str, key: str) -> tuple[Path, bytes] | None:
    place = _place(cache_folder(), kind, key)
    try:
        if place is None or not (is_own_folder(place.parent) and is_own_folder(place)):
            return None
    except OSError:
        return None
    for path in _newest_first(place):
        try:
            content = _read(path)
        except FileNotFoundError:
            continue  # replaced by another process
        except OSError:
            content = None
        if content is not None and path.name == f"{_checksum(kind, key, content)}.bin":
            _touch(place)
            return path, content
        with contextlib.suppress(OSError):
            path.unlink()
    return None


def _newest_first(place: Path) -> list[Path]:
    found: list[tuple[int, str]] = []
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if _ENTRY.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    found.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.name))
    return [place / name for _, name in sorted(found, reverse=True)]


def _read(path: Path) -> bytes | None:
    """The content of a file of ours; None where it is a link, no file, or another user's."""
    descriptor = os.open(path, _READING)
    try:
        status = os.fstat(descriptor)
        if not (stat.S_ISREG(status.st_mode) and is_own(status)):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            return stream.read()
    finally:
        os.close(descriptor)


def _write(place: Path, name: str, content: bytes) -> None:
    descriptor, half = tempfile.mkstemp(prefix=_HALF, dir=place)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        os.replace(half, place / name)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(half)
        raise
    with contextlib.suppress(OSError):
        made = os.lstat(place / name).st_mtime_ns
        for other in _newest_first(place):
            if other.name != name and os.lstat(other).st_mtime_ns < made:
                other.unlink()


def _touch(place: Path) -> None:
    """Remember that an entry was used, to the hour."""
    with contextlib.suppress(OSError):
        if time.time() - place.stat().st_mtime > _HOUR:
            os.utime(place)


# --- size and number ----------------------------------------------------------------------------------------------

_written_since_sweep = 0


def _sweep_sometimes(root: Path, written: int) -> None:
    """Sweep where this process wrote much or many since it last did, or nobody has swept for a day."""
    global _written_since_sweep
    _written_since_sweep += max(written, limit() // _MAX_ENTRIES)
    mark = root / "swept"
    try:
        stale = time.time() - mark.lstat().st_mtime > 24 * _HOUR
    except OSError:
        stale = True
    if stale or _written_since_sweep > limit() // 16:
        _written_since_sweep = 0
        with contextlib.suppress(OSError):
            mark.unlink(missing_ok=True)
            mark.touch(mode=0o600)
        _sweep(root)


def _sweep(root: Path) -> None:
    """Remove what was left half-written, and the entries that were not used for longest where there are too many."""
    now, bound, total = time.time(), limit(), 0
    entries: list[tuple[float, int, Path]] = []
    for used, place in _places(root):
        size = 0
        with contextlib.suppress(OSError), os.scandir(place) as files:
            for each in files:
                status = each.stat(follow_symlinks=False)
                if each.name.startswith(_HALF) and now - status.st_mtime > _HOUR:
                    os.unlink(each.path)
                else:
                    size += status.st_size
        if size:
            entries.append((used, size, place))
            total += size
        else:
            _remove(place)
    count = len(entries)
    if total > bound or count > _MAX_ENTRIES:
        for _, size, place in sorted(entries):
            if total <= bound * 0.8 and count <= _MAX_ENTRIES * 0.8:
                break
            _remove(place)
            total, count = total - size, count - 1


def _places(root: Path) -> Iterator[tuple[float, Path]]:
    """The folders of all entries, each with the time of its last use."""
    for kind in _folders(root, _KIND):
        for place in _folders(kind, _KEY):
            with contextlib.suppress(OSError):
                yield place.stat().st_mtime, place


def _folders(parent: Path, named: re.Pattern[str]) -> list[Path]:
    try:
        with os.scandir(parent) as entries:
            found = [each for each in entries if named.fullmatch(each.name) and each.is_dir(follow_symlinks=False)]
        return [Path(each.path) for each in found]
    except OSError:
        return []


def _remove(place: Path) -> None:
    with contextlib.suppress(OSError):
        for name in os.listdir(place):
            if _ENTRY.fullmatch(name) or name.startswith(_HALF):  # who is writing the half will write it again
                os.unlink(place / name)
        place.rmdir()


# --- what it is kept for ------------------------------------------------------------------------------------------


def _wanted() -> tuple[str, str]:
    """Path of the folder and nothing, or nothing and the reason."""
    chosen = os.environ.get("SYMGRAD_CACHE_DIR")
    if chosen is not None:
        return (os.path.abspath(os.path.expanduser(chosen)), "") if chosen else ("", "SYMGRAD_CACHE_DIR is empty.")
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        return "", "The user has no home folder; set SYMGRAD_CACHE_DIR."
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or home, "symgrad", "Cache"), ""
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "symgrad"), ""
    shared = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(shared if os.path.isabs(shared) else os.path.join(home, ".cache"), "symgrad"), ""


def _examined() -> tuple[Path | None, str]:
    """The folder and nothing, or None and the reason. Looked at anew each time: it takes microseconds."""
    path, reason = _wanted()
    if not path:
        return None, reason
    try:
        threat = danger(path)
        if threat is None and not os.path.isdir(path):
            make(path)
            threat = danger(path)
    except OSError as error:
        return None, f"{path} cannot be made or looked at: {error.strerror or error}."
    if threat is not None:
        return None, threat
    if not os.access(path, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        return None, f"{path} cannot be written to."
    return Path(path), ""


@lru_cache(maxsize=1)
def _source() -> str:
    """What tells this symgrad from every other: its files, as they are on this machine."""
    newest, told = 0.0, [os.path.dirname(__file__)]
    pending = [told[0]]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    times = f"{status.st_mtime_ns} {status.st_ctime_ns}"  # the latter changes with the content, always
                    told.append(f"{entry.path} {status.st_size} {times}")
                    newest = max(newest, status.st_mtime, status.st_ctime)
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
    digest = hashlib.sha256("\n".join(sorted(told)).encode("utf-8", "surrogatepass"))
    if newest > _IMPORTED:  # what is running here is another text
        digest.update(os.urandom(16))
    return digest.hexdigest()


_IMPORTED = time.time()

"""The cache gives back what was stored or nothing, and is not used where another user could write."""

import math
import os
import stat
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from symgrad import disk_cache

KEY = disk_cache.key("entry")
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of POSIX")
root = pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="only root can be another user")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    os.chmod(tmp_path, 0o700)
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(disk_cache, "_written_since_sweep", 0)
    return tmp_path / "cache"


def entry(folder: Path, kind: str = "programs", key: str = KEY) -> Path:
    (path,) = (folder / kind / key).iterdir()
    return path


def test_what_is_stored_is_loaded(folder):
    assert disk_cache.load("programs", KEY) is None
    assert disk_cache.store("programs", KEY, b"content")
    assert disk_cache.load("programs", KEY) == b"content"
    assert disk_cache.load("native", KEY) is None
    assert disk_cache.load("programs", disk_cache.key("another")) is None
    assert disk_cache.store("programs", disk_cache.key("empty"), b"")
    assert disk_cache.load("programs", disk_cache.key("empty")) == b""


def test_the_last_content_stored_is_the_one(folder):
    for content in (b"first", b"second", b"first", b"third"):
        assert disk_cache.store("calibration", KEY, content)
        assert disk_cache.load("calibration", KEY) == content
        time.sleep(0.02)
    assert len(list((folder / "calibration" / KEY).iterdir())) == 1


def test_a_file_is_the_content_and_nothing_more(folder):
    disk_cache.store("native", KEY, b"\x7fELF")
    path = disk_cache.file("native", KEY)
    assert path is not None
    assert path.read_bytes() == b"\x7fELF"
    assert disk_cache.file("native", disk_cache.key("another")) is None


@posix
def test_the_folder_and_its_content_are_the_users_alone(folder):
    disk_cache.store("programs", KEY, b"content")
    for path in (folder, folder / "programs", folder / "programs" / KEY):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(folder).stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", [b"", b"conten", b"c0ntent", b"content and more"])
def test_a_damaged_entry_is_removed_and_can_be_stored_again(folder, damage):
    disk_cache.store("programs", KEY, b"content")
    path = entry(folder)
    path.write_bytes(damage)
    assert disk_cache.load("programs", KEY) is None
    assert not path.exists()
    path.write_bytes(damage)
    assert disk_cache.file("programs", KEY) is None
    assert disk_cache.store("programs", KEY, b"content")
    assert disk_cache.load("programs", KEY) == b"content"


def test_an_entry_moved_to_another_key_is_damaged(folder):
    other = disk_cache.key("other")
    disk_cache.store("programs", KEY, b"content")
    disk_cache.store("programs", other, b"other")
    entry(folder, key=other).unlink()
    entry(folder).rename(folder / "programs" / other / entry(folder).name)
    assert disk_cache.load("programs", other) is None


@posix
def test_a_link_in_place_of_an_entry_is_no_entry(folder, tmp_path):
    disk_cache.store("programs", KEY, b"content")
    path = entry(folder)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert disk_cache.load("programs", KEY) is None
    assert not path.is_symlink()
    assert (tmp_path / "elsewhere").read_bytes() == b"content"


@posix
@pytest.mark.parametrize("make", [lambda path: os.mkfifo(path), os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_what_is_no_file_in_place_of_an_entry_is_none_and_nobody_waits_for_it(folder, make):
    disk_cache.store("programs", KEY, b"content")
    path = entry(folder)
    path.unlink()
    make(path)
    before = len(os.listdir("/dev/fd"))
    assert disk_cache.load("programs", KEY) is None
    assert disk_cache.file("programs", KEY) is None
    assert len(os.listdir("/dev/fd")) == before
    assert disk_cache.store("programs", KEY, b"other")
    assert disk_cache.load("programs", KEY) == b"other"
    disk_cache.clear()


@posix
@pytest.mark.parametrize("place", ["programs", f"programs/{KEY}", "swept"])
def test_a_fifo_in_place_of_a_folder_of_the_cache_is_not_waited_for(folder, place):
    disk_cache.store("programs", disk_cache.key("other"), b"content")
    if (folder / place).exists():
        (folder / place).rename(folder / "away")
    os.mkfifo(folder / place)
    assert disk_cache.load("programs", KEY) is None
    assert disk_cache.store("programs", KEY, b"content") == (place == "swept")
    disk_cache.clear()


@posix
def test_an_entry_or_a_folder_of_it_that_others_can_write_is_none(folder):
    for path in (lambda: entry(folder), lambda: folder / "programs" / KEY, lambda: folder / "programs"):
        disk_cache.store("programs", KEY, b"content")
        mode = path().stat().st_mode
        os.chmod(path(), 0o777)
        changed = path()
        assert disk_cache.load("programs", KEY) is None
        if changed.is_dir():
            assert not disk_cache.store("programs", KEY, b"content")
            os.chmod(changed, mode)


@root
def test_an_entry_of_another_user_is_removed(folder):
    disk_cache.store("programs", KEY, b"content")
    path = entry(folder)
    os.chown(path, 65534, -1)
    assert disk_cache.load("programs", KEY) is None
    assert not path.exists()


def test_keys_and_kinds_cannot_leave_the_folder(folder):
    for kind, key in (("..", KEY), ("programs", "../" + KEY), ("a/b", KEY), ("programs", KEY[:8]), ("", KEY)):
        with pytest.raises(ValueError, match="a kind is a word"):
            disk_cache.load(kind, key)
        with pytest.raises(ValueError, match="a kind is a word"):
            disk_cache.store(kind, key, b"")


def test_keys_differ_where_their_parts_do(monkeypatch):
    parts = [(), ("",), ("", ""), ("ab",), ("a", "b"), (b"ab",), ("ab", ""), ("bytes 2:ab",), ("\ud800",)]
    keys = [disk_cache.key(*each) for each in parts]
    assert len(set(keys)) == len(parts)
    assert keys == [disk_cache.key(*each) for each in parts]
    monkeypatch.setattr(disk_cache, "FORMAT", disk_cache.FORMAT + 1)
    assert not set(keys) & {disk_cache.key(*each) for each in parts}


def test_keys_of_contents_do_not_ask_which_symgrad_it_is(monkeypatch):
    before = disk_cache.key("ab"), disk_cache.content_key("ab")
    monkeypatch.setattr(disk_cache, "_source", lambda: "another symgrad")
    assert disk_cache.key("ab") != before[0]
    assert disk_cache.content_key("ab") == before[1] != disk_cache.content_key("a", "b")


def test_a_changed_file_of_symgrad_is_another_symgrad(monkeypatch, tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    files = [tmp_path / "disk_cache.py", inner / "a.py"]
    for each in files:
        each.write_text("x = 1\n")
    monkeypatch.setattr(disk_cache, "__file__", str(files[0]))
    monkeypatch.setattr(disk_cache, "_IMPORTED", math.inf)
    source = disk_cache._source.__wrapped__
    seen = [source(), source()]
    (inner / "a.txt").write_text("no file of Python's")
    seen.append(source())
    assert len(set(seen)) == 1
    files[1].write_text("x = 12\n")
    seen.append(source())
    (inner / "b.py").write_text("")
    seen.append(source())
    assert len(set(seen)) == 3


# --- where there is no cache ----------------------------------------------------------------------------------------


def without(reason: str) -> None:
    assert disk_cache.cache_folder() is None
    assert reason in disk_cache.why_not()
    assert not disk_cache.store("programs", KEY, b"content")
    assert disk_cache.load("programs", KEY) is None
    assert disk_cache.file("programs", KEY) is None
    disk_cache.clear()


def test_switched_off_by_an_empty_name(folder, monkeypatch):
    assert disk_cache.cache_folder() == folder
    assert disk_cache.why_not() == ""
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "")
    without("SYMGRAD_CACHE_DIR is empty")


def test_a_file_in_its_place(folder):
    folder.write_text("mine")
    without("not a folder")
    assert folder.read_text() == "mine"


def test_below_a_file(folder, monkeypatch):
    folder.write_text("mine")
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", str(folder / "below"))
    without("not a folder")


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722, 0o1777])
def test_a_folder_that_others_can_write_to(folder, mode):
    folder.mkdir()
    os.chmod(folder, mode)
    without("can be written to by other users")


@posix
def test_a_parent_that_others_can_write_to(folder, tmp_path):
    os.chmod(tmp_path, 0o777)
    without("can be written to by other users")
    assert not folder.exists()
    os.chmod(tmp_path, 0o1777)  # nobody can rename what is another's here
    assert disk_cache.cache_folder() == folder


@posix
def test_a_home_has_to_be_safe_from_the_home_on(tmp_path, monkeypatch):
    """Who can write above a home owns the user anyway; refusing the cache there would help nobody."""
    home = tmp_path / "open" / "home"
    home.mkdir(parents=True)
    os.chmod(tmp_path / "open", 0o777)
    os.chmod(home, 0o700)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "~/.cache/symgrad")
    assert disk_cache.cache_folder() == home / ".cache" / "symgrad"
    os.chmod(home / ".cache", 0o770)
    without("can be written to by other users")


@posix
def test_links_are_followed_step_by_step(tmp_path, monkeypatch):
    os.chmod(tmp_path, 0o700)
    safe, unsafe = tmp_path / "safe", tmp_path / "unsafe"
    for each in (safe, unsafe, unsafe / "inner"):
        each.mkdir(mode=0o700)
    os.chmod(unsafe, 0o777)
    link = tmp_path / "link"
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", str(link))
    for target in (safe, Path("safe"), Path("unsafe/inner/../../safe/cache")):
        link.symlink_to(target)
        if ".." in target.parts:
            without("can be written to by other users")
        else:
            assert disk_cache.cache_folder() == link
        link.unlink()
    for target in (unsafe, unsafe / "inner", Path("unsafe/inner")):
        link.symlink_to(target)
        without("can be written to by other users")
        link.unlink()
    link.symlink_to(link)
    without("goes round in links")


@root
def test_what_another_user_owns(folder, tmp_path):
    folder.mkdir(mode=0o700)
    os.chown(folder, 65534, -1)
    without("belongs to another user")
    os.rmdir(folder)
    folder.symlink_to(tmp_path)
    os.chown(folder, 65534, -1, follow_symlinks=False)
    without("a link that another user made")


@root
def test_a_folder_that_cannot_be_written(monkeypatch):
    """Asked as an ordinary user, whom permissions bind."""
    with tempfile.TemporaryDirectory() as place:  # not below the folders of pytest, which are closed to others
        os.chown(place, 65534, 65534)
        os.chmod(place, 0o500)
        os.seteuid(65534)
        try:
            monkeypatch.setenv("SYMGRAD_CACHE_DIR", place)
            without("cannot be written to")
            monkeypatch.setenv("SYMGRAD_CACHE_DIR", f"{place}/below")
            without("cannot be made")
            os.chmod(place, 0o700)
            assert disk_cache.store("programs", KEY, b"content")
        finally:
            os.seteuid(0)


def test_where_the_systems_keep_caches(monkeypatch):
    monkeypatch.delenv("SYMGRAD_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert disk_cache._wanted() == ("/home/ada/.cache/symgrad", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "/scratch/ada")
    assert disk_cache._wanted() == ("/scratch/ada/symgrad", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says the specification
    assert disk_cache._wanted() == ("/home/ada/.cache/symgrad", "")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert disk_cache._wanted() == ("/home/ada/Library/Caches/symgrad", "")


# --- several at once, and too much ------------------------------------------------------------------------------------


def test_a_full_disk_leaves_nothing_half_made(folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    disk_cache.store("programs", KEY, b"content")
    monkeypatch.setattr(disk_cache.os, "replace", full)
    assert not disk_cache.store("programs", KEY, b"new content")
    assert disk_cache.load("programs", KEY) == b"content"
    assert len(list((folder / "programs" / KEY).iterdir())) == 1


def test_concurrent_writers_and_readers(folder):
    contents = [bytes([i]) * 5000 for i in range(8)]
    odd: list[object] = []

    def work(number: int) -> None:
        for turn in range(40):
            if turn % 10 == number:
                disk_cache.clear()
            elif number % 2:
                if not disk_cache.store("programs", KEY, contents[(turn + number) % 8]):
                    odd.append("not stored")
            else:
                found = disk_cache.load("programs", KEY)
                if found is not None and found not in contents:
                    odd.append(found)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not odd
    assert disk_cache.store("programs", KEY, b"last")
    assert disk_cache.load("programs", KEY) == b"last"


def age(folder: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(folder, (then, then))


def test_the_entries_unused_for_longest_go_first(folder, monkeypatch):
    monkeypatch.setenv("SYMGRAD_CACHE_MB", "1")
    keys = [disk_cache.key(str(i)) for i in range(9)]
    for i, key in enumerate(keys[:6]):
        assert disk_cache.store("programs", key, bytes([i]) * 150_000)
        age(folder / "programs" / key, 100_000 - 10_000 * i)
    half = folder / "programs" / keys[1] / f"{disk_cache._HALF}x"
    half.write_bytes(b"left by a process that died")
    age(half, 10_000)
    age(folder / "programs" / keys[1], 90_000)
    assert disk_cache.load("programs", keys[0]) is not None  # used now, so not the oldest any more
    for i, key in enumerate(keys[6:9]):
        assert disk_cache.store("native", key, bytes([i]) * 150_000)
    assert not half.exists()
    kept = [key for key in keys if disk_cache.load("programs", key) or disk_cache.load("native", key)]
    assert kept[0] == keys[0]
    assert keys[1] not in kept
    assert keys[-1] in kept
    assert sum(path.stat().st_size for path in folder.rglob("*.bin")) <= 2**20


def test_there_are_so_many_entries_at_most_and_the_oldest_go(folder, monkeypatch):
    monkeypatch.setattr(disk_cache, "_MAX_ENTRIES", 40)
    keys = [disk_cache.key(str(i)) for i in range(100)]
    for i, key in enumerate(keys):
        assert disk_cache.store("programs" if i % 2 else "native", key, b"few bytes")
        age(folder / ("programs" if i % 2 else "native") / key, 100_000 - 100 * i)
        assert len(list(folder.rglob("*.bin"))) <= 40 + 40 // 16 + 1  # many are written before it is looked again
    kept = [key for key in keys if disk_cache.load("programs", key) or disk_cache.load("native", key)]
    assert kept == keys[-len(kept) :]
    assert len(kept) >= 32


def test_an_entry_too_big_for_the_bound_is_not_kept(folder, monkeypatch):
    monkeypatch.setenv("SYMGRAD_CACHE_MB", "1")
    assert not disk_cache.store("programs", KEY, bytes(300_000))
    monkeypatch.setenv("SYMGRAD_CACHE_MB", "many")
    assert disk_cache.limit() == 512 * 2**20


def test_clearing_removes_entries_and_nothing_else(folder):
    disk_cache.store("programs", KEY, b"content")
    disk_cache.store("native", KEY, b"content")
    mine = [folder / "letter.txt", folder / "programs" / "letter.txt", folder / "photos" / "of us"]
    mine[2].parent.mkdir()
    for path in mine:
        path.write_text("mine")
    disk_cache.clear()
    assert disk_cache.load("programs", KEY) is None
    assert not list(folder.rglob("*.bin"))
    assert all(path.read_text() == "mine" for path in mine)

"""Tests and doctests keep their own disk cache, and leave the user's alone."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

_folder = tempfile.mkdtemp(prefix="symgrad-tests-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ["SYMGRAD_CACHE_DIR"] = _folder  # before anything is imported; processes that tests start inherit it

"""What only large arrays meet, at any size: blocks, threads, buffers used again, loops dealt out."""

from __future__ import annotations

import dataclasses

import pytest

from symgrad.kernels import block_backend, blocks, kernel, numpy_backend, reuse, runtime
from symgrad.kernels.native import contractions, form, writer


def never_compile(patch: pytest.MonkeyPatch) -> None:
    """``auto`` stays with NumPy, large arrays block by block."""
    patch.setitem(kernel.BACKENDS, "auto", dataclasses.replace(kernel.BACKENDS["auto"], compile=None))


def lower_thresholds(patch: pytest.MonkeyPatch, block: int = 5, threads: int = 3) -> None:
    """Regions of any size are cut into blocks of so many elements for so many threads, and no buffer is too small."""
    never_compile(patch)
    patch.setattr(kernel, "BLOCKS_FROM", 0)
    patch.setattr(block_backend, "BLOCKS_FROM", 0)
    patch.setattr(block_backend, "_WORTH", 0.0)
    patch.setattr(blocks, "_block_size", lambda *_: block)
    patch.setattr(blocks, "_THREAD", 1e-9)
    patch.setattr(blocks, "thread_count", lambda: threads)
    patch.setattr(numpy_backend, "SMALL", 1)
    patch.setattr(numpy_backend, "REUSED_FROM", 1)
    patch.setattr(writer, "REUSED_FROM", 1)
    patch.setattr(writer, "_ON_STACK", 0)
    patch.setattr(writer, "_MAX_WORK", 40.0)
    patch.setattr(reuse, "_FROM", 1)
    patch.setattr(runtime, "_GRAM_FROM", 1)
    patch.setattr(form, "DEALT_FROM", 0.0)
    patch.setattr(contractions, "_SMALL_WORK", 0)

"""How Cells and gradients run: GRAPH_MODE traces once and caches, PYNATIVE_MODE traces at each call; ``debug``.

>>> set_context(mode=GRAPH_MODE, device_target="CPU")
>>> get_context("mode") == GRAPH_MODE
True
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from .errors import ArgumentError, full_tracebacks

GRAPH_MODE = 0
PYNATIVE_MODE = 1

_TARGETS = ("CPU", "GPU", "Ascend")
_PARALLEL_MODES = ("stand_alone", "data_parallel")
_ALONE = {"parallel_mode": "stand_alone", "gradients_mean": False}
_parallel: dict[str, Any] = dict(_ALONE)
_settings: dict[str, Any] = {"mode": GRAPH_MODE, "device_target": "CPU", "debug": False}
_debugged: ContextVar[bool] = ContextVar("debugged")


def set_context(
    mode: int | None = None,
    device_target: str | None = None,
    debug: bool | None = None,
    full_traceback: bool | None = None,
) -> None:
    """Choose the mode, or ``debug`` for everything that follows, as inside of ``with sg.debug():``.

    In ``GRAPH_MODE``, the default, a function is traced once for each shape of its arguments, and its kernel runs from
    then on; in ``PYNATIVE_MODE`` it is traced at every call. Errors come without the frames of symgrad's own code,
    unless ``full_traceback`` keeps them. ``device_target`` is taken for MindSpore's sake, everything runs on the CPU.
    """
    for name, switch in (("debug", debug), ("full_traceback", full_traceback)):
        if switch is not None and not isinstance(switch, bool):
            raise ArgumentError(f"{name} must be True or False, got {switch!r}.")
    if mode is not None and (not isinstance(mode, int) or mode not in (GRAPH_MODE, PYNATIVE_MODE)):
        raise ArgumentError(f"mode must be context.GRAPH_MODE or context.PYNATIVE_MODE, got {mode!r}.")
    if device_target is not None and (not isinstance(device_target, str) or device_target not in _TARGETS):
        raise ArgumentError(f"device_target must be one of {', '.join(_TARGETS)}, got {device_target!r}.")
    if mode is not None:
        _settings["mode"] = mode
    if debug is not None:
        _settings["debug"] = debug
    if full_traceback is not None:
        (full_tracebacks.set if full_traceback else full_tracebacks.clear)()
    if device_target is not None:
        _settings["device_target"] = device_target


def get_context(key: str) -> Any:
    """The setting ``mode``, ``device_target``, ``debug`` or ``full_traceback``."""
    settings = {**_settings, "full_traceback": full_tracebacks.is_set()}
    if key not in settings:
        raise ArgumentError(f"there is no setting {key!r}; there are {', '.join(settings)}.")
    return settings[key]


def set_auto_parallel_context(parallel_mode: str | None = None, gradients_mean: bool | None = None) -> None:
    """Choose how gradients by weights go over batches that are arrays of Dask, as MindSpore's workers share a batch.

    ``"data_parallel"`` takes each block as the batch of one worker: the loss of every block is derived by itself, and
    the results are added up, values and gradients alike; ``gradients_mean=True`` divides them by the number of blocks.
    So statistics such as those of a batch norm are each block's own. ``"stand_alone"``, which is the default, gives
    what the whole batch gives in one piece.

    >>> set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    >>> get_auto_parallel_context("gradients_mean")
    True
    >>> reset_auto_parallel_context()
    >>> get_auto_parallel_context("parallel_mode")
    'stand_alone'
    """
    if parallel_mode is not None and (not isinstance(parallel_mode, str) or parallel_mode not in _PARALLEL_MODES):
        raise ArgumentError(f"parallel_mode must be one of {', '.join(_PARALLEL_MODES)}, got {parallel_mode!r}.")
    if gradients_mean is not None and not isinstance(gradients_mean, bool):
        raise ArgumentError(f"gradients_mean must be True or False, got {gradients_mean!r}.")
    if parallel_mode is not None:
        _parallel["parallel_mode"] = parallel_mode
    if gradients_mean is not None:
        _parallel["gradients_mean"] = gradients_mean


def get_auto_parallel_context(key: str) -> Any:
    """The setting ``parallel_mode`` or ``gradients_mean``."""
    if key not in _parallel:
        raise ArgumentError(f"there is no setting {key!r}; there are {', '.join(_parallel)}.")
    return _parallel[key]


def reset_auto_parallel_context() -> None:
    """The whole batch in one piece again."""
    _parallel.update(_ALONE)


@contextlib.contextmanager
def debug(on: bool = True) -> Iterator[None]:
    """Inside, and in a function that it decorates, a result with NaN or an infinity is a ``NonFiniteError``.

    The error names the operation where it begins, in the value or in the derivative, with its operands there, the
    element and the line of the function. What ends in finite numbers, and what a branch leaves out, is no error. Calls
    run as fast as before, and are looked at again where they failed. ``debug(False)`` makes an exception from it;
    ``set_context(debug=True)`` holds for all threads, ``%symgrad debug`` for a notebook.

    >>> import numpy as np, symgrad
    >>> def loss(x):
    ...     return np.sum(np.sqrt(x - 1))
    >>> with symgrad.debug():
    ...     symgrad.grad(loss)(np.array([2.0, 1.0]))
    Traceback (most recent call last):
    symgrad.errors.NonFiniteError: grad(loss) gives inf at [1]. It begins in the derivative, as 1 / 0 at [1].
      at ...
        return np.sum(np.sqrt(x - 1))
    """
    token = _debugged.set(on)
    try:
        yield
    finally:
        _debugged.reset(token)


def is_debugging() -> bool:
    """True where results are looked at."""
    return _debugged.get(_settings["debug"])


def runs_kept_traces() -> bool:
    """True where a trace that is kept may run with nothing else done."""
    return _settings["mode"] == GRAPH_MODE and not _debugged.get(_settings["debug"])


def is_graph_mode() -> bool:
    """True where traces are kept."""
    return _settings["mode"] == GRAPH_MODE

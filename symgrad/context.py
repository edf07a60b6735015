"""How Cells and gradients run: GRAPH_MODE traces once and caches, PYNATIVE_MODE traces at each call.

>>> set_context(mode=GRAPH_MODE, device_target="CPU")
>>> get_context("mode") == GRAPH_MODE
True
"""

from __future__ import annotations

from typing import Any

from .errors import ArgumentError

GRAPH_MODE = 0
PYNATIVE_MODE = 1

_TARGETS = ("CPU", "GPU", "Ascend")
_settings: dict[str, Any] = {"mode": GRAPH_MODE, "device_target": "CPU"}


def set_context(mode: int | None = None, device_target: str | None = None) -> None:
    """Choose the mode; ``device_target`` is taken for MindSpore's sake, everything runs on the CPU."""
    if mode is not None and (not isinstance(mode, int) or mode not in (GRAPH_MODE, PYNATIVE_MODE)):
        raise ArgumentError(f"mode must be context.GRAPH_MODE or context.PYNATIVE_MODE, got {mode!r}.")
    if device_target is not None and (not isinstance(device_target, str) or device_target not in _TARGETS):
        raise ArgumentError(f"device_target must be one of {', '.join(_TARGETS)}, got {device_target!r}.")
    if mode is not None:
        _settings["mode"] = mode
    if device_target is not None:
        _settings["device_target"] = device_target


def get_context(key: str) -> Any:
    """The setting ``mode`` or ``device_target``."""
    if key not in _settings:
        raise ArgumentError(f"there is no setting {key!r}; there are {', '.join(_settings)}.")
    return _settings[key]


def is_graph_mode() -> bool:
    """True where traces are kept."""
    return _settings["mode"] == GRAPH_MODE

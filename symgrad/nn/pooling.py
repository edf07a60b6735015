"""Layers of pooling."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .. import ops
from ..ops.pooling import avg_pool, max_pool
from .cell_of import cell_of

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
]


_DEFAULTS: dict[str, Any] = {
    "kernel_size": 1,
    "stride": 1,
    "pad_mode": "valid",
    "padding": 0,
    "dilation": 1,
    "return_indices": False,
    "ceil_mode": False,
    "count_include_pad": True,
    "divisor_override": None,
}


def _pooling(name: str, pool: Callable[..., Any], what: str) -> Any:
    told = f"The {what} of each window of the last {{}}; windows are ``stride`` apart, and ``pad_mode`` is 'valid', "
    told += "'same' or 'pad', which pads ``padding``."
    return [
        cell_of(f"{name}{n}d", partial(pool, f"{name}{n}d", n), told=told.format(axes), **_DEFAULTS)
        for n, axes in enumerate(("axis", "two axes", "three axes"), 1)
    ]


MaxPool1d, MaxPool2d, MaxPool3d = _pooling("MaxPool", max_pool, "largest element")
AvgPool1d, AvgPool2d, AvgPool3d = _pooling("AvgPool", avg_pool, "mean")
AdaptiveAvgPool1d = cell_of("AdaptiveAvgPool1d", ops.adaptive_avg_pool1d)
AdaptiveAvgPool2d = cell_of("AdaptiveAvgPool2d", ops.adaptive_avg_pool2d)
AdaptiveAvgPool3d = cell_of("AdaptiveAvgPool3d", ops.adaptive_avg_pool3d)
AdaptiveMaxPool1d = cell_of("AdaptiveMaxPool1d", ops.adaptive_max_pool1d)
AdaptiveMaxPool2d = cell_of("AdaptiveMaxPool2d", ops.adaptive_max_pool2d)

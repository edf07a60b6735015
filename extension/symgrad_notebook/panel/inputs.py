"""Sliders for small float arguments and the grid of sens: what they are set to, as the arguments themselves."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import ipywidgets
import numpy as np

from symgrad.tensor import Tensor
from symgrad.tracing.tree import flatten, unflatten

from ..structure import visible
from .subject import Output, Subject

#: elements of an array that gets a slider each
MOST_SLIDERS = 12
#: rows and columns of a sens that can be edited
MOST_CELLS = 6
#: sliders that stand open from the start
_MOST_OPEN = 6


def label_text(text: str) -> str:
    """The user's text as the label of a control, whose LaTeX front ends typeset: its signs are escaped.

    >>> print(label_text("$x$"))
    \\$x\\$
    """
    return re.sub(r"[\\$]", r"\\\g<0>", visible(text).replace("\n", " "))


class Field:
    """One float array whose elements can be changed, each by a control of its own.

    ``value`` is the array itself as long as nothing was changed, else one of its type, shape and dtype.
    """

    def __init__(self, array: Any, controls: list[Any], changed: Callable[[Any], None]) -> None:
        self.array = array
        self.controls = controls
        self._first = [_read(c) for c in controls]
        for control in controls:
            control.observe(changed, names="value")

    @property
    def value(self) -> Any:
        """The array with the elements that were changed."""
        moved = [k for k, (c, first) in enumerate(zip(self.controls, self._first, strict=True)) if _read(c) != first]
        if not moved:
            return self.array
        made = np.array(self.array)
        for k in moved:
            made.reshape(-1)[k] = _read(self.controls[k])
        if isinstance(self.array, float):
            return float(made)
        if isinstance(self.array, Tensor):
            return Tensor(made)
        return made[()] if isinstance(self.array, np.generic) else made

    def set_all(self, number: float) -> None:
        """Every element to the same number."""
        for control in self.controls:
            control.value = number


def _read(control: Any) -> float:
    """What a control says; front ends add errors of rounding to it."""
    return float(f"{control.value:.14g}")


class Inputs:
    """Sliders for the arguments of a subject, where they are floats and small."""

    def __init__(self, subject: Subject, changed: Callable[[Any], None]) -> None:
        self._subject = subject
        self.fields: dict[tuple[int, int], Field] = {}
        rows = []
        for k, (value, name) in enumerate(zip(subject.args, subject.names, strict=True)):
            for j, leaf in enumerate(flatten(value)[0]):
                if not _is_small(leaf):
                    continue
                label = label_text(name if leaf is value else f"{name}.{j}")
                field = self.fields[k, j] = Field(leaf, _sliders(label, leaf), changed)
                rows.append(field.controls)
        sliders = [control for row in rows for control in row]
        grid = ipywidgets.GridBox(sliders).add_class("sg-sliders")
        self.box = ipywidgets.Accordion(
            [grid] if sliders else [], titles=("inputs: drag to change",) if sliders else ()
        )
        self.box.selected_index = 0 if 0 < len(sliders) <= _MOST_OPEN else None
        self.box.layout.display = None if sliders else "none"

    @property
    def values(self) -> tuple:
        """The arguments as the sliders stand; those of the subject itself where nothing was moved."""
        made = []
        for k, value in enumerate(self._subject.args):
            leaves, structure = flatten(value)
            new = [self.fields[k, j].value if (k, j) in self.fields else leaf for j, leaf in enumerate(leaves)]
            same = all(a is b for a, b in zip(leaves, new, strict=True))
            made.append(value if same else unflatten(structure, new))
        return tuple(made)


def _is_small(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind != "f":
        return False
    return 0 < value.size <= MOST_SLIDERS and bool(np.isfinite(value).all())


def _sliders(name: str, value: Any) -> list[ipywidgets.FloatSlider]:
    flat = np.asarray(value).reshape(-1)
    labels = [name] if flat.size == 1 else [f"{name}{k + 1}" for k in range(flat.size)]
    return [_slider(label, float(str(v))) for label, v in zip(labels, flat, strict=True)]


def _slider(label: str, value: float) -> ipywidgets.FloatSlider:
    """A slider around ``value``, in steps of 1, 2 or 5 in a decimal place, that hits it exactly."""
    span = max(1.0, 2 * abs(value))
    place = 10.0 ** math.floor(math.log10(span / 100))
    step = next(n * place for n in (1, 2, 5, 10) if n * place >= span / 100)
    slider = ipywidgets.FloatSlider(
        value, min=value - 100 * step, max=value + 100 * step, step=step, description=label, readout_format=".4g"
    )
    slider.tooltip = f"input {label}"
    return slider


class SensGrid:
    """sens as a grid of numbers, one an output; ``box`` is shown while it counts."""

    def __init__(self, subject: Subject, sens: Any, changed: Callable[[Any], None]) -> None:
        self._given = subject.ones() if sens is None else sens
        leaves, self._structure = flatten(self._given)
        outputs, _ = flatten(subject.result)
        self.fields: list[Field | None] = []
        parts: list[Any] = []
        for k, (leaf, output) in enumerate(zip(leaves, outputs, strict=False)):
            title = "sens" if len(leaves) == 1 else f"sens[{k}]"
            if isinstance(output, Output) and np.shape(leaf) == output.shape and _has_cells(np.shape(leaf)):
                field = Field(leaf, _cells(title, np.asarray(leaf)), changed)
                columns = np.shape(leaf)[-1] if np.ndim(leaf) else 1
                grid = ipywidgets.GridBox(field.controls).add_class("sg-grid")
                grid.layout.grid_template_columns = f"repeat({columns}, auto)"
                parts.append(grid)
            else:
                field = None
                shape = visible(str(np.shape(leaf)))
                parts.append(ipywidgets.Label(f"{title}: shape {shape}, taken as it was given (edited up to 6×6)"))
            self.fields.append(field)
        self.ones = ipywidgets.Button(description="all ones", tooltip="weigh every output by 1")
        self.ones.on_click(lambda _: [field.set_all(1.0) for field in self.fields if field])
        self.box = ipywidgets.HBox([*parts, self.ones]).add_class("sg-sens")

    @property
    def value(self) -> Any:
        """sens as it stands; the one that was given where nothing was changed."""
        leaves, _ = flatten(self._given)
        new = [leaf if field is None else field.value for leaf, field in zip(leaves, self.fields, strict=False)]
        same = len(new) < len(leaves) or all(a is b for a, b in zip(leaves, new, strict=True))
        return self._given if same else unflatten(self._structure, new)


def _has_cells(shape: tuple[int, ...]) -> bool:
    return len(shape) <= 2 and all(0 < n <= MOST_CELLS for n in shape)


def _cells(title: str, values: np.ndarray) -> list[ipywidgets.FloatText]:
    """A number to edit for each element, called as in the formulas: sens1, sens2, … row by row."""
    flat = values.reshape(-1)
    labels = [title] if flat.size == 1 else [f"{title}{k + 1}" for k in range(flat.size)]
    return [ipywidgets.FloatText(float(str(v)), description=label) for label, v in zip(labels, flat, strict=True)]

"""Sliders for small float arguments and the grid of sens: what they are set to, as the arguments themselves."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets
import numpy as np

from symgrad.tensor import Tensor
from symgrad.tracing.tree import flatten, unflatten

from ..structure import visible
from .subject import Output, Subject

#: elements of an array that gets a slider each
MAX_SLIDERS = 12
#: rows and columns of a sens that can be edited
MAX_CELLS = 6
#: sliders that stand open from the start
_MAX_OPEN = 6


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


class Editable:
    """A nested argument: ``fields`` are those of its leaves that can be changed, None for the others."""

    def __init__(self, value: Any, fields: Sequence[Field | None]) -> None:
        self._given = value
        self.fields = fields

    @property
    def value(self) -> Any:
        """The argument as its controls stand; the very one that was given where nothing was changed."""
        leaves, structure = flatten(self._given)
        new = [leaf if field is None else field.value for leaf, field in zip(leaves, self.fields, strict=True)]
        same = all(a is b for a, b in zip(leaves, new, strict=True))
        return self._given if same else unflatten(structure, new)


class Inputs:
    """Sliders for the arguments of a subject, where they are floats and small."""

    def __init__(self, subject: Subject, changed: Callable[[Any], None]) -> None:
        self.arguments = []
        for value, name in zip(subject.args, subject.names, strict=True):
            fields = [
                Field(leaf, _sliders(label_text(name if leaf is value else f"{name}.{j}"), leaf), changed)
                if _is_small(leaf)
                else None
                for j, leaf in enumerate(flatten(value)[0])
            ]
            self.arguments.append(Editable(value, fields))
        sliders = [control for field in self.fields.values() for control in field.controls]
        grid = ipywidgets.GridBox(sliders).add_class("sg-sliders")
        self.box = ipywidgets.Accordion(
            [grid] if sliders else [], titles=("inputs: drag to change",) if sliders else ()
        )
        self.box.selected_index = 0 if 0 < len(sliders) <= _MAX_OPEN else None
        self.box.layout.display = None if sliders else "none"

    @property
    def fields(self) -> dict[tuple[int, int], Field]:
        """The fields by the number of the argument, and of the leaf in it."""
        pairs = ((k, j, f) for k, argument in enumerate(self.arguments) for j, f in enumerate(argument.fields))
        return {(k, j): field for k, j, field in pairs if field is not None}

    @property
    def values(self) -> tuple:
        """The arguments as the sliders stand."""
        return tuple(argument.value for argument in self.arguments)


def _is_small(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind != "f":
        return False
    return 0 < value.size <= MAX_SLIDERS and bool(np.isfinite(value).all())


def _sliders(name: str, value: Any) -> list[ipywidgets.FloatSlider]:
    flat = np.asarray(value).reshape(-1)
    labels = [name] if flat.size == 1 else [f"{name}{k}" for k in range(flat.size)]
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


class SensGrid(Editable):
    """sens as a grid of numbers, one an output; ``box`` is shown while it counts."""

    def __init__(self, subject: Subject, sens: Any, changed: Callable[[Any], None]) -> None:
        given = subject.ones() if sens is None else sens
        leaves, outputs = flatten(given)[0], flatten(subject.result)[0]
        fields: list[Field | None] = []
        parts: list[Any] = []
        for k, leaf in enumerate(leaves):
            title = "sens" if len(leaves) == 1 else f"sens[{k}]"
            shape = np.shape(leaf)
            output = outputs[k] if k < len(outputs) else None
            if isinstance(output, Output) and shape == output.shape and _has_cells(shape):
                field = Field(leaf, _cells(title, np.asarray(leaf)), changed)
                grid = ipywidgets.GridBox(field.controls).add_class("sg-grid")
                grid.layout.grid_template_columns = f"repeat({shape[-1] if shape else 1}, auto)"
                parts.append(grid)
            else:
                field = None
                said = f"{title}: shape {visible(str(shape))}, taken as it was given (edited up to 6×6)"
                parts.append(ipywidgets.Label(said))
            fields.append(field)
        super().__init__(given, fields)
        self.ones = ipywidgets.Button(description="all ones", tooltip="weigh every output by 1")
        self.ones.on_click(lambda _: [field.set_all(1.0) for field in fields if field])
        self.box = ipywidgets.HBox([*parts, self.ones]).add_class("sg-sens")


def _has_cells(shape: tuple[int, ...]) -> bool:
    return len(shape) <= 2 and all(0 < n <= MAX_CELLS for n in shape)


def _cells(title: str, values: np.ndarray) -> list[ipywidgets.FloatText]:
    """A number to edit for each element, called as in the formulas: sens0, sens1, … row by row."""
    flat = values.reshape(-1)
    labels = [title] if flat.size == 1 else [f"{title}{k}" for k in range(flat.size)]
    return [ipywidgets.FloatText(float(str(v)), description=label) for label, v in zip(labels, flat, strict=True)]

"""The flags as controls: what is set on them is read as ``Flags``, and what the API refuses cannot be set."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from typing import Any

import ipywidgets

from symgrad.flags import Flag
from symgrad.tracing.provenance import SourceLine

from ..structure import visible
from .flags import CALLS, MODES, ORDERS, Flags, meaning, others, refusals
from .inputs import label_text
from .subject import Subject

_SWITCHES = [field.name for field in fields(Flags) if isinstance(field.default, bool)]
_OPERATION = [name for name in _SWITCHES if meaning(name).call == "GradOperation"]
_KEYWORDS = [name for name in _SWITCHES if name not in _OPERATION]
_LONGEST_LINE = 40


class FlagControls:
    """Controls for each flag. ``changed`` is called once a change, after all controls agree."""

    def __init__(self, subject: Subject, flags: Flags, changed: Callable[[], None]) -> None:
        self._subject = subject
        self._changed = changed
        self._quiet = False
        self.call: Any = ipywidgets.ToggleButtons(options=list(CALLS), tooltips=list(CALLS.values()))
        self.order: Any = ipywidgets.ToggleButtons(options=ORDERS, tooltips=[meaning("order").help] * len(ORDERS))
        self.mode: Any = ipywidgets.ToggleButtons(options=MODES, tooltips=[meaning("mode").help] * len(MODES))
        self.boxes = {name: _box(name, meaning(name).help) for name in _SWITCHES}
        self.positions = [_box(name, f"differentiate by {name}") for name in subject.names]
        self.trainable = [_box(p.name, meaning("requires_grad").help) for p in subject.parameters]
        self.stopped = {
            name: _box(_bound(name, line), meaning("stop_gradient").help) for name, line in subject.stoppable.items()
        }
        self.others = {flag.name: _other(flag) for flag in others()}
        for box, fine in zip(self.positions, subject.differentiable, strict=True):
            box.disabled = not fine
            if not fine:
                box.tooltip = f"{box.tooltip}: not made of floats, it has no derivative"
        self.flags = flags
        of_grad = (*(self.boxes[name] for name in _KEYWORDS), *self.positions, self.mode)
        of_both = (self.call, self.order, *self.trainable, *self.stopped.values(), *self.others.values())
        for read_by, controls in (
            (("GradOperation",), [self.boxes[name] for name in _OPERATION]),
            (("grad", "value_and_grad"), of_grad),
            (tuple(CALLS), of_both),
        ):
            for control in controls:
                control.observe(partial(self._set, read_by), names="value")
        self.box = self._layout()
        self._refuse()

    @property
    def flags(self) -> Flags:
        """The flags as the controls stand."""
        return Flags(
            call=self.call.value,
            **{name: box.value for name, box in self.boxes.items()},
            grad_position=tuple(k for k, box in enumerate(self.positions) if box.value),
            mode=self.mode.value,
            trainable=tuple(k for k, box in enumerate(self.trainable) if box.value),
            stopped=tuple(name for name, box in self.stopped.items() if box.value),
            order=self.order.value,
            others=tuple((name, c.value) for name, c in self.others.items() if c.value not in (False, None)),
        )

    @flags.setter
    def flags(self, flags: Flags) -> None:
        with self._together():
            self.call.value, self.order.value, self.mode.value = flags.call, flags.order, flags.mode
            for name, box in self.boxes.items():
                box.value = getattr(flags, name)
            for boxes, chosen in ((self.positions, flags.grad_position), (self.trainable, flags.trainable)):
                for k, box in enumerate(boxes):
                    box.value = k in chosen
            for name, box in self.stopped.items():
                box.value = name in flags.stopped
            for name, control in self.others.items():
                control.value = dict(flags.others).get(name, False)

    @contextmanager
    def _together(self) -> Iterator[None]:
        """Inside, controls are set without a word about each."""
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before

    def _set(self, read_by: Sequence[str], _: Any) -> None:
        """A flag was set that these calls read: the first of them is the call from now on, unless another one is."""
        if not self._quiet:
            with self._together():
                self.call.value = self.call.value if self.call.value in read_by else read_by[0]
            self._refuse()
            self._changed()

    def _refuse(self) -> None:
        """Disable what the API would refuse, with the reason, and dim the flags that the call does not read."""
        reasons = refusals(self._subject, self.flags)
        for name, box in self.boxes.items():
            box.disabled = name in reasons
            self._glosses[name].value = _gloss(reasons.get(name) or meaning(name).gloss, name in reasons)
        operation = self.call.value == "GradOperation"
        for group, used in ((self._operation, operation), (self._keywords, not operation)):
            (group.remove_class if used else group.add_class)("sg-unused")

    def _layout(self) -> ipywidgets.VBox:
        self._glosses = {name: ipywidgets.HTML() for name in self.boxes}
        flags = {name: ipywidgets.HBox([box, self._glosses[name]]) for name, box in self.boxes.items()}
        positions = _row("grad_position", self.positions)
        self._operation = _group("GradOperation(…)", [flags[n] for n in _OPERATION])
        mode = _row("mode", [self.mode])
        self._keywords = _group("grad(…), value_and_grad(…)", [positions, *(flags[n] for n in _KEYWORDS), mode])
        parts: list[Any] = [_row("order", [self.order])]
        if self.trainable:
            parts.append(_row("requires_grad", self.trainable))
        else:
            for name in ("get_by_list", "weights"):
                flags[name].layout.display = "none"
        if self.stopped:
            parts.append(_row("stop_gradient", list(self.stopped.values())))
        columns = ipywidgets.HBox([self._operation, self._keywords]).add_class("sg-columns")
        parts += [ipywidgets.HBox([control, _glossed(name)]) for name, control in self.others.items()]
        both = _group("with both", parts)
        return ipywidgets.VBox([self.call, columns, both]).add_class("sg-flags")


def _box(label: str, meaning: str) -> ipywidgets.Checkbox:
    box = ipywidgets.Checkbox(False, description=label_text(label), indent=False)
    box.tooltip = meaning
    return box


def _other(flag: Flag) -> Any:
    """The control of a flag from outside: a box to check, or buttons, the first of which is to do without."""
    if flag.is_switch:
        return _box(flag.name, flag.help)
    made = ipywidgets.ToggleButtons(options=[("no " + flag.name, False), *((str(c), c) for c in flag.choices)])
    made.tooltips = [flag.help] * len(made.options)
    return made


def _glossed(name: str) -> ipywidgets.HTML:
    return ipywidgets.HTML(_gloss(meaning(name).gloss))


def _bound(name: str, line: SourceLine) -> str:
    """An intermediate as the line that binds it reads."""
    text = line.text if len(line.text) <= _LONGEST_LINE else line.text[: _LONGEST_LINE - 1] + "…"
    if not text:
        return name
    return f"{text} (line {line.number})" if text.startswith(name) else f"{name}: {text} (line {line.number})"


def _gloss(text: str, refused: bool = False) -> str:
    kind = "sg-gloss sg-refused" if refused else "sg-gloss"
    return f"<span class='{kind}'>{'not here: ' if refused else ''}{html.escape(visible(text))}</span>"


def _row(name: str, controls: Sequence[Any]) -> ipywidgets.HBox:
    """The name of a flag that has several controls, these, and what it means."""
    title = ipywidgets.HTML(f"<span class='sg-flag'>{name}</span>")
    return ipywidgets.HBox([title, *controls, _glossed(name)]).add_class("sg-several")


def _group(title: str, rows: Sequence[Any]) -> ipywidgets.VBox:
    return ipywidgets.VBox([ipywidgets.HTML(f"<span class='sg-word'>{title}</span>"), *rows]).add_class("sg-group")

"""The panel itself: controls and inputs, and below them what they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets
from IPython.core.getipython import get_ipython
from IPython.display import display

from ..coalescing import Newest
from ..errors import one_line
from .controls import FlagControls
from .export import CodeLine, ExportControls
from .flags import Flags
from .inputs import Inputs, SensGrid
from .opening import Opening
from .outcome import Outcome, Study
from .view import formula_html, notes_html, opened, result_html, static_bundles


class Panel:
    """Flags and inputs of a derivative, with its formula, shapes, values and code, which follow every change.

    Displayed it is a widget; ``static()`` is what it shows as an output that stays. Changes that come while an
    update is computed are answered together, by the last of them.
    """

    def __init__(self, begin: Opening, namespace: Mapping[str, Any] | None = None, derived: Any = None) -> None:
        self._study = Study(begin.subject, namespace, derived)
        self.outcome: Outcome | None = None
        self._before: Outcome | None = None
        self._newest = Newest(self._update)
        self._slots: list[Any] = []
        self.controls = FlagControls(begin.subject, begin.flags, self._ask)
        self.inputs = Inputs(begin.subject, self._ask)
        self.sens = SensGrid(begin.subject, begin.sens, self._ask)
        self.formula = ipywidgets.HTMLMath().add_class("sg-card")
        self.result = ipywidgets.HTML().add_class("sg-result")
        self.message = ipywidgets.HTML()
        self.code = CodeLine(title="the code that gives this")
        self.keep = ipywidgets.Button(description="Keep as output", icon="thumb-tack")
        self.keep.tooltip = "show the result below as an output that is saved with the notebook"
        self.keep.on_click(lambda _: self._keep())
        self.export = ExportControls(self._called)
        self.widget = ipywidgets.VBox(
            [
                self.controls.box,
                self.inputs.box,
                self.sens.box,
                self.message,
                self.formula,
                self.result,
                self.code,
                ipywidgets.HBox([self.keep, self.export.box]).add_class("sg-foot"),
                self.export.shown,
            ]
        ).add_class("sg-panel")
        self._update(None)

    @property
    def flags(self) -> Flags:
        """What the controls are set to; setting it sets them."""
        return self.controls.flags

    @flags.setter
    def flags(self, flags: Flags) -> None:
        self.controls.flags = flags
        self._ask()

    def static(self) -> StaticResult:
        """What the panel showed last, as an output without widgets."""
        return StaticResult(static_bundles(self.outcome) if self.outcome else [])

    def _ask(self, _: Any = None) -> None:
        self._newest.ask("panel", None)

    def _update(self, _: Any) -> None:
        self.widget.add_class("sg-busy")  # front ends dim what is shown if that lasts
        try:
            self._show()
        except (Exception, KeyboardInterrupt) as error:
            self._refused(error)
        finally:
            self.widget.remove_class("sg-busy")

    def _show(self) -> None:
        flags = self.flags
        self.sens.box.layout.display = None if flags.takes_sens else "none"
        # terms stay marked against the flags before these ones, however the inputs move
        before = self._before if self.outcome is None or self.outcome.flags == flags else self.outcome
        sens = self.sens.value if flags.takes_sens else None
        outcome = self._study.outcome(flags, self.inputs.values, sens, before)
        self.outcome, self._before = outcome, before
        self.message.value = ""
        self.formula.remove_class("sg-stale")
        self.result.remove_class("sg-stale")
        self.formula.value = formula_html(outcome)
        self.result.value = result_html(outcome)
        self.code.code = outcome.code

    def _refused(self, error: BaseException) -> None:
        """One line; what was shown last stays, dimmed."""
        text = "interrupted" if isinstance(error, KeyboardInterrupt) else one_line(error)
        self.message.value = f"<div class='sg-error' role='alert'>{notes_html([text])}</div>"
        self.formula.add_class("sg-stale")
        self.result.add_class("sg-stale")
        self.code.code = ""

    def _called(self) -> tuple[Any, tuple, dict[str, Any]]:
        """The derivative that is shown, and what it is called with."""
        flags = self.flags
        sens = self.sens.value if flags.takes_sens else None
        return self._study.derivative(flags), *self._study.arguments(flags, self.inputs.values, sens)

    def _keep(self) -> None:
        """Show the static result in the outputs that were set aside for it below the widget."""
        for slot, bundle in zip(self._slots, self.static().bundles, strict=False):
            slot.update(bundle, raw=True)

    def _ipython_display_(self) -> None:
        if type(get_ipython()).__name__ == "TerminalInteractiveShell":  # which has no widgets
            display(self.static())
            return
        bundle: Any = self.widget._repr_mimebundle_()
        display({**bundle, "text/plain": f"{self!r}: run the cell to use it"}, raw=True)
        # the result as it is now stays in the saved notebook; the style sheet hides it while the widget is there
        self._slots = [display(b, raw=True, display_id=True) for b in opened(self.static().bundles)]

    def __repr__(self) -> str:
        return f"<panel of {self._study.derivative(self.flags).__name__}>"


class StaticResult:
    """Outputs that need no kernel and no widgets; ``bundles`` are their MIME bundles."""

    def __init__(self, bundles: Sequence[dict[str, str]]) -> None:
        self.bundles = list(bundles)

    def _ipython_display_(self) -> None:
        for bundle in self.bundles:
            display(bundle, raw=True)

    def __repr__(self) -> str:
        return "\n".join(bundle["text/plain"] for bundle in self.bundles)

"""Taking what is shown away: code to copy; a format, a file if one is wanted, and the text."""

from __future__ import annotations

import html
import pathlib
from collections.abc import Callable
from typing import Any

import anywidget
import ipywidgets
import traitlets

from symgrad.exporters import FORMATS
from symgrad.flags.shown import export_text

from ..errors import one_line

_HERE = pathlib.Path(__file__).parent


class CodeLine(anywidget.AnyWidget):
    """Shows ``code`` below ``title``; nothing while there is none. Its stylesheet is that of the whole panel."""

    _esm = _HERE / "code_line.js"
    _css = _HERE / "panel.css"

    title = traitlets.Unicode("").tag(sync=True)
    code = traitlets.Unicode("").tag(sync=True)


class ExportControls:
    """``called`` gives what to export, with its arguments; ``box`` are the controls, ``shown`` the text."""

    def __init__(self, called: Callable[[], tuple[Any, tuple, dict[str, Any]]]) -> None:
        self._called = called
        self.format = ipywidgets.Dropdown(options=list(FORMATS), value="latex", description="format")
        self.path = ipywidgets.Text(placeholder="none: show the text", description="file")
        self.button = ipywidgets.Button(description="Export", tooltip="write the file, or show the text")
        self.button.on_click(lambda _: self._export())
        self.said = ipywidgets.HTML()
        self.box = ipywidgets.HBox([self.format, self.path, self.button, self.said]).add_class("sg-export")
        self.shown = CodeLine()

    def _export(self) -> None:
        name, path = str(self.format.value), self.path.value.strip()
        try:
            derived, args, kwargs = self._called()
            text = export_text(derived, name, args, kwargs, path or None)
        except (Exception, KeyboardInterrupt) as error:
            self.said.value = f"<span class='sg-note sg-error' role='alert'>{html.escape(one_line(error))}</span>"
            self.shown.code = ""
            return
        self.said.value = f"<span class='sg-note' role='status'>{html.escape(text)}</span>" if path else ""
        self.shown.title, self.shown.code = f"as {name}", "" if path else text

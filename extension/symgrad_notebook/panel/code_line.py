"""Code with a button that copies it, as a widget."""

from __future__ import annotations

import pathlib

import anywidget
import traitlets

_HERE = pathlib.Path(__file__).parent


class CodeLine(anywidget.AnyWidget):
    """Shows ``code`` below ``title``; nothing while there is none. Its stylesheet is that of the whole panel."""

    _esm = _HERE / "code_line.js"
    _css = _HERE / "panel.css"

    title = traitlets.Unicode("").tag(sync=True)
    code = traitlets.Unicode("").tag(sync=True)

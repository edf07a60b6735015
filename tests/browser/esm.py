"""A widget's ES module in Chromium with a fake anywidget model: no Jupyter, no kernel, a second a test.

    with esm.browser() as open_widget:
        shown = open_widget(pathlib.Path("explorer.js"), state={"n": 1}, answer=kernel_side)
        shown.page.locator("canvas").click()
        assert shown.sent[-1].content == {"kind": "pick", "row": 3}

``open_widget(module, …)`` loads the file as the front end would (the default export is ``{ initialize, render }``
or a function that returns it) with a model that has ``get``, ``set``, ``save_changes``, ``send``, ``on`` and
``off``, and gives a ``Shown``. Options: ``css`` (the file beside the module of the same name where there is one),
``state`` (the traits), ``answer`` (called with the content and the buffers of every message that the widget
sends, it gives the messages back: an iterable of ``(content, buffers)``), ``theme`` (``"light"`` or ``"dark"``:
JupyterLab's variables and page attributes; ``None``: a page without any, as in other front ends), ``width``,
``height`` and ``scale`` (device pixels a CSS pixel).

No test waits for a time: ``settle()`` waits until every message is answered and drawn, ``wait_until(condition)`` for
what comes later.

Playwright's sync API runs once a thread, so a fixture around ``browser`` ends before ``notebook`` of the conftest
starts: scope ``class`` (the fixture ``widget`` of the conftest is that).
"""

from __future__ import annotations

import base64
import contextlib
import pathlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import lab

_HOME = "http://widget.invalid/"
#: what JupyterLab's two themes say, as far as widgets read it
_THEMES = {
    "light": {
        "--jp-layout-color0": "white",
        "--jp-layout-color1": "white",
        "--jp-layout-color2": "#eeeeee",
        "--jp-layout-color3": "#bdbdbd",
        "--jp-border-color1": "#bdbdbd",
        "--jp-border-color2": "#e0e0e0",
        "--jp-border-color3": "#eeeeee",
        "--jp-ui-font-color0": "rgba(0, 0, 0, 1)",
        "--jp-ui-font-color1": "rgba(0, 0, 0, 0.87)",
        "--jp-ui-font-color2": "rgba(0, 0, 0, 0.54)",
        "--jp-ui-font-color3": "rgba(0, 0, 0, 0.38)",
        "--jp-content-font-color1": "rgba(0, 0, 0, 0.87)",
        "--jp-brand-color1": "#1976d2",
        "--jp-error-color1": "#d32f2f",
    },
    "dark": {
        "--jp-layout-color0": "#111111",
        "--jp-layout-color1": "#212121",
        "--jp-layout-color2": "#424242",
        "--jp-layout-color3": "#616161",
        "--jp-border-color1": "#616161",
        "--jp-border-color2": "#424242",
        "--jp-border-color3": "#212121",
        "--jp-ui-font-color0": "rgba(255, 255, 255, 1)",
        "--jp-ui-font-color1": "rgba(255, 255, 255, 0.87)",
        "--jp-ui-font-color2": "rgba(255, 255, 255, 0.54)",
        "--jp-ui-font-color3": "rgba(255, 255, 255, 0.38)",
        "--jp-content-font-color1": "rgba(255, 255, 255, 1)",
        "--jp-brand-color1": "#2196f3",
        "--jp-error-color1": "#ef5350",
    },
}
_COMMON = {
    "--jp-ui-font-size1": "13px",
    "--jp-code-font-size": "13px",
    "--jp-ui-font-family": "system-ui, sans-serif",
    "--jp-code-font-family": "monospace",
}
#: the model: traits, events, and messages with buffers as DataViews, as anywidget hands them over
_MODEL = """
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
const text = buffer => {
  const all = new Uint8Array(buffer.buffer ?? buffer, buffer.byteOffset ?? 0, buffer.byteLength);
  let made = "";
  for (let k = 0; k < all.length; k += 8192) made += String.fromCharCode(...all.subarray(k, k + 8192));
  return btoa(made);
};
let moved = 0, open = 0; // what was sent or received so far; messages that the kernel has not answered yet
window.settled = async () => {
  // an answer may ask in turn, at once or when it is drawn; what a frame draws is asked for in the next
  for (let seen = -1; seen !== moved || open; ) {
    seen = moved;
    for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame);
  }
};
window.deliver = replies => {
  open++;
  setTimeout(() => {
    open--;
    replies.forEach(reply => window.model.receive(...reply));
  });
};
window.makeModel = state => {
  const listeners = {};
  const emit = (name, ...values) => [...(listeners[name] ?? [])].forEach(f => f(...values));
  return {
    saved: [],
    get: name => state[name],
    set(name, value) {
      if (state[name] === value) return;
      state[name] = value;
      emit(`change:${name}`, this, value);
      emit("change", this);
    },
    save_changes() { this.saved.push(structuredClone(state)); },
    on(names, f) { for (const n of names.split(" ")) (listeners[n] ??= []).push(f); },
    off(names, f) {
      for (const n of names?.split(" ") ?? Object.keys(listeners))
        listeners[n] = f ? (listeners[n] ?? []).filter(g => g !== f) : [];
    },
    send(content, callbacks, buffers) {
      moved++;
      open++;
      const answered = window.sentToKernel(JSON.parse(JSON.stringify(content)), (buffers ?? []).map(text));
      answered.finally(() => open--);
    },
    receive(content, buffers) {
      moved++;
      emit("msg:custom", content, buffers.map(b => new DataView(bytes(b).buffer)));
    },
    listening: () => Object.values(listeners).reduce((n, l) => n + l.length, 0),
  };
};
window.mount = async state => {
  const { default: made } = await import("./widget.js");
  const widget = typeof made === "function" ? await made() : made;
  window.model = window.makeModel(state);
  await widget.initialize?.({ model: window.model });
  window.unmount = await widget.render({ model: window.model, el: document.getElementById("el") });
};
"""


class Message(NamedTuple):
    """What the widget sent to the kernel."""

    content: Any
    buffers: list[bytes]


class Shown:
    """A widget on a page: ``page`` is Playwright's, ``sent`` what came from it, ``failures`` what went wrong there."""

    def __init__(self, page: Any, answer: Callable | None) -> None:
        self.page = page
        self.sent: list[Message] = []
        self.failures: list[str] = []
        self._answer = answer
        page.on("pageerror", lambda error: self.failures.append(str(error)))
        page.on("console", lambda m: self.failures.append(m.text) if m.type == "error" else None)
        page.on("dialog", lambda d: (self.failures.append(f"dialog: {d.message}"), d.dismiss()))
        page.expose_function("sentToKernel", self._received)

    def _received(self, content: Any, buffers: list[str]) -> None:
        message = Message(content, [base64.b64decode(b) for b in buffers])
        self.sent.append(message)
        if self._answer is None:
            return
        replies = [[c, _texts(b)] for c, b in self._answer(message.content, message.buffers) or ()]
        # not awaited here: inside a callback of the page it would wait for itself
        self.page.evaluate("replies => window.deliver(replies)", replies)

    def send(self, content: Any, buffers: Sequence[bytes] = ()) -> None:
        """A custom message from the kernel."""
        self.page.evaluate("([content, buffers]) => window.model.receive(content, buffers)", [content, _texts(buffers)])

    def get(self, name: str) -> Any:
        """A trait as the widget has set it."""
        return self.page.evaluate("name => window.model.get(name)", name)

    def set(self, name: str, value: Any) -> None:
        """A change of a trait that the kernel made."""
        self.page.evaluate("([name, value]) => window.model.set(name, value)", [name, value])

    def saved(self) -> list[dict[str, Any]]:
        """The traits at each ``save_changes``."""
        return self.page.evaluate("() => window.model.saved")

    def kinds(self, kind: str, key: str = "kind") -> list[Message]:
        """The messages sent whose content has this ``kind``."""
        return [m for m in self.sent if m.content.get(key) == kind]

    def settle(self) -> None:
        """Wait until every message is answered, what the answers asked for too, and all is drawn."""
        self.page.evaluate("() => window.settled()")

    def wait_until(self, condition: Callable[[], Any], seconds: float = 30) -> Any:
        """Wait until ``condition()`` holds; gives what it gave."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            self.page.wait_for_timeout(20)
        raise AssertionError(f"the widget sent {[m.content for m in self.sent]}; failures: {self.failures}")

    def unmount(self) -> int:
        """Take the widget off the page, as the front end does; gives the number of listeners it left on the model."""
        return self.page.evaluate("() => { window.unmount?.(); return window.model.listening(); }")

    def pixel(self, selector: str, x: float, y: float) -> tuple[int, int, int, int]:
        """The colour of a canvas at a place of it, in CSS pixels."""
        return tuple(self.pixels(selector, x, y, 1, 1)[0][0])

    def pixels(self, selector: str, x: float, y: float, width: int, height: int) -> list[list[list[int]]]:
        """Rows of RGBA of a piece of a canvas that begins at a place in CSS pixels, in device pixels."""
        return self.page.evaluate(
            """([selector, x, y, width, height]) => {
                const canvas = document.querySelector(selector), box = canvas.getBoundingClientRect();
                const scale = canvas.width / box.width;
                const { data } = canvas.getContext("2d").getImageData(x * scale, y * scale, width, height);
                return Array.from({ length: height }, (_, i) => Array.from({ length: width },
                    (_, j) => [...data.slice(4 * (i * width + j), 4 * (i * width + j) + 4)]));
            }""",
            [selector, x, y, width, height],
        )


def _texts(buffers: Iterable[bytes]) -> list[str]:
    return [base64.b64encode(bytes(b)).decode() for b in buffers]


@contextlib.contextmanager
def browser() -> Iterator[Callable[..., Shown]]:
    """A Chromium that reaches nothing; gives ``open_widget``, which shows one widget at a time."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=lab.browser_path(), args=list(lab._SWITCHES))
        contexts: list[Any] = []

        def open_widget(
            module: pathlib.Path,
            css: pathlib.Path | None = None,
            state: dict[str, Any] | None = None,
            answer: Callable[[Any, list[bytes]], Iterable[tuple[Any, Sequence[bytes]]] | None] | None = None,
            theme: str | None = "light",
            width: int = 1000,
            height: int = 900,
            scale: float = 1.0,
        ) -> Shown:
            for old in contexts:  # one page at a time is what a test looks at
                old.close()
            context = running.new_context(viewport={"width": width, "height": height}, device_scale_factor=scale)
            contexts[:] = [context]
            page = context.new_page()
            page.set_default_timeout(30_000)
            shown = Shown(page, answer)
            style = css or module.with_suffix(".css")
            files = {
                _HOME: ("text/html", _page(theme, style.read_text() if style.exists() else "")),
                _HOME + "widget.js": ("text/javascript", module.read_text()),
            }

            def gate(route: Any) -> None:
                kind, body = files.get(route.request.url, ("", ""))
                if kind:
                    route.fulfill(content_type=f"{kind}; charset=utf-8", body=body)
                else:
                    shown.failures.append(f"the page asked for {route.request.url}")
                    route.abort()

            context.route(lambda address: not address.startswith(("data:", "blob:")), gate)
            page.goto(_HOME)
            page.evaluate("state => window.mount(state)", state or {})
            return shown

        try:
            yield open_widget
        finally:
            running.close()


def _page(theme: str | None, css: str) -> str:
    variables = _THEMES[theme] | _COMMON if theme else {}
    declared = "".join(f"{name}: {value};" for name, value in variables.items())
    attributes = f'data-jp-theme-light="{"true" if theme == "light" else "false"}"' if theme else ""
    body = "background: var(--jp-layout-color0, white); color: var(--jp-ui-font-color1, black); font: 13px sans-serif"
    return (
        f"<!doctype html><meta charset=utf-8><link rel=icon href='data:,'><style>:root {{{declared}}} body {{{body}}}"
        f"</style><style>{css}</style><script>{_MODEL}</script><body {attributes}><div id=el></div></body>"
    )

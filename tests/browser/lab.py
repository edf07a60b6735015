"""A real JupyterLab with a Chromium on it, for the browser tests and for the README's picture."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
_SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_READY = """() => { const s = window.jupyterapp?.shell.currentWidget?.sessionContext;
    return s?.isReady && s.session?.kernel?.connectionStatus === 'connected' && s.session.kernel.status === 'idle' }"""


def browser_path() -> str | None:
    """The installed Chromium or Chrome, if there is one."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    return None


@contextlib.contextmanager
def server(folder: pathlib.Path, state: pathlib.Path) -> Iterator[str]:
    """JupyterLab on ``folder``, all its own files in ``state``; gives the address with its token."""
    (state / "cfg" / "labconfig").mkdir(parents=True)
    (state / "cfg" / "labconfig" / "page_config.json").write_text(
        json.dumps({"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}})
    )
    places = {"JUPYTER_CONFIG_DIR": "cfg", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "rt", "IPYTHONDIR": "ipy"}
    places |= {"JUPYTERLAB_SETTINGS_DIR": "set", "JUPYTERLAB_WORKSPACES_DIR": "ws", "HOME": "home"}
    env = os.environ | {name: str(state / place) for name, place in places.items()}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    options = [
        *("--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"),
        *("--LabApp.extension_manager=readonly", "--LabApp.expose_app_in_browser=True"),
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    with open(state / "lab.log", "w") as log:
        process = subprocess.Popen([sys.executable, "-m", "jupyterlab", *options], env=env, stdout=log, stderr=log)
        try:
            _wait(f"http://127.0.0.1:{port}/api/status?token={token}", process, state / "lab.log")
            # reset: a page shows its own notebook alone, not the workspace that an earlier page left
            yield f"http://127.0.0.1:{port}/lab/tree/{{}}?token={token}&reset"
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(address: str, process: subprocess.Popen, log: pathlib.Path) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=2) as answer:
            answer.read()
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


@contextlib.contextmanager
def page(
    address: str, width: int = 1100, height: int = 1400, scale: float = 1.0, home: str = "", scheme: Any = "light"
) -> Iterator:
    """A Chromium page on ``address`` that reaches nothing but this server, or ``home``; an error if it tried to."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=list(_SWITCHES))
        viewport: Any = {"width": width, "height": height}
        context = browser.new_context(viewport=viewport, device_scale_factor=scale, color_scheme=scheme)
        home = home or address.split("/lab/")[0] + "/"
        refused: list[str] = []

        def gate(route) -> None:
            if route.request.url.startswith((home, "data:", "blob:")):
                route.continue_()
            else:
                refused.append(route.request.url)
                route.abort()

        context.route("**/*", gate)
        opened = context.new_page()
        opened.set_default_timeout(60_000)
        opened.goto(address)
        try:
            yield opened
        finally:
            browser.close()
        if refused:
            raise RuntimeError(f"the page asked for addresses off this server: {refused}")


def expect(locator):
    """Playwright's assertions on ``locator``: each waits until it holds, for what the kernel has still to send."""
    from playwright import sync_api

    sync_api.expect.set_options(timeout=60_000)
    return sync_api.expect(locator)


def run_all(opened, wait: bool = True) -> None:
    """Run every cell of the notebook that is open, once its kernel is really there, and wait for the end."""
    opened.locator(".jp-Notebook").wait_for()
    # the toolbar says idle before a kernel exists, so the application itself is asked
    opened.wait_for_function(_READY)
    if not wait:
        opened.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells') }")
        return
    opened.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    opened.wait_for_function(_READY)


def change_theme(opened, theme: str) -> None:
    """Show the page in another theme of JupyterLab, ``JupyterLab Dark`` or ``JupyterLab Light``."""
    opened.locator(".jp-Notebook").wait_for()
    opened.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
    dark = str("Dark" not in theme).lower()
    opened.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{dark}'")

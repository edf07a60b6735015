"""Colours of a picture, after Okabe and Ito: told apart by everybody, light and dark; none says what no shape says."""

from __future__ import annotations

PAPER, INK, MUTED, LINES = "#ffffff", "#1f2328", "#59636e", "#8c959f"
#: the panel and the outline of each side; the last is for all further orders
SIDES = (("#eef5fb", "#0b63a5"), ("#fdf3e6", "#a85000"), ("#e9f6f0", "#00705a"), ("#f8eef5", "#963a78"))
#: the ground and the outline where values stop being finite
WARNING = ("#ffe8ec", "#b00030")

_DARK_PAPER, _DARK_INK, _DARK_MUTED, _DARK_LINES = "#1b1f24", "#e6edf3", "#9da7b3", "#7d8590"
_DARK_SIDES = (("#15222f", "#62b6ee"), ("#2a2114", "#eba13a"), ("#12281f", "#3fc79a"), ("#2b1a28", "#dd8fc4"))
_DARK_WARNING = ("#4a1120", "#ff8fa6")


def dark_rules(name: str) -> str:
    """Rules for the picture whose id is ``name``, where dark is asked for: by the reader, or by ``data-theme``."""
    rules = {
        ".sg-paper": f"fill:{_DARK_PAPER}",
        ".sg-ink": f"fill:{_DARK_INK}",
        ".sg-muted": f"fill:{_DARK_MUTED}",
        ".sg-ink-fill": f"fill:{_DARK_INK}",
        ".sg-ink-stroke": f"stroke:{_DARK_INK}",
        ".sg-line-fill": f"fill:{_DARK_LINES}",
        ".sg-line-stroke": f"stroke:{_DARK_LINES}",
        ".sg-loop": f"stroke:{_DARK_MUTED}",
        ".sg-origin": f"fill:{_DARK_WARNING[0]};stroke:{_DARK_WARNING[1]}",
        ".sg-warn": f"fill:{_DARK_WARNING[1]}",
        f".sg-node{len(SIDES)}": f"fill:{_DARK_PAPER};stroke:{_DARK_MUTED}",
    }
    for k, (panel, colour) in enumerate(_DARK_SIDES):
        rules[f".sg-panel{k}"] = f"fill:{panel};stroke:{colour}"
        rules[f".sg-text{k}"] = f"fill:{colour};stroke:{panel}"
        rules[f".sg-node{k}"] = f"fill:{_DARK_PAPER};stroke:{colour}"
    chosen = "".join(f"#{name}[data-theme=dark] {where}{{{what}}}" for where, what in rules.items())
    asked = "".join(f"#{name}:not([data-theme=light]) {where}{{{what}}}" for where, what in rules.items())
    return f"{chosen}@media (prefers-color-scheme:dark){{{asked}}}"

"""The explorer without a front end: an SVG of every block, as self-contained HTML and as text."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from collections.abc import Sequence

import numpy as np

from .blocks import Block
from .pooling import INFINITY, MINUS_INFINITY, NAN, NUMBER, ZERO, Pooled
from .reading import spelled
from .scale import LIGHT, TOP, ramp, rgb, short

#: pixels of the longer side of the picture of a block, alone or among several
_ALONE, _AMONG = 360, 150
#: height and width of a cell at most, and where the picture begins below the title
_CELL = (38, 68)
_HEAD = 48
#: blocks that are drawn each way; the text names the others
_MAX_BLOCKS = 8
#: shades each side of zero: more are not told apart, and take longer to save
_SHADES = 40
_MARKS = ("paper", "hatch", "ink", "alarm")
#: what an address must not hold as it is
_IN_ADDRESS = {ord(c): f"%{ord(c):02X}" for c in '%<>"&#'}
_FONT = 'font-family="system-ui, sans-serif" font-size="11"'


class StaticPicture:
    """What a notebook keeps of an explorer: ``svg`` is the picture, ``text`` says the same in words."""

    def __init__(self, blocks: Sequence[Block], columns: int, title: str) -> None:
        self._blocks = list(blocks)
        self._columns = columns
        self.text = "\n".join([title, *(f"  {b.out.name} by {b.by.name}: {described(b)}" for b in blocks)])

    @property
    def svg(self) -> str:
        """The picture as a document of its own."""
        return _document(self._blocks, self._columns)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        # an image, so that nothing in it depends on the page, and a page that trusts nothing still shows it
        source = self.svg.encode("ascii", "xmlcharrefreplace").decode().translate(_IN_ADDRESS)
        image = f'<img alt="{html.escape(self.text)}" src="data:image/svg+xml,{source}">'
        return {"text/html": f'<div class="sg-static">{image}</div>', "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def described(block: Block) -> str:
    """A block in words: its shape, its pattern and its range."""
    rows, columns = block.shape
    entries = rows * columns - block.entries.count(ZERO)
    parts = [f"{rows} × {columns}", f"{entries} {'entry' if entries == 1 else 'entries'}"]
    if rows * columns and entries < rows * columns:
        parts[1] += f" ({100 * entries / (rows * columns):.3g}%), the others zero by structure"
    if block.linear.largest:
        parts.append(f"magnitudes {short(block.log.smallest)} to {short(block.log.largest)}")
    odd = [(block.entries.count(mark), name) for mark, name in ((NAN, "NaN"), (INFINITY, "∞"), (MINUS_INFINITY, "−∞"))]
    return ", ".join([*parts, *(f"{count} {name}" for count, name in odd if count)])


def png(block: Block, size: tuple[int, int]) -> bytes:
    """The block as an image of this height and width."""
    bins = min(block.shape[0], size[0]), min(block.shape[1], size[1])
    pooled = block.entries.pooled(block.whole, bins)
    down, across = (np.arange(n) * b // n for n, b in zip(size, bins, strict=True))
    return _encoded(_indexed(pooled, block)[down][:, across], pooled.marks[down][:, across])


def _indexed(pooled: Pooled, block: Block) -> np.ndarray:
    """The place of each level in the palette."""
    levels = np.rint(block.linear.levels(pooled.values).astype(float) * _SHADES / TOP).astype(int)
    small = (levels == 0) & (pooled.values != 0)
    levels[small] = np.sign(pooled.values[small])
    return (levels + _SHADES).astype(np.uint8)


def _encoded(shade: np.ndarray, marks: np.ndarray) -> bytes:
    """As PNG. The marks are textures, so that they differ by more than colour."""
    paper, hatch, ink, alarm = (2 * _SHADES + 1 + k for k in range(len(_MARKS)))
    y, x = np.indices(shade.shape)
    shade = np.where(marks == ZERO, np.where((x + y) % 6 == 0, hatch, paper), shade)
    shade = np.where(marks == NAN, np.where((x // 3 + y // 3) % 2, ink, alarm), shade)
    shade = np.where(marks == INFINITY, np.where(x % 5 < 2, ink, 2 * _SHADES), shade)
    shade = np.where(marks == MINUS_INFINITY, np.where(y % 5 < 2, ink, 0), shade)
    shades = ramp(LIGHT["stops"], np.arange(-_SHADES, _SHADES + 1), _SHADES)
    palette = shades.tobytes() + bytes(v for mark in _MARKS for v in rgb(LIGHT[mark]))
    height, width = shade.shape
    lines = np.concatenate([np.zeros((height, 1)), shade], axis=1).astype(np.uint8)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b"")]
    framed = [struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


def _document(blocks: Sequence[Block], columns: int) -> str:
    """Blocks in their places, outputs downwards and inputs across, each with its legend."""
    grid = [blocks[k : k + columns] for k in range(0, len(blocks), max(columns, 1))]
    shown = [row[:_MAX_BLOCKS] for row in grid[:_MAX_BLOCKS]]
    longest = _ALONE if len(blocks) == 1 else _AMONG
    drawn = [[_drawn(b, longest) for b in row] for row in shown]
    widths = [max(row[k][1] for row in drawn) for k in range(len(drawn[0]))] if drawn else []
    parts, top = [], 10
    for row in drawn:
        left = 10
        for (content, _, _), width in zip(row, widths, strict=True):
            parts.append(f'<g transform="translate({left} {top})">{content}</g>')
            left += width + 16
        top += max(height for _, _, height in row) + 10
    hidden = len(blocks) - sum(map(len, shown))
    if hidden:
        parts.append(_text(10, top + 8, f"{hidden} more blocks"))
        top += 18
    width = max(sum(w + 16 for w in widths) + 4, 160)
    card = f'<rect width="{width}" height="{top}" rx="4" fill="{LIGHT["paper"]}"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" viewBox="0 0 {width} {top}" {_FONT}>'
        f"{card}{''.join(parts)}</svg>"
    )


def _drawn(block: Block, longest: int) -> tuple[str, int, int]:
    """One block as SVG, with its width and height."""
    rows, columns = block.shape
    title = f"{block.out.name} by {block.by.name}"
    size = f"{rows} × {columns}"
    if not rows * columns:
        return _text(0, 12, title) + _text(0, 26, f"{size}, no entries", quiet=True), _wide(title), 34
    # of thin blocks the shorter side is drawn wider than it is
    shares = [longest * n / max(rows, columns) for n in (rows, columns)]
    down = round(max(min(shares[0], _CELL[0] * rows), min(longest, _CELL[0] / 2 * rows), 12))
    across = round(max(min(shares[1], _CELL[1] * columns), min(longest, _CELL[1] / 2 * columns), 12))
    ticks, left = _ticks(block, down, across)
    source = base64.b64encode(png(block, (down, across))).decode()
    image = (
        f'<image width="{across}" height="{down}" preserveAspectRatio="none" style="image-rendering:pixelated" '
        f'href="data:image/png;base64,{source}"/>'
        f'<rect width="{across}" height="{down}" fill="none" stroke="#8a8a8a"/>'
    )
    plot = f'<g transform="translate({left}.5 {_HEAD}.5)">{image}{ticks}{_values(block, down, across)}</g>'
    legend, height = _legend(block, _HEAD + down + 10, max(across, 110))
    return (
        f'{_text(0, 12, title)}{_text(0, 26, size, quiet=True)}{plot}<g transform="translate({left})">{legend}</g>',
        left + max(across, 110, _wide(title) - left) + 1,
        _HEAD + 10 + down + height,
    )


def _ticks(block: Block, down: int, across: int) -> tuple[str, int]:
    """Indices along the rows and columns, where there are some, and the room that those of the rows take."""
    rows, columns = block.shape
    parts, widest = [], 0
    for k in _places(rows, down, 14) if block.out.shape else []:
        label = ", ".join(map(str, block.out.index(k)))
        widest = max(widest, _wide(label))
        parts.append(_text(-5, round(down * (k + 0.5) / rows + 4, 1), label, quiet=True, anchor="end"))
    wide = _wide(", ".join(map(str, block.by.index(columns - 1)))) + 10
    shown = _places(columns, across, wide)
    for k in shown if block.by.shape else []:
        label = ", ".join(map(str, block.by.index(k)))
        anchor = "middle" if len(shown) == columns or not k else "end"  # within the picture
        parts.append(_text(round(across * (k + 0.5) / columns, 1), -5, label, quiet=True, anchor=anchor))
    return "".join(parts), widest + 8


def _places(count: int, length: int, room: int) -> Sequence[int]:
    """Every place, if each has ``room``; else the first and the last."""
    return range(count) if length >= count * room else [0, count - 1] if length >= 2 * room else [0]


def _values(block: Block, down: int, across: int) -> str:
    """Small blocks have their values written into them."""
    rows, columns = block.shape
    height, width = down / rows, across / columns
    if height < 14 or width < 44:
        return ""
    shades = ramp(LIGHT["stops"], np.arange(-TOP, TOP + 1), TOP)
    parts = []
    for row, column in np.ndindex(rows, columns):
        value, mark = block.entries.at(row, column)
        if mark == ZERO:
            continue
        level = int(block.linear.levels(np.array([value if mark == NUMBER else 0.0]))[0])
        is_dark = mark == NUMBER and shades[level + TOP] @ [0.3, 0.6, 0.1] < 135
        x, y = round(width * (column + 0.5), 1), round(height * (row + 0.5) + 4, 1)
        if mark != NUMBER:
            parts.append(f'<rect x="{x - 15:g}" y="{y - 12:g}" width="30" height="16" fill="white"/>')
        parts.append(
            _text(x, y, spelled(value, 3).replace("-", "−"), anchor="middle", color="white" if is_dark else "#111111")
        )
    return "".join(parts)


def _legend(block: Block, top: int, width: int) -> tuple[str, int]:
    """The scale, and what the marks that occur mean."""
    stops = LIGHT["stops"]
    ramp_id = f"sg-ramp-{block.number}"
    shades = "".join(f'<stop offset="{k / (len(stops) - 1)}" stop-color="{c}"/>' for k, c in enumerate(stops))
    largest = short(block.linear.largest)
    parts = [
        f'<linearGradient id="{ramp_id}">{shades}</linearGradient>',
        f'<rect x="0.5" y="{top}.5" width="{width}" height="9" fill="url(#{ramp_id})" stroke="#8a8a8a"/>',
        _text(0, top + 22, f"−{largest}", quiet=True),
        _text(width / 2, top + 22, "0", quiet=True, anchor="middle"),
        _text(width, top + 22, largest, quiet=True, anchor="end"),
    ]
    if not block.linear.largest:
        parts = [_text(0, top + 10, "every value is 0", quiet=True)] if block.entries.count(NUMBER) else []
    line = top + 36
    if block.entries.count(ZERO):
        stripes = "".join(f'<path d="M{4 * k - 4} {line + 1} l10 -10" stroke="#b5b5b5"/>' for k in range(1, 5))
        clip = f'<svg x="0" y="{line - 9}" width="18" height="10" viewBox="0 {line - 9} 18 10">{stripes}</svg>'
        parts += [clip, f'<rect x="0.5" y="{line - 8.5}" width="17" height="9" fill="none" stroke="#b5b5b5"/>']
        parts.append(_text(23, line, "zero by structure", quiet=True))
        line += 14
    for mark, name in ((NAN, "NaN (checks)"), (INFINITY, "∞ (bars up)"), (MINUS_INFINITY, "−∞ (bars across)")):
        count = block.entries.count(mark)
        if count:
            parts.append(_text(0, line, f"{count} × {name}", quiet=True))
            line += 14
    return "".join(parts), line - top


def _text(x: float, y: float, text: str, quiet: bool = False, anchor: str = "start", color: str = LIGHT["ink"]) -> str:
    color = "#5c5c5c" if quiet else color
    return f'<text x="{x:g}" y="{y:g}" fill="{color}" text-anchor="{anchor}">{html.escape(text)}</text>'


def _wide(text: str) -> int:
    """The width of a title, as far as it can be told without the font."""
    return round(6.6 * len(text))

"""The picture that a notebook keeps: whole, small, and every string in it text."""

from __future__ import annotations

import re
import struct
import urllib.parse
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest
from symgrad_notebook.explorer import explore
from symgrad_notebook.explorer.scale import LIGHT, rgb
from symgrad_notebook.explorer.static import png

import symgrad as sg

HOSTILE = "</script><img src=x onerror=alert(1)>\"'$\\href{javascript:alert(2)}\u202e&"
SVG = "{http://www.w3.org/2000/svg}"


def _pixels(image: bytes) -> np.ndarray:
    """The colours of a PNG as it is written here, checked chunk by chunk."""
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(image):
        (length,) = struct.unpack(">I", image[at : at + 4])
        name, data = image[at + 4 : at + 8], image[at + 8 : at + 8 + length]
        assert struct.unpack(">I", image[at + 8 + length : at + 12 + length])[0] == zlib.crc32(name + data)
        chunks[name] = data
        at += 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not lines[:, 0].any()
    return np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)[lines[:, 1:]]


def _colors(pixels: np.ndarray) -> set[tuple[int, ...]]:
    return {tuple(map(int, c)) for c in pixels.reshape(-1, 3)}


def test_cells_have_the_colours_of_their_values():
    explorer = explore(sg.jacobian(lambda x: np.stack([2 * x[0], x[1] - 2 * x[0]])), (np.ones(2),), {})
    pixels = _pixels(png(explorer.blocks[0], (20, 20)))
    assert pixels.shape == (20, 20, 3)
    assert _colors(pixels[:10, :10]) == {rgb(LIGHT["stops"][-1])}
    assert _colors(pixels[10:, :10]) == {rgb(LIGHT["stops"][0])}
    assert _colors(pixels[:10, 10:]) == {rgb(LIGHT["paper"]), rgb(LIGHT["hatch"])}
    assert len(_colors(pixels[10:, 10:])) == 1


def test_what_is_no_number_is_a_texture():
    x = np.array([0.0, -1.0, 1.0])
    explorer = explore(sg.jacobian(lambda x: np.stack([np.log(x[0]), np.sqrt(x[1]), -np.log(x[0]), x[2]])), (x,), {})
    pixels = _pixels(png(explorer.blocks[0], (40, 30)))
    strong = {0: rgb(LIGHT["stops"][-1]), 2: rgb(LIGHT["stops"][0])}
    assert _colors(pixels[:10, :10]) == {rgb(LIGHT["ink"]), strong[0]}
    assert _colors(pixels[10:20, 10:20]) == {rgb(LIGHT["ink"]), rgb(LIGHT["alarm"])}
    assert _colors(pixels[20:30, :10]) == {rgb(LIGHT["ink"]), strong[2]}
    assert "1 NaN, 1 ∞, 1 −∞" in explorer.static().text


def test_small_blocks_are_written_out():
    explorer = explore(sg.jacobian(lambda x: x**2), (np.array([1.0, 0.25]),), {})
    texts = [t.text for t in ElementTree.fromstring(explorer.static().svg).iter(f"{SVG}text")]
    assert texts == ["out by x", "2 × 2", "0", "1", "0", "1", "2", "0.5", "−2", "0", "2", "zero by structure"]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (np.sin, (1.0,)),
        (lambda x: x[:0] * 1.0, (np.ones(3),)),
        (lambda x: x * 0.0, (np.ones(3),)),
        (lambda x: x[:, None] * x, (np.ones(30),)),
        (lambda x: np.tanh(x[:3]), (np.ones(4000),)),
        (lambda x: np.outer(x, np.ones(500)), (np.ones(1),)),
        (lambda x: {k: x * k for k in range(1, 12)}, (np.ones(2),)),
    ],
)
def test_any_shape_is_a_document_that_parses(function, args):
    picture = explore(sg.jacobian(function), args, {}).static()
    root = ElementTree.fromstring(picture.svg)
    assert root.tag == f"{SVG}svg"
    assert "∞" not in root.attrib["width"]


def test_a_large_one_stays_small():
    weights = np.random.default_rng(0).normal(size=(1000, 1000))
    picture = explore(sg.jacobian(lambda x: np.tanh(weights @ x)), (np.zeros(1000),), {}).static()
    assert len(picture._repr_mimebundle_()["text/html"]) < 200_000


def test_more_blocks_than_fit_are_counted():
    function = lambda x: [x * k for k in range(1, 12)]  # noqa: E731
    assert "3 more blocks" in explore(sg.jacobian(function), (np.ones(2),), {}).static().svg


def test_hostile_names_are_text():
    explorer = explore(sg.jacobian(lambda p: {HOSTILE: p[HOSTILE] * 2}), ({HOSTILE: np.ones(2)},), {})
    picture = explorer.static()
    tags = {e.tag.removeprefix(SVG) for e in ElementTree.fromstring(picture.svg).iter()}
    assert tags <= {"svg", "g", "rect", "text", "image", "linearGradient", "stop", "path"}
    bundle = picture._repr_mimebundle_()
    shown = bundle["text/html"]
    assert re.findall(r"<(\w+)", shown) == ["div", "img"]
    assert len(re.findall('="', shown)) == 3
    source = re.search('src="([^"]*)"', shown).group(1)  # type: ignore[union-attr]
    address = urllib.parse.unquote(source.removeprefix("data:image/svg+xml,"))
    assert ElementTree.canonicalize(address) == ElementTree.canonicalize(picture.svg)
    assert "\u202e" not in shown + bundle["text/plain"]
    assert "\\u202e" in bundle["text/plain"]

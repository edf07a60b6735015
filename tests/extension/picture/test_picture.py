"""The picture of a program: sides, loops, results, forms, and names that are hostile."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from symgrad_notebook.picture import layout, picture

import symgrad
from symgrad import nn
from symgrad.errors import ArgumentError, MissingPart

EVIL = (
    "<img src=x onerror=alert(1)>",
    '"];evil',
    "</title><script>alert(2)</script>",
    "a\u202eb",
    "line\nbreak",
    "$x$",
)
X = np.array([[0.5, 1.0], [-1.5, 0.25], [2.0, -1.0]])
Y = np.array([1.0, -1.0, 1.0])
W = np.array([0.3, -0.2])


def loss(w, X, y):
    z = X @ w
    m = -y * z
    return np.sum(np.log(1 + np.exp(m)))


@pytest.fixture(params=[pytest.param("dot", marks=pytest.mark.needs("dot")), "layers"])
def engine(request, monkeypatch):
    """With Graphviz and without."""
    if request.param == "layers":
        monkeypatch.setattr(layout.shutil, "which", lambda _: None)
    return request.param


def rows(shown, side=None):
    """The first rows of boxes that compute something."""
    wanted = (b for b in shown.diagram.boxes if b.kind in ("operation", "group"))
    return [b.rows[0] for b in wanted if side is None or b.side == side]


def parsed(shown):
    """The SVG, which must be XML without scripts, handlers or addresses."""
    root = ET.fromstring(shown.svg)
    for part in root.iter():
        assert part.tag.rpartition("}")[2] in {
            *("svg", "g", "title", "style", "defs", "marker", "path", "rect", "polygon", "circle", "text"),
        }
        assert not any(name.startswith("on") or "href" in name for name in part.attrib)
    return root


def test_sides():
    shown = picture(symgrad.value_and_grad(loss), (W, X, Y), {})
    assert rows(shown, 0) == [
        *("v0 = X @ w", "v1 = −y", "v2 = v1 · v0", "v3 = exp(v2)", "v4 = 1 + v3", "v5 = log(v4)", "v6 = Σ v5"),
    ]
    assert rows(shown, 1)[0] == "v7 = −v2"
    assert [(b.rows[0], b.side) for b in shown.diagram.boxes if b.kind == "result"] == [("f", 0), ("∂f/∂w", 1)]
    assert {b.rows[0]: b.side for b in shown.diagram.boxes if b.kind == "input"} == {"w": 0, "X": 0, "y": 0}
    crossing = [e for e in shown.diagram.edges if e.crosses]
    key = {b.key: b.rows[0] for b in shown.diagram.boxes}
    assert {key[e.source] for e in crossing} == {"v2 = v1 · v0", "X", "y"}
    assert "12 operations (7 of the function, 5 of its derivative)" in str(shown)


def test_a_method_of_every_derivative():
    assert rows(symgrad.grad(loss).picture(W, X, Y)) == rows(picture(symgrad.grad(loss), (W, X, Y), {}))
    assert symgrad.hessian(loss).picture(W, X, y=Y).diagram.sides == [0, 1, 2]


def test_derivatives_of_derivatives():
    shown = picture(symgrad.grad(symgrad.grad(lambda x: np.sin(x) * x)), (1.0,), {})
    assert shown.diagram.sides == [0, 1, 2]
    assert "the function f" in shown.svg
    side = {b.key: b.side for b in shown.diagram.boxes}
    assert all(side[e.source] <= side[e.target] for e in shown.diagram.edges)


def test_sides_stand_in_order(engine):
    for derivative in (symgrad.grad(loss), symgrad.value_and_grad(loss), symgrad.hessian(loss)):
        _, made = picture(derivative, (W, X, Y), {})._laid_out
        lefts = [made.sides[side].x for side in sorted(made.sides)]
        assert lefts == sorted(lefts)


def test_a_hessian_has_three_sides():
    shown = picture(symgrad.hessian(loss), (W, X, Y), {})
    assert shown.diagram.sides == [0, 1, 2]
    assert "its second derivative" in shown.svg
    parsed(shown)


def test_the_function_alone_has_one_side():
    shown = picture(symgrad.symbolic(loss), (W, X, Y), {})
    assert shown.diagram.sides == [0]
    assert not any(e.crosses for e in shown.diagram.edges)


def test_sens_belongs_to_the_derivative():
    gradient = symgrad.GradOperation(sens_param=True)(lambda x: x * x)
    for args, kwargs in (((np.ones(2), np.ones(2)), {}), ((np.ones(2),), {"sens": np.ones(2)})):
        shown = picture(gradient, args, kwargs)
        assert sorted(b.side for b in shown.diagram.boxes if b.kind == "input") == [0, 1]


def test_parameters_are_inputs():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.z = symgrad.Parameter(np.ones(1), name="z")

        def construct(self, x):
            return x * self.z

    net = Net()
    shown = picture(symgrad.grad(net, weights=net.trainable_params()), (symgrad.Tensor(np.ones(3)),), {})
    assert {b.rows[0] for b in shown.diagram.boxes if b.kind == "input"} == {"x", "z"}
    assert [b.rows[0] for b in shown.diagram.boxes if b.kind == "result"] == ["∂f/∂x", "∂f/∂z"]


def test_drawn(engine):
    shown = picture(symgrad.value_and_grad(loss), (W, X, Y), {})
    root = parsed(shown)
    keys = {part.get("data-key") for part in root.iter() if part.get("data-key")}
    assert keys == {b.key for b in shown.diagram.boxes}
    arrows = {(part.get("data-from"), part.get("data-to")) for part in root.iter() if part.get("data-from")}
    assert arrows == {(e.source, e.target) for e in shown.diagram.edges}
    assert "the function loss" in shown.svg
    assert "its derivative" in shown.svg
    titles = [part.text for part in root.iter() if part.tag.endswith("title")]
    assert any("z = X @ w" in t and "v0 = X @ w" in t for t in titles)


def test_boxes_do_not_overlap(engine):
    shown = picture(symgrad.hessian(loss), (W, X, Y), {})
    _, made = shown._laid_out
    places = list(made.boxes.values())
    for k, a in enumerate(places):
        for b in places[k + 1 :]:
            apart = a.x + a.width <= b.x + 0.5 or b.x + b.width <= a.x + 0.5
            assert apart or a.y + a.height <= b.y + 0.5 or b.y + b.height <= a.y + 0.5
        assert 0 <= a.x <= a.x + a.width <= made.width + 0.5
        assert 0 <= a.y <= a.y + a.height <= made.height + 0.5


def test_ids_are_of_one_picture(engine):
    gradient = symgrad.grad(loss)
    first, second = (picture(gradient, (W, X, Y), {}).svg for _ in range(2))
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (first, second)]
    assert not ids[0] & ids[1]
    for svg, own in zip((first, second), ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= own
        assert all(f"#{name}" in svg for name in own if name in re.findall(r"#([\w-]+)[:\[]", svg))
        rules = re.search(r"<style>(.*?)</style>", svg)[1]
        assert all(rule.startswith(("#", "@", "}")) for rule in re.split(r"(?<=})", rules) if rule)


@pytest.mark.parametrize("name", EVIL)
def test_hostile_names_are_text(engine, name):
    weight = symgrad.Parameter(np.ones(2), name=name)

    def f(x):
        return np.sum(x * weight)

    f.__name__ = name
    shown = picture(symgrad.grad(f, weights=[weight]), (np.ones(2),), {})
    root = parsed(shown)
    assert len([part for part in root.iter() if part.get("data-kind") == "input"]) == 2
    for text in (str(shown), shown.dot, shown.mermaid, shown.svg):
        assert "\u202e" not in text
    assert "<img" not in shown.mermaid
    assert "<script" not in shown.svg
    assert "onerror=" not in re.sub(r"&lt;.*?&gt;|>[^<]*<", "", shown.svg)
    assert all(line.strip() for line in shown.mermaid.splitlines())
    assert "evil" not in re.sub(r'"(\\.|[^"\\])*"', "", shown.dot)
    assert "evil" not in re.sub(r'"[^"]*"', "", shown.mermaid)
    assert name not in shown.folded_away()["text/html"] or "<" not in name


@pytest.mark.needs("dot")
def test_no_box_hides_an_arrow():
    def energy(theta, omega, length, damping):
        return damping * omega**2 + 9.81 / length * np.sin(theta) + np.exp(omega * damping) * length

    shown = symgrad.grad(energy, (0, 1, 2, 3)).picture(0.5, 1.0, 1.0, 0.1)
    laid_out = layout.layout_of(shown.diagram)
    direct = layout._beside(
        shown.diagram,
        [
            layout._by_layers(
                shown.diagram, {b.key: layout.size_of(b, False) for b in shown.diagram.boxes if b.side == side}
            )
            for side in shown.diagram.sides
        ],
    )
    assert any(layout.is_hidden(direct, *ends) for ends in direct.arrows)
    assert [ends for ends in laid_out.arrows if layout.is_hidden(laid_out, *ends)] == []


@pytest.mark.needs("dot")
@pytest.mark.parametrize("name", EVIL)
def test_graphviz_reads_hostile_names(name):
    weight = symgrad.Parameter(np.ones(2), name=name)
    shown = picture(symgrad.grad(lambda x: np.sum(x * weight), weights=[weight]), (np.ones(2),), {})
    made = subprocess.run(["dot", "-Tplain"], input=shown.dot, capture_output=True, text=True)
    assert made.returncode == 0
    assert made.stdout.count("\nnode") == len(shown.diagram.boxes)


def test_forms(tmp_path):
    shown = picture(symgrad.grad(loss), (W, X, Y), {})
    for ending, text in (("svg", shown.svg), ("dot", shown.dot), ("mmd", shown.mermaid), ("txt", str(shown))):
        shown.save(tmp_path / f"a.{ending}")
        assert (tmp_path / f"a.{ending}").read_text(encoding="utf-8") == text
    with pytest.raises(ArgumentError, match=r"\.svg, \.dot"):
        shown.save(tmp_path / "a.png")
    assert shown._repr_mimebundle_() == {"image/svg+xml": shown.svg, "text/plain": str(shown)}
    assert shown.mermaid.startswith("flowchart TB\n")
    assert "X @ w" in str(shown)


def test_named_dims():
    named = symgrad.named(loss, w="d", X="n d", y="n")
    shown = picture(symgrad.grad(named), (W, X, Y), {})
    texts = {b.rows for b in shown.diagram.boxes}
    assert ("v0 = X @ w", "[n]: −0.5 … 0.8") in texts
    assert any(b.loop for b in shown.diagram.boxes)


def test_values_are_needed():
    gradient = symgrad.grad(loss)
    for args in ((), ("d", "n d", "n")):
        with pytest.raises(ArgumentError, match="pass example arrays"):
            picture(gradient, args, {})


def test_vmap_and_sparse():
    each = symgrad.vmap(symgrad.grad(loss), in_axes=(None, 0, 0))
    assert picture(each, (W, X[:, None, :], Y[:, None]), {}).diagram.sides == [0, 1]
    sparse = symgrad.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2), sparse=True)
    assert "∂" in picture(sparse, (np.ones(4),), {}).svg


def test_without_anywidget(monkeypatch):
    shown = picture(symgrad.grad(loss), (W, X, Y), {})
    monkeypatch.setitem(sys.modules, "anywidget", None)
    for name in ("widgets", "picture.widget"):
        monkeypatch.delitem(sys.modules, f"symgrad_notebook.{name}", raising=False)
    with pytest.raises(MissingPart, match=r"pip install 'symgrad\[notebook\]'"):
        shown.explore()


def test_a_picture_needs_no_widgets():
    code = (
        "import sys, numpy as np, symgrad; symgrad.grad(np.sin).picture(1.0).svg; "
        "print(*{'anywidget', 'ipywidgets', 'matplotlib'} & set(sys.modules))"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == ""


def test_wide_pictures_are_made_smaller_but_stay_readable():
    def size(shown):
        width, height = (float(re.search(rf'^<svg[^>]* {side}="(\d+)"', shown.svg)[1]) for side in ("width", "height"))
        _, _, natural, tall = map(float, re.search(r'viewBox="([^"]+)"', shown.svg)[1].split())
        assert height / width == pytest.approx(tall / natural, rel=0.01)
        return width / natural

    assert size(picture(symgrad.grad(np.sin), (1.0,), {})) == 1
    assert 0.69 < size(picture(symgrad.hessian(loss), (W, X, Y), {})) < 1

"""The built documentation site: formulas are typeset, nothing leads nowhere, and it fits a phone.

CI builds it and says where it is (SYMGRAD_SITE); by hand: ``sphinx-build -W docs docs/_build``.
"""

from __future__ import annotations

import html.parser
import os
import pathlib
import urllib.parse

import lab
import pytest

pytestmark = pytest.mark.needs("site")

PAGES = (
    *("index", "tour", "guides/greeks", "guides/pde", "coming_from", "how_it_works"),
    *("textbook", "gallery/01_first_gradient", "api/derivatives", "supported"),
)


@pytest.fixture(scope="module")
def site():
    return pathlib.Path(os.environ["SYMGRAD_SITE"])


class Links(html.parser.HTMLParser):
    """The targets of a page, and the places in it that others may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.targets += [named[key] for key in ("href", "src") if named.get(key)]
        self.places |= {named[key] for key in ("id", "name") if named.get(key)}


def test_no_link_leads_nowhere(site):
    pages = {path: Links(path.read_text("utf-8")) for path in site.rglob("*.html")}
    assert len(pages) > 40
    broken = []
    for path, page in pages.items():
        for target in page.targets:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[to].places if to in pages else None
            is_there = to.exists() and (not parts.fragment or anchors is None or parts.fragment in anchors)
            broken += [] if is_there else [f"{path.relative_to(site)} -> {target}"]
    assert broken == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit_and_formulas_are_typeset(site, scheme, width):
    home = f"{site.as_uri()}/"
    with lab.page(f"{home}index.html", width, 800, home=home, scheme=scheme) as page:
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        for name in PAGES:
            page.goto(f"{home}{name}.html")
            if page.locator(".math").count():
                page.wait_for_selector("mjx-container", state="attached")
                page.wait_for_function("MathJax.startup.promise.then(() => true)")
                assert page.locator("mjx-merror").count() == 0, name
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (max(map(int, colour.strip("rgba()").split(",")[:3])) < 90) == (scheme == "dark"), name
        assert errors == []

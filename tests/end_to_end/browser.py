"""A real browser that looks at pages of the daemon, and what it finds wrong with them."""

import itertools
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import TestCase

import packages

ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Each page is looked at in each: a telephone, a tablet, a desk, and a large screen.
VIEWS = (*itertools.product((1280, 768, 320), ("light", "dark")), (1920, "light"))
# Pages of one kind that are looked at: more of them show the same.
EACH_KIND = 2
NO_PAGES = ("/api/", "/metrics", "/healthz", "/style", "/assets/")
LOCAL_LINKS = "[...document.links].map(a => a.href)"
# What is wrong in how a page is laid out:
# - spilt: cells that something sticks out of, and so lies on their neighbours; where the names of
#   columns stand in the cells, as ::before, they count, wherever they are placed;
# - outside: tables that stick out of their column;
# - covered: texts of a heat map that its cells lie on.
OUTLINE = """() => {
const shown = what =>
  [...document.querySelectorAll(what)].filter(each => each.checkVisibility());
const right = each => each.getBoundingClientRect().right;
const boxed = each => ({ each, box: each.getBoundingClientRect() });
const isUnder = (text, cell) => !cell.each.parentElement.contains(text.each)
  && text.box.left < cell.box.right - 1 && text.box.right > cell.box.left + 1
  && text.box.top < cell.box.bottom - 4 && text.box.bottom > cell.box.top + 4;
const covered = drawing => {
  const cells = [...drawing.querySelectorAll('rect.cell')].map(boxed);
  const texts = [...drawing.querySelectorAll('text')].map(boxed);
  return texts.filter(text => cells.some(cell => isUnder(text, cell)));
};
return ({
  titles: document.title,
  headings: document.querySelectorAll('h1').length,
  language: document.documentElement.lang,
  too_wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  charts: [...document.querySelectorAll('svg')].filter(each =>
    !['img', 'group'].includes(each.getAttribute('role')) || !each.querySelector('title')).length,
  bare: [...document.querySelectorAll('figure:has(svg.drawing)')].filter(each =>
    !each.querySelector('figcaption')?.textContent.trim() || !each.querySelector('table tbody td')
    || !each.querySelector('[tabindex="0"], a[href]')).length,
  spilt: shown('td').filter(each => each.scrollHeight > each.clientHeight + 1
    || each.scrollWidth > each.clientWidth + 1).map(each => each.dataset.column),
  outside: shown('table').filter(each => right(each) > right(each.parentElement) + 1).length,
  covered: shown('#map svg.drawing').flatMap(covered).map(text => text.each.textContent),
})
}"""


def program() -> str:
    """Chromium's; empty where it is not installed."""
    return shutil.which("chromium") or ""


def require(test: TestCase) -> None:
    """Chromium and what drives it. Where one is missing, the test fails in CI and is left out
    elsewhere."""
    if not program():
        packages.leave_out(test, "Chromium is missing; deploy/prerequisites --tests installs it")
    packages.require(test, "browser", "playwright.sync_api")


@contextmanager
def started() -> Iterator[Any]:
    """A headless Chromium."""
    sys.path.insert(0, str(packages.folder_of("browser")))
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=program(), args=[*ARGUMENTS, "--no-sandbox"]
        )
        try:
            yield launched
        finally:
            launched.close()


class View:
    """A window of some width, light or dark, on a service at `base`."""

    def __init__(self, browser: Any, base: str, width: int, scheme: str) -> None:
        from axe_playwright_python.sync_playwright import Axe

        self.axe, self.base, self.name = Axe(), base, f"{width} px, {scheme}"
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", self._see)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.said.append(f"console: {message.text}")

    def _see(self, request: Any) -> None:
        if not request.url.startswith((self.base, "data:")):
            self.said.append(f"asked {request.url}")

    def open(self, path: str) -> int:
        """Returns the status."""
        self.said.clear()
        return int(self.page.goto(self.base + path).status)

    def links(self) -> list[str]:
        """Paths of this service that the page leads to, without fragments."""
        found = self.page.evaluate(LOCAL_LINKS)
        own = (each.partition("#")[0] for each in found if each.startswith(self.base + "/"))
        return [each.removeprefix(self.base) for each in own]

    def faults(self) -> list[str]:
        """What is wrong with the page that is open."""
        seen = self.page.evaluate(OUTLINE)
        found = list(self.said)
        if seen["headings"] != 1:
            found.append(f"{seen['headings']} headings h1")
        if not seen["titles"] or not seen["language"]:
            found.append("no title or no language")
        if seen["too_wide"] > 0:
            found.append(f"{seen['too_wide']} px wider than the window")
        if seen["charts"]:
            found.append(f"{seen['charts']} drawings without role and title")
        if seen["bare"]:
            found.append(f"{seen['bare']} figures without sentence, table or a way for keys")
        if seen["spilt"]:
            found.append(f"{len(seen['spilt'])} cells too small, as {seen['spilt'][0]!r}")
        if seen["outside"]:
            found.append(f"{seen['outside']} tables wider than their column")
        if seen["covered"]:
            found.append(f"{len(seen['covered'])} texts under cells, as {seen['covered'][0]!r}")
        result = self.axe.run(self.page).response
        found += [f"axe: {each['id']}: {each['nodes'][0]['html']}" for each in result["violations"]]
        return [f"{self.name}: {each}" for each in found]

    def close(self) -> None:
        self.context.close()


def kind_of(path: str) -> str:
    """What a path is without its numbers, dates, names and options."""
    without_options = path.partition("?")[0]
    first, _, rest = without_options.lstrip("/").partition("/")
    return f"/{first}/{re.sub(r'[^/.]+', '*', rest)}"


def is_page(path: str) -> bool:
    is_twin = re.search(r"\.(json|csv|md|css|js|svg|gz)(\?|$)", path)
    return not is_twin and not path.startswith(NO_PAGES)


def pages_from(browser: Any, base: str, *beginnings: str) -> list[str]:
    """These pages and those that can be reached from them, a few of each kind."""
    seen: Counter[str] = Counter()
    found, waiting = [], list(beginnings)
    view = View(browser, base, *VIEWS[0])
    while waiting:
        path = waiting.pop(0)
        if path in found or seen[kind_of(path)] >= EACH_KIND or not is_page(path):
            continue
        seen[kind_of(path)] += 1
        found.append(path)
        if view.open(path) != 200:
            raise AssertionError(f"a page leads to {path}, which is not there")
        waiting += view.links()
    view.close()
    return found


def one_of_each_kind(paths: list[str]) -> list[str]:
    return list({kind_of(path): path for path in reversed(paths)}.values())


def faults_of(
    browser: Any, base: str, paths: list[str], views: Sequence[tuple[int, str]]
) -> list[str]:
    """What is wrong with these pages, in any of the views."""
    faults = []
    for width, scheme in views:
        view = View(browser, base, width, scheme)
        for path in paths:
            view.open(path)
            faults += [f"{path}: {fault}" for fault in view.faults()]
        view.close()
    return faults

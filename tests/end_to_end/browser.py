"""A real browser that looks at pages of the daemon, and what it finds wrong with them."""

import itertools
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from types import MappingProxyType
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
# Where axe looks at all of a page. Elsewhere it leaves out what is the same in every view and takes
# most of its time: what is inside of drawings, and the later rows of long tables.
WHOLE_VIEWS = ((1280, "light"), (320, "light"))
# Contrast takes most of the rest. It is looked at once on all of a page, and again where there are
# other colours or another layout; where the colours alone are others, nothing else is.
RULES_OF_COLOUR = ("color-contrast", "link-in-text-block")
COLOUR = {"runOnly": {"type": "rule", "values": RULES_OF_COLOUR}}
ALL_BUT_COLOUR = {"rules": {rule: {"enabled": False} for rule in RULES_OF_COLOUR}}
ALL_RULES: Mapping[str, Any] = MappingProxyType({})
# The other views come by turns: a page is looked at in one of them, and pages of a kind in several.
# tests/proof browser looks at each page in all.
LOOKS_IN_ALL_VIEWS = "TORCHWATCH_ALL_VIEWS" in os.environ
TAKE_OUT = """() => {
const kept = [];
for (const each of document.querySelectorAll(
  'tbody tr:nth-child(n+40), svg.drawing > :not(title, desc)')) kept.push([new Comment(), each]);
for (const [place, each] of kept) each.replaceWith(place);
globalThis.takenOut = kept;
}"""
PUT_BACK = "() => { for (const [place, each] of takenOut) place.replaceWith(each); }"
# Pages of one kind that are looked at: more of them show the same.
EACH_KIND = 2
REFUSED = "Failed to load resource: the server responded"
NO_PROBLEMS: Mapping[str, int] = MappingProxyType({})
NO_PAGES = ("/api/", "/metrics", "/healthz", "/style", "/assets/")
LOCAL_LINKS = "[...document.links].map(a => a.href)"
# What is wrong in how a page is laid out:
# - spilt: cells that something sticks out of, and so lies on their neighbours; where the names of
#   columns stand in the cells, as ::before, they count, wherever they are placed;
# - outside: tables that stick out of their column;
# - covered: texts of a heat map that its cells lie on, and labels of cells that do not lie on one.
OUTLINE = """() => {
const shown = what =>
  [...document.querySelectorAll(what)].filter(each => each.checkVisibility());
const right = each => each.getBoundingClientRect().right;
const boxed = each => ({ each, box: each.getBoundingClientRect() });
const isUnder = (text, cell) => !cell.each.parentElement.contains(text.each)
  && text.box.left < cell.box.right - 1 && text.box.right > cell.box.left + 1
  && text.box.top < cell.box.bottom - 4 && text.box.bottom > cell.box.top + 4;
const covered = drawing => {
  // Measuring what was never on the screen lays it out, and may move what was measured before.
  drawing.querySelectorAll('rect, text, tspan').forEach(boxed);
  const cells = [...drawing.querySelectorAll('rect.cell')].map(boxed);
  const texts = [...drawing.querySelectorAll('text:not([aria-hidden])')].map(boxed);
  const labels = [...drawing.querySelectorAll('text[aria-hidden] tspan')].map(boxed);
  const isOn = (label, cell) => isUnder(label, cell)
    && cell.each.compareDocumentPosition(label.each) & Node.DOCUMENT_POSITION_FOLLOWING;
  return texts.filter(text => cells.some(cell => isUnder(text, cell)))
    .concat(labels.filter(label => cells.filter(cell => isOn(label, cell)).length !== 1));
};
const isNamedBy = (drawing, what) => {
  const own = drawing.querySelector(`:scope > ${what}`);
  const names = (drawing.getAttribute('aria-labelledby') ?? '').split(' ');
  return own && own.textContent.trim() && names.includes(own.id)
    && document.getElementById(own.id) === own;
};
const isNamed = each => each.matches('.drawing')
  ? isNamedBy(each, 'title') && isNamedBy(each, 'desc') : each.querySelector('title');
return ({
  titles: document.title,
  headings: document.querySelectorAll('h1').length,
  language: document.documentElement.lang,
  too_wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  charts: [...document.querySelectorAll('svg')].filter(each =>
    !['img', 'group'].includes(each.getAttribute('role')) || !isNamed(each)).length,
  bare: [...document.querySelectorAll('figure:has(svg.drawing)')].filter(each =>
    !each.querySelector('figcaption')?.textContent.trim()).length,
  spilt: shown('td').filter(each => each.scrollHeight > each.clientHeight + 1
    || each.scrollWidth > each.clientWidth + 1).map(each => each.dataset.column),
  outside: shown('table').filter(each => right(each) > right(each.parentElement) + 1).length,
  covered: shown('#map svg.drawing').flatMap(covered).map(text => text.each.textContent),
})
}"""
# Drawings of the page, as it was sent, that are no XML: a program takes them out and opens them.
NOT_XML = r"""async () => {
const page = await (await fetch(location.href, { cache: 'no-store' })).text();
const isXml = text =>
  !new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror');
return (page.match(/<svg\b.*?<\/svg>/gs) ?? []).filter(each => !isXml(each)).length;
}"""
# Brings the keys to "As a table" of a figure with a drawing, which may be folded away itself;
# undefined where there is no such figure any more, false where the keys do not come there.
TO_THE_TABLE = """place => {
const figure = document.querySelectorAll('figure:has(svg.drawing)')[place];
if (!figure) return undefined;
for (const each of document.querySelectorAll('details')) each.open ||= each.contains(figure);
const details = figure.querySelector('details');
const summary = details?.querySelector('summary');
if (!summary || summary.textContent !== 'As a table' || summary.tabIndex < 0) return false;
details.open = false;
summary.focus();
return document.activeElement === summary;
}"""
# Figures with a drawing whose table does not stand there with rows.
WITHOUT_TABLE = """() => [...document.querySelectorAll('figure:has(svg.drawing)')].filter(each =>
  ![...each.querySelectorAll('details[open] table tbody td')].some(cell => cell.checkVisibility()))
.map(each => each.textContent.trim().slice(0, 60))"""
# Links of drawings that keys do not come to: by Tab, or in a grid, of which one cell is a stop of
# Tab, by arrows. What is inside of an image is nowhere for them.
OUT_OF_REACH = """() => {
const stops = grid => grid?.querySelectorAll('[tabindex="0"]').length;
const isReached = link => {
  if (!link.closest('svg').matches('[role=group]')) return false;
  link.focus({ preventScroll: true });
  return document.activeElement === link
    && (link.tabIndex >= 0 || stops(link.closest('[role=grid]')) === 1);
};
const links = [...document.querySelectorAll('svg.drawing a[href]')];
return links.filter(each => each.checkVisibility() && !isReached(each))
  .map(each => each.getAttribute('href'));
}"""


def program() -> str:
    """Chromium's; empty where it is not installed."""
    return shutil.which("chromium") or ""


def missing() -> str:
    """Installs what drives Chromium, and says what is missing all the same; empty for nothing."""
    if not program():
        return "Chromium is missing; deploy/prerequisites --tests installs it"
    return packages.install("browser", "playwright.sync_api")


def require(test: TestCase) -> None:
    """Chromium and what drives it. Where one is missing, the test fails in CI and is left out
    elsewhere."""
    if reason := missing():
        packages.leave_out(test, reason)


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
        self.looks_at_all = (width, scheme) in WHOLE_VIEWS
        self.is_first = (width, scheme) == VIEWS[0]
        self.rules_in_part = COLOUR if scheme == "dark" or self.looks_at_all else ALL_BUT_COLOUR
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.problems: set[str] = set()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", self._see)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.said.append(f"console: {message.text} {message.location['url']}")

    def _is_expected(self, said: str) -> bool:
        """Whether it says that a page which was opened is a problem's, as its status did. A page
        that is read again may have it said while the next one is open."""
        return REFUSED in said and said.rpartition(" ")[2] in self.problems

    def _see(self, request: Any) -> None:
        if not request.url.startswith((self.base, "data:")):
            self.said.append(f"asked {request.url}")

    def open(self, path: str) -> int:
        """Returns the status."""
        self.said.clear()
        address = self.base + path
        status = int(self.page.goto(address).status)
        if status >= HTTPStatus.BAD_REQUEST:
            self.problems.add(address)
        return status

    def links(self) -> list[str]:
        """Paths of this service that the page leads to, without fragments."""
        found = self.page.evaluate(LOCAL_LINKS)
        own = (each.partition("#")[0] for each in found if each.startswith(self.base + "/"))
        return [each.removeprefix(self.base) for each in own]

    def faults(self) -> list[str]:
        """What is wrong with the page that is open. Leaves the tables of its figures open."""
        seen = self.page.evaluate(OUTLINE)
        found = [each for each in self.said if not self._is_expected(each)]
        if seen["headings"] != 1:
            found.append(f"{seen['headings']} headings h1")
        if not seen["titles"] or not seen["language"]:
            found.append("no title or no language")
        if seen["charts"]:
            found.append(f"{seen['charts']} drawings without role, title and description")
        if seen["bare"]:
            found.append(f"{seen['bare']} figures without sentence")
        found += faults_of_layout(seen)
        found += [f"axe: {each['id']}: {each['nodes'][0]['html']}" for each in self._violations()]
        found += self._faults_for_keys()
        if self.looks_at_all and (broken := self.page.evaluate(NOT_XML)):
            found.append(f"{broken} drawings that are no XML")
        return [f"{self.name}: {each}" for each in dict.fromkeys(found)]

    def _violations(self) -> list[dict[str, Any]]:
        if self.is_first:
            return self._broken(ALL_RULES)
        found = self._broken(ALL_BUT_COLOUR) if self.looks_at_all else []
        self.page.evaluate(TAKE_OUT)
        found += self._broken(self.rules_in_part)
        self.page.evaluate(PUT_BACK)
        return found

    def _broken(self, rules: Mapping[str, Any]) -> list[dict[str, Any]]:
        return list(self.axe.run(self.page, options=dict(rules)).response["violations"])

    def _faults_for_keys(self) -> list[str]:
        """Opens the table of each figure by keys, and looks for what keys do not come to."""
        for place in itertools.count():
            is_there = self.page.evaluate(TO_THE_TABLE, place)
            if is_there is None:
                break
            if is_there:
                self.page.keyboard.press("Enter")
        found = [
            f"keys open no table of the figure {figure!r}"
            for figure in self.page.evaluate(WITHOUT_TABLE)
        ]
        if place:
            found += faults_of_layout(self.page.evaluate(OUTLINE))
        if away := self.page.evaluate(OUT_OF_REACH):
            found.append(f"{len(away)} links of drawings out of reach of keys, as {away[0]}")
        return found

    def close(self) -> None:
        self.context.close()


def faults_of_layout(seen: dict[str, Any]) -> list[str]:
    """What of an outline is about places and sizes."""
    found = []
    if seen["too_wide"] > 0:
        found.append(f"{seen['too_wide']} px wider than the window")
    if seen["spilt"]:
        found.append(f"{len(seen['spilt'])} cells too small, as {seen['spilt'][0]!r}")
    if seen["outside"]:
        found.append(f"{seen['outside']} tables wider than their column")
    if seen["covered"]:
        found.append(f"{len(seen['covered'])} texts under cells, as {seen['covered'][0]!r}")
    return found


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


def in_turn(
    paths: Sequence[str], view: tuple[int, str], views: Sequence[tuple[int, str]]
) -> Sequence[str]:
    """Those of the paths that are looked at in this one of the views."""
    others = [each for each in views if each not in WHOLE_VIEWS]
    if LOOKS_IN_ALL_VIEWS or view not in others:
        return paths
    return paths[others.index(view) :: len(others)]


def faults_of(
    browser: Any,
    base: str,
    paths: Iterable[str],
    views: Sequence[tuple[int, str]],
    problems: Mapping[str, int] = NO_PROBLEMS,
) -> list[str]:
    """What is wrong with these pages, in those of the views whose turn it is. `problems` are paths
    of other pages that are answered with that status."""
    faults = []
    for width, scheme in views:
        view = View(browser, base, width, scheme)
        for path in in_turn((*paths, *problems), (width, scheme), views):
            status = view.open(path)
            if status != problems.get(path, 200):
                faults.append(f"{path}: {view.name}: status {status}")
            faults += [f"{path}: {fault}" for fault in view.faults()]
        view.close()
    return faults

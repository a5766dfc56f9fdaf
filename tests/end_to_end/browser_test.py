"""Every page of the real daemon in a real browser, on a database of sixty nightlies."""

import os
import sys
import unittest
import urllib.request
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import browser
from command import CHECKOUT, torchwatch
from seeded import SeededTest
from service import ask

sys.path.insert(0, str(CHECKOUT / "tests/experiments"))

import machine_lock

# Pages that people come to by their addresses.
ADDRESSES = (
    *("/compare/2026-11-19...2026-11-20", "/compare/2026-10-19...2026-11-20"),
    *("/series", "/search?q=cuda"),
)
# Kinds that there are at least, with what is drawn of a GPU and the trace of a run.
KINDS = {
    *("//", "/compare/*...*", "/comparisons/", "/comparisons/*", "/incidents/"),
    *("/incidents/*", "/bisections/", "/bisections/*", "/models/", "/models/*", "/series/"),
    *("/series/*/*/*/*", "/builds/", "/builds/*", "/machines/", "/machines/*", "/mutes/"),
    *("/gpu/", "/coverage/", "/traces/*", "/queue/", "/outbox/", "/search/", "/sign-in/", "/help/"),
    *("/mutes/*", "/requests/*"),
}
# Those that no link leads to: a form does.
WITHOUT_LINK = {"/search/"}
# What there is no page of.
PROBLEMS = {"/nothing": 404, "/incidents/99": 404, "/series?from=2026-13-01": 400}
# Kinds of incidents, whose charts differ, and whether something was searched for one.
INCIDENTS = {"regression": True, "leak": True, "lost": False}
# What a page and all that it asks for may take on the wire.
PAGE_MAX = 150_000
# What stands on pages that are empty where nothing was measured, or nothing waits.
FILLED = {
    "/machines": (r"\d+ of \d+ series of builds compared", r"\d+ of \d+ planted slowdowns were"),
    "/machines/2": (r"a copy of 4 MiB \S+ µs before", r"\d+ of \d+ planted slowdowns? w"),
    "/machines/compare": (r"\d+ benchmarks that ran on both", r"\d+ benchmarks ran on A alone"),
    "/queue": (r"recheck", r"drift .* waits since .* is free", r"requested", r"request 2\b"),
    "/coverage": (r"Of the 2,488 operators", r"\b6 namespaces"),
    "/builds": (r"commit ready \w+ there 418.2 MiB", r"nightly ready \S+ \w+ there 418.2 MiB"),
    "/outbox": (r"comment\b",),
    "/mutes": (r"its data moved to another disk",),
    "/requests/1": (r"bisection", r"pending"),
}


@cache
def sent(url: str) -> int:
    """Bytes of the body that the service sends to a browser, which takes gzip."""
    asked = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return len(answer.read())


class Browser(SeededTest):
    OPTIONS = (*("--nightlies", "60", "--incidents", "20", "--with-samples", "3"),)
    linked: tuple[str, ...] = ()

    @classmethod
    def prepare(cls, folder: Path) -> None:
        import elsewhere  # seeded.py says where these lie
        import profiles
        import waiting

        profiles.write(folder)
        elsewhere.write(folder)
        waiting.write(folder)
        checked = torchwatch(folder / "torchwatch.toml", "database", "check")
        if checked.returncode != 0:
            raise AssertionError(checked.stdout + checked.stderr)
        # What waits does so for as long as the tests look at it.
        if cls.held:
            cls.held.enter_context(machine_lock.held(f"torchwatch-test-{os.getpid()}"))

    def pages(self) -> tuple[str, ...]:
        """Those that links lead to from the first page."""
        if not self.linked:
            found = browser.pages_from(self.chromium, self.daemon.base, "/")
            type(self).linked = tuple(found)
        return self.linked

    def first(self, path: str, members: str, **wanted: Any) -> Any:
        """The newest that the API lists there and that has what is wanted."""
        for each in ask(f"{self.daemon.base}/api/v1/{path}")[1][members]:
            if all(each[name] == value for name, value in wanted.items()):
                return each
        raise AssertionError(f"nothing at {path} with {wanted}")

    def full_pages(self) -> list[str]:
        """A nightly, a series and a search with all that such have, each with its options, and an
        incident of each kind."""
        nightly = self.first("comparisons?purpose=nightly", "comparisons", state="reported")
        incidents = [
            self.first("incidents?limit=100", "incidents", kind=kind) for kind in INCIDENTS
        ]
        searched = [each["bisection"] is not None for each in incidents]
        self.assertEqual(searched, list(INCIDENTS.values()))
        series = self.first("series?metric=time", "series")["url"].removeprefix("/api/v1")
        options = {
            f"/comparisons/{nightly['id']}": ("", "?metric=cpu_peak", "?only=regressed"),
            series: ("", "?show=changes", "?show=logarithmic"),
            f"/bisections/{incidents[0]['bisection']}": ("", "?step=2"),
            "/gpu": ("", "?mode=infer"),
            "/machines/compare": ("", "?a=2&b=1"),
        }
        return [
            *(path + option for path, all_options in options.items() for option in all_options),
            *(f"/incidents/{each['id']}" for each in incidents),
        ]

    def each_kind(self) -> list[str]:
        """A page of each kind, full ones first."""
        return browser.one_of_each_kind([*self.full_pages(), *self.pages(), *ADDRESSES])

    def test_links_lead_from_the_first_page_to_all_kinds(self) -> None:
        reached = {browser.kind_of(path) for path in self.pages()}
        self.assertLessEqual(KINDS - reached, WITHOUT_LINK)

    def test_no_page_has_a_fault_in_any_view(self) -> None:
        full = self.full_pages()
        paths = dict.fromkeys([*full, *self.pages(), *ADDRESSES])
        faults = self.faults(paths, browser.VIEWS[:1])
        faults += self.faults(dict.fromkeys([*full, *self.each_kind()]), browser.VIEWS[1:])
        print(f"{len(paths)} pages: {' '.join(paths)}")
        self.assertLessEqual(KINDS, {browser.kind_of(path) for path in paths})
        self.assertEqual(faults, [], "\n".join(faults))

    def faults(self, paths: Iterable[str], views: tuple[tuple[int, str], ...]) -> list[str]:
        return browser.faults_of(self.chromium, self.daemon.base, paths, views, PROBLEMS)

    def test_a_page_of_each_kind_is_small_on_the_wire(self) -> None:
        sizes = {path: sum(map(sent, self.asked_by(path))) for path in self.each_kind()}
        print("\n".join(f"{size} bytes sent for {path}" for path, size in sizes.items()))
        self.assertEqual({path: size for path, size in sizes.items() if size > PAGE_MAX}, {})

    def asked_by(self, path: str) -> set[str]:
        """What a browser asks for to show a page, but for the lasting stream."""
        view = browser.View(self.chromium, self.daemon.base, 1280, "light")
        asked: set[str] = set()
        view.page.on("request", lambda request: asked.add(request.url))
        view.open(path)
        if view.page.locator("script").count():  # a form with a secret has none
            view.page.wait_for_selector("#live")
        if view.page.locator("#past figure").count():
            view.page.wait_for_selector(".chart-box canvas")
        view.close()
        return {each for each in asked if each.startswith("http") and "/v1/events" not in each}

    def test_pages_are_looked_at_with_something_on_them(self) -> None:
        view = browser.View(self.chromium, self.daemon.base, *browser.VIEWS[0])
        for path, found in FILLED.items():
            view.open(path)
            text = " ".join(view.page.inner_text("main").split())
            # Sizes are added up in the background, and stand in a later answer.
            while path == "/builds" and text.count("MiB") < text.count(" there "):
                view.page.reload()
                text = " ".join(view.page.inner_text("main").split())
            for each in found:
                with self.subTest(path):
                    self.assertRegex(text, each)
        view.close()

    def test_faults_of_a_page_are_found(self) -> None:
        bad = f"""<!doctype html><h1>a</h1><h1>b</h1><pre>{"wide" * 400}</pre><svg></svg><img>
<figure><div tabindex="0"><svg class="drawing" role="img" aria-labelledby="t"><title id="t">a
</title><a href="/help"><text y="15">image</text></a></svg></div>
<details><summary>As a table</summary><table><tbody></tbody></table></details></figure>
<figure><figcaption>b</figcaption><svg class="drawing" role="group" aria-labelledby="u v">
<title id="u">a</title><desc id="v">b</desc><a href="/help#keys" tabindex="-1"><text y="15">no Tab
</text></a><br></svg><p><a href="/">c</a></p></figure>
<p style="color: red">styled</p><script>document.title = "made"</script>
<table><tr><td data-column="name of two lines">1<tr><td>2</table>
<div id="map"><svg role="img" class="drawing"><title>a</title>
<text y="15">under it</text><g><rect class="cell" width="40" height="20"/></g></svg></div>"""
        # A page's policy keeps style sheets out, but not those that a script computes.
        laid_out = """() => { const sheet = new CSSStyleSheet();
sheet.replaceSync(`table { width: 110% } td { display: block; position: relative }
td::before { position: absolute; width: 3rem; content: attr(data-column) }`);
document.adoptedStyleSheets = [sheet]; }"""
        view = browser.View(self.chromium, self.daemon.base, *browser.VIEWS[0])
        with urllib.request.urlopen(self.daemon.base + "/help", timeout=60) as answer:
            policy = {"Content-Security-Policy": answer.headers["Content-Security-Policy"]}
        view.page.route(
            "**/bad",
            lambda route: route.fulfill(body=bad, content_type="text/html", headers=policy),
        )
        view.open("/bad")
        view.page.evaluate(laid_out)
        found = "\n".join(view.faults())
        view.close()
        for word in (
            "2 headings",
            "no title",
            "px wider",
            "3 drawings without",
            "1 figures without sentence",
            "keys open no table of the figure 'a",
            "keys open no table of the figure 'b",
            "2 links of drawings out of reach of keys, as /help",
            "1 drawings that are no XML",
            "1 cells too small, as 'name of two lines'",
            "1 tables wider than their column",
            "1 texts under cells, as 'under it'",
            "image-alt",
            "Security Policy",
        ):
            self.assertIn(word, found)

    def test_a_problem_is_a_fault_where_a_page_is_expected(self) -> None:
        views = browser.VIEWS[:1]
        no_page, other = ["/nothing"], {"/nothing": 400}
        for paths, problems in ((no_page, browser.NO_PROBLEMS), ([], other)):
            found = browser.faults_of(self.chromium, self.daemon.base, paths, views, problems)
            self.assertEqual(found, ["/nothing: 1280 px, light: status 404"])


if __name__ == "__main__":
    unittest.main()

"""Every page of the real daemon in a real browser, on a database of sixty nightlies."""

import subprocess
import sys
import tomllib
import unittest

import browser
from command import CHECKOUT, TORCHWATCH, CommandTest
from service import Daemon

sys.path.insert(0, str(CHECKOUT / "tests/experiments"))

import machine_lock

MAKE = CHECKOUT / "tests/support/two_years/make.py"
sys.path.insert(0, str(MAKE.parent))
# The first page, and pages that people come to by their addresses.
BEGINNINGS = (
    *("/mutes/1", "/requests/1"),
    *("/", "/compare/2026-11-19...2026-11-20", "/compare/2026-10-19...2026-11-20", "/mutes"),
    *("/series?workload=resnet18&metric=time", "/search?q=cuda"),
)
# Kinds that there are at least, with what is drawn of a GPU and the trace of a run.
KINDS = {
    *("//", "/compare/*...*", "/comparisons/", "/comparisons/*", "/incidents/"),
    *("/incidents/*", "/bisections/", "/bisections/*", "/models/", "/models/*", "/series/"),
    *("/series/*/*/*/*", "/builds/", "/builds/*", "/machines/", "/machines/*", "/mutes/"),
    *("/gpu/", "/coverage/", "/traces/*", "/queue/", "/outbox/", "/search/", "/sign-in/", "/help/"),
    *("/mutes/*", "/requests/*"),
}
# What stands on pages that are empty where nothing was measured, or nothing waits.
FILLED = {
    "/machines": (r"\d+ of \d+ series of builds compared", r"\d+ of \d+ planted slowdowns were"),
    "/machines/2": (r"a copy of 4 MiB \S+ µs before", r"\d+ of \d+ planted slowdowns? w"),
    "/queue": (r"recheck", r"drift .* waits since .* is free", r"requested", r"request 2\b"),
    "/coverage": (r"Of the 2,488 operators", r"\b6 namespaces"),
    "/builds": (r"commit ready \w+ there 418.2 MiB", r"nightly ready \S+ \w+ there 418.2 MiB"),
    "/outbox": (r"comment\b",),
    "/mutes": (r"its data moved to another disk",),
    "/requests/1": (r"bisection", r"pending"),
}


class Browser(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        browser.require(self)
        made = ["--nightlies", "60", "--incidents", "20", "--with-samples", "3"]
        subprocess.run([sys.executable, MAKE, TORCHWATCH, self.folder, *made], check=True)
        import profiles  # these lie beside MAKE
        import waiting

        profiles.write(self.folder)
        waiting.write(self.folder)
        self.expect(0, "database", "check")
        self.configure(
            self.configuration.read_text() + "[web]\nport = 0\nrequests_per_second = 1000\n"
        )
        # What waits does so for as long as the test looks at it.
        self.enterContext(machine_lock.held(self.lock()))
        self.daemon = Daemon(self.folder, {"PATH": "/usr/bin:/bin", "HOME": str(self.folder)})
        self.addCleanup(self.daemon.stop)

    def test_no_page_has_a_fault_in_any_view(self) -> None:
        with browser.started() as chromium:
            paths = browser.pages_from(chromium, self.daemon.base, *BEGINNINGS)
            faults = browser.faults_of(chromium, self.daemon.base, paths, browser.VIEWS[:1])
            few = browser.one_of_each_kind(paths)
            faults += browser.faults_of(chromium, self.daemon.base, few, browser.VIEWS[1:])
        print(f"{len(paths)} pages: {' '.join(paths)}")
        self.assertLessEqual(KINDS, {browser.kind_of(path) for path in paths})
        self.assertEqual(faults, [], "\n".join(faults))

    def lock(self) -> str:
        return str(tomllib.loads(self.configuration.read_text())["executor"]["machine_lock"])

    def test_pages_are_looked_at_with_something_on_them(self) -> None:
        with browser.started() as chromium:
            view = browser.View(chromium, self.daemon.base, *browser.VIEWS[0])
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
<figure><svg class="drawing" role="img"><title>a</title></svg></figure>
<p style="color: red">styled</p><script>document.title = "made"</script>
<table><tr><td data-column="name of two lines">1<tr><td>2</table>
<div id="map"><svg role="img" class="drawing"><title>a</title>
<text y="15">under it</text><g><rect class="cell" width="40" height="20"/></g></svg></div>"""
        # A page's policy keeps style sheets out, but not those that a script computes.
        laid_out = """() => { const sheet = new CSSStyleSheet();
sheet.replaceSync(`table { width: 110% } td { display: block; position: relative }
td::before { position: absolute; width: 3rem; content: attr(data-column) }`);
document.adoptedStyleSheets = [sheet]; }"""
        with browser.started() as chromium:
            view = browser.View(chromium, self.daemon.base, *browser.VIEWS[0])
            view.open("/")
            view.page.set_content(bad)
            view.page.evaluate(laid_out)
            found = "\n".join(view.faults())
            view.close()
        for word in (
            "2 headings",
            "no title",
            "px wider",
            "1 drawings",
            "1 figures",
            "1 cells too small, as 'name of two lines'",
            "1 tables wider than their column",
            "1 texts under cells, as 'under it'",
            "image-alt",
            "Security Policy",
        ):
            self.assertIn(word, found)


if __name__ == "__main__":
    unittest.main()

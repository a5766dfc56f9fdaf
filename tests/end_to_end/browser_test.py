"""Every page of the real daemon in a real browser, on a database of sixty nightlies."""

import re
import subprocess
import sys
import unittest
from collections import Counter

import browser
import packages
from command import CHECKOUT, TORCHWATCH, CommandTest
from service import Daemon

MAKE = CHECKOUT / "tests/support/two_years/make.py"
# Pages of one kind that are looked at: more of them show the same.
EACH_KIND = 2
VIEWS = ((1280, "light"), (1280, "dark"), (768, "light"), (320, "light"), (320, "dark"))
NO_PAGES = ("/api/", "/metrics", "/healthz", "/style", "/assets/")


def kind_of(path: str) -> str:
    """What a path is without its numbers, dates, names and options."""
    without_options = path.partition("?")[0]
    first, _, rest = without_options.lstrip("/").partition("/")
    return f"/{first}/{re.sub(r'[^/.]+', '*', rest)}"


def is_page(path: str) -> bool:
    is_twin = re.search(r"\.(json|csv|md|css|js|svg)(\?|$)", path)
    return not is_twin and not path.startswith(NO_PAGES)


class Browser(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        if not browser.program():
            print("skipped: Chromium is not installed: deploy/prerequisites --tests")
            self.skipTest("no Chromium")
        packages.require(self, "browser", "playwright.sync_api")
        made = ["--nightlies", "60", "--incidents", "20", "--with-samples", "3"]
        subprocess.run([sys.executable, MAKE, TORCHWATCH, self.folder, *made], check=True)
        self.configure(
            self.configuration.read_text() + "[web]\nport = 0\nrequests_per_second = 1000\n"
        )
        self.daemon = Daemon(self.folder, {"PATH": "/usr/bin:/bin", "HOME": str(self.folder)})
        self.addCleanup(self.daemon.stop)

    def paths(self, view: browser.View) -> list[str]:
        """Pages that can be reached from the first one, a few of each kind."""
        seen: Counter[str] = Counter()
        found, waiting = [], ["/"]
        while waiting:
            path = waiting.pop(0)
            if path in found or seen[kind_of(path)] >= EACH_KIND or not is_page(path):
                continue
            seen[kind_of(path)] += 1
            found.append(path)
            self.assertEqual(view.open(path), 200, path)
            waiting += view.links()
        return found

    def test_no_page_has_a_fault_in_any_view(self) -> None:
        faults = []
        with browser.started() as chromium:
            first = browser.View(chromium, self.daemon.base, *VIEWS[0])
            paths = self.paths(first)
            first.close()
            for width, scheme in VIEWS:
                view = browser.View(chromium, self.daemon.base, width, scheme)
                for path in paths:
                    view.open(path)
                    faults += [f"{path}: {fault}" for fault in view.faults()]
                view.close()
        print(f"{len(paths)} pages: {' '.join(paths)}")
        self.assertGreater(len(paths), 6)
        self.assertEqual(faults, [], "\n".join(faults))

    def test_faults_of_a_page_are_found(self) -> None:
        bad = f"""<!doctype html><h1>a</h1><h1>b</h1><pre>{"wide" * 400}</pre><svg></svg><img>
<figure><svg class="drawing" role="img"><title>a</title></svg></figure>
<p style="color: red">styled</p><script>document.title = "made"</script>"""
        with browser.started() as chromium:
            view = browser.View(chromium, self.daemon.base, *VIEWS[0])
            view.open("/")
            view.page.set_content(bad)
            found = "\n".join(view.faults())
            view.close()
        for word in (
            "2 headings",
            "no title",
            "px wider",
            "1 drawings",
            "1 figures",
            "image-alt",
            "Security Policy",
        ):
            self.assertIn(word, found)


if __name__ == "__main__":
    unittest.main()

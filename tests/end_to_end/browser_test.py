"""Every page of the real daemon in a real browser, on a database of sixty nightlies."""

import subprocess
import sys
import unittest

import browser
from command import CHECKOUT, TORCHWATCH, CommandTest
from service import Daemon

MAKE = CHECKOUT / "tests/support/two_years/make.py"
sys.path.insert(0, str(MAKE.parent))
# The first page, and pages that people come to by their addresses.
BEGINNINGS = (
    *("/", "/compare/2026-11-19...2026-11-20", "/compare/2026-10-19...2026-11-20", "/mutes"),
    *("/series?workload=resnet18&metric=time", "/search?q=cuda"),
)
# Kinds that there are at least, with what is drawn of a GPU and the trace of a run.
KINDS = {
    *("//", "/compare/*...*", "/comparisons/", "/comparisons/*", "/incidents/"),
    *("/incidents/*", "/bisections/", "/bisections/*", "/models/", "/models/*", "/series/"),
    *("/series/*/*/*/*", "/builds/", "/builds/*", "/machines/", "/machines/*", "/mutes/"),
    *("/gpu/", "/coverage/", "/traces/*", "/queue/", "/outbox/", "/search/", "/sign-in/", "/help/"),
}


class Browser(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        browser.require(self)
        made = ["--nightlies", "60", "--incidents", "20", "--with-samples", "3"]
        subprocess.run([sys.executable, MAKE, TORCHWATCH, self.folder, *made], check=True)
        import profiles  # it lies beside MAKE

        profiles.write(self.folder)
        self.configure(
            self.configuration.read_text() + "[web]\nport = 0\nrequests_per_second = 1000\n"
        )
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

    def test_faults_of_a_page_are_found(self) -> None:
        bad = f"""<!doctype html><h1>a</h1><h1>b</h1><pre>{"wide" * 400}</pre><svg></svg><img>
<figure><svg class="drawing" role="img"><title>a</title></svg></figure>
<p style="color: red">styled</p><script>document.title = "made"</script>"""
        with browser.started() as chromium:
            view = browser.View(chromium, self.daemon.base, *browser.VIEWS[0])
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

"""A real nightly, watched in an open page from its discovery to its report."""

import os
import signal
import unittest
from pathlib import Path
from typing import Any

import browser
from command import LIBTORCH, CommandTest, write_secret
from service import TOKEN, Daemon, ask, make_own

WORKLOAD = "tts_angular"
CONFIGURATION = f"""
[channel]
path = "nightlies"
poll = "2s"
[suite]
workloads = ["{WORKLOAD}"]
configurations = ["cpu-infer"]
[sandbox]
readable = ["{LIBTORCH}"]
[web]
port = 0
token_file = "token"
requests_per_second = 1000
"""
OLDER, NEWER = "2026-11-20", "2026-11-21"
ENDS = ("regressed", "improved", "unchanged", "inconclusive")
# The daemon stops where it has started its first run.
AT_THE_FIRST_RUN = "executor.after_spawn:1:pause"
# The stage of a bar that is under way.
STAGE = "main ol.stages [aria-current=step]"
# How long it takes depends on who else uses the machine; the limit of the whole test ends it.
NO_LIMIT = 0


class Night(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        if not LIBTORCH:
            self.skipTest("configured without LibTorch")
        browser.require(self)
        (self.folder / "nightlies").mkdir()
        write_secret(self.folder / "token", TOKEN)
        self.configure(CONFIGURATION)

    def publish(self, nightly: str, commit: str) -> None:
        """A build that computes what LibTorch does; its bytes are its own."""
        tree = self.folder / nightly
        tree.mkdir()
        for entry in Path(LIBTORCH).iterdir():
            if not entry.name.startswith("build-"):
                (tree / entry.name).symlink_to(entry)
        with make_own(tree, "lib/libtorch.so").open("ab") as library:
            library.write(commit.encode())
        (tree / "build-version").write_text(f"2.14.0.dev{nightly.replace('-', '')}\n")
        (tree / "build-hash").write_text(commit * 40 + "\n")
        tree.rename(self.folder / "nightlies" / nightly)

    def hold_first_run(self) -> list[int]:
        """Has the daemon wait for its first run until the processes of that run get SIGCONT. What
        the nightly is at until then can be seen, however fast or slow the machine is."""
        daemon = self.daemon.process.pid
        _, status = os.waitpid(daemon, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status), self.daemon.said())
        runs = self.daemon.children()
        for run in runs:
            os.kill(run, signal.SIGSTOP)
        os.kill(daemon, signal.SIGCONT)
        self.assertNotEqual(runs, [])
        return runs

    def watch(self, page: Any, overview: Any) -> None:
        """Follows the row of the nightly until it has ended, in the page as it was loaded, and its
        stage on the overview."""
        page.wait_for_selector("#live[data-state=live]")
        page.evaluate("document.querySelector('h1').mark = 'kept'")
        self.publish(NEWER, "b")
        self.assertEqual(ask(self.daemon.base + "/api/v1/nightlies", {}, TOKEN)[0], 202)
        row = page.locator("main tbody tr", has_text=f"{NEWER} against {OLDER}")
        runs = self.hold_first_run()
        row.locator(".state.measuring").wait_for()
        # The overview, which is loaded already, and where nothing was under way before.
        overview.locator(STAGE, has_text="measure").wait_for()
        for run in runs:
            os.kill(run, signal.SIGCONT)
        row.locator(", ".join(f".state.{state}" for state in ENDS)).wait_for()
        page.locator("#said", has_text="comparison").filter(has_text="reported").wait_for(
            state="attached"
        )
        self.assertEqual(page.evaluate("document.querySelector('h1').mark"), "kept")

    def test_a_nightly_is_watched_from_its_discovery_to_its_report(self) -> None:
        self.publish(OLDER, "a")
        environment = os.environ | {"TORCHWATCH_FAILPOINT": AT_THE_FIRST_RUN}
        self.daemon = Daemon(self.folder, environment)
        self.addCleanup(self.daemon.stop)
        with browser.started() as chromium:
            view = browser.View(chromium, self.daemon.base, 1280, "light")
            view.context.set_default_timeout(NO_LIMIT)
            self.assertEqual(view.open("/comparisons"), 200)
            tonight = view.context.new_page()
            tonight.goto(self.daemon.base + "/")
            self.assertEqual(tonight.locator(STAGE).count(), 0)
            self.watch(view.page, tonight)
            tonight.locator(STAGE).wait_for(state="detached")
            self.assertEqual(view.faults(), [])
            # The overview of the other tab, which shares the stream, says what the night brought.
            tonight.bring_to_front()
            sentence = tonight.locator("main p.summary").first
            sentence.filter(has_text=f"{NEWER} against {OLDER}: ").wait_for()
            view.close()


if __name__ == "__main__":
    unittest.main()

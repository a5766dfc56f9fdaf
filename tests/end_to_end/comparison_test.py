"""A whole comparison of the real command on real LibTorch builds from a package index, killed at
ten points; then the real daemon and its pages on what it left. One story, in the order in which a
user would live it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import browser
import clicks
from command import LIBTORCH, torchwatch
from service import (
    TOKEN,
    Daemon,
    Github,
    ask,
    ended_request,
    plant_day,
    wait_for,
    write_configuration,
    write_recipe,
    write_tokens,
)
from tree_wheel import write_wheel
from wheel_index import Index

# In the order in which a comparison comes by; each kills the process that reaches it so often.
KILLS = (
    "publish.before_folder_rename:1",
    "executor.after_spawn:2",
    "nightly.after_run_stored:3",
    "executor.before_result_read:4",
    "nightly.after_run_stored:9",
    "nightly.after_verdict:1",
    "builds.after_build_published:2",
    "nightly.after_bisection_event:1",
    "nightly.after_run_stored:5",
    "nightly.after_report:1",
)


CHANNEL_AND_SUITE = """
[channel]
kind = "wheel-index"
index = "{index}"
flavour = "cpu"
[suite]
workloads = ["soft_actor_critic", "tts_angular"]
configurations = ["cpu-train"]
# What is planted takes half as long again: telling 7 % from none is for the experiments.
[detect]
threshold = 0.2
"""


class Comparison(unittest.TestCase):
    folder: Path
    truth: dict[str, Any]
    index: Index
    github: Github
    configuration: Path

    @classmethod
    def setUpClass(cls) -> None:
        if not LIBTORCH:
            raise unittest.SkipTest("configured without LibTorch")
        cls.folder = Path(tempfile.mkdtemp(prefix="torchwatch-comparison-"))
        cls.truth = plant_day(cls.folder)
        os.environ["no_proxy"] = "127.0.0.1"  # the index is on this machine
        cls.index = Index()
        for tree in sorted((cls.folder / "nightlies").iterdir()):
            cls.index.add_file(write_wheel(tree, cls.folder))
        shutil.rmtree(cls.folder / "nightlies")
        cls.github = Github()
        write_recipe(cls.folder)
        write_tokens(cls.folder)
        channel_and_suite = CHANNEL_AND_SUITE.format(index=cls.index.url)
        cls.configuration = write_configuration(cls.folder, cls.github, channel_and_suite)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.github.close()
        cls.index.close()
        shutil.rmtree(cls.folder)

    def command(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return torchwatch(self.configuration, *arguments, **variables)

    def test_1_a_comparison_killed_at_ten_points_names_both_culprits(self) -> None:
        killed = 0
        for point in KILLS:
            done = self.command("nightly", TORCHWATCH_FAILPOINT=f"{point}:kill")
            print(point, done.returncode, file=sys.stderr)
            self.assertIn(done.returncode, (-signal.SIGKILL, 1), done.stderr)
            killed += done.returncode == -signal.SIGKILL
        # How much the search has left to do at the last two depends on measured times.
        self.assertGreaterEqual(killed, 8)
        done = self.command("comparison", "show", "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        comparison = json.loads(done.stdout)
        found = {incident["kind"]: incident for incident in comparison["incidents"]}
        self.assertEqual(set(found), {"regression", "leak"}, done.stdout)
        culprits = self.truth["culprits"]
        self.assertEqual(found["regression"]["culprit"], culprits["time"]["sha"], done.stdout)
        self.assertEqual(found["leak"]["culprit"], culprits["memory"]["sha"], done.stdout)

    def test_2_asking_again_does_nothing_and_says_so(self) -> None:
        again = self.command("nightly")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("Nothing is due", again.stdout)
        listed = self.command("nightly", "--json")
        self.assertEqual(json.loads(listed.stdout), {"schema": 1, "comparisons": []})

    def test_3_the_issue_names_the_culprit_and_how_to_reproduce_it(self) -> None:
        texts = [
            self.command("incident", "show", number, "--format", "markdown").stdout
            for number in ("1", "2")
        ]
        for part in (
            self.truth["culprits"]["time"]["sha"],
            "torchwatch bisect --suspect",
            "torchwatch compare",
            "tts_angular",
        ):
            self.assertIn(part, "".join(texts))

    def test_3_an_incident_names_the_operator_that_the_culprit_changed(self) -> None:
        shown = [
            json.loads(self.command("incident", "show", number, "--json").stdout)
            for number in ("1", "2")
        ]
        by_kind = {incident["kind"]: incident["operators"] for incident in shown}
        slower = by_kind["regression"]["operators"][0]
        self.assertEqual(slower["name"], "aten::mm", slower)
        self.assertGreater(slower["low_ns"], 0)
        kept = [
            operator["name"]
            for operator in by_kind["leak"]["operators"]
            if operator["after"]["kept_bytes"] > operator["before"]["kept_bytes"]
        ]
        self.assertEqual(kept, ["aten::nll_loss_forward"])

    def test_4_a_suspect_is_tested_against_its_parent_also_when_killed_meanwhile(self) -> None:
        suspect = self.truth["culprits"]["memory"]["sha"]
        arguments = (
            "bisect",
            "--suspect",
            suspect,
            "--workload",
            "tts_angular",
            "--mode",
            "train",
            "--metric",
            "leak_growth",
            "--json",
        )
        killed = self.command(
            *arguments, TORCHWATCH_FAILPOINT="nightly.after_bisection_event:1:kill"
        )
        self.assertEqual(killed.returncode, -signal.SIGKILL, killed.stderr)
        done = self.command(*arguments)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("which was interrupted", done.stderr)
        self.assertEqual(json.loads(done.stdout)["culprit"], suspect)

    def test_5_the_daemon_answers_takes_work_with_a_token_and_stops_when_told(self) -> None:
        daemon = Daemon(self.folder, dict(os.environ))
        base = daemon.base
        try:
            self.assertEqual(ask(base + "/healthz")[0], 200)
            self.assertEqual(len(ask(base + "/api/v1/incidents")[1]["incidents"]), 2)
            self.assert_filed()
            self.assertEqual(ask(base + "/api/v1/nightlies", {}, "wrong")[0], 401)
            harmless = next(c["sha"] for c in self.truth["commits"] if c["kind"] == "harmless")
            status, request = ask(
                base + "/api/v1/bisections",
                {
                    "suspect": harmless,
                    "workloads": ["tts_angular"],
                    "mode": "train",
                    "metric": "leak_growth",
                },
                TOKEN,
            )
            self.assertEqual(status, 202)
            answered = wait_for(lambda: ended_request(base, request["id"]))
            self.assertEqual(answered["state"], "done", answered)
            other = self.command("nightly")
            self.assertEqual(other.returncode, 0, other.stderr)
            # What an index has is for the daemon to find out.
            self.assertIn("has taken it on as request", other.stdout)
            second = self.command("serve")
            self.assertEqual(second.returncode, 3)
            self.assertIn(str(daemon.process.pid), second.stderr)
        finally:
            status = daemon.stop()
        self.assertEqual(status, 0, daemon.said())

    def test_6_its_pages_have_no_fault_and_lead_to_the_reason_in_three_clicks(self) -> None:
        browser.require(self)
        settings = self.configuration.read_text()
        patient = settings.replace("[web]\n", "[web]\nrequests_per_second = 1000\n")
        self.configuration.write_text(patient)
        daemon = Daemon(self.folder, dict(os.environ))
        self.addCleanup(daemon.stop)
        with browser.started() as chromium:
            paths = browser.pages_from(chromium, daemon.base, clicks.address().path)
            kinds = {browser.kind_of(path) for path in paths}
            self.assertLessEqual({"/incidents/*", "/bisections/*", "/series/*/*/*/*"}, kinds)
            few = browser.one_of_each_kind(paths)
            faults = browser.faults_of(chromium, daemon.base, few, browser.VIEWS)
            self.assertEqual(faults, [], "\n".join(faults))
            for walk in (clicks.to_the_steps_of_a_search, clicks.to_the_samples_of_a_verdict):
                view = browser.View(chromium, daemon.base, *browser.VIEWS[0])
                self.assertEqual(view.open(clicks.address().path), 200)
                walk(self, view.page)
                self.assertEqual(view.faults(), [])
                view.close()

    def assert_filed(self) -> None:
        """Each incident becomes one issue, which names its culprit."""
        listed = ("outbox", "list", "--json")
        wait_for(lambda: not json.loads(self.command(*listed).stdout)["items"])
        culprits = sorted(c["sha"] for c in self.truth["culprits"].values())
        bodies = [issue["body"] for issue in self.github.ask("issues")]
        named = [sha for body in bodies for sha in culprits if sha in body]
        self.assertEqual(sorted(named), culprits, bodies)
        self.assertEqual(len(bodies), len(culprits))
        self.assertEqual(self.github.ask("violations"), [])


if __name__ == "__main__":
    unittest.main()

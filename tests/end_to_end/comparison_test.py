"""A whole comparison of the real command on real LibTorch builds from a package index, killed at
ten points; then the real daemon on what it left. One story, in the order in which a user would live
it."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any

from command import CHECKOUT, LIBTORCH, TORCHWATCH
from service import Github, ask

sys.path.insert(0, str(CHECKOUT / "tests" / "support"))

from tree_wheel import write_wheel
from wheel_index import Index

REPOSITORY = "owner/name"
TOKEN = "tw_an-end-to-end-test"  # noqa: S105 of this test alone
GITHUB_TOKEN = "ghp_of-this-test"  # noqa: S105 the fake's

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


def configuration(folder: Path, index: Index, github: Github) -> Path:
    """Builds and kits are kept in the folder too: where an earlier run's lay, nothing would be
    built that a kill could meet."""
    recipe = folder / "recipe.sh"
    recipe.write_text(
        f'#!/bin/sh\nexport TORCHWATCH_OVERLAY_BASE="{LIBTORCH}"\n'
        f'exec "{CHECKOUT}/deploy/recipes/overlay"\n'
    )
    recipe.chmod(0o755)
    for name, secret in (("token", TOKEN), ("github-token", GITHUB_TOKEN)):
        token = folder / name
        token.write_text(secret + "\n")
        token.chmod(0o600)
    path = folder / "torchwatch.toml"
    path.write_text(f"""
[channel]
kind = "wheel-index"
index = "{index.url}"
flavour = "cpu"
[source]
repository = "pytorch.git"
[build]
recipe = "recipe.sh"
[sandbox]
readable = ["{LIBTORCH}", "{CHECKOUT}/deploy/recipes"]
[suite]
workloads = ["soft_actor_critic", "tts_angular"]
configurations = ["cpu-train"]
[executor]
machine_lock = "torchwatch-test-{os.getpid()}"
[web]
port = 0
token_file = "token"
[github]
repository = "{REPOSITORY}"
token_file = "github-token"
api = "{github.url}"
""")
    return path


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
        # A product computed twice, which no noise of a machine hides.
        subprocess.run(
            [
                CHECKOUT / "deploy/demonstration/planted_day.py",
                cls.folder,
                "--seed",
                "1",
                "--slow-rows",
                "100",
                "--libtorch",
                LIBTORCH,
            ],
            check=True,
        )
        cls.truth = json.loads((cls.folder / "truth.json").read_text())
        (cls.folder / "truth.json").unlink()
        os.environ["no_proxy"] = "127.0.0.1"  # the index is on this machine
        cls.index = Index()
        for tree in sorted((cls.folder / "nightlies").iterdir()):
            cls.index.add_file(write_wheel(tree, cls.folder))
        shutil.rmtree(cls.folder / "nightlies")
        cls.github = Github(REPOSITORY, GITHUB_TOKEN)
        cls.configuration = configuration(cls.folder, cls.index, cls.github)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.github.close()
        cls.index.close()
        shutil.rmtree(cls.folder)

    def command(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [TORCHWATCH, *arguments, "--config", str(self.configuration)],
            env=dict(os.environ, **variables),
            text=True,
            capture_output=True,
            check=False,
        )

    def test_1_a_comparison_killed_at_ten_points_names_both_culprits(self) -> None:
        killed = 0
        for point in KILLS:
            done = self.command("nightly", TORCHWATCH_FAILPOINT=f"{point}:kill")
            print(point, done.returncode, file=sys.stderr)
            self.assertIn(done.returncode, (-signal.SIGKILL, 1), done.stderr)
            killed += done.returncode == -signal.SIGKILL
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
            self.command("incident", "show", number, "--markdown").stdout for number in ("1", "2")
        ]
        for part in (
            self.truth["culprits"]["time"]["sha"],
            "torchwatch bisect --suspect",
            "torchwatch compare",
            "tts_angular",
        ):
            self.assertIn(part, "".join(texts))

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
        daemon = subprocess.Popen(
            [TORCHWATCH, "serve", "--config", str(self.configuration)],
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            base = self.address_of(daemon)
            # The daemon keeps logging; a full pipe would stop it.
            threading.Thread(target=(daemon.stderr or io.StringIO()).read, daemon=True).start()
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
            answered = self.wait_for(base, request["id"])
            self.assertEqual(answered["state"], "done", answered)
            other = self.command("nightly")
            self.assertEqual(other.returncode, 0, other.stderr)
            # What an index has is for the daemon to find out.
            self.assertIn("has taken it on as request", other.stdout)
            second = self.command("serve")
            self.assertEqual(second.returncode, 3)
            self.assertIn(str(daemon.pid), second.stderr)
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait()
        self.assertEqual(daemon.returncode, 0)

    def assert_filed(self) -> None:
        """Each incident becomes one issue, which names its culprit."""
        while json.loads(self.command("outbox", "list", "--json").stdout)["items"]:
            time.sleep(1)
        culprits = sorted(c["sha"] for c in self.truth["culprits"].values())
        bodies = [issue["body"] for issue in self.github.ask("issues")]
        named = [sha for body in bodies for sha in culprits if sha in body]
        self.assertEqual(sorted(named), culprits, bodies)
        self.assertEqual(len(bodies), len(culprits))
        self.assertEqual(self.github.ask("violations"), [])

    def address_of(self, daemon: subprocess.Popen[str]) -> str:
        """Where the daemon says that it listens."""
        for line in daemon.stderr or ():
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                return found.group()
        raise AssertionError("the daemon ended before it said where it listens")

    def wait_for(self, base: str, request: int) -> dict[str, Any]:
        """Polls until the work is done; the test's own time limit ends it otherwise."""
        while True:
            answer = ask(f"{base}/api/v1/requests/{request}")[1]
            if answer["state"] not in ("pending", "running"):
                return answer
            time.sleep(1)


if __name__ == "__main__":
    unittest.main()

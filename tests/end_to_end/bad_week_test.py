"""One daemon through a bad week on real LibTorch builds: every day something goes wrong that must
stay one item's own, with good nightlies between. One story, in the order in which it happens; in
the end every good nightly has its verdict, and every incident its one issue.

Whatever is typed here is a documented command, and whatever is asked for a documented request."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from command import CHECKOUT, LIBTORCH, TORCHWATCH
from service import Daemon, Github, make_own

sys.path.insert(0, str(CHECKOUT / "tests" / "support"))
import wheel_index

Answer = TypeVar("Answer")
REPOSITORY = "owner/name"
TOKEN = "tw_a-token-for-the-bad-week"  # noqa: S105 of this test alone
GITHUB_TOKEN = "ghp_renewed-before-the-weekend"  # noqa: S105 the fake's
WORKLOAD = "tts_angular"
SUITE = f'workloads = ["{WORKLOAD}"]'

# What the recipe of this week cannot build, as commits are that do not compile.
RECIPE = """#!/bin/sh
[ "$TORCHWATCH_COMMIT" = "{unbuildable}" ] && exit 125
export TORCHWATCH_OVERLAY_BASE="{libtorch}"
exec "{checkout}/deploy/recipes/overlay"
"""

CONFIGURATION = """
[channel]
poll = "2s"
[source]
repository = "pytorch.git"
[build]
recipe = "recipe.sh"
[sandbox]
readable = ["{libtorch}", "{checkout}/deploy/recipes"]
[suite]
{suite}
configurations = ["cpu-train"]
[executor]
machine_lock = "torchwatch-test-{pid}"
[web]
port = 0
token_file = "token"
[github]
repository = "{repository}"
token_file = "github-token"
api = "{api}"
"""


class BadWeek(unittest.TestCase):
    folder: Path
    truth: dict[str, Any]
    github: Github
    index: wheel_index.Index
    daemon: Daemon
    stack: ExitStack
    good_nightlies: list[str]
    copies = 0

    @classmethod
    def setUpClass(cls) -> None:
        if not LIBTORCH:
            raise unittest.SkipTest("configured without LibTorch")
        cls.stack = ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.folder = Path(tempfile.mkdtemp(prefix="torchwatch-bad-week-"))
        cls.stack.callback(shutil.rmtree, cls.folder)
        planted_day = CHECKOUT / "deploy/demonstration/planted_day.py"
        options = ("--seed", "1", "--slow-rows", "100", "--libtorch", LIBTORCH)
        subprocess.run([planted_day, cls.folder, *options], check=True)
        cls.truth = json.loads((cls.folder / "truth.json").read_text())
        (cls.folder / "truth.json").unlink()
        (cls.folder / "nightlies").rename(cls.folder / "publisher")
        (cls.folder / "nightlies").mkdir()
        cls.good_nightlies = []
        cls.github = Github(REPOSITORY, GITHUB_TOKEN)
        cls.stack.callback(cls.github.close)
        cls.index = wheel_index.Index()
        cls.stack.callback(cls.index.close)
        cls.write_files()
        cls.daemon = Daemon(cls.folder, cls.environment())
        cls.stack.callback(lambda: cls.daemon.process.poll() is None and cls.daemon.stop())

    @classmethod
    def write_files(cls) -> None:
        harmless = [c["sha"] for c in cls.truth["commits"] if c["kind"] == "harmless"]
        recipe = cls.folder / "recipe.sh"
        recipe.write_text(
            RECIPE.format(unbuildable=harmless[0], libtorch=LIBTORCH, checkout=CHECKOUT)
        )
        recipe.chmod(0o755)
        for name, secret in (("token", TOKEN), ("github-token", "ghp_expired-on-friday")):
            path = cls.folder / name
            path.write_text(secret + "\n")
            path.chmod(0o600)
        cls.configure(SUITE)

    @classmethod
    def configure(cls, suite: str) -> None:
        (cls.folder / "torchwatch.toml").write_text(
            CONFIGURATION.format(
                suite=suite,
                pid=os.getpid(),
                repository=REPOSITORY,
                api=cls.github.url,
                libtorch=LIBTORCH,
                checkout=CHECKOUT,
            )
        )

    @classmethod
    def environment(cls) -> dict[str, str]:
        """As a unit's: no HOME, no user. pip asks this test's index alone."""
        pip = {n: v for n, v in cls.index.environment().items() if n.startswith("PIP_")}
        return {"PATH": "/usr/bin:/bin", **pip}

    # What a person does.

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [TORCHWATCH, *arguments, "--config", str(self.folder / "torchwatch.toml")],
            text=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            cwd=self.folder,
            check=False,
        )

    def expect(self, status: int, *arguments: str) -> str:
        done = self.command(*arguments)
        self.assertEqual(done.returncode, status, f"{arguments}:\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def items(self, *arguments: str) -> list[dict[str, Any]]:
        return json.loads(self.expect(0, *arguments, "--json"))["items"]

    def comparisons_of(self, nightly: str) -> list[dict[str, Any]]:
        rows = self.items("comparison", "list")
        return [row for row in rows if row["candidate"]["name"] == nightly]

    def comparison_of(self, nightly: str) -> dict[str, Any] | None:
        return next((r for r in self.comparisons_of(nightly) if r["purpose"] == "nightly"), None)

    def get(self, path: str) -> tuple[int, dict[str, Any]]:
        try:
            with urllib.request.urlopen(self.daemon.base + path, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def post(self, path: str, body: dict[str, Any], token: str = TOKEN) -> tuple[int, Any]:
        request = urllib.request.Request(
            self.daemon.base + path,
            json.dumps(body).encode(),
            method="POST",
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, None

    def answer_to(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        status, request = self.post(path, body)
        self.assertEqual(status, 202)

        def answered() -> dict[str, Any] | None:
            answer = self.get(f"/api/v1/requests/{request['id']}")[1]
            return None if answer["state"] in ("pending", "running") else answer

        return self.until(answered)

    def until(self, asked: Callable[[], Answer | None]) -> Answer:
        """Asks until there is an answer; the test's own time limit ends it otherwise."""
        while True:
            self.assertIsNone(self.daemon.process.poll(), self.daemon.said())
            answer = asked()
            if answer:
                return answer
            time.sleep(1)

    def newest_answered_request(self) -> dict[str, Any] | None:
        newest = self.items("request", "list")[0]
        return None if newest["state"] in ("pending", "running") else newest

    def until_ended(self, nightly: str) -> dict[str, Any]:
        ends = ("reported", "accepted", "refused", "failed", "cancelled")

        def ended() -> dict[str, Any] | None:
            row = self.comparison_of(nightly)
            return row if row and row["state"] in ends else None

        return self.until(ended)

    def until_reported(self, nightly: str) -> None:
        """If its baseline turns out to be broken, a nightly is compared anew with another one."""

        def reported() -> bool:
            return any(r["state"] == "reported" for r in self.comparisons_of(nightly))

        self.until(reported)

    def until_health_tells(self, source: str) -> dict[str, Any]:
        def told() -> dict[str, Any] | None:
            problems = self.get("/healthz")[1].get("problems", [])
            return next((p for p in problems if p["source"] == source), None)

        return self.until(told)

    def until_healthy(self) -> None:
        self.until(lambda: not {"problems", "doing"} & self.get("/healthz")[1].keys())

    # What the publisher does.

    def publish(self, nightly: str) -> Path:
        tree = self.folder / "nightlies" / nightly
        (self.folder / "publisher" / nightly).rename(tree)
        return tree

    def make_nightly(self, nightly: str) -> Path:
        """Another build of the day's last commit: it computes the same, its bytes differ."""
        tree = self.folder / "publisher" / nightly
        shutil.copytree(self.folder / "nightlies/2026-06-17", tree, symlinks=True)
        type(self).copies += 1
        with make_own(tree, "lib/libtorch.so").open("ab") as library:
            library.write(b"\0" * self.copies)
        return tree

    def publish_good(self, nightly: str) -> None:
        self.make_nightly(nightly)
        self.publish(nightly)
        self.good_nightlies.append(nightly)

    def restart(self, suite: str = SUITE) -> None:
        self.assertEqual(self.daemon.stop(), 0, self.daemon.said())
        self.configure(suite)
        type(self).daemon = Daemon(self.folder, self.environment())

    # The week.

    def test_1_a_regression_is_found_while_the_tracker_refuses_the_token(self) -> None:
        self.publish("2026-06-16")
        self.until_ended("2026-06-16")
        self.publish("2026-06-17")
        self.good_nightlies.append("2026-06-17")
        self.until_reported("2026-06-17")
        incidents = self.items("incident", "list")
        self.assertTrue(incidents)
        for incident in incidents:
            # Keys are public before the issues are: somebody squats on them.
            self.github.ask(
                f"plant <!-- torchwatch-key: open-{incident['key']}-{incident['id']} -->"
            )
        self.until_health_tells("outbox")
        self.assertEqual({m["state"] for m in self.items("outbox", "list")}, {"pending"})

    def test_2_a_renewed_token_delivers_every_issue_once(self) -> None:
        (self.folder / "github-token").write_text(GITHUB_TOKEN + "\n")
        self.until(lambda: not self.items("outbox", "list"))
        self.until_healthy()
        self.assert_issues()

    def test_3_typing_errors_are_refused_or_wait_and_block_nothing(self) -> None:
        typo = self.expect(2, "compare", "2026-06-16", "2026-06-17", "--workload", "tts_anglar")
        self.assertIn(WORKLOAD, typo)
        self.restart(suite='workloads = ["tts_anglar"]')
        self.publish_good("2026-06-18")
        self.until_health_tells("comparison")
        self.restart()
        self.until_reported("2026-06-18")

    def test_4_broken_nightlies_end_alone(self) -> None:
        self.publish_good("2026-06-19")
        removed, changed, broken = (self.make_nightly(f"2026-06-2{n}") for n in (0, 1, 2))
        with make_own(broken, "include/c10/macros/Macros.h").open("a") as header:
            header.write("\n#error this nightly does not compile\n")
        for tree in (removed, changed, broken):
            self.publish(tree.name)
        (self.folder / "nightlies/2026-06-23").mkdir()
        self.until(lambda: self.comparison_of("2026-06-22"))
        shutil.rmtree(self.folder / "nightlies/2026-06-20")
        with (self.folder / "nightlies/2026-06-21/lib/libtorch.so").open("ab") as library:
            library.write(b"flipped")
        self.publish_good("2026-06-24")
        self.until_reported("2026-06-24")
        self.until_reported("2026-06-21")  # what lies there now is another build
        for nightly in ("2026-06-20", "2026-06-21", "2026-06-22"):
            self.until_ended(nightly)
            rows = [r for r in self.comparisons_of(nightly) if r["state"] == "refused"]
            self.assertTrue(rows and all(row["reason"] for row in rows), rows)
        self.until_reported("2026-06-19")

    def test_5_requests_that_cannot_be_done_end_alone(self) -> None:
        self.index.serve("torch", "9.9.9", wheel_index.torch_members(), record="nothing,,\n")
        harmless = [c["sha"] for c in self.truth["commits"] if c["kind"] == "harmless"]
        for path, body in (
            ("/api/v1/nightlies", {"candidate": "9.9.9", "baseline": "2026-06-16"}),
            ("/api/v1/bisections", {"good": harmless[0], "bad": harmless[-1]}),
        ):
            answer = self.answer_to(path, body)
            self.assertIn(answer["state"], ("refused", "failed"), answer)
        for path, body in (
            ("/api/v1/nightlies", {"candidate": str(self.folder), "baseline": "2026-06-16"}),
            ("/api/v1/bisections", {"suspect": "refs/pull/2/head"}),
        ):
            self.assertEqual(self.post(path, body)[0], 422, body)
        self.expect(2, "compare", "2026-06-16", "2026-06-71")
        self.expect(2, "bisect", "deadbeef", harmless[0])
        self.until_healthy()

    def test_6_a_comparison_whose_folder_goes_away_ends_alone(self) -> None:
        mine = self.folder / "mine"
        self.make_nightly("mine").rename(mine)
        self.publish_good("2026-06-25")
        self.until(lambda: self.comparison_of("2026-06-25"))
        self.expect(0, "nightly", "--baseline", "2026-06-24", "--candidate", str(mine))
        shutil.rmtree(mine)
        self.until_reported("2026-06-25")
        last = self.until(self.newest_answered_request)
        self.assertEqual(last["state"], "refused", last)

    def test_7_slow_clients_wrong_tokens_and_killed_runs_disturb_nobody(self) -> None:
        self.publish_good("2026-06-26")
        victim = self.until(lambda: next(iter(self.daemon.children()), None))
        os.kill(victim, signal.SIGKILL)
        host, port = self.daemon.base.removeprefix("http://").split(":")
        with ExitStack() as slow:
            for _ in range(60):
                client = slow.enter_context(socket.create_connection((host, int(port))))
                client.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127")
            for _ in range(20):
                self.assertIn(self.post("/api/v1/nightlies", {}, "wrong")[0], (401, 429))
            self.assertEqual(self.post("/api/v1/nightlies", {})[0], 202)
            self.assertIn(self.get("/healthz")[0], (200, 503))
        self.until_reported("2026-06-26")

    def test_8_a_deleted_database_stops_the_daemon_and_a_backup_brings_it_back(self) -> None:
        self.until_healthy()
        backup = self.folder / "backup.sqlite"
        self.expect(0, "database", "backup", str(backup))
        for path in (self.folder / "state").glob("torchwatch.sqlite*"):
            path.unlink()
        self.assertEqual(self.daemon.process.wait(), 3, self.daemon.said())
        self.expect(0, "database", "restore", str(backup))
        type(self).daemon = Daemon(self.folder, self.environment())
        self.publish_good("2026-06-27")
        self.until_reported("2026-06-27")

    def test_9_nothing_was_lost(self) -> None:
        for nightly in self.good_nightlies:
            self.until_reported(nightly)
        self.assert_issues()
        self.decide_and_decide_again()
        self.assertEqual(self.github.ask("violations"), [])
        self.until_healthy()
        self.assertEqual(self.daemon.stop(), 0)

    def decide_and_decide_again(self) -> None:
        """What a person decides reaches the issue."""
        incident = self.items("incident", "list")[0]
        verbs = ["reopen", "close"] if incident["state"] == "closed" else ["close", "reopen"]
        for verb in verbs:
            self.expect(0, "incident", verb, str(incident["id"]), "--reason", "the week is over")
            self.until(lambda: not self.items("outbox", "list"))
            self.assert_issues()

    def assert_issues(self) -> None:
        """Every incident has one issue of its own, which bears its title and is open as it is."""
        issues = {issue["number"]: issue for issue in self.github.ask("issues")}
        incidents = self.items("incident", "list")
        numbers = [incident["issue_number"] for incident in incidents]
        self.assertEqual(len(set(numbers)), len(incidents), incidents)
        for incident in incidents:
            issue = issues[incident["issue_number"]]
            self.assertEqual(issue["title"], incident["title"])
            state = "closed" if incident["state"] == "closed" else "open"
            self.assertEqual(issue["state"], state, incident)


if __name__ == "__main__":
    unittest.main()

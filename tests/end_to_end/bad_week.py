"""The daemon, the publisher and the people of the bad week."""

import http.client
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from command import CHECKOUT, LIBTORCH, TORCHWATCH, torchwatch
from service import (
    TOKEN,
    Answer,
    Daemon,
    Github,
    ask,
    ended_request,
    make_own,
    plant_day,
    wait_for,
    write_configuration,
    write_recipe,
    write_tokens,
)

sys.path.insert(0, str(CHECKOUT / "tests" / "support"))
import wheel_index

WORKLOAD = "tts_angular"
ENDS = ("reported", "accepted", "refused", "failed", "cancelled")
SUITE = f'workloads = ["{WORKLOAD}"]'
CHANNEL_AND_SUITE = """
[channel]
poll = "2s"
[suite]
{suite}
configurations = ["cpu-train"]
"""


def problem_of(health: dict[str, Any], source: str) -> dict[str, Any] | None:
    return next((p for p in health.get("problems", []) if p["source"] == source), None)


def health_over(connection: http.client.HTTPConnection) -> dict[str, Any]:
    connection.request("GET", "/healthz")
    return json.loads(connection.getresponse().read())


class Week(unittest.TestCase):
    """One daemon on real LibTorch builds, a GitHub, an index, and who uses and feeds them."""

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
        cls.truth = plant_day(cls.folder)
        (cls.folder / "nightlies").rename(cls.folder / "publisher")
        (cls.folder / "nightlies").mkdir()
        cls.good_nightlies = []
        cls.github = Github()
        cls.stack.callback(cls.github.close)
        cls.index = wheel_index.Index()
        cls.stack.callback(cls.index.close)
        write_recipe(cls.folder, unbuildable=cls.harmless()[0])
        write_tokens(cls.folder, github_token="ghp_expired-on-friday")
        cls.configure()
        cls.daemon = Daemon(cls.folder, cls.environment())
        cls.stack.callback(lambda: cls.daemon.process.poll() is None and cls.daemon.stop())

    @classmethod
    def harmless(cls) -> list[str]:
        """Commits of the day that change nothing that is measured, the oldest first."""
        return [c["sha"] for c in cls.truth["commits"] if c["kind"] == "harmless"]

    @classmethod
    def configure(cls, suite: str = SUITE, disk_reserve: str = "1GiB") -> None:
        channel_and_suite = CHANNEL_AND_SUITE.format(suite=suite)
        file = write_configuration(cls.folder, cls.github, channel_and_suite, disk_reserve)
        # Each incident is filed, also one whose search finds that it did not reproduce.
        with file.open("a") as end:
            end.write('file_when = "at_once"\n')

    @classmethod
    def environment(cls) -> dict[str, str]:
        """As a unit's: no HOME, no user. pip asks this test's index alone."""
        pip = {n: v for n, v in cls.index.environment().items() if n.startswith("PIP_")}
        return {"PATH": "/usr/bin:/bin", **pip}

    # What a person does.

    def begin(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [TORCHWATCH, *arguments, "--config", str(self.folder / "torchwatch.toml")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
        )

    def expect(self, status: int, *arguments: str) -> str:
        done = torchwatch(self.folder / "torchwatch.toml", *arguments)
        self.assertEqual(done.returncode, status, f"{arguments}:\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def items(self, *arguments: str) -> list[dict[str, Any]]:
        return json.loads(self.expect(0, *arguments, "--json"))["items"]

    def comparisons_of(self, nightly: str) -> list[dict[str, Any]]:
        rows = self.items("comparison", "list", "--limit", "1000")
        return [row for row in rows if row["candidate"]["name"] == nightly]

    def comparison_of(self, nightly: str) -> dict[str, Any] | None:
        return next((r for r in self.comparisons_of(nightly) if r["purpose"] == "nightly"), None)

    def rechecks(self) -> list[dict[str, Any]]:
        rows = self.items("comparison", "list", "--limit", "1000")
        return [row for row in rows if row["purpose"] == "recheck"]

    def get(self, path: str) -> tuple[int, Any]:
        return ask(self.daemon.base + path)

    def post(self, path: str, body: dict[str, Any], token: str = TOKEN) -> tuple[int, Any]:
        return ask(self.daemon.base + path, body, token)

    def answer_to(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        status, request = self.post(path, body)
        self.assertEqual(status, 202)
        return self.until(lambda: ended_request(self.daemon.base, request["id"]))

    def until(self, asked: Callable[[], Answer | None]) -> Answer:
        """Waits for an answer while the daemon has to live."""

        def asked_of_the_living() -> Answer | None:
            self.assertIsNone(self.daemon.process.poll(), self.daemon.said())
            return asked()

        return wait_for(asked_of_the_living)

    def newest_answered_request(self) -> dict[str, Any] | None:
        newest = self.items("request", "list")[0]
        return None if newest["state"] in ("pending", "running") else newest

    def ended(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
        return rows if rows and all(row["state"] in ENDS for row in rows) else None

    def until_ended(self, nightly: str) -> None:
        def ended() -> bool:
            row = self.comparison_of(nightly)
            return row is not None and row["state"] in ENDS

        self.until(ended)

    def until_reported(self, nightly: str) -> None:
        """If its baseline turns out to be broken, a nightly is compared anew with another one."""

        def reported() -> bool:
            return any(r["state"] == "reported" for r in self.comparisons_of(nightly))

        self.until(reported)

    # What the service says of itself. Whoever is on its machine is trusted as its owner is.

    def until_told(self, source: str, detail: str = "") -> dict[str, Any]:
        """Waits until /healthz tells of such a problem. It fails for what concerns the whole
        service alone, and /metrics counts the problem."""

        def told() -> dict[str, Any] | None:
            status, health = self.get("/healthz")
            problem = problem_of(health, source)
            if problem is None or detail not in problem["detail"]:
                return None
            is_failing = any(
                each["item"] is None and each["source"] != "source" for each in health["problems"]
            )
            word, expected = ("failing", 503) if is_failing else ("degraded", 200)
            self.assertEqual((status, health["status"]), (expected, word), health)
            return problem

        problem = self.until(told)
        self.assertTrue(problem["since"], problem)
        self.assertGreaterEqual(self.problems_counted(source), 1)
        return problem

    def until_over(self, source: str) -> None:
        """Waits until neither /healthz nor /metrics tells of such a problem any more."""
        self.until(lambda: problem_of(self.get("/healthz")[1], source) is None)
        self.until(lambda: self.problems_counted(source) == 0)

    def problems_counted(self, source: str) -> float:
        return self.metric(f'torchwatch_problems{{source="{source}"}}')

    def metric(self, name: str) -> float:
        with urllib.request.urlopen(self.daemon.base + "/metrics", timeout=60) as answer:
            text = answer.read().decode()
        (value,) = re.findall(rf"(?m)^{re.escape(name)} (\S+)$", text)
        return float(value)

    def sources_told(self) -> set[str]:
        return {each["source"] for each in self.get("/healthz")[1].get("problems", [])}

    def measured_comparison(self) -> int | None:
        doing = self.get("/healthz")[1].get("doing", {})
        return doing["comparison"] if doing.get("what") == "measuring" else None

    def runs_failed_by_a_kill(self) -> list[dict[str, Any]] | None:
        """Kills a run, unless one of the comparison that is measured has failed: returns those."""
        comparison = self.measured_comparison()
        if comparison is None:
            return None
        failed = self.get(f"/api/v1/comparisons/{comparison}/runs?state=failed")[1]["runs"]
        for run in [] if failed else self.daemon.children()[:1]:
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(run, signal.SIGKILL)
        return failed

    def broken_off(self, comparison: int) -> list[dict[str, Any]] | None:
        """What tells of a daemon that was killed while it measured: the runs that were under way,
        or, where it was between two of them, the comparison, which is put off."""
        runs = self.get(f"/api/v1/comparisons/{comparison}/runs?state=abandoned")[1]["runs"]
        told = problem_of(self.get("/healthz")[1], "comparison")
        return [*runs, told] if told else runs

    def until_refused_for_reading_too_often(self) -> None:
        while self.get("/api/v1/incidents")[0] != HTTPStatus.TOO_MANY_REQUESTS:
            pass

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

    def publish_unreadable(self, nightly: str) -> None:
        """Nobody can read it, not even root, who reads what the rights of a file forbid."""
        version = make_own(self.make_nightly(nightly), "build-version")
        version.unlink()
        version.mkdir()
        self.publish(nightly)

    def offer_damaged_release(self, version: str) -> None:
        """The index has a wheel that is not as its own list of files says."""
        self.index.serve("torch", version, wheel_index.torch_members(), record="nothing,,\n")

    def publish_good(self, nightly: str) -> None:
        self.make_nightly(nightly)
        self.publish(nightly)
        self.good_nightlies.append(nightly)

    def start_daemon(self) -> None:
        type(self).daemon = Daemon(self.folder, self.environment())

    def stop_daemon(self) -> None:
        self.assertEqual(self.daemon.stop(), 0, self.daemon.said())

    def restart(self, suite: str = SUITE, disk_reserve: str = "1GiB") -> None:
        self.stop_daemon()
        self.configure(suite, disk_reserve)
        self.start_daemon()

    def damage_samples(self) -> None:
        """As a bad disk does, which says nothing."""
        with sqlite3.connect(self.folder / "state/torchwatch.sqlite") as database:
            database.execute(
                "UPDATE sample SET data = zeroblob(length(data)) WHERE kind = 'wall_ns'"
            )
        database.close()

    @contextmanager
    def few_descriptors(self) -> Iterator[http.client.HTTPConnection]:
        """The daemon can open hardly a file; gives a connection that was there before."""
        process = self.daemon.process.pid
        early = http.client.HTTPConnection(self.daemon.base.removeprefix("http://"))
        health_over(early)
        before = resource.prlimit(process, resource.RLIMIT_NOFILE)
        used = [int(entry.name) for entry in Path(f"/proc/{process}/fd").iterdir()]
        resource.prlimit(process, resource.RLIMIT_NOFILE, (max(used) + 4, before[1]))
        try:
            yield early
        finally:
            resource.prlimit(process, resource.RLIMIT_NOFILE, before)
            early.close()

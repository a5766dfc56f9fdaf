"""The daemon, the publisher and the people of the bad week."""

import http.client
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from command import CHECKOUT, LIBTORCH, TORCHWATCH
from service import Daemon, Github, ask, make_own

sys.path.insert(0, str(CHECKOUT / "tests" / "support"))
import wheel_index

Answer = TypeVar("Answer")
REPOSITORY = "owner/name"
TOKEN = "tw_a-token-for-the-bad-week"  # noqa: S105 of this test alone
GITHUB_TOKEN = "ghp_renewed-before-the-weekend"  # noqa: S105 the fake's
WORKLOAD = "tts_angular"
ENDS = ("reported", "accepted", "refused", "failed", "cancelled")
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

    def begin(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [TORCHWATCH, *arguments, "--config", str(self.folder / "torchwatch.toml")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
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

    def get(self, path: str) -> tuple[int, Any]:
        return ask(self.daemon.base + path)

    def post(self, path: str, body: dict[str, Any], token: str = TOKEN) -> tuple[int, Any]:
        return ask(self.daemon.base + path, body, token)

    def answer_to(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        status, request = self.post(path, body)
        self.assertEqual(status, 202)

        def answered() -> dict[str, Any] | None:
            answer = self.get(f"/api/v1/requests/{request['id']}")[1]
            return None if answer["state"] in ("pending", "running") else answer

        return self.until(answered)

    def wait_for(self, asked: Callable[[], Answer | None]) -> Answer:
        """Asks until there is an answer; the test's own time limit ends it otherwise."""
        while True:
            answer = asked()
            if answer:
                return answer
            time.sleep(1)

    def until(self, asked: Callable[[], Answer | None]) -> Answer:
        """The same while the daemon has to live."""

        def asked_of_the_living() -> Answer | None:
            self.assertIsNone(self.daemon.process.poll(), self.daemon.said())
            return asked()

        return self.wait_for(asked_of_the_living)

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

    def until_health_tells(self, source: str) -> dict[str, Any]:
        return self.until(lambda: problem_of(self.get("/healthz")[1], source))

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

    def restart(self, suite: str = SUITE) -> None:
        self.assertEqual(self.daemon.stop(), 0, self.daemon.said())
        self.configure(suite)
        self.start_daemon()

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

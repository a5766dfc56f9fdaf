"""What the real daemon has around it: a GitHub, a planted day of commits, trees to spoil."""

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeVar

from command import CHECKOUT, LIBTORCH, TORCHWATCH, write_secret

Answer = TypeVar("Answer")
FAKE_GITHUB = os.environ["TORCHWATCH_FAKE_GITHUB"]
REPOSITORY = "owner/name"
TOKEN = "tw_an-end-to-end-test"  # noqa: S105
GITHUB_TOKEN = "ghp_of-these-tests"  # noqa: S105 the fake's

# A service that files the issues of a planted day is configured so. It keeps builds and kits in its
# folder, too: where an earlier test's lay, nothing would be built.
CONFIGURATION = """
[source]
repository = "pytorch.git"
[build]
recipe = "recipe.sh"
disk_reserve = "{disk_reserve}"
[sandbox]
readable = ["{libtorch}", "{checkout}/deploy/recipes"]
[executor]
machine_lock = "torchwatch-test-{process}"
[web]
port = 0
token_file = "token"
[github]
repository = "{repository}"
token_file = "github-token"
api = "{api}"
"""


class Github:
    """The fake GitHub's process."""

    def __init__(self) -> None:
        description = CHECKOUT / "tests/integration/github/github_description.json"
        self.process = subprocess.Popen(
            [FAKE_GITHUB, REPOSITORY, GITHUB_TOKEN, description],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = self.line()

    def line(self) -> str:
        return pipe(self.process.stdout).readline().strip()

    def ask(self, command: str) -> Any:
        commands = pipe(self.process.stdin)
        commands.write(command + "\n")
        commands.flush()
        return json.loads(self.line())

    def close(self) -> None:
        self.process.communicate()


def plant_day(folder: Path) -> dict[str, Any]:
    """Plants two builds and the day of commits between them; what is planted."""
    program = CHECKOUT / "deploy/demonstration/planted_day.py"
    # A product computed twice, which no noise of a machine hides.
    options = ("--seed", "1", "--slow-rows", "100", "--libtorch", LIBTORCH)
    subprocess.run([program, folder, *options], check=True)
    truth = folder / "truth.json"
    planted: dict[str, Any] = json.loads(truth.read_text())
    truth.unlink()
    return planted


def write_recipe(folder: Path, unbuildable: str = "none") -> None:
    """The recipe of a planted day, which cannot build that commit, as some do not compile."""
    recipe = folder / "recipe.sh"
    recipe.write_text(
        f'#!/bin/sh\n[ "$TORCHWATCH_COMMIT" = "{unbuildable}" ] && exit 125\n'
        f'export TORCHWATCH_OVERLAY_BASE="{LIBTORCH}"\n'
        f'exec "{CHECKOUT}/deploy/recipes/overlay"\n'
    )
    recipe.chmod(0o755)


def write_configuration(
    folder: Path, github: Github, channel_and_suite: str, disk_reserve: str = "1GiB"
) -> Path:
    """The configuration of a service of the planted day in that folder."""
    file = folder / "torchwatch.toml"
    rest = CONFIGURATION.format(
        disk_reserve=disk_reserve,
        libtorch=LIBTORCH,
        checkout=CHECKOUT,
        process=os.getpid(),
        repository=REPOSITORY,
        api=github.url,
    )
    file.write_text(channel_and_suite + rest)
    return file


def write_tokens(folder: Path, github_token: str = GITHUB_TOKEN) -> None:
    write_secret(folder / "token", TOKEN)
    write_secret(folder / "github-token", github_token)


class Daemon:
    """The real daemon of the configuration in a folder."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.log = folder / "daemon.log"
        self.start = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [TORCHWATCH, "serve", "--config", folder / "torchwatch.toml"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        self.base = self.address()

    def said(self) -> str:
        return self.log.read_bytes()[self.start :].decode()

    def address(self) -> str:
        before = "listening on "
        while before not in self.said():
            if self.process.poll() is not None:
                raise AssertionError("the daemon ended:\n" + self.said())
            time.sleep(0.1)
        return self.said().split(before)[1].split()[0]

    def children(self) -> list[int]:
        return [
            int(stat.parent.name)
            for stat in Path("/proc").glob("[0-9]*/stat")
            if parent_of(stat) == self.process.pid
        ]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()


def ask(url: str, body: dict[str, Any] | None = None, token: str = "") -> tuple[int, Any]:
    """The status and the document of an answer: to a POST where there is a body, else to a GET."""
    request = urllib.request.Request(url)
    if body is not None:
        request = urllib.request.Request(
            url,
            json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")


def ended_request(base: str, number: int) -> dict[str, Any] | None:
    """A request that has ended; none while it has not."""
    answer = ask(f"{base}/api/v1/requests/{number}")[1]
    return None if answer["state"] in ("pending", "running") else answer


def wait_for(asked: Callable[[], Answer | None]) -> Answer:
    """Asks until there is an answer; the test's own time limit ends it otherwise."""
    while True:
        answer = asked()
        if answer:
            return answer
        time.sleep(1)


def pipe(end: IO[str] | None) -> IO[str]:
    if end is None:
        raise ValueError("the process was started without this pipe")
    return end


def parent_of(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended meanwhile
        return 0


def make_own(tree: Path, name: str) -> Path:
    """Replaces the links on the way to a file of a tree by folders of the tree's own."""
    at = tree
    for part in Path(name).parts:
        at = at / part
        if not at.is_symlink():
            continue
        target = at.resolve()
        at.unlink()
        if target.is_dir():
            at.mkdir()
            for child in target.iterdir():
                (at / child.name).symlink_to(child)
        else:
            shutil.copy(target, at)
    return at

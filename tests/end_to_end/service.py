"""What the bad week needs around it: a GitHub, a daemon as a unit starts it, trees to spoil."""

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO, Any

from command import CHECKOUT, TORCHWATCH

FAKE_GITHUB = os.environ["TORCHWATCH_FAKE_GITHUB"]


class Github:
    """The fake GitHub's process."""

    def __init__(self, repository: str, token: str) -> None:
        description = CHECKOUT / "tests/integration/github/github_description.json"
        self.process = subprocess.Popen(
            [FAKE_GITHUB, repository, token, description],
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


class Daemon:
    """The real daemon, in an environment as empty as a unit's."""

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
        return self.log.read_text()[self.start :]

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

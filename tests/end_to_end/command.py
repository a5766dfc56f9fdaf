"""What the end-to-end tests share: the real command, a repository, a configuration."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT / "tests" / "support"))

from git_call import git  # noqa: E402

TORCHWATCH = os.environ["TORCHWATCH"]
LIBTORCH = os.environ.get("TORCHWATCH_LIBTORCH", "")


def torchwatch(
    configuration: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command in the folder of its configuration, with these variables beside others."""
    return subprocess.run(
        [TORCHWATCH, *arguments, "--config", str(configuration)],
        env=dict(os.environ, **variables),
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        cwd=configuration.parent,
        check=False,
    )


def write_secret(path: Path, secret: str) -> None:
    """Writes a file that its owner alone can read."""
    path.write_text(secret + "\n")
    path.chmod(0o600)


class CommandTest(unittest.TestCase):
    """A test with a folder of its own and a configuration in it."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.configuration = self.folder / "torchwatch.toml"

    def configure(self, text: str) -> None:
        # A lock of its own: tests that run side by side are not one another's machine.
        self.configuration.write_text(
            f'[executor]\nmachine_lock = "torchwatch-test-{os.getpid()}"\n{text}'
        )

    def repository(self, commits: int) -> list[str]:
        """A repository of commits that each change one file; their shas, oldest first."""
        folder = self.folder / "pytorch"
        folder.mkdir()
        git(folder, "init", "--quiet", "--initial-branch", "main")
        shas = []
        for number in range(commits):
            (folder / f"file-{number}.cpp").write_text(str(number))
            git(folder, "add", ".")
            git(folder, "commit", "--quiet", "--message", f"Commit {number}")
            shas.append(git(folder, "rev-parse", "HEAD"))
        return shas

    def run_command(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return torchwatch(self.configuration, *arguments, **variables)

    def expect(
        self, status: int, *arguments: str, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        done = self.run_command(*arguments, **variables)
        self.assertEqual(done.returncode, status, f"{arguments}:\n{done.stdout}\n{done.stderr}")
        return done

    def json_of(self, status: int, *arguments: str, **variables: str) -> dict[str, Any]:
        return json.loads(self.expect(status, *arguments, "--json", **variables).stdout)

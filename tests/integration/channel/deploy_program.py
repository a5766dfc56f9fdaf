"""deploy/libtorch with a package index on loopback, for the tests of what it reads there."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(CHECKOUT / "tests" / "support"), str(CHECKOUT / "deploy" / "fetching")]

from wheel_index import Index  # noqa: E402


def nightly(day: int, release: str = "2.15.0", label: str = "cpu") -> str:
    return f"{release}.dev202608{day:02}+{label}"


class IndexTest(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.tree = Path(holder.name) / "torch"
        self.index = Index()
        self.addCleanup(self.index.close)
        self.address = self.index.url
        self.kind: list[str] = []

    def run_program(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-I", CHECKOUT / "deploy" / "libtorch", *self.kind, *arguments],
            env=self.index.environment() | {"TORCHWATCH_INDEX": self.address},
            check=False,
            text=True,
            capture_output=True,
        )

    def listed(self, *arguments: str) -> list[str]:
        done = self.run_program("--list", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.partition("\t")[0] for line in done.stdout.splitlines()]

    def fingerprints(self) -> list[str]:
        return [line.partition("\t")[2] for line in self.run_program("--list").stdout.splitlines()]

    def fetch(self, version: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run_program(
            "--version", version, "--exact", "--all-libraries", *arguments, "--into", str(self.tree)
        )

    def check_fetched(self, version: str, *arguments: str) -> None:
        done = self.fetch(version, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.tree / "build-version").read_text().strip(), version)

    def check_fails(self, done: subprocess.CompletedProcess[str], status: int, *words: str) -> None:
        self.assertEqual(done.returncode, status, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertFalse(self.tree.exists())

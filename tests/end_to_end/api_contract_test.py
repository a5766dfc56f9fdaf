"""schemathesis runs against the description that the real daemon serves, and finds nothing."""

import os
import sqlite3
import subprocess
import sys
import tarfile
import unittest
from pathlib import Path

import packages
from command import CHECKOUT, CommandTest, write_secret
from service import TOKEN, Daemon

HOOKS = Path(__file__).with_name("api_contract_hooks.py")
SETTINGS = Path(__file__).with_name("api_contract.toml")
SEED = "20260817"
# The same description gives the same requests, so that a finding can be repeated.
SCHEMATHESIS = "import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())"


def call(*arguments: str) -> list[str]:
    return [sys.executable, "-c", SCHEMATHESIS, *arguments]


def environment() -> dict[str, str]:
    return dict(
        os.environ,
        PYTHONPATH=str(packages.folder_of("api_contract")),
        NO_COLOR="1",
        SCHEMATHESIS_HOOKS=str(HOOKS),
    )


class ApiContract(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        packages.require(self, "api_contract", "schemathesis.cli")
        self.fill()
        daemon = Daemon(self.folder, dict(os.environ))
        self.addCleanup(daemon.stop)
        self.base = daemon.base

    def fill(self) -> None:
        """A database of a former version: comparisons, an incident, a bisection, their runs."""
        archive = CHECKOUT / "tests/recordings/database-of-286d2e2.tar.xz"
        with tarfile.open(archive) as tar:
            tar.extract("database-of-286d2e2.sql", self.folder)
        script = (self.folder / "database-of-286d2e2.sql").read_text()
        with sqlite3.connect(self.folder / "torchwatch.sqlite") as database:
            database.executescript(script)
        self.repository(3)
        (self.folder / "builds").mkdir()
        write_secret(self.folder / "token", TOKEN)
        self.configure(f"""
[source]
repository = "pytorch"
[channel]
kind = "directory"
path = "builds"
[build]
recipe = "{CHECKOUT}/deploy/recipes/overlay"
[storage]
path = "torchwatch.sqlite"
[web]
port = 0
token_file = "token"
requests_per_second = 10000
trusted_proxies = ["127.0.0.1"]
""")

    def test_schemathesis_finds_nothing(self) -> None:
        done = subprocess.run(
            [
                *call("--config-file", str(SETTINGS), "run", f"{self.base}/api/v1/openapi.json"),
                *("--url", self.base, "--checks", "all", "--seed", SEED, "--max-examples", "50"),
                *("--phases", "examples,coverage,fuzzing,stateful", "--continue-on-failure"),
                *("--header", f"Authorization: Bearer {TOKEN}"),
                # Why these are left out stands in api_contract.toml.
                *("--exclude-path", "/api/v1/events", "--exclude-path", "/events"),
            ],
            env=environment(),
            cwd=self.folder,
            text=True,
            capture_output=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()

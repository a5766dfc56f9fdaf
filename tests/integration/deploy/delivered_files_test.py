"""Files that nothing compiles: the unit, the shell scripts."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from support import CHECKOUT, DEPLOY

SHELL_SCRIPTS = [
    DEPLOY / "quickstart",
    DEPLOY / "prerequisites",
    DEPLOY / "steps.sh",
    CHECKOUT / "tests" / "run",
    CHECKOUT / "tests" / "lint",
    CHECKOUT / ".ci" / "run",
    *sorted((DEPLOY / "recipes").iterdir()),
]


def run(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False
    )


class Delivered(unittest.TestCase):
    def test_the_unit_is_hardened(self) -> None:
        if not shutil.which("systemd-analyze"):
            print("skipped: systemd-analyze is not installed")
            return
        # The namespaces in which bubblewrap confines children make 0.7 of it, and its calls 0.5.
        done = run(
            "systemd-analyze",
            "security",
            "--offline=true",
            "--threshold=23",
            Path(os.environ["TORCHWATCH_BUILD"]) / "torchwatch.service",
        )
        self.assertEqual(done.returncode, 0, done.stdout[-400:] + done.stderr)

    def test_shell_scripts_parse(self) -> None:
        for script in SHELL_SCRIPTS:
            self.assertEqual(run("bash", "-n", script).stderr, "", script)

    def test_commands_are_executable(self) -> None:
        for script in [*SHELL_SCRIPTS, DEPLOY / "libtorch"]:
            if script.suffix != ".sh":
                self.assertTrue(script.stat().st_mode & 0o100, script)

    def test_help_of_every_command_is_its_head(self) -> None:
        for command in (
            DEPLOY / "quickstart",
            DEPLOY / "prerequisites",
            CHECKOUT / "tests" / "run",
            CHECKOUT / "tests" / "lint",
        ):
            done = run(command, "--help")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("--", done.stdout)
            self.assertNotIn("set -e", done.stdout)


if __name__ == "__main__":
    unittest.main()

"""What the tests of deploy/ share: where things lie, and stand-ins for programs."""

import os
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
DEPLOY = CHECKOUT / "deploy"


def write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


class ScriptTest(unittest.TestCase):
    """A test with a folder of its own, whose bin/ holds stand-ins that come first on PATH."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.bin = self.folder / "bin"
        self.bin.mkdir()

    def stand_in(self, name: str, text: str) -> None:
        write_program(self.bin / name, "#!/bin/bash\n" + text)

    def run_script(
        self, *command: object, path: str | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        environment = dict(os.environ, PATH=path or f"{self.bin}:{os.environ['PATH']}", **variables)
        return subprocess.run(
            [str(part) for part in command],
            env=environment,
            text=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EXPERIMENTS = Path(__file__).resolve().parents[3] / "tests" / "experiments"
sys.path.insert(0, str(EXPERIMENTS))

import machine_lock  # noqa: E402

TAKE = "import machine_lock, sys\nwith machine_lock.held(sys.argv[1]): print('measures')"


class Lock(unittest.TestCase):
    def waits_for(self, name: str) -> None:
        """Another process that wants the lock waits while this one holds it."""
        with machine_lock.held(name):
            other = subprocess.Popen(
                [sys.executable, "-c", TAKE, name],
                env=dict(os.environ, PYTHONPATH=str(EXPERIMENTS)),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            self.assertIn("is held", other.stderr.readline() if other.stderr else "")
            self.assertIsNone(other.poll())
        self.assertEqual(other.communicate()[0], "measures\n")

    def test_one_process_holds_a_name_at_a_time(self) -> None:
        self.waits_for(f"test-{os.getpid()}")

    def test_one_process_holds_a_file_at_a_time_and_is_named_in_it(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "lock"
            with machine_lock.held(str(file)):
                self.assertEqual(file.read_text(), f"{os.getpid()}\n")
            self.waits_for(str(file))

    def test_the_name_is_that_of_the_service(self) -> None:
        """A service finds the socket by this name."""
        name = f"test-{os.getpid()}"
        with machine_lock.held(name):
            sockets = Path("/proc/net/unix").read_text()
        self.assertIn(f"@torchwatch-machine-{name}\n", sockets)


if __name__ == "__main__":
    unittest.main()

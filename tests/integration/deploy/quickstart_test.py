"""What quickstart refuses before it installs, builds or moves anything."""

import fcntl
import unittest

from support import DEPLOY, ScriptTest


class Quickstart(ScriptTest):
    def test_a_comparison_again_is_refused_while_a_daemon_works_on_the_earlier_one(self) -> None:
        demo = self.folder / "demo"
        state = demo / "state"
        state.mkdir(parents=True)
        (state / "torchwatch.sqlite").write_text("rows")
        with (state / "torchwatch.sqlite.lock").open("w") as lock:
            lock.write("4711 (torchwatch serve)\n")
            lock.flush()
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = self.run_script(DEPLOY / "quickstart", "--again", "--folder", demo)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("process 4711 (torchwatch serve) works in", done.stderr)
        self.assertIn("stop it first", done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(
            sorted(path.name for path in state.iterdir()),
            ["torchwatch.sqlite", "torchwatch.sqlite.lock"],
        )

    def test_an_argument_that_means_nothing_is_refused(self) -> None:
        done = self.run_script(DEPLOY / "quickstart", "--agin")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--agin", done.stderr)


if __name__ == "__main__":
    unittest.main()

"""Builds commits of a planted day against the real LibTorch with the overlay recipe."""

import hashlib
import json
import os
import subprocess
import unittest
from pathlib import Path

from support import DEPLOY, ScriptTest

LIBTORCH = os.environ.get("TORCHWATCH_LIBTORCH", "")


def library_hash(tree: Path) -> str:
    return hashlib.sha256((tree / "lib" / "libtorch.so").read_bytes()).hexdigest()


@unittest.skipUnless(LIBTORCH and Path(LIBTORCH, "lib").is_dir(), "no LibTorch is configured")
class PlantedBuild(ScriptTest):
    def build(self, commit: str, base: str | Path = LIBTORCH) -> tuple[Path, int]:
        import nightlies

        tree = self.folder / "builds" / commit
        os.environ["CCACHE_DIR"] = os.environ.get("CCACHE_DIR", str(self.folder / "ccache"))
        return tree, nightlies.build_commit(
            self.folder / "day" / "pytorch.git", commit, tree, Path(base)
        )

    def test_a_day_builds_as_its_truth_says(self) -> None:
        done = self.run_script(
            DEPLOY / "demonstration" / "planted_day.py", self.folder / "day", "--seed", "2"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        truth = json.loads((self.folder / "day" / "truth.json").read_text())
        first, first_status = self.build(truth["commits"][0]["sha"])
        last, last_status = self.build(truth["commits"][-1]["sha"])
        self.assertEqual((first_status, last_status), (0, 0))

        for commit in truth["unbuildable"]:
            self.assertEqual(self.build(commit)[1], 125)
        for culprit in truth["culprits"].values():
            before, status_before = self.build(culprit["parent"], first)
            tree, status = self.build(culprit["sha"], last)
            self.assertEqual((status_before, status), (0, 0))
            self.assertNotEqual(library_hash(before), library_hash(tree))

        unchanging = next(
            n for n, commit in enumerate(truth["commits"]) if n > 0 and commit["kind"] == "none"
        )
        before, _ = self.build(truth["commits"][unchanging - 1]["sha"])
        after, _ = self.build(truth["commits"][unchanging]["sha"])
        self.assertEqual(library_hash(before), library_hash(after))

        dynamic = subprocess.run(
            ["readelf", "-d", last / "lib" / "libtorch.so"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        for name in ("[libtorch_cpu.so]", "[libc10.so]", "soname: [libtorch.so]"):
            self.assertIn(name, dynamic)


if __name__ == "__main__":
    unittest.main()

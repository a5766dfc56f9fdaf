"""The recipe that lays a commit's Python over a build, with a small stand-in for the build."""

import subprocess
import unittest
from pathlib import Path

from support import DEPLOY, ScriptTest

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class PythonOverlay(ScriptTest):
    def setUp(self) -> None:
        super().setUp()
        self.base = self.folder / "packages" / "torch"
        for path in ("lib/libtorch.so", "lib/libc10.so", "include/a.h", "_C.so", "python/numpy.py"):
            self.write(self.base / path, path)
        for path in (
            "__init__.py",
            "optim/adam.py",
            "optim/sgd.py",
            "optim/__pycache__/adam.x.pyc",
        ):
            self.write(self.base / path, "# " + path)
        self.source = self.folder / "source"
        self.write(self.source / "torch" / "optim" / "sgd.py", "# optim/sgd.py")
        self.write(self.source / "version.txt", "2.13.0a0\n")

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def build(self, name: str, base: Path | None = None) -> subprocess.CompletedProcess[str]:
        self.prefix = self.folder / name
        self.prefix.mkdir()
        return self.run_script(
            DEPLOY / "recipes" / "python",
            TORCHWATCH_SOURCE=str(self.source),
            TORCHWATCH_COMMIT=COMMIT,
            TORCHWATCH_PREFIX=str(self.prefix),
            TORCHWATCH_BASE=str(base or ""),
            TORCHWATCH_PYTHON_BASE=str(self.base),
        )

    def library(self) -> str:
        return (self.prefix / "lib" / "libtorch.so").read_text()

    def test_the_tree_is_the_base_with_the_files_that_differ(self) -> None:
        self.write(self.source / "torch" / "optim" / "adam.py", "slower = True\n")
        self.write(self.source / "torch" / "optim" / "new.py", "new = True\n")
        self.assertEqual(self.build("build").stderr, "")
        self.assertEqual((self.prefix / "optim" / "adam.py").read_text(), "slower = True\n")
        self.assertFalse((self.prefix / "optim" / "adam.py").is_symlink())
        self.assertFalse((self.prefix / "optim" / "__pycache__" / "adam.x.pyc").exists())
        self.assertTrue((self.prefix / "optim" / "new.py").exists())
        for path in ("optim/sgd.py", "__init__.py", "_C.so", "include", "python", "lib/libc10.so"):
            self.assertEqual((self.prefix / path).readlink(), self.base / path)
        self.assertEqual((self.prefix / "build-hash").read_text(), COMMIT + "\n")
        self.assertEqual((self.prefix / "build-version").read_text(), "2.13.0a0+git0123456\n")
        self.assertEqual((self.base / "optim" / "adam.py").read_text(), "# optim/adam.py")

    def test_equal_python_is_an_equal_build_and_other_python_another(self) -> None:
        self.build("unchanged")
        unchanged = self.library()
        self.assertTrue(unchanged.startswith("lib/libtorch.so\npython "))
        self.build("again")
        self.assertEqual(self.library(), unchanged)
        self.write(self.source / "torch" / "optim" / "adam.py", "slower = True\n")
        self.build("changed")
        self.assertNotEqual(self.library(), unchanged)

    def test_a_commit_s_build_as_base_is_followed_to_its_own(self) -> None:
        self.write(self.source / "torch" / "optim" / "adam.py", "slower = True\n")
        self.build("first")
        first = self.prefix
        (self.source / "torch" / "optim" / "adam.py").unlink()
        self.assertEqual(self.build("second", first).returncode, 0)
        self.assertEqual((self.prefix / "optim" / "adam.py").read_text(), "# optim/adam.py")
        self.assertEqual((self.prefix / "python-base").resolve(), self.base)

    def test_python_that_cannot_be_parsed_is_unbuildable(self) -> None:
        self.write(self.source / "torch" / "optim" / "adam.py", "def broken(:\n")
        done = self.build("build")
        self.assertEqual(done.returncode, 125)
        self.assertIn("optim/adam.py:1", done.stderr)
        self.assertFalse((self.prefix / "build-hash").exists())

    def test_a_base_without_python_is_a_fault_of_the_environment(self) -> None:
        (self.base / "__init__.py").unlink()
        done = self.build("build")
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no Python part", done.stderr)


if __name__ == "__main__":
    unittest.main()

"""deploy/libtorch --python: a tree that Python can import, with the packages that it requires, from
a package index on loopback."""

import hashlib
import os
import shutil
import subprocess
import sys
import unittest
from collections.abc import Sequence

from deploy_program import IndexTest, nightly
from wheel_index import (
    COMMIT,
    Members,
    archive_members,
    archive_of,
    library,
    nvidia_members,
    torch_members,
    wheel_of,
)

VERSION = nightly(16)
REQUIRES = (
    "Requires-Dist: filelock",
    "Requires-Dist: typing-extensions>=4.10.0",
    'Requires-Dist: of-old-pythons; python_version < "3"',
    'Requires-Dist: of-an-extra; extra == "all"',
    "Requires-Dist: nvidia-cublas",
    "Requires-Dist: cuda-bindings==13.0",
    "Requires-Dist: triton~=3.9",
)
OF_ANOTHER_PYTHON = "cp27-cp27mu-manylinux_2_17_x86_64"
IMPORTS = """
import sys
sys.path[:0] = sys.argv[1:]
import torch, torchgen, functorch, filelock, typing_extensions, numpy
print(torch.__file__, torch.version.__version__, filelock.lock)
"""


def python_members(version: str = VERSION, python: bytes = b"") -> Members:
    return {
        **torch_members(version, ("libc10.so",)),
        "torch/__init__.py": b"from . import version\n" + python,
        "torch/_C.cpython-311-x86_64-linux-gnu.so": b"an extension",
        "torch/bin/protoc": b"a program of the build",
        "torch/bin/torch_shm_manager": b"a program of torch.multiprocessing",
        "torch/lib/libjitbackend_test.so": b"of a test",
        "torch/lib/libshm.so": library("libshm.so"),
        "torch/lib/libtorch_global_deps.so": library("libtorch_global_deps.so"),
        "torch/test/test_all.py": b"raise SystemExit\n",
        "torchgen/__init__.py": b"",
        "functorch/__init__.py": b"",
    }


class PythonTree(IndexTest):
    def setUp(self) -> None:
        super().setUp()
        self.publish()
        # What it requires itself comes, too.
        requires = ["Requires-Dist: typing-extensions"]
        self.index.add("filelock", "3.1", {"filelock.py": b"lock = 'held'\n"}, requires=requires)
        self.index.add("typing_extensions", "4.12.0", {"typing_extensions.py": b""})
        self.index.add("numpy", "2.4.6", {"numpy/__init__.py": b""})

    def publish(
        self,
        members: Members | None = None,
        version: str = VERSION,
        requires: Sequence[str] = REQUIRES,
        tag: str = "py3-none-any",
    ) -> None:
        self.index.add("torch", version, members or python_members(), tag=tag, requires=requires)

    def python_tree(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.fetch(VERSION, "--python", *arguments)

    def check_made(self, *arguments: str) -> None:
        done = self.python_tree(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)

    def python_hash(self) -> str:
        """That of what is published now."""
        self.check_made()
        found = (self.tree / "python-hash").read_text()
        shutil.rmtree(self.tree)
        return found

    def imported(self) -> list[str]:
        """What an isolated Python finds in the tree."""
        places = [str(self.tree.parent), str(self.tree / "python")]
        program = [sys.executable, "-I", "-B", "-c", IMPORTS, *places]
        done = subprocess.run(program, check=False, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def test_it_can_be_imported_with_what_it_requires_and_has_no_tests(self) -> None:
        for address in (self.index.url, ""):  # without an index pip finds torch, too
            self.address = address
            self.check_made()
            self.assertEqual(self.imported(), [f"{self.tree}/__init__.py", VERSION, "held"])
            for path in ("_C.cpython-311-x86_64-linux-gnu.so", "lib/libshm.so", "include"):
                self.assertTrue((self.tree / path).exists(), path)
            for path in ("test", "bin/protoc", "lib/libjitbackend_test.so"):
                self.assertFalse((self.tree / path).exists(), path)
            shutil.rmtree(self.tree)
        asked = {file.split("-")[0] for file in self.index.downloaded}
        self.assertEqual(asked, {"torch", "filelock", "typing_extensions", "numpy"})

    def test_programs_of_the_wheel_stay_programs_and_sources_are_compiled(self) -> None:
        self.check_made()
        self.assertTrue(os.access(self.tree / "bin" / "torch_shm_manager", os.X_OK))
        self.assertFalse((self.tree / "__init__.py").stat().st_mode & 0o111)
        self.assertTrue(list((self.tree / "__pycache__").glob("__init__.*.pyc")))
        self.assertTrue(list((self.tree / "python" / "__pycache__").glob("filelock.*.pyc")))

    def test_a_wheel_of_another_python_is_refused_and_nothing_of_it_is_kept(self) -> None:
        self.index.wheels.pop(f"torch-{VERSION}-py3-none-any.whl")
        self.publish(tag=OF_ANOTHER_PYTHON)
        self.check_fails(self.python_tree(), 6, OF_ANOTHER_PYTHON, "cannot import", sys.executable)
        self.assertEqual([path.name for path in self.tree.parent.iterdir()], ["torch.lock"])
        self.check_fetched(VERSION)  # C++ needs nothing of it

    def test_a_package_that_nobody_has_is_named_and_no_tree_appears(self) -> None:
        self.publish(requires=["Requires-Dist: filelock>=4"])
        self.check_fails(self.python_tree(), 1, "pip could not fetch filelock>=4")

    def test_a_package_at_an_address_is_not_built(self) -> None:
        self.publish(requires=["Requires-Dist: evil @ https://localhost/evil.tar.gz"])
        self.check_fails(self.python_tree(), 4, "evil.tar.gz: an address, not a wheel")

    def test_a_library_that_this_machine_may_get_is_waited_for(self) -> None:
        members = python_members()
        members["torch/lib/libtorch_python.so"] = library("libtorch_python.so", "libno_such.so.1")
        del members["torch/lib/libtorch_cuda.so"]
        self.publish(members)
        self.check_fails(self.python_tree(), 1, "needs libno_such.so.1", "install them")

    def test_a_package_without_the_hash_that_the_index_names_refuses_no_wheel(self) -> None:
        self.index.wheels["numpy-2.4.6-py3-none-any.whl"].sha256 = "0" * 64
        self.check_fails(self.python_tree(), 1, "does not have the hash")

    def test_a_wheel_without_a_python_part_is_refused(self) -> None:
        self.publish(torch_members(VERSION, ("libc10.so",)))
        self.check_fails(self.python_tree(), 4, "holds no torch/__init__.py")

    def test_a_wheel_built_for_cuda_needs_its_libraries_for_python(self) -> None:
        for_cuda = {
            "torch/lib/libtorch_python.so": library("libtorch_python.so", "libcublas.so.13")
        }
        self.publish(python_members() | for_cuda)
        self.check_fails(self.python_tree(), 6, "needs libcublas.so.13", "+cpu", "--cuda")
        self.check_fetched(VERSION)  # C++ on a CPU does without
        shutil.rmtree(self.tree)
        self.index.add("nvidia_cublas", "13.1", nvidia_members("libcublas.so.13"))
        self.index.add("cuda_bindings", "13.0", {})
        self.check_made("--cuda")
        self.assertEqual(self.imported()[1], VERSION)

    def test_a_tree_without_it_is_not_taken_for_one_that_has_it(self) -> None:
        self.check_fetched(VERSION)
        done = self.python_tree()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("without its Python part: remove it", done.stderr)
        shutil.rmtree(self.tree)
        self.check_made()
        self.check_fetched(VERSION)  # one that has more will do

    def test_its_hash_tells_other_python_apart_and_no_other_version(self) -> None:
        first = self.python_hash()
        later = python_members() | {
            "torch/version.py": b"__version__ = '" + VERSION.encode() + b"'\n"
        }
        later["torch/version.py"] += f"git_version = '{'a' * 40}'\n".encode()
        self.publish(later)
        self.assertEqual(self.python_hash(), first)
        self.publish(python_members(python=b"slow = True\n"))
        self.assertNotEqual(self.python_hash(), first)
        self.publish(python_members() | {"torch/include/ATen/cpu/vec.h": b"// slower"})
        self.assertNotEqual(self.python_hash(), first)
        self.publish(python_members() | {"torch/include/torch/version.h": b"// 2.14"})
        self.assertEqual(self.python_hash(), first)

    def test_an_archive_has_no_python_part(self) -> None:
        done = self.run_program("--python", "--archives", "--version", VERSION)
        self.check_fails(done, 2, "an archive has no Python part")

    def test_a_wheel_of_a_commit_becomes_one_and_an_archive_does_not(self) -> None:
        builds = self.tree.parent / "builds"
        builds.mkdir()
        files = {
            f"{COMMIT}.whl": wheel_of("torch", VERSION, python_members(), requires=REQUIRES),
            f"{COMMIT}.zip": archive_of(archive_members(VERSION)),
        }
        for name, content in files.items():
            (builds / name).write_bytes(content)
            (builds / f"{name}.sha256").write_text(hashlib.sha256(content).hexdigest())
        of_commit = ("--commit", COMMIT, "--python", "--into", str(self.tree), "--artifacts")
        done = self.run_program(*of_commit, f"{builds}/{{commit}}.zip")
        self.check_fails(done, 6, f"{COMMIT}.zip is a LibTorch archive, which has no Python part")
        done = self.run_program(*of_commit, f"{builds}/{{commit}}.whl")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.imported()[1], VERSION)


if __name__ == "__main__":
    unittest.main()

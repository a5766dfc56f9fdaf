"""The recipe pytorch-cpu with the real cmake, ninja, g++ and ccache: a toy tree takes PyTorch's
place."""

import subprocess
import unittest

from pytorch_recipe import PyTorchRecipe
from recipe_faults_test import FAULT, UNBUILDABLE, small_disk

PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(Torch LANGUAGES C CXX)
foreach(option USE_CUDA BUILD_PYTHON BUILD_TEST USE_DISTRIBUTED)
  if(NOT DEFINED ${option} OR ${option})
    message(FATAL_ERROR "${option} is not off")
  endif()
endforeach()
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  message(FATAL_ERROR "not what is measured")
endif()
# As PyTorch does: code is made by Python before it is compiled.
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/made.cpp
  COMMAND ${PYTHON_EXECUTABLE} ${CMAKE_SOURCE_DIR}/make.py ${CMAKE_BINARY_DIR}/made.cpp
  DEPENDS make.py)
add_library(torch_cpu SHARED add.cpp sum.cpp ${CMAKE_BINARY_DIR}/made.cpp)
install(TARGETS torch_cpu DESTINATION lib)
"""
FILES = {
    "version.txt": "2.15.0a0\n",
    "CMakeLists.txt": PROJECT,
    "add.cpp": "int add(int a, int b) { return a + b; }\n",
    "sum.cpp": "int sum(const int* x, int n) { return n ? *x + sum(x + 1, n - 1) : 0; }\n",
    "make.py": "import sys\nopen(sys.argv[1], 'w').write('int made() { return 7; }\\n')\n",
}


class Toy(PyTorchRecipe):
    def setUp(self) -> None:
        super().setUp()
        for tool in ("cmake", "ninja"):
            (self.bin / tool).unlink()
        # The modules that PyTorch's code is made with are asked for, and the toy needs none.
        self.stand_in("python3", '[[ $1 == -c ]] || exec /usr/bin/python3 "$@"\n')
        self.change(FILES)

    def change(self, files: dict[str, str]) -> None:
        """Commits files, over those of FILES."""
        for name, text in (FILES | files).items():
            (self.clone / name).write_text(text)
        self.git(self.clone, "add", ".")
        self.git(self.clone, "commit", "--quiet", "--message", "Change", "--allow-empty")
        self.commit = self.git(self.clone, "rev-parse", "HEAD").strip()

    def build_toy(self, name: str, **more: object) -> subprocess.CompletedProcess[str]:
        return self.build(name, "pytorch-cpu", CCACHE_DIR=self.folder / "ccache", **more)

    def compiled(self) -> int:
        """How many files the compiler was called for, and not the cache."""
        done = self.run_script(
            "ccache", "--print-stats", CCACHE_DIR=str(self.folder / "ccache"), LC_ALL="C"
        )
        counts = dict(line.split("\t") for line in done.stdout.splitlines())
        return int(counts["cache_miss"])

    def check_ends(self, status: int, said: str, name: str, **more: object) -> None:
        done = self.build_toy(name, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(said, done.stdout)
        self.assertFalse((self.prefix / "build-hash").exists())

    def test_a_commit_is_built_and_of_the_next_one_only_what_it_changes_is_compiled(self) -> None:
        done = self.build_toy("first")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        library = self.prefix / "lib" / "libtorch_cpu.so"
        for symbol in ("add", "sum", "made"):
            self.assertIn(symbol.encode(), library.read_bytes())
        self.assertEqual((self.prefix / "build-hash").read_text(), f"{self.commit}\n")
        before = self.compiled()
        self.change({"add.cpp": "int add(int a, int b) { return b + a + 0; }\n"})
        done = self.build_toy("second")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.compiled(), before + 1)

    def test_a_commit_that_does_not_compile_link_or_configure_cannot_be_built(self) -> None:
        undefined = 'set(CMAKE_SHARED_LINKER_FLAGS "-Wl,--no-undefined")\nadd_library('
        for name, files, said in (
            ("compile", {"add.cpp": "int add(int a) { return b; }\n"}, "'b' was not declared"),
            ("make", {"make.py": "raise SystemExit('no schema')\n"}, "no schema"),
            (
                "link",
                {
                    "CMakeLists.txt": PROJECT.replace("add_library(", undefined),
                    "add.cpp": "int gone();\nint add() { return gone(); }\n",
                },
                "undefined reference",
            ),
            ("configure", {"CMakeLists.txt": PROJECT + "find_package(\n"}, "Parse error"),
        ):
            with self.subTest(name):
                self.change(files)
                self.check_ends(UNBUILDABLE, said, name)

    def test_a_library_that_a_commit_no_longer_installs_cannot_be_built(self) -> None:
        self.change({"CMakeLists.txt": PROJECT.replace("install(", "# install(")})
        self.check_ends(UNBUILDABLE, "", "nothing")

    def test_a_compiler_that_is_killed_in_the_middle_is_a_fault_and_the_next_call_builds(
        self,
    ) -> None:
        self.stand_in("g++", '[[ "$*" != *sum.cpp* ]] || kill -KILL $$\nexec /usr/bin/g++ "$@"\n')
        killed = {"CXX": self.bin / "g++"}
        self.check_ends(FAULT, "Killed", "killed", **killed)
        done = self.build_toy("after")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_compiler_that_is_not_there_or_compiles_nothing_is_a_fault(self) -> None:
        said = "Could not find compiler set in environment variable CXX"
        self.check_ends(FAULT, said, "gone", CXX="no-compiler")
        self.stand_in("compiler", "echo broken; exit 1\n")
        said = "not able to compile a simple test program"
        self.check_ends(FAULT, said, "broken", CXX=self.bin / "compiler")

    def test_a_disk_that_fills_up_while_it_is_built_is_a_fault(self) -> None:
        self.launcher = small_disk()
        if not self.launcher:
            self.skipTest("no file system can be mounted here")
        self.change({"sum.cpp": "extern const char table[8 << 20] = {1};\n"})
        self.check_ends(FAULT, "No space left on device", "full", FULL=self.work)


if __name__ == "__main__":
    unittest.main()

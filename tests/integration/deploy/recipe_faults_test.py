"""What the recipes take for the machine's fault, so that it is tried again, and what for the
commit's, which is final."""

import os
import subprocess
import unittest

from pytorch_recipe import PyTorchRecipe
from support import DEPLOY, ScriptTest

RECIPES = ("overlay", "pytorch-cpu")
FAULT, UNBUILDABLE = 1, 125
OF_THE_MACHINE = (
    "a.cpp:1: fatal error: cannot write: No space left on device",
    "g++: fatal error: Killed signal terminated program cc1plus",
    "collect2: fatal error: ld terminated with signal 9 [Killed]",
    "collect2: fatal error: ld terminated with signal 7 [Bus error], core dumped",
    "nvcc error   : 'cicc' died due to signal 9 (Kill signal)",
    "ptxas fatal   : Memory allocation failure",
    "/bin/sh: line 1: 4711 Killed                  python3 gen.py",
    "FAILED: [code=137] a.cpp.o",
    "terminate called after throwing an instance of 'std::bad_alloc'",
    "MemoryError",
    "cc1plus: out of memory allocating 65536 bytes after a total of 1 bytes",
    "LLVM ERROR: out of memory",
    "Bus error (core dumped)",
    "g++: fatal error: cannot execute 'cc1plus': vfork: Resource temporarily unavailable",
    "fatal: unable to access 'https://example.invalid/': Could not resolve host",
    "ninja: build stopped: interrupted by user.",
    "The bug is not reproducible, so it is likely a hardware or OS problem.",
    "Cannot create temporary file in /nowhere/: No such file or directory",
    "  is not able to compile a simple test program.",
    "  Could not find compiler set in environment variable CXX:",
    "    g++-99  is not a full path and was not found in the PATH.",
)
OF_THE_COMMIT = (
    "a.cpp:1:1: error: expected unqualified-id",
    '   12 |   } catch (const std::bad_alloc&) { return "out of memory, Killed"; }',
    "      |                    ^~~~~~~~~~~~~~",
    "a.cpp:2: error: 'OutOfMemoryErrors' was not declared in this scope",
    "a.cpp:3: error: 'isKilled' was not declared in this scope",
    "ninja: build stopped: subcommand failed.",
)
# An own view of the mounts, where $FULL is a disk of 3 MB.
WITH_A_SMALL_DISK = 'mkdir -p "$FULL" && mount -t tmpfs -o size=3m none "$FULL" && exec "$@"'
FILL = 'head --bytes=9M /dev/zero > "$FULL/filler" 2> /dev/null\n'


def small_disk() -> list[object]:
    """The command before one that runs with a full disk; empty where none can be mounted."""
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["unshare", "--mount", *user, "bash", "-c", WITH_A_SMALL_DISK, "bash"]
    probe = ["env", "FULL=/tmp", *command, "true"]
    try:
        done = subprocess.run(probe, capture_output=True, check=False)
    except FileNotFoundError:
        return []
    return [] if done.returncode else list(command)


class Words(ScriptTest):
    def common(self, recipe: str) -> str:
        text = (DEPLOY / "recipes" / recipe).read_text()
        begin, end = text.index("# The same in both recipes"), text.index("# Up to here the same")
        return text[begin:end]

    def end_of(self, line: str, status: int = 1) -> subprocess.CompletedProcess[str]:
        """What becomes of a build in which a tool says a line."""
        script = self.common(RECIPES[0]) + (
            'disks=("$TMPDIR")\nTORCHWATCH_COMMIT=c\n'
            'try "c does not build" bash -c \'echo "first"; echo "$1"; echo last; exit $2\' - "$@"'
        )
        head = "set -euo pipefail\n"
        return self.run_script(
            "bash", "-c", head + script, "recipe", line, status, TMPDIR=str(self.folder)
        )

    def test_both_recipes_know_the_same(self) -> None:
        first, second = map(self.common, RECIPES)
        self.assertEqual(first, second)

    def test_what_tools_say_of_the_machine_is_its_fault_and_all_else_the_commits(self) -> None:
        for lines, status in ((OF_THE_MACHINE, FAULT), (OF_THE_COMMIT, UNBUILDABLE)):
            for line in lines:
                with self.subTest(line):
                    done = self.end_of(line)
                    self.assertEqual(done.returncode, status, done.stderr)
                    self.assertEqual(done.stdout, f"first\n{line}\nlast\n")

    def test_words_of_a_tool_that_succeeds_end_nothing(self) -> None:
        self.assertEqual(self.end_of(OF_THE_MACHINE[0], status=0).returncode, 0)

    def test_a_tool_that_is_killed_itself_is_a_fault(self) -> None:
        self.assertEqual(self.end_of("nothing", status=137).returncode, FAULT)


class PyTorchFaults(PyTorchRecipe):
    def check_fault(self, **variables: object) -> None:
        done = self.build(**variables)  # type: ignore[arg-type]
        self.assertEqual(done.returncode, FAULT, done.stdout + done.stderr)
        self.assertFalse((self.prefix / "build-hash").exists())

    def test_a_full_disk_is_a_fault_at_each_step_whatever_the_tools_say(self) -> None:
        self.launcher = small_disk()
        if not self.launcher:
            self.skipTest("no file system can be mounted here")
        says_nothing = "echo 'a.cpp:1: error: no'; exit 1\n"
        install = f"[[ $1 != --build ]] || {{ {FILL}{says_nothing}}}\n"
        for name, folder, cmake in (
            ("configure", self.work, FILL + says_nothing),
            ("build", self.work, install),
            ("install", self.folder / "install", install),
            ("cache", self.folder / "ccache", install),
        ):
            with self.subTest(name):
                self.stand_in("cmake", cmake)
                cache = self.folder / "ccache"
                self.check_fault(name=name, FULL=folder, CCACHE_DIR=cache)

    def test_a_disk_that_is_nearly_full_is_said_instead_of_a_verdict(self) -> None:
        self.stand_in("cmake", "exit 1\n")
        self.stand_in("stat", "echo '100 * 4096'\n")
        done = self.build()
        self.assertEqual(done.returncode, FAULT)
        self.assertIn("-S failed, but the disk of", done.stderr)

    def test_output_that_cannot_be_written_is_a_fault(self) -> None:
        self.launcher = ["bash", "-c", 'exec "$@" > /dev/full', "bash"]
        self.stand_in("cmake", "echo 'a.cpp:1: error: no'; exit 1\n")
        self.check_fault()

    def test_a_compiler_and_a_linker_that_are_killed_are_faults(self) -> None:
        """The real g++, whose parts are killed: its own words are read."""
        for part, step in (("cc1plus", "-c"), ("ld", "-shared")):
            with self.subTest(part):
                parts = self.folder / part
                parts.mkdir()
                self.stand_in(part, "kill -KILL $$\n")
                (self.bin / part).rename(parts / part)
                self.stand_in(
                    "cmake",
                    "[[ $1 != --build ]] || echo 'int a;' > a.cpp\n"
                    f"[[ $1 != --build ]] || exec g++ -B{parts}/ {step} -o a.out a.cpp\n",
                )
                self.check_fault(name=f"build-{part}")


if __name__ == "__main__":
    unittest.main()

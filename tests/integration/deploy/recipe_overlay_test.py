"""The overlay recipe with a stand-in for the compiler; planted_build_test.py runs the real one."""

import subprocess
import unittest

from support import DEPLOY, ScriptTest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
# Writes its arguments into the file behind -o, so that a library is the list of its sources.
COMPILER = """
while (($# > 0)); do
  case $1 in
    -o) output=$2 && shift ;;
    *.cpp | *.o) inputs+=("$1") ;;
  esac
  shift
done
cat "${inputs[@]}" > "$output"
"""


class Overlay(ScriptTest):
    def setUp(self) -> None:
        super().setUp()
        self.base = self.folder / "base"
        for path in (
            "lib/libtorch.so",
            "lib/libtorch_cpu.so",
            "lib/libc10.so",
            "include/ATen/ATen.h",
        ):
            (self.base / path).parent.mkdir(parents=True, exist_ok=True)
            (self.base / path).write_text(path)
        self.source = self.folder / "source"
        native = self.source / "aten" / "src" / "ATen" / "native"
        native.mkdir(parents=True)
        (native / "B.cpp").write_text("b")
        (native / "A.cpp").write_text("a")
        (self.source / "version.txt").write_text("2.13.0a0\n")
        self.stand_in("g++", COMPILER)
        self.stand_in("ccache", 'echo used > "$CCACHE_DIR/used"; exec "$@"\n')

    def build(self, name: str = "build", **variables: object) -> subprocess.CompletedProcess[str]:
        self.prefix = self.folder / name
        self.prefix.mkdir()
        settings: dict[str, object] = {
            "TORCHWATCH_SOURCE": self.source,
            "TORCHWATCH_COMMIT": COMMIT,
            "CCACHE_DIR": "",
            "TORCHWATCH_PREFIX": self.prefix,
            "TORCHWATCH_BASE": self.base,
            "TORCHWATCH_JOBS": 2,
        }
        settings.update(variables)
        return self.run_script(
            DEPLOY / "recipes" / "overlay",
            path=None,
            **{k: str(v) for k, v in settings.items()},
        )

    def test_the_tree_is_links_to_the_base_with_a_libtorch_of_its_own(self) -> None:
        done = self.build()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.prefix / "lib" / "libtorch.so").read_text(), "ab")
        self.assertFalse((self.prefix / "lib" / "libtorch.so").is_symlink())
        for path in ("lib/libtorch_cpu.so", "lib/libc10.so", "include"):
            self.assertEqual((self.prefix / path).readlink(), self.base / path)
        self.assertEqual((self.prefix / "build-hash").read_text(), COMMIT + "\n")
        self.assertEqual((self.prefix / "build-version").read_text(), "2.13.0a0+git0123456\n")
        self.assertEqual(
            sorted(path.name for path in self.prefix.iterdir()),
            ["build-hash", "build-version", "include", "lib"],
        )

    def test_a_base_that_is_itself_links_is_followed_to_the_end(self) -> None:
        self.build("first")
        first = self.prefix
        self.assertEqual(self.build("second", TORCHWATCH_BASE=first).returncode, 0)
        self.assertEqual(
            (self.prefix / "lib" / "libc10.so").readlink(), self.base / "lib" / "libc10.so"
        )
        self.assertEqual((self.prefix / "include").readlink(), self.base / "include")

    def test_without_a_base_the_users_own_is_taken(self) -> None:
        done = self.build(TORCHWATCH_BASE="", TORCHWATCH_OVERLAY_BASE=self.base)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_source_that_does_not_compile_is_unbuildable(self) -> None:
        self.stand_in("g++", "echo 'A.cpp:1:1: error: expected unqualified-id' >&2; exit 1\n")
        done = self.build()
        self.assertEqual(done.returncode, 125)
        self.assertIn("does not compile", done.stderr)
        self.assertIn("expected unqualified-id", done.stderr)
        self.assertFalse((self.prefix / "build-hash").exists())

    def test_libraries_that_do_not_link_are_unbuildable(self) -> None:
        self.stand_in(
            "g++", '[[ $1 == -shared ]] && { echo "undefined reference" >&2; exit 1; }\n' + COMPILER
        )
        self.assertEqual(self.build().returncode, 125)

    def test_a_full_disk_is_a_fault_and_no_verdict_on_the_commit(self) -> None:
        for words in (
            "fatal error: No space left on device",
            "fatal error: Killed signal terminated program cc1plus",
        ):
            self.stand_in("g++", f"echo 'g++: {words}' >&2; exit 1\n")
            done = self.build(str(hash(words)))
            self.assertEqual(done.returncode, 1)
            self.assertIn("the machine failed", done.stderr)

    def test_a_compiler_that_is_killed_is_a_fault(self) -> None:
        self.stand_in("cc1plus", "kill -KILL $$\n")
        self.stand_in("g++", f'exec /usr/bin/g++ -B{self.bin}/ "$@"\n')
        done = self.build()
        self.assertEqual(done.returncode, 1)
        self.assertIn("the machine failed", done.stderr)

    def test_a_disk_that_is_nearly_full_is_a_fault_whatever_the_compiler_says(self) -> None:
        self.stand_in("g++", "echo 'A.cpp:1:1: error: no' >&2; exit 1\n")
        self.stand_in("stat", "echo '100 * 4096'\n")
        done = self.build()
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not compile, but the disk of", done.stderr)

    def test_a_fault_of_one_compiler_outweighs_an_error_of_another(self) -> None:
        error = "echo 'error: no' >&2; exit 1"
        fault = "sleep 0.2; echo 'fatal error: No space left on device' >&2; exit 1"
        self.stand_in("g++", f'[[ "$*" == *A.cpp* ]] && {{ {error}; }}\n{fault}\n')
        self.assertEqual(self.build().returncode, 1)

    def test_a_compiler_that_wrote_nothing_is_a_fault(self) -> None:
        self.stand_in("g++", "exit 0\n")
        self.assertEqual(self.build().returncode, 1)

    def test_a_commit_without_sources_is_unbuildable(self) -> None:
        for source in (self.source / "aten" / "src" / "ATen" / "native").iterdir():
            source.unlink()
        self.assertEqual(self.build().returncode, 125)

    def test_a_missing_base_or_variable_is_a_fault(self) -> None:
        for variables in ({"TORCHWATCH_BASE": self.folder / "nowhere"}, {"TORCHWATCH_COMMIT": ""}):
            done = self.build(str(len(variables)) + "-".join(variables), **variables)
            self.assertEqual(done.returncode, 1)
            self.assertFalse((self.prefix / "build-hash").exists())

    def test_ccache_is_used_only_where_the_user_says_where_it_keeps_its_files(self) -> None:
        cache = self.folder / "ccache"
        cache.mkdir()
        self.build("without")
        self.assertFalse((cache / "used").exists())
        self.build("with", CCACHE_DIR=cache)
        self.assertTrue((cache / "used").exists())


if __name__ == "__main__":
    unittest.main()

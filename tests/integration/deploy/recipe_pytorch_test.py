"""The recipe for PyTorch itself with stand-ins for cmake and python3: a real build takes hours.

Where the source is at hand its configuration is real: TORCHWATCH_SOURCE_DAY names the folder of the
experiment source_day, whose stage `source` makes it.
"""

import os
import shutil
import sys
import unittest
from pathlib import Path

from pytorch_recipe import PyTorchRecipe
from support import CHECKOUT, DEPLOY, ScriptTest

EXPERIMENT = CHECKOUT / "tests" / "experiments" / "source_day"
sys.path[:0] = [str(DEPLOY / "demonstration"), str(EXPERIMENT)]

import repository  # noqa: E402
import source_tree  # noqa: E402

SOURCE = (
    Path(os.environ.get("TORCHWATCH_SOURCE_DAY", CHECKOUT / "build" / "source-day")) / "base.git"
)
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"

# The real one configures; nothing is compiled.
CONFIGURING_CMAKE = """
[[ $1 == --build ]] || exec /usr/bin/cmake "$@"
mkdir -p "$TORCHWATCH_PREFIX/lib" && touch "$TORCHWATCH_PREFIX/lib/libtorch_cpu.so"
"""


class PyTorch(PyTorchRecipe):
    def test_a_commit_is_built_with_its_submodules_and_named_last(self) -> None:
        done = self.build()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.work / "0" / "source" / "third_party" / "part" / "part.cpp").exists())
        self.assertEqual((self.prefix / "build-hash").read_text(), self.commit + "\n")
        self.assertEqual(
            (self.prefix / "build-version").read_text(), f"2.13.0a0+git{self.commit[:7]}\n"
        )
        configure, install = (self.work / "calls").read_text().splitlines()
        for option in (
            "-DUSE_CUDA=OFF",
            "-DBUILD_PYTHON=OFF",
            "-DBUILD_TEST=OFF",
            "-DUSE_DISTRIBUTED=OFF",
        ):
            self.assertIn(option, configure.split())
        self.assertIn("--target install --parallel 3", install)

    def test_leftovers_of_one_commit_are_gone_for_the_next(self) -> None:
        self.build("first")
        (self.work / "0" / "source" / "stray.cpp").touch()
        (self.work / "0" / "source" / "third_party" / "part" / "stray.cpp").touch()
        self.assertEqual(self.build("second").returncode, 0)
        self.assertEqual(sorted(self.work.rglob("stray.cpp")), [])

    def test_a_commit_that_no_branch_holds_is_built_such_as_a_revert(self) -> None:
        self.build("first")
        tree = f"{self.commit}^{{tree}}"
        revert = self.git(
            self.clone, "commit-tree", tree, "-p", self.commit, "-m", "Revert"
        ).strip()
        done = self.build("revert", TORCHWATCH_COMMIT=revert)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.prefix / "build-hash").read_text(), f"{revert}\n")

    def test_options_of_the_user_reach_cmake_and_each_builder_has_a_work_tree(self) -> None:
        options = "-DUSE_MKLDNN=OFF -DUSE_FBGEMM=OFF"
        done = self.build(TORCHWATCH_PYTORCH_OPTIONS=options, TORCHWATCH_BUILDER=1)
        self.assertEqual(done.returncode, 0, done.stderr)
        configure = (self.work / "calls").read_text().splitlines()[0]
        self.assertTrue(configure.endswith(options), configure)
        self.assertTrue((self.work / "1" / "source" / "main.cpp").exists())

    def test_by_its_other_name_it_builds_for_gpus(self) -> None:
        self.stand_in("nvcc", "exit 0\n")
        done = self.build(recipe="pytorch-cuda", TORCHWATCH_PYTORCH_CUDA="8.0;9.0")
        self.assertEqual(done.returncode, 0, done.stderr)
        configure = (self.work / "calls").read_text().splitlines()[0]
        for option in ("-DUSE_CUDA=ON", "-DTORCH_CUDA_ARCH_LIST=8.0;9.0"):
            self.assertIn(f" {option} ", configure)
        self.assertIn(f"-DCMAKE_CUDA_COMPILER={self.bin}/nvcc", configure)
        self.assertNotIn("USE_CUDA=OFF", configure)

    def test_a_build_for_gpus_needs_their_kind_and_a_toolkit(self) -> None:
        done = self.build("kind", "pytorch-cuda")
        self.assertEqual(done.returncode, 1)
        self.assertIn("recipe pytorch-cuda: TORCHWATCH_PYTORCH_CUDA is not set", done.stderr)
        toolkit = self.folder / "cuda"
        (toolkit / "bin").mkdir(parents=True)
        self.stand_in("nvcc", "exit 0\n")
        (self.bin / "nvcc").rename(toolkit / "bin" / "nvcc")
        gpus = {"TORCHWATCH_PYTORCH_CUDA": "9.0"}
        done = self.build("toolkit", "pytorch-cuda", CUDA_HOME=toolkit, **gpus)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.path = f"{self.bin}:/usr/bin:/bin"
        if shutil.which("nvcc", path=self.path):
            return
        done = self.build("none", "pytorch-cuda", **gpus)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no nvcc", done.stderr)

    def test_a_git_that_was_killed_does_not_keep_later_commits_from_being_built(self) -> None:
        self.build("first")
        tree = self.work / "0" / "source" / ".git"
        for lock in ("index.lock", "HEAD.lock", "modules/third_party/part/index.lock"):
            (tree / lock).touch()
        done = self.build("second")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_damaged_work_tree_is_made_anew(self) -> None:
        self.build("first")
        (self.work / "0" / "source" / ".git" / "HEAD").write_text("half")
        done = self.build("second")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("made anew", done.stderr)

    def harm(self, what: str) -> None:
        """Leaves a submodule as a git that was killed may leave it."""
        source = self.work / "0" / "source"
        module = source / ".git" / "modules" / "third_party" / "part"
        if what == "its index":
            (module / "index").write_text("half")
        if what == "its head":
            (module / "HEAD").write_text("")
        if what == "all":
            shutil.rmtree(module)
            (module / "refs").mkdir(parents=True)
        if what == "a clone that was begun":
            shutil.rmtree(module)
            for folder in ("objects", "refs"):
                (module / folder).mkdir(parents=True)
            (module / "HEAD").write_text("ref: refs/heads/main\n")
            (source / "third_party" / "part" / ".git").unlink()

    def test_a_submodule_that_a_killed_git_left_half_is_fetched_anew(self) -> None:
        self.build("first")
        for what in ("its index", "its head", "all", "a clone that was begun"):
            with self.subTest(what):
                self.harm(what)
                done = self.build(what.replace(" ", "-"))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("submodule third_party/part may be damaged", done.stdout)
                source = self.work / "0" / "source"
                self.assertEqual((source / "third_party" / "part" / "part.cpp").read_text(), "part")
                self.assertEqual(list(self.work.rglob("kept")), [])

    def test_a_submodule_is_kept_while_its_server_is_gone(self) -> None:
        self.build("first")
        part, away = self.folder / "part", self.folder / "away"
        first = self.commit
        (part / "part.cpp").write_text("newer")
        self.git(part, "commit", "--quiet", "--all", "--message", "Change")
        self.git(self.clone / "third_party" / "part", "pull", "--quiet")
        self.git(self.clone, "commit", "--quiet", "--all", "--message", "Take the change")
        newer = self.git(self.clone, "rev-parse", "HEAD").strip()
        part.rename(away)
        done = self.build("gone", TORCHWATCH_COMMIT=newer)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("submodules could not be fetched", done.stderr)
        done = self.build("at-hand", TORCHWATCH_COMMIT=first)  # needs no server
        self.assertEqual(done.returncode, 0, done.stderr)
        away.rename(part)
        done = self.build("back", TORCHWATCH_COMMIT=newer)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_submodule_whose_path_leads_out_of_the_tree_removes_nothing_there(self) -> None:
        outside = self.work / "0" / "kept.cpp"
        self.build("first")
        outside.write_text("outside")
        settings = self.clone / ".gitmodules"
        with settings.open("a") as file:
            file.write('[submodule "../../kept.cpp"]\n\tpath = ../kept.cpp\n')
        self.git(self.clone, "commit", "--quiet", "--all", "--message", "Lead out")
        self.harm("its index")
        done = self.build(TORCHWATCH_COMMIT=self.git(self.clone, "rev-parse", "HEAD").strip())
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(outside.read_text(), "outside")

    def test_a_commit_that_the_clone_lacks_is_said_to_be_missing_there(self) -> None:
        done = self.build(TORCHWATCH_COMMIT="a" * 40)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"in {self.clone}: fetch it there", done.stderr)

    def test_a_clone_that_git_refuses_to_read_is_said_to_be_one(self) -> None:
        (self.clone / ".git" / "config").write_text("[half")
        done = self.build()
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad config line", done.stderr)

    def test_what_does_not_compile_is_unbuildable(self) -> None:
        self.stand_in("cmake", "[[ $1 != --build ]] || { echo 'a.cpp:1: error: no'; exit 1; }\n")
        done = self.build()
        self.assertEqual(done.returncode, 125)
        self.assertFalse((self.prefix / "build-hash").exists())

    def test_a_submodule_that_cannot_be_fetched_is_a_fault(self) -> None:
        self.git(
            self.clone,
            "config",
            "--file",
            ".gitmodules",
            "submodule.third_party/part.url",
            self.folder / "gone",
        )
        self.git(self.clone, "commit", "--quiet", "--all", "--message", "Move a part")
        done = self.build(TORCHWATCH_COMMIT=self.git(self.clone, "rev-parse", "HEAD").strip())
        self.assertEqual(done.returncode, 1)
        self.assertIn("submodules could not be fetched", done.stderr)

    def test_an_unknown_commit_or_a_missing_setting_is_a_fault(self) -> None:
        self.assertEqual(self.build("unknown", TORCHWATCH_COMMIT="0" * 40).returncode, 1)
        done = self.build("unset", TORCHWATCH_PYTORCH_CLONE="")
        self.assertEqual(done.returncode, 1)
        self.assertIn("TORCHWATCH_PYTORCH_CLONE is not set", done.stderr)


class RealSource(ScriptTest):
    def test_it_is_configured_with_the_options_of_the_source_day(self) -> None:
        if not SOURCE.is_dir() or source_tree.missing_packages():
            print("skipped: reference data not at hand")
            return
        self.stand_in("cmake", CONFIGURING_CMAKE)
        commit = repository.git(SOURCE, "rev-parse", "main").strip()
        (self.folder / "tree").mkdir()
        done = self.run_script(
            DEPLOY / "recipes" / "pytorch-cpu",
            path=f"{self.bin}:{SYSTEM_PATH}",
            TORCHWATCH_COMMIT=commit,
            TORCHWATCH_PREFIX=str(self.folder / "tree"),
            TORCHWATCH_PYTORCH_CLONE=str(SOURCE),
            TORCHWATCH_PYTORCH_WORK=str(self.folder / "work"),
            TORCHWATCH_PYTORCH_OPTIONS=source_tree.OPTIONS,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        steps = (self.folder / "work" / "0" / "build" / "build.ninja").read_text()
        self.assertIn("native/EmbeddingBag.cpp.o", steps)
        self.assertEqual((self.folder / "tree" / "build-hash").read_text(), f"{commit}\n")


if __name__ == "__main__":
    unittest.main()

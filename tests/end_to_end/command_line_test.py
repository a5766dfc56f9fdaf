"""The command line as a person meets it: its help, and a clear error for each bad input."""

import hashlib
import json
import re
import sqlite3
import subprocess
import sys
import unittest

from command import CHECKOUT, TORCHWATCH, CommandTest
from git_call import git
from wheel_index import torch_members, wheel_of

SOURCE = '[source]\nrepository = "pytorch"\n[build]\nrecipe = "recipe.sh"\n'


class Help(unittest.TestCase):
    def help_of(self, *command: str) -> str:
        arguments = [TORCHWATCH, *command, "--help"]
        done = subprocess.run(arguments, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, command)
        return done.stdout

    def commands_below(self, *command: str) -> list[tuple[str, ...]]:
        """The commands that the help of a command lists, and those below them."""
        listed = self.help_of(*command).partition("\nCommands:\n")[2].partition("\n\n")[0]
        names = re.findall(r"^  ([\w-]+)", listed, re.MULTILINE)
        below = [self.commands_below(*command, name) for name in names]
        return [(*command, name) for name in names] + [each for some in below for each in some]

    def test_every_command_has_help(self) -> None:
        commands = self.commands_below()
        self.assertIn(("incident", "show"), commands)
        for command in commands:
            text = self.help_of(*command)
            for part in ("Usage: torchwatch", "--config FILE", "Example:"):
                self.assertIn(part, text, command)
        without_json = {c for c in commands if "--json" not in self.help_of(*c)}
        shells = {("completion", shell) for shell in ("bash", "zsh", "fish")}
        text_only = {("completion",), ("manual",), ("help",), ("database", "export")}
        self.assertEqual(without_json, shells | text_only)

    def test_no_command_and_an_unknown_one_are_wrong_use(self) -> None:
        for arguments in ([], ["frobnicate"], ["compare", "only-one"]):
            done = subprocess.run(
                [TORCHWATCH, *arguments], text=True, capture_output=True, check=False
            )
            self.assertEqual(done.returncode, 2, arguments)
            self.assertTrue(done.stderr)


class BadConfiguration(CommandTest):
    def test_an_unknown_key_names_file_line_and_key(self) -> None:
        self.configuration.write_text('[build]\ntimeot = "1h"\n')
        done = self.expect(2, "check")
        for part in ("torchwatch.toml:2", "timeot", "timeout"):
            self.assertIn(part, done.stderr)

    def test_a_wrong_type_says_what_is_allowed(self) -> None:
        self.configuration.write_text('[web]\nport = "many"\n')
        done = self.expect(2, "check")
        self.assertIn("torchwatch.toml:2", done.stderr)
        self.assertIn("port", done.stderr)

    def test_a_configuration_that_is_named_must_exist(self) -> None:
        done = self.expect(2, "check")
        self.assertIn(str(self.configuration), done.stderr)

    def test_a_missing_repository_is_named(self) -> None:
        self.configure('[source]\nrepository = "nowhere"\n[channel]\npath = "."\n')
        done = self.expect(2, "nightly")
        self.assertIn("nowhere", done.stderr)

    def test_a_missing_channel_folder_is_named(self) -> None:
        self.configure('[channel]\npath = "nowhere"\n')
        done = self.expect(3, "nightly")
        self.assertIn("nowhere", done.stderr)
        self.assertFalse((self.folder / "state").exists())


class BadBuilds(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.configure('[channel]\npath = "."\n')

    def test_a_build_that_is_nowhere_is_said_to_be_nowhere(self) -> None:
        done = self.expect(2, "compare", "no-such-build", "neither")
        self.assertIn("no-such-build", done.stderr)

    def test_a_folder_without_libraries_is_no_build(self) -> None:
        build = self.folder / "build"
        build.mkdir()
        (build / "build-version").write_text("2.13.0\n")
        (build / "build-hash").write_text("0" * 40 + "\n")
        done = self.expect(2, "measure", str(build))
        self.assertIn("lib/libtorch", done.stderr)

    def test_half_a_pair_of_builds_is_wrong_use(self) -> None:
        done = self.expect(2, "nightly", "--baseline", "x")
        self.assertIn("--candidate", done.stderr)


class BadRanges(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.shas = self.repository(4)
        recipe = self.folder / "recipe.sh"
        recipe.write_text("#!/bin/sh\nexit 125\n")
        recipe.chmod(0o755)
        self.configure(SOURCE)

    def bisect(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.expect(2, "bisect", *arguments, "--workload", "resnet18")

    def test_an_empty_range(self) -> None:
        self.assertIn("same", self.bisect(self.shas[1], self.shas[1]).stderr)

    def test_a_reversed_range_is_told_to_be_swapped(self) -> None:
        self.assertRegex(self.bisect(self.shas[3], self.shas[0]).stderr, "swap|reverse|order")

    def test_a_commit_of_another_branch(self) -> None:
        folder = self.folder / "pytorch"
        git(folder, "checkout", "--quiet", "-b", "other", self.shas[0])
        git(folder, "commit", "--quiet", "--allow-empty", "--message", "Elsewhere")
        other = git(folder, "rev-parse", "HEAD")
        self.assertIn(other[:7], self.bisect(other, self.shas[3]).stderr)

    def test_an_unknown_commit_is_named(self) -> None:
        self.assertIn("f00dfeed", self.bisect("f00dfeed", self.shas[3]).stderr)

    def test_neither_ends_nor_suspect(self) -> None:
        self.assertIn("--suspect", self.bisect().stderr)

    def test_an_unknown_workload_is_named(self) -> None:
        done = self.expect(2, "bisect", self.shas[0], self.shas[3], "--workload", "resnet1")
        self.assertIn("resnet1", done.stderr)

    def test_ends_that_do_not_build_end_the_search_without_a_culprit(self) -> None:
        answer = self.json_of(4, "bisect", self.shas[0], self.shas[3], "--workload", "resnet18")
        self.assertIsNone(answer["culprit"])
        self.assertIn("cannot be built", answer["reason"])


class MadeElsewhere(CommandTest):
    def test_a_build_of_somebody_else_is_looked_for_before_the_recipe_is_called(self) -> None:
        shas = self.repository(4)
        recipe = self.folder / "recipe.sh"
        recipe.write_text("#!/bin/sh\necho the recipe was called\nexit 125\n")
        recipe.chmod(0o755)
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        wheel = wheel_of("torch", "1.2.3", torch_members("1.2.3", ("libc10.so",), shas[0]))
        (elsewhere / f"{shas[0]}.whl").write_bytes(wheel)
        digest = hashlib.sha256(wheel).hexdigest()
        (elsewhere / f"{shas[0]}.whl.sha256").write_text(digest)
        self.configure(f'{SOURCE}artifacts = "{elsewhere}/{{commit}}.whl"\n')
        builds = self.folder / "state" / "builds" / "commits"
        # It has no headers, so it is built and no runner for it.
        done = self.expect(2, "bisect", shas[0], shas[3], "--workload", "resnet18")
        self.assertIn("runner cannot be built", done.stderr)
        (origin,) = builds.glob(f"{shas[0]}*/origin")
        self.assertEqual(origin.read_text(), f"{elsewhere}/{shas[0]}.whl\n")
        self.assertFalse((builds / f"{shas[0]}.log").exists())
        answer = self.json_of(4, "bisect", shas[1], shas[3], "--workload", "resnet18")
        self.assertIn("cannot be built", answer["reason"])
        said = (builds / f"{shas[1]}.log").read_text()
        self.assertRegex(said, r"not made elsewhere: .*\nthe recipe was called")


class VerifyingAWorkload(CommandTest):
    """`torchwatch workload verify`, for a command that is careless where a test says."""

    def setUp(self) -> None:
        super().setUp()
        self.configure("")
        library = self.folder / "torch" / "lib" / "libtorch_cpu.so"
        library.parent.mkdir(parents=True)
        library.touch()

    def verify(self, status: int, place: str, *options: str) -> str:
        support = CHECKOUT / "tests" / "support"
        command = ["/usr/bin/python3", str(support / "careless_workload.py"), place]
        tree = ["--tree", "torch", "--metric", "time", "--metric", "heap_growth"]
        readable = ["--readable", str(support)]
        readable += ["--readable", str(CHECKOUT / "deploy" / "workloads")]
        done = self.expect(status, "workload", "verify", *tree, *readable, *options, *command)
        return done.stdout

    def test_one_that_keeps_the_contract_conforms(self) -> None:
        said = self.verify(0, "nothing")
        self.assertTrue(said.endswith("\nThe command conforms.\n"), said)

    def test_one_that_breaks_it_is_wrong_use_and_reads_what_to_do(self) -> None:
        document = self.folder / "verify.json"
        document.write_text(self.verify(2, "batches", "--json"))
        failed = [each for each in json.loads(document.read_text())["items"] if not each["holds"]]
        self.assertEqual([each["check"] for each in failed], ["batches"])
        self.assertTrue(failed[0]["remedy"])
        judge = CHECKOUT / "tests" / "support" / "schema_violations.py"
        schema = CHECKOUT / "docs" / "schemas" / "workload_verify.json"
        judged = subprocess.run(
            [sys.executable, "-B", str(judge), str(schema), str(document)],
            text=True,
            capture_output=True,
            check=True,
        )
        self.assertEqual(judged.stdout, "")

    def test_without_a_build_the_option_for_a_tree_is_named(self) -> None:
        done = self.expect(2, "workload", "verify", "/bin/true")
        self.assertIn("--tree", done.stderr)

    def test_a_program_that_is_nowhere_fails_the_first_check(self) -> None:
        done = self.expect(2, "workload", "verify", "--tree", "torch", "/nowhere/program")
        said = " ".join((done.stdout + done.stderr).split())
        self.assertIn("/nowhere/program", said)


class Database(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        (self.folder / "nightlies").mkdir()
        self.configure("")

    def test_reading_before_there_is_a_database_says_what_makes_it(self) -> None:
        self.assertIn("torchwatch nightly", self.expect(2, "status").stderr)

    def test_accepting_an_incident_needs_a_reason_and_an_incident(self) -> None:
        self.run_command("nightly")
        done = self.expect(2, "incident", "accept", "1", "--by", "ada")
        self.assertIn("--reason", done.stderr)
        done = self.expect(2, "incident", "accept", "7", "--by", "ada", "--reason", "wanted")
        self.assertIn("incident 7", done.stderr)
        done = self.expect(2, "incident", "accept", "7", "--by", " ", "--reason", "wanted")
        self.assertIn("needs the name of who makes it, and a reason", done.stderr)

    def test_a_newer_programs_database_is_left_alone(self) -> None:
        self.run_command("nightly")
        path = self.folder / "state" / "torchwatch.sqlite"
        database = sqlite3.connect(path)
        database.execute("PRAGMA user_version = 9999")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        before = path.read_bytes()
        done = self.expect(3, "nightly")
        self.assertIn("9999", done.stderr)
        self.assertEqual(path.read_bytes(), before)

    def test_a_channel_without_builds_says_so(self) -> None:
        said = " ".join(self.expect(0, "nightly").stdout.split())
        self.assertIn("has no nightly yet", said)


if __name__ == "__main__":
    unittest.main()

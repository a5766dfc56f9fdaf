"""The checks of tests/lint_text.py: what each finds, and what it lets pass."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lint_file import File
from lint_text import findings

LINT_TEXT = Path(__file__).resolve().parents[2] / "lint_text.py"
PLAIN = "A plain sentence.\n"
OTHERS = {
    "docs/design.md": "# One part\n\n## The rule: a, b\n\n## The rule: a, b\n",
    "README.md": "",
}


class Case(unittest.TestCase):
    def found(self, path: str, text: str) -> list[str]:
        tracked = frozenset([*OTHERS, path])
        file = File(path, text, tracked, lambda wanted: OTHERS.get(wanted, text))
        return [f"{finding.line}: {finding.text}" for finding in findings(file)]

    def assert_found(self, path: str, text: str, line: int, part: str) -> None:
        found = self.found(path, text)
        self.assertEqual(len(found), 1, (text, found))
        self.assertTrue(found[0].startswith(f"{line}: "), found)
        self.assertIn(part, found[0])

    def assert_clean(self, path: str, text: str) -> None:
        self.assertEqual(self.found(path, text), [], text)


class Words(Case):
    def test_a_private_word_is_found_with_what_to_say_instead(self) -> None:
        for text, part in (
            ("// The Workshop is open.", "services"),
            ('#include "torchwatch/doors/child.hpp"', "platform"),
            ("// A room of its own.", "component"),
            ("int search_course = 0;", "schedule"),
            ("class SoloBench;", "measurement"),
            ("find_creep();", "drift"),
            ("ExitStatus::surroundings_failed", "environment"),
            ("bool take_turns = true;", "interleave"),
            ("// It is held against the limit.", "compare with"),
            ("// After so many runs.", "so many"),
            ("// What was foretold.", "estimate"),
            ("// The user is told.", "report"),
            ("// Then it goes on.", "continue"),
            ('error("port is none");', "invalid port"),
            ('fail(quoted(text) + "\' is no id");', "invalid"),
            ("// Nothing for what is no date.", "is not"),
            ('TEST_CASE("labels are no error") {', "is not"),
            ("/// Is told what keeps clients out.", "report"),
            ("// Commits that cannot be told apart.", "distinguished"),
            ("// A change worth a name, worth a culprit's name.", "minimum_effect"),
            ('"and tell the least slowdown that is found"', "minimum detectable effect"),
            ("storage::NightRow row;", "Comparison"),
            ("/// A night in which something happened, as on 10 nights.", "comparison"),
            ("SearchOrder order;", "BisectionSpec"),
        ):
            with self.subTest(text):
                self.assert_found("service/cli/src/a.cpp", PLAIN + text + "\n", 2, part)

    def test_plain_english_passes(self) -> None:
        for text in (
            "// Of course there is room for one more, and no room left.",
            "// It goes on to the next file, so many that it stops.",
            "// The outdoors, a mushroom, a resource, soloist; tells them apart.",
            "// There is no id, and it is no longer asked for.",
            "outcome not_told_apart",
            "// What last night brought: nightlies.",
        ):
            with self.subTest(text):
                self.assert_clean("service/cli/src/a.cpp", text + "\n")

    def test_every_kind_of_text_is_looked_at(self) -> None:
        for path in (
            "a.md",
            "a.py",
            "a.hpp",
            "CMakeLists.txt",
            "service/x/openapi.json",
            "a.sql",
            "docs/schemas/a.json",
            "tests/proof",
            ".ci/run",
            "a.css",
            "a.service.in",
        ):
            with self.subTest(path):
                self.assert_found(path, "# The workshop\n", 1, "workshop")

    def test_data_and_the_list_of_words_itself_are_left_out(self) -> None:
        for path in ("docs/glossary.md", "tests/golden/issue.md", "a.csv", "LICENSE"):
            with self.subTest(path):
                self.assert_clean(path, "The workshop\n")

    def test_a_file_may_say_only_the_words_that_it_has_a_reason_for(self) -> None:
        table = "service/config/src/load.cpp"
        self.assert_clean(table, 'RenamedKey{"measure", "take_turns"};\n')
        self.assert_found(table, "int workshop;\n", 1, "workshop")
        self.assert_found("service/config/src/key_table.cpp", "bool take_turns;\n", 1, "interleave")

    def test_a_comment_does_not_begin_with_of(self) -> None:
        for path, text in (
            ("a.hpp", "/// Of one run alone.\n"),
            ("a.cpp", "// Of each task.\n"),
            ("a.py", '"""Of what is drawn."""\n'),
            ("a.hpp", "int a;  ///< Of one\n/// Of two\n"),
        ):
            with self.subTest(text):
                self.assert_found(path, text, text.count("\n"), "Of")

    def test_a_later_line_of_a_comment_may(self) -> None:
        self.assert_clean("a.hpp", "/// The median\n/// Of the blocks.\n")


class References(Case):
    def test_a_page_that_is_not_here_is_found(self) -> None:
        self.assert_found("bisect/a.cpp", "// As measurement.md 4.4 says.\n", 1, "measurement.md")
        self.assert_found("bisect/a.py", "# See ../shared/design/x.md\n", 1, "../shared")
        self.assert_found("a.md", "See `docs/lost.md`.\n", 1, "docs/lost.md")

    def test_a_page_that_is_here_passes_however_it_is_named(self) -> None:
        for cited in ("docs/design.md", "design.md", "../docs/design.md", "README.md"):
            with self.subTest(cited):
                self.assert_clean("bisect/a.cpp", f"// As {cited} says.\n")

    def test_a_page_elsewhere_and_a_tests_data_pass(self) -> None:
        self.assert_clean("a.md", "See https://example.org/x.md for more.\n")
        self.assert_clean("tests/unit/a_test.cpp", 'commit("a/b.md");\n')
        self.assert_found("tests/unit/a_test.cpp", "int a;  // as b.md says\n", 1, "b.md")

    def test_a_number_of_an_issue_is_found(self) -> None:
        self.assert_found("a.hpp", "/// So it is (issue 5).\n", 1, "issue")

    def test_links_lead_to_files_folders_and_headings(self) -> None:
        for target in ("docs/design.md", "docs", "docs/design.md#one-part", "https://example.org",
                       "docs/design.md#the-rule-a-b-1", "#here"):  # fmt: skip
            with self.subTest(target):
                self.assert_clean("a.md", f"# Here\n\nSee [it]({target}).\n")
        for target in ("docs/lost.md", "lost", "docs/design.md#lost", "#lost", "../README.md"):
            with self.subTest(target):
                self.assert_found("a.md", f"# Here\n\nSee [it]({target}).\n", 3, "lost"
                                  if "lost" in target else "README")  # fmt: skip

    def test_code_in_a_page_has_no_links(self) -> None:
        self.assert_clean("a.md", "```\n[it](lost)\n```\n")


class Sizes(Case):
    def test_a_line_of_prose_has_100_columns(self) -> None:
        self.assert_clean("a.md", "a " * 50 + "\n")
        self.assert_found("a.md", "a " * 50 + "b\n", 1, "101 columns")
        self.assert_clean("a.md", "| " + "a " * 60 + "|\n")
        self.assert_clean("a.md", "https://example.org/" + "a" * 100 + "\n")

    def test_a_folders_readme_is_one_screen(self) -> None:
        self.assert_clean("bisect/README.md", "a\n\n" * 30)
        self.assert_found("bisect/README.md", "a\n\n" * 30 + "a\n", 61, "61 lines")
        self.assert_clean("README.md", "a\n\n" * 100)

    def test_a_paragraph_has_six_lines(self) -> None:
        self.assert_clean("a.md", "# A\n" + "a\n" * 6 + "\n" + "- b\n" * 20)
        self.assert_found("a.md", "# A\n\n" + "a\n" * 7, 3, "paragraph")
        self.assert_found("a.md", "- a\n" + "  a\n" * 6, 1, "paragraph")
        self.assert_clean("a.md", "```\n" + "a\n" * 20 + "```\n" + "|a|\n" * 20)

    def test_a_source_has_400_lines(self) -> None:
        self.assert_clean("a.cpp", "int a;\n" * 400)
        self.assert_found("a.cpp", "int a;\n" * 401, 401, "401 lines")

    def test_a_function_of_python_has_48_lines(self) -> None:
        self.assert_clean("a.py", "def f():\n" + "    a()\n" * 47)
        self.assert_found("a.py", "def f():\n" + "    a()\n" * 48, 1, "f() has 49 lines")


class DanglingLoops(Case):
    def test_a_loop_over_the_value_of_a_temporary_is_found(self) -> None:
        loops = (
            "for (const auto& row : rows_of(1).value()) f(row);\n",
            "for (const auto& row : Store(a.b()).rows_of(1).value()) {\n  f(row);\n}\n",
            "for (const auto& row :\n     Store(database).rows_of(id).value()) {\n}\n",
        )
        for loop in loops:
            with self.subTest(loop):
                self.assert_found("tests/a_test.cpp", "int a;\n" + loop, 2, "temporary")

    def test_a_loop_over_a_name_passes(self) -> None:
        for loop in (
            "for (const auto& row : rows.value()) f(row.of().value());\n",
            "for (const auto& row : rows) REQUIRE(f(row).value());\n",
            "for (int i = 0; i < size(); ++i) f(i).value();\n",
        ):
            with self.subTest(loop):
                self.assert_clean("tests/a_test.cpp", loop)


class ThrowingLoops(Case):
    LOOP = "for (const auto& entry : fs::recursive_directory_iterator(folder, error)) f(entry);\n"

    def test_a_loop_whose_increment_throws_is_found_in_the_program_alone(self) -> None:
        self.assert_found("service/a/src/a.cpp", "int a;\n" + self.LOOP, 2, "list_folder")
        self.assert_clean("tests/a_test.cpp", self.LOOP)

    def test_a_loop_that_asks_for_the_error_passes(self) -> None:
        loop = "for (; !error && entry != fs::directory_iterator(); entry.increment(error)) f();\n"
        self.assert_clean("service/a/src/a.cpp", loop)


class Program(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        subprocess.run(["git", "init", "--quiet", holder.name], check=True)

    def lint(self, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        (self.folder / "bisect").mkdir()
        (self.folder / "bisect" / "a.md").write_text(text)
        subprocess.run(["git", "-C", str(self.folder), "add", "."], check=True)
        command = [sys.executable, str(LINT_TEXT), *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def test_findings_are_printed_by_file_and_line_and_fail(self) -> None:
        done = self.lint("One.\n\nThe workshop.\n")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, 'bisect/a.md:3: "workshop", say "services"\n')

    def test_counts_are_by_component(self) -> None:
        done = self.lint("The workshop.\n\nThe workshop.\n", "--counts")
        self.assertEqual((done.returncode, done.stdout), (1, "bisect: 2 word\n"))

    def test_without_findings_it_succeeds_and_is_silent(self) -> None:
        done = self.lint(PLAIN)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()

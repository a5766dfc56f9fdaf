"""Which files cmake/unity_groups.py puts together: none that sees another's own names."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import unity_groups

PROGRAM = unity_groups.__file__


def own(text: str) -> str:
    """A source with `text` in its unnamed namespace."""
    return f"namespace torchwatch {{\nnamespace {{\n{text}\n}}  // namespace\n}}\n"


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def written(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def groups(self, *texts: str, files_at_once: int = 10) -> list[int]:
        """How many files each group has, in order."""
        sources = [
            unity_groups.read(self.written(f"{number}.cpp", text))
            for number, text in enumerate(texts)
        ]
        return [len(group.files) for group in unity_groups.grouped(sources, files_at_once)]


class OwnNames(Case):
    def assert_own(self, text: str, *names: str) -> None:
        source = unity_groups.read(self.written("source.cpp", own(text)))
        self.assertEqual(source.own, set(names), text)

    def test_each_kind_of_declaration(self) -> None:
        self.assert_own("int count = 1;", "count")
        self.assert_own('const std::string kText{"a;b{"};', "kText")
        self.assert_own("constexpr std::array<int, 2> kTwo = {1, other(2)};", "kTwo")
        self.assert_own("int sum(int a, int b) { return add(a, b); }", "sum")
        self.assert_own("template <class T>\nT twice(T value) { return value * 2; }", "twice")
        self.assert_own("struct Row : Base { int id; int sum() { return id; } };", "Row")
        self.assert_own("enum class Kind { train, infer };", "Kind")
        self.assert_own("using Call = std::function<void(int)>;", "Call")
        self.assert_own("namespace parts = torchwatch::models;", "parts")

    def test_what_only_leaves_a_scope_out_is_nobodys(self) -> None:
        self.assert_own("using json = nlohmann::json;")
        self.assert_own("namespace nn = torch::nn;")
        self.assert_own("using namespace std::chrono_literals;")

    def test_cases_of_tests_declare_nothing(self) -> None:
        self.assert_own('TEST_CASE("a (b) { c") { CHECK(sum() == 1\'000); }')

    def test_nothing_outside_of_the_namespace_is_own(self) -> None:
        path = self.written("source.cpp", own("int one();") + "int two() { return 2; }")
        self.assertEqual(unity_groups.read(path).own, {"one"})

    def test_comments_and_strings_are_no_code(self) -> None:
        self.assert_own('// int no();\n/* int no(); */ int yes() { return f("}"); } int also();',
                        "yes", "also")  # fmt: skip


class Groups(Case):
    def test_files_without_names_in_common_are_one_group(self) -> None:
        self.assertEqual(self.groups(own("int a();"), own("int b();"), "int c();"), [3])

    def test_a_name_that_two_files_have_parts_them(self) -> None:
        self.assertEqual(self.groups(own("int a();"), own("int a();"), "int c();"), [2, 1])

    def test_a_name_that_another_file_uses_parts_them_in_either_order(self) -> None:
        user = "int b() { return a(); }"
        self.assertEqual(self.groups(own("int a();"), user), [1, 1])
        self.assertEqual(self.groups(user, own("int a();")), [1, 1])

    def test_a_name_in_a_header_beside_another_file_parts_them(self) -> None:
        self.written("parts/it.hpp", "inline int b() { return a(); }")
        self.written("parts.hpp", '#include "parts/it.hpp"')
        self.assertEqual(self.groups(own("int a();"), '#include "parts.hpp"\n'), [1, 1])

    def test_a_name_without_its_scope_parts_files_that_mean_something_else(self) -> None:
        alias = own("using json = nlohmann::json;")
        for text in (alias, "using nlohmann::json;\n"):
            with self.subTest(text):
                self.assertEqual(self.groups(text, text, "nlohmann::json both();"), [3])
                other = "int f() { int json = 1; return json; }"
                self.assertEqual(self.groups(text, other), [1, 1])

    def test_a_member_or_a_name_with_its_scope_does_not_part_them(self) -> None:
        user = "int b(X& x, X* p) { return x.a() + p->a() + X::a(); }"
        self.assertEqual(self.groups(own("int a();"), user), [2])

    def test_a_group_has_no_more_files_than_asked_for(self) -> None:
        self.assertEqual(self.groups(*["int x();"] * 5, files_at_once=2), [2, 2, 1])


class Program(Case):
    def run_program(self, text: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, PROGRAM, "10"], input=text, capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        return done.stdout.splitlines()

    def test_prints_the_files_that_have_company(self) -> None:
        one = self.written("one.cpp", own("int a();"))
        two = self.written("two.cpp", own("int b();"))
        alone = self.written("alone.cpp", own("int a();"))
        lines = self.run_program(f"first;{one};{two};{alone}\nsecond\n")
        self.assertEqual(lines, [f"first|{one}|0", f"first|{two}|0"])

    def test_a_file_of_two_sets_or_that_is_not_made_yet_is_alone(self) -> None:
        one, two, three = (self.written(f"{name}.cpp", "int x();") for name in "abc")
        missing = str(self.folder / "generated.cpp")
        lines = self.run_program(f"first;{one};{two};{three};{missing}\nsecond;{one}\n")
        self.assertEqual(lines, [f"first|{two}|0", f"first|{three}|0"])


if __name__ == "__main__":
    unittest.main()

"""The checks of the maps of components: what each finds, and what it lets pass."""

import unittest

from lint_components import LINES_MAX, drawing, size, table
from lint_file import File

CMAKE = {
    "storage/records/CMakeLists.txt": "torchwatch_component(records\n  SOURCES src/error.cpp)\n",
    "storage/CMakeLists.txt": "torchwatch_component(storage\n  SOURCES a.cpp\n  USES records)\n",
    # report gets records by storage.
    "service/report/CMakeLists.txt": "torchwatch_component(report USES records SEES storage)\n",
    "tests/CMakeLists.txt": "torchwatch_component(fake USES report)\n",
}
TABLE = """| folder | what it is | may use |
|---|---|---|
| `storage/` | the stores | records |
| `storage/records/` | the words | nothing |
| `service/report/` | texts | storage |
| `docs/` | how to run it | - |
"""
DRAWING = """```
 report             texts; issues
 storage            the stores, records among them
 storage/records    the words
```

| `storage/` | `storage/records/` | `service/report/` |
"""


def found(path: str, text: str) -> list[str]:
    file = File(path, text, frozenset([*CMAKE, path]), lambda wanted: CMAKE[wanted])
    return [
        f"{finding.line}: {finding.text}" for check in (table, drawing) for finding in check(file)
    ]


class Table(unittest.TestCase):
    def test_rows_that_say_what_cmake_does_pass(self) -> None:
        self.assertEqual(found("README.md", TABLE), [])

    def test_a_row_that_leaves_a_component_out_is_found(self) -> None:
        text = TABLE.replace("texts | storage", "texts | records")
        self.assertEqual(found("README.md", text), ["5: service/report/ uses storage, say that"])

    def test_a_row_that_says_what_is_not_used_is_found(self) -> None:
        text = TABLE.replace("words | nothing", "words | storage")
        self.assertEqual(found("README.md", text), ["4: storage/records/ uses nothing, say that"])

    def test_a_component_without_a_row_is_found(self) -> None:
        text = TABLE.replace("| `service/report/` | texts | storage |\n", "")
        self.assertEqual(found("README.md", text), ["1: the map lacks service/report/, add a row"])

    def test_other_pages_have_no_map(self) -> None:
        self.assertEqual(found("docs/operating.md", TABLE), [])


class Drawing(unittest.TestCase):
    def test_lines_that_use_only_lines_below_pass(self) -> None:
        self.assertEqual(found("docs/architecture.md", DRAWING), [])

    def test_a_component_beside_what_it_uses_is_found(self) -> None:
        text = DRAWING.replace(" report             texts; issues\n", "").replace(
            " storage            ", " report  storage    "
        )
        self.assertEqual(
            found("docs/architecture.md", text), ["2: report uses storage, draw it above"]
        )

    def test_a_component_that_is_not_drawn_is_found(self) -> None:
        text = DRAWING.replace(" report             texts; issues\n", "")
        self.assertEqual(
            found("docs/architecture.md", text), ["1: the drawing lacks report, draw it"]
        )

    def test_a_name_of_no_component_is_found(self) -> None:
        text = DRAWING.replace(" report    ", " report  reports    ")
        self.assertEqual(
            found("docs/architecture.md", text),
            ["2: no component is called reports, correct it"],
        )

    def test_a_component_that_the_table_lacks_is_found(self) -> None:
        text = DRAWING.replace("`service/report/`", "")
        self.assertEqual(
            found("docs/architecture.md", text), ["1: the table lacks service/report/, add a row"]
        )


class Size(unittest.TestCase):
    @staticmethod
    def found(sources: dict[str, int]) -> list[str]:
        """What is found of sources with these numbers of lines."""
        texts = CMAKE | {path: "a\n" * lines for path, lines in sources.items()}
        file = File("README.md", TABLE, frozenset(texts), lambda wanted: texts[wanted])
        return [finding.text for finding in size(file)]

    def test_a_component_of_all_the_lines_it_may_have_passes(self) -> None:
        sources = {"storage/a.cpp": LINES_MAX - 1, "storage/include/a.hpp": 1}
        self.assertEqual(self.found(sources), [])

    def test_a_component_above_is_found(self) -> None:
        sources = {"storage/a.cpp": LINES_MAX, "storage/include/a.hpp": 1}
        self.assertEqual(
            self.found(sources), [f"storage/ has {LINES_MAX + 1} lines, more than 3000: split it"]
        )

    def test_components_in_its_folder_count_for_themselves(self) -> None:
        sources = {"storage/a.cpp": LINES_MAX, "storage/records/src/error.cpp": LINES_MAX}
        self.assertEqual(self.found(sources), [])

    def test_texts_that_are_no_source_do_not_count(self) -> None:
        sources = {"storage/a.cpp": LINES_MAX, "storage/README.md": LINES_MAX}
        self.assertEqual(self.found(sources), [])


if __name__ == "__main__":
    unittest.main()

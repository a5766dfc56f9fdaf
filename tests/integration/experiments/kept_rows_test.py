import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "experiments"))

from kept_rows import KeptRows, rows_of


class Kept(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.file = Path(holder.name) / "rows.jsonl"

    def test_there_are_none_before_the_first(self) -> None:
        self.assertEqual(KeptRows(self.file).rows, [])

    def test_a_row_is_in_the_file_as_soon_as_it_is_made(self) -> None:
        rows = KeptRows(self.file)
        rows.add({"way": "step", "values_ns": [1, 2.5]})
        self.assertEqual(KeptRows(self.file).rows, rows.rows)

    def test_what_was_kept_before_stays_and_comes_first(self) -> None:
        for number in range(3):
            KeptRows(self.file).add({"round": number})
        self.assertEqual(self.file.read_text(), '{"round": 0}\n{"round": 1}\n{"round": 2}\n')

    def test_a_line_that_was_not_finished_is_dropped_and_the_next_row_stands_by_itself(
        self,
    ) -> None:
        for torn in ('{"round": 1', '{"round": 1}', "{"):
            self.file.write_text('{"round": 0}\n' + torn)
            self.assertEqual(rows_of(self.file), [{"round": 0}])
            KeptRows(self.file).add({"round": 2})
            self.assertEqual(self.file.read_text(), '{"round": 0}\n{"round": 2}\n')

    def test_reading_leaves_a_line_alone_that_another_process_may_be_writing(self) -> None:
        self.file.write_text('{"round"')
        self.assertEqual(KeptRows(self.file).rows, [])
        self.assertEqual(self.file.read_text(), '{"round"')

    def test_a_row_is_found_by_its_members(self) -> None:
        rows = KeptRows(self.file)
        rows.add({"way": "step", "round": 1, "values_ns": [1]})
        rows.add({"way": "step", "round": 2, "values_ns": [2]})
        self.assertEqual(rows.find(way="step", round=2), rows.rows[1])
        self.assertIsNone(rows.find(way="walk"))


if __name__ == "__main__":
    unittest.main()

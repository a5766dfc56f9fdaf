import sqlite3
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "experiments"))

from exact_peaks import table_of, tallies_of, upper_bound

SCHEMA = """
CREATE TABLE comparison (id INTEGER PRIMARY KEY, baseline_id INTEGER, candidate_id INTEGER);
CREATE TABLE verdict (comparison_id INTEGER, metric TEXT, verdict TEXT);
CREATE TABLE attempt (id INTEGER PRIMARY KEY, comparison_id INTEGER, build_id INTEGER, state TEXT);
CREATE TABLE value (benchmark_id INTEGER, metric TEXT, attempt_id INTEGER, value INTEGER);
INSERT INTO comparison VALUES (1, 7, 8), (2, 8, 8);
INSERT INTO verdict VALUES (1, 'cpu_peak', 'regressed'), (2, 'cpu_peak', 'unchanged'),
                           (2, 'device_peak', 'improved'), (2, 'time', 'regressed');
"""


class ExactPeaks(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.file = Path(holder.name) / "runs.sqlite"

    def table_with(self, runs: list[tuple[int, int, str, int, str]]) -> str:
        """The table of runs: comparison, build, metric, value, state."""
        database = sqlite3.connect(self.file)
        database.executescript(SCHEMA)
        for number, (comparison, build, metric, value, state) in enumerate(runs):
            database.execute(
                "INSERT INTO attempt VALUES (?, ?, ?, ?)", (number, comparison, build, state)
            )
            database.execute("INSERT INTO value VALUES (1, ?, ?, ?)", (metric, number, value))
        database.commit()
        database.close()
        return table_of(tallies_of([self.file]))

    def test_runs_of_one_build_in_one_comparison_are_a_group(self) -> None:
        runs = [(1, build, "cpu_peak", 100 + build, "done") for build in (7, 7, 8, 8, 8)]
        runs += [(1, 9, "cpu_peak", 5, "done"), (2, 8, "cpu_peak", 1, "done")]
        self.assertIn("|cpu_peak|2|5|0 of 2 (< 78 %)|0.0 %|0 of 1", self.table_with(runs))

    def test_a_group_that_differs_is_counted_with_its_largest_difference(self) -> None:
        runs = [(1, 7, "device_peak", value, "done") for value in (1000, 1030, 1001)]
        runs.append((1, 7, "device_peak", 5000, "failed"))
        self.assertIn("|device_peak|1|3|1 of 1 (< 1e+02 %)|3.0 %|1 of 1", self.table_with(runs))

    def test_a_table_of_a_self_test_is_read(self) -> None:
        self.file.write_text(
            "|workload|configuration|runs|time, %|runs|peak, %|runs|resident peak, %|verdict|\n"
            "|a|cpu-train|4|-1.4 [-9.0, +6.9]|4|+0.0|4|+0.0 [-0.2, +0.1]|unchanged|\n"
            "|b|cpu-infer|4|-1.4 [-9.0, +6.9]|4|+0.1 [-0.3, +2.5]|8|+0.0|cpu_peak: improved|\n"
            "|c|cpu-infer|0|-|0|-|0|-|unsupported|\n"
        )
        table = table_of(tallies_of([self.file]))
        self.assertRegex(table, r"\|cpu_peak\|2\|8\|1 of 2 [^|]*\|2\.5 %\|1 of 2 ")
        self.assertRegex(table, r"\|cpu_peak_resident\|2\|12\|1 of 2 [^|]*\|0\.2 %\|0 of 2 ")

    def test_the_bound_is_that_of_clopper_and_pearson(self) -> None:
        self.assertAlmostEqual(upper_bound(0, 159), 1 - 0.05 ** (1 / 159), places=9)
        self.assertAlmostEqual(upper_bound(2, 20), 0.2826, places=4)
        self.assertEqual(upper_bound(3, 3), 1.0)


if __name__ == "__main__":
    unittest.main()

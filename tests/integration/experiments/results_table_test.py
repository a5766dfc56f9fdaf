import argparse
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "experiments"))

import results_table

PROGRAM = Path(results_table.__file__)
OPTIONS = argparse.Namespace(
    command="experiment_search --only '| torchwatch |'",
    machine="a machine",
    date="2026-11-22",
    commit="0123456",
    only=None,
)
PAGE = """# Results

| claim | figure | command | machine | date | commit |
|---|---|---|---|---|---|
| [cost](cost.md): one | 1 | `a` | b | c | d |
| [search](search.md): two | 2 | `a \\| b` | b | c | d |
| [suite](suite.md): three | 3 | `a` | b | c | d |

More text.
"""


def share(count: int, of: int) -> dict[str, Any]:
    return {"hits": count, "count": count, "of": of, "rate": count / of, "low": 0.25, "high": 0.75}


def a_search() -> dict[str, Any]:
    return {
        "rows": [
            {
                "day": "+10 %",
                "search": "torchwatch",
                "exact": share(2, 4),
                "wrong_blame": share(0, 4),
                "no_answer": share(2, 4),
                "builds": {"mean": 7.53},
                "runs": {"mean": 44.6, "p95": 108},
            }
        ]
    }


def a_detection() -> dict[str, Any]:
    row = {"rule": "torchwatch", "sampling": "resampled", "judged": 4000, "runs": 8.04}
    by = [{"comparisons": 0, "slower": share(1000, 4000)}]
    return {
        "rows": [
            {**row, "change": 0, "slower": share(3, 4000), "slower_by": by},
            {**row, "change": 0.07, "slower": share(3, 4000), "slower_by": by},
            {**row, "change": -0.09, "slower": share(3, 4000), "slower_by": by},
        ]
    }


def rows_of(program: str, result: Any, **options: Any) -> list[str]:
    of = argparse.Namespace(**{**vars(OPTIONS), **options})
    return list(results_table.rows_of(program, result, of))


class Rows(unittest.TestCase):
    def test_a_share_is_stated_with_its_interval_and_its_counts(self) -> None:
        cells = results_table.cells_of(rows_of("search", a_search())[0])
        self.assertEqual(
            cells[:2], ["[search](search.md): torchwatch, +10 %: exact", "50 % (25-75), 2 of 4"]
        )

    def test_a_row_names_command_machine_date_and_commit(self) -> None:
        cells = results_table.cells_of(rows_of("search", a_search())[0])
        self.assertEqual(
            cells[2:],
            [
                "`experiment_search --only '\\| torchwatch \\|'`",
                "a machine",
                "2026-11-22",
                "0123456",
            ],
        )

    def test_costs_have_their_mean_and_95_per_cent(self) -> None:
        self.assertIn("| 7.5; 44.6, at most 108 in 95 % |", rows_of("search", a_search())[-1])

    def test_alarms_are_counted_without_a_change_and_findings_in_the_change_s_own_comparison(
        self,
    ) -> None:
        claims = {
            results_table.cells_of(row)[0].split(": ", 1)[1]: results_table.cells_of(row)[1]
            for row in rows_of("detection", a_detection())
        }
        self.assertEqual(
            claims,
            {
                "torchwatch, resampled: false alarms": "0.075 % (25-75), 3 of 4,000",
                "torchwatch, resampled: runs of an unchanged series": "8.0",
                "torchwatch, resampled: +7 % found at once": "25 % (25-75), 1,000 of 4,000",
            },
        )

    def test_of_pages_the_slowest_is_named_and_what_was_not_measured_has_no_row(self) -> None:
        times = {"median_ms": 3.21, "p99_ms": 40.0, "max_ms": 60.0, "views": 1000}
        pages = {
            "addresses": 12,
            "all": times,
            "kinds": {"/": times, "/series/*": {**times, "p99_ms": 80.0}},
            "memory_after_mb": {"all": 59.03},
        }
        rows = [results_table.cells_of(row)[:2] for row in rows_of("page_costs", {"pages": pages})]
        self.assertEqual(
            rows,
            [
                [
                    "[pages](pages.md): all 12 pages and twins",
                    "3.2 ms, 40.0 in 99 %, 60.0 at most, of 1,000",
                ],
                [
                    "[pages](pages.md): the slowest page, /series/*",
                    "3.2 ms, 80.0 in 99 %, 60.0 at most, of 1,000",
                ],
                ["[pages](pages.md): memory after 1,000 views", "59.0 MB"],
            ],
        )

    def test_only_keeps_the_claims_that_contain_one_of_the_texts(self) -> None:
        rows = rows_of("search", a_search(), only=["exact", "builds"])
        self.assertEqual(len(rows), 2)

    def test_a_ratio_is_stated_as_its_distance_from_1(self) -> None:
        result = {
            "empty_sample_ns": 51.8,
            "workloads": [
                {"workload": "dlrm", "mode": "infer", "ratio": 1.0005, "low": 0.998, "high": 1.002}
            ],
        }
        self.assertEqual(
            [results_table.cells_of(row)[1] for row in rows_of("harness_overhead", result)],
            ["52 ns", "+0.050 % (-0.200 to +0.200)"],
        )

    def test_an_interval_without_an_end_is_left_out(self) -> None:
        way = {"ratio": 1.01, "interval": [0.99, None]}
        outcomes = {"comparisons": 20, "beyond": 3}
        result = {
            "benchmarks": [
                {"workload": "dlrm", "mode": "infer", "threads": 1, "ways": {"apart": way}}
            ],
            "all": {"paper": outcomes, "protocol": outcomes},
        }
        self.assertEqual(
            [results_table.cells_of(row)[1] for row in rows_of("same_build", result)],
            ["3 of 20", "3 of 20"],
        )

    def test_the_other_programs_have_rows(self) -> None:
        cost = {"series": 1008, "ratio_to_torchwatch": {"otava": [271.2, 198.1, 371.4]}}
        chain = {"chain": "linear", "ratio": 1.0041, "low": 0.999, "high": 1.008, "rounds": 10}
        self.assertIn("| 271 times (198-371) |", rows_of("judging_cost", cost)[0])
        self.assertIn(
            "| 1.004 (0.999-1.008), 10 rounds |", rows_of("blocked_autorange", [chain])[0]
        )
        backend = {
            "backend": "torchscript",
            "mode": "infer",
            "preset": "small",
            "workloads": 84,
            "taken": 51,
            "compile_seconds": {"median": 0.734, "most": 11.35},
            "slowest": "DALLE2_pytorch",
        }
        self.assertIn("| 51 of 84 |", rows_of("backends", backend)[0])
        self.assertIn("| 0.73; 11.3 (DALLE2_pytorch) |", rows_of("backends", backend)[1])
        self.assertEqual(len(rows_of("backends", backend | {"compile_seconds": None})), 1)
        in_training = rows_of("backends", backend | {"mode": "train"})
        self.assertIn("workloads whose training torchscript takes", in_training[0])
        self.assertIn("compiles, training: median", in_training[1])


class Table(unittest.TestCase):
    def row(self, claim: str) -> str:
        return f"| {claim} | new | `x` | y | z | e |"

    def test_a_row_of_the_same_claim_is_replaced_in_its_place(self) -> None:
        row = self.row("[search](search.md): two")
        lines = results_table.updated(PAGE, [row]).split("\n")
        self.assertEqual([n for n, line in enumerate(lines) if line == row], [5])
        self.assertEqual(len(lines), len(PAGE.split("\n")))

    def test_a_new_claim_goes_behind_the_last_of_its_page(self) -> None:
        lines = results_table.updated(PAGE, [self.row("[cost](cost.md): four")]).split("\n")
        self.assertTrue(lines[5].startswith("| [cost](cost.md): four |"))

    def test_a_claim_of_a_new_page_goes_to_the_end_of_the_table(self) -> None:
        lines = results_table.updated(PAGE, [self.row("[harness](harness.md): four")]).split("\n")
        self.assertTrue(lines[7].startswith("| [harness](harness.md): four |"))

    def test_updating_again_changes_nothing(self) -> None:
        rows = rows_of("search", a_search())
        once = results_table.updated(PAGE, rows)
        self.assertEqual(results_table.updated(once, rows), once)
        self.assertEqual(len(once.split("\n")), len(PAGE.split("\n")) + len(rows))

    def test_the_repository_s_table_takes_rows(self) -> None:
        text = results_table.TABLE.read_text()
        self.assertIn(
            rows_of("search", a_search())[0],
            results_table.updated(text, rows_of("search", a_search())),
        )


class Program(unittest.TestCase):
    def run_with(self, text: str, *arguments: str) -> tuple[subprocess.CompletedProcess[str], str]:
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table"
            table.write_text(PAGE)
            done = subprocess.run(
                [
                    PROGRAM,
                    "search",
                    "-",
                    "--command",
                    "x",
                    "--machine",
                    "y",
                    "--commit",
                    "z",
                    "--table",
                    table,
                    *arguments,
                ],
                input=text,
                capture_output=True,
                check=False,
                text=True,
            )
            return done, table.read_text()

    def test_without_update_it_only_prints(self) -> None:
        done, table = self.run_with(json.dumps(a_search()))
        self.assertEqual((done.returncode, len(done.stdout.splitlines()), table), (0, 4, PAGE))

    def test_update_writes_what_it_prints(self) -> None:
        done, table = self.run_with(json.dumps(a_search()), "--update")
        self.assertEqual(done.returncode, 0)
        for line in done.stdout.splitlines():
            self.assertIn(line, table)

    def test_the_output_of_another_program_is_refused(self) -> None:
        done, table = self.run_with('{"rounds": []}', "--update")
        self.assertEqual((done.returncode, table), (1, PAGE))
        self.assertIn("- is not of search: KeyError('rows')", done.stderr)

    def test_a_broken_result_is_refused(self) -> None:
        done, _ = self.run_with("{")
        self.assertEqual(done.returncode, 1)
        self.assertIn("results_table.py: -: Expecting", done.stderr)


if __name__ == "__main__":
    unittest.main()

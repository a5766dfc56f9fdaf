"""What the source day's figures are made of."""

import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[3]
EXPERIMENTS = CHECKOUT / "tests" / "experiments"
sys.path[:0] = [
    str(CHECKOUT / "deploy" / "demonstration"),
    str(EXPERIMENTS),
    str(EXPERIMENTS / "planted_days"),
    str(EXPERIMENTS / "source_day"),
]

import plain_bisection  # noqa: E402
import planted  # noqa: E402
import results_table  # noqa: E402
import source_costs  # noqa: E402
import source_hours  # noqa: E402
import source_result  # noqa: E402
import source_table  # noqa: E402
from kept_rows import KeptRows  # noqa: E402

FIRST, LAST, REVERT = "e" * 40, "f" * 40, "9" * 40
GOOD, BROKEN = "a" * 40, "b" * 40
SHAS = {name: f"{n:040}" for n, name in enumerate(planted.CULPRITS)}
TRUTH: dict[str, Any] = {
    "nightlies": [{"commit": FIRST, "trunk": "c" * 40}, {"commit": LAST, "trunk": "d" * 40}],
    "commits": [
        {"sha": GOOD, "cost": "kernel", "kind": "harmless"},
        {"sha": BROKEN, "cost": "kernel", "kind": "broken"},
        {"sha": "d" * 40, "cost": "no source", "kind": "harmless"},
    ],
    "planted": {name: {"sha": sha} for name, sha in SHAS.items()},
}
LEAK_EFFECT = {
    "culprit": "leak",
    "workload": "hf_DistilBert",
    "mode": "train",
    "bytes_per_iteration": 64,
}


def begun(commit: str) -> dict[str, Any]:
    return {"commit": commit, "event": "begun"}


def ended(commit: str, seconds: float, status: int = 0, purpose: str = "") -> dict[str, Any]:
    return {
        "commit": commit,
        "for": purpose,
        "event": "ended",
        "status": status,
        "seconds": seconds,
        "processor_seconds": 2 * seconds,
        "load": [1.0, 5.0, 15.0],
        "cache_miss": 3,
    }


def at(hour: int, minute: int = 0) -> str:
    return f"2026-06-17T{hour:02}:{minute:02}:00Z"


def effect(workload: str, configuration: str, metric: str) -> dict[str, Any]:
    return {
        "workload": workload,
        "configuration": configuration,
        "metric": metric,
        "ratio": None,
        "interval": None,
        "baseline_value": 0,
        "candidate_value": 4096,
    }


def incident(sha: str, *series: tuple[str, str, str]) -> dict[str, Any]:
    return {
        "title": "Something is worse",
        "effects": [effect(*each) for each in series],
        "culprits": [{"commits": [sha]}],
    }


def search(number: int, created_at: str, ended_at: str | None) -> dict[str, Any]:
    result = {"runs": 40, "culprits": [{"commits": [SHAS["leak"]]}], "verified": ""}
    return {
        "id": number,
        "incident": number,
        "created_at": created_at,
        "ended_at": ended_at,
        "result": result if ended_at else None,
    }


def a_result() -> dict[str, Any]:
    """A day of which the service found the leak, and so did git bisect."""
    found = {
        "comparison": {
            "incidents": [incident(SHAS["leak"], ("hf_DistilBert", "cpu-train", "leak_growth"))],
            "verdicts": [{"verdict": "inconclusive"}],
        },
        "bisections": [search(1, at(1), at(2, 30)), search(2, at(1), None)],
        "calls": [{"event": "begun", "at": at(0)}, {"event": "ended", "at": at(3)}],
        "minutes": 95.5,
    }
    rows = [ended(GOOD, 90, purpose="compare"), ended(BROKEN, 90, status=125, purpose="compare")]
    plain = [
        {
            "culprit": "leak",
            "found": [],
            "is_right": True,
            "runs": 15,
            "commits": [GOOD, BROKEN],
            "failed": [BROKEN],
            "run_seconds": 3420,
        }
    ]
    builds = source_costs.builds_of_searches(TRUTH, rows, "compare")
    return {
        "seed": 1,
        "first_build": source_costs.first_build([begun(FIRST), ended(FIRST, 3600)]),
        "later_builds": [],
        "disk_bytes": {},
        "service": source_result.of_service(TRUTH, found, builds),
        "plain": source_result.of_plain(rows, plain),
        "all_plain": source_result.all_plain(rows, plain),
        "effects": [LEAK_EFFECT],
    }


class Costs(unittest.TestCase):
    def test_the_first_build_adds_up_the_calls_that_were_stopped_and_says_what_they_took(
        self,
    ) -> None:
        rows = [
            begun(FIRST),
            ended(FIRST, 60, status=-15),
            begun(FIRST),
            begun(FIRST),
            ended(FIRST, 1200),
            ended(LAST, 600),
        ]
        self.assertEqual(
            source_costs.first_build(rows),
            {
                "calls": 3,
                "unended": 1,
                "minutes": 21,
                "processor_minutes": 42,
                "killed_minutes": 1,
                "killed_processor_minutes": 2,
                "load": 15,
                "compiled": 6,
            },
        )
        self.assertIsNone(source_costs.first_build(rows[:2]))

    def test_the_load_is_that_of_the_time_of_the_call_as_far_as_it_is_known(self) -> None:
        loads = [source_costs.load_of(ended(GOOD, seconds)) for seconds in (5, 90, 400, 2000)]
        self.assertEqual(loads, [1, 1, 5, 15])
        self.assertIsNone(source_costs.load_of({**ended(GOOD, 5), "load": None}))
        (row,) = source_costs.later_builds(
            TRUTH, [{"commit": GOOD, "event": "ended", "status": 0, "seconds": 6,
                     "processor_seconds": 6}]
        )  # fmt: skip
        self.assertIsNone(row["load"])

    def test_later_builds_are_told_apart_by_what_their_commits_edit(self) -> None:
        rows = [ended(GOOD, 90), ended(GOOD, 30), ended(BROKEN, 30, status=125)]
        rows += [ended(FIRST, 9000), ended(LAST, 600), ended(REVERT, 1)]
        found = {
            row["kind"]: row["minutes"]["median"] for row in source_costs.later_builds(TRUTH, rows)
        }
        self.assertEqual(found, {"kernel": 1.5, "kernel, broken": 0.5, "whole day": 10})

    def test_builds_of_the_searches_are_counted_by_commit_and_by_what_they_were_for(self) -> None:
        rows = [
            ended(GOOD, 1, status=1, purpose="day-1 compare"),
            ended(GOOD, 1, purpose="day-1 compare"),
            ended(GOOD, 1, purpose="day-1 compare"),
            ended(BROKEN, 1, status=125, purpose="day-1 compare"),
            ended("d" * 40, 1, purpose="day-1 compare"),
            ended(REVERT, 1, purpose="day-1 compare"),
            ended("8" * 40, 1, purpose="day-2 compare"),
            ended("7" * 40, 1, status=-15, purpose="day-1 compare"),
        ]
        self.assertEqual(
            source_costs.builds_of_searches(TRUTH, rows, "day-1 compare"),
            {"between": 2, "failed": 1, "ends": 1, "reverts": 1},
        )


class Hours(unittest.TestCase):
    CALLS = (
        {"event": "begun", "at": at(0)},
        {"event": "ended", "at": at(3)},
        {"event": "begun", "at": at(5)},
        {"event": "ended", "at": at(9)},
    )

    def test_searches_begin_when_the_one_before_has_ended_and_pauses_do_not_count(self) -> None:
        bisections = [search(2, at(1), at(6)), search(1, at(1), at(2)), search(3, at(1), None)]
        hours, whole = source_hours.of_searches(bisections, list(self.CALLS))
        self.assertEqual(hours, {1: 1, 2: 2})
        self.assertEqual(whole, 3)

    def test_a_search_begins_no_sooner_than_it_is_made(self) -> None:
        bisections = [search(1, at(1), at(2)), search(2, at(6), at(7))]
        hours, whole = source_hours.of_searches(bisections, list(self.CALLS))
        self.assertEqual(hours, {1: 1, 2: 1})
        self.assertEqual(whole, 4)
        self.assertEqual(source_hours.of_searches([], []), ({}, 0.0))

    def test_a_call_that_was_killed_counts_up_to_the_next(self) -> None:
        calls = [self.CALLS[0], *self.CALLS[2:]]
        hours, _ = source_hours.of_searches([search(1, at(1), at(6))], calls)
        self.assertEqual(hours, {1: 5})


class Plain(unittest.TestCase):
    def test_a_commit_that_does_not_build_is_a_build_that_failed_and_ends_cost_runs_alone(
        self,
    ) -> None:
        culprit = planted.CULPRITS["leak"]
        with tempfile.TemporaryDirectory() as folder:
            kept = KeptRows(Path(folder) / "plain.jsonl")
            for commit, value in ((FIRST, 1.0), (GOOD, 2.0), (BROKEN, None)):
                row = {"culprit": "leak", "commit": commit, "value": value}
                kept.add({**row, "seconds": 60.0 if value else 0.0})
            row = plain_bisection.row(TRUTH, culprit, [SHAS["leak"]], kept)
        self.assertEqual((row["commits"], row["failed"]), ([GOOD, BROKEN], [BROKEN]))
        self.assertEqual((row["runs"], row["run_seconds"]), (10, 120))

    def test_searches_that_share_a_build_made_it_once_and_their_runs_take_time_too(self) -> None:
        one = {"commits": [GOOD], "failed": [], "runs": 10, "run_seconds": 1800}
        two = {"commits": [GOOD, BROKEN], "failed": [BROKEN], "runs": 10, "run_seconds": 900}
        rows = [ended(GOOD, 600), ended(GOOD, 6), ended(BROKEN, 300, status=125)]
        found = source_result.all_plain(rows, [one, two])
        builds = {"between": 2, "failed": 1, "ends": 0, "reverts": 0}
        self.assertEqual(found, {"builds": builds, "runs": 20, "hours": 1})


class Named(unittest.TestCase):
    def test_a_culprit_is_named_only_alone_and_others_are_counted(self) -> None:
        first, second, third, _ = SHAS.values()
        series = ("hf_DistilBert", "cpu-infer", "time")
        together = {**incident(first, series)}
        together["culprits"] = [{"commits": [first]}, {"commits": [second, third]}]
        stranger = incident(GOOD, ("dlrm", "cpu-infer", "time"))
        found = source_result.named(TRUTH, [together, stranger, {"title": "c", "effects": []}])
        self.assertEqual(list(found["culprits"].values()), [True, False, False, False])
        self.assertEqual(found["others"], [GOOD])
        self.assertEqual(found["unnamed"], ["c"])

    def test_a_name_for_a_series_that_the_culprit_does_not_worsen_is_one_elsewhere(self) -> None:
        right = ("dlrm", "cpu-infer", "time")
        for wrong in (
            ("tts_angular", "cpu-infer", "time"),
            ("dlrm", "cpu-train", "time"),
            ("dlrm", "cpu-infer", "cpu_peak"),
        ):
            sha = SHAS["check per element"]
            found = source_result.named(TRUTH, [incident(sha, wrong)])
            self.assertFalse(found["culprits"]["check per element"])
            self.assertEqual(found["elsewhere"]["check per element"], 1)
            both = source_result.named(TRUTH, [incident(sha, wrong), incident(sha, wrong, right)])
            self.assertTrue(both["culprits"]["check per element"])
            self.assertEqual(both["elsewhere"]["check per element"], 1)


class Table(unittest.TestCase):
    def test_it_says_what_is_known_and_leaves_out_the_rest(self) -> None:
        killed = [begun(FIRST), begun(FIRST), ended(FIRST, 60, status=-15), begun(FIRST)]
        result = {
            "first_build": source_costs.first_build([*killed, ended(FIRST, 3540)]),
            "later_builds": source_costs.later_builds(TRUTH, [ended(GOOD, 90)]),
            "disk_bytes": {"ccache": 300_000_000},
            "service": None,
            "plain": [],
            "all_plain": None,
            "effects": [],
        }
        lines = source_table.table(result)
        self.assertIn("|first|1|120|60|15|1 (2); of unknown length: 1|6|", lines)
        self.assertIn("|kernel|1|3|1.5|1|-|3|", lines)
        self.assertIn("|ccache|0.30|", lines)
        self.assertFalse([line for line in lines if "git bisect" in line])

    def test_what_the_service_found_is_stated_beside_git_bisect(self) -> None:
        result = a_result()
        lines = source_table.table(result)
        self.assertIn("|leak|yes|0|yes|2|1|3.0|57.0|", lines)
        self.assertIn("|lost vectors|no|0|-|-|-|-|-|", lines)
        self.assertIn("|torchwatch|2|1|0|0|40|1.5|0|", lines)
        self.assertIn("|git bisect, median of 5|2|1|0|0|15|1|0|", lines)
        self.assertIn("|leak|hf_DistilBert cpu-train|64 bytes an iteration|", lines)
        claims = dict(results_table.source_day_rows(result))
        self.assertEqual(
            claims["culprits named alone, day 1; innocent commits blamed"], "1 of 4; 0"
        )
        self.assertEqual(
            claims["the searches, day 1: builds between the ends; runs; hours"], "2; 40; 1.5"
        )
        self.assertIn("60, 1 calls; 15", "; ".join(claims.values()))


if __name__ == "__main__":
    unittest.main()

"""What releases.py makes of a program's answers, and that it resumes after a stop."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

RELEASES = Path(__file__).resolve().parents[3] / "tests" / "experiments" / "releases"
sys.path[:0] = [str(RELEASES), str(RELEASES.parent)]

import release_page  # noqa: E402
from release_changes import (  # noqa: E402
    breaks,
    changes_between,
    mean_change,
    signed_percent,
    to_measure_again,
)
from release_rounds import CONFIGURATION, Measured  # noqa: E402

SCRIPT = RELEASES / "releases.py"

# Answers like torchwatch: what it was asked goes to calls, documents come from files.
PROGRAM = """#!/bin/bash
while (($# > 0)) && [[ $1 != compar* ]]; do shift; done
echo "$*" >> {folder}/calls
case $* in
  "comparison list"*) exec cat {folder}/list.json ;;
  "comparison show"*) cat {folder}/show.json; exit 1 ;;
esac
[[ $* != *" $(cat {folder}/fails)" ]] || exit 3
if [[ -p {folder}/began ]]; then
  trap 'kill $!; echo stopped > {folder}/stopped; exit 130' TERM
  cat {folder}/never &
  echo > {folder}/began
  wait
fi
cat {folder}/document.json
exit 1
"""


def verdict(workload: str, word: str, ratio: float | None, **more: Any) -> dict[str, Any]:
    return {
        "workload": workload,
        "configuration": "cpu-infer",
        "variant": "fp32",
        "metric": "time",
        "unit": "ns",
        "ratio": ratio,
        "interval": None if ratio is None else [ratio - 0.01, ratio + 0.01],
        "baseline_value": 100.0,
        "candidate_value": 100.0 * (ratio or 1),
        "verdict": word,
        "exact": False,
        "reason": None,
    } | more


def document(*verdicts: dict[str, Any], number: int = 1) -> dict[str, Any]:
    return {
        "id": number,
        "verdicts": list(verdicts),
        "confidence": 0.99,
        "ended_at": None,
        "runs": 10,
        "seconds": 3600.0,
    }


def leak(bytes_kept: float, word: str = "regressed") -> dict[str, Any]:
    return verdict(
        "dlrm", word, None, unit="bytes/iteration", metric="leak_growth",
        candidate_value=100 + bytes_kept,
    )  # fmt: skip


def peak(word: str, ratio: float) -> dict[str, Any]:
    return verdict("dlrm", word, ratio, metric="cpu_peak", unit="bytes", interval=None, exact=True)


def state(first: dict[str, Any], again: dict[str, Any]) -> str:
    (change,) = changes_between(document(first), document(again))
    return change.state


def state_after(word: str, ratio: float, low: float, high: float) -> str:
    """The state of a change by 15 % [12, 18] that is measured again."""
    first = verdict("dlrm", "regressed", 1.15, interval=[1.12, 1.18])
    return state(first, verdict("dlrm", word, ratio, interval=[low, high]))


class Changes(unittest.TestCase):
    def test_what_is_beyond_the_threshold_again_or_as_large_as_before_holds(self) -> None:
        self.assertEqual(state_after("regressed", 1.13, 1.10, 1.16), "holds")
        self.assertEqual(state_after("regressed", 1.08, 1.05, 1.11), "holds")
        self.assertEqual(state_after("regressed", 1.06, 1.01, 1.16), "holds")

    def test_what_is_there_but_clearly_less_is_smaller(self) -> None:
        self.assertEqual(state_after("regressed", 1.02, 1.01, 1.03), "smaller")

    def test_what_shows_nothing_or_the_contrary_is_not_there_again(self) -> None:
        self.assertEqual(state_after("unchanged", 1.01, 0.97, 1.05), "not again")
        self.assertEqual(state_after("improved", 0.88, 0.86, 0.90), "not again")

    def test_what_tells_neither_is_open(self) -> None:
        self.assertEqual(state_after("inconclusive", 1.14, 0.99, 1.30), "open")
        self.assertEqual(state_after("unchanged", 1.04, 0.93, 1.17), "open")
        without = verdict("dlrm", "regressed", 1.15, interval=None)
        self.assertEqual(state(verdict("dlrm", "regressed", 1.15), without), "open")
        for word in ("failed", "unsupported"):
            again = verdict("dlrm", word, None)
            self.assertEqual(state(verdict("dlrm", "regressed", 1.15), again), "open")

    def test_an_improvement_is_treated_alike(self) -> None:
        first = verdict("drq", "improved", 0.8)
        for word, ratio, said in (
            ("improved", 0.82, "holds"),
            ("improved", 0.97, "smaller"),
            ("unchanged", 1.0, "not again"),
        ):
            self.assertEqual(state(first, verdict("drq", word, ratio)), said)

    def test_an_exact_peak_needs_no_interval(self) -> None:
        first = peak("regressed", 1.2)
        self.assertEqual(state(first, peak("regressed", 1.2)), "holds")
        self.assertEqual(state(first, peak("unchanged", 1.03)), "smaller")
        self.assertEqual(state(first, peak("unchanged", 1.0)), "not again")

    def test_memory_that_is_kept_has_a_difference_and_no_ratio(self) -> None:
        self.assertEqual(signed_percent(leak(4096)), "+4,096 bytes/iteration")
        self.assertEqual(state(leak(4096), leak(4090)), "holds")
        self.assertEqual(state(leak(4096), leak(1024)), "smaller")
        for again in (leak(0, "unchanged"), leak(4096, "unchanged"), leak(-4096, "improved")):
            self.assertEqual(state(leak(4096), again), "not again")

    def test_what_is_small_at_first_is_not_listed_and_what_is_left_out_counts_as_not_measured(
        self,
    ) -> None:
        first = document(verdict("moco", "regressed", 1.1), verdict("maml", "regressed", 1.05))
        states = {each.workload: each.state for each in changes_between(first, document())}
        self.assertEqual(states, {"moco": "measured once"})

    def test_of_what_is_exact_every_change_that_was_found_is_listed(self) -> None:
        first = document(peak("regressed", 1.03), peak("unchanged", 1.01))
        (change,) = changes_between(first, None)
        self.assertEqual(signed_percent(change.first), "+3.0 %")
        self.assertEqual(to_measure_again(first), ["dlrm"])

    def test_a_benchmark_that_runs_with_one_build_alone_is_listed_and_measured_again(self) -> None:
        both = document(
            verdict("dlrm", "failed", None, candidate_value=0, reason="runs with the baseline"),
            verdict("drq", "failed", None, baseline_value=0),
            verdict("maml", "unsupported", None, baseline_value=0, candidate_value=0),
            verdict("moco", "unchanged", 1.0),
        )
        self.assertEqual(
            list(breaks(both)),
            [("dlrm", "cpu-infer", "stopped running"), ("drq", "cpu-infer", "runs now")],
        )
        self.assertEqual(to_measure_again(both), ["dlrm", "drq"])


class Mean(unittest.TestCase):
    def test_it_is_geometric_and_its_interval_the_same_every_time(self) -> None:
        pair = [verdict("dlrm", "regressed", 1.25), verdict("drq", "improved", 0.8)]
        self.assertEqual(mean_change(pair, 0.99), "+0.0 % [-20.0, +25.0] of 2")
        many = [verdict(f"w{n}", "unchanged", 1 + n / 100) for n in range(-20, 21)]
        self.assertEqual(mean_change(many, 0.99), mean_change(many, 0.99))
        self.assertNotEqual(mean_change(many, 0.99), mean_change(many, 0.99, seed=2))

    def test_a_series_interval_is_not_in_it_and_series_of_a_workload_stay_together(self) -> None:
        one = [verdict("dlrm", "regressed", 1.1), verdict("dlrm", "regressed", 1.1)]
        self.assertEqual(mean_change(one, 0.99), "+10.0 % of 2")
        many = [verdict(f"w{n}", "unchanged", 1.02, interval=[0.5, 2]) for n in range(9)]
        self.assertEqual(mean_change(many, 0.99), "+2.0 % [+2.0, +2.0] of 9")

    def test_what_has_no_value_is_not_in_it(self) -> None:
        self.assertEqual(mean_change([verdict("drq", "failed", None)], 0.99), "-")


class Measuring(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.program = self.folder / "program"
        self.program.write_text(PROGRAM.format(folder=self.folder))
        self.program.chmod(0o755)
        (self.folder / "fails").write_text("none")
        self.write("list", {"items": []})
        self.write("document", document(verdict("dlrm", "regressed", 1.2)))

    def write(self, name: str, content: dict[str, Any]) -> None:
        (self.folder / f"{name}.json").write_text(json.dumps(content))

    def command(self, *more: str) -> list[str | Path]:
        releases = (f"--release={version}" for version in ("1", "2", "3"))
        return [sys.executable, SCRIPT, "measure", self.program, self.folder, *releases, *more]

    def measure(self, *more: str) -> list[str]:
        """The calls of the program that measuring made, but for lists."""
        calls = self.folder / "calls"
        calls.write_text("")
        subprocess.run(self.command(*more), check=True, stderr=subprocess.DEVNULL)
        return [line for line in calls.read_text().splitlines() if "comparison list" not in line]

    def rows(self) -> list[dict[str, Any]]:
        file = self.folder / "comparisons.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()]

    def grow_older(self) -> None:
        text = [json.dumps({**row, "ended_at": "2026-01-01T00:00:00+00:00"}) for row in self.rows()]
        (self.folder / "comparisons.jsonl").write_text("".join(line + "\n" for line in text))

    def table(self, *more: str) -> str:
        command: list[str | Path] = [sys.executable, SCRIPT, "table", self.folder, *more]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def test_each_pair_is_compared_once_and_what_changed_once_more_hours_later(self) -> None:
        self.assertEqual(self.measure(), ["compare 1 2", "compare 2 3"])
        self.assertEqual(self.measure(), [])
        self.grow_older()
        # A workload behind the releases: no name of one can be taken for a further workload.
        again = "--workload=dlrm"
        self.assertEqual(self.measure(), [f"compare 1 2 {again}", f"compare 2 3 {again}"])
        self.grow_older()
        self.assertEqual(self.measure(), [])

    def test_a_trial_with_one_workload_is_not_taken_for_the_whole_suite(self) -> None:
        trial = "--workload=dlrm"
        self.assertEqual(self.measure(trial), [f"compare 1 2 {trial}", f"compare 2 3 {trial}"])
        self.assertNotIn("1 to 2", self.table())
        self.assertIn("1 to 2", self.table("--workload=dlrm"))
        self.assertEqual(self.measure(), ["compare 1 2", "compare 2 3"])

    def test_a_pair_that_fails_keeps_no_other_from_being_measured(self) -> None:
        (self.folder / "fails").write_text("1 2")
        self.assertEqual(self.measure(), ["compare 1 2", "compare 2 3"])
        (self.folder / "fails").write_text("none")
        self.assertEqual(self.measure(), ["compare 1 2"])

    def stopped_by(self, number: int) -> int:
        """The exit status after a signal while a comparison runs."""
        began = self.folder / "began"
        for pipe in (began, self.folder / "never"):
            os.mkfifo(pipe)
        with subprocess.Popen(self.command(), stderr=subprocess.DEVNULL) as child:
            began.read_text()
            child.send_signal(number)
            status = child.wait()
        began.unlink()
        return status

    def test_a_stop_is_passed_on_and_awaited_and_the_next_call_goes_on(self) -> None:
        numbers = (signal.SIGTERM, signal.SIGINT)
        for number in (each for each in numbers if signal.getsignal(each) != signal.SIG_IGN):
            self.assertEqual(self.stopped_by(number), 130)
            self.assertEqual((self.folder / "stopped").read_text(), "stopped\n")
            (self.folder / "stopped").unlink()
            (self.folder / "never").unlink()
        self.assertEqual(self.measure(), ["compare 1 2", "compare 2 3"])

    def test_what_a_comparison_came_to_whose_caller_was_killed_is_taken_over(self) -> None:
        self.stopped_by(signal.SIGTERM)
        names = {"baseline": {"name": "1"}, "candidate": {"name": "2"}}
        item = {"id": 7, "state": "judged", **names, "created_at": "2999-01-01T00:00:00Z"}
        running = {**item, "id": 6, "ended_at": None}
        self.write("list", {"items": [running, {**item, "ended_at": "2999-01-01T01:00:00Z"}]})
        self.write("show", document(verdict("drq", "unchanged", 1.0), number=7))
        self.assertEqual(self.measure(), ["comparison show 7", "compare 2 3"])
        self.assertEqual([row["document"]["id"] for row in self.rows()], [7, 1])

    def test_a_second_call_waits_until_the_first_and_its_program_have_ended(self) -> None:
        with (self.folder / "measuring").open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            with subprocess.Popen(self.command(), stderr=subprocess.PIPE, text=True) as child:
                first = child.stderr.readline() if child.stderr else ""
                self.assertIn("waiting for what measures", first)
                self.assertFalse((self.folder / "calls").exists())
                fcntl.flock(held, fcntl.LOCK_UN)
                child.communicate()

    def test_it_measures_as_delivered(self) -> None:
        self.assertNotIn("[measure]", CONFIGURATION)

    def test_the_table_has_every_pair_and_every_change(self) -> None:
        self.measure()
        out = self.table()
        self.assertIn("Intervals are of 99 %", out)
        self.assertIn("| 1 to 2 | 1 | 0 | 0 | 0 | 0 | 0 | - | +20.0 % of 1 |", out)
        self.assertIn("| 2 to 3 | dlrm | cpu-infer | time | +20.0 % [+19.0, +21.0] |  | measured",
                      out)  # fmt: skip
        self.assertNotIn("stopped running | ", out.split("\n", 5)[-1])

    def page(self) -> subprocess.CompletedProcess[str]:
        command: list[str | Path] = [sys.executable, SCRIPT, "page", self.folder]
        options = ["--machine=a machine", "--commit=abc", f"--notes={self.folder}/notes.toml"]
        page = self.folder / "releases.md"
        return subprocess.run(
            [*command, *options, page], check=False, capture_output=True, text=True
        )

    def test_the_page_waits_until_all_was_measured_again_and_says_what_holds_first(self) -> None:
        (self.folder / "notes.toml").write_text(
            '[[note]]\nreleases = "1 to 2"\nworkload = "dlrm"\nmetric = "time"\n'
            'text = "slower by design"\nsource = "https://example.invalid/v2"\n'
        )
        self.measure()
        done = self.page()
        self.assertEqual(done.returncode, 1)
        self.assertIn("not measured again: 1 to 2, 2 to 3", done.stderr)
        self.grow_older()
        self.write(
            "document",
            document(verdict("dlrm", "regressed", 1.18), verdict("drq", "regressed", 1.3))
            | {"ended_at": "2026-01-02T00:00:00Z"},
        )
        self.measure()
        self.assertEqual(self.page().returncode, 0)
        text = (self.folder / "releases.md").read_text()
        slower = text.partition("## Slower\n")[2].partition("\n## ")[0]
        self.assertIn(
            "| 1 to 2 | dlrm | cpu-infer | time | +18.0 % [+17.0, +19.0] | +20.0 % [+19.0, +21.0] |"
            " [slower by design](https://example.invalid/v2) |",
            slower,
        )
        self.assertIn("+20.0 % [+19.0, +21.0] |  |", slower.partition("2 to 3")[2])
        self.assertNotIn("drq", slower)  # not of the first
        self.assertIn("4 comparisons, 40 runs in 4.0 hours, 2026-01-02 to 2026-01-02, on a", text)
        for heading in ("Faster", "More memory", "Less memory"):
            self.assertNotIn(f"## {heading}", text)

    def test_on_the_page_each_kind_of_change_stands_where_it_belongs(self) -> None:
        smaller = peak("improved", 0.5) | {"workload": "moco"}
        found = document(verdict("drq", "improved", 0.8), peak("regressed", 1.03), smaller)
        measured: list[Measured] = [(("1", "2"), found, found)]
        text = release_page.page(measured, [], release_page.Where("a machine", "abc"), "command")
        parts = {part.partition("\n")[0]: part for part in text.split("\n## ")}
        self.assertIn("| time | -20.0 %", parts["Faster"])
        self.assertIn("| cpu_peak | +3.0 %", parts["More memory"])
        self.assertIn("| cpu_peak | -50.0 %", parts["Less memory"])
        self.assertNotIn("Slower", parts)
        nothing = release_page.page(
            [(("1", "2"), document(), None)], [], release_page.Where("", ""), ""
        )
        self.assertIn("Nothing of what changed was there the second time.", nothing)

    def test_the_notes_that_are_delivered_can_be_read(self) -> None:
        self.assertIsInstance(release_page.notes_in(release_page.NOTES), list)

    def test_the_table_has_what_stopped_running_and_why(self) -> None:
        lost = verdict("dlrm", "failed", None, candidate_value=0, reason="of a|b")
        self.write("document", document(lost))
        self.measure()
        self.grow_older()
        self.measure()
        out = self.table()
        self.assertIn("| 1 to 2 | 0 | 0 | 0 | 0 | 1 | 0 | - | - |", out)
        self.assertIn("| 1 to 2 | dlrm | cpu-infer | stopped running | of a\\|b | holds |", out)


if __name__ == "__main__":
    unittest.main()

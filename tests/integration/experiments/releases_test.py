"""What releases.py makes of a program's answers, and that it resumes after a stop."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "experiments" / "releases"))

from release_changes import changes_between, mean_change, signed_percent

SCRIPT = Path(__file__).resolve().parents[3] / "tests" / "experiments" / "releases" / "releases.py"

# Answers like torchwatch: what it was asked goes to calls, the document comes from a file.
PROGRAM = """#!/bin/bash
while (($# > 0)) && [[ $1 != compare ]]; do shift; done
echo "$*" >> {folder}/calls
[[ $* != *" $(cat {folder}/fails)" ]] || exit 3
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
    } | more


def document(*verdicts: dict[str, Any]) -> dict[str, Any]:
    return {"verdicts": list(verdicts), "confidence": 0.99}


class Changes(unittest.TestCase):
    def test_a_change_holds_if_the_second_comparison_says_the_same(self) -> None:
        first = document(
            verdict("dlrm", "regressed", 1.2),
            verdict("drq", "improved", 0.8),
            verdict("moco", "regressed", 1.1),
            verdict("maml", "regressed", 1.05),
            verdict("vgg16", "unchanged", 1.0),
        )
        again = document(verdict("dlrm", "regressed", 1.18), verdict("drq", "unchanged", 0.99))
        states = {change.workload: change.state for change in changes_between(first, again)}
        self.assertEqual(states, {"dlrm": "holds", "drq": "not again", "moco": "measured once"})

    def test_memory_that_is_kept_has_a_difference_and_no_ratio(self) -> None:
        leak = verdict(
            "dlrm", "regressed", None, unit="bytes/iteration", candidate_value=4196.0,
            metric="leak_growth",
        )  # fmt: skip
        self.assertEqual(signed_percent(leak), "+4,096 bytes/iteration")
        self.assertEqual(len(changes_between(document(leak), None)), 1)

    def test_the_mean_is_geometric_and_surer_than_its_parts(self) -> None:
        pair = [verdict("dlrm", "regressed", 1.25), verdict("drq", "improved", 0.8)]
        self.assertTrue(mean_change(pair, 0.99).startswith("+0.0 % [-0.7, +0.7] of 2"))
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
        (self.folder / "document.json").write_text(
            json.dumps(document(verdict("dlrm", "regressed", 1.2)))
        )

    def measure(self) -> list[str]:
        """The calls of the program that measuring made."""
        calls = self.folder / "calls"
        calls.write_text("")
        subprocess.run(
            [
                *(sys.executable, SCRIPT, "measure", self.program, self.folder),
                *(f"--release={version}" for version in ("1", "2", "3")),
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        return calls.read_text().splitlines()

    def grow_older(self) -> None:
        file = self.folder / "comparisons.jsonl"
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        for row in rows:
            row["ended_at"] = "2026-01-01T00:00:00+00:00"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def test_each_pair_is_compared_once_and_what_changed_once_more_hours_later(self) -> None:
        self.assertEqual(self.measure(), ["compare 1 2", "compare 2 3"])
        self.assertEqual(self.measure(), [])
        self.grow_older()
        again = "compare --workload=dlrm"
        self.assertEqual(self.measure(), [f"{again} 1 2", f"{again} 2 3"])
        self.grow_older()
        self.assertEqual(self.measure(), [])

    def test_a_pair_that_fails_keeps_no_other_from_being_measured(self) -> None:
        (self.folder / "fails").write_text("1 2")
        self.assertEqual(self.measure(), ["compare 1 2", "compare 2 3"])
        (self.folder / "fails").write_text("none")
        self.assertEqual(self.measure(), ["compare 1 2"])

    def test_the_table_has_every_pair_and_every_change(self) -> None:
        self.measure()
        out = subprocess.run(
            [sys.executable, SCRIPT, "table", self.folder],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        self.assertIn("| 1 to 2 | 1 | 0 | 0 | 0 | - | +20.0 % [+19.0, +21.0] of 1 |", out)
        self.assertIn("| 2 to 3 | dlrm | cpu-infer | time | +20.0 % [+19.0, +21.0] |  | measured",
                      out)  # fmt: skip


if __name__ == "__main__":
    unittest.main()

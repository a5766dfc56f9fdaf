import json
import subprocess
import sys
import unittest
from typing import Any

from support import DEPLOY, ScriptTest

TRUTH = {
    "commits": [{"sha": "a" * 40, "subject": "Slow"}, {"sha": "b" * 40, "subject": "Keep"}],
    "culprits": {"time": {"sha": "a" * 40}, "memory": {"sha": "b" * 40, "bytes_per_call": 4096}},
}


def incident(metric: str, sha: str | None, **effect: Any) -> dict[str, Any]:
    values = {
        "workload": "w",
        "configuration": "cpu-train",
        "metric": metric,
        "interval": [1.1, 1.2],
        "baseline_value": 0,
        "candidate_value": 4096,
        **effect,
    }
    return {
        "title": f"w {metric}",
        "effects": [values],
        "culprit": sha,
        "culprits": [{"commits": [sha]}] if sha else [],
    }


SLOW, KEEPING = incident("time", "a" * 40), incident("leak_growth", "b" * 40)


class JudgeComparison(ScriptTest):
    def judge(
        self,
        incidents: list[dict[str, Any]] | None,
        truth: dict[str, Any] = TRUTH,
        measured: dict[str, Any] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        (self.folder / "truth.json").write_text(json.dumps(truth))
        if measured:
            (self.folder / "true-effect.json").write_text(json.dumps(measured))
        return subprocess.run(
            [sys.executable, DEPLOY / "demonstration" / "judge_comparison.py", self.folder],
            input=json.dumps({"incidents": incidents}),
            text=True,
            capture_output=True,
            check=False,
        )

    def test_both_culprits_named_is_right(self) -> None:
        done = self.judge([SLOW, KEEPING])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("keeps 4096 bytes", done.stdout)

    def test_a_wrong_missing_or_undecided_culprit_is_not(self) -> None:
        undecided = {**SLOW, "culprit": None, "culprits": [{"commits": ["a" * 40, "c" * 40]}]}
        for incidents in (
            [KEEPING],
            [incident("time", "c" * 40), KEEPING],
            [undecided, KEEPING],
            [incident("time", None), KEEPING],
        ):
            self.assertEqual(self.judge(incidents).returncode, 1)

    def test_an_incident_that_was_not_planted_is_not(self) -> None:
        self.assertEqual(self.judge([SLOW, KEEPING, incident("cpu_peak", None)]).returncode, 1)
        self.assertEqual(self.judge([SLOW, KEEPING, incident("time", "c" * 40)]).returncode, 1)

    def test_a_growth_that_is_not_exact_is_not(self) -> None:
        self.assertEqual(
            self.judge([SLOW, incident("leak_growth", "b" * 40, candidate_value=4000)]).returncode,
            1,
        )

    def test_a_day_without_culprits_wants_no_incident(self) -> None:
        none = {"commits": [], "culprits": {"time": None, "memory": None}}
        self.assertEqual(self.judge([], none).returncode, 0)
        self.assertEqual(self.judge([SLOW], none).returncode, 1)

    def test_a_true_ratio_outside_the_interval_is_reported(self) -> None:
        measured = {"time": [{"workload": "w", "mode": "train", "ratio": 1.15}]}
        self.assertEqual(self.judge([SLOW, KEEPING], measured=measured).returncode, 0)
        measured["time"][0]["ratio"] = 1.25
        done = self.judge([SLOW, KEEPING], measured=measured)
        self.assertEqual(done.returncode, 1)
        self.assertIn("NOT IN", done.stdout)

    def test_output_that_is_no_comparison_is_reported(self) -> None:
        done = self.judge(None)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()

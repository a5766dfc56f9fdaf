import json
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[3]
EXPERIMENT = CHECKOUT / "tests" / "experiments" / "planted_days"
sys.path[:0] = [
    str(CHECKOUT / "tests" / "integration" / "deploy"),
    str(CHECKOUT / "deploy" / "demonstration"),
    str(EXPERIMENT),
]

import planted_days  # noqa: E402
import repository  # noqa: E402
import result  # noqa: E402
from support import ScriptTest, write_program  # noqa: E402

PLANTED_SHA, OTHER_SHA = "a" * 40, "b" * 40


def incident(*shas: Any, **more: Any) -> dict[str, Any]:
    effect = {
        "workload": "dlrm",
        "configuration": "cpu-infer",
        "metric": "time",
        "ratio": 1.15,
        "interval": [1.1, 1.2],
        "baseline_value": 100,
        "candidate_value": 115,
    }
    return {
        "title": "dlrm slower",
        "effects": [effect],
        "builds": 4,
        "runs": 30,
        "culprits": [{"commits": [sha]} for sha in shas],
        **more,
    }


class Outcome(unittest.TestCase):
    def test_right_only_where_every_incident_names_the_planted_commit_alone(self) -> None:
        self.assertEqual(result.outcome(PLANTED_SHA, [incident(PLANTED_SHA)]), "right")
        self.assertEqual(
            result.outcome(PLANTED_SHA, [incident(PLANTED_SHA), incident(OTHER_SHA)]), "wrong"
        )
        self.assertEqual(result.outcome(PLANTED_SHA, [incident(PLANTED_SHA, OTHER_SHA)]), "wrong")

    def test_a_set_of_several_commits_names_nobody(self) -> None:
        together = incident(culprits=[{"commits": [PLANTED_SHA, OTHER_SHA]}])
        self.assertEqual(result.outcome(PLANTED_SHA, [together]), "unsure")
        self.assertEqual(result.outcome(PLANTED_SHA, [incident(PLANTED_SHA), together]), "unsure")
        self.assertEqual(result.outcome("c" * 40, [together]), "wrong")

    def test_a_bisection_without_an_answer_names_nobody(self) -> None:
        self.assertEqual(
            result.outcome(PLANTED_SHA, [incident(culprits=[], culprit=None)]), "unsure"
        )

    def test_nothing_found_is_right_on_a_clean_day_alone(self) -> None:
        comparison: dict[str, Any] = {"incidents": [], "verdicts": []}
        for planted in ({"sha": PLANTED_SHA, "place": 3}, None):
            truth = {
                "pr": 71904,
                "seed": 1,
                "with_culprits": bool(planted),
                "commits": [],
                "unbuildable": [],
                "culprits": {"time": planted, "memory": None},
            }
            self.assertEqual(result.row(truth, comparison)["is_right"], not planted)

    def test_blame_on_a_clean_day_is_wrong(self) -> None:
        self.assertEqual(result.outcome(None, [incident(OTHER_SHA)]), "wrong")


def kept_comparison(
    number: int, ratio: float | None, is_planted: bool = True, **more: Any
) -> dict[str, Any]:
    incidents = [incident(PLANTED_SHA)] if ratio else []
    for found in incidents:
        found["effects"][0]["ratio"] = ratio
    return {
        "pr": 71904,
        "number": number,
        "is_planted": is_planted,
        "commits": 34,
        "native": 18,
        "is_right": True,
        "outcome": "right",
        "builds": 5,
        "runs": 100 + number,
        "minutes": 2.4,
        "inconclusive": 1,
        "series": 36,
        "incidents": incidents,
        **more,
    }


class Effects(unittest.TestCase):
    def test_what_has_no_ratio_is_said_in_its_unit(self) -> None:
        def text(metric: str) -> str:
            effect = incident()["effects"][0] | {"metric": metric, "ratio": None}
            return result.effect_text(
                effect | {"baseline_value": 0, "candidate_value": 192_597_549}
            )

        self.assertEqual(text("leak_retained"), "dlrm cpu-infer leak_retained +192,597,549 bytes")
        self.assertEqual(text("output_difference"), "dlrm cpu-infer outputs 19 % apart")


class Table(unittest.TestCase):
    def test_a_day_is_one_line_with_all_its_comparisons(self) -> None:
        lines = result.table(
            [
                kept_comparison(1, None, is_planted=False),
                kept_comparison(2, 1.2),
                kept_comparison(1, 1.1, outcome="wrong", is_right=False),
            ]
        )
        self.assertEqual(
            lines[2],
            "|71904|redundant bound checks|34, 18|1 of 2|wrong|dlrm cpu-infer x 1.100 to 1.200"
            "|5|101 to 102|2|2 of 72|",
        )
        self.assertEqual(
            lines[3], "|71904, clean|redundant bound checks|34, 18|1 of 1|-|-|5|101|2|1 of 36|"
        )
        self.assertEqual(len(lines), 4)


# Answers as torchwatch does: a comparison's status from a file, then the comparison itself.
SERVICE = """#!{python}
import json, os, sys
folder = {folder!r}
with open(os.path.join(folder, "calls"), "a") as calls:
    print(" ".join(sys.argv[1:]), file=calls)
if "--json" in sys.argv:
    print(open(os.path.join(folder, "comparison.json")).read())
    sys.exit(1)
sys.exit(int(open(os.path.join(folder, "status")).read()))
"""


class Comparisons(ScriptTest):
    def setUp(self) -> None:
        super().setUp()
        self.service = self.folder / "torchwatch"
        write_program(self.service, SERVICE.format(python=sys.executable, folder=str(self.folder)))
        (self.folder / "libtorch").mkdir()
        self.days = self.folder / "days"
        self.answer(status=1, incidents=[])

    def answer(self, status: int, incidents: list[dict[str, Any]]) -> None:
        (self.folder / "status").write_text(str(status))
        verdict = {"metric": "time", "verdict": "unchanged", "runs": 8}
        (self.folder / "comparison.json").write_text(
            json.dumps({"incidents": incidents, "verdicts": [verdict]})
        )

    def calls(self) -> list[str]:
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def make_day(self, pr: int) -> tuple[Path, dict[str, Any]]:
        """The repository, and its nightlies as if they were built."""
        folder = self.days / f"{pr}-planted-1"
        truth = planted_days.make_day(folder, pr, 1, True)
        for nightly in truth["nightlies"]:
            tree = folder / "nightlies" / nightly["date"]
            tree.mkdir(parents=True)
            (tree / "build-hash").write_text(nightly["commit"])
        return folder, truth

    def run_days(self, *options: Any) -> subprocess.CompletedProcess[str]:
        return self.run_script(
            EXPERIMENT / "planted_days.py",
            "--folder",
            self.days,
            "--libtorch",
            self.folder / "libtorch",
            "--torchwatch",
            self.service,
            *options,
        )

    def test_the_good_end_is_the_parent_of_the_first_commit_and_the_truth_names_the_change(
        self,
    ) -> None:
        folder, truth = self.make_day(71904)
        line = repository.git(folder / "pytorch.git", "rev-list", "--reverse", "main").split()
        self.assertEqual([nightly["trunk"] for nightly in truth["nightlies"]], [line[0], line[-1]])
        self.assertEqual(truth["culprits"]["time"], {"sha": line[1], "parent": line[0], "place": 1})

    def test_a_finished_comparison_is_kept_and_shown_again(self) -> None:
        _, truth = self.make_day(87855)
        self.answer(status=1, incidents=[incident(truth["culprits"]["time"]["sha"])])
        first = self.run_days("--day", "87855")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("87855, comparison 1: right, as planted; 8 commits", first.stdout)
        self.assertIn("4 builds, 38 runs", first.stdout)
        count = len(self.calls())
        again = self.run_days("--day", "87855")
        self.assertEqual((again.stdout, len(self.calls())), (first.stdout, count))
        self.assertIn("|87855|", self.run_days("--table").stdout)

    def test_a_comparison_that_ended_early_resumes_in_its_own_state(self) -> None:
        folder, _ = self.make_day(61056)
        self.answer(status=3, incidents=[])
        done = self.run_days("--day", "61056")
        self.assertEqual(done.returncode, 1)
        self.assertIn("torchwatch ended with 3", done.stderr)
        self.assertFalse((folder / "comparison-1" / "row.json").exists())
        self.answer(status=0, incidents=[])
        done = self.run_days("--day", "61056")
        self.assertIn("61056, comparison 1: nothing, NOT as planted", done.stdout)
        settings = {call.rsplit(" ", 1)[1] for call in self.calls()}
        self.assertEqual(settings, {str(folder / "comparison-1" / "torchwatch.toml")})
        self.assertEqual(len((folder / "comparison-1" / "seconds").read_text().split()), 2)

    def test_each_comparison_has_a_state_of_its_own_and_builds_are_shared(self) -> None:
        folder, _ = self.make_day(72148)
        self.assertEqual(
            self.run_days(
                "--day", "72148", "--comparisons", "2", "--machine-lock", "mine"
            ).returncode,
            0,
        )
        for number in (1, 2):
            text = (folder / f"comparison-{number}" / "torchwatch.toml").read_text()
            self.assertIn('path = "state/torchwatch.sqlite"', text)
            self.assertIn(f'cache = "{self.days / "builds"}"', text)
            self.assertIn('machine_lock = "mine"', text)
            self.assertIn('workloads = ["nvidia_deeprecommender", ', text)


if __name__ == "__main__":
    unittest.main()

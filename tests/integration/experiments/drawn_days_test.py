import sys
import tomllib
import unittest
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[3]
EXPERIMENT = CHECKOUT / "tests" / "experiments" / "planted_days"
sys.path[:0] = [
    str(CHECKOUT / "tests" / "integration" / "deploy"),
    str(CHECKOUT / "tests" / "support"),
    str(CHECKOUT / "tests" / "experiments"),
    str(CHECKOUT / "deploy" / "demonstration"),
    str(EXPERIMENT),
]

import drawn_days  # noqa: E402
import planted_days  # noqa: E402
import python_day  # noqa: E402
import python_days  # noqa: E402
import result_days  # noqa: E402
import structure  # noqa: E402
from changes import LINEAR  # noqa: E402
from support import ScriptTest  # noqa: E402

SLOW, CHANGING, OTHER = "a" * 40, "b" * 40, "c" * 40
PLANTED = {"regression": SLOW, "result": CHANGING}
SEEDS = range(40)


def incident(kind: str, *shas: str) -> dict[str, Any]:
    return {"kind": kind, "culprits": [{"commits": [sha]} for sha in shas]}


class Outcome(unittest.TestCase):
    def outcome(self, *incidents: dict[str, Any]) -> str:
        return drawn_days.outcome(PLANTED, list(incidents))

    def test_right_only_where_each_kind_names_its_own_commit_and_no_other(self) -> None:
        slow, changing = incident("regression", SLOW), incident("result", CHANGING)
        self.assertEqual(self.outcome(slow, changing), "right")
        self.assertEqual(self.outcome(slow, slow, changing), "right")
        self.assertEqual(self.outcome(slow, incident("result", SLOW)), "wrong")
        self.assertEqual(self.outcome(slow, changing, incident("leak", SLOW)), "wrong")
        self.assertEqual(self.outcome(slow, incident("result", CHANGING, OTHER)), "wrong")

    def test_a_kind_without_an_incident_is_missed(self) -> None:
        self.assertEqual(self.outcome(incident("regression", SLOW)), "missed")
        self.assertEqual(self.outcome(), "missed")

    def test_nobody_or_several_that_cannot_be_told_apart_are_unsure(self) -> None:
        slow = incident("regression", SLOW)
        self.assertEqual(self.outcome(slow, incident("result")), "unsure")
        together = {"kind": "result", "culprits": [{"commits": [CHANGING, OTHER]}]}
        self.assertEqual(self.outcome(slow, together), "unsure")

    def test_on_a_clean_day_nothing_is_right(self) -> None:
        self.assertEqual(drawn_days.outcome({}, []), "right")
        self.assertEqual(drawn_days.outcome({}, [incident("leak")]), "unsure")
        self.assertEqual(drawn_days.outcome({}, [incident("leak", OTHER)]), "wrong")


class PythonDays(unittest.TestCase):
    def test_each_seed_plants_one_commit_of_each_kind_behind_the_older_nightly(self) -> None:
        days = [python_days.drawn(seed) for seed in SEEDS]
        for planted in days:
            self.assertEqual(sorted(planted.values()), sorted(python_day.KINDS))
            self.assertTrue(all(0 < place < python_day.COMMITS for place in planted))
        self.assertGreater(len({tuple(planted) for planted in days}), len(SEEDS) / 2)

    def test_a_commit_changes_one_file_of_the_day_at_one_place(self) -> None:
        for slow in python_days.SLOW.values():
            edits = {**python_day.EDITS, python_day.REGRESSION: slow}
            contents = dict.fromkeys(python_day.TOUCHED, "begin\n")
            for edit in edits.values():
                contents[edit.file] += edit.before + "end\n"
            for number, kind in enumerate(python_day.KINDS):
                found = python_day.changed(number, {number: kind}, contents, slow)
                edit = edits[kind]
                text = contents[edit.file].replace(edit.before, edit.after)
                self.assertEqual(found, {edit.file: text}, kind)

    def test_what_gets_slower_is_measured(self) -> None:
        eager, compiled = (
            tomllib.loads(python_day.configuration("http://127.0.0.1:1/", is_compiled=each))
            for each in (False, True)
        )
        self.assertEqual(eager["suite"]["workloads"], ["mymodel"])
        self.assertEqual(compiled["suite"]["workloads"], ["mymodel", "compiled"])
        for settings in (eager, compiled):
            modes = {each["name"]: each["modes"] for each in settings["suite"]["external"]}
            asked = {
                f"cpu-{mode}" for name in settings["suite"]["workloads"] for mode in modes[name]
            }
            self.assertEqual(asked, set(settings["suite"]["configurations"]))


class ResultDays(unittest.TestCase):
    def kernels(self, seed: int, is_planted: bool) -> list[str]:
        """The kernel of products after each commit of a day."""
        tree, texts = planted_days.tree_with(structure.BLOCKING), []
        for commit in result_days.plan(seed, is_planted):
            for edit in commit.edits:
                edit.apply(tree)
            texts.append(tree[LINEAR])
        return texts

    def test_the_last_bits_change_before_the_first(self) -> None:
        for seed in SEEDS:
            texts = self.kernels(seed, is_planted=True)
            last, first = (
                next(place for place, text in enumerate(texts) if name in text)
                for name in ("block_scale(alpha", "bias_share(beta")
            )
            self.assertLess(last, first, seed)
            kinds = [commit.kind for commit in result_days.plan(seed, is_planted=True)]
            self.assertEqual(kinds.index("result"), first, seed)
            self.assertEqual(kinds.count("result"), 1, seed)

    def test_a_clean_day_differs_in_what_the_later_commit_computes(self) -> None:
        for seed in SEEDS:
            planted, clean = (self.kernels(seed, is_planted)[-1] for is_planted in (True, False))
            self.assertEqual(planted.replace("kShare = 1.5", "kShare = 1.0"), clean, seed)
            self.assertNotEqual(planted, clean, seed)
            kinds = [commit.kind for commit in result_days.plan(seed, is_planted=False)]
            self.assertNotIn("result", kinds, seed)


class Kept(ScriptTest):
    def test_what_is_kept_is_not_made_again_and_half_of_it_is_nothing(self) -> None:
        file = self.folder / "truth.json"
        made: list[dict[str, Any]] = []

        def make() -> dict[str, Any]:
            made.append({"number": len(made)})
            return made[-1]

        def fail() -> dict[str, Any]:
            raise OSError

        self.assertRaises(OSError, drawn_days.kept_or_made, file, fail)
        self.assertEqual(drawn_days.kept_or_made(file, make), {"number": 0})
        self.assertEqual(drawn_days.kept_or_made(file, make), {"number": 0})
        self.assertEqual(len(made), 1)


if __name__ == "__main__":
    unittest.main()

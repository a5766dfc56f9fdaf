import csv
import json
import subprocess
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

import changes
import day
import repository
from day import PlannedCommit
from support import CHECKOUT, DEPLOY, ScriptTest

SEEDS = range(60)
REAL_DAYS = CHECKOUT.parent / "shared" / "reference" / "pytorch-commits"


def places(planned: list[PlannedCommit], kind: str) -> list[int]:
    return [place for place, commit in enumerate(planned) if commit.kind == kind]


class Plan(unittest.TestCase):
    def test_every_day_has_forty_commits_of_which_a_third_are_sources_of_the_library(self) -> None:
        for seed in SEEDS:
            planned = day.plan(seed, True)
            self.assertEqual(len(planned), 40)
            self.assertEqual(sum(commit.kind != "none" for commit in planned), 14)

    def test_the_culprits_lie_apart_and_away_from_the_ends(self) -> None:
        for seed in SEEDS:
            planned = day.plan(seed, True)
            (slow,), (keeping,) = places(planned, "time"), places(planned, "memory")
            self.assertGreaterEqual(abs(slow - keeping), 3)
            for place in (slow, keeping):
                self.assertTrue(4 <= place <= 36, f"seed {seed}: {place}")

    def test_the_culprits_move_with_the_seed(self) -> None:
        self.assertGreater(len({tuple(places(day.plan(seed, True), "time")) for seed in SEEDS}), 10)

    def test_what_does_not_compile_is_put_right_by_the_next_commit(self) -> None:
        for seed in SEEDS:
            kinds = [commit.kind for commit in day.plan(seed, True)]
            self.assertEqual(kinds.count("broken"), 2)
            for place, kind in enumerate(kinds):
                self.assertEqual(kind == "repair", place > 0 and kinds[place - 1] == "broken")

    def test_without_culprits_only_the_contents_of_two_commits_differ(self) -> None:
        for seed in SEEDS:
            with_culprits, without = day.plan(seed, True), day.plan(seed, False)
            self.assertEqual([c.subject for c in with_culprits], [c.subject for c in without])
            differing = [
                a.kind for a, b in zip(with_culprits, without, strict=True) if a.edits != b.edits
            ]
            self.assertEqual(sorted(differing), ["memory", "time"])
            self.assertFalse({"time", "memory"} & {commit.kind for commit in without})

    def test_committer_times_never_go_back_and_some_are_equal(self) -> None:
        for seed in SEEDS:
            times = [commit.committer_time for commit in day.plan(seed, True)]
            self.assertEqual(times, sorted(times))
            self.assertLess(len(set(times)), len(times))
            self.assertLess(times[-1], day.DAY_START + day.DAY_SECONDS)

    def test_every_edit_finds_its_place_in_any_order_that_a_seed_draws(self) -> None:
        for seed in SEEDS:
            tree = repository.base_tree(DEPLOY / "demonstration" / "tree")
            for commit in day.plan(seed, True):
                for edit in commit.edits:
                    edit.apply(tree)
            self.assertIn(f"kWarmUpPercent = {changes.WARM_UP_PERCENT};", tree[changes.LINEAR])

    def test_no_subject_is_one_of_the_real_days(self) -> None:
        if not REAL_DAYS.is_dir():
            print("skipped: reference data not at hand")
            return
        real = set()
        for file in REAL_DAYS.glob("20*.csv"):
            with file.open(newline="", encoding="utf-8") as rows:
                real |= {row["subject"].rsplit(" (#", 1)[0] for row in csv.DictReader(rows)}
        ours = {
            commit.subject.rsplit(" (#", 1)[0] for seed in SEEDS for commit in day.plan(seed, True)
        }
        self.assertEqual(ours & real, set())


class Repository(ScriptTest):
    def make(self, name: str, *options: Any) -> tuple[Path, dict[str, Any]]:
        folder = self.folder / name
        done = self.run_script(DEPLOY / "demonstration" / "planted_day.py", folder, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return folder, json.loads((folder / "truth.json").read_text())

    def git(self, folder: Path, *arguments: str) -> str:
        return repository.git(folder / "pytorch.git", *arguments)

    def test_the_same_seed_gives_the_same_shas(self) -> None:
        first, again = self.make("first", "--seed", "7"), self.make("again", "--seed", "7")
        self.assertEqual(first[1], again[1])
        self.assertEqual(
            self.git(first[0], "rev-parse", "main", "nightly"),
            self.git(again[0], "rev-parse", "main", "nightly"),
        )
        self.assertNotEqual(first[1]["commits"], self.make("other", "--seed", "8")[1]["commits"])

    def test_shas_stay_as_they_are_from_one_version_of_the_generator_to_the_next(self) -> None:
        # A change here is allowed, but every printed sha and every cached build changes with it.
        known = (Path(__file__).parent / "seed-1.sha").read_text().strip()
        self.assertEqual(self.make("day")[1]["commits"][-1]["sha"], known)

    def test_the_truth_names_the_commits_that_hold_the_planted_changes(self) -> None:
        folder, truth = self.make("day", "--seed", "3")
        for kind, path in (("time", changes.LINEAR), ("memory", changes.LOSS)):
            culprit = truth["culprits"][kind]
            self.assertEqual(
                self.git(folder, "rev-parse", culprit["sha"] + "^").strip(), culprit["parent"]
            )
            changed = self.git(
                folder, "diff", "--name-only", culprit["parent"], culprit["sha"]
            ).split()
            self.assertEqual(changed, [path])

    def test_the_history_is_one_line_of_forty_commits_on_a_root(self) -> None:
        folder, truth = self.make("day", "--seed", "4")
        line = self.git(
            folder, "rev-list", "--reverse", "--topo-order", "--first-parent", "main"
        ).split()
        self.assertEqual(line[1:], [commit["sha"] for commit in truth["commits"]])
        self.assertEqual(self.git(folder, "rev-list", "--merges", "main"), "")
        self.assertEqual(self.git(folder, "fsck", "--strict"), "")

    def test_a_third_of_the_commits_touch_sources_and_the_rest_none(self) -> None:
        folder, truth = self.make("day", "--seed", "5")
        for commit in truth["commits"]:
            changed = self.git(
                folder, "diff-tree", "--no-commit-id", "--name-only", "-r", commit["sha"]
            ).split()
            self.assertTrue(changed, commit)
            self.assertEqual(
                any(path.startswith("aten/") for path in changed), commit["kind"] != "none", commit
            )

    def test_a_nightly_names_its_trunk_commit_and_has_its_tree(self) -> None:
        folder, truth = self.make("day", "--seed", "6")
        self.assertEqual(
            [nightly["trunk"] for nightly in truth["nightlies"]],
            [truth["commits"][0]["sha"], truth["commits"][-1]["sha"]],
        )
        for nightly in truth["nightlies"]:
            subject = self.git(folder, "log", "-1", "--format=%s", nightly["commit"]).strip()
            self.assertEqual(subject, f"{nightly['date']} nightly release ({nightly['trunk']})")
            trees = self.git(
                folder, "rev-parse", nightly["commit"] + "^{tree}", nightly["trunk"] + "^{tree}"
            ).split()
            self.assertEqual(trees[0], trees[1])

    def test_a_culprit_can_be_reverted_on_top_of_the_day(self) -> None:
        for seed in range(8):
            folder, truth = self.make(f"day-{seed}", "--seed", str(seed))
            work = self.folder / f"work-{seed}"
            subprocess.run(["git", "clone", "--quiet", folder / "pytorch.git", work], check=True)
            for culprit in truth["culprits"].values():
                done = self.run_script(
                    "git",
                    "-C",
                    work,
                    "-c",
                    "user.name=Nobody",
                    "-c",
                    "user.email=nobody@example.invalid",
                    "revert",
                    "--no-edit",
                    culprit["sha"],
                )
                self.assertEqual(done.returncode, 0, f"seed {seed}: {done.stdout}{done.stderr}")

    def test_nothing_but_the_truth_says_that_the_day_is_planted(self) -> None:
        folder, _ = self.make("day")
        everything = self.git(folder, "log", "--patch", "--all").lower()
        self.assertEqual(
            [word for word in ("planted", "culprit", "torchwatch") if word in everything], []
        )

    def test_a_folder_with_another_day_is_left_alone(self) -> None:
        folder, truth = self.make("day", "--seed", "1")
        done = self.run_script(DEPLOY / "demonstration" / "planted_day.py", folder, "--seed", "2")
        self.assertEqual(done.returncode, 1)
        self.assertIn("holds another day (seed 1)", done.stderr)
        self.assertEqual(json.loads((folder / "truth.json").read_text()), truth)

    def test_the_users_git_configuration_does_not_matter(self) -> None:
        plain = self.make("plain")[1]
        odd = self.folder / "odd-config"
        odd.write_text(
            "[commit]\ngpgsign = true\n[init]\ndefaultBranch = trunk\n[core]\nautocrlf = true\n"
        )
        done = self.run_script(
            DEPLOY / "demonstration" / "planted_day.py",
            self.folder / "odd",
            GIT_CONFIG_GLOBAL=str(odd),
            GIT_AUTHOR_NAME="Somebody",
            TZ="Asia/Tokyo",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads((self.folder / "odd" / "truth.json").read_text()), plain)


class Mixture(unittest.TestCase):
    def test_kinds_of_commits_are_as_on_an_ordinary_day(self) -> None:
        kinds = Counter(commit.kind for commit in day.plan(1, True))
        self.assertEqual(
            kinds, {"none": 26, "harmless": 8, "broken": 2, "repair": 2, "time": 1, "memory": 1}
        )


if __name__ == "__main__":
    unittest.main()

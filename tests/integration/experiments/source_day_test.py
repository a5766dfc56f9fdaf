"""The source day: its plan and its builds. The source itself is tried where it is at
hand: TORCHWATCH_SOURCE_DAY names the experiment's folder."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
EXPERIMENTS = CHECKOUT / "tests" / "experiments"
sys.path[:0] = [
    str(CHECKOUT / "tests" / "integration" / "deploy"),
    str(CHECKOUT / "deploy" / "demonstration"),
    str(EXPERIMENTS),
    str(EXPERIMENTS / "planted_days"),
    str(EXPERIMENTS / "source_day"),
]

import day  # noqa: E402
import day_folder  # noqa: E402
import plain_bisection  # noqa: E402
import planted  # noqa: E402
import repository  # noqa: E402
import source_builds  # noqa: E402
import source_plan  # noqa: E402
from changes import Change, Edit  # noqa: E402
from support import ScriptTest, write_program  # noqa: E402

BASE = Path(os.environ.get("TORCHWATCH_SOURCE_DAY", CHECKOUT / "build" / "source-day")) / "base.git"
SEEDS = range(8)


class Plan(unittest.TestCase):
    def test_the_same_seed_gives_the_same_day_and_another_one_another_order(self) -> None:
        one, again, other = (source_plan.plan(seed) for seed in (1, 1, 2))
        self.assertEqual(one, again)
        self.assertNotEqual([c.kind for c in one], [c.kind for c in other])
        self.assertEqual(sorted(c.kind for c in one), sorted(c.kind for c in other))

    def test_a_day_has_all_that_it_is_to_have(self) -> None:
        for seed in SEEDS:
            kinds = [commit.kind for commit in source_plan.plan(seed)]
            self.assertGreaterEqual(len(kinds), 24)
            for name in (*planted.CULPRITS, planted.READS_LIKE_A_SLOWDOWN.kind):
                self.assertEqual(kinds.count(name), 1)
            self.assertEqual(kinds.count("broken"), 2)

    def test_what_does_not_compile_is_put_right_by_the_next_commit(self) -> None:
        for seed in SEEDS:
            kinds = [commit.kind for commit in source_plan.plan(seed)]
            for place, kind in enumerate(kinds):
                self.assertEqual(kind == "repair", place > 0 and kinds[place - 1] == "broken")
            self.assertNotEqual(kinds[-1], "broken")

    def test_commits_land_within_the_day_one_after_the_other(self) -> None:
        times = [commit.committer_time - day.DAY_START for commit in source_plan.plan(3)]
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[0], 0)
        self.assertLess(times[-1], day.DAY_SECONDS)

    def test_what_is_measured_is_in_the_suite(self) -> None:
        lines = (CHECKOUT / "models" / "workloads.txt").read_text().splitlines()
        suite = {line.split()[0] for line in lines if line and not line.startswith("#")}
        self.assertLessEqual(set(planted.WORKLOADS), suite)

    def test_all_changes_apply_and_culprits_can_be_reverted_at_the_end(self) -> None:
        if not BASE.is_dir():
            print("skipped: reference data not at hand")
            return
        texts = source_plan.edited(BASE)
        for seed in SEEDS:
            tree = dict(texts)
            commits = source_plan.plan(seed)
            for edit in (edit for commit in commits for edit in commit.edits):
                edit.apply(tree)
            for commit in (commit for commit in commits if commit.kind in planted.CULPRITS):
                reverted = dict(tree)
                for edit in reversed(commit.edits):
                    edit.inverse().apply(reverted)
                without = dict(texts)
                for edit in (edit for other in commits if other != commit for edit in other.edits):
                    edit.apply(without)
                self.assertEqual(reverted, without, commit.kind)


class Repository(ScriptTest):
    def test_a_day_begins_with_the_only_commit_of_another_repository(self) -> None:
        base, bare = self.folder / "base.git", self.folder / "day.git"
        first = [day.PlannedCommit("Begin", "", 1, 100, 100, (), "none")]
        repository.git(base, "init", "--quiet", "--bare", "--initial-branch=main")
        files = {"a.txt": "one two\n", "b.txt": "left alone\n"}
        (root, *_) = repository.write_trunk(base, files, first)
        repository.git(base, "update-ref", "refs/heads/main", root)
        edit = Edit("a.txt", "two", "three")
        planned = [day.PlannedCommit("Count to three", "", 2, 150, 200, (edit,), "leak")]
        known = day_folder.write(bare, {"a.txt": "one two\n"}, planned, [(0, 110), (-1, 300)], base)
        self.assertEqual(known["nightlies"][0]["trunk"], root)
        self.assertEqual(repository.git(bare, "show", "nightly:a.txt"), "one three\n")
        self.assertEqual(repository.git(bare, "show", "nightly:b.txt"), "left alone\n")
        self.assertEqual(day_folder.planted(known, bare, "leak")["parent"], root)  # type: ignore[index]

    def commits(self, count: int) -> list[str]:
        """That many commits in self.folder / "day.git"."""
        bare = self.folder / "day.git"
        repository.git(bare, "init", "--quiet", "--bare", "--initial-branch=main")
        planned = [
            day.PlannedCommit(
                f"Change {n}", "", 1, 200 + n, 200 + n, (Edit("a", "", f"{n}\n"),), ""
            )
            for n in range(count)
        ]
        return repository.write_trunk(bare, {"a": "0\n"}, planned)

    def bisected(self, shas: list[str], culprit: int, skipped: set[int]) -> list[int]:
        def judge(sha: str) -> str:
            place = shas.index(sha)
            return "skip" if place in skipped else "bad" if place >= culprit else "good"

        found = plain_bisection.search(
            self.folder, self.folder / "day.git", shas[0], shas[-1], judge
        )
        return sorted(map(shas.index, found))

    def test_git_bisect_ends_with_the_commit_or_with_those_that_cannot_be_told_apart(self) -> None:
        shas = self.commits(20)
        self.assertEqual(self.bisected(shas, 13, {5}), [13])
        self.assertEqual(self.bisected(shas, 1, set()), [1])
        self.assertEqual(self.bisected(shas, 10, {9, 10}), [9, 10, 11])


RECIPE = """#!/bin/sh
echo called >> "$TORCHWATCH_PYTORCH_WORK/calls"
{body}
"""


class Builds(ScriptTest):
    def build(self, body: str) -> int:
        recipe = self.folder / "recipe"
        write_program(recipe, RECIPE.format(body=body))
        self.work = self.folder / "work"
        self.work.mkdir(exist_ok=True)
        variables = source_builds.environment(self.work, self.folder, self.folder / "ccache")
        variables["TORCHWATCH_RECIPE"] = str(recipe)
        variables["TORCHWATCH_BUILD_FOR"] = "somebody"
        return source_builds.build("a" * 40, self.folder / "tree", 2, variables)

    def test_a_build_appears_when_it_is_whole_and_its_time_is_kept(self) -> None:
        done = 'echo done > "$TORCHWATCH_PREFIX/build-hash"'
        self.assertEqual([self.build(done), self.build(done)], [0, 0])
        self.assertEqual((self.work / "calls").read_text(), "called\n")
        first, last = source_builds.rows(self.work)
        self.assertEqual((first["event"], last["event"]), ("begun", "ended"))
        self.assertEqual((last["commit"], last["status"]), ("a" * 40, 0))
        self.assertEqual((last["for"], len(last["load"])), ("somebody", 3))

    def test_a_commit_that_does_not_compile_leaves_no_build(self) -> None:
        self.assertEqual(self.build("exit 125"), source_builds.UNBUILDABLE)
        self.assertFalse((self.folder / "tree").exists())

    def test_a_line_that_was_not_finished_is_dropped_by_the_next_call(self) -> None:
        times = self.folder / "work" / "builds.jsonl"
        times.parent.mkdir()
        times.write_text('{"commit": "b", "event": "begun"}\n{"commit": "b", "ev')
        self.assertEqual([row["commit"] for row in source_builds.rows(times.parent)], ["b"])
        self.build("exit 125")
        commits = [row["commit"] for row in source_builds.rows(times.parent)]
        self.assertEqual(commits, ["b", "a" * 40, "a" * 40])

    def test_a_stop_reaches_all_that_the_recipe_started_and_is_kept(self) -> None:
        fifo = self.folder / "began"
        os.mkfifo(fifo)
        write_program(self.folder / "recipe", f"#!/bin/sh\necho $$ > {fifo}\nexec sleep 1000\n")
        times = self.folder / "builds.jsonl"
        called = dict(
            os.environ,
            TORCHWATCH_RECIPE=str(self.folder / "recipe"),
            TORCHWATCH_PYTORCH_WORK=str(self.folder),
            TORCHWATCH_COMMIT="a" * 40,
        )
        with subprocess.Popen([source_builds.TIMED_RECIPE], env=called) as child:
            recipe = int(fifo.read_text())
            child.terminate()
            self.assertNotEqual(child.wait(), 0)
        self.assertRaises(ProcessLookupError, os.kill, recipe, 0)
        self.assertNotEqual(json.loads(times.read_text().splitlines()[-1])["status"], 0)


class Edits(unittest.TestCase):
    def test_no_two_changes_have_a_subject_in_common(self) -> None:
        changes: list[Change] = [change for block in source_plan.blocks() for change in block]
        subjects = [change.subject for change in changes]
        self.assertEqual(len(subjects), len(set(subjects)))

    def test_each_kind_of_edit_has_its_cost(self) -> None:
        def cost(*paths: str) -> str:
            return source_plan.cost_of(tuple(Edit(path, "", "") for path in paths))

        self.assertEqual(cost("docs/a.rst"), "no source")
        self.assertEqual(cost("aten/src/ATen/native/cpu/A.cpp"), "kernel")
        self.assertEqual(cost("c10/core/A.cpp", "c10/core/A.h"), "leaf header")
        self.assertEqual(cost(planted.WIDE_HEADER), "wide header")


if __name__ == "__main__":
    unittest.main()

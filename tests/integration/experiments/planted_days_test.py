import csv
import os
import subprocess
import sys
import time
import unittest
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
EXPERIMENT = CHECKOUT / "tests" / "experiments" / "planted_days"
sys.path[:0] = [
    str(CHECKOUT / "tests" / "integration" / "deploy"),
    str(CHECKOUT / "deploy" / "demonstration"),
    str(EXPERIMENT),
]

import day  # noqa: E402
import planted_days  # noqa: E402
import structure  # noqa: E402
from mechanisms import TABLE_4  # noqa: E402
from support import ScriptTest  # noqa: E402

LIBTORCH = os.environ.get("TORCHWATCH_LIBTORCH", "")
REAL_DAYS = CHECKOUT.parent / "shared" / "reference" / "pytorch-commits"
SEEDS = range(12)
PLANTED = ("time", "memory")


def days() -> Iterator[
    tuple[structure.Structure, int, list[day.PlannedCommit], list[day.PlannedCommit]]
]:
    """Each day with some seeds, with its change and without."""
    for pr, real in structure.structures().items():
        for seed in SEEDS:
            planted, clean = (
                structure.plan(real, TABLE_4[pr], seed, is_planted) for is_planted in (True, False)
            )
            yield real, seed, planted, clean


def trees(pr: int, planned: list[day.PlannedCommit]) -> Iterator[dict[str, str]]:
    """The day's files after each of its commits."""
    tree = planted_days.tree_of(TABLE_4[pr])
    for commit in planned:
        for edit in commit.edits:
            edit.apply(tree)
        yield dict(tree)


class Structures(unittest.TestCase):
    def test_there_is_a_day_for_each_change_of_the_table(self) -> None:
        self.assertEqual(set(structure.structures()), set(TABLE_4))
        self.assertEqual(
            {
                pr: (len(real.seconds), real.position + 1)
                for pr, real in structure.structures().items()
            },
            {
                61056: (13, 11),
                65594: (39, 32),
                71904: (34, 1),
                72148: (17, 14),
                65839: (49, 23),
                85447: (68, 30),
                87855: (8, 2),
            },
        )

    def test_times_never_go_back_and_stay_in_the_day(self) -> None:
        for real in structure.structures().values():
            self.assertEqual(list(real.seconds), sorted(real.seconds))
            self.assertTrue(real.seconds[0] >= 0 and real.seconds[-1] < day.DAY_SECONDS)

    def test_they_are_those_of_the_real_days(self) -> None:
        if not REAL_DAYS.is_dir():
            print("skipped: reference data not at hand")
            return
        for real in structure.structures().values():
            with (REAL_DAYS / f"{day_of(real)}.csv").open(newline="", encoding="utf-8") as rows:
                times = [row["committer_time"][11:19] for row in csv.DictReader(rows)]
            clock = [f"{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}" for s in real.seconds]
            self.assertEqual(times, clock, real.pr)


def day_of(real: structure.Structure) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(real.day_start))


class Plan(unittest.TestCase):
    def test_the_change_stands_at_its_place_and_the_commits_at_their_times(self) -> None:
        for real, seed, planned, _ in days():
            kinds = [commit.kind for commit in planned]
            self.assertEqual(
                [place for place, kind in enumerate(kinds) if kind in PLANTED],
                [real.position],
                seed,
            )
            self.assertEqual([commit.committer_time for commit in planned], real.times)

    def test_about_45_percent_are_native(self) -> None:
        native = total = 0
        for _, _, planned, _ in days():
            native += sum(commit.kind != "none" for commit in planned) - 1
            total += len(planned) - 1
        self.assertTrue(0.41 < native / total < 0.49, native / total)

    def test_the_clean_day_differs_in_the_contents_of_one_commit(self) -> None:
        for real, seed, planned, clean in days():
            self.assertEqual([c.subject for c in planned], [c.subject for c in clean])
            self.assertEqual(
                [
                    place
                    for place, (a, b) in enumerate(zip(planned, clean, strict=True))
                    if a.edits != b.edits
                ],
                [real.position],
                f"{real.pr} seed {seed}",
            )
            self.assertFalse({commit.kind for commit in clean} & set(PLANTED))

    def test_what_does_not_compile_is_put_right_before_the_change_or_begins_behind_it(self) -> None:
        for real, seed, planned, _ in days():
            kinds = [commit.kind for commit in planned]
            self.assertLessEqual(kinds.count("broken"), 1)
            self.assertEqual(kinds.count("broken"), kinds.count("repair"))
            if "broken" in kinds:
                first, second = kinds.index("broken"), kinds.index("repair")
                self.assertTrue(
                    first < second < real.position or real.position < first < second,
                    f"{real.pr} {seed}",
                )

    def test_every_edit_finds_its_place(self) -> None:
        for real, _, planned, clean in days():
            for commits in (planned, clean):
                self.assertEqual(len(list(trees(real.pr, commits))), len(real.seconds))

    def test_the_change_can_be_reverted_at_the_day_s_end(self) -> None:
        for real, seed, planned, _ in days():
            *_, tree = trees(real.pr, planned)
            for edit in reversed(planned[real.position].edits):
                edit.inverse().apply(tree)
            others = planned[: real.position] + planned[real.position + 1 :]
            *_, without = trees(real.pr, others)
            self.assertEqual(tree, without, f"{real.pr} seed {seed}")

    def test_the_same_seed_gives_the_same_day_and_another_one_another(self) -> None:
        real = structure.structures()[85447]
        one, again, other = (structure.plan(real, TABLE_4[85447], seed, True) for seed in (1, 1, 2))
        self.assertEqual(one, again)
        self.assertNotEqual([c.kind for c in one], [c.kind for c in other])

    def test_what_is_measured_exists_and_has_two_workloads_that_are_not_touched(self) -> None:
        suite = {
            line.split()[0]
            for line in (CHECKOUT / "models" / "workloads.txt").read_text().splitlines()
            if line and not line.startswith("#")
        }
        for mechanism in TABLE_4.values():
            self.assertEqual(len(mechanism.others), 2)
            self.assertLessEqual(set(mechanism.workloads), suite)
            self.assertFalse(set(mechanism.touched) & set(mechanism.others))


@unittest.skipUnless(LIBTORCH and Path(LIBTORCH, "lib").is_dir(), "no LibTorch is configured")
class Kernels(ScriptTest):
    def compile_kernels(self, tree: dict[str, str], source: str) -> Path:
        for path, text in tree.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        library = self.folder / "kernels.so"
        done = subprocess.run(
            [
                "g++",
                "-std=c++20",
                "-shared",
                "-fPIC",
                "-isystem",
                f"{LIBTORCH}/include",
                "-isystem",
                f"{LIBTORCH}/include/torch/csrc/api/include",
                self.folder / source,
                "-o",
                library,
                f"-L{LIBTORCH}/lib",
                "-Wl,--no-as-needed",
                "-ltorch_cpu",
                "-lc10",
                f"-Wl,-rpath,{LIBTORCH}/lib",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return library

    def test_each_planted_change_compiles_and_is_taken_by_the_dispatcher(self) -> None:
        for pr, real in structure.structures().items():
            tree = list(trees(pr, structure.plan(real, TABLE_4[pr], 1, True)))[real.position]
            library = self.compile_kernels(tree, TABLE_4[pr].file)
            done = subprocess.run(
                [sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", library],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, f"{pr}: {done.stderr}")


if __name__ == "__main__":
    unittest.main()

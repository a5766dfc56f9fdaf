import csv
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
BENCHMARK = CHECKOUT / "tests" / "benchmarks" / "planted_days"
sys.path[:0] = [str(CHECKOUT / "tests" / "integration" / "deploy"), str(BENCHMARK)]

from support import ScriptTest, write_program  # noqa: E402

import day  # noqa: E402
import planted_days  # noqa: E402
import repository  # noqa: E402
import result  # noqa: E402
import structure  # noqa: E402
from mechanisms import TABLE_4  # noqa: E402

LIBTORCH = os.environ.get("TORCHWATCH_LIBTORCH", "")
REAL_DAYS = CHECKOUT.parent / "shared" / "reference" / "pytorch-commits"
SEEDS = range(12)
PLANTED = ("time", "memory")


def days():
    """Each day with some seeds, with its change and without."""
    for pr, real in structure.structures().items():
        for seed in SEEDS:
            yield real, seed, *(structure.plan(real, TABLE_4[pr], seed, planted) for planted in (True, False))


def trees(pr, planned):
    """The day's files after each of its commits."""
    tree = planted_days.tree_of(TABLE_4[pr])
    for commit in planned:
        for edit in commit.edits:
            edit.apply(tree)
        yield dict(tree)


class Structures(unittest.TestCase):
    def test_there_is_a_day_for_each_change_of_the_table(self):
        self.assertEqual(set(structure.structures()), set(TABLE_4))
        self.assertEqual({pr: (len(real.seconds), real.position + 1) for pr, real in structure.structures().items()},
                         {61056: (13, 11), 65594: (39, 32), 71904: (34, 1), 72148: (17, 14), 65839: (49, 23),
                          85447: (68, 30), 87855: (8, 2)})

    def test_times_never_go_back_and_stay_in_the_day(self):
        for real in structure.structures().values():
            self.assertEqual(list(real.seconds), sorted(real.seconds))
            self.assertTrue(0 <= real.seconds[0] and real.seconds[-1] < day.DAY_SECONDS)

    def test_they_are_those_of_the_real_days(self):
        if not REAL_DAYS.is_dir():
            print("skipped: reference data not at hand")
            return
        for real in structure.structures().values():
            with open(REAL_DAYS / f"{day_of(real)}.csv", newline="", encoding="utf-8") as rows:
                times = [row["committer_time"][11:19] for row in csv.DictReader(rows)]
            clock = [f"{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}" for s in real.seconds]
            self.assertEqual(times, clock, real.pr)


def day_of(real):
    return planted_days.day_folder.time.strftime("%Y-%m-%d", planted_days.day_folder.time.gmtime(real.day_start))


class Plan(unittest.TestCase):
    def test_the_change_stands_at_its_place_and_the_commits_at_their_times(self):
        for real, seed, planned, _ in days():
            kinds = [commit.kind for commit in planned]
            self.assertEqual([place for place, kind in enumerate(kinds) if kind in PLANTED], [real.position], seed)
            self.assertEqual([commit.committer_time for commit in planned], real.times)

    def test_about_45_percent_are_native(self):
        native = total = 0
        for _, _, planned, _ in days():
            native += sum(commit.kind != "none" for commit in planned) - 1
            total += len(planned) - 1
        self.assertTrue(0.41 < native / total < 0.49, native / total)

    def test_the_clean_day_differs_in_the_contents_of_one_commit(self):
        for real, seed, planned, clean in days():
            self.assertEqual([c.subject for c in planned], [c.subject for c in clean])
            self.assertEqual([place for place, (a, b) in enumerate(zip(planned, clean)) if a.edits != b.edits],
                             [real.position], f"{real.pr} seed {seed}")
            self.assertFalse({commit.kind for commit in clean} & set(PLANTED))

    def test_what_does_not_compile_is_put_right_before_the_change_or_begins_behind_it(self):
        for real, seed, planned, _ in days():
            kinds = [commit.kind for commit in planned]
            self.assertLessEqual(kinds.count("broken"), 1)
            self.assertEqual(kinds.count("broken"), kinds.count("repair"))
            if "broken" in kinds:
                first, second = kinds.index("broken"), kinds.index("repair")
                self.assertTrue(first < second < real.position or real.position < first < second, f"{real.pr} {seed}")

    def test_every_edit_finds_its_place(self):
        for real, _, planned, clean in days():
            for commits in (planned, clean):
                self.assertEqual(len(list(trees(real.pr, commits))), len(real.seconds))

    def test_the_change_can_be_reverted_at_the_day_s_end(self):
        for real, _, planned, _ in days():
            *_, tree = trees(real.pr, planned)
            for edit in reversed(planned[real.position].edits):
                edit.inverse().apply(tree)

    def test_the_same_seed_gives_the_same_day_and_another_one_another(self):
        real = structure.structures()[85447]
        one, again, other = (structure.plan(real, TABLE_4[85447], seed, True) for seed in (1, 1, 2))
        self.assertEqual(one, again)
        self.assertNotEqual([c.kind for c in one], [c.kind for c in other])

    def test_what_is_measured_exists_and_has_two_workloads_that_are_not_touched(self):
        suite = {line.split()[0] for line in (CHECKOUT / "models" / "workloads.txt").read_text().splitlines()
                 if line and not line.startswith("#")}
        for mechanism in TABLE_4.values():
            self.assertEqual(len(mechanism.others), 2)
            self.assertLessEqual(set(mechanism.workloads), suite)
            self.assertFalse(set(mechanism.touched) & set(mechanism.others))


@unittest.skipUnless(LIBTORCH and Path(LIBTORCH, "lib").is_dir(), "no LibTorch is configured")
class Kernels(ScriptTest):
    def compile_kernels(self, tree, source):
        for path, text in tree.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        library = self.folder / "kernels.so"
        done = subprocess.run(
            ["g++", "-std=c++20", "-shared", "-fPIC", "-isystem", f"{LIBTORCH}/include", "-isystem",
             f"{LIBTORCH}/include/torch/csrc/api/include", self.folder / source, "-o", library, f"-L{LIBTORCH}/lib",
             "-Wl,--no-as-needed", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{LIBTORCH}/lib"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return library

    def test_each_planted_change_compiles_and_is_taken_by_the_dispatcher(self):
        for pr, real in structure.structures().items():
            tree = list(trees(pr, structure.plan(real, TABLE_4[pr], 1, True)))[real.position]
            library = self.compile_kernels(tree, TABLE_4[pr].file)
            done = subprocess.run([sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", library],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{pr}: {done.stderr}")


PLANTED_SHA, OTHER_SHA = "a" * 40, "b" * 40


def incident(*shas, **more):
    effect = {"workload": "dlrm", "configuration": "cpu-infer", "metric": "time", "ratio": 1.15,
              "interval": [1.1, 1.2], "baseline_value": 100, "candidate_value": 115}
    return {"title": "dlrm slower", "effects": [effect], "builds": 4, "runs": 30,
            "culprits": [{"commits": [sha]} for sha in shas], **more}


class Outcome(unittest.TestCase):
    def test_right_only_where_every_incident_names_the_planted_commit_alone(self):
        self.assertEqual(result.outcome(PLANTED_SHA, [incident(PLANTED_SHA)]), "right")
        self.assertEqual(result.outcome(PLANTED_SHA, [incident(PLANTED_SHA), incident(OTHER_SHA)]), "wrong")
        self.assertEqual(result.outcome(PLANTED_SHA, [incident(PLANTED_SHA, OTHER_SHA)]), "wrong")

    def test_a_set_that_cannot_be_told_apart_names_nobody(self):
        together = incident(culprits=[{"commits": [PLANTED_SHA, OTHER_SHA]}])
        self.assertEqual(result.outcome(PLANTED_SHA, [together]), "unsure")
        self.assertEqual(result.outcome(PLANTED_SHA, [incident(PLANTED_SHA), together]), "unsure")
        self.assertEqual(result.outcome("c" * 40, [together]), "wrong")

    def test_a_search_without_an_answer_names_nobody(self):
        self.assertEqual(result.outcome(PLANTED_SHA, [incident(culprits=[], culprit=None)]), "unsure")

    def test_nothing_found_is_right_on_a_clean_day_alone(self):
        night = {"incidents": [], "verdicts": []}
        for planted in ({"sha": PLANTED_SHA, "place": 3}, None):
            truth = {"pr": 71904, "seed": 1, "with_culprits": bool(planted), "commits": [], "unbuildable": [],
                     "culprits": {"time": planted, "memory": None}}
            self.assertEqual(result.row(truth, night)["is_right"], not planted)

    def test_blame_on_a_clean_day_is_wrong(self):
        self.assertEqual(result.outcome(None, [incident(OTHER_SHA)]), "wrong")


def kept_night(number, ratio, is_planted=True, **more):
    incidents = [incident(PLANTED_SHA)] if ratio else []
    for found in incidents:
        found["effects"][0]["ratio"] = ratio
    return {"pr": 71904, "number": number, "is_planted": is_planted, "commits": 34, "native": 18, "is_right": True,
            "outcome": "right", "builds": 5, "runs": 100 + number, "minutes": 2.4, "inconclusive": 1, "series": 36,
            "incidents": incidents, **more}


class Table(unittest.TestCase):
    def test_a_day_is_one_line_with_all_its_nights(self):
        lines = result.table([kept_night(1, None, is_planted=False), kept_night(2, 1.2),
                              kept_night(1, 1.1, outcome="wrong", is_right=False)])
        self.assertEqual(lines[2], "|71904|redundant bound checks|34, 18|1 of 2|wrong|dlrm cpu-infer x 1.100 to 1.200|5|101 to 102|2|2 of 72|")
        self.assertEqual(lines[3], "|71904, clean|redundant bound checks|34, 18|1 of 1|-|-|5|101|2|1 of 36|")
        self.assertEqual(len(lines), 4)


# Answers as torchwatch does: a night's status from a file, then the night itself.
SERVICE = """#!{python}
import json, os, sys
folder = {folder!r}
with open(os.path.join(folder, "calls"), "a") as calls:
    print(" ".join(sys.argv[1:]), file=calls)
if "--json" in sys.argv:
    print(open(os.path.join(folder, "night.json")).read())
    sys.exit(1)
sys.exit(int(open(os.path.join(folder, "status")).read()))
"""


class Nights(ScriptTest):
    def setUp(self):
        super().setUp()
        self.service = self.folder / "torchwatch"
        write_program(self.service, SERVICE.format(python=sys.executable, folder=str(self.folder)))
        (self.folder / "libtorch").mkdir()
        self.days = self.folder / "days"
        self.answer(status=1, incidents=[])

    def answer(self, status, incidents):
        (self.folder / "status").write_text(str(status))
        verdict = {"metric": "time", "verdict": "unchanged", "runs": 8}
        (self.folder / "night.json").write_text(json.dumps({"incidents": incidents, "verdicts": [verdict]}))

    def calls(self):
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def make_day(self, pr):
        """The repository, and its nightlies as if they were built."""
        folder = self.days / f"{pr}-planted-1"
        truth = planted_days.make_day(folder, pr, 1, True)
        for nightly in truth["nightlies"]:
            tree = folder / "nightlies" / nightly["date"]
            tree.mkdir(parents=True)
            (tree / "build-hash").write_text(nightly["commit"])
        return folder, truth

    def run_days(self, *options):
        return self.run_script(BENCHMARK / "planted_days.py", "--folder", self.days, "--libtorch",
                               self.folder / "libtorch", "--torchwatch", self.service, *options)

    def test_the_good_end_is_the_parent_of_the_first_commit_and_the_truth_names_the_change(self):
        folder, truth = self.make_day(71904)
        line = repository.git(folder / "pytorch.git", "rev-list", "--reverse", "main").split()
        self.assertEqual([nightly["trunk"] for nightly in truth["nightlies"]], [line[0], line[-1]])
        self.assertEqual(truth["culprits"]["time"], {"sha": line[1], "parent": line[0], "place": 1})

    def test_a_finished_night_is_kept_and_shown_again(self):
        _, truth = self.make_day(87855)
        self.answer(status=1, incidents=[incident(truth["culprits"]["time"]["sha"])])
        first = self.run_days("--day", "87855")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("87855, night 1: right, as planted; 8 commits", first.stdout)
        self.assertIn("4 builds, 38 runs", first.stdout)
        count = len(self.calls())
        again = self.run_days("--day", "87855")
        self.assertEqual((again.stdout, len(self.calls())), (first.stdout, count))
        self.assertIn("|87855|", self.run_days("--table").stdout)

    def test_a_night_that_ended_early_goes_on_in_its_own_state(self):
        folder, _ = self.make_day(61056)
        self.answer(status=3, incidents=[])
        done = self.run_days("--day", "61056")
        self.assertEqual(done.returncode, 1)
        self.assertIn("torchwatch ended with 3", done.stderr)
        self.assertFalse((folder / "night-1" / "row.json").exists())
        self.answer(status=0, incidents=[])
        done = self.run_days("--day", "61056")
        self.assertIn("61056, night 1: nothing, NOT as planted", done.stdout)
        settings = {call.rsplit(" ", 1)[1] for call in self.calls()}
        self.assertEqual(settings, {str(folder / "night-1" / "torchwatch.toml")})
        self.assertEqual(len((folder / "night-1" / "seconds").read_text().split()), 2)

    def test_each_night_has_a_state_of_its_own_and_builds_are_shared(self):
        folder, _ = self.make_day(72148)
        self.assertEqual(self.run_days("--day", "72148", "--nights", "2", "--machine-lock", "mine").returncode, 0)
        for number in (1, 2):
            text = (folder / f"night-{number}" / "torchwatch.toml").read_text()
            self.assertIn('path = "state/torchwatch.sqlite"', text)
            self.assertIn(f'cache = "{self.days / "builds"}"', text)
            self.assertIn('machine_lock = "mine"', text)
            self.assertIn('workloads = ["nvidia_deeprecommender", ', text)


if __name__ == "__main__":
    unittest.main()

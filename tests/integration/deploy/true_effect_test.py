import json
import math
import random
import subprocess
import sys
import unittest
from pathlib import Path

import placed_libraries
import ratio
import true_effect
from support import DEPLOY, ScriptTest, write_program

# A runner whose time and growth depend on the build that LD_LIBRARY_PATH points to. It says which
# libraries it saw, and whether it was to be pinned and leads its session.
RUNNER = """#!{python}
import json, os, sys
request = json.load(open(sys.argv[2]))
folder = os.environ["LD_LIBRARY_PATH"]
seen = {{name: os.stat(os.path.join(folder, name)).st_ino for name in os.listdir(folder)}}
seen["folder"] = folder
seen["place"] = [request["pin_to_core"], os.getsid(0) == os.getpid()]
print(json.dumps(seen), file=open({folder!r} + "/seen", "a"))
effect = json.load(open(os.path.join(os.environ["LD_LIBRARY_PATH"], "..", "effect.json")))
train = request["mode"] == "train"
values = {{"time": effect["time"] if train else 1000, "leak_growth": effect["leak_growth"]}}
result = {{"schema": 1, "attempt": request["attempt"], "status": effect.get("status", "ok"),
          "values": values}}
json.dump(result, open(sys.argv[3], "w"))
"""


class Interval(unittest.TestCase):
    def test_quantiles_of_student_are_those_of_the_tables(self) -> None:
        for degrees, quantile in ((9, 3.2498), (19, 2.8609), (99, 2.6264)):
            self.assertAlmostEqual(ratio.student_t_99(degrees) / quantile, 1, places=2)

    def test_the_interval_holds_the_true_ratio_about_as_often_as_it_says(self) -> None:
        draw = random.Random(1)
        held = 0
        for _ in range(1000):
            pairs = [(100, 100 * math.exp(draw.gauss(math.log(1.15), 0.05))) for _ in range(50)]
            low, high = true_effect.ratio_with_interval(pairs)["interval"]
            held += low <= 1.15 <= high
        self.assertTrue(980 <= held <= 999, held)


class TrueEffect(ScriptTest):
    def setUp(self) -> None:
        super().setUp()
        commits = {
            "slow": {"time": 1150, "leak_growth": 0},
            "before-slow": {"time": 1000, "leak_growth": 0},
            "keeping": {"time": 1000, "leak_growth": 4096},
            "before-keeping": {"time": 1000, "leak_growth": 0},
        }
        self.folder.joinpath("truth.json").write_text(
            json.dumps(
                {
                    "seed": 1,
                    "culprits": {
                        "time": {"sha": "slow", "parent": "before-slow"},
                        "memory": {"sha": "keeping", "parent": "before-keeping"},
                    },
                }
            )
        )
        for sha, effect in commits.items():
            tree = self.folder / "true-effect" / sha
            tree.joinpath("lib").mkdir(parents=True)
            for name in ("libtorch_cpu.so", "libc10.so", "libgomp-1.so", "libother.so"):
                tree.joinpath("lib", name).write_text(f"{name} of {sha}")
            tree.joinpath("build-hash").write_text(sha)
            tree.joinpath("effect.json").write_text(json.dumps(effect))
        kit = self.folder / "state" / "builds" / "kits" / "1f2e"
        kit.mkdir(parents=True)
        kit.joinpath("kit.json").write_text('{"workloads": ["dlrm", "resnet18"]}')
        write_program(
            kit / "torchwatch-runner", RUNNER.format(python=sys.executable, folder=str(self.folder))
        )

    def measure(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run_script(
            DEPLOY / "demonstration" / "true_effect.py",
            self.folder,
            "--libtorch",
            self.folder,
            "--workload",
            "resnet18",
            *arguments,
        )

    def test_both_effects_are_found_as_planted(self) -> None:
        done = self.measure("--pairs", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads((self.folder / "true-effect.json").read_text())
        self.assertAlmostEqual(found["time"][0]["ratio"], 1.15)
        self.assertAlmostEqual(found["time"][1]["ratio"], 1)
        self.assertEqual(found["leak"][0]["bytes_per_iteration"], 4096)
        self.assertIn("resnet18 cpu-train: time x 1.1500", done.stdout)

    def test_each_process_has_fresh_copies_of_the_libraries_that_matter_and_a_core(self) -> None:
        self.measure("--pairs", "2")
        seen = [json.loads(line) for line in (self.folder / "seen").read_text().splitlines()]
        folders = [each["folder"] for each in seen]
        self.assertEqual(len(set(folders)), len(folders))
        self.assertFalse([folder for folder in folders if Path(folder).exists()])
        for each in seen:
            self.assertEqual(each["place"], [True, True])
            self.assertIn(each["libother.so"], self.files("libother.so"))
            for name in ("libtorch_cpu.so", "libc10.so", "libgomp-1.so"):
                self.assertNotIn(each[name], self.files(name))

    def files(self, name: str) -> set[int]:
        """The inodes of a library in the builds themselves."""
        trees = self.folder / "true-effect"
        return {tree.joinpath("lib", name).stat().st_ino for tree in trees.iterdir()}

    def test_a_copy_holds_what_the_build_does(self) -> None:
        tree = self.folder / "true-effect" / "slow"
        with placed_libraries.placed(tree, self.folder) as libraries:
            self.assertEqual((libraries / "libc10.so").read_text(), "libc10.so of slow")
            self.assertEqual((libraries.parent / "build-hash").read_text(), "slow")

    def test_a_day_with_one_culprit_has_one_effect(self) -> None:
        truth = json.loads((self.folder / "truth.json").read_text())
        truth["culprits"]["memory"] = None
        self.folder.joinpath("truth.json").write_text(json.dumps(truth))
        self.assertEqual(self.measure("--pairs", "2").returncode, 0)
        found = json.loads((self.folder / "true-effect.json").read_text())
        self.assertEqual((len(found["time"]), found["leak"]), (2, []))

    def test_a_workload_that_fails_ends_it_with_its_name(self) -> None:
        effect = self.folder / "true-effect" / "slow" / "effect.json"
        effect.write_text(json.dumps({"time": 1, "leak_growth": 0, "status": "failed"}))
        done = self.measure("--pairs", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("resnet18 train: failed", done.stderr)

    def test_a_workload_without_a_runner_is_named(self) -> None:
        done = self.measure("--workload", "tts_angular", "--pairs", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("holds no runner with tts_angular", done.stderr)

    def test_a_day_without_culprits_has_no_effect_to_measure(self) -> None:
        self.folder.joinpath("truth.json").write_text(
            '{"seed": 1, "culprits": {"time": null, "memory": null}}'
        )
        self.assertIn("no culprits", self.measure().stderr)


if __name__ == "__main__":
    unittest.main()

"""The files of the contract of external workloads: request and result are as their schemas say, for
the examples too. Whether the examples conform is tested by integration_conformance."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from support import CHECKOUT, DEPLOY, ScriptTest

PYTHON = "/usr/bin/python3"
EXAMPLE = DEPLOY / "workloads" / "mlp.py"
CHOICES = DEPLOY / "workloads" / "choices.py"
CAREFUL = (CHECKOUT / "tests" / "support" / "careless_workload.py", "nothing")
IMPORTING = """
from torchwatch_workload import import_torch, serve
serve(lambda setting: import_torch().__name__.upper)
"""
RETURNING = """
from torchwatch_workload import serve
serve(lambda setting: lambda: {returned})
"""
# The first iteration behind the warm-up is disturbed.
DISTURBED = """
import itertools, time
from torchwatch_workload import serve
calls = itertools.count(1)
serve(lambda setting: lambda: time.sleep(0.05) if next(calls) == 3 else None)
"""
# What a call starts takes 2 ms each, which only who waits for the device sees.
ASYNCHRONOUS = """
import sys, time, types
from torchwatch_workload import serve
started = []
def synchronize():
    time.sleep(0.002 * len(started))
    started.clear()
sys.modules["torch"] = types.SimpleNamespace(cuda=types.SimpleNamespace(synchronize=synchronize))
serve(lambda setting: lambda: started.append(1))
"""
# Objects that hold themselves, which the collector alone frees: a full ring of them, made before
# the first iteration, of which each iteration replaces some; or a list that grows.
CYCLES = """
import collections
from torchwatch_workload import import_torch, serve
class Entry:
    def __init__(self):
        self.data, self.itself = bytearray(8192), self
def make(setting):
    import_torch()
    entries = collections.deque((Entry() for _ in range(400)), MAXLEN)
    return lambda: entries.extend(Entry() for _ in range(5))
serve(make)
"""
REQUEST = {
    "schema": 1,
    "attempt": "attempt-1",
    "workload": "mine",
    "device": "cpu",
    "mode": "train",
    "precision": "fp32",
    "backend": "eager",
    "batch": 0,
    "threads": 1,
    "pass": "timing",
    "preset": "small",
    "warmup": 2,
    "iterations": 5,
    "iterations_min": 3,
    "enough_ns": 1_000_000,
    "batch_below_ns": 1_000_000,
    "leak_iterations": 0,
    "seed": 1337,
    "pin_to_core": True,
    "fixed_heap": True,
    "chrome_trace": "",
    "interleave": None,
    "limits": {"time_ms": 300_000, "memory_bytes": 0},
    "metrics": ["time"],
}


def violations(schema: str, document: Path) -> str:
    judge = CHECKOUT / "tests" / "support" / "schema_violations.py"
    file = CHECKOUT / "docs" / "schemas" / f"{schema}.json"
    done = subprocess.run(
        [sys.executable, "-B", "-W", "ignore", judge, file, document],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


class Contract(ScriptTest):
    def answer(self, tree: Path, *words: object, **members: object) -> dict[str, Any]:
        """What a command answers; request and result are as their schemas say."""
        request, result = self.folder / "REQUEST.json", self.folder / "RESULT.json"
        request.write_text(json.dumps(REQUEST | members))
        self.assertEqual(violations("workload_request", request), "")
        variables = {"TORCHWATCH_TREE": str(tree), "TMPDIR": str(self.folder)}
        done = self.run_script(*words, "measure", request, result, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(violations("workload_result", result), "")
        found: dict[str, Any] = json.loads(result.read_text())
        return found

    def test_results_are_as_their_schema_says(self) -> None:
        self.assertEqual(self.answer(self.folder, PYTHON, *CAREFUL)["status"], "ok")
        growth = {"pass": "memory", "leak_iterations": 20, "metrics": ["heap_growth"]}
        levels = self.answer(self.folder, PYTHON, *CAREFUL, **growth)["leak"]["heap_bytes"]
        self.assertEqual(len(levels), 20)
        late = self.answer(
            self.folder, PYTHON, *CAREFUL, **growth, limits={"time_ms": 1, "memory_bytes": 0}
        )
        self.assertEqual(late["status"], "failed")
        self.assertIn("0 of 20 levels for heap_growth within the time limit", late["reason"])
        coverage = {"pass": "coverage", "metrics": []}
        refused = self.answer(self.folder, PYTHON, *CAREFUL, **coverage)
        self.assertEqual(refused["status"], "unsupported")

    def test_numbers_that_an_iteration_returns_are_its_outputs(self) -> None:
        module = self.folder / "returning.py"
        asked = {"pass": "memory", "metrics": ["output_difference"], "outputs": True}
        command = ("/usr/bin/env", f"PYTHONPATH={EXAMPLE.parent}", PYTHON, "-B", module)

        def answer(returned: str) -> dict[str, Any]:
            module.write_text(RETURNING.format(returned=returned))
            return self.answer(self.folder, *command, **asked)

        returned = "{'loss': -2.5, 'parts': [True, 10**400, None, 'text', float('nan')]}"
        self.assertEqual(
            answer(returned)["outputs"],
            [
                {"name": "loss", "scale": 2.5, "figures": [-2.5]},
                {"name": "parts.0", "scale": 1.0, "figures": [1.0]},
                {"name": "parts.1", "scale": None, "figures": [None]},
                {"name": "parts.4", "scale": None, "figures": [None]},
            ],
        )
        without = answer("None")
        self.assertEqual((without["status"], without.get("outputs")), ("ok", None))
        self.assertIn("returned no tensor and no number", without["reason"])

        for returned, said in (
            ("[0.0] * 1025", "returned 1025"),
            ("{'x' * 401: 0.0}", "400 bytes"),
        ):
            refused = answer(returned)
            self.assertEqual((refused["status"], refused.get("outputs")), ("ok", None))
            self.assertIn(said, refused["reason"])
        self.assertEqual(len(answer("[0.0] * 1024")["outputs"]), 1024)

    def test_what_runs_on_a_gpu_is_waited_for(self) -> None:
        module = self.folder / "asynchronous.py"
        module.write_text(ASYNCHRONOUS)
        command = ("/usr/bin/env", f"PYTHONPATH={EXAMPLE.parent}", PYTHON, "-B", module)
        found = self.answer(self.folder, *command, device="cuda")
        self.assertGreaterEqual(min(found["samples_ns"]), 2_000_000)

    def test_a_disturbance_makes_no_sample_too_short(self) -> None:
        module = self.folder / "disturbed.py"
        module.write_text(DISTURBED)
        command = ("/usr/bin/env", f"PYTHONPATH={EXAMPLE.parent}", PYTHON, "-B", module)
        found = self.answer(self.folder, *command, batch_below_ns=20_000_000)
        self.assertGreater(found["iterations_per_sample"], 1)

    def test_a_metric_that_the_file_does_not_state_is_unsupported_with_those_that_it_does(
        self,
    ) -> None:
        module = self.folder / "returning.py"
        module.write_text(RETURNING.format(returned="0"))
        command = ("/usr/bin/env", f"PYTHONPATH={EXAMPLE.parent}", PYTHON, "-B", module)
        found = self.answer(self.folder, *command, **{"pass": "memory", "metrics": ["cpu_peak"]})
        self.assertEqual(found["status"], "unsupported")
        self.assertRegex(found["reason"], "^cpu_peak: .* states cpu_peak_resident")

    def test_what_stands_beside_a_time_is_stated_as_far_as_it_is_known(self) -> None:
        own_batch = self.answer(self.folder, PYTHON, *CAREFUL)["values"]
        self.assertEqual(set(own_batch), {"time", "first_iteration"})
        self.assertGreater(own_batch["first_iteration"], 0)
        values = self.answer(self.folder, PYTHON, *CAREFUL, batch=8)["values"]
        self.assertEqual(values["throughput"], 8 * 10**12 // values["time"])
        growth = {"pass": "memory", "leak_iterations": 20, "metrics": ["heap_growth"], "batch": 8}
        levels = self.answer(self.folder, PYTHON, *CAREFUL, **growth)["values"]
        self.assertEqual(set(levels), {"heap_growth"})

    def test_the_schemas_refuse_what_torchwatch_refuses(self) -> None:
        self.answer(self.folder, PYTHON, *CAREFUL)
        result = self.folder / "RESULT.json"
        whole = json.loads(result.read_text())
        for wrong in ({"attempt": 1}, {"status": "good"}, {"values": {"speed": 1}}):
            result.write_text(json.dumps(whole | wrong))
            self.assertNotEqual(violations("workload_result", result), "", wrong)
        request = self.folder / "REQUEST.json"
        request.write_text(json.dumps(REQUEST | {"iteration": 1}))
        self.assertIn("iteration", violations("workload_request", request))

    def python_tree(self) -> Path:
        named = os.environ.get("TORCHWATCH_PYTHON_TREE")
        if named is None:
            loud = (
                "SKIPPED: no PyTorch for Python; TORCHWATCH_PYTHON_TREE may name its folder torch"
            )
            print(f"\n{'=' * len(loud)}\n{loud}\n{'=' * len(loud)}", file=sys.stderr)
            self.skipTest(loud)
        return Path(named)

    def test_the_example_in_python_measures_eager_and_compiled(self) -> None:
        tree = self.python_tree()
        command = ("/usr/bin/env", f"PYTHONPATH={tree.parent}", PYTHON, EXAMPLE)
        for words in (command, (*command, "--compile")):
            found = self.answer(tree, *words)
            self.assertEqual(found["status"], "ok", found.get("reason"))
            self.assertGreaterEqual(len(found["samples_ns"]), 3)

    def test_the_example_in_python_states_equal_outputs_twice(self) -> None:
        tree = self.python_tree()
        asked = {"pass": "memory", "metrics": ["output_difference"], "outputs": True}
        command = ("/usr/bin/env", f"PYTHONPATH={tree.parent}", PYTHON, EXAMPLE)
        for mode, names in (("infer", {"output"}), ("train", {"loss", "weights.0", "weights.3"})):
            answers = [self.answer(tree, *command, **asked, mode=mode) for _ in range(2)]
            self.assertEqual(answers[0]["outputs"], answers[1]["outputs"])
            self.assertLessEqual(names, {one["name"].split()[0] for one in answers[0]["outputs"]})

    def test_the_choices_of_a_study_are_measured(self) -> None:
        tree = self.python_tree()
        command = ("/usr/bin/env", f"PYTHONPATH={tree.parent}", PYTHON, CHOICES)
        for name in ("adam_single", "adam_foreach", "channels_last", "root_each", "root_once"):
            found = self.answer(tree, *command, name, mode="infer")
            self.assertEqual(found["status"], "ok", found.get("reason"))
        moved = self.answer(tree, *command, "moved_once", mode="infer")
        self.assertEqual(moved["status"], "unsupported")

    def test_torch_is_imported_with_the_packages_of_its_tree_before_all_others(self) -> None:
        tree, other = self.folder / "torch", self.folder / "other"
        for path, text in (
            (tree / "__init__.py", "import numpy\nassert numpy.version == 'of the tree'\n"),
            (tree / "python" / "numpy.py", "version = 'of the tree'\n"),
            (other / "numpy.py", "version = 'another'\n"),
            (other / "torch.py", "raise ImportError('another torch')\n"),
            (self.folder / "mine.py", IMPORTING),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found_at = f"PYTHONPATH={EXAMPLE.parent}:{other}"
        command = ("/usr/bin/env", found_at, PYTHON, "-B", self.folder / "mine.py")
        found = self.answer(tree, *command)
        self.assertEqual(found["status"], "ok", found.get("reason"))

    def test_what_was_made_before_the_first_iteration_is_collected_when_it_is_replaced(
        self,
    ) -> None:
        tree, module = self.folder / "torch", self.folder / "cycles.py"
        tree.mkdir()
        (tree / "__init__.py").touch()
        variables = (f"PYTHONPATH={EXAMPLE.parent}", "PYTHONMALLOC=malloc")
        growth = {"pass": "memory", "leak_iterations": 40, "metrics": ["heap_growth"]}
        for length, grows in (("400", False), ("None", True)):
            with self.subTest(length):
                module.write_text(CYCLES.replace("MAXLEN", length))
                command = ("/usr/bin/env", *variables, PYTHON, "-B", module)
                answer = self.answer(tree, *command, **growth)
                self.assertEqual(answer["values"]["heap_growth"] > 0, grows)

    def test_the_example_says_so_where_a_build_has_no_python_part(self) -> None:
        found = self.answer(self.folder, PYTHON, EXAMPLE)
        self.assertEqual(found["status"], "unsupported")
        self.assertIn("the build has no Python part", found["reason"])


if __name__ == "__main__":
    unittest.main()

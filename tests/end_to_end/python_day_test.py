"""A day of real PyTorch in Python: two nightlies from an index become trees that Python can import,
a small model trains in them, and of forty commits that change Python alone the one that makes Adam
slower, the one that leaks and the one that computes something else are named."""

import json
import os
import shutil
import subprocess
import sys
import unittest
from typing import Any

from command import CHECKOUT, CommandTest
from python_nightlies import (
    CHANGING,
    LEAKING,
    PYTHON,
    SLOWER,
    Nightly,
    contents_of,
    repack,
    wheel_of_release,
    write_repository,
)

sys.path.insert(0, str(CHECKOUT / "tests" / "support"))

from wheel_index import Index

MODEL = """
from torchwatch_workload import import_torch, serve


def make(setting):
    torch = import_torch()
    torch.manual_seed(setting.seed)
    torch.set_num_threads(setting.threads)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64))
    data = torch.randn(16, 64)
    optimiser = torch.optim.Adam(model.parameters())

    def train():
        optimiser.zero_grad()
        loss = model(data).square().mean()
        loss.backward()
        optimiser.step()
        return loss

    return train


serve(make)
"""

CONFIGURATION = """
[channel]
kind = "wheel-index"
index = "{index}"
flavour = "cpu"
python = true
[source]
repository = "pytorch"
[build]
recipe = "{checkout}/deploy/recipes/python"
[suite]
workloads = ["mymodel"]
configurations = ["cpu-train"]
[[suite.external]]
name = "mymodel"
command = ["{python}", "./mymodel.py"]
metrics = ["time", "heap_growth", "output_difference"]
modes = ["train"]
readable = ["torchwatch_workload.py"]
[measure]
enough = "200ms"
outputs = true
"""


class PythonDay(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        wheel = wheel_of_release(self)
        first = contents_of(wheel)
        self.shas, last = write_repository(self.folder / "pytorch", first)
        self.index = Index()
        self.addCleanup(self.index.close)
        for day, sha, contents in ((16, self.shas[0], first), (17, self.shas[-1], last)):
            version = f"2.14.0.dev202608{day}+cpu"
            self.index.add_file(repack(wheel, self.folder, Nightly(version, sha, contents)))
        shutil.copy(CHECKOUT / "deploy" / "workloads" / "torchwatch_workload.py", self.folder)
        (self.folder / "mymodel.py").write_text(MODEL)
        text = CONFIGURATION.format(index=self.index.url, checkout=CHECKOUT, python=PYTHON)
        self.configure(text)
        os.environ["no_proxy"] = "127.0.0.1"  # the index is on this machine

    def named(self) -> set[str]:
        """The commits that any search has named."""
        results = [search["result"] for search in self.json_of(0, "bisection", "list")["items"]]
        culprits = [culprit for result in results for culprit in result["culprits"]]
        return {sha for culprit in culprits for sha in culprit["commits"]}

    def test_of_forty_commits_the_slow_leaking_and_changing_ones_are_named_and_nobody_else(
        self,
    ) -> None:
        done = self.run_command("nightly")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)  # it has incidents
        comparison = self.json_of(1, "comparison", "show")
        self.assertEqual(comparison["state"], "reported")
        found: dict[str, Any] = {
            incident["kind"]: incident["culprit"] for incident in comparison["incidents"]
        }
        expected = {
            "regression": self.shas[SLOWER],
            "leak": self.shas[LEAKING],
            "result": self.shas[CHANGING],
        }
        self.assertEqual(found, expected, json.dumps(comparison, indent=1))
        self.assertEqual(len(comparison["incidents"]), len(expected))
        self.assertEqual(self.named(), set(expected.values()))
        self.check_examples()

    def check_examples(self) -> None:
        """What only a build with its Python part can show of the examples that are shipped."""
        tree = next(self.folder.rglob("releases/*/torch/python-hash")).parent
        done = subprocess.run(
            [sys.executable, "-B", "-m", "unittest", "external_workloads_test"],
            cwd=CHECKOUT / "tests" / "integration" / "deploy",
            env=os.environ | {"TORCHWATCH_PYTHON_TREE": str(tree)},
            text=True,
            capture_output=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("skipped=", done.stderr)


if __name__ == "__main__":
    unittest.main()

"""A day of real PyTorch in Python: two nightlies from an index become trees that Python can import,
a small model trains in them, and of forty commits that change Python alone the one that makes Adam
slower, the one that leaks and the one that computes something else are named."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from command import CHECKOUT, TORCHWATCH, CommandTest
from packages import leave_out
from python_day import LEAK, REGRESSION, RESULT, configuration, write
from python_nightlies import NotAtHand, fetch_wheel
from wheel_index import Index

PLANTED = {12: REGRESSION, 27: LEAK, 33: RESULT}


class PythonDay(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        try:
            wheel = fetch_wheel(CHECKOUT / "build" / "python_day_wheel")
        except NotAtHand as reason:
            leave_out(self, str(reason))
        self.planted = write(self.folder, wheel, PLANTED)
        index = Index()
        self.addCleanup(index.close)
        for nightly in self.folder.glob("*.whl"):
            index.add_file(nightly)
        self.configure(configuration(index.url))
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
        incidents = comparison["incidents"]
        found = {incident["kind"]: incident["culprit"] for incident in incidents}
        self.assertEqual(found, self.planted, json.dumps(comparison, indent=1))
        self.assertEqual(len(incidents), len(self.planted))
        self.assertEqual(self.named(), set(self.planted.values()))
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
        self.check_conformance(tree)
        # What torch.compile calls is found in the sandbox, too.
        asked = ("--workload", "compiled", "--mode", "infer", "--metric", "time", "--runs", "1")
        (figure,) = self.json_of(0, "measure", str(tree), *asked)["figures"]
        self.assertEqual(figure["status"], "ok", figure["reason"])

    def check_conformance(self, tree: Path) -> None:
        """The examples and the model of the page on external workloads, asked as `verify` does."""
        programs = Path(TORCHWATCH).parents[2] / "tests" / "integration"
        done = subprocess.run(
            [programs / "conformance" / "integration_conformance"],
            env=os.environ | {"TORCHWATCH_PYTHON_TREE": str(tree)},
            text=True,
            capture_output=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("skipped", done.stdout)


if __name__ == "__main__":
    unittest.main()

"""Two settings of one real LibTorch, compared by the real command: a study of six pairs."""

import json
import sqlite3
import unittest
from typing import Any

from command import LIBTORCH, CommandTest

STUDY = """
title = "Six pairs"
about = "What a study can come to."
workloads = ["lennard_jones"]
configurations = ["cpu-train"]
metrics = ["time"]

[[pair]]
name = "more work"
between = "batch=8"
and = "batch=8192"

[[pair]]
name = "zeroed gradients"
between = "gradients=none"
and = "gradients=zeroed"

[[pair]]
name = "a step of its own"
workloads = ["soft_actor_critic"]
between = "gradients=none"
and = "gradients=zeroed"

[[pair]]
name = "flushed"
between = "default"
and = "denormals=flushed,OMP_WAIT_POLICY=passive"

[[pair]]
name = "a graph"
workloads = ["tts_angular"]
configurations = ["cpu-infer"]
between = "backend=eager"
and = "backend=torchscript"

[[pair]]
name = "no graph"
workloads = ["soft_actor_critic"]
configurations = ["cpu-infer"]
between = "backend=eager"
and = "backend=torchscript"
"""

DECIDED = {"unchanged", "regressed", "improved", "inconclusive"}


@unittest.skipUnless(LIBTORCH, "configured without LibTorch")
class Study(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.configure('[suite]\npreset = "small"\n[sandbox]\nkind = "none"\n')
        (self.folder / "study.toml").write_text(STUDY)

    def variables(self) -> set[tuple[str, str]]:
        """The side of each run that states the variable of the last pair, and its value."""
        database = sqlite3.connect(self.folder / "state" / "torchwatch.sqlite")
        self.addCleanup(database.close)
        return set(
            database.execute(
                "SELECT slot, value FROM attempt JOIN result ON attempt_id = attempt.id "
                "JOIN environment_fact USING (environment_id) WHERE name = 'env.OMP_WAIT_POLICY'"
            )
        )

    def test_it_is_measured_judged_and_shown(self) -> None:
        done = self.run_command("study", "study.toml", LIBTORCH, "--json")
        self.assertEqual(done.returncode, 1, done.stderr)  # one pair regressed
        pairs: dict[str, Any] = {
            pair["name"]: pair["comparison"] for pair in json.loads(done.stdout)["pairs"]
        }
        verdicts = {}
        for name, comparison in pairs.items():
            self.assertEqual((comparison["purpose"], comparison["state"]), ("study", "reported"))
            (verdicts[name],) = comparison["verdicts"]
        self.assertEqual(verdicts["more work"]["verdict"], "regressed")
        self.assertIn(verdicts["zeroed gradients"]["verdict"], DECIDED)
        self.assertIn(verdicts["flushed"]["verdict"], DECIDED)
        own = verdicts["a step of its own"]
        self.assertEqual(own["verdict"], "unsupported")
        self.assertIn("a step of its own", own["reason"])
        self.assertIn(verdicts["a graph"]["verdict"], DECIDED)
        self.assertEqual(verdicts["no graph"]["verdict"], "unsupported")
        self.assertIn("which a trace would freeze", verdicts["no graph"]["reason"])

        # The variable reached one side alone.
        stated = self.variables()
        self.assertTrue(stated)
        self.assertEqual({value for _, value in stated}, {"passive"})

        self.assertEqual(self.json_of(0, "series", "list")["items"], [])
        self.assertEqual(self.json_of(0, "incident", "list")["items"], [])
        shown = self.run_command("study", "study.toml", "--stored")
        self.assertIn("denormals=flushed,OMP_WAIT_POLICY=passive", shown.stdout)
        page = self.run_command("study", "study.toml", "--stored", "--format", "markdown").stdout
        self.assertIn("# Six pairs", page)
        self.assertIn("clears its gradients in a step of its own", page)


if __name__ == "__main__":
    unittest.main()

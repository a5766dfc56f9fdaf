"""What the AOTInductor of a real LibTorch makes of workloads, beside eager mode."""

import json
import sqlite3
import subprocess
import unittest
from typing import Any

from command import CHECKOUT, LIBTORCH, CommandTest

WORKLOADS = ("nvidia_deeprecommender", "soft_actor_critic")
DECIDED = {"unchanged", "regressed", "improved", "inconclusive"}


@unittest.skipUnless(LIBTORCH, "configured without LibTorch")
class Packages(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.configure('[suite]\npreset = "small"\nconfigurations = ["cpu-infer"]\n')
        self.tree = self.folder / "torch"
        subprocess.run(
            [CHECKOUT / "deploy" / "libtorch", "--python", "--into", self.tree], check=True
        )

    def compare(self) -> dict[tuple[str, str], Any]:
        done = self.run_command(
            "compare",
            str(self.tree),
            *("--between", "backend=eager", "--and", "backend=aot_inductor", "--json"),
            *(f"--workload={workload}" for workload in WORKLOADS),
        )
        self.assertIn(done.returncode, (0, 1, 4), done.stderr)
        self.said = done.stderr
        document = json.loads(done.stdout)
        self.assertEqual((document["purpose"], document["state"]), ("study", "reported"))
        return {
            (verdict["workload"], verdict["metric"]): verdict for verdict in document["verdicts"]
        }

    def test_a_package_is_made_once_and_measured(self) -> None:
        verdicts = self.compare()
        for metric in ("time", "cpu_peak_resident", "leak_growth"):
            verdict = verdicts["nvidia_deeprecommender", metric]
            self.assertIn(verdict["verdict"], DECIDED, verdict["reason"])
        refused = {
            verdict["reason"]
            for (workload, _), verdict in verdicts.items()
            if workload == "soft_actor_critic"
        }
        self.assertEqual(len(refused), 1)
        self.assertIn("which a trace would freeze", refused.pop())
        self.assertIn("compiling nvidia_deeprecommender cpu-infer", self.said)

        database = sqlite3.connect(self.folder / "state" / "torchwatch.sqlite")
        self.addCleanup(database.close)
        stated = dict(
            database.execute(
                "SELECT metric, min(value) FROM value WHERE metric IN "
                "('compile_time', 'compile_peak', 'package_size') GROUP BY metric"
            )
        )
        self.assertEqual(set(stated), {"compile_time", "compile_peak", "package_size"})
        self.assertGreater(min(stated.values()), 0)

        self.compare()
        self.assertNotIn("compiling", self.said)


if __name__ == "__main__":
    unittest.main()

"""The examples of external workloads, and what docs/external-workloads.md says about a model of
one's own, done step by step in an empty folder. Measured by `torchwatch workload verify`."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from importlib import util
from pathlib import Path
from typing import Any

from support import CHECKOUT, DEPLOY, ScriptTest

LIBTORCH = Path(os.environ.get("TORCHWATCH_LIBTORCH", "/nowhere"))
TORCHWATCH = Path(os.environ["TORCHWATCH_BUILD"]) / "service" / "cli" / "torchwatch"
PAGE = CHECKOUT / "docs" / "external-workloads.md"
PYTHON = "/usr/bin/python3"


def python_tree() -> Path | None:
    """The folder torch of an environment with PyTorch: TORCHWATCH_PYTHON_TREE, or what Python
    itself imports."""
    if named := os.environ.get("TORCHWATCH_PYTHON_TREE"):
        return Path(named)
    found = util.find_spec("torch")
    return Path(found.origin).parent if found and found.origin else None


def violations(schema: str, document: Path) -> str:
    done = subprocess.run(
        [
            sys.executable,
            *("-B", "-W", "ignore"),
            CHECKOUT / "tests" / "support" / "schema_violations.py",
            CHECKOUT / "docs" / "schemas" / f"{schema}.json",
            document,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


class Workloads(ScriptTest):
    def setUp(self) -> None:
        super().setUp()
        self.config = self.folder / "torchwatch.toml"
        self.lock = f'[executor]\nmachine_lock = "{self.folder}/machine"\n'
        self.config.write_text(self.lock)

    def verify(self, tree: Path, *words: object) -> dict[str, Any]:
        """What `torchwatch workload verify` prints as JSON, which is as its schema says."""
        done = self.run_script(
            *(TORCHWATCH, "workload", "verify", "--json", "--config", self.config),
            *("--readable", DEPLOY / "workloads", "--readable", CHECKOUT / "tests" / "support"),
            *("--tree", tree, *words),
        )
        self.assertIn(done.returncode, (0, 2), done.stdout + done.stderr)
        document = self.folder / "verify.json"
        document.write_text(done.stdout)
        self.assertEqual(violations("workload_verify", document), "")
        found: dict[str, Any] = json.loads(done.stdout)
        self.assertEqual(done.returncode == 0, all(item["holds"] for item in found["items"]))
        return found

    def require_all(self, found: dict[str, Any]) -> None:
        self.assertEqual([item for item in found["items"] if not item["holds"]], [])
        checks = {item["check"] for item in found["items"]}
        self.assertLessEqual({"timing", "enough", "batches", "interleaving", "pair"}, checks)

    def python(self) -> Path:
        tree = python_tree()
        if tree is None:
            loud = "SKIPPED: no torch to import here; name one with TORCHWATCH_PYTHON_TREE"
            print(f"\n{'=' * len(loud)}\n{loud}\n{'=' * len(loud)}", file=sys.stderr)
            self.skipTest(loud)
        return tree

    @unittest.skipUnless((LIBTORCH / "lib").is_dir(), "no LibTorch is configured")
    def test_the_program_in_cpp_conforms_on_real_libtorch(self) -> None:
        program = self.folder / "matmul"
        subprocess.run(
            ["g++", "-std=c++17", "-O1", "-o", program, DEPLOY / "workloads/matmul.cpp", "-ldl"],
            check=True,
        )
        self.require_all(self.verify(LIBTORCH, program))

    def test_the_python_workload_conforms_also_compiled(self) -> None:
        tree = self.python()
        command = (
            *("/usr/bin/env", f"PYTHONPATH={tree.parent}", PYTHON),
            DEPLOY / "workloads" / "mlp.py",
        )
        metrics = ["time", "cpu_peak_resident", "heap_growth"]
        for name, words in {"eager": (), "compiled": ("--compile",)}.items():
            self.config.write_text(
                f'{self.lock}[[suite.external]]\nname = "{name}"\n'
                f"command = {json.dumps([str(word) for word in (*command, *words)])}\n"
                f"metrics = {json.dumps(metrics if name == 'eager' else ['time'])}\n"
                f"readable = {json.dumps([str(tree.parent), str(DEPLOY / 'workloads')])}\n"
            )
            self.require_all(self.verify(tree, name))

    def test_the_page_s_ten_minutes_lead_to_a_workload_that_conforms(self) -> None:
        tree = self.python()
        shutil.copy(DEPLOY / "workloads" / "torchwatch_workload.py", self.folder)
        section = PAGE.read_text().split("## The contract")[0].split("ten minutes")[1]
        blocks = re.findall(r"^ *```(python|toml)\n(.*?)^ *```$", section, re.DOTALL | re.MULTILINE)
        self.assertEqual([kind for kind, _ in blocks], ["python", "toml"])
        model, configuration = (re.sub("^   ", "", text, flags=re.MULTILINE) for _, text in blocks)
        (self.folder / "mymodel.py").write_text(model)
        self.config.write_text(
            self.lock + configuration.replace("/opt/pytorch/packages", str(tree.parent))
        )
        self.require_all(self.verify(tree, "mymodel"))

    def test_a_build_without_its_python_part_is_unsupported_and_says_so(self) -> None:
        (self.folder / "torch" / "lib").mkdir(parents=True)
        found = self.verify(
            self.folder / "torch", "--metric", "time", PYTHON, DEPLOY / "workloads" / "mlp.py"
        )
        self.assertEqual([item["holds"] for item in found["items"]], [True, False])
        self.assertIn("unsupported: the build has no Python part", found["items"][1]["came"])

    def test_each_breach_of_the_contract_fails_its_check(self) -> None:
        (self.folder / "torch" / "lib").mkdir(parents=True)
        stand_in = CHECKOUT / "tests" / "support" / "careless_workload.py"
        for check, carelessness in {
            "timing": "microseconds",
            "enough": "enough",
            "batches": "batches",
            "time limit": "limit",
            "variant": "variant",
            "other passes": "passes",
            "interleaving": "turns",
            "memory": "memory",
        }.items():
            with self.subTest(check):
                found = self.verify(
                    self.folder / "torch",
                    *("--metric", "time", "--metric", "heap_growth"),
                    *(PYTHON, stand_in, carelessness),
                )
                failed = [item["check"] for item in found["items"] if not item["holds"]]
                self.assertIn(check, failed)
                self.assertTrue(next(i for i in found["items"] if i["check"] == check)["remedy"])

    def test_a_careful_workload_passes_every_check(self) -> None:
        (self.folder / "torch" / "lib").mkdir(parents=True)
        stand_in = CHECKOUT / "tests" / "support" / "careless_workload.py"
        found = self.verify(
            self.folder / "torch",
            *("--metric", "time", "--metric", "heap_growth"),
            *(PYTHON, stand_in, "nothing"),
        )
        self.require_all(found)

    def test_request_and_result_are_as_their_schemas_say(self) -> None:
        (self.folder / "torch" / "lib").mkdir(parents=True)
        kept = self.folder / "kept"
        kept.mkdir()
        recorder = self.folder / "recorder"
        recorder.write_text(
            f'#!/bin/sh\ncp "$2" {kept}/request.json\n'
            f'{PYTHON} {CHECKOUT}/tests/support/careless_workload.py nothing "$@"\n'
            f'cp "$3" {kept}/result.json\n'
        )
        recorder.chmod(0o755)
        self.config.write_text(self.lock + '[sandbox]\nkind = "none"\n')
        self.require_all(self.verify(self.folder / "torch", recorder))
        for name in ("request", "result"):
            self.assertEqual(violations(f"workload_{name}", kept / f"{name}.json"), "")
        wrong = kept / "result.json"
        wrong.write_text(wrong.read_text().replace('"attempt"', '"attempts"'))
        self.assertIn("attempt", violations("workload_result", wrong))


if __name__ == "__main__":
    unittest.main()

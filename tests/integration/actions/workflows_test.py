"""The workflows and the action of this repository, and that their checker finds what is wrong."""

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from workflow_rules import faults_of_action, faults_of_workflow, parse, steps_of

CHECKOUT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(CHECKOUT / ".github" / "actions" / "ask"))

import ask  # noqa: E402

WORKFLOWS = sorted((CHECKOUT / ".github" / "workflows").glob("*.yml"))
ACTIONS = sorted((CHECKOUT / ".github" / "actions").glob("*/action.yml"))
REUSABLE = ("nightly", "bisect", "compare")

RIGHT = """
name: right
on:
  workflow_dispatch:
    inputs:
      word:
        description: 'A word'
permissions: {}
concurrency:
  group: right
jobs:
  ask:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions:
      id-token: write
    steps:
      - name: Check out
        uses: actions/checkout@34e114876b0b11c390a56381ad16ebd13914f8d5 # v4.3.1
        with:
          persist-credentials: false
      - name: Say
        env:
          WORD: ${{ inputs.word }}
        run: echo "$WORD"
      - name: Ask
        uses: ./.github/actions/ask
        with:
          url: https://perf.example.org
          kind: nightly
"""

# What is changed in it, into what, and what of the fault must be said.
PLANTED = {
    "a tag in the place of a sha": ("34e114876b0b11c390a56381ad16ebd13914f8d5 # v4.3.1", "v4",
                                    "not pinned"),
    "a short sha": ("34e114876b0b11c390a56381ad16ebd13914f8d5", "34e1148", "not pinned"),
    "a sha without its version": (" # v4.3.1", "", "no version beside"),
    "an input in a shell line": ('echo "$WORD"', 'echo "${{ inputs.word }}"', "expression in run"),
    "an expression in a block": (
        'echo "$WORD"', "|\n          true\n          echo ${{github.ref}}", "expression in run"),
    "a matrix of somebody's words": (
        "    steps:\n      - name: Check out",
        """    strategy: {matrix: {x: ['${{ inputs.word }}']}}
    steps:
      - name: Run
        run: echo ${{ matrix.x }}
      - name: Check out""",
        "expression in run"),
    "all permissions": ("permissions: {}", "permissions: write-all", "permissions of the workflow"),
    "no permissions said": ("permissions: {}\n", "", "permissions of the workflow"),
    "a job that may write": ("id-token: write", "contents: write", "has contents: write"),
    "a job that may do all": ("permissions:\n      id-token: write", "permissions: write-all",
                              "has the permissions write-all"),
    "an input without a word": ("description: 'A word'", "default: ''", "no description"),
    "no time limit": ("    timeout-minutes: 5\n", "", "no timeout-minutes"),
    "no concurrency": ("concurrency:\n  group: right\n", "", "no concurrency"),
    "credentials that stay": ("persist-credentials: false", "persist-credentials: true",
                              "keeps its credentials"),
    "an action that is not there": ("./.github/actions/ask", "./.github/actions/other",
                                    "does not exist"),
    "an input that the action lacks": ("kind: nightly", "kin: nightly", "has no input kin"),
    "an input that the action needs": ("          kind: nightly\n", "", "needs the input kind"),
    "a key that stands twice": ("name: right", "name: right\nname: wrong", "stands twice"),
    "no YAML": ("jobs:", "jobs: [", "no YAML"),
    "a moving machine": ("ubuntu-24.04", "ubuntu-latest", "runs on a machine that changes"),
    "strangers' code": ("workflow_dispatch:", "pull_request_target:", "strangers' code"),
    "an image by its tag": (
        "runs-on: ubuntu-24.04", "runs-on: ubuntu-24.04\n    container: debian:12",
        "not pinned by its digest"),
    "a service's image by its tag": (
        "runs-on: ubuntu-24.04",
        "runs-on: ubuntu-24.04\n    services: {store: {image: 'redis:7'}}",
        "not pinned by its digest"),
    "a workflow by its branch": (
        "jobs:\n", "jobs:\n  call:\n    uses: some/body/.github/workflows/x.yml@main\n",
        "job call: some/body/.github/workflows/x.yml@main is not pinned"),
    "all secrets for somebody": (
        "runs-on: ubuntu-24.04", "secrets: inherit\n    runs-on: ubuntu-24.04",
        "hands on all secrets"),
    "a step without a name": ("- name: Say\n        env", "- env", "no name"),
}  # fmt: skip


class Workflows(unittest.TestCase):
    def test_every_workflow_holds_the_rules(self) -> None:
        self.assertGreaterEqual(len(WORKFLOWS), 5)
        for workflow in WORKFLOWS:
            with self.subTest(workflow.name):
                self.assertEqual(faults_of_workflow(workflow.read_text(), CHECKOUT), [])

    def test_every_action_holds_the_rules(self) -> None:
        self.assertTrue(ACTIONS)
        for action in ACTIONS:
            with self.subTest(action.parent.name):
                text = action.read_text()
                self.assertEqual(faults_of_action(text, action.parent, CHECKOUT), [])

    def test_the_workflows_for_others_can_be_called_and_started_by_hand(self) -> None:
        for name in REUSABLE:
            file = CHECKOUT / ".github" / "workflows" / f"{name}.yml"
            on = parse(file.read_text())["on"]
            self.assertLessEqual({"workflow_call", "workflow_dispatch"}, on.keys(), name)
            self.assertEqual("schedule" in on, name == "nightly")
            called = on["workflow_call"]["inputs"]
            by_hand = on["workflow_dispatch"]["inputs"]
            self.assertLessEqual(by_hand.keys(), called.keys(), name)

    def test_what_the_action_can_ask_the_workflows_can_ask(self) -> None:
        kinds = {"nightly": "nightly", "bisect": "bisection", "compare": "comparison"}
        for name, kind in kinds.items():
            document = parse((CHECKOUT / ".github" / "workflows" / f"{name}.yml").read_text())
            (given,) = [step["with"] for step in steps_of(document) if "kind" in step["with"]]
            self.assertEqual(given["kind"], kind)
            self.assertLessEqual(set(ask.MEMBERS[kind]), given.keys(), name)
            for start in ("workflow_call", "workflow_dispatch"):
                inputs = document["on"][start]["inputs"].keys()
                asked = {member.removesuffix("s") for member in ask.MEMBERS[kind]}
                self.assertLessEqual(asked, {word.removesuffix("s") for word in inputs}, name)

    def test_a_schedule_asks_nobody_where_no_service_is_named(self) -> None:
        document = parse((CHECKOUT / ".github" / "workflows" / "nightly.yml").read_text())
        condition = document["jobs"]["ask"]["if"]
        self.assertEqual(condition, "github.event_name != 'schedule' || vars.TORCHWATCH_URL != ''")

    def test_the_build_says_by_name_what_torchwatch_looks_for(self) -> None:
        text = (CHECKOUT / ".github/workflows/build.yml").read_text()
        script = (CHECKOUT / "deploy/fetching/actions_build.py").read_text()
        document = parse(text)
        self.assertIn("${{ inputs.request }}", document["run-name"])
        self.assertEqual(
            document["on"]["workflow_dispatch"]["inputs"].keys(), {"commit", "request"}
        )
        (step,) = [
            step
            for step in document["jobs"]["build"]["steps"]
            if f'UNBUILDABLE_STEP = "{step["name"]}"' in script
        ]
        self.assertIn("== '125'", step["if"])

    def test_actionlint_agrees_where_it_is_installed(self) -> None:
        if not shutil.which("actionlint"):
            print("skipped: actionlint is not installed")
            return
        done = subprocess.run(
            ["actionlint", *WORKFLOWS], check=False, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stdout)


class Checker(unittest.TestCase):
    def test_a_right_workflow_has_no_fault(self) -> None:
        self.assertEqual(faults_of_workflow(RIGHT, CHECKOUT), [])

    def test_a_planted_fault_is_found(self) -> None:
        for what, (before, behind, said) in PLANTED.items():
            with self.subTest(what):
                self.assertEqual(RIGHT.count(before), 1)
                faults = faults_of_workflow(RIGHT.replace(before, behind), CHECKOUT)
                self.assertTrue(any(said in fault for fault in faults), faults)

    def test_a_fault_in_the_action_is_found(self) -> None:
        (file,) = ACTIONS
        text = file.read_text()
        for before, behind, said in (
            ('"$GITHUB_ACTION_PATH/ask.py"', "${{ inputs.kind }}", "expression in run"),
            ("/ask.py", "/other.py", "does not exist"),
            ("        ASK_METRIC: ${{ inputs.metric }}\n", "", "input metric is not used"),
            ("      shell: bash\n", "", "no shell"),
            ("using: composite", "using: node20", "must be a composite action"),
        ):
            with self.subTest(said):
                self.assertEqual(text.count(before), 1)
                faults = faults_of_action(text.replace(before, behind), file.parent, CHECKOUT)
                self.assertTrue(any(said in fault for fault in faults), faults)


if __name__ == "__main__":
    unittest.main()

"""What paper.py asks a program, keeps of its answers and writes, with and without a GPU."""

import json
import subprocess
import sys
import tempfile
import tomllib
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[3]
PAPER = CHECKOUT / "tests" / "experiments" / "paper"
sys.path.insert(0, str(PAPER))

from paper_answers import Answer, Answers  # noqa: E402

Rule = tuple[str, dict[str, Any], int]

# Answers as torchwatch does: the first rule of whose words the call has all gives document and
# exit status; what it was asked goes to calls.
PROGRAM = """#!{python}
import json, sys
asked = " ".join(sys.argv[1:]).split(" --json ")[1]
with open({folder!r} + "/calls", "a") as calls:
    print(asked, file=calls)
for words, document, status in json.load(open({folder!r} + "/rules.json")):
    if set(words.split()) <= set(asked.split()):
        print(json.dumps(document))
        sys.exit(status)
sys.exit("nothing fits " + asked)
"""


def error(message: str) -> dict[str, Any]:
    return {"schema": 1, "error": {"code": "invalid", "message": message, "remedy": None}}


def check(gpu: str) -> dict[str, Any]:
    return {"items": [{"what": "processor", "found": "2 cores"}, {"what": "GPU", "found": gpu}]}


def workload(name: str, domain: str) -> dict[str, Any]:
    return {"name": name, "domain": domain, "task": "a task", "train_batch": 0, "eval_batch": 32}


def machine(number: int, kind: int) -> dict[str, Any]:
    return {
        "id": number,
        "machine_class": {"id": kind, "name": f"kind {kind}"},
        "processor": "Example CPU",
        "cores": 8,
        "gpu": None,
        "runs": 12,
    }


def observed(
    workload: str, mode: str, times: tuple[int, int, int] | None, reason: str | None = None
) -> dict[str, Any]:
    active, copy, idle = times or (None, None, None)
    return {
        "workload": workload,
        "configuration": f"cuda-{mode}",
        "reason": reason,
        "active_ns": active,
        "copy_ns": copy,
        "idle_ns": idle,
    }


def verdict(workload: str, word: str, ratio: float | None, **more: Any) -> dict[str, Any]:
    return {
        "workload": workload,
        "configuration": "cpu-infer",
        "metric": "time",
        "ratio": ratio,
        "interval": None if ratio is None else [ratio - 0.01, ratio + 0.01],
        "verdict": word,
    } | more


def compared(*verdicts: dict[str, Any]) -> dict[str, Any]:
    return {"confidence": 0.99, "runs": 24, "verdicts": list(verdicts)}


BESIDE_TIME = ("time", "throughput")
REFUSED = "runs with A and not with B: "
SUITE = {"items": [workload("vgg16", "computer vision"), workload("dlrm", "recommendation")]}
NOTHING = error("nothing is stored")
STUDY = {
    "pairs": [
        {
            "between": "gradients=zeroed",
            "and": "gradients=none",
            "benchmarks": 2,
            "comparison": compared(
                verdict("vgg16", "improved", 0.8), verdict("dlrm", "unchanged", 1.0)
            ),
        }
    ]
}
MACHINES = {
    "schema": 1,
    "build": {"name": "2.13.0"},
    "a": {"name": "kind 1"},
    "b": {"name": "kind 2"},
    "geometric_mean": {"ratio": 0.5, "interval": [0.4, 0.6]},
    "benchmarks": [
        {"workload": "vgg16", "configuration": "cpu-infer", "ratio": 0.5, "interval": [0.4, 0.6]}
    ],
    "only_a": [{"workload": "dlrm"}],
    "only_b": [],
}
COVERAGE = {
    "workloads": [{"domain": "computer vision"}, {"domain": "recommendation"}],
    "operators": 30,
    "operators_by_domain": {"computer vision": 20, "recommendation": 15},
    "operators_of_mlperf_networks": 15,
    "ratio_to_mlperf_networks": 2.0,
}
# A machine without a GPU and a torchwatch with eager alone, which has measured nothing.
PLAIN: list[Rule] = [
    ("check", check("none"), 1),
    ("workload list --coverage", COVERAGE, 0),
    ("workload list", SUITE, 0),
    ("machine list", NOTHING, 2),
    ("build list", {"items": [{"id": 4, "name": "libtorch", "folder": "/libtorch"}]}, 0),
    ("study --stored", NOTHING, 2),
    ("study", STUDY, 0),
    ("measure", {"figures": [{"status": "ok", "metric": each} for each in BESIDE_TIME]}, 0),
    ("compare", error("only eager mode is built"), 2),
]


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.program = self.folder / "torchwatch"
        self.program.write_text(PROGRAM.format(python=sys.executable, folder=str(self.folder)))
        self.program.chmod(0o755)

    def script(self, *arguments: str, answers: list[Rule] | None = None) -> tuple[int, str]:
        """Exit status and what was said, with those rules before the plain ones."""
        rules = [*(answers or []), *PLAIN]
        (self.folder / "rules.json").write_text(json.dumps(rules))
        done = subprocess.run(
            [
                *(sys.executable, "-B", str(PAPER / "paper.py"), str(self.program)),
                *(str(self.folder / "state"), "--planted", str(self.folder / "planted")),
                *arguments,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr

    def page(self, *arguments: str, answers: list[Rule] | None = None) -> str:
        status, said = self.script(*arguments, answers=answers)
        self.assertEqual(status, 0, said)
        return (self.folder / "state" / "README.md").read_text()

    def calls(self) -> list[str]:
        """What the program was asked since it was last asked here."""
        file = self.folder / "calls"
        lines = file.read_text().splitlines()
        file.unlink()
        return lines

    def has_picture(self, name: str) -> bool:
        file = self.folder / "state" / name
        return file.exists() and ET.fromstring(file.read_text()).tag.endswith("svg")  # noqa: S314


def section(page: str, title: str) -> str:
    """A section's text as one line, so that no wrap is in a test's way."""
    (found,) = [part for part in page.split("\n## ") if part.startswith(title)]
    return " ".join(found.split())


class WithoutGpu(Folder):
    def test_a_section_that_needs_a_gpu_says_so_and_shows_the_papers_figures(self) -> None:
        page = self.page()
        for title in ("Figures 1 and 2", "Table 2"):
            self.assertIn("Needs a GPU", section(page, title))
        self.assertIn("| computer vision | training | 0 | 53 % | - |", page)
        self.assertFalse(self.has_picture("figure-1.svg"))

    def test_nothing_of_a_gpu_is_asked_or_configured(self) -> None:
        self.page()
        self.assertFalse([call for call in self.calls() if "--profile" in call or "cuda" in call])
        self.assertNotIn("cuda", (self.folder / "state" / "torchwatch.toml").read_text())

    def test_the_suite_and_its_operators_stand_beside_the_papers(self) -> None:
        page = self.page()
        self.assertIn("has 84 workloads in 6 domains; this suite has 2", section(page, "Table 1"))
        self.assertIn("| vgg16 | a task | - | 32 |", page)
        self.assertIn("reaches 2.00 times as many", section(page, "Section 2.3"))

    def test_what_is_answered_is_not_asked_again(self) -> None:
        self.page()
        self.calls()
        self.page()
        measuring = ("measure", "study studies/gradients.toml .deps", "workload list --coverage")
        self.assertFalse([call for call in self.calls() if call.startswith(measuring)])

    def test_stored_measures_nothing(self) -> None:
        page = self.page("--stored")
        asked = {" ".join(call.split()[:2]) for call in self.calls() if "--stored" not in call}
        self.assertEqual(asked, {"check", "workload list", "machine list"})
        self.assertIn("Not measured: operators reached", page)

    def test_no_path_of_this_machine_is_on_the_page(self) -> None:
        rule = ("machine list", error(f"no database at {self.folder / 'state'}/paper.sqlite"), 2)
        outside = "/usr/include"  # one in the checkout is named by its place there
        page = self.page("--stored", "--build", outside, answers=[rule])
        self.assertIn("no database at FOLDER/paper.sqlite", section(page, "Table 3"))
        self.assertIn("Build BUILD, preset `small`", page)
        self.assertNotIn(outside, page)


class WithGpu(Folder):
    GPU: Rule = ("check", check("Example GPU"), 0)

    def measured(self, *rows: dict[str, Any]) -> Rule:
        document = {"build": "2.13.0+cu130", "figures": [], "observed": list(rows)}
        return ("measure --profile", document, 0)

    def rules(self, *rows: dict[str, Any]) -> list[Rule]:
        return [self.GPU, self.measured(*rows)]

    def test_shares_are_drawn_and_their_means_stand_beside_the_papers(self) -> None:
        rows = (
            observed("vgg16", "train", (90, 5, 5)),
            observed("dlrm", "train", (30, 10, 60)),
            observed("dlrm", "infer", (1, 0, 3)),
        )
        page = self.page(answers=self.rules(*rows))
        self.assertIn("| vgg16 | 90.0 % | 5.0 % | 5.0 % |", page)
        computer_vision = "| computer vision | training | 1 | 53 % | 90.0 % | - | 5.0 % | - | 5.0 %"
        self.assertIn(computer_vision, page)
        self.assertIn("| all | training | 2 | about 56 % | 60.0 % | - | 7.5 % | - | 32.5 %", page)
        self.assertIn("| all | inference | 1 | about 56 % | 25.0 % |", page)
        self.assertIn("of build 2.13.0+cu130.", section(page, "Figures 1 and 2"))
        self.assertTrue(self.has_picture("figure-1.svg"))
        self.assertTrue(self.has_picture("figure-2.svg"))
        self.assertIn("cuda-train", (self.folder / "state" / "torchwatch.toml").read_text())

    def test_runs_without_shares_have_their_reason_and_are_asked_again(self) -> None:
        why = "only root may record what a GPU does"
        without = self.rules(observed("vgg16", "train", None, why))
        self.assertIn(why, section(self.page(answers=without), "Figures 1 and 2"))
        with_shares = self.rules(observed("vgg16", "train", (1, 1, 2)))
        self.assertIn("| vgg16 | 25.0 % |", self.page(answers=with_shares))


class Ratios(Folder):
    def test_a_backend_that_is_not_built_is_said_and_asked_again_until_it_is(self) -> None:
        missing = section(self.page(), "Figures 3 and 4")
        self.assertIn("backend aot_inductor: only eager mode is built", missing)
        self.assertIn("1.30 times as fast in training", missing)
        answer = compared(
            verdict("vgg16", "improved", 0.5),
            verdict("vgg16", "unchanged", 1.25, metric="cpu_peak_resident"),
            verdict("dlrm", "unsupported", None, reason=REFUSED + "it reads values (2)"),
            verdict("maml", "unsupported", None, reason="the original cannot"),
            verdict("moco", "failed", None, reason="killed by signal 11"),
        )
        page = self.page(answers=[("compare backend=aot_inductor", answer, 0)])
        filled = section(page, "Figures 3 and 4")
        self.assertIn("| aot_inductor | cpu-infer | time | 1 | -50.0 % of 1 |", filled)
        self.assertIn("| CPU memory, resident peak | 1 | +25.0 % of 1 |", filled)
        self.assertIn("1 of 4 benchmarks ran in eager mode and under aot_inductor.", filled)
        for reason in ("it reads values (1)", "the original cannot (1)", "killed by signal 11 (1)"):
            self.assertIn(reason, filled)
        self.assertIn("backend torchscript: only eager mode is built", filled)
        self.assertTrue(self.has_picture("figure-4-aot_inductor.svg"))
        self.assertFalse(self.has_picture("figure-3-aot_inductor.svg"))
        self.calls()
        self.page()
        self.assertFalse([call for call in self.calls() if "backend=aot_inductor" in call])

    def test_training_under_torchscript_is_figure_3(self) -> None:
        self.page()
        (asked,) = (call for call in self.calls() if "backend=torchscript" in call)
        self.assertIn("--configuration=cpu-train", asked)
        answer = compared(
            verdict("vgg16", "improved", 0.5, configuration="cpu-train"),
            verdict("vgg16", "improved", 0.8),
        )
        page = self.page(answers=[("compare backend=torchscript", answer, 0)])
        self.assertIn("| torchscript | cpu-train | time | 1 | -50.0 % of 1 |", page)
        self.assertTrue(self.has_picture("figure-3-torchscript.svg"))
        self.assertTrue(self.has_picture("figure-4-torchscript.svg"))

    def test_a_backend_that_takes_nothing_has_its_reasons(self) -> None:
        refused = [
            verdict(name, "unsupported", None, reason=REFUSED + why)
            for name, why in (("vgg16", "it reads values (1)"), ("dlrm", "it reads values (4)"))
        ]
        rule: Rule = ("compare backend=aot_inductor", compared(*refused), 0)
        page = section(self.page(answers=[rule]), "Figures 3 and 4")
        self.assertIn("0 of 2 benchmarks ran in eager mode and under aot_inductor.", page)
        self.assertIn("Others: it reads values (2).", page)

    def test_a_study_has_its_mean_its_verdicts_and_its_runs(self) -> None:
        page = self.page()
        row = "| gradients | gradients=zeroed to gradients=none | 2 | -10.6 % ["
        self.assertIn(row, page)
        self.assertIn("| 1 improved, 1 unchanged | 24 |", page)
        self.assertTrue(self.has_picture("figure-6.svg"))

    def test_a_stored_study_is_taken_from_the_database(self) -> None:
        rule: Rule = ("study studies/gradients.toml --stored", STUDY, 0)
        figure = section(self.page("--stored", answers=[rule]), "Figure 6")
        self.assertIn("| gradients | gradients=zeroed to gradients=none | 2 |", figure)
        self.assertIn("Not measured: studies allocator,", figure)
        self.calls()
        self.page("--stage=gradients")
        self.assertIn("study studies/gradients.toml .deps/libtorch", self.calls())

    def test_what_a_daemon_has_taken_on_is_no_answer(self) -> None:
        rule: Rule = ("study studies/gradients.toml", {"title": "Gradients", "requests": [7]}, 0)
        figure = section(self.page("--stage=gradients", answers=[rule]), "Figure 6")
        self.assertIn("a running daemon has taken it on", figure)

    def test_two_classes_of_machines_are_divided(self) -> None:
        listed = {"items": [machine(3, 2), machine(2, 1), machine(1, 1)]}
        rules: list[Rule] = [
            ("machine list", listed, 0),
            ("compare 4 machine=2 machine=3", MACHINES, 0),
        ]
        figure = section(self.page("--stored", answers=rules), "Figure 5")
        self.assertIn("1 benchmarks ran on both, 1 on A alone, 0 on B alone", figure)
        self.assertIn("0.500 [0.400, 0.600], 95 %", figure)
        self.assertTrue(self.has_picture("figure-5-pair-1.svg"))

    def test_one_class_of_machines_leaves_nothing_to_divide(self) -> None:
        rules: list[Rule] = [("machine list", {"items": [machine(2, 1), machine(1, 1)]}, 0)]
        page = self.page("--stage=times", answers=rules)
        self.assertIn("Times of 1 benchmarks were measured here", section(page, "Figure 5"))
        self.assertIn("| 1 | Example CPU | 8 | none | 12 |", section(page, "Table 3"))
        self.assertFalse([call for call in self.calls() if "machine=" in call])


class Stops(Folder):
    def test_a_stop_leaves_what_was_answered_and_the_next_call_resumes(self) -> None:
        status, said = self.script(answers=[("compare", {}, 130)])
        self.assertEqual(status, 130)
        self.assertIn("call it again to resume", said)
        self.assertTrue([call for call in self.calls() if call.startswith("measure")])
        self.page()
        self.assertFalse([call for call in self.calls() if call.startswith("measure")])

    def test_a_folder_is_about_one_build_and_one_preset(self) -> None:
        self.page("--stage=suite")
        status, said = self.script("--preset=paper")
        self.assertEqual(status, 1)
        self.assertIn("is about preset small: take another folder", said)

    def test_an_unknown_workload_is_refused_and_configures_nothing(self) -> None:
        status, said = self.script("--workload=nosuch")
        self.assertEqual(status, 1)
        self.assertIn("not in the suite: nosuch", said)
        self.assertFalse((self.folder / "state" / "torchwatch.toml").exists())

    def test_of_a_part_of_the_suite_studies_measure_that_part(self) -> None:
        self.page("--workload=dlrm")
        configured = tomllib.loads((self.folder / "state" / "torchwatch.toml").read_text())
        self.assertEqual(configured["suite"]["workloads"], ["dlrm"])
        self.assertFalse([call for call in self.calls() if "--workload=vgg16" in call])

    def test_a_configuration_that_lies_there_is_used_as_it_is(self) -> None:
        (self.folder / "state").mkdir()
        own = self.folder / "state" / "torchwatch.toml"
        own.write_text("# somebody's\n")
        self.page("--stored")
        self.assertEqual(own.read_text(), "# somebody's\n")

    def test_an_answer_that_failed_replaces_none_that_is_whole(self) -> None:
        listed: Rule = ("machine list", {"items": [machine(1, 1)]}, 0)
        self.page("--stored", answers=[listed])
        self.assertIn("Example CPU", section(self.page("--stored"), "Table 3"))

    def test_a_half_written_answer_is_none(self) -> None:
        answers = Answers(self.folder / "answers")
        (self.folder / "answers" / "suite.partial").write_text('{"name"')
        self.assertIsNone(answers.find("suite"))
        answers.keep(Answer("suite", ["torchwatch"], "items", "", "", 0.0, SUITE))
        self.assertEqual([answer.name for answer in answers.all()], ["suite"])


if __name__ == "__main__":
    unittest.main()

"""The questions that each stage asks torchwatch, in the order in which they are asked."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[3]  # where torchwatch is called
STUDIES = CHECKOUT / "studies"
PAPER_STUDY = "gradients"  # the one whose question the paper asks
CHOICES_STUDIES = ("data_moved", "python")  # of the workloads of choices.toml
GPU_STUDY = "data_moved"
# What each can be asked for: a package holds a forward.
BACKENDS = {"aot_inductor": ("infer",), "torchscript": ("infer", "train")}
# measure does not resume: a stop loses the portion under way and nothing else.
PORTION = 14
STAGES = ("suite", "coverage", "times", "shares", "backends", "machines", "gradients", "studies")


@dataclass(frozen=True)
class Step:
    name: str
    arguments: tuple[str, ...]
    expected: str  # the member of its answer that says that it is whole
    measures: bool = True
    needs_gpu: bool = False
    with_choices: bool = False  # the workloads of deploy/workloads/choices.toml are in the suite


@dataclass(frozen=True)
class Subject:
    """What is asked about."""

    build: str
    preset: str
    workloads: tuple[str, ...]  # in the suite's order

    def portions(self) -> Iterator[tuple[str, ...]]:
        for first in range(0, len(self.workloads), PORTION):
            chosen = self.workloads[first : first + PORTION]
            yield tuple(f"--workload={workload}" for workload in chosen)


SUITE = Step("suite", ("workload", "list"), "items", measures=False)
CHECK = Step("check", ("check",), "items", measures=False)
MACHINES = Step("machines", ("machine", "list"), "items", measures=False)
BUILDS = Step("builds", ("build", "list"), "items", measures=False)


def _coverage(subject: Subject) -> list[Step]:
    arguments = ("workload", "list", "--coverage", "--build", subject.build)
    return [Step("coverage", arguments, "operators")]


def _in_portions(subject: Subject, name: str, *options: str, needs_gpu: bool) -> list[Step]:
    ask = ("measure", subject.build, "--preset", subject.preset, *options)
    return [
        Step(f"{name}-{number}", (*ask, *portion), "figures", needs_gpu=needs_gpu)
        for number, portion in zip(count(1), subject.portions())
    ]


def _backends(subject: Subject, has_gpu: bool) -> list[Step]:
    devices = ("cpu", "cuda") if has_gpu else ("cpu",)
    workloads = [f"--workload={each}" for each in subject.workloads]

    def step(backend: str) -> Step:
        configurations = [
            f"--configuration={device}-{mode}" for device in devices for mode in BACKENDS[backend]
        ]
        settings = ("--between", "backend=eager", "--and", f"backend={backend}")
        ask = ("compare", subject.build, "--preset", subject.preset)
        return Step(
            f"backend-{backend}", (*ask, *settings, *configurations, *workloads), "verdicts"
        )

    return [step(backend) for backend in BACKENDS]


def study_names() -> list[str]:
    """The shipped studies, the paper's question first."""
    others = sorted(file.stem for file in STUDIES.glob("*.toml") if file.stem != PAPER_STUDY)
    return [PAPER_STUDY, *others]


def study(name: str, build: str) -> Step:
    """Measures a study's pairs; those that had ended are not measured again."""
    return Step(
        f"study-{name}",
        ("study", f"studies/{name}.toml", build),
        "pairs",
        needs_gpu=name == GPU_STUDY,
        with_choices=name in CHOICES_STUDIES,
    )


STORED = "--stored"


def stored_study(name: str, build: str) -> Step:
    """What the database has of a study, which may be some of its pairs."""
    arguments = ("study", f"studies/{name}.toml", build, STORED)
    return Step(f"study-{name}", arguments, "pairs", measures=False)


def _times(subject: Subject) -> list[Step]:
    # An interval of two machines' ratio takes three runs on each.
    return _in_portions(subject, "times", "--metric", "time", "--runs", "3", needs_gpu=False)


def _shares(subject: Subject) -> list[Step]:
    options = ("--profile", "--configuration=cuda-train", "--configuration=cuda-infer")
    return _in_portions(subject, "shares", *options, needs_gpu=True)


def steps_of(stage: str, subject: Subject, has_gpu: bool) -> list[Step]:
    """The stage's questions; none of the stages suite and machines, which measure nothing."""
    steps: dict[str, Callable[[], list[Step]]] = {
        "coverage": lambda: _coverage(subject),
        "times": lambda: _times(subject),
        "shares": lambda: _shares(subject),
        "backends": lambda: _backends(subject, has_gpu),
        "gradients": lambda: [study(PAPER_STUDY, subject.build)],
        "studies": lambda: [study(name, subject.build) for name in study_names()[1:]],
    }
    return steps[stage]() if stage in steps else []


def number_of_build(builds: Sequence[dict[str, Any]], build: str) -> int | None:
    """The newest one of that name or folder, else the newest of all; None where there is none.

    Machines are compared by builds that are known, which a folder is not by its path."""
    if not builds:
        return None
    folder = str((CHECKOUT / build).resolve())
    meant = [each["id"] for each in builds if each["name"] == build or each["folder"] == folder]
    return max(meant or [each["id"] for each in builds])


def pairs_of_machines(machines: Sequence[dict[str, Any]], build: int) -> list[Step]:
    """A step for each two classes of machines, by the newest machine of each."""
    newest: dict[int, int] = {}
    for machine in machines:
        if machine["machine_class"]:
            newest.setdefault(machine["machine_class"]["id"], machine["id"])
    ids = sorted(newest.values())
    return [
        Step(
            f"pair-{number}",
            ("compare", str(build), "--between", f"machine={a}", "--and", f"machine={b}"),
            "benchmarks",
            measures=False,
        )
        for number, (a, b) in zip(count(1), combinations(ids, 2))
    ]

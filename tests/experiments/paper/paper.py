#!/usr/bin/env python3
"""Writes the tables and figures of the TorchBench paper again, each beside the paper's numbers.

    tests/experiments/paper/paper.py TORCHWATCH FOLDER [--build BUILD] [--preset small|paper]
                                     [--stage STAGE ...] [--workload NAME ...] [--stored]
                                     [--service URL] [--planted FOLDER] [--page FILE]

TORCHWATCH is the program. FOLDER gets a configuration and a database of its own; a torchwatch.toml
that lies there is used as it is, so that FOLDER may be a service's, and its [suite] then says at
which preset studies are measured. Every answer is kept: a stage that was stopped resumes, and what
could not be answered (no GPU, a backend that is not built) is asked again at the next call.

| stage | what torchwatch is asked | for |
|---|---|---|
| suite | `workload list` | Table 1 |
| coverage | `workload list --coverage` | section 2.3 |
| times | `measure`, times alone | Figure 5 |
| shares | `measure --profile` on a GPU | Figures 1 and 2, Table 2 |
| backends | `compare --between backend=eager --and backend=...` | Figures 3 and 4 |
| machines | `machine list`; `compare --between machine=... --and machine=...` | Table 3, Figure 5 |
| gradients | `study studies/gradients.toml` | Figure 6, section 4.1 |
| studies | `study` with each other file of studies/ | the same |

Without --stage: all, which takes hours. suite is always asked, machines whenever the page is
written. --stored measures nothing: it takes what is kept in FOLDER and what the database has of
studies and machines. --service takes the shares that a running daemon has stored, which anybody may
read. Tables 4 and 5 are of what planted_days.py kept (--planted). The page is a README.md in
FOLDER, or --page; its pictures lie beside it.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

EXPERIMENTS = Path(__file__).resolve().parents[1]
DEMONSTRATION = EXPERIMENTS.parents[1] / "deploy" / "demonstration"
FOLDERS = (EXPERIMENTS, EXPERIMENTS / "releases", EXPERIMENTS / "planted_days", DEMONSTRATION)
sys.path[:0] = map(str, FOLDERS)

import paper_steps  # noqa: E402
import stoppable_call  # noqa: E402
from paper_answers import Answers  # noqa: E402
from paper_page import page  # noqa: E402
from paper_program import Program, gpus_of, hold, say  # noqa: E402
from paper_service import stored_shares  # noqa: E402
from paper_shares import shares_in  # noqa: E402
from paper_steps import CHECKOUT, STAGES, Step, Subject  # noqa: E402

BUILD = ".deps/libtorch"
COMMAND = "tests/experiments/paper/paper.py torchwatch FOLDER"


def asked_of(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """What the folder's answers are about: what the first call said, or what this one does. Ends
    the program where the two differ, as answers on different things make no page."""
    file = folder / "paper.json"
    kept: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    said = {
        "build": options.build and _from_checkout(options.build),
        "preset": options.preset,
        "workloads": sorted(set(options.workload)),
    }
    for name, value in said.items():
        if value and name in kept and value != kept[name]:
            sys.exit(f"paper: {folder} is about {name} {kept[name]}: take another folder")
    default = {"build": BUILD, "preset": "small", "workloads": []}
    return {name: said[name] or kept.get(name, default[name]) for name in default}


def subject_of(asked: dict[str, Any], suite: Sequence[str]) -> Subject:
    wanted = set(asked["workloads"] or suite)
    if unknown := sorted(wanted - set(suite)):
        sys.exit(f"paper: not in the suite: {', '.join(unknown)}")
    chosen = tuple(name for name in suite if name in wanted)
    return Subject(asked["build"], asked["preset"], chosen)


def is_answered(step: Step, answers: Answers) -> bool:
    """Shares count once there are some: what kept them from being recorded may be gone now. What
    was stored of a study need not be all of it."""
    answer = answers.whole(step.name)
    if answer is None or paper_steps.STORED in answer.command:
        return False
    return not step.name.startswith("shares") or bool(shares_in([answer]))


def _from_checkout(build: str) -> str:
    """A folder's name as it is seen from the checkout; a release's stays."""
    path = Path(build)
    if not path.is_dir():
        return build
    whole = path.resolve()
    return str(whole.relative_to(CHECKOUT) if whole.is_relative_to(CHECKOUT) else whole)


def measure(program: Program, answers: Answers, steps: Sequence[Step], has_gpu: bool) -> None:
    """Asks what has no whole answer yet. One that fails keeps no other from being asked."""
    for step in steps:
        if is_answered(step, answers):
            continue
        if step.needs_gpu and not has_gpu:
            say(f"{step.name}: needs a GPU, and there is none")
            continue
        say(f"{step.name}: torchwatch {' '.join(step.arguments[:2])} ...")
        program.ask(step, answers)


def read_stored(program: Program, answers: Answers, subject: Subject) -> None:
    """What the database has, which takes no time: machines, and studies that are not kept."""
    machines = program.ask(paper_steps.MACHINES, answers)
    if machines.is_whole:
        builds = program.ask(paper_steps.BUILDS, answers).document.get("items", [])
        number = paper_steps.number_of_build(builds, subject.build)
        if number is not None:
            for step in paper_steps.pairs_of_machines(machines.document["items"], number):
                program.ask(step, answers)
    for name in paper_steps.study_names():
        step = paper_steps.stored_study(name, subject.build)
        if not is_answered(step, answers):
            program.ask(step, answers)


def keep_shares(service: str, answers: Answers) -> None:
    answer = stored_shares(service)
    if answer.is_whole or not answers.whole(answer.name):
        answers.keep(answer)
    if answer.reason:
        say(answer.reason)


def carry_out(options: argparse.Namespace) -> None:
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    stoppable_call.heed_signals()
    with hold(folder) as held:
        program = Program(options.torchwatch.resolve(), folder, held.fileno())
        answers = Answers(folder / "answers")
        asked = asked_of(folder, options)
        program.stand_in(asked["preset"])
        has_gpu = gpus_of(program.ask(paper_steps.CHECK, answers).document) is not None
        suite = program.ask(paper_steps.SUITE, answers)
        if not suite.is_whole:
            sys.exit(f"paper: torchwatch lists no workloads: {suite.reason}")
        names = [workload["name"] for workload in suite.document["items"]]
        subject = subject_of(asked, names)
        if not options.stored:
            program.configure(subject, has_gpu, bool(asked["workloads"]))
            (folder / "paper.json").write_text(json.dumps(asked) + "\n")
            for stage in options.stage or STAGES:
                steps = paper_steps.steps_of(stage, subject, has_gpu)
                measure(program, answers, steps, has_gpu)
        read_stored(program, answers, subject)
        if options.service:
            keep_shares(options.service, answers)
        file = options.page or folder / "README.md"
        written = page(answers, subject, options.planted, COMMAND)
        elsewhere = {subject.build: "BUILD"} if Path(subject.build).is_absolute() else {}
        written.without({str(folder): "FOLDER", **elsewhere}).write(file)
        say(f"wrote {file}")


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("torchwatch", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--build", help=f"a folder or a release; default: {BUILD}")
    parser.add_argument("--preset", choices=["small", "paper"], help="default: small")
    parser.add_argument(
        "--stage", action="append", choices=STAGES, help="default: all; may be given again"
    )
    parser.add_argument("--workload", action="append", default=[], metavar="NAME")
    parser.add_argument("--stored", action="store_true", help="measure nothing")
    parser.add_argument("--service", metavar="URL", help="of a daemon that has profiles stored")
    parser.add_argument("--planted", type=Path, default=CHECKOUT / "build" / "planted-days")
    parser.add_argument("--page", type=Path, help="default: README.md in FOLDER")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    try:
        carry_out(parse())
    except KeyboardInterrupt:
        say("stopped; call it again to resume")
        sys.exit(stoppable_call.INTERRUPTED)

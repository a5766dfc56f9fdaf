"""Asks torchwatch, and keeps what it answers."""

import fcntl
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import stoppable_call
from paper_answers import Answer, Answers, Document
from paper_steps import CHECKOUT, Step, Subject

# Nothing of [measure]: what torchwatch is delivered with.
CONFIGURATION = """\
[storage]
path = "{folder}/paper.sqlite"
[channel]
path = "{folder}/nightlies"
[build]
cache = "{folder}/builds"
[executor]
scratch = "{folder}/scratch"
[suite]
preset = "{preset}"
configurations = {configurations}
"""


CHOICES = CHECKOUT / "deploy" / "workloads"


def choices() -> str:
    """The tables of choices.toml, for a configuration that lies elsewhere."""
    text = (CHOICES / "choices.toml").read_text()
    text = text.replace('"./choices.py"', json.dumps(str(CHOICES / "choices.py")))
    helper = "torchwatch_workload.py"
    return text.replace(f'"{helper}"', json.dumps(str(CHOICES / helper)))


def say(line: str) -> None:
    print(f"paper: {line}", file=sys.stderr)


def hold(folder: Path) -> TextIO:
    """Has the folder alone until this and the program that it called have ended. Ends this where
    another one has it."""
    file = (folder / "measuring").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"paper: another call measures in {folder}: wait for its end")
    return file


def commit_of_checkout() -> str:
    done = subprocess.run(
        ["git", "-C", CHECKOUT, "describe", "--always", "--dirty", "--abbrev=8"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


def document_of(output: str, status: int) -> Document:
    """What a call printed; an error in the same form where it printed no document."""
    try:
        document = json.loads(output)
    except json.JSONDecodeError:
        document = None
    if isinstance(document, dict):
        return document
    return {"error": {"message": f"torchwatch ended with exit status {status} and no answer"}}


@dataclass(frozen=True)
class Program:
    """torchwatch with the folder's configuration."""

    path: Path
    folder: Path
    held: int  # descriptor of `hold`, which the program inherits: this one may be killed alone

    @property
    def configuration(self) -> Path:
        """The folder's own, if there is one; else what stands in for it until all is known."""
        own = self.folder / "torchwatch.toml"
        return own if own.exists() else self.folder / "first.toml"

    @property
    def is_configured(self) -> bool:
        return self.configuration.name == "torchwatch.toml"

    def stand_in(self, preset: str) -> None:
        if not self.is_configured:
            self._write("first.toml", preset, ("cpu",), ())

    def configure(self, subject: Subject, has_gpu: bool, is_part: bool) -> None:
        """Writes the folder's configuration where there is none. is_part: of the suite alone what
        the subject has, as studies take their workloads from there."""
        if not self.is_configured:
            devices = ("cpu", "cuda") if has_gpu else ("cpu",)
            workloads = subject.workloads if is_part else ()
            self._write("torchwatch.toml", subject.preset, devices, workloads)

    def configuration_of(self, step: Step) -> Path:
        """The folder's configuration; for a step with the choices a file that has them, too."""
        if not step.with_choices:
            return self.configuration
        file = self.folder / "choices.toml"
        file.write_text(f"{self.configuration.read_text()}{choices()}")
        return file

    def _write(
        self, name: str, preset: str, devices: Sequence[str], workloads: Sequence[str]
    ) -> None:
        configurations = [f"{device}-{mode}" for device in devices for mode in ("train", "infer")]
        text = CONFIGURATION.format(
            folder=self.folder, preset=preset, configurations=json.dumps(configurations)
        )
        if workloads:
            text += f"workloads = {json.dumps(workloads)}\n"
        (self.folder / "nightlies").mkdir(exist_ok=True)  # the channel's; nothing here needs one
        (self.folder / name).write_text(text)

    def call(self, *arguments: str, configuration: Path | None = None) -> tuple[Document, float]:
        """The document and how many seconds it took; configuration: another than the folder's. A
        stop of torchwatch is one of this."""
        begun = time.monotonic()
        done: subprocess.CompletedProcess[Any] = stoppable_call.call(
            [self.path, "--config", configuration or self.configuration, "--json", *arguments],
            stdout=subprocess.PIPE,
            text=True,
            cwd=CHECKOUT,
            pass_fds=(self.held,),
        )
        if done.returncode == stoppable_call.INTERRUPTED:
            raise KeyboardInterrupt
        return document_of(done.stdout, done.returncode), time.monotonic() - begun

    def ask(self, step: Step, answers: Answers) -> Answer:
        """Asks anew and keeps the answer. One that is not whole replaces no whole one."""
        document, seconds = self.call(*step.arguments, configuration=self.configuration_of(step))
        answer = Answer(
            name=step.name,
            command=["torchwatch", *step.arguments],
            expected=step.expected,
            asked_at=datetime.now(UTC).isoformat(timespec="seconds"),
            commit=commit_of_checkout(),
            seconds=round(seconds, 1),
            document=document,
        )
        if answer.is_whole or not answers.whole(step.name):
            answers.keep(answer)
        if answer.reason:
            say(f"{step.name}: {answer.reason}")
        return answer


def gpus_of(check: Document) -> str | None:
    """The names of the GPUs that `torchwatch check` finds; None where it finds none."""
    found = [item["found"] for item in check.get("items", []) if item["what"] == "GPU"]
    return found[0] if found and found[0] != "none" else None

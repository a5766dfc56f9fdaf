"""The page: every table and figure of the paper, each beside what was measured here."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paper_answers import Answer, Answers
from paper_machines import figure_5, table_3
from paper_planted import tables_4_and_5
from paper_program import gpus_of
from paper_published import sources
from paper_section import Section
from paper_shares import figures_1_and_2, table_2
from paper_steps import Subject
from paper_suite import coverage, table_1
from paper_verdicts import figure_6, figures_3_and_4

ABOUT = (
    "The tables and figures of the TorchBench paper (Hao and others, arXiv 2304.14226), each "
    "beside what this suite shows here. Nothing is read off the paper's pictures: what its text "
    "and tables do not say, or what could not be had of them, is a dash."
)


@dataclass(frozen=True)
class Page:
    text: str
    pictures: dict[str, str]  # SVG by file name

    def without(self, paths: Mapping[str, str]) -> "Page":
        """The page with a word for each path of this machine, which says nothing to others."""
        text = self.text
        for path, word in paths.items():
            text = text.replace(path, word)
        return Page(text, self.pictures)

    def write(self, file: Path) -> None:
        """The page, and the pictures beside it."""
        file.parent.mkdir(parents=True, exist_ok=True)
        for name, svg in self.pictures.items():
            (file.parent / name).write_text(svg)
        file.write_text(self.text)


def _machine(answers: Answers) -> str:
    machines = answers.whole("machines")
    if not machines or not machines.document["items"]:
        return "no machine yet"
    # An answer that was kept may be of an earlier one.
    said = [
        f"{each['processor']}, {each['cores']} cores, {each['gpu'] or 'no GPU'}"
        for each in machines.document["items"]
    ]
    return "; ".join(dict.fromkeys(said))


def _head(answers: Answers, subject: Subject, command: str) -> Section:
    section = Section("What was asked")
    section.say(
        f"Build {subject.build}, preset `{subject.preset}`, {len(subject.workloads)} workloads; "
        f"measured on {_machine(answers)}."
    )
    section.lines += ["```sh", command, "```", ""]
    section.say(
        "Every answer of torchwatch is kept in FOLDER and not measured again; what is missing is "
        "asked at the next call. With `--stored` nothing is measured."
    )
    return section


def _sources() -> Section:
    section = Section("Where the paper's figures were read")
    section.say(
        "Second hand: read in somebody else's words, which nobody compared with the source here."
    )
    section.table(
        ("source", "second hand"),
        (
            (f"[{each.title}]({each.url})", "yes" if each.is_second_hand else "")
            for each in sources()
        ),
    )
    return section


def _tail(answers: list[Answer]) -> Section:
    section = Section("Where each figure comes from")
    section.table(
        ("answer", "question", "asked at (UTC)", "checkout", "seconds"),
        (
            (
                answer.name,
                f"`{_short(answer.command)}`",
                answer.asked_at[:16].replace("T", " "),
                answer.commit,
                f"{answer.seconds:.0f}",
            )
            for answer in answers
            if answer.is_whole
        ),
    )
    return section


def _short(command: list[str]) -> str:
    """Without the names of workloads, of which there may be many."""
    kept = [part for part in command if not part.startswith("--workload=")]
    left_out = len(command) - len(kept)
    return " ".join(kept) + (f" (and {left_out} --workload)" if left_out else "")


def page(answers: Answers, subject: Subject, planted: Path, command: str) -> Page:
    """Written of what is kept, whatever that is."""
    check = answers.find("check")
    has_gpu = bool(check and gpus_of(check.document))
    sections = [
        _head(answers, subject, command),
        table_1(answers),
        coverage(answers),
        figures_1_and_2(answers, has_gpu),
        table_2(answers, has_gpu),
        figures_3_and_4(answers),
        table_3(answers),
        figure_5(answers),
        figure_6(answers),
        tables_4_and_5(planted),
        _sources(),
        _tail(answers.all()),
    ]
    about = Section("")
    about.say(ABOUT)
    text = "\n".join(
        ["# The TorchBench paper's tables and figures", "", *about.lines]
        + [section.text() for section in sections]
    )
    pictures = {name: svg for section in sections for name, svg in section.pictures.items()}
    return Page(text.rstrip("\n") + "\n", pictures)

"""The page of results: what comparisons of releases said, and what upstream says of it."""

import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path

import release_table
from release_changes import TIMES, Change, changes_between
from release_rounds import Measured, Pair

NOTES = Path(__file__).with_name("upstream_notes.toml")
ABOUT = """\
The suite at its preset `small` on the CPU, each release against the one before it: PyTorch's
ordinary wheels, everything as torchwatch is delivered. What changed by more than 7 %, or by more
than 2 % where a peak is exact, was measured again at least six hours later, and is listed here with
the second measurement, which nothing chose. "Upstream" is what PyTorch's own notes say of it; empty
where nothing is known to say so."""
# The sections of what holds.
HEADINGS = ("Slower", "Faster", "More memory", "Less memory")


@dataclass(frozen=True)
class Where:
    """What the figures are of."""

    machine: str
    commit: str  # of torchwatch


@dataclass(frozen=True)
class Note:
    """What upstream's notes say of a change."""

    releases: str  # "2.8.0 to 2.9.1"
    workload: str
    metric: str
    text: str
    source: str

    def is_of(self, pair: Pair, change: Change) -> bool:
        wanted = (self.releases, self.workload, self.metric)
        return wanted == (" to ".join(pair), change.workload, change.metric)


def notes_in(file: Path) -> list[Note]:
    return [Note(**table) for table in tomllib.loads(file.read_text()).get("note", [])]


def heading_of(change: Change) -> str:
    of_time = change.metric in TIMES
    is_more = change.newest["candidate_value"] > change.newest["baseline_value"]
    return HEADINGS[(0 if of_time else 2) + (0 if is_more else 1)]


def _said(notes: list[Note], pair: Pair, change: Change) -> str:
    return "; ".join(f"[{n.text}]({n.source})" for n in notes if n.is_of(pair, change))


def _holding(measured: list[Measured], notes: list[Note]) -> list[str]:
    """A table each of what got slower, faster, larger, smaller, the greatest change first."""
    held = [
        (pair, change)
        for pair, first, again in measured
        for change in changes_between(first, again)
        if change.state == "holds"
    ]
    held.sort(key=lambda each: abs((each[1].newest["ratio"] or 0) - 1), reverse=True)
    text: list[str] = []
    for heading in HEADINGS:
        rows = [
            release_table.holding_line(pair, change, _said(notes, pair, change))
            for pair, change in held
            if heading_of(change) == heading
        ]
        if rows:
            text += [f"## {heading}", "", *release_table.HOLDING_HEAD, *rows, ""]
    return text or ["## What holds", "", "Nothing of what changed was there the second time.", ""]


def _when(measured: list[Measured], where: Where) -> str:
    documents = [each for _, *both in measured for each in both if each]
    dates = sorted(each["ended_at"][:10] for each in documents if each["ended_at"])
    hours = sum(each["seconds"] or 0 for each in documents) / 3600
    runs = sum(each["runs"] for each in documents)
    period = f"{dates[0]} to {dates[-1]}" if dates else "on days that are not known"
    return (
        f"{len(documents)} comparisons, {runs:,} runs in {hours:.1f} hours, {period}, on "
        f"{where.machine}; torchwatch at {where.commit}."
    )


def page(measured: list[Measured], notes: list[Note], where: Where, command: str) -> str:
    """The whole page. `measured` has at least one pair."""
    lines = [
        "# What changed between PyTorch's releases",
        "",
        ABOUT,
        "",
        *textwrap.wrap(_when(measured, where), 100),
        "",
        *_holding(measured, notes),
        "## All that was measured",
        "",
        *release_table.lines(measured),
        "",
        "## How to repeat it",
        "",
        "```sh",
        command,
        "```",
    ]
    return "\n".join(lines) + "\n"

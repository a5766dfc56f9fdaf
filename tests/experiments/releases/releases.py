#!/usr/bin/env python3
"""Compares consecutive releases of PyTorch over the whole suite, and what changed once more.

    tests/experiments/releases/releases.py measure TORCHWATCH FOLDER [--release VERSION ...]
                                                   [--workload NAME ...]
    tests/experiments/releases/releases.py table FOLDER

TORCHWATCH is the program. `measure` compares each release with the one before it on the CPU, preset
small: an hour or more for a pair. Where something changed, its workloads are compared again, at
least six hours after the first time. Called again after it was stopped it resumes, and
measures again what has become old enough. A pair that fails keeps no other from being measured.

`table` writes Markdown: each pair's counts and mean change, then every change of more than 7 %, and
whether it was there the second time. FOLDER/comparisons.jsonl holds the documents behind it.
"""

import argparse
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kept_rows import KeptRows
from nightly_call import CONCLUDED
from release_changes import Change, changes_between, mean_change, signed_percent
from suite_table import CONFIGURATION

RELEASES = ["2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"]
APART = timedelta(hours=6)
INTERRUPTED = 130

Pair = tuple[str, str]


class Comparisons:
    """What was measured so far, by pair and round (1, 2)."""

    def __init__(self, folder: Path) -> None:
        self._kept = KeptRows(folder / "comparisons.jsonl")

    def of(self, pair: Pair, number: int) -> dict[str, Any] | None:
        return self._kept.find(baseline=pair[0], candidate=pair[1], round=number)

    def documents(self) -> list[tuple[Pair, dict[str, Any], dict[str, Any] | None]]:
        """What both rounds said of each pair; None: it was not measured again."""
        firsts = [row for row in self._kept.rows if row["round"] == 1]
        pairs = [(row["baseline"], row["candidate"]) for row in firsts]
        seconds = [self.of(pair, 2) for pair in pairs]
        return [
            (pair, first["document"], second["document"] if second else None)
            for pair, first, second in zip(pairs, firsts, seconds, strict=True)
        ]

    def add(self, pair: Pair, number: int, document: dict[str, Any]) -> None:
        self._kept.add(
            {
                "baseline": pair[0],
                "candidate": pair[1],
                "round": number,
                "ended_at": datetime.now(UTC).isoformat(timespec="seconds"),
                "document": document,
            }
        )


class Program:
    """torchwatch with a state of its own."""

    def __init__(self, path: Path, folder: Path) -> None:
        self._path = path
        self._configuration = folder / "releases.toml"
        self._configuration.write_text(CONFIGURATION.format(state=folder, preset="small"))

    def compare(self, pair: Pair, workloads: list[str]) -> dict[str, Any] | None:
        """The document; None, having said so, where the two could not be compared."""
        options = [f"--workload={workload}" for workload in workloads]
        done = subprocess.run(
            [self._path, "--config", self._configuration, "--json", "compare", *options, *pair],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode == INTERRUPTED:
            sys.exit("releases: stopped; call it again to resume")
        if done.returncode not in CONCLUDED:
            say(f"{pair[0]} and {pair[1]} could not be compared: exit status {done.returncode}")
            return None
        return json.loads(done.stdout)


def say(line: str) -> None:
    print(f"releases: {line}", file=sys.stderr)


def measure_once(
    program: Program, comparisons: Comparisons, pairs: list[Pair], workloads: list[str]
) -> None:
    for pair in pairs:
        if comparisons.of(pair, 1):
            continue
        say(f"comparing {pair[1]} with {pair[0]}")
        if document := program.compare(pair, workloads):
            comparisons.add(pair, 1, document)


def measure_again(program: Program, comparisons: Comparisons, pairs: list[Pair]) -> None:
    for pair in pairs:
        first = comparisons.of(pair, 1)
        if not first or comparisons.of(pair, 2):
            continue
        workloads = sorted({change.workload for change in changes_between(first["document"], None)})
        if not workloads:
            continue
        due = datetime.fromisoformat(first["ended_at"]) + APART
        if datetime.now(UTC) < due:
            say(f"{pair[1]} and {pair[0]} again from {due:%Y-%m-%d %H:%M} UTC on")
            continue
        say(f"comparing {pair[1]} with {pair[0]} again: {', '.join(workloads)}")
        if document := program.compare(pair, workloads):
            comparisons.add(pair, 2, document)


def measure(options: argparse.Namespace) -> None:
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    program = Program(options.torchwatch.resolve(), folder)
    comparisons = Comparisons(folder)
    pairs = list(pairwise(options.release or RELEASES))
    measure_once(program, comparisons, pairs, options.workload)
    measure_again(program, comparisons, pairs)


def pair_row(pair: Pair, document: dict[str, Any]) -> str:
    verdicts = document["verdicts"]
    times = [verdict for verdict in verdicts if verdict["metric"] == "time"]
    counts = [
        sum(verdict["verdict"] == word for verdict in verdicts)
        for word in ("regressed", "improved", "inconclusive", "unchanged")
    ]
    means = [
        mean_change([v for v in times if v["configuration"] == name], document["confidence"])
        for name in ("cpu-train", "cpu-infer")
    ]
    return "| " + " | ".join([" to ".join(pair), *map(str, counts), *means]) + " |"


def change_row(pair: Pair, change: Change) -> str:
    cells = [
        " to ".join(pair),
        change.workload,
        change.configuration,
        change.metric,
        signed_percent(change.first),
        signed_percent(change.again) if change.again else "",
        change.state,
    ]
    return "| " + " | ".join(cells) + " |"


def print_table(options: argparse.Namespace) -> None:
    measured = Comparisons(options.folder).documents()
    print("| releases | regressed | improved | open | unchanged | time, train | time, infer |")
    print("|---|---|---|---|---|---|---|")
    for pair, first, _ in measured:
        print(pair_row(pair, first))
    print("\n| releases | workload | configuration | metric | first | again | |")
    print("|---|---|---|---|---|---|---|")
    for pair, first, again in measured:
        for change in changes_between(first, again):
            print(change_row(pair, change))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    measuring = commands.add_parser("measure", help="compare what has not been compared yet")
    measuring.add_argument("torchwatch", type=Path)
    measuring.add_argument("folder", type=Path)
    measuring.add_argument(
        "--release", action="append", metavar="VERSION", help=f"default: {' '.join(RELEASES)}"
    )
    measuring.add_argument("--workload", action="append", default=[], metavar="NAME")
    measuring.set_defaults(run=measure)
    table = commands.add_parser("table", help="write what was measured as Markdown")
    table.add_argument("folder", type=Path)
    table.set_defaults(run=print_table)
    return parser.parse_args()


if __name__ == "__main__":
    options = parse()
    options.run(options)

#!/usr/bin/env python3
"""Compares consecutive releases of PyTorch over the whole suite, and what changed once more.

    tests/experiments/releases/releases.py measure TORCHWATCH FOLDER [--release VERSION ...]
                                                   [--workload NAME ...]
    tests/experiments/releases/releases.py table FOLDER [--workload NAME ...]
    tests/experiments/releases/releases.py page FOLDER PAGE --machine TEXT --commit COMMIT

TORCHWATCH is the program. `measure` compares each release with the one before it on the CPU, preset
small, with the settings of measuring that torchwatch is delivered with (5 iterations to warm up, 10
to 30 counted, enough after 500 ms): what a user would see. By the table of
docs/results/suite-small.md they take 152 s for each benchmark once, where 3 and 10 iterations take
118 s, with which docs/results/suite.md compared the suite in 65 minutes. So a pair is estimated at
75 minutes, and 1 to 5 more for each benchmark that changed, which is measured on: below 3 hours
unless half of the suite changed.

Where something changed by more than 7 % (2 % of a peak that is exact), or ran with one release
alone, the workload is compared again, at least six hours later. Called again after it was stopped
it resumes, takes over what a comparison came to whose caller was killed, and measures again what
has become old enough. A pair that fails keeps no other from being measured.

`table` writes Markdown: each pair's counts and mean change, every such change and whether it was
there the second time, and what stopped running or runs now. It shows the comparisons of the whole
suite, or those of the same --workload. FOLDER/comparisons.jsonl holds the documents behind it.

`page` writes PAGE, for docs/results: first what was there the second time too, with what upstream
says of it (upstream_notes.toml, by hand), then the tables. It refuses to while a change waits for
its second measurement.
"""

import argparse
import sys
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import release_page
import release_table
import stoppable_call
from release_changes import to_measure_again
from release_rounds import Call, Comparisons, Pair, Program, hold, say

RELEASES = ["2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"]
APART = timedelta(hours=6)
COMMAND = (
    "tests/experiments/releases/releases.py measure torchwatch FOLDER   # again after six hours"
)


def carry_out(program: Program, comparisons: Comparisons, call: Call) -> None:
    if comparisons.has_begun(call) and (ended := program.ended(call, comparisons)):
        say(f"{call.pair[1]} and {call.pair[0]} had been compared to the end")
        comparisons.add(call, ended)
        return
    comparisons.begin(call)
    if document := program.compare(call):
        comparisons.add(call, document)


def measure_once(
    program: Program, comparisons: Comparisons, pairs: list[Pair], selection: list[str]
) -> None:
    for pair in pairs:
        if comparisons.of(pair, 1, selection):
            continue
        say(f"comparing {pair[1]} with {pair[0]}")
        carry_out(program, comparisons, Call(pair, 1, selection, selection))


def measure_again(
    program: Program, comparisons: Comparisons, pairs: list[Pair], selection: list[str]
) -> None:
    for pair in pairs:
        first = comparisons.of(pair, 1, selection)
        if not first or comparisons.of(pair, 2, selection):
            continue
        workloads = to_measure_again(first["document"])
        if not workloads:
            continue
        due = datetime.fromisoformat(first["ended_at"]) + APART
        if datetime.now(UTC) < due:
            say(f"{pair[1]} and {pair[0]} again from {due:%Y-%m-%d %H:%M} UTC on")
            continue
        say(f"comparing {pair[1]} with {pair[0]} again: {', '.join(workloads)}")
        carry_out(program, comparisons, Call(pair, 2, selection, workloads))


def measure(options: argparse.Namespace) -> None:
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    stoppable_call.heed_signals()
    with hold(folder) as held:
        program = Program(options.torchwatch.resolve(), folder, held.fileno())
        comparisons = Comparisons(folder)
        pairs = list(pairwise(options.release or RELEASES))
        selection = sorted(set(options.workload))
        measure_once(program, comparisons, pairs, selection)
        measure_again(program, comparisons, pairs, selection)


def print_table(options: argparse.Namespace) -> None:
    measured = Comparisons(options.folder).documents(sorted(set(options.workload)))
    print("\n".join(release_table.lines(measured)))


def write_page(options: argparse.Namespace) -> None:
    measured = Comparisons(options.folder).documents([])
    waiting = [
        " to ".join(pair)
        for pair, first, again in measured
        if not again and to_measure_again(first)
    ]
    if waiting or not measured:
        sys.exit(f"nothing to write yet: not measured again: {', '.join(waiting) or 'nothing was'}")
    where = release_page.Where(options.machine, options.commit)
    text = release_page.page(measured, release_page.notes_in(options.notes), where, COMMAND)
    options.page.write_text(text)
    say(f"wrote {options.page}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    measuring = commands.add_parser("measure", help="compare what has not been compared yet")
    measuring.add_argument("torchwatch", type=Path)
    measuring.add_argument("folder", type=Path)
    measuring.add_argument(
        "--release", action="append", metavar="VERSION", help=f"default: {' '.join(RELEASES)}"
    )
    measuring.set_defaults(run=measure)
    table = commands.add_parser("table", help="write what was measured as Markdown")
    table.add_argument("folder", type=Path)
    table.set_defaults(run=print_table)
    page = commands.add_parser("page", help="write the page of results")
    page.add_argument("folder", type=Path)
    page.add_argument("page", type=Path)
    page.add_argument("--machine", required=True, help="what the figures are of")
    page.add_argument("--commit", required=True, help="of torchwatch")
    page.add_argument("--notes", type=Path, default=release_page.NOTES)
    page.set_defaults(run=write_page)
    for each in (measuring, table):
        each.add_argument("--workload", action="append", default=[], metavar="NAME")
    return parser.parse_args()


if __name__ == "__main__":
    options = parse()
    try:
        options.run(options)
    except KeyboardInterrupt:
        say("stopped; call it again to resume")
        sys.exit(stoppable_call.INTERRUPTED)

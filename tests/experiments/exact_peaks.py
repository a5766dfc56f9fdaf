#!/usr/bin/env python3
"""Counts how often what LibTorch's allocators count differs between runs of one build.

    tests/experiments/exact_peaks.py FILE ...

The rule of [detect] exact_threshold rests on this: a false alarm needs runs of one build that
differ by the threshold and agree among themselves, on both sides. FILE is a database of torchwatch,
of which each comparison's runs of one build are a group, or a table of self_test.py. Prints a table
(Markdown): groups of at least two runs, runs, groups that differ, the largest difference in them,
comparisons of a build with itself and those that changed, each share with its 95 % upper bound.
Exit status 1 if a group differs by the threshold or more.
"""

import argparse
import math
import re
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

COUNTED = ("cpu_peak", "device_peak")
SAMPLED = ("cpu_peak_resident", "device_peak_total")
THRESHOLD = 0.02

GROUPS = """
SELECT value.metric, attempt.comparison_id, attempt.build_id, value.benchmark_id, value.value
  FROM value JOIN attempt ON attempt.id = value.attempt_id
 WHERE attempt.state = 'done' AND attempt.comparison_id IS NOT NULL
"""
SELF_TESTS = """
SELECT verdict.metric, verdict.verdict
  FROM verdict JOIN comparison ON comparison.id = verdict.comparison_id
 WHERE comparison.baseline_id = comparison.candidate_id
   AND verdict.verdict IN ('unchanged', 'regressed', 'improved', 'inconclusive')
"""


@dataclass
class Tally:
    groups: int = 0
    runs: int = 0
    differing: int = 0
    largest: float = 0.0
    self_tests: int = 0
    changed: int = 0


Tallies = dict[str, Tally]


def add_group(tally: Tally, values: list[int]) -> None:
    """One run alone agrees with itself, which shows nothing."""
    if len(values) < 2:
        return
    tally.groups += 1
    tally.runs += len(values)
    if min(values) == max(values):
        return
    tally.differing += 1
    share = max(values) / min(values) - 1 if min(values) > 0 else math.inf
    tally.largest = max(tally.largest, share)


def add_database(file: Path, tallies: Tallies) -> None:
    database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        groups = defaultdict(list)
        for metric, *group, value in database.execute(GROUPS):
            if metric in COUNTED + SAMPLED:
                groups[metric, *group].append(value)
        for (metric, *_), values in groups.items():
            add_group(tallies[metric], values)
        for metric, verdict in database.execute(SELF_TESTS):
            if metric in COUNTED + SAMPLED:
                tallies[metric].self_tests += 1
                tallies[metric].changed += verdict in ("regressed", "improved")
    finally:
        database.close()


def add_self_test_table(text: str, tallies: Tallies) -> None:
    """A cell without an interval says that all runs of both sides, one build, were equal."""
    for line in text.splitlines():
        cells = line.strip().strip("|").split("|")
        if len(cells) != 9 or not re.match(r"c(pu|uda)-", cells[1]) or not cells[4].isdigit():
            continue
        for metric, runs, cell in (("cpu_peak", *cells[4:6]), ("cpu_peak_resident", *cells[6:8])):
            tally = tallies[metric]
            found = re.match(r"([+-][0-9.]+)(?: \[([+-][0-9.]+), ([+-][0-9.]+)\])?$", cell)
            if found is None:
                continue
            tally.groups += 1
            tally.runs += int(runs)
            tally.self_tests += 1
            tally.changed += f"{metric}: regressed" in cells[8] or f"{metric}: improved" in cells[8]
            if found[2] is not None:
                tally.differing += 1
                tally.largest = max(
                    tally.largest, *(abs(float(end)) / 100 for end in found.groups()[1:])
                )


def upper_bound(hits: int, trials: int) -> float:
    """The one-sided 95 % bound of Clopper and Pearson, by halving."""
    if trials in (0, hits):
        return 1.0
    low, high = hits / trials, 1.0
    for _ in range(60):
        share = (low + high) / 2
        at_most = math.fsum(
            math.exp(
                math.lgamma(trials + 1)
                - math.lgamma(k + 1)
                - math.lgamma(trials - k + 1)
                + (k * math.log(share) if k else 0.0)
                + (trials - k) * math.log1p(-share)
            )
            for k in range(hits + 1)
        )
        low, high = (share, high) if at_most > 0.05 else (low, share)
    return high


def share_text(hits: int, trials: int) -> str:
    return f"{hits} of {trials} (< {100 * upper_bound(hits, trials):.2g} %)" if trials else "-"


def table_of(tallies: Tallies) -> str:
    lines = [
        "|metric|groups|runs|groups that differ|largest difference|self-tests that changed|",
        "|-|-:|-:|-:|-:|-:|",
    ]
    for metric in COUNTED + SAMPLED:
        tally = tallies[metric]
        if tally.groups == 0:
            continue
        lines.append(
            f"|{metric}|{tally.groups}|{tally.runs}|{share_text(tally.differing, tally.groups)}"
            f"|{100 * tally.largest:.1f} %|{share_text(tally.changed, tally.self_tests)}|"
        )
    return "\n".join(lines)


def tallies_of(files: Iterable[Path]) -> Tallies:
    tallies: Tallies = defaultdict(Tally)
    for file in files:
        if file.read_bytes()[:6] == b"SQLite":
            add_database(file, tallies)
        else:
            add_self_test_table(file.read_text(), tallies)
    return tallies


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    tallies = tallies_of(parser.parse_args().files)
    print(table_of(tallies))
    return int(any(tallies[metric].largest >= THRESHOLD for metric in COUNTED))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Measures how asv's step detection and Apache Otava do on recorded noise.

    peer_detectors.py NOISE.csv [--history FILE] [--seed N] [--json]

Both look for change points in the history of a series with one value for each comparison: the
median of its processes. They are called as they are, with their defaults, on the same comparisons
as experiment_detection judges, and analyse the series anew after each of them. Without a change, a
reported slowdown is a false alarm in the comparison in which it is new: more than two comparisons
away from any that was reported before. A change is found in the first comparison in which a
slowdown within two comparisons of it is reported. Needs the packages of
peer_detectors_requirements.txt.
"""

import argparse
import functools
import json
import math
import random
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asv import step_detect
from otava.series import Metric, Series
from scipy.stats import binomtest

from noise_recording import BadRecording, Recording, read_recording

CHANGES = [0, 0.035, 0.05, 0.07, 0.085, 0.10, 0.15, 0.20]
REPORTED_BY = [0, 1, 3, 9]
NEAR = 2  # comparisons by which a report may miss its change
ASV_THRESHOLD = 0.05  # asv's default, regressions_thresholds of asv.conf.json


Stretches = tuple[list[int], list[int] | None]
"""Where slower and where faster stretches begin; None where they are not looked for."""

Detector = Callable[[Sequence[float]], Stretches]


# The detectors: values of a history, oldest first, to the places where a slower and where a faster
# stretch begins; None where a detector does not look for one.


def asv(values: Sequence[float]) -> Stretches:
    steps = step_detect.detect_steps(values)
    found = step_detect.detect_regressions(steps, ASV_THRESHOLD)[2]
    return [after for _, after, _, _ in found or []], None


def otava_changes(values: Sequence[float]) -> list[tuple[int, float]]:
    series = Series(
        "series", None, list(range(len(values))), {"time": Metric()}, {"time": list(values)}, {}
    )
    return [
        (change.index, change.forward_change_percent())
        for change in series.analyze().change_points["time"]
    ]


analysed_by_otava = functools.cache(otava_changes)  # two detectors ask the same of it


def otava(values: Sequence[float], least_percent: float = 0) -> Stretches:
    changes = analysed_by_otava(tuple(values))
    return (
        [place for place, percent in changes if percent > least_percent],
        [place for place, percent in changes if percent < -least_percent],
    )


def otava_over_7(values: Sequence[float]) -> Stretches:
    return otava(values, least_percent=7)


DETECTORS: dict[str, Detector] = {
    "asv 0.6.6": asv,
    "otava 0.8.0": otava,
    "otava 0.8.0, over 7 %": otava_over_7,
}


@dataclass
class Chain:
    """Comparisons in a row: those before `first` are history, the others are judged."""

    workload: str
    values: list[float]
    first: int


def recorded_chains(recording: Recording, history: Recording) -> list[Chain]:
    """Without a history of its own a recording is its own: a ring. Its first comparison is then not
    judged, as in experiment_detection."""
    if history.keys() != recording.keys():
        raise BadRecording("the two recordings are not of the same workloads")
    skipped = 1 if history is recording else 0
    return [
        Chain(workload, history[workload] + values, len(history[workload]) + skipped)
        for workload, values in recording.items()
    ]


def drawn_chains(recording: Recording, comparisons: int, generator: random.Random) -> list[Chain]:
    """Chains of comparisons drawn with replacement, as long as the recorded ones, with at least
    `comparisons` to judge in all."""
    chains: list[Chain] = []
    while sum(len(chain.values) - chain.first for chain in chains) < comparisons:
        for workload, values in recording.items():
            drawn = generator.choices(values, k=2 * len(values))
            chains.append(Chain(workload, drawn, len(values)))
    return chains


def is_near(place: int, places: list[int]) -> bool:
    return any(abs(place - other) <= NEAR for other in places)


def new_reports(detect: Detector, chain: Chain) -> list[list[bool]]:
    """For each judged comparison whether a slowdown, and whether a speed-up, is reported anew."""
    known = [list(places or []) for places in detect(chain.values[: chain.first])]
    comparisons = []
    for comparison in range(chain.first, len(chain.values)):
        reports = []
        for seen, places in zip(known, detect(chain.values[: comparison + 1]), strict=True):
            reports.append(any(not is_near(place, seen) for place in places or []))
            seen.extend(places or [])
        comparisons.append(reports)
    return comparisons


def comparisons_until_found(
    detect: Detector, chain: Chain, comparison: int, change: float
) -> float:
    """Comparisons after the change in which it is first reported; infinity if in none of nine."""
    values = chain.values[:comparison] + [
        value * (1 + change) for value in chain.values[comparison:]
    ]
    for after in range(REPORTED_BY[-1] + 1):
        if is_near(comparison, detect(values[: comparison + after + 1])[0]):
            return after
    return math.inf


def changed_comparisons(
    chains: list[Chain], at_most: int, generator: random.Random
) -> list[tuple[Chain, int]]:
    """Judged comparisons that have nine after them; at most `at_most`, drawn at random."""
    comparisons = [
        (chain, comparison)
        for chain in chains
        for comparison in range(chain.first, len(chain.values) - REPORTED_BY[-1])
    ]
    return comparisons if len(comparisons) <= at_most else generator.sample(comparisons, at_most)


def share(hits: int, of: int) -> dict[str, Any]:
    interval = binomtest(hits, of).proportion_ci(method="exact")
    return {"count": hits, "of": of, "rate": hits / of, "low": interval.low, "high": interval.high}


def row_of_alarms(name: str, sampling: str, chains: list[Chain]) -> dict[str, Any]:
    reports = [comparison for chain in chains for comparison in new_reports(DETECTORS[name], chain)]
    row = {
        "rule": name,
        "sampling": sampling,
        "change": 0,
        "judged": len(reports),
        "slower": share(sum(slower for slower, _ in reports), len(reports)),
    }
    if DETECTORS[name] is not asv:
        row["faster"] = share(sum(faster for _, faster in reports), len(reports))
    return row


def row_of_change(
    name: str, sampling: str, comparisons: list[tuple[Chain, int]], change: float
) -> dict[str, Any]:
    delays = [
        comparisons_until_found(DETECTORS[name], chain, comparison, change)
        for chain, comparison in comparisons
    ]
    found = [delay for delay in delays if delay < math.inf]
    by = [
        {"comparisons": most, "slower": share(sum(delay <= most for delay in delays), len(delays))}
        for most in REPORTED_BY
    ]
    return {
        "rule": name,
        "sampling": sampling,
        "change": change,
        "judged": len(delays),
        "slower_by": by,
        "median_delay": statistics.median(found) if found else None,
    }


def rows_of(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    recording = read_recording(options.noise)
    history = read_recording(options.history) if options.history else recording
    generator = random.Random(options.seed)
    samplings = {"chronological": recorded_chains(recording, history)}
    if not options.only_chronological:
        samplings["resampled"] = drawn_chains(recording, options.comparisons, generator)
    for sampling, chains in samplings.items():
        comparisons = changed_comparisons(chains, options.comparisons_changed, generator)
        for name in DETECTORS:
            show_progress(f"{sampling}: {name}")
            yield row_of_alarms(name, sampling, chains)
            for change in options.change:
                show_progress(f"{sampling}: {name}, {change:+.1%}")
                yield row_of_change(name, sampling, comparisons, change)
    show_progress("")


def spelled(part: dict[str, float]) -> str:
    return f"{100 * part['rate']:.4g} ({100 * part['low']:.3g}-{100 * part['high']:.3g})"


def print_alarms(rows: list[dict[str, Any]]) -> None:
    print("|nothing changed|sampling|judged|slower, false alarms %|faster %|\n|-|-|-|-|-|")
    for row in rows:
        if "slower" in row:
            faster = spelled(row["faster"]) if "faster" in row else "-"
            print(
                f"|{row['rule']}|{row['sampling']}|{row['judged']}|{spelled(row['slower'])}|"
                f"{faster}|"
            )


def print_power(rows: list[dict[str, Any]], sampling: str, changes: list[float]) -> None:
    print(
        f"\n|{sampling}, reported as slower, %|"
        + "|".join(f"{100 * change:+.1f} %" for change in changes)
        + "|"
    )
    print("|-|" + "-|" * len(changes))
    for name in DETECTORS:
        changed = [
            row
            for row in rows
            if row["rule"] == name and row["sampling"] == sampling and "slower_by" in row
        ]
        for place, comparisons in enumerate(REPORTED_BY):
            cells = [spelled(row["slower_by"][place]["slower"]) for row in changed]
            print(
                f"|{name}{f', by +{comparisons}' if comparisons else ''}|" + "|".join(cells) + "|"
            )
        delays = [
            "-" if row["median_delay"] is None else f"{row['median_delay']:g}" for row in changed
        ]
        print(f"|{name}, median delay in comparisons, where found|" + "|".join(delays) + "|")


def show_progress(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{what}", end="", flush=True, file=sys.stderr)


def positive(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f'"{text}" is not a whole number above 0')
    return int(text)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("noise", type=Path, metavar="NOISE.csv")
    parser.add_argument(
        "--history",
        type=Path,
        metavar="FILE",
        help="a recording of earlier comparisons, which are history and not judged",
    )
    parser.add_argument(
        "--seed", type=int, default=20260101, help="seed of what is drawn (20260101)"
    )
    parser.add_argument(
        "--comparisons",
        type=positive,
        default=4000,
        help="comparisons of a series drawn without a change, at least (4000)",
    )
    parser.add_argument(
        "--comparisons-changed",
        type=positive,
        default=600,
        help="comparisons of a series for each change, at most (600)",
    )
    parser.add_argument(
        "--change",
        type=float,
        action="append",
        metavar="RATIO",
        help=f"change of the times, as ratio - 1; repeatable (default: {CHANGES})",
    )
    parser.add_argument(
        "--only-chronological", action="store_true", help="comparisons as recorded, none drawn"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    options.change = options.change or CHANGES
    return options


def main() -> None:
    options = parse_arguments()
    try:
        rows = list(rows_of(options))
    except BadRecording as reason:
        sys.exit(f"peer_detectors.py: {reason}")
    if options.json:
        print(
            json.dumps({"file": str(options.noise), "seed": options.seed, "rows": rows}, indent=2)
        )
        return
    print(f"{options.noise}: seed {options.seed}\n")
    print_alarms(rows)
    for sampling in dict.fromkeys(row["sampling"] for row in rows):
        print_power(rows, sampling, options.change)


if __name__ == "__main__":
    main()

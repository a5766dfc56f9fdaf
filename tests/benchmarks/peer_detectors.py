#!/usr/bin/env python3
"""How asv's step detection and Apache Otava do on recorded noise, night by night.

    peer_detectors.py NOISE.csv [--history FILE] [--seed N] [--json]

Both look for change points in the history of a series, one value a night: the median of the night's
processes. They are called as they are, with their defaults, on the same nights as
benchmark_detection judges. A detector analyses a series anew every night. Without a change a report
of a slowdown counts as a false alarm in the night in which it is new: not within two nights of one
that was reported before. A change counts as found by the night in which a slowdown within two
nights of it is reported. Needs the packages of peer_detectors_requirements.txt.
"""

import argparse
import csv
import functools
import json
import math
import random
import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from asv import step_detect
from otava.series import Metric, Series
from scipy.stats import binomtest

CHANGES = [0, 0.035, 0.05, 0.07, 0.085, 0.10, 0.15, 0.20]
REPORTED_BY = [0, 1, 3, 9]
NEAR = 2  # nights by which a report may miss its change
ASV_THRESHOLD = 0.05  # asv's default, regressions_thresholds of asv.conf.json
COLUMNS = ["night", "process", "workload", "ns"]
NIGHTS_MIN = 10


class BadRecording(Exception):
    pass


# The detectors: values of a history, oldest first, to the places where a slower and where a faster
# stretch begins; None where a detector does not look for one.

def asv(values):
    steps = step_detect.detect_steps(values)
    found = step_detect.detect_regressions(steps, ASV_THRESHOLD)[2]
    return [after for _, after, _, _ in found or []], None


def otava_changes(values):
    series = Series("series", None, list(range(len(values))), {"time": Metric()},
                    {"time": list(values)}, {})
    return [(change.index, change.forward_change_percent())
            for change in series.analyze().change_points["time"]]


analysed_by_otava = functools.cache(otava_changes)  # two detectors ask the same of it


def otava(values, least_percent=0):
    changes = analysed_by_otava(tuple(values))
    return ([place for place, percent in changes if percent > least_percent],
            [place for place, percent in changes if percent < -least_percent])


def otava_over_7(values):
    return otava(values, least_percent=7)


DETECTORS = {"asv 0.6.6": asv, "otava 0.8.0": otava, "otava 0.8.0, over 7 %": otava_over_7}


# The recording: {workload: values of the nights}, in order.

def number_of(row, column, convert):
    try:
        value = convert(row[column])
    except (TypeError, ValueError):
        value = math.nan
    if not (math.isfinite(value) and value >= 0 and (column != "ns" or value > 0)):
        raise BadRecording(f'{column} is "{row[column]}", not a number '
                           + ("above 0" if column == "ns" else "from 0 on"))
    return value


def add_row(row, samples):
    if None in row or None in row.values():
        raise BadRecording("has another number of fields than the first line")
    key = (number_of(row, "night", int), number_of(row, "process", int))
    samples[row["workload"]][key].append(number_of(row, "ns", float))


def read_rows(file):
    reader = csv.DictReader(file)
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or [])]
    if missing:
        raise BadRecording(f"its first line names no column {', '.join(missing)}; needed are "
                           + ", ".join(COLUMNS))
    samples = defaultdict(lambda: defaultdict(list))
    for row in reader:
        try:
            add_row(row, samples)
        except BadRecording as reason:
            raise BadRecording(f"line {reader.line_num}: {reason}") from None
    return samples


def values_of_nights(of_workload):
    processes = defaultdict(list)
    for (night, _), samples in sorted(of_workload.items()):
        processes[night].append(statistics.median(samples))
    return {night: statistics.median(medians) for night, medians in processes.items()}


def read_recording(path):
    try:
        with open(path, newline="") as file:
            samples = read_rows(file)
    except OSError as error:
        raise BadRecording(f"{path}: cannot be read: {error.strerror}") from None
    except (BadRecording, UnicodeDecodeError, csv.Error) as reason:
        raise BadRecording(f"{path}: {reason}") from None
    values = {workload: values_of_nights(of) for workload, of in sorted(samples.items())}
    nights = {night for of_workload in values.values() for night in of_workload}
    for workload, of_workload in values.items():
        if lacking := nights - of_workload.keys():
            raise BadRecording(f"{path}: workload {workload} has no run in night {min(lacking)}")
    if len(nights) < NIGHTS_MIN:
        raise BadRecording(f"{path}: {len(nights)} nights; at least {NIGHTS_MIN} are needed")
    return {workload: list(of_workload.values()) for workload, of_workload in values.items()}


@dataclass
class Chain:
    """Nights in a row: those before `first` are history, the others are judged."""
    workload: str
    values: list
    first: int


def recorded_chains(recording, history):
    """Without a history of its own a recording is its own: a ring. Its first night is then not
    judged, as in benchmark_detection."""
    if history.keys() != recording.keys():
        raise BadRecording("the two recordings are not of the same workloads")
    skipped = 1 if history is recording else 0
    return [Chain(workload, history[workload] + values, len(history[workload]) + skipped)
            for workload, values in recording.items()]


def drawn_chains(recording, nights, generator):
    """Chains of nights drawn with replacement, as long as the recorded ones, with so many nights
    to judge in all."""
    chains = []
    while sum(len(chain.values) - chain.first for chain in chains) < nights:
        for workload, values in recording.items():
            drawn = generator.choices(values, k=2 * len(values))
            chains.append(Chain(workload, drawn, len(values)))
    return chains


def is_near(place, places):
    return any(abs(place - other) <= NEAR for other in places)


def new_reports(detect, chain):
    """For each judged night whether a slowdown, and whether a speed-up, is reported anew."""
    known = [list(places or []) for places in detect(chain.values[:chain.first])]
    nights = []
    for night in range(chain.first, len(chain.values)):
        reports = []
        for seen, places in zip(known, detect(chain.values[:night + 1])):
            reports.append(any(not is_near(place, seen) for place in places or []))
            seen.extend(places or [])
        nights.append(reports)
    return nights


def nights_until_found(detect, chain, night, change):
    """Nights after the change in which it is first reported; infinity if in none of nine."""
    values = chain.values[:night] + [value * (1 + change) for value in chain.values[night:]]
    for after in range(REPORTED_BY[-1] + 1):
        if is_near(night, detect(values[:night + after + 1])[0]):
            return after
    return math.inf


def changed_nights(chains, at_most, generator):
    """Judged nights that have nine after them; so many of them if there are more."""
    nights = [(chain, night) for chain in chains
              for night in range(chain.first, len(chain.values) - REPORTED_BY[-1])]
    return nights if len(nights) <= at_most else generator.sample(nights, at_most)


def share(hits, of):
    interval = binomtest(hits, of).proportion_ci(method="exact")
    return {"count": hits, "of": of, "rate": hits / of, "low": interval.low, "high": interval.high}


def row_of_alarms(name, sampling, chains):
    reports = [night for chain in chains for night in new_reports(DETECTORS[name], chain)]
    row = {"rule": name, "sampling": sampling, "change": 0, "judged": len(reports),
           "slower": share(sum(slower for slower, _ in reports), len(reports))}
    if DETECTORS[name] is not asv:
        row["faster"] = share(sum(faster for _, faster in reports), len(reports))
    return row


def row_of_change(name, sampling, nights, change):
    delays = [nights_until_found(DETECTORS[name], chain, night, change) for chain, night in nights]
    found = [delay for delay in delays if delay < math.inf]
    by = [{"nights": most, "slower": share(sum(delay <= most for delay in delays), len(delays))}
          for most in REPORTED_BY]
    return {"rule": name, "sampling": sampling, "change": change, "judged": len(delays),
            "slower_by": by, "median_delay": statistics.median(found) if found else None}


def rows_of(options):
    recording = read_recording(options.noise)
    history = read_recording(options.history) if options.history else recording
    generator = random.Random(options.seed)
    samplings = {"chronological": recorded_chains(recording, history)}
    if not options.only_chronological:
        samplings["resampled"] = drawn_chains(recording, options.nights, generator)
    for sampling, chains in samplings.items():
        nights = changed_nights(chains, options.nights_changed, generator)
        for name in DETECTORS:
            show_progress(f"{sampling}: {name}")
            yield row_of_alarms(name, sampling, chains)
            for change in options.change:
                show_progress(f"{sampling}: {name}, {change:+.1%}")
                yield row_of_change(name, sampling, nights, change)
    show_progress("")


def spelled(part):
    return f"{100 * part['rate']:.4g} ({100 * part['low']:.3g}-{100 * part['high']:.3g})"


def print_alarms(rows):
    print("|nothing changed|sampling|judged|slower, false alarms %|faster %|\n|-|-|-|-|-|")
    for row in rows:
        if "slower" in row:
            faster = spelled(row["faster"]) if "faster" in row else "-"
            print(f"|{row['rule']}|{row['sampling']}|{row['judged']}|{spelled(row['slower'])}|"
                  f"{faster}|")


def print_power(rows, sampling, changes):
    print(f"\n|{sampling}, reported as slower, %|"
          + "|".join(f"{100 * change:+.1f} %" for change in changes) + "|")
    print("|-|" + "-|" * len(changes))
    for name in DETECTORS:
        changed = [row for row in rows if row["rule"] == name and row["sampling"] == sampling
                   and "slower_by" in row]
        for place, nights in enumerate(REPORTED_BY):
            cells = [spelled(row["slower_by"][place]["slower"]) for row in changed]
            print(f"|{name}{f', by +{nights}' if nights else ''}|" + "|".join(cells) + "|")
        delays = ["-" if row["median_delay"] is None else f"{row['median_delay']:g}"
                  for row in changed]
        print(f"|{name}, median delay in nights, where found|" + "|".join(delays) + "|")


def show_progress(what):
    if sys.stderr.isatty():
        print(f"\r\033[K{what}", end="", flush=True, file=sys.stderr)


def positive(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f'"{text}" is not a whole number above 0')
    return int(text)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("noise", type=Path, metavar="NOISE.csv")
    parser.add_argument("--history", type=Path, metavar="FILE",
                        help="a recording of the nights before; its nights are history, not judged")
    parser.add_argument("--seed", type=int, default=20260101, help="of what is drawn (20260101)")
    parser.add_argument("--nights", type=positive, default=4000,
                        help="series-nights drawn without a change, at least (4000)")
    parser.add_argument("--nights-changed", type=positive, default=600,
                        help="series-nights for each change, at most (600)")
    parser.add_argument("--change", type=float, action="append", metavar="RATIO",
                        help=f"of the times, - 1; repeatable (default: {CHANGES})")
    parser.add_argument("--only-chronological", action="store_true",
                        help="nights as recorded, none drawn")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    options.change = options.change or CHANGES
    return options


def main():
    options = parse_arguments()
    try:
        rows = list(rows_of(options))
    except BadRecording as reason:
        sys.exit(f"peer_detectors.py: {reason}")
    if options.json:
        print(json.dumps({"file": str(options.noise), "seed": options.seed, "rows": rows}, indent=2))
        return
    print(f"{options.noise}: seed {options.seed}\n")
    print_alarms(rows)
    for sampling in dict.fromkeys(row["sampling"] for row in rows):
        print_power(rows, sampling, options.change)


if __name__ == "__main__":
    main()

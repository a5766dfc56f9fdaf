#!/usr/bin/env python3
"""Processor time of one comparison's judging: ours against asv and Apache Otava on the same series.

    judging_cost.py NOISE.csv PROGRAM [--series N] [--rounds N] [--json]

PROGRAM is experiment_judging_cost of a build; it draws series of 365 comparisons and judges the
runs of the newest one. asv and Otava analyse the whole history of each series anew, as they do
after every comparison. Nothing is read from a disk in the time that counts, and all use one thread.
A round measures all three; ratios are geometric means over the rounds with 99 % intervals by
Student's t. Needs the packages of peer_detectors_requirements.txt.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when numpy is imported, by the next lines

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy" / "demonstration"))
from peer_detectors import asv, otava_changes  # noqa: E402
from ratio import mean_ratio  # noqa: E402
from rounds import at_least_two  # noqa: E402

PEERS = {"asv 0.6.6": asv, "otava 0.8.0": otava_changes}


class CannotMeasure(Exception):
    pass


def measure_ours(
    options: argparse.Namespace, history: Path
) -> tuple[dict[str, Any], list[list[float]]]:
    """What the program says, and the series that it wrote."""
    command = [
        str(options.program),
        str(options.noise),
        "--seed",
        str(options.seed),
        "--series",
        str(options.series),
        "--history",
        str(history),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotMeasure(
            done.stderr.strip() or f"{options.program} ended with status {done.returncode}"
        )
    series = [
        [float(value) for value in line.split(",")] for line in history.read_text().splitlines()
    ]
    return json.loads(done.stdout), series


def processor_seconds(analyse: Callable[[list[float]], object], series: list[list[float]]) -> float:
    start = time.process_time()
    for values in series:
        analyse(values)
    return time.process_time() - start


def measure_round(
    options: argparse.Namespace, folder: str
) -> tuple[dict[str, float], dict[str, Any]]:
    ours, series = measure_ours(options, Path(folder) / "history.csv")
    seconds = {"torchwatch": statistics.fmean(ours["processor_s"])}
    for name in options.only or PEERS:
        seconds[name] = processor_seconds(PEERS[name], series)
    return seconds, ours


def measure(options: argparse.Namespace) -> dict[str, Any]:
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            seconds, ours = measure_round(options, folder)
            rounds.append(seconds)
    ratios = {
        name: mean_ratio([seconds[name] / seconds["torchwatch"] for seconds in rounds])
        for name in options.only or PEERS
    }
    return {
        "seed": options.seed,
        "series": ours["series"],
        "comparisons": ours["comparisons"],
        "regressed": ours["regressed"],
        "runs": ours["runs"],
        "rounds": rounds,
        "ratio_to_torchwatch": ratios,
    }


def print_table(measured: dict[str, Any]) -> None:
    print(
        f"{measured['series']} series, {measured['comparisons']} comparisons, "
        f"seed {measured['seed']}; {measured['regressed']} called regressed on "
        f"{measured['runs']} runs\n"
    )
    print("|what|processor time of one pass, s|times ours (99 % interval)|\n|-|-|-|")
    for name in measured["rounds"][0]:
        seconds = statistics.fmean(seconds[name] for seconds in measured["rounds"])
        ratio = measured["ratio_to_torchwatch"].get(name)
        times = "1" if ratio is None else f"{ratio[0]:.0f} ({ratio[1]:.0f}-{ratio[2]:.0f})"
        print(f"|{name}|{seconds:.4g}|{times}|")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("noise", type=Path, metavar="NOISE.csv")
    parser.add_argument("program", type=Path, metavar="PROGRAM")
    parser.add_argument("--series", type=int, default=1008, help="number of series (1008)")
    parser.add_argument("--rounds", type=at_least_two, default=5, help="rounds, 2 or more (5)")
    parser.add_argument("--seed", type=int, default=20260101, help="seed of the series (20260101)")
    parser.add_argument(
        "--only",
        action="append",
        choices=PEERS,
        metavar="PEER",
        help=f"one of {', '.join(PEERS)}; repeatable (default: all)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    try:
        measured = measure(options)
    except (CannotMeasure, OSError) as reason:
        sys.exit(f"judging_cost.py: {reason}")
    if options.json:
        print(json.dumps(measured, indent=2))
    else:
        print_table(measured)


if __name__ == "__main__":
    main()

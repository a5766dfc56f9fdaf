#!/usr/bin/env python3
"""Compares the runner's timing pass with torch.utils.benchmark on the same chains of operators.

    blocked_autorange.py CHAINS [CHAIN]... --python PYTHON --folder FOLDER

CHAINS is the program experiment_operator_chains of a build. A round starts two fresh processes,
ours and one of Python whose Timer runs the same C++ (operator_chains.hpp) by blocked_autorange(),
with the same files of LibTorch and the same settings of the heap, on one core, and lets them
alternate in random order. Each gives the median of its measurements, the ratio is ours / Timer's:
rounds count, as two processes differ by where their memory lies. Prints a Markdown table of
geometric means over the rounds with 99 % intervals by Student's t. FOLDER keeps what the Timer
compiled, and the rounds in rounds.jsonl: called again, it resumes.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from kept_rows import KeptRows
from port_speed import (
    HEAP,
    CannotCompare,
    Iterator,
    libraries_of_python,
    refuse_other_libtorch,
    show_progress,
    spelled,
)
from ratio import mean_ratio
from rounds import at_least_two

TIMER_PY = Path(__file__).resolve().parent / "autorange_timer.py"


class Sides:
    """How either side of a chain is started."""

    def __init__(self, options: argparse.Namespace) -> None:
        libraries = libraries_of_python(options.python)
        refuse_other_libtorch(options.chains, libraries)
        path = (
            f"{options.python.absolute().parent}:{os.environ['PATH']}"  # of ninja, to compile with
        )
        self._environment = dict(
            os.environ, LD_LIBRARY_PATH=str(libraries), OMP_NUM_THREADS="1", PATH=path, **HEAP
        )
        self._options = options

    def ours(self, chain: str) -> Iterator:
        return Iterator([str(self._options.chains), chain], self._environment)

    def timers(self, chain: str) -> Iterator:
        options = self._options
        command = [
            str(options.python),
            str(TIMER_PY),
            str(options.folder),
            chain,
            str(options.seconds),
        ]
        return Iterator(command, self._environment)


def known_chains(options: argparse.Namespace) -> list[str]:
    listed = subprocess.run(
        [str(options.chains), "--list"], capture_output=True, text=True, check=True
    ).stdout.split()
    unknown = set(options.names) - set(listed)
    if unknown:
        raise CannotCompare(f"no chain {', '.join(unknown)}; there are {', '.join(listed)}")
    return options.names or listed


def measure_round(
    sides: Sides, chain: str, options: argparse.Namespace, generator: random.Random
) -> dict[str, Any]:
    with sides.ours(chain) as ours, sides.timers(chain) as timers:
        processes = [ours, timers]
        for each in processes:
            each.wait_until_ready()
            each.run(1)
        times: dict[Iterator, list[float]] = {each: [] for each in processes}
        for _ in range(options.measurements):
            for each in generator.sample(processes, len(processes)):
                times[each] += each.run(1)
    return {
        "chain": chain,
        "ours_ns": statistics.median(times[ours]),
        "timer_ns": statistics.median(times[timers]),
        "load": os.getloadavg()[0],
    }


class Rounds(KeptRows):
    def of(self, chain: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["chain"] == chain]


def measure_all(rounds: Rounds, chains: list[str], options: argparse.Namespace) -> None:
    """Round after round of all chains, so that whatever changes slowly hits all alike. Control-C
    leaves the rounds that are complete."""
    sides = Sides(options)
    generator = random.Random(options.seed)
    os.sched_setaffinity(0, {options.core})
    try:
        for number in range(options.rounds):
            for chain in chains:
                if len(rounds.of(chain)) > number:
                    continue
                show_progress(f"round {number + 1}: {chain}")
                rounds.add(measure_round(sides, chain, options, generator))
    except KeyboardInterrupt:
        pass
    show_progress("")


def figures(rounds: Rounds, chain: str) -> dict[str, Any]:
    rows = rounds.of(chain)
    ratio = mean_ratio([row["ours_ns"] / row["timer_ns"] for row in rows])
    return {
        "chain": chain,
        "rounds": len(rows),
        "ours_us": statistics.fmean(row["ours_ns"] for row in rows) / 1000,
        "timer_us": statistics.fmean(row["timer_ns"] for row in rows) / 1000,
        "ratio": ratio[0],
        "low": ratio[1],
        "high": ratio[2],
        "load": statistics.fmean(row["load"] for row in rows),
    }


def report(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    print("|chain|ours us|Timer us|ours / Timer (99 %)|rounds|mean load|\n|-|-:|-:|-:|-:|-:|")
    for row in rows:
        ratio = spelled([row["ratio"], row["low"], row["high"]])
        print(
            f"|{row['chain']}|{row['ours_us']:.1f}|{row['timer_us']:.1f}|{ratio}|{row['rounds']}|"
            f"{row['load']:.1f}|"
        )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("chains", type=Path, metavar="CHAINS")
    parser.add_argument("names", nargs="*", metavar="CHAIN", help="(default: all)")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument(
        "--python",
        type=Path,
        default=Path(sys.executable),
        help="one that has torch and ninja (default: this one)",
    )
    parser.add_argument(
        "--rounds", type=at_least_two, default=20, help="rounds of fresh processes, 2 or more (20)"
    )
    parser.add_argument(
        "--measurements", type=int, default=5, help="by either process in a round (5)"
    )
    parser.add_argument(
        "--seconds", type=float, default=0.2, help="blocked_autorange's min_run_time (0.2)"
    )
    parser.add_argument(
        "--core",
        type=int,
        default=max(os.sched_getaffinity(0)),
        help="to run on (default: the last)",
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the random order (1)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_intermixed_args()


def main() -> None:
    options = parse_arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    rounds = Rounds(options.folder / "rounds.jsonl")
    try:
        chains = known_chains(options)
        measure_all(rounds, chains, options)
    except (CannotCompare, OSError, subprocess.CalledProcessError) as reason:
        sys.exit(f"blocked_autorange.py: {reason}")
    report([figures(rounds, chain) for chain in chains if len(rounds.of(chain)) > 1], options.json)


if __name__ == "__main__":
    main()

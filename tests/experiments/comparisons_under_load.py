#!/usr/bin/env python3
"""Measures a build against itself with and without clients that keep the daemon busy.

    comparisons_under_load.py TORCHWATCH LIBTORCH [--comparisons N] [--workload NAME]... [--json]

TORCHWATCH is the program, LIBTORCH a LibTorch tree. A daemon of its own compares one build after
the other: each is LIBTORCH, with a few zero bytes behind a library so that it is another build. In
turns nobody is at the API, and the clients of requests_under_load.py are. Those and the daemon's
threads that answer requests stay off the highest core, on which a timed run of one thread is
pinned. `torchwatch compare` is what is asked for, as it states an interval also of what is
unchanged. Prints the verdicts, how wide the intervals of time are beside each other, how far the
pairs of runs behind them scatter, and how /healthz answered meanwhile; each comparison goes to
standard error as it ends. A width varies threefold between comparisons alike, as it comes from
eight pairs: the scatter of all pairs tells more of what the load does.
"""

import argparse
import json
import math
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from requests_under_load import Clients, clients_of, daemon_of, measure, print_table

KEYS = """
[sandbox]
readable = ["{libtorch}"]
"""
JUDGED = (0, 1, 4)  # exit statuses of `compare`: nothing changed, something did, undecided


def make_build(libtorch: Path, tree: Path, number: int) -> None:
    """Makes LIBTORCH number `number`: links, and one library with that many bytes more."""
    (tree / "lib").mkdir(parents=True)
    for entry in libtorch.iterdir():
        if entry.name != "lib":
            (tree / entry.name).symlink_to(entry)
    for entry in (libtorch / "lib").iterdir():
        (tree / "lib" / entry.name).symlink_to(entry)
    library = tree / "lib" / "libtorch.so"
    library.unlink()
    shutil.copy(libtorch / "lib" / "libtorch.so", library)
    with library.open("ab") as end:
        end.write(b"\0" * (number + 1))


PAIRS = """SELECT workload || ' ' || configuration, slot, build_id = candidate_id, value
FROM attempt JOIN comparison ON comparison.id = comparison_id
JOIN benchmark ON benchmark.id = attempt.benchmark_id
JOIN value ON attempt_id = attempt.id AND metric = 'time'
WHERE comparison_id = ? AND attempt.state = 'done'"""


def pairs_of(database: Path, comparison: int) -> dict[str, list[float]]:
    """Logarithm of candidate over baseline in each pair of runs, by series."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as file:
        rows = file.execute(PAIRS, (comparison,)).fetchall()
    runs: dict[tuple[str, str, int], dict[int, int]] = {}
    for series, slot, is_candidate, value in rows:
        block, _, position = slot.rpartition("/")
        runs.setdefault((series, block, int(position) // 2), {})[is_candidate] = value
    pairs: dict[str, list[float]] = {}
    for (series, _, _), pair in runs.items():
        if len(pair) == 2:
            pairs.setdefault(series, []).append(math.log(pair[1] / pair[0]))
    return pairs


class Comparisons:
    def __init__(self, program: Path, folder: Path, builds: Path, options: list[str]) -> None:
        self.program, self.folder, self.builds, self.options = program, folder, builds, options
        self.verdicts: list[dict[str, Any]] = []
        self.pairs: dict[str, list[float]] = {}

    def command(self, *words: str | Path) -> Any:
        done = subprocess.run(
            [self.program, *words, "--json", "--config", self.folder / "torchwatch.toml"],
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode not in JUDGED:
            sys.exit(
                f"comparisons_under_load.py: {words} ended with {done.returncode}: {done.stderr}"
            )
        return json.loads(done.stdout)

    def compare(self, number: int) -> None:
        """Has the daemon compare a build with the one before; keeps the verdicts of time."""
        pair = [self.builds / f"build-{n}" for n in (number - 1, number)]
        request = self.command("compare", *pair, *self.options)["request"]
        while self.state_of(request) in ("pending", "running"):
            time.sleep(1)
        if self.state_of(request) != "done":
            sys.exit(f"comparisons_under_load.py: request {request} is {self.state_of(request)}")
        newest = max(row["id"] for row in self.command("comparison", "list")["items"])
        self.verdicts = self.command("comparison", "show", str(newest))["verdicts"]
        self.pairs = pairs_of(self.folder / "state" / "torchwatch.sqlite", newest)

    def state_of(self, request: int) -> str:
        rows = self.command("request", "list")["items"]
        return next(str(row["state"]) for row in rows if row["id"] == request)


def widths(verdicts: list[dict[str, Any]]) -> dict[str, float]:
    """Logarithm of upper over lower bound, of each series of time."""
    return {
        f"{row['workload']} {row['configuration']}": math.log(
            row["interval"][1] / row["interval"][0]
        )
        for row in verdicts
        if row["metric"] == "time" and row["interval"]
    }


def width_ratio(quiet: list[dict[str, float]], loaded: list[dict[str, float]]) -> dict[str, float]:
    """Geometric mean of loaded over quiet, pair of comparisons by pair, with the 95 % interval that
    drawing pairs of comparisons anew gives."""
    logs = [
        [math.log(b[name] / a[name]) for name in a if name in b]
        for a, b in zip(quiet, loaded, strict=True)
    ]
    generator = random.Random(1)
    drawn = sorted(
        statistics.fmean(x for pair in generator.choices(logs, k=len(logs)) for x in pair)
        for _ in range(4000)
    )
    mean = statistics.fmean(x for pair in logs for x in pair)
    return {"ratio": math.exp(mean), "low": math.exp(drawn[100]), "high": math.exp(drawn[3899])}


def scatter(drawn: list[list[float]]) -> float:
    """Mean distance of the pairs from the middle one of their comparison."""
    return statistics.fmean(abs(x - statistics.median(pairs)) for pairs in drawn for x in pairs)


def scatter_ratio(
    quiet: list[dict[str, list[float]]], loaded: list[dict[str, list[float]]]
) -> dict[str, float]:
    """Geometric mean over the series of loaded over quiet, with the 95 % interval that drawing
    comparisons anew gives."""
    generator = random.Random(1)

    def draw(name: str, rows: list[dict[str, list[float]]]) -> float:
        return scatter(generator.choices([row[name] for row in rows], k=len(rows)))

    def mean(of: Callable[[str], float]) -> float:
        return statistics.fmean(of(name) for name in quiet[0])

    ratio = mean(
        lambda name: math.log(
            scatter([b[name] for b in loaded]) / scatter([a[name] for a in quiet])
        )
    )
    drawn = sorted(
        mean(lambda name: math.log(draw(name, loaded) / draw(name, quiet))) for _ in range(4000)
    )
    return {"ratio": math.exp(ratio), "low": math.exp(drawn[100]), "high": math.exp(drawn[3899])}


def stay_off_measured_core() -> None:
    """For this process and the clients that it starts."""
    cores = os.sched_getaffinity(0)
    if len(cores) < 2:
        sys.exit("comparisons_under_load.py: needs two cores, one of them for the clients")
    os.sched_setaffinity(0, cores - {max(cores)})


def carry_out(comparisons: Comparisons, process: int, port: int, count: int) -> dict[str, Any]:
    kinds: dict[str, list[dict[str, Any]]] = {"quiet": [], "under load": []}
    for turn in range(2 * count):
        # Quiet, loaded, loaded, quiet: a drift of the machine reaches both alike.
        kind = "under load" if turn % 4 in (1, 2) else "quiet"
        clients: Clients = clients_of(200, 3000) if kind == "under load" else []
        figures = measure(process, port, clients, partial(comparisons.compare, turn + 1))
        kinds[kind].append(figures | {"verdicts": comparisons.verdicts, "pairs": comparisons.pairs})
        print(json.dumps({kind: kinds[kind][-1]}), file=sys.stderr)
    return {
        "comparisons": kinds,
        "verdicts": {
            kind: Counter(row["verdict"] for comparison in rows for row in comparison["verdicts"])
            for kind, rows in kinds.items()
        },
        "widths": width_ratio(*([widths(n["verdicts"]) for n in rows] for rows in kinds.values())),
        "scatter": scatter_ratio(*([n["pairs"] for n in rows] for rows in kinds.values())),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path, metavar="TORCHWATCH")
    parser.add_argument("libtorch", type=Path, metavar="LIBTORCH")
    parser.add_argument("--comparisons", type=int, default=10, help="of each kind (10)")
    parser.add_argument("--workload", action="append", help="to measure (lennard_jones)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    program, libtorch = options.program.resolve(), options.libtorch.resolve()
    selection = ["--metric", "time"]
    for workload in options.workload or ["lennard_jones"]:
        selection += ["--workload", workload]
    with tempfile.TemporaryDirectory() as name:
        builds = Path(name)
        for number in range(2 * options.comparisons + 1):
            make_build(libtorch, builds / f"build-{number}", number)
        keys = KEYS.format(libtorch=libtorch)
        with daemon_of(program, keys) as (folder, process, port):
            stay_off_measured_core()
            comparisons = Comparisons(program, folder, builds, selection)
            result = carry_out(comparisons, process, port, options.comparisons)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for kind, rows in result["comparisons"].items():
        print_table({f"{kind}, comparison {n + 1}": row for n, row in enumerate(rows)})
        print(f"{kind}: " + ", ".join(f"{n} {v}" for v, n in result["verdicts"][kind].items()))
    ratio = result["widths"]
    print(
        f"intervals of time under load: {ratio['ratio']:.3f} times as wide"
        f" ({ratio['low']:.3f} to {ratio['high']:.3f})"
    )
    spread = result["scatter"]
    print(
        f"scatter of pairs under load: {spread['ratio']:.3f} times as wide"
        f" ({spread['low']:.3f} to {spread['high']:.3f})"
    )


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures a build against itself on nights with and without clients that keep the daemon busy.

    nights_under_load.py TORCHWATCH LIBTORCH [--nights N] [--workload NAME]... [--json]

TORCHWATCH is the program, LIBTORCH a LibTorch tree. A daemon of its own gets one nightly after the
other: each is LIBTORCH, with a few zero bytes behind a library so that it is another build. In
turns a nightly is measured with nobody at the API, and with the clients of requests_under_load.py.
Those and the daemon's threads that answer requests stay off the highest core, on which a timed run
of one thread is pinned. Prints what the verdicts were, how wide the intervals of time are beside
each other, and how /healthz answered meanwhile.
"""

import argparse
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from requests_under_load import Clients, clients_of, daemon_of, measure, print_table

ENDED = ("reported", "accepted", "refused", "failed", "cancelled")
KEYS = """
[channel]
poll = "1s"
[sandbox]
readable = ["{libtorch}"]
[suite]
workloads = {workloads}
"""


def make_nightly(libtorch: Path, folder: Path, number: int) -> str:
    """Publishes LIBTORCH as the nightly of day `number`; returns its name."""
    name = f"2026-01-{number + 1:02}"
    tree = folder / f"unpublished-{number}"
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
    tree.rename(folder / "nightlies" / name)
    return name


class Nights:
    def __init__(self, program: Path, libtorch: Path, folder: Path) -> None:
        self.program, self.libtorch, self.folder = program, libtorch, folder
        self.published = 0

    def ask(self, *arguments: str) -> Any:
        done = subprocess.run(
            [self.program, *arguments, "--json", "--config", self.folder / "torchwatch.toml"],
            check=True,
            capture_output=True,
            text=True,
        )
        return json.loads(done.stdout)

    def publish(self) -> str:
        name = make_nightly(self.libtorch, self.folder, self.published)
        self.published += 1
        return name

    def await_end(self, nightly: str) -> dict[str, Any]:
        while True:
            for row in self.ask("comparison", "list")["items"]:
                if row["candidate"] == nightly and row["state"] in ENDED:
                    return row
            time.sleep(1)

    def verdicts(self, nightly: str) -> list[dict[str, Any]]:
        row = self.await_end(nightly)
        return self.ask("comparison", "show", str(row["id"]))["verdicts"]


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
    """Geometric mean of loaded over quiet, pair of nights by pair, with the 95 % interval that
    drawing pairs of nights anew gives."""
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


def stay_off_measured_core() -> None:
    """For this process and the clients that it starts."""
    cores = os.sched_getaffinity(0)
    if len(cores) < 2:
        sys.exit("nights_under_load.py: needs two cores, one of them for the clients")
    os.sched_setaffinity(0, cores - {max(cores)})


def carry_out(nights: Nights, process: int, port: int, count: int) -> dict[str, Any]:
    nights.publish()  # the first has no baseline
    found: dict[str, Any] = {"under load": []}
    names: dict[bool, list[str]] = {False: [], True: []}
    for turn in range(2 * count):
        # Quiet, loaded, loaded, quiet: a drift of the machine reaches both alike.
        loaded = turn % 4 in (1, 2)
        clients: Clients = clients_of(200, 3000) if loaded else []
        name = nights.publish()
        figures = measure(process, port, clients, partial(nights.await_end, name))
        names[loaded].append(name)
        if loaded:
            found["under load"].append(figures)
        print(f"{name}: {'under load' if loaded else 'quiet'}", file=sys.stderr)
    verdicts = {loaded: [nights.verdicts(n) for n in names[loaded]] for loaded in names}
    for loaded, rows in verdicts.items():
        counts = Counter(row["verdict"] for night in rows for row in night)
        found["verdicts, loaded" if loaded else "verdicts, quiet"] = counts
    found["widths"] = width_ratio(
        [widths(night) for night in verdicts[False]], [widths(night) for night in verdicts[True]]
    )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path, metavar="TORCHWATCH")
    parser.add_argument("libtorch", type=Path, metavar="LIBTORCH")
    parser.add_argument("--nights", type=int, default=10, help="of each kind (10)")
    parser.add_argument("--workload", action="append", help="to measure (lennard_jones, dlrm)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    libtorch = options.libtorch.resolve()
    workloads = json.dumps(options.workload or ["lennard_jones", "dlrm"])
    keys = KEYS.format(libtorch=libtorch, workloads=workloads)
    with daemon_of(options.program.resolve(), keys) as (folder, process, port):
        stay_off_measured_core()
        nights = Nights(options.program.resolve(), libtorch, folder)
        result = carry_out(nights, process, port, options.nights)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    print_table({f"night {n + 1}": row for n, row in enumerate(result["under load"])})
    for kind in ("quiet", "loaded"):
        counts = result[f"verdicts, {kind}"]
        print(f"{kind}: " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())))
    ratio = result["widths"]
    print(
        f"intervals of time under load: {ratio['ratio']:.3f} times as wide"
        f" ({ratio['low']:.3f} to {ratio['high']:.3f})"
    )


if __name__ == "__main__":
    main()

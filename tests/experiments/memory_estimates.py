#!/usr/bin/env python3
"""Measures what the workloads need of memory, writes the table of estimates, and checks it.

    memory_estimates.py measure FOLDER --runner PROGRAM [--seconds 30] [--gib 6] [NAME[:MODE]]...
    memory_estimates.py check FOLDER --runner PROGRAM [--seconds 60] [--gib 10] [NAME[:MODE]]...
    memory_estimates.py write FOLDER [--table FILE]
    memory_estimates.py report FOLDER [--table FILE]

`measure` runs each workload's memory pass on the CPU at the paper's sizes, at a small batch and
then at larger ones, as far as a run is expected to end in --seconds of one core and within --gib;
`check` runs one batch more, larger than all that were measured. Both keep every run in
FOLDER/runs.jsonl and resume where they stopped. `write` puts into the table that
torchwatch-runner is compiled with what follows from the runs of `measure`, and leaves the rows of
what FOLDER holds no runs of; `report` compares the table with the runs of `check`. One process at
a time.

PROGRAM is torchwatch-runner, or experiment_dry_runner, which leaves convolutions and matrix
products undone: it asks LibTorch's allocator for the same in a fraction of the time, for workloads
that take minutes. Keep its runs in a FOLDER of their own, and write them before those that were
really made.
"""

import argparse
import json
import math
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kept_rows import KeptRows

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "models/core/memory_table.inc"
ORIGINALS = ROOT / "tests/integration/models/originals.json"
# Training cannot always take one item: a normalisation over the batch needs two, one workload four.
FIRST_BATCHES = {"train": (2, 4), "infer": (1,)}
KINDS = ("allocated", "resident")
HEADER = "// Written by tests/experiments/memory_estimates.py: allocated, then resident bytes.\n"
GIB = 1 << 30
CLEAR_GAIN = 128 << 20
# The peak of training needs what the first step leaves: gradients and the optimiser's state.
ITERATIONS = {"train": 2, "infer": 1}
# A run in a process of its own begins with loading LibTorch.
START_SECONDS = 0.3
# Far more than --seconds: a busy machine only makes a run wait.
TIME_LIMIT_MS = 900_000

Benchmark = tuple[str, str]
"""Workload and mode."""

Peak = tuple[int, int, int]
"""Least, fixed and per item, in bytes."""


def child_seconds() -> float:
    """Seconds of the processor, so that a busy machine does not make a workload look expensive."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Runs(KeptRows):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "runs.jsonl")

    def of(self, benchmark: Benchmark, purpose: str | None = None) -> dict[int, dict[str, Any]]:
        """Runs of a benchmark by batch; `purpose` leaves out those made for another one."""
        rows = [row for row in self.rows if (row["workload"], row["mode"]) == benchmark]
        rows = [row for row in rows if purpose in (None, row["purpose"])]
        return {row["batch"]: row for row in rows}

    def benchmarks(self) -> list[Benchmark]:
        return list(dict.fromkeys((row["workload"], row["mode"]) for row in self.rows))


class Bench:
    """Starts the runner's memory passes and keeps what they state."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.runs = Runs(options.folder)

    def run(self, benchmark: Benchmark, batch: int, purpose: str | None) -> dict[str, Any]:
        known = self.runs.of(benchmark).get(batch)
        if known is not None:
            return known
        row = dict(zip(("workload", "mode"), benchmark, strict=True), batch=batch, purpose=purpose)
        row.update(self.memory_pass(row))
        self.runs.add(row)
        show(row)
        return row

    def memory_pass(self, row: dict[str, Any]) -> dict[str, Any]:
        options = self.options
        request_file, result_file = options.folder / "request.json", options.folder / "result.json"
        result_file.unlink(missing_ok=True)
        request_file.write_text(
            json.dumps(
                {
                    "schema": 1,
                    "attempt": "memory",
                    "workload": row["workload"],
                    "mode": row["mode"],
                    "device": "cpu",
                    "preset": "paper",
                    "batch": row["batch"],
                    "pass": "memory",
                    "warmup": 0,
                    "iterations": ITERATIONS[row["mode"]],
                    "leak_iterations": 0,
                    "limits": {"time_ms": TIME_LIMIT_MS, "memory_bytes": int(options.gib * GIB)},
                }
            )
        )
        begin = child_seconds()
        ended = subprocess.run(
            [options.runner, "measure", request_file, result_file],
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        seconds = round(child_seconds() - begin, 2)
        if not result_file.exists():
            reason = f"exit status {ended.returncode}: {ended.stderr[-500:]}"
            return {"status": "died", "reason": reason, "cpu_seconds": seconds}
        result = json.loads(result_file.read_text())
        values = result["values"]
        return {
            "status": result["status"],
            "reason": result["reason"],
            "cpu_seconds": seconds,
            "allocated": values.get("cpu_peak"),
            "resident": values.get("cpu_peak_resident"),
        }


def show(row: dict[str, Any]) -> None:
    figure = row["reason"] if row["status"] != "ok" else f"{row['resident'] / GIB:.3f} GiB"
    print(
        f"{row['workload']} {row['mode']} batch {row['batch']}: {figure}, {row['cpu_seconds']} s",
        flush=True,
    )


def benchmarks_to_run(options: argparse.Namespace) -> Iterator[tuple[Benchmark, int]]:
    """(workload, mode) with its default batch; modes that the original refuses are left out."""
    for row in json.loads(ORIGINALS.read_text())["originals"]:
        for mode, knows, batch in (
            ("train", "trains", "train_batch"),
            ("infer", "infers", "eval_batch"),
        ):
            if row[knows] and is_named(options.names, row["name"], mode):
                yield (row["name"], mode), row[batch]


def is_named(names: list[str], workload: str, mode: str) -> bool:
    return not names or workload in names or f"{workload}:{mode}" in names


def ok_runs(
    runs: Runs, benchmark: Benchmark, purpose: str | None = None
) -> dict[int, dict[str, Any]]:
    """By batch, ascending."""
    rows = sorted(runs.of(benchmark, purpose).items())
    return {batch: row for batch, row in rows if row["status"] == "ok"}


def measure_first(bench: Bench, benchmark: Benchmark, default: int) -> None:
    """The smallest batch that the workload takes: where that is refused, its default."""
    for batch in (*FIRST_BATCHES[benchmark[1]], default):
        if bench.run(benchmark, min(default, batch), "measure")["status"] != "unsupported":
            return


def affordable(options: argparse.Namespace, row: dict[str, Any], factor: int) -> bool:
    """Whether `factor` times the batch of `row` is expected to keep to the limits."""
    seconds = START_SECONDS + (row["cpu_seconds"] - START_SECONDS) * factor
    return seconds <= options.seconds and row["resident"] * factor <= options.gib * GIB


def larger_batch(options: argparse.Namespace, row: dict[str, Any], most: int) -> int:
    """The largest of 2, 4, 8... times the batch of `row` that is affordable and at most `most`."""
    factor = 1
    while row["batch"] * factor * 2 <= most and affordable(options, row, factor * 2):
        factor *= 2
    return row["batch"] * factor


def measure_larger(bench: Bench, benchmark: Benchmark, default: int) -> None:
    """A second batch near the default; in training one between as well, as the peak may move from
    the optimiser's step to the activations."""
    runs = ok_runs(bench.runs, benchmark)
    if not runs:
        return
    first = runs[min(runs)]
    batch = larger_batch(bench.options, first, max(default, 4 * first["batch"]))
    if batch == default == first["batch"]:
        batch *= 2  # only asking tells whether the batch is part of the model
    if batch > first["batch"]:
        bench.run(benchmark, batch, "measure")
    if benchmark[1] == "train" and batch >= 8 * first["batch"]:
        bench.run(benchmark, batch // 4, "measure")


def cheapest_first(bench: Bench, benchmarks: dict[Benchmark, int]) -> list[Benchmark]:
    """By what is known of them; what was never run comes last, inference first."""

    def seconds(benchmark: Benchmark) -> tuple[float, str]:
        known = [row["cpu_seconds"] for row in ok_runs(bench.runs, benchmark).values()]
        return min(known, default=math.inf), benchmark[1]

    return sorted(benchmarks, key=seconds)


def measure(options: argparse.Namespace) -> None:
    bench = Bench(options)
    benchmarks = dict(benchmarks_to_run(options))
    for benchmark in cheapest_first(bench, benchmarks):
        measure_first(bench, benchmark, benchmarks[benchmark])
        measure_larger(bench, benchmark, benchmarks[benchmark])


def check(options: argparse.Namespace) -> None:
    """One batch more: the largest that is affordable, up to four times the largest measured one."""
    bench = Bench(options)
    benchmarks = dict(benchmarks_to_run(options))
    for benchmark in cheapest_first(bench, benchmarks):
        measured = ok_runs(bench.runs, benchmark, "measure")
        if len(measured) < 2:
            continue
        last = measured[max(measured)]
        batch = larger_batch(options, last, 4 * last["batch"])
        if batch > last["batch"]:
            bench.run(benchmark, batch, "check")


def fitted(points: dict[int, int]) -> Peak:
    """(least, fixed, per item) of the peak by batch: a line through the two largest batches, and
    what the smallest one took, as below some batch the peak hardly moves."""
    batches = sorted(points)
    least = points[batches[0]]
    if len(batches) == 1:
        return least, 0, 0
    low, high = batches[-2:]
    per_item = max(0, round((points[high] - points[low]) / (high - low)))
    return least, points[high] - per_item * high, per_item


def has_one_batch(runs: Runs, benchmark: Benchmark) -> bool:
    """Whether another batch than the measured one was refused, and not for want of memory."""
    refused = [row for row in runs.of(benchmark).values() if row["status"] == "unsupported"]
    return any(not row["reason"].startswith("needs about") for row in refused)


def show_cost_of_item(rows: dict[int, dict[str, Any]]) -> bool:
    """Whether what an item costs is more than chance. In inference two batches show it, as the
    allocator's bytes are exact; in training they or their peaks must lie apart, as resident bytes
    of equal runs differ by some ten MiB."""
    low, high = rows[min(rows)], rows[max(rows)]
    if high["mode"] == "infer":
        return high["batch"] > low["batch"]
    return high["batch"] >= 4 * low["batch"] or high["resident"] - low["resident"] >= CLEAR_GAIN


def resident_figures(rows: dict[int, dict[str, Any]], allocated: Peak) -> Peak:
    """What a process holds beside the allocator grows with the batch in training, and has a line of
    its own; in inference it hardly does, and what the largest batch had of it is added. So it is in
    training where less seems to grow than is allocated: a dry run leaves untouched what products
    would fill, and of a process larger than the machine a part is swapped out."""
    points = {batch: max(row["resident"], row["allocated"]) for batch, row in rows.items()}
    least, fixed, per_item = fitted(points)
    beside = {batch: points[batch] - row["allocated"] for batch, row in rows.items()}
    if len(rows) == 1 or (is_training(rows) and per_item >= allocated[2]):
        return least, fixed, per_item
    added = max(beside.values()) if is_training(rows) else beside[max(beside)]
    return least, allocated[1] + added, allocated[2]


def is_training(rows: dict[int, dict[str, Any]]) -> bool:
    return all(row["mode"] == "train" for row in rows.values())


def figures(runs: Runs, benchmark: Benchmark) -> dict[str, Peak] | None:
    """The peaks of both kinds of memory; None where too little was measured."""
    rows = ok_runs(runs, benchmark, "measure")
    if not rows or not (has_one_batch(runs, benchmark) or show_cost_of_item(rows)):
        return None
    allocated = fitted({batch: row["allocated"] for batch, row in rows.items()})
    return {"allocated": allocated, "resident": resident_figures(rows, allocated)}


ROW = re.compile(r'\{"(\w+)", Mode::(\w+), \{(.*)\}, \{(.*)\}\},')


def peak_of(text: str) -> Peak:
    least, fixed, per_item = map(int, text.split(", "))
    return least, fixed, per_item


def read_table(file: Path) -> dict[Benchmark, dict[str, Peak]]:
    """The table's peaks by benchmark and kind."""
    table = {}
    for match in filter(None, map(ROW.fullmatch, file.read_text().splitlines())):
        peaks = [peak_of(group) for group in match.groups()[2:]]
        table[match[1], match[2]] = dict(zip(KINDS, peaks, strict=True))
    return table


def row_of(benchmark: Benchmark, found: dict[str, Peak]) -> str:
    peaks = ", ".join("{" + ", ".join(map(str, found[kind])) + "}" for kind in KINDS)
    return f'{{"{benchmark[0]}", Mode::{benchmark[1]}, {peaks}}},\n'


def write(options: argparse.Namespace) -> None:
    """Rows of workloads that FOLDER holds no runs of stay as they are."""
    runs = Runs(options.folder)
    table = read_table(options.table)
    for benchmark in runs.benchmarks():
        found = figures(runs, benchmark)
        if found is None:
            print(f"{' '.join(benchmark)}: not measured enough")
            table.pop(benchmark, None)
            continue
        table[benchmark] = found
    rows = sorted((row_of(*item) for item in table.items()), key=str.lower)
    options.table.write_text(HEADER + "".join(rows))


def estimate(peak: Peak, batch: int) -> int:
    least, fixed, per_item = peak
    return max(least, fixed + batch * per_item)


def report(options: argparse.Namespace) -> None:
    """Markdown rows of the runs of `check`: predicted, measured, and their ratio."""
    runs, table = Runs(options.folder), read_table(options.table)
    print(
        "|workload|mode|batches of the estimate|batch|predicted, GiB|measured, GiB|ratio|"
        "ratio, allocator|"
    )
    print("|-|-|-|-|-|-|-|-|")
    benchmarks = [benchmark for benchmark in runs.benchmarks() if benchmark in table]
    for benchmark in sorted(benchmarks, key=lambda each: (each[0].lower(), each[1])):
        for batch, row in ok_runs(runs, benchmark, "check").items():
            predicted = {kind: estimate(table[benchmark][kind], batch) for kind in KINDS}
            ratio = {kind: predicted[kind] / row[kind] for kind in KINDS}
            measured = ", ".join(map(str, ok_runs(runs, benchmark, "measure")))
            print(
                f"|{benchmark[0]}|{benchmark[1]}|{measured}|{batch}|"
                f"{predicted['resident'] / GIB:.2f}|{row['resident'] / GIB:.2f}|"
                f"{ratio['resident']:.3f}|{ratio['allocated']:.3f}|"
            )


COMMANDS = {"measure": measure, "check": check, "write": write, "report": report}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=list(COMMANDS))
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME[:MODE]")
    parser.add_argument("--runner", type=Path)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--gib", type=float, default=6)
    parser.add_argument("--table", type=Path, default=TABLE)
    return parser.parse_intermixed_args()


def main() -> None:
    options = arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.command in ("measure", "check") and options.runner is None:
        sys.exit(f"memory_estimates.py {options.command} wants --runner, a torchwatch-runner")
    COMMANDS[options.command](options)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares workloads under a backend with eager mode: the ratios of time and memory.

    backend_ratios.py TORCHWATCH TREE FOLDER [WORKLOAD]... [--backend BACKEND] [--json]

TORCHWATCH is the program, TREE a LibTorch tree with its Python part (deploy/libtorch --python).
Inference on the CPU at the small preset, six workloads a comparison, all of the suite without
WORKLOAD. FOLDER keeps what was compared: called again after it was stopped, this resumes. Prints a
Markdown table, with the geometric mean over what ran under both. Nothing else should run meanwhile.
"""

import argparse
import json
import math
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import compare_call
from kept_rows import KeptRows

METRICS = {"time": "time", "cpu_peak": "allocator's peak", "cpu_peak_resident": "resident peak"}
BACKENDS = ("aot_inductor", "torchscript")
AT_ONCE = 6


def suite(program: Path) -> list[str]:
    listed = subprocess.run(
        [program, "workload", "list", "--json"], check=True, stdout=subprocess.PIPE, text=True
    )
    return [workload["name"] for workload in json.loads(listed.stdout)["items"]]


def compare(options: argparse.Namespace, workloads: list[str]) -> list[dict[str, Any]]:
    words = (options.tree, "--between", "backend=eager", "--and", f"backend={options.backend}")
    return compare_call.verdicts(options.torchwatch, options.folder, words, workloads)


def rows_of(workloads: list[str], verdicts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row for each workload; a metric that has no ratio has its reason instead."""
    for workload in workloads:
        found = {each["metric"]: each for each in verdicts if each["workload"] == workload}
        members = ("ratio", "interval", "reason")
        kept = {
            name: {member: found[name][member] for member in members}
            for name in METRICS
            if name in found
        }
        yield {"workload": workload, **kept}


def change(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f}".replace("-0.0", "+0.0")


def cell(figure: dict[str, Any] | None) -> str:
    if not figure or figure["ratio"] is None:
        return "-"
    low, high = figure["interval"] or (figure["ratio"], figure["ratio"])
    is_exact = low == high
    interval = "" if is_exact else f" [{change(low)}, {change(high)}]"
    return f"{change(figure['ratio'])} %{interval}"


def mean_of(rows: list[dict[str, Any]], metric: str) -> str:
    figures = [row.get(metric) for row in rows]
    logarithms = [math.log(each["ratio"]) for each in figures if each and each["ratio"]]
    if not logarithms:
        return "-"
    mean = math.exp(sum(logarithms) / len(logarithms))
    return f"{change(mean)} %, of {len(logarithms)}"


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The fastest first; those that have no time are named below it."""
    ran = [row for row in rows if row.get("time", {}).get("ratio")]
    yield f"| workload | {' | '.join(METRICS.values())} |"
    yield "|---|" + "---:|" * len(METRICS)
    for row in sorted(ran, key=lambda row: float(row["time"]["ratio"])):
        yield f"| {row['workload']} | {' | '.join(cell(row.get(each)) for each in METRICS)} |"
    yield f"| geometric mean | {' | '.join(mean_of(ran, each) for each in METRICS)} |"
    yield ""
    for row in rows:
        if row not in ran:
            yield f"- {row['workload']}: {row.get('time', {}).get('reason', 'not measured')}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("torchwatch", type=Path)
    parser.add_argument("tree", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("workload", nargs="*")
    parser.add_argument(
        "--backend", default="aot_inductor", choices=("aot_inductor", "torchscript")
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for path in ("torchwatch", "tree", "folder"):
        setattr(options, path, getattr(options, path).absolute())
    compare_call.prepare(options.folder)
    kept = KeptRows(options.folder / f"{options.backend}.jsonl")
    wanted = options.workload or suite(options.torchwatch)
    missing = [workload for workload in wanted if not kept.find(workload=workload)]
    for first in range(0, len(missing), AT_ONCE):
        part = missing[first : first + AT_ONCE]
        for row in rows_of(part, compare(options, part)):
            kept.add(row)
    rows = [row for row in kept.rows if row["workload"] in wanted]
    print(json.dumps({"workloads": rows}) if options.json else "\n".join(table(rows)))


if __name__ == "__main__":
    main()

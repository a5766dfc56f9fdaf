#!/usr/bin/env python3
"""Counts which workloads of the suite a backend takes, and says how long it compiles them.

    backends.py FOLDER --runner PROGRAM [--backend torchscript] [--preset small] [--json] [NAME]...

Runs one timing pass of each workload's inference on the CPU, one thread, and keeps what it states
in FOLDER/runs.jsonl; called again it resumes where it stopped. Then it prints a table in Markdown:
how many are taken, why the others are not, and how long compiling takes. It compares no times:
`torchwatch compare BUILD --between backend=eager --and backend=torchscript` does, side by side.
"""

import argparse
import json
import re
import statistics
import sys
from collections import defaultdict
from typing import Any

from kept_rows import KeptRows
from single_runs import options_of, parser_of, result_of, suite

TIME_LIMIT_MS = 900_000


def run(workload: str, options: argparse.Namespace) -> dict[str, Any]:
    """What the runner states of one timing pass."""
    request = {
        "schema": 1,
        "attempt": "backend",
        "workload": workload,
        "mode": "infer",
        "device": "cpu",
        "backend": options.backend,
        "preset": options.preset,
        "pass": "timing",
        "warmup": 1,
        "iterations": 3,
        "iterations_min": 1,
        "limits": {"time_ms": TIME_LIMIT_MS},
    }
    result = result_of(request, options)
    if result["status"] == "died":
        return result
    return {
        "status": result["status"],
        "reason": result["reason"],
        "compile_ns": result["values"].get("compile_time"),
    }


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    runs = KeptRows(options.folder / "runs.jsonl")
    chosen = []
    for workload in options.workloads or suite():
        asked = {"workload": workload, "backend": options.backend, "preset": options.preset}
        row = runs.find(**asked)
        if row is None:
            row = asked | run(workload, options)
            runs.add(row)
            print(workload, row["status"], row["reason"], file=sys.stderr, flush=True)
        chosen.append(row)
    return chosen


def kind_of(reason: str) -> str:
    """Reasons that differ in a number alone are one kind."""
    return re.sub(r"\b\d+\b", "N", reason)


def figures_of(rows: list[dict[str, Any]], options: argparse.Namespace) -> dict[str, Any]:
    taken = {row["workload"]: row["compile_ns"] / 1e9 for row in rows if row["status"] == "ok"}
    refused = defaultdict(list)
    for row in rows:
        if row["workload"] not in taken:
            refused[f"{row['status']}: {kind_of(row['reason'])}"].append(row["workload"])
    slowest = max(taken, key=taken.__getitem__, default=None)
    return {
        "backend": options.backend,
        "preset": options.preset,
        "workloads": len(rows),
        "taken": len(taken),
        "refused": dict(sorted(refused.items(), key=lambda item: (-len(item[1]), item[0]))),
        "compile_seconds": {"median": statistics.median(taken.values()), "most": taken[slowest]}
        if slowest
        else None,
        "slowest": slowest,
    }


def page(figures: dict[str, Any]) -> str:
    taken = f"{figures['taken']} of {figures['workloads']}"
    lines = [
        f"`{figures['backend']}` takes {taken} workloads' inference.",
        "",
        "| not taken | workloads | which |",
        "|---|---:|---|",
    ]
    for reason, names in figures["refused"].items():
        lines.append(f"| {reason} | {len(names)} | {', '.join(names)} |")
    if seconds := figures["compile_seconds"]:
        most = f"{seconds['most']:.1f} ({figures['slowest']})"
        lines += ["", f"Compiling takes {seconds['median']:.2f} s in the median, at most {most}."]
    return "\n".join(lines)


def parse() -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--backend", default="torchscript")
    return options_of(parser)


def main() -> int:
    options = parse()
    figures = figures_of(measure(options), options)
    print(json.dumps(figures, indent=2) if options.json else page(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())

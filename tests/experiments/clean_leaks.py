#!/usr/bin/env python3
"""Looks for leaks where there are none: the memory pass of every workload that runs on a CPU, again
and again in random order, until the time is up.

    clean_leaks.py FOLDER --runner PROGRAM [--minutes 60]

PROGRAM is a torchwatch-runner that finds its LibTorch. Each run is a line of FOLDER/runs.jsonl;
called again, it resumes. What states a leak is printed, with the number of runs and modes seen.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from kept_rows import KeptRows

LEAKS = ("leak_growth", "leak_retained", "heap_growth")
TIME_LIMIT_MS = 600_000


def modes(runner: Path) -> list[tuple[str, str]]:
    """Every (workload, mode) that the runner has for a CPU."""
    listed = subprocess.run(
        [runner, "list", "--registered", "--json"], check=True, stdout=subprocess.PIPE
    )
    return [
        (workload["name"], configuration["configuration"].removeprefix("cpu-"))
        for workload in json.loads(listed.stdout)["workloads"]
        for configuration in workload["configurations"]
        if configuration["supported"] and configuration["configuration"].startswith("cpu-")
    ]


def memory_pass(options: argparse.Namespace, workload: str, mode: str) -> dict[str, Any]:
    request, result = options.folder / "request.json", options.folder / "result.json"
    request.write_text(
        json.dumps(
            {
                "schema": 1,
                "attempt": "clean",
                "workload": workload,
                "device": "cpu",
                "mode": mode,
                "preset": "small",
                "pass": "memory",
                "threads": 1,
                "limits": {"time_ms": TIME_LIMIT_MS},
            }
        )
    )
    result.unlink(missing_ok=True)
    begin = time.monotonic()
    subprocess.run(
        [options.runner, "measure", request, result], check=True, stdout=subprocess.DEVNULL
    )
    row = json.loads(result.read_text())
    return {
        "workload": workload,
        "mode": mode,
        "status": row["status"],
        "reason": row["reason"],
        "values": row["values"],
        "seconds": round(time.monotonic() - begin, 1),
    }


def collect(options: argparse.Namespace) -> list[dict[str, Any]]:
    kept = KeptRows(options.folder / "runs.jsonl")
    benchmarks = modes(options.runner)
    while True:
        for workload, mode in random.sample(benchmarks, len(benchmarks)):
            if sum(row["seconds"] for row in kept.rows) >= 60 * options.minutes:
                return kept.rows
            kept.add(memory_pass(options, workload, mode))


def report(rows: list[dict[str, Any]]) -> None:
    measured = [row for row in rows if row["status"] == "ok"]
    seen = {(row["workload"], row["mode"]) for row in measured}
    print(
        f"{len(measured)} runs of {len(seen)} modes "
        f"in {sum(row['seconds'] for row in rows) / 60:.0f} min"
    )
    for row in rows:
        leaks = {name: row["values"][name] for name in LEAKS if row["values"].get(name)}
        if leaks or row["status"] != "ok":
            print(f"{row['workload']} {row['mode']}: {leaks or row['reason']}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--runner", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=60, help="minutes of measuring (60)")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    options.runner = options.runner.resolve()
    try:
        report(collect(options))
    except (OSError, subprocess.CalledProcessError) as reason:
        sys.exit(f"clean_leaks.py: {reason}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()

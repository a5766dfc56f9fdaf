#!/usr/bin/env python3
"""Measures the whole suite once on the CPU and writes its table.

    tests/experiments/suite_table.py TORCHWATCH BUILD [--preset small] [--state FOLDER]
                                    [--workload NAME ...]

TORCHWATCH is the program, BUILD a LibTorch tree. Each configuration runs in one process for its
time (3 iterations to warm up, then 10) and in one for its memory. The table (Markdown: milliseconds
an iteration, their spread, peak of what LibTorch allocates) goes to standard output, what the goals
of the suite speak of (slowest, mean, largest peak, minutes in all) below it. Exit status 1 if a
configuration failed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

Series = dict[tuple[str, str], dict[str, dict[str, Any]]]
"""The rows of a (workload, configuration), by metric."""

CONFIGURATION = """\
[storage]
path = "{state}/suite.sqlite"
[build]
cache = "{state}/builds"
[executor]
scratch = "{state}/scratch"
[suite]
preset = "{preset}"
configurations = ["cpu-train", "cpu-infer"]
[measure]
warmup = 3
iterations = 10
enough = "10m"
"""


def measure(
    torchwatch: Path, build: Path, configuration: Path, workloads: list[str]
) -> tuple[list[dict[str, Any]], float]:
    """The figures of `torchwatch measure`, and the seconds it took."""
    command: list[str | Path] = [
        torchwatch,
        "--config",
        configuration,
        "--json",
        "measure",
        "--runs",
        "1",
        build,
    ]
    for workload in workloads:
        command += ["--workload", workload]
    begun = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"suite_table: {' '.join(map(str, command))} ended with {done.returncode}")
    return json.loads(done.stdout)["figures"], time.monotonic() - begun


def by_series(figures: list[dict[str, Any]]) -> Series:
    """(workload, configuration) to its figures by metric, in the suite's order."""
    series: Series = defaultdict(dict)
    for figure in figures:
        series[figure["workload"], figure["configuration"]][figure["metric"]] = figure
    return series


def row(workload: str, configuration: str, metrics: dict[str, dict[str, Any]]) -> str:
    """A line of the table, for a configuration that ran."""
    time_ns, peak = metrics["time"], metrics["cpu_peak"]
    cells = [
        workload,
        configuration,
        f"{time_ns['value'] / 1e6:.2f}",
        f"{100 * time_ns['spread']:.1f}",
        f"{peak['value'] / 2**20:.1f}",
    ]
    return "|" + "|".join(cells) + "|"


def print_table(series: Series) -> None:
    print("|workload|configuration|ms an iteration|spread %|peak MiB|")
    print("|-|-|-:|-:|-:|")
    for (workload, configuration), metrics in series.items():
        ran = all(figure["status"] == "ok" for figure in metrics.values())
        if ran:
            print(row(workload, configuration, metrics))
            continue
        reason = next(f["reason"] for f in metrics.values() if f["status"] != "ok")
        print(f"|{workload}|{configuration}|{reason}|||")


def print_summary(series: Series, seconds: float) -> None:
    times = {
        key: m["time"]["value"] / 1e9 for key, m in series.items() if m["time"]["status"] == "ok"
    }
    peaks = {key: m["cpu_peak"]["value"] for key, m in series.items() if "cpu_peak" in m}
    slowest = max(times, key=lambda key: times[key])
    largest = max(peaks, key=lambda key: peaks[key])
    print()
    print(
        f"{len(times)} configurations ran; "
        f"mean {sum(times.values()) / len(times):.3f} s an iteration,"
    )
    print(f"the slowest {times[slowest]:.3f} s ({' '.join(slowest)}),")
    print(
        f"the largest peak {peaks[largest] / 2**20:.0f} MiB ({' '.join(largest)}); "
        f"{seconds / 60:.1f} min."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("torchwatch", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("--preset", default="small", choices=["small", "paper"])
    parser.add_argument("--state", type=Path, help="keep state (a compiled runner above all) here")
    parser.add_argument("--workload", action="append", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        state = (options.state or Path(scratch)).resolve()
        state.mkdir(parents=True, exist_ok=True)
        configuration = state / "suite.toml"
        configuration.write_text(CONFIGURATION.format(state=state, preset=options.preset))
        figures, seconds = measure(
            options.torchwatch.resolve(), options.build.resolve(), configuration, options.workload
        )
    series = by_series(figures)
    print_table(series)
    print_summary(series, seconds)
    failed = [f for f in figures if f["status"] not in ("ok", "unsupported")]
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

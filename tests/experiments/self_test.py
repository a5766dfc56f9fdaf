#!/usr/bin/env python3
"""Judges a build against itself over the whole suite and writes what came out of every series.

    tests/experiments/self_test.py TORCHWATCH BUILD --state FOLDER [--workload NAME ...]

`torchwatch nightly --baseline BUILD --candidate BUILD`: whatever it calls changed is a false alarm.
CPU, preset small, 3 iterations to warm up, then 10. Called again with the same FOLDER after it was
stopped, it resumes; what was done by then is not measured again. The table (Markdown) goes to
standard output, a summary below it. Exit status 1 if a series regressed or failed.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from suite_table import CONFIGURATION, Series, by_series

METRICS = {"time": "time", "cpu_peak": "peak", "cpu_peak_resident": "resident peak"}
LEAKS = ("leak_growth", "leak_retained", "heap_growth")


def carry_out_comparison(
    torchwatch: Path, build: Path, configuration: Path
) -> tuple[list[dict[str, Any]], float]:
    """The verdicts, and the seconds it took. 0 and 4 mean that nothing regressed, 1 that something
    did."""
    command: list[str | Path] = [
        torchwatch,
        "--config",
        configuration,
        "--json",
        "nightly",
        "--baseline",
        build,
        "--candidate",
        build,
    ]
    begun = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1, 4):
        sys.exit(f"self_test: {' '.join(map(str, command))} ended with {done.returncode}")
    return json.loads(done.stdout)["comparisons"][0]["verdicts"], time.monotonic() - begun


def configuration_text(state: Path, workloads: list[str]) -> str:
    text = CONFIGURATION.format(state=state, preset="small")
    if not workloads:
        return text
    return text.replace("[suite]\n", f"[suite]\nworkloads = {json.dumps(workloads)}\n")


def ratio_cell(verdict: dict[str, Any]) -> str:
    """Ratio with its interval, in per cent."""
    if verdict["ratio"] is None:
        return "-"
    change = f"{100 * (verdict['ratio'] - 1):+.1f}"
    if verdict["interval"] is None or verdict["interval"] == [1.0, 1.0]:
        return change
    low, high = (100 * (bound - 1) for bound in verdict["interval"])
    return f"{change} [{low:+.1f}, {high:+.1f}]"


def row(workload: str, configuration: str, metrics: dict[str, dict[str, Any]]) -> str:
    cells = [workload, configuration]
    for metric in METRICS:
        cells += [str(metrics[metric]["runs"]), ratio_cell(metrics[metric])]
    leaks = {metrics[metric]["verdict"] for metric in LEAKS}
    unusual = [
        f"{name}: {metrics[metric]['verdict']}"
        for metric, name in METRICS.items()
        if metrics[metric]["verdict"] != "unchanged"
    ]
    unusual += [f"leak: {verdict}" for verdict in leaks - {"unchanged"}]
    return "|" + "|".join([*cells, ", ".join(unusual) or "unchanged"]) + "|"


def print_table(series: Series) -> None:
    heads = [f"{cell}|" for name in METRICS.values() for cell in ("runs", f"{name}, %")]
    print("|workload|configuration|" + "".join(heads) + "verdict|")
    print("|-|-|" + "-:|-:|" * len(METRICS) + "-|")
    for (workload, configuration), metrics in series.items():
        if all(verdict["verdict"] == "unsupported" for verdict in metrics.values()):
            print(f"|{workload}|{configuration}|" + "||" * len(METRICS) + "unsupported|")
            continue
        print(row(workload, configuration, metrics))


def print_summary(verdicts: list[dict[str, Any]], seconds: float) -> None:
    counts = Counter((verdict["metric"], verdict["verdict"]) for verdict in verdicts)
    print()
    for (metric, verdict), count in sorted(counts.items()):
        print(f"{metric}: {count} {verdict}")
    runs = sum(v["runs"] for v in verdicts if v["metric"] in ("time", "cpu_peak"))
    print(f"{runs} runs behind them; {seconds / 60:.1f} min since this call.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("torchwatch", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--workload", action="append", default=[])
    options = parser.parse_args()
    state = options.state.resolve()
    state.mkdir(parents=True, exist_ok=True)
    configuration = state / "suite.toml"
    configuration.write_text(configuration_text(state, options.workload))
    verdicts, seconds = carry_out_comparison(
        options.torchwatch.resolve(), options.build.resolve(), configuration
    )
    print_table(by_series(verdicts))
    print_summary(verdicts, seconds)
    sys.exit(1 if any(v["verdict"] in ("regressed", "failed") for v in verdicts) else 0)


if __name__ == "__main__":
    main()

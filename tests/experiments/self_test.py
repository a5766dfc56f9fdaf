#!/usr/bin/env python3
"""Judges a build against itself over the whole suite and writes what came out of every series.

    tests/experiments/self_test.py TORCHWATCH BUILD --state FOLDER [--device cuda]
                                  [--workload NAME ...]

`torchwatch nightly --baseline BUILD --candidate BUILD`: whatever it calls changed is a false alarm.
BUILD is a LibTorch tree, or the folder torch/ of an installed wheel. Preset small, 3 iterations to
warm up, then 10. Called again with the same FOLDER after it was stopped, it resumes; what was done
by then is not measured again. The table (Markdown) goes to standard output, a summary below it.
Exit status 1 if a series regressed or failed, or none was judged.
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

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "deploy" / "fetching"))

from torch_tree import version_and_commit
from wheel_file import Damaged

METRICS = {
    "cpu": {"time": "time", "cpu_peak": "peak", "cpu_peak_resident": "resident peak"},
    "cuda": {
        "time": "time",
        "device_time": "device time",
        "device_peak": "device peak",
        "device_peak_total": "whole device peak",
    },
}
LEAKS = {
    "cpu": ("leak_growth", "leak_retained", "heap_growth"),
    "cuda": ("leak_growth", "leak_retained"),
}


def linked(build: Path) -> list[Path]:
    """What is used of an installed wheel, CUDA's libraries beside it included."""
    folders = (build / "lib", build / "include", build.parent / "nvidia")
    return [folder for folder in folders if folder.exists()]


def tree_of(build: Path, state: Path) -> Path:
    """The build; an installed wheel, which does not say in our way what it is, by links in a folder
    that does."""
    if (build / "build-hash").exists() or not (build / "version.py").exists():
        return build
    try:
        version, commit = version_and_commit(build)
    except Damaged as reason:
        sys.exit(f"self_test: {build}: {reason}")
    tree = state / "wheel" / build.name
    tree.mkdir(parents=True, exist_ok=True)
    for original in linked(build):
        link = tree.parent / original.relative_to(build.parent)
        if not link.is_symlink():
            link.symlink_to(original)
    (tree / "build-version").write_text(version + "\n")
    (tree / "build-hash").write_text(commit + "\n")
    return tree


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


def configuration_text(state: Path, build: Path, device: str, workloads: list[str]) -> str:
    text = CONFIGURATION.format(state=state, preset="small").replace('"cpu-', f'"{device}-')
    text += f"[sandbox]\nreadable = {json.dumps([str(folder) for folder in linked(build)])}\n"
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
    device = configuration.split("-", maxsplit=1)[0]
    cells = [workload, configuration]
    for metric in METRICS[device]:
        cells += [str(metrics[metric]["runs"]), ratio_cell(metrics[metric])]
    leaks = {metrics[metric]["verdict"] for metric in LEAKS[device]}
    unusual = [
        f"{name}: {metrics[metric]['verdict']}"
        for metric, name in METRICS[device].items()
        if metrics[metric]["verdict"] != "unchanged"
    ]
    unusual += [f"leak: {verdict}" for verdict in leaks - {"unchanged"}]
    return "|" + "|".join([*cells, ", ".join(unusual) or "unchanged"]) + "|"


def print_table(series: Series, device: str) -> None:
    names = METRICS[device].values()
    heads = [f"{cell}|" for name in names for cell in ("runs", f"{name}, %")]
    print("|workload|configuration|" + "".join(heads) + "verdict|")
    print("|-|-|" + "-:|-:|" * len(names) + "-|")
    for (workload, configuration), metrics in series.items():
        if all(verdict["verdict"] == "unsupported" for verdict in metrics.values()):
            print(f"|{workload}|{configuration}|" + "||" * len(names) + "unsupported|")
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
    parser.add_argument("--device", choices=METRICS, default="cpu")
    parser.add_argument("--workload", action="append", default=[])
    options = parser.parse_args()
    state = options.state.resolve()
    state.mkdir(parents=True, exist_ok=True)
    configuration = state / "suite.toml"
    build = options.build.resolve()
    configuration.write_text(configuration_text(state, build, options.device, options.workload))
    verdicts, seconds = carry_out_comparison(
        options.torchwatch.resolve(), tree_of(build, state), configuration
    )
    print_table(by_series(verdicts), options.device)
    print_summary(verdicts, seconds)
    found = {verdict["verdict"] for verdict in verdicts}
    sys.exit(1 if found & {"regressed", "failed"} or "unchanged" not in found else 0)


if __name__ == "__main__":
    main()

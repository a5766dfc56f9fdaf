#!/usr/bin/env python3
"""How the cost of a nightly and of a search grows, and drawings of it.

    scale.py FOLDER --build BUILD --torchwatch PROGRAM [--noise NOISE.csv] [--out FOLDER] [--json]

Sizes grow by tens: of commits (one search), of series (judging, and all that a daemon does for a
nightly), of nightlies (the past of one series, its page) and of nodes. BUILD is a build folder with
experiment_judging_cost, experiment_search and experiment_nightly_cost. FOLDER keeps each point in
points.jsonl, so that a second call resumes where one stopped, and the databases of long histories.

Prints a table: each curve's figures, and the exponent that a straight line through the points of
its upper half has on logarithmic axes (1: twice as many cost twice as much). --out gets a drawing
for each curve, NAME.svg. Needs the packages of scale_requirements.txt for that.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "page_costs"))
sys.path.insert(0, str(HERE.parent / "support" / "two_years"))

import pasts  # noqa: E402
from kept_rows import KeptRows  # noqa: E402
from served import daemon_of, make  # noqa: E402

NOISE = HERE.parents[1] / "build" / "ci" / "tests" / "recordings" / "nights-a.csv"
Figures = dict[str, float]


class CannotMeasure(Exception):
    pass


@dataclass(frozen=True)
class Curve:
    """One cost for each of the sizes; the first of `figures` is drawn."""

    name: str
    of: str
    sizes: tuple[int, ...]
    figures: tuple[str, ...]
    measure: Callable[["Programs", int], Figures]


class Programs:
    def __init__(self, options: argparse.Namespace) -> None:
        self.folder: Path = options.folder
        self.torchwatch: Path = options.torchwatch
        self.noise: Path = options.noise
        self._experiments = options.build / "tests" / "experiments"

    def run(self, name: str, *arguments: str) -> tuple[Any, float]:
        """What a program says, and the most memory that it had, in MB."""
        command = [str(self._experiments / name), *arguments]
        with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as complaint:
            child = subprocess.Popen(command, stdout=said, stderr=complaint)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode != 0:
                complaint.seek(0)
                text = complaint.read().strip()
                raise CannotMeasure(f"{' '.join(command)}: status {child.returncode}: {text}")
            said.seek(0)
            return json.load(said), used.ru_maxrss * 1024 / 1e6


def judging(programs: Programs, series: int) -> Figures:
    passes = str(max(3, min(1000, 10_000 // series)))
    found, memory = programs.run(
        "experiment_judging_cost",
        *(str(programs.noise), "--series", str(series), "--comparisons", "2", "--passes", passes),
    )
    return {"processor s": statistics.median(found["processor_s"]), "MB": memory}


def search(programs: Programs, commits: int) -> Figures:
    days = str(max(10, min(200, 1_000_000 // commits)))
    found, memory = programs.run(
        "experiment_search",
        *("--commits", str(commits), "--trials", days, "--only", "| torchwatch |", "--json"),
    )
    (row,) = found["rows"]
    return {
        "processor s": row["search_cpu_ms"]["mean"] / 1000,
        "builds": row["builds"]["mean"],
        "runs": row["runs"]["mean"],
        "exact": row["exact"]["rate"],
        "MB": memory,
    }


def nightly(programs: Programs, workloads: int, nodes: int) -> Figures:
    found, _ = programs.run(
        "experiment_nightly_cost",
        *("--workloads", str(workloads), "--nodes", str(nodes), "--answer-ms", "1"),
    )
    return {
        "processor s": found["daemon_s"],
        "MB": found["memory_mb"],
        "series": found["series"],
        "runs": found["runs"],
    }


def nightly_of_series(programs: Programs, workloads: int) -> Figures:
    return nightly(programs, workloads, nodes=1)


def nightly_of_nodes(programs: Programs, nodes: int) -> Figures:
    return nightly(programs, 250, nodes)


def history(programs: Programs, nightlies: int) -> Figures:
    folder = programs.folder / f"history-{nightlies}"
    make(
        programs.torchwatch,
        folder,
        *("--nightlies", str(nightlies), "--workloads", "2", "--incidents", "20"),
    )
    with daemon_of(programs.torchwatch, folder) as served:
        found = pasts.figures_of_history(served)
    return {
        "s": found["past"]["median_ms"] / 1000,
        "page, s": found["page"]["median_ms"] / 1000,
        "newest 200, s": found["newest"]["median_ms"] / 1000,
    }


CURVES = (
    Curve("judging", "series", (10, 100, 1_000, 10_000, 100_000), ("processor s", "MB"), judging),
    Curve(
        "search",
        "commits",
        (10, 100, 1_000, 10_000, 100_000),
        ("processor s", "builds", "runs", "exact", "MB"),
        search,
    ),
    Curve(
        "nightly",
        "workloads",
        (10, 100, 1_000, 10_000),
        ("processor s", "MB", "series", "runs"),
        nightly_of_series,
    ),
    Curve("nodes", "nodes", (1, 4, 16, 64, 256), ("processor s", "MB"), nightly_of_nodes),
    Curve(
        "history",
        "nightlies",
        (10, 73, 730, 7_300),
        ("s", "page, s", "newest 200, s"),
        history,
    ),
)


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the least-squares line through the upper half on logarithmic axes."""
    upper = sorted(points)[len(points) // 2 - (len(points) % 2 == 0) :]
    logs = [(math.log(size), math.log(cost)) for size, cost in upper if cost > 0]
    return statistics.linear_regression(*zip(*logs, strict=True)).slope


def points_of(curve: Curve, kept: KeptRows) -> list[dict[str, Any]]:
    rows = [row for row in kept.rows if row["curve"] == curve.name]
    return sorted(rows, key=lambda row: row["size"])


def measure_all(programs: Programs, kept: KeptRows, curves: tuple[Curve, ...]) -> None:
    for curve in curves:
        for size in curve.sizes:
            if kept.find(curve=curve.name, size=size):
                continue
            figures = curve.measure(programs, size)
            kept.add({"curve": curve.name, "size": size, **figures})
            print(f"{curve.name}, {size:,} {curve.of}: {figures}", file=sys.stderr)


def fitted(curve: Curve, kept: KeptRows) -> float:
    rows = points_of(curve, kept)
    return exponent([(row["size"], row[curve.figures[0]]) for row in rows])


def table(kept: KeptRows, curves: tuple[Curve, ...]) -> str:
    lines = []
    for curve in curves:
        lines += [
            f"\n{curve.name}: exponent {fitted(curve, kept):.2f}\n",
            f"|{curve.of}|{'|'.join(curve.figures)}|",
            "|-:" * (1 + len(curve.figures)) + "|",
        ]
        for row in points_of(curve, kept):
            cells = (f"{row[figure]:.3g}" for figure in curve.figures)
            lines.append(f"|{row['size']:,}|{'|'.join(cells)}|")
    return "\n".join(lines)


def draw(curve: Curve, kept: KeptRows, file: Path) -> None:
    import matplotlib as mpl  # here, because nothing but drawing needs it

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "torchwatch", "svg.fonttype": "none", "font.size": 11})
    from matplotlib import pyplot as plt

    rows = points_of(curve, kept)
    figure, axes = plt.subplots(figsize=(5.5, 3.5), layout="constrained")
    sizes = [row["size"] for row in rows]
    axes.loglog(sizes, [row[curve.figures[0]] for row in rows], "o-", color="#1f5fa8")
    axes.set_xlabel(curve.of)
    axes.set_ylabel(curve.figures[0])
    axes.set_title(f"{curve.name}: exponent {fitted(curve, kept):.2f}")
    axes.grid(visible=True, which="major", alpha=0.3)
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--torchwatch", type=Path, required=True)
    parser.add_argument("--noise", type=Path, default=NOISE)
    parser.add_argument("--out", type=Path, help="of the drawings (default: none)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    options.folder.mkdir(parents=True, exist_ok=True)
    kept = KeptRows(options.folder / "points.jsonl")
    try:
        measure_all(Programs(options), kept, CURVES)
    except (CannotMeasure, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"scale.py: {error}")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        for curve in CURVES:
            draw(curve, kept, options.out / f"{curve.name}.svg")
    if options.json:
        exponents = {curve.name: fitted(curve, kept) for curve in CURVES}
        print(json.dumps({"exponents": exponents, "points": kept.rows}, indent=1))
    else:
        print(table(kept, CURVES))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Counts which workloads of the suite a backend takes, and says how long it compiles them.

    backends.py FOLDER --runner PROGRAM [--backend torchscript] [--mode infer] [--preset small]
        [--json] [NAME]...
    backends.py FOLDER --runner PROGRAM --backend aot_inductor --tree TREE ...

Runs one timing pass of each workload in a mode on the CPU, one thread, and keeps what it states
in FOLDER/runs.jsonl; called again it resumes where it stopped. Then it prints a table in Markdown:
how many are taken, why the others are not, and how long compiling takes. It compares no times:
`torchwatch compare BUILD --between backend=eager --and backend=torchscript` does, side by side.

TREE is the build that the runner was compiled for, with its Python part: packages are made of each
workload first, as the service makes them.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from kept_rows import KeptRows
from single_runs import options_of, parser_of, result_of, suite

TIME_LIMIT_S = 900
COMPILER = Path(__file__).resolve().parents[2] / "deploy" / "aot_inductor"


def step(command: list[str | Path], answer: Path) -> dict[str, Any]:
    """What a step of making a package answers. A step may die without one."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command,
            check=False,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return {"status": "unsupported", "reason": f"compile time: more than {TIME_LIMIT_S} s"}
    if not answer.exists():
        lines = done.stderr.strip().splitlines() or [""]
        return {"status": "died", "reason": f"exit status {done.returncode}: {lines[-1]}"}
    return dict(json.loads(answer.read_text()))


def package(request: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """What came of making a package, with its path where there is one."""
    folder = options.folder.resolve() / "package"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    asked = folder / "request.json"
    asked.write_text(json.dumps(request))
    answer = step([options.runner, "export", asked, folder], folder / "export.json")
    if answer["status"] != "ok":
        return answer
    command = ["python3", "-I", "-B", COMPILER, options.tree.resolve(), folder]
    answer = step(command, folder / "package.json")
    return answer | {"path": str(folder / "package.pt2")}


def run(workload: str, options: argparse.Namespace) -> dict[str, Any]:
    """What the runner states of one timing pass."""
    request = {
        "schema": 1,
        "attempt": "backend",
        "workload": workload,
        "mode": options.mode,
        "device": "cpu",
        "backend": options.backend,
        "preset": options.preset,
        "pass": "timing",
        "warmup": 1,
        "iterations": 3,
        "iterations_min": 1,
        "limits": {"time_ms": 1000 * TIME_LIMIT_S},
    }
    made = {}
    if options.backend == "aot_inductor":
        made = package(request, options)
        if made["status"] != "ok":
            return {"status": made["status"], "reason": made["reason"]}
        request["package"] = made["path"]
    result = result_of(request, options)
    if result["status"] == "died":
        return result
    return {
        "status": result["status"],
        "reason": result["reason"],
        "compile_ns": made.get("compile_time", result["values"].get("compile_time")),
    }


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    runs = KeptRows(options.folder / "runs.jsonl")
    chosen = []
    for workload in options.workloads or suite():
        asked = {
            "workload": workload,
            "backend": options.backend,
            "mode": options.mode,
            "preset": options.preset,
        }
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
        "mode": options.mode,
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
        f"`{figures['backend']}` takes {taken} workloads in mode {figures['mode']}.",
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
    parser.add_argument("--mode", default="infer", choices=("infer", "train"))
    parser.add_argument("--tree", type=Path, help="of aot_inductor: the build")
    options = options_of(parser)
    if options.backend == "aot_inductor" and not options.tree:
        parser.error("--backend aot_inductor needs --tree")
    return options


def main() -> int:
    options = parse()
    figures = figures_of(measure(options), options)
    print(json.dumps(figures, indent=2) if options.json else page(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())

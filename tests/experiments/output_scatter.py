#!/usr/bin/env python3
"""Says how far outputs of one build are apart where nothing but rounding differs, and which
workloads draw random numbers on their way.

    output_scatter.py FOLDER --runner PROGRAM [--preset small] [--precision fp32] [--json] [NAME]...

Runs each workload of the suite in both modes on the CPU four times, as a memory pass that states
outputs (docs/metrics.md, "Differences of outputs"): twice as it is, once with kernels of narrower
vectors (ATEN_CPU_CAPABILITY=avx2), which add up in another order, with two threads, and once with
another seed. Weights and inputs are filled by a formula, so the seed changes only what is drawn on
the way. Keeps the outputs in FOLDER/runs.jsonl, of which each precision wants its own; called again
it resumes where it stopped. Then it prints a table in Markdown: how many benchmarks differ by how
much. [detect] output_tolerance rests on it, and which workloads state no outputs.
"""

import argparse
import itertools
import json
import math
import sys
from typing import Any

from kept_rows import KeptRows
from single_runs import options_of, parser_of, result_of, suite

MODES = ("infer", "train")
SEED = 1337
# What each run is made with: members of the request, and variables of the environment.
MANNERS: dict[str, tuple[dict[str, int], dict[str, str]]] = {
    "first": ({}, {}),
    "repeat": ({}, {}),
    "kernels": ({"threads": 2}, {"ATEN_CPU_CAPABILITY": "avx2"}),
    "seed": ({"seed": SEED + 1}, {}),
}
COMPARED = {
    "repeat": "the same run again",
    "kernels": "other kernels, two threads",
    "seed": "another seed",
}
TIME_LIMIT_MS = 600_000
FARTHEST = 2.0
LISTED = 12
BOUNDS = (0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, FARTHEST)
BOUNDS_OF_16_BITS = (0.0, 1e-4, 1e-3, 1e-2, 6.25e-2, FARTHEST)  # the last but one is tolerated


def run(workload: str, mode: str, manner: str, options: argparse.Namespace) -> dict[str, Any]:
    """What the runner states of one memory pass."""
    members, environment = MANNERS[manner]
    request = {
        "schema": 1,
        "attempt": "outputs",
        "workload": workload,
        "mode": mode,
        "precision": options.precision,
        "device": "cpu",
        "threads": 1,
        "seed": SEED,
        "preset": options.preset,
        "pass": "memory",
        "warmup": 0,
        "iterations": 1,
        "iterations_min": 1,
        "leak_iterations": 0,
        "outputs": True,
        "limits": {"time_ms": TIME_LIMIT_MS},
        **members,
    }
    result = result_of(request, options, environment)
    return {key: result.get(key) for key in ("status", "reason", "outputs")}


def number(value: float | None) -> float:
    return math.nan if value is None else value


def apart(one: dict[str, Any], other: dict[str, Any]) -> float:
    """The greatest difference of two outputs' figures, as a share of their size."""
    if one["name"] != other["name"] or len(one["figures"]) != len(other["figures"]):
        return FARTHEST
    scale = max(number(one["scale"]), number(other["scale"]))
    worst = 0.0
    for left, right in zip(map(number, one["figures"]), map(number, other["figures"]), strict=True):
        if left == right or (math.isnan(left) and math.isnan(right)):
            continue
        difference = abs(left - right) / scale if scale else FARTHEST
        worst = max(worst, difference if math.isfinite(difference) else FARTHEST)
    return min(worst, FARTHEST)


def difference(some: list[dict[str, Any]], others: list[dict[str, Any]]) -> float:
    if len(some) != len(others):
        return FARTHEST
    return max((apart(one, other) for one, other in zip(some, others, strict=True)), default=0.0)


def differences(rows: list[dict[str, Any]], manner: str) -> dict[str, float]:
    """How far each benchmark's outputs are from those of its first run."""
    outputs = {
        (row["workload"], row["mode"], row["manner"]): row["outputs"]
        for row in rows
        if row["status"] == "ok" and row["outputs"]
    }
    found = {}
    for workload, mode, of in outputs:
        first = outputs.get((workload, mode, "first"))
        if of == manner and first is not None:
            found[f"{workload} cpu-{mode}"] = difference(first, outputs[workload, mode, manner])
    return found


def words(bound: float) -> str:
    return "equal" if bound == 0 else f"at most {bound:g}"


def table_of(rows: list[dict[str, Any]], bounds: tuple[float, ...] = BOUNDS) -> str:
    found = {name: differences(rows, manner) for manner, name in COMPARED.items()}
    lines = [f"| outputs differ by | {' | '.join(found)} |", "|-|" + "-:|" * len(found)]
    for low, high in itertools.pairwise((-1.0, *bounds)):
        counts = [sum(low < each <= high for each in of.values()) for of in found.values()]
        lines.append(f"| {words(high)} | {' | '.join(map(str, counts))} |")
    lines.append(f"| benchmarks | {' | '.join(str(len(of)) for of in found.values())} |")
    for name, of in found.items():
        largest = sorted(of.items(), key=lambda each: -each[1])[:LISTED]
        listed = ", ".join(f"{benchmark} {each:.2g}" for benchmark, each in largest if each > 0)
        lines += ["", f"The largest, {name}: {listed or 'none differs'}."]
    without = sorted(
        {f"{row['workload']} cpu-{row['mode']}" for row in rows if row["status"] != "ok"}
    )
    lines += ["", f"Without outputs: {', '.join(without) or 'none'}."]
    return "\n".join(lines)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--precision", default="fp32", choices=("fp32", "bf16", "amp"))
    options = options_of(parser)
    kept = KeptRows(options.folder / "runs.jsonl")
    for workload, mode, manner in itertools.product(options.workloads or suite(), MODES, MANNERS):
        asked = {"workload": workload, "mode": mode, "manner": manner, "preset": options.preset}
        if kept.find(**asked) is None:
            kept.add(asked | run(workload, mode, manner, options))
            print(workload, mode, manner, file=sys.stderr, flush=True)
    bounds = BOUNDS if options.precision == "fp32" else BOUNDS_OF_16_BITS
    print(json.dumps(kept.rows) if options.json else table_of(kept.rows, bounds))


if __name__ == "__main__":
    main()

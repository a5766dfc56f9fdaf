#!/usr/bin/env python3
"""Says what watching operators costs, on the whole suite.

    operator_cost.py FOLDER --runner PROGRAM [--preset small] [--json] [NAME]...

Runs each workload in both modes on the CPU with one thread, as a profile pass that states
operators (docs/measuring.md, "Operators of an incident"). Each run takes iterations without the
watch and with it, alternately. Keeps what it found in FOLDER/runs.jsonl; called again it resumes
where it stopped. Prints a table in Markdown: by how much watched iterations are longer, the
nanoseconds that is for a call, and what share of a watched iteration the operators' self times and
what lies outside of them account for.
"""

import argparse
import itertools
import json
import statistics
import sys
from typing import Any

from kept_rows import KeptRows
from single_runs import options_of, parser_of, result_of, suite

MODES = ("infer", "train")
TIME_LIMIT_MS = 600_000
OUTSIDE = "(outside operators)"
BOUNDS = (0.01, 0.02, 0.05, 0.1, 0.2, float("inf"))


def request_of(workload: str, mode: str, options: argparse.Namespace) -> dict[str, Any]:
    """A run that states operators."""
    return {
        "schema": 1,
        "attempt": "operators",
        "workload": workload,
        "mode": mode,
        "device": "cpu",
        "threads": 1,
        "preset": options.preset,
        "pass": "profile",
        "operators": True,
        "limits": {"time_ms": TIME_LIMIT_MS},
    }


def run(workload: str, mode: str, options: argparse.Namespace) -> dict[str, Any]:
    result = result_of(request_of(workload, mode, options), options)
    if result["status"] != "ok":
        return {"status": result["status"], "reason": result["reason"]}
    figures = result["operator_figures"]
    facts = result["environment"]["volatile_facts"]
    return {
        "status": "ok",
        "operators": len(figures) - 1,
        "calls": sum(each["calls"] for each in figures),
        "self_ns": sum(each["self_ns"] for each in figures),
        "outside_ns": sum(each["self_ns"] for each in figures if each["name"] == OUTSIDE),
        "iteration_ns": facts["operators_iteration_ns"],
        "watched_ns": facts["operators_watched_ns"],
    }


def slower(row: dict[str, Any]) -> float:
    """By what share of an unwatched iteration a watched one is longer."""
    return float(row["watched_ns"]) / row["iteration_ns"] - 1


def call_ns(row: dict[str, Any]) -> float:
    return float(row["watched_ns"] - row["iteration_ns"]) / row["calls"]


def spread(values: list[float], form: str) -> str:
    """Median, least and most."""
    return " | ".join(form.format(f(values)) for f in (statistics.median, min, max))


def table_of(rows: list[dict[str, Any]]) -> str:
    ok = [row for row in rows if row["status"] == "ok"]
    lines = ["| of a benchmark | median | least | most |", "|-|-:|-:|-:|"]
    lines.append(f"| operators | {spread([float(row['operators']) for row in ok], '{:.0f}')} |")
    lines.append(f"| calls an iteration | {spread([float(r['calls']) for r in ok], '{:.0f}')} |")
    lines.append(f"| longer by | {spread([100 * slower(row) for row in ok], '{:+.1f} %')} |")
    # Where calls are few, noise is more than what they cost.
    of_calls = [call_ns(row) for row in ok if row["calls"] >= 500]
    lines.append(f"| for a call, of 500 and more | {spread(of_calls, '{:.0f} ns')} |")
    accounted = [100.0 * row["self_ns"] / row["watched_ns"] for row in ok]
    lines.append(f"| accounted for | {spread(accounted, '{:.1f} %')} |")
    outside = [100.0 * row["outside_ns"] / row["watched_ns"] for row in ok]
    lines.append(f"| outside operators | {spread(outside, '{:.1f} %')} |")
    lines += ["", "| longer by | benchmarks |", "|-|-:|"]
    for low, high in itertools.pairwise((-float("inf"), *BOUNDS)):
        count = sum(low < slower(row) <= high for row in ok)
        most = "more" if high == BOUNDS[-1] else f"at most {100 * high:.0f} %"
        lines.append(f"| {most} | {count} |")
    failed = sorted(f"{r['workload']} cpu-{r['mode']}" for r in rows if r["status"] != "ok")
    lines += ["", f"{len(ok)} benchmarks; without figures: {', '.join(failed) or 'none'}."]
    return "\n".join(lines)


def main() -> None:
    options = options_of(parser_of(__doc__))
    kept = KeptRows(options.folder / "runs.jsonl")
    for workload, mode in itertools.product(options.workloads or suite(), MODES):
        asked = {"workload": workload, "mode": mode, "preset": options.preset}
        if kept.find(**asked) is None:
            kept.add(asked | run(workload, mode, options))
            print(workload, mode, file=sys.stderr, flush=True)
    print(json.dumps(kept.rows) if options.json else table_of(kept.rows))


if __name__ == "__main__":
    main()

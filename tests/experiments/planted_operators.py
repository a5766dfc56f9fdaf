#!/usr/bin/env python3
"""Plants slower operators, to see whether the watch of operators finds them.

    planted_operators.py FOLDER --runner PROGRAM [--cases N] [--seed N] [--longer PERCENT] [NAME]...

PROGRAM is `experiment_slow_runner`, in which the environment makes one operator slower. Each
workload is watched once in both modes on the CPU with one thread. Of all operators that take at
least 2 % of a benchmark's iteration, and 10 us a call, cases are drawn. In each the operator's
calls take so much longer that the iteration takes PERCENT longer (3 and 8 unless named), and eight
pairs of runs are watched as for an incident, the sides in turn. Keeps them in FOLDER/pairs.jsonl,
which `experiment_operator_ranking` reads; called again it resumes where it stopped.
"""

import argparse
import itertools
import json
import random
import sys
from typing import Any

from kept_rows import KeptRows
from single_runs import options_of, parser_of, result_of, suite

MODES = ("infer", "train")
TIME_LIMIT_MS = 600_000
OUTSIDE = "(outside operators)"
LEAST_SHARE = 0.02
LEAST_CALL_NS = 10_000  # what makes a call slower takes a microsecond itself
PAIRS = 8  # as for an incident about a time


def watched(
    workload: str, mode: str, options: argparse.Namespace, slow: tuple[str, int] | None = None
) -> dict[str, Any] | None:
    """What the operators of an iteration take; None where the run gives none."""
    request = {
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
    planted = {}
    if slow is not None:
        planted = {"TORCHWATCH_SLOW_OPERATOR": slow[0], "TORCHWATCH_SLOWER_NS": str(slow[1])}
    result = result_of(request, options, planted)
    if result["status"] != "ok":
        print(f"{workload} {mode}: {result['reason']}", file=sys.stderr)
        return None
    facts = result["environment"]["volatile_facts"]
    figures = {each.pop("name"): each for each in result["operator_figures"]}
    return {"iteration_ns": facts["operators_iteration_ns"], "operators": figures}


def shares(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The operators that take enough of a benchmark, of all benchmarks."""
    kept = KeptRows(options.folder / "shares.jsonl")
    for workload, mode in itertools.product(options.workloads or suite(), MODES):
        if kept.find(workload=workload, mode=mode) is None:
            seen = watched(workload, mode, options)
            kept.add({"workload": workload, "mode": mode, "seen": seen})
    found = []
    for row in kept.rows:
        if row["seen"] is None:
            continue
        whole = sum(each["self_ns"] for each in row["seen"]["operators"].values())
        for name, each in sorted(row["seen"]["operators"].items()):
            share = each["self_ns"] / whole
            is_long = each["self_ns"] >= LEAST_CALL_NS * each["calls"]
            if name.startswith("aten::") and share >= LEAST_SHARE and is_long:
                case = {"workload": row["workload"], "mode": row["mode"], "operator": name}
                of_whole = {"share": share, "calls_a_ns": each["calls"] / whole}
                found.append(case | of_whole)
    return found


def pairs_of(case: dict[str, Any], options: argparse.Namespace) -> list[Any] | None:
    slow = (case["operator"], round(case["longer"] / 100 / case["calls_a_ns"]))
    pairs = []
    for number in range(PAIRS):
        sides = [("before", None), ("after", slow)]
        pair: dict[str, Any] = {}
        for side, planted in sides if number % 2 == 0 else reversed(sides):
            pair[side] = watched(case["workload"], case["mode"], options, planted)
            if pair[side] is None:
                return None
        pairs.append(pair)
    return pairs


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longer", type=float, action="append", metavar="PERCENT")
    options = options_of(parser)
    known = shares(options)
    drawn = random.Random(options.seed).sample(known, min(options.cases, len(known)))
    kept = KeptRows(options.folder / "pairs.jsonl")
    for case, longer in itertools.product(drawn, options.longer or (3.0, 8.0)):
        planted = case | {"longer": longer}
        if kept.find(**planted) is None:
            kept.add(planted | {"pairs": pairs_of(planted, options)})
            print(json.dumps(planted), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

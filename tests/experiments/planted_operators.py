#!/usr/bin/env python3
"""Plants slower operators, to see whether the watch of operators finds them.

    planted_operators.py FOLDER --runner PROGRAM [--cases N] [--seed N] [--longer PERCENT] [NAME]...

PROGRAM is `experiment_slow_runner`, in which the environment makes one operator slower. Each
workload is watched once in both modes on the CPU with one thread. Of all operators that take at
least 2 % of a benchmark's iteration, and 10 us a call, cases are drawn. In each the operator's
calls take so much longer that the iteration takes PERCENT longer (3 and 8 unless named), and eight
pairs of interleaved runs are watched as for an incident. Keeps them in FOLDER/pairs.jsonl,
which `experiment_operator_ranking` reads; called again it resumes where it stopped.
"""

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kept_rows import KeptRows
from operator_cost import MODES, request_of
from same_build_runs import INTERLEAVED_SAMPLE_NS
from single_runs import options_of, parser_of, result_of, suite

LEAST_SHARE = 0.02
LEAST_CALL_NS = 10_000  # what makes a call slower takes a microsecond itself
PAIRS = 8  # as for an incident about a time


def seen_in(result: dict[str, Any]) -> dict[str, Any] | None:
    """What the operators of an iteration take; None where the run gives none."""
    if result["status"] != "ok":
        return None
    facts = result["environment"]["volatile_facts"]
    figures = {each.pop("name"): each for each in result["operator_figures"]}
    return {"iteration_ns": facts["operators_iteration_ns"], "operators": figures}


def shares(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The operators that take enough of a benchmark, of all benchmarks."""
    kept = KeptRows(options.folder / "shares.jsonl")
    for workload, mode in itertools.product(options.workloads or suite(), MODES):
        if kept.find(workload=workload, mode=mode) is None:
            benchmark = {"workload": workload, "mode": mode}
            seen = seen_in(result_of(request_of(workload, mode, options), options))
            kept.add(benchmark | {"seen": seen})
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


def begin(
    request: dict[str, Any], options: argparse.Namespace, name: str, planted: dict[str, str]
) -> tuple[subprocess.Popen[bytes], Path]:
    file, result = (options.folder / f"{name}.json", options.folder / f"{name}-result.json")
    result.unlink(missing_ok=True)
    file.write_text(json.dumps(request))
    process = subprocess.Popen(
        [options.runner, "measure", file, result],
        env=os.environ | planted,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return process, result


def end(begun: tuple[subprocess.Popen[bytes], Path], hold_of_other: int) -> dict[str, Any] | None:
    process, result = begun
    process.wait()
    os.write(hold_of_other, b"e")  # it has ended, however it did: the other one waits no more
    return seen_in(json.loads(result.read_text())) if result.exists() else None


def interleaved_pair(
    case: dict[str, Any], sides: list[str], options: argparse.Namespace
) -> dict[str, Any]:
    """Two processes that alternate; the first side begins."""
    slower = round(case["longer"] / 100 / case["calls_a_ns"])
    planted = {
        "before": {},
        "after": {
            "TORCHWATCH_SLOW_OPERATOR": case["operator"],
            "TORCHWATCH_SLOWER_NS": str(slower),
        },
    }
    pipes = {side: options.folder / f"pipe-{side}" for side in sides}
    holds = {}
    for side, pipe in pipes.items():
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
        holds[side] = os.open(pipe, os.O_RDWR)
    begun = {}
    for side, other in zip(sides, reversed(sides), strict=True):
        interleave = {
            "own": str(pipes[side]),
            "other": str(pipes[other]),
            "begins": side == sides[0],
            "agrees": True,
        }
        request = request_of(case["workload"], case["mode"], options) | {
            "interleave": interleave,
            "batch_below_ns": INTERLEAVED_SAMPLE_NS,
        }
        begun[side] = begin(request, options, side, planted[side])
    with ThreadPoolExecutor() as waiting:
        ends = {
            side: waiting.submit(end, begun[side], holds[other])
            for side, other in zip(sides, reversed(sides), strict=True)
        }
    for hold in holds.values():
        os.close(hold)
    return {side: ends[side].result() for side in sides}


def pairs_of(case: dict[str, Any], options: argparse.Namespace) -> list[Any] | None:
    """None where a run gave no figures."""
    pairs = []
    for number in range(PAIRS):
        sides = ["before", "after"] if number % 2 == 0 else ["after", "before"]
        pair = interleaved_pair(case, sides, options)
        if None in pair.values():
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

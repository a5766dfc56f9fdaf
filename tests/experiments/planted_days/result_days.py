#!/usr/bin/env python3
"""Compares builds of real LibTorch between which one commit changes the last bits of what products
compute, and a later one the first.

    result_days.py [--days N] [--first SEED] [--clean]

On the structure of a real day of 49 commits; where the two lie is drawn from the day's seed. Only
the later one is to be named; on a clean day it changes nothing. A finished day is kept in FOLDER
and shown again; one that was interrupted resumes.
"""

import argparse
import random
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[2]
DEMONSTRATION = CHECKOUT / "deploy" / "demonstration"
sys.path[:0] = [str(DEMONSTRATION), str(CHECKOUT / "tests" / "experiments")]

import configuration  # noqa: E402
import day  # noqa: E402
import day_folder  # noqa: E402
import drawn_days  # noqa: E402
import nightlies  # noqa: E402
import planted_days  # noqa: E402
import structure  # noqa: E402
from mechanisms import changed_first_bits, changed_last_bits  # noqa: E402
from nightly_call import kept_row  # noqa: E402

REAL_DAY = structure.structures()[65839]
WORKLOADS = ["soft_actor_critic", "dlrm", "nvidia_deeprecommender", "hf_Albert", "tts_angular"]


def plan(seed: int, is_planted: bool) -> list[day.PlannedCommit]:
    draw = random.Random(f"results {seed}")
    last, first = sorted(draw.sample(range(len(REAL_DAY.seconds)), 2))
    at_places = {last: changed_last_bits(), first: changed_first_bits(is_planted)}
    return structure.lay_out(draw, REAL_DAY, at_places)


def make_day(folder: Path, seed: int, is_planted: bool) -> dict[str, Any]:
    """The day's repository; returns its truth. The good end is the parent of the first commit."""

    def write(bare: Path) -> dict[str, Any]:
        cuts = [(0, REAL_DAY.day_start), (-1, REAL_DAY.day_start + day.DAY_SECONDS)]
        tree = planted_days.tree_with(structure.BLOCKING)
        known = day_folder.write(bare, tree, plan(seed, is_planted), cuts)
        culprit = day_folder.planted(known, bare, "result")
        known["planted"] = {"result": culprit["sha"]} if culprit else {}
        return known

    return day_folder.make(folder, {"seed": seed, "is_planted": is_planted}, write)


def row_of(folder: Path, seed: int, options: argparse.Namespace) -> drawn_days.Row:
    truth = make_day(folder, seed, not options.clean)
    nightlies.build(folder, options.libtorch, truth)
    more: dict[str, dict[str, Any]] = {
        "channel": {"path": str(folder / "nightlies")},
        "source": {"repository": str(folder / "pytorch.git")},
        "build": {"cache": str(options.folder / "builds")},
        "measure": {"outputs": True},
    }
    if options.machine_lock:
        more["executor"] = {"machine_lock": options.machine_lock}
    return kept_row(
        folder / "comparison",
        options.torchwatch,
        lambda comparison: configuration.write(comparison, options.libtorch, WORKLOADS, more),
        lambda found: drawn_days.row(seed, truth["planted"], found),
    )


def main() -> None:
    description = " ".join(__doc__.split("\n\n")[0].split())
    options = drawn_days.parse(drawn_days.parser_of(description, "result-days"))
    drawn_days.carry_out(options, lambda folder, seed: row_of(folder, seed, options))


if __name__ == "__main__":
    main()

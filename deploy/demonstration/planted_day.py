#!/usr/bin/env python3
"""Makes a planted day: a git repository whose commits change LibTorch for real, in seconds.

    planted_day.py FOLDER [--seed N] [--without-culprits] [--slow-rows PERCENT] [--libtorch TREE]

FOLDER/pytorch.git  40 commits on the branch main, in the manner of PyTorch's days, after a root
                    commit, and the branch nightly with the releases of the day's first and last
FOLDER/nightlies/   with --libtorch: the builds of those two, based on that LibTorch tree
FOLDER/truth.json   what was planted where. A service under test must never be shown it.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import changes
import day
import day_folder
import nightlies
import repository

HERE = Path(__file__).resolve().parent


def culprits(known: dict[str, Any], bare: Path, slow_rows: int) -> dict[str, Any]:
    """Everything about the two that a judge has to know."""
    memory, slow = (
        day_folder.planted(known, bare, "memory"),
        day_folder.planted(known, bare, "time"),
    )
    if memory:
        memory.update(operator="aten::nll_loss_forward", bytes_per_call=changes.KEPT_BYTES_PER_CALL)
    if slow:
        slow.update(operator="aten::mm", rows_computed_twice_percent=slow_rows)
    return {"time": slow, "memory": memory}


def make(folder: Path, seed: int, with_culprits: bool, slow_rows: int) -> dict[str, Any]:
    """Writes repository and truth into folder. Returns the truth; instant if it is that day
    already."""
    # A nightly is cut at 07:30 UTC and bears that day's date; the day's last commit is in the next.
    cut = day.DAY_START + 7 * 3600 + 1800
    cuts = [(0, cut - day.DAY_SECONDS), (1, cut), (-1, cut + day.DAY_SECONDS)]

    def write(bare: Path) -> dict[str, Any]:
        planned = day.plan(seed, with_culprits, slow_rows)
        known = day_folder.write(bare, repository.base_tree(HERE / "tree"), planned, cuts)
        known["culprits"] = culprits(known, bare, slow_rows)
        known["nightlies"] = known["nightlies"][1:]  # what was released before the day is not built
        return known

    return day_folder.make(
        folder, {"seed": seed, "with_culprits": with_culprits, "slow_rows": slow_rows}, write
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1, help="which day (default 1)")
    parser.add_argument(
        "--without-culprits",
        action="store_true",
        help="the same day with the two planted changes made harmless",
    )
    parser.add_argument(
        "--slow-rows",
        type=int,
        default=changes.WARM_UP_PERCENT,
        choices=range(1, 101),
        metavar="PERCENT",
        help="share of its rows that the slow commit's mm computes twice (default %(default)s)",
    )
    parser.add_argument(
        "--libtorch", type=Path, help="also build the two nightlies, based on this tree"
    )
    options = parser.parse_args()
    try:
        known = make(options.folder, options.seed, not options.without_culprits, options.slow_rows)
        if options.libtorch:
            nightlies.build(options.folder, options.libtorch.absolute(), known)
    except (repository.GitFailed, nightlies.BuildFailed, day_folder.OtherDay) as error:
        sys.exit(f"planted_day.py: {error}")
    except OSError as error:
        sys.exit(f"planted_day.py: {error.strerror}: {error.filename}")
    print(f"{options.folder}/pytorch.git: {len(known['commits'])} commits of seed {options.seed}")


if __name__ == "__main__":
    main()

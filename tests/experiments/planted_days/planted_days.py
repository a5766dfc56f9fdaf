#!/usr/bin/env python3
"""Compares builds of real LibTorch that differ by the changes of the TorchBench paper's Table 4.

    planted_days.py [--day PR]... [--clean] [--comparisons N] [--seed N]

Each change lies on the structure of the real day on which it landed. Makes the day
(deploy/demonstration), lets `torchwatch nightly` compare its nightlies and search for the commit,
and prints what came out: the right commit or not, builds, runs, minutes. Without --day: all seven.
A finished comparison is kept in FOLDER and shown again; one that was interrupted resumes. --clean:
the same days with the change made harmless. --table: only a line for each day whose comparisons are
kept, as Markdown.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[3]
DEMONSTRATION = CHECKOUT / "deploy" / "demonstration"
sys.path[:0] = [str(DEMONSTRATION), str(CHECKOUT / "tests" / "experiments")]

import configuration  # noqa: E402
import day  # noqa: E402
import day_folder  # noqa: E402
import nightlies  # noqa: E402
import repository  # noqa: E402
import result  # noqa: E402
import structure  # noqa: E402
from mechanisms import TABLE_4, Mechanism  # noqa: E402
from nightly_call import kept_row  # noqa: E402


def tree_with(*files: str) -> dict[str, str]:
    """What a day begins with: the demonstration's files, and these of the experiments' kernels, as
    each costs every first build a compilation."""
    own = repository.base_tree(Path(__file__).resolve().parent / "tree")
    wanted = {path: text for path, text in own.items() if path in files}
    return {**repository.base_tree(DEMONSTRATION / "tree"), **wanted}


def tree_of(mechanism: Mechanism) -> dict[str, str]:
    """The files that the mechanism's day begins with."""
    return tree_with(mechanism.file, structure.BLOCKING)


def make_day(folder: Path, pr: int, seed: int, is_planted: bool) -> dict[str, Any]:
    """The day's repository; returns its truth. The good end is the parent of the first commit."""
    mechanism, real = TABLE_4[pr], structure.structures()[pr]

    def write(bare: Path) -> dict[str, Any]:
        planned = structure.plan(real, mechanism, seed, is_planted)
        cuts = [(0, real.day_start), (-1, real.day_start + day.DAY_SECONDS)]
        known = day_folder.write(bare, tree_of(mechanism), planned, cuts)
        known["culprits"] = {
            kind: day_folder.planted(known, bare, kind) for kind in ("time", "memory")
        }
        return known

    return day_folder.make(folder, {"pr": pr, "seed": seed, "with_culprits": is_planted}, write)


def write_configuration(
    comparison: Path, folder: Path, pr: int, options: argparse.Namespace
) -> Path:
    more = {
        "channel": {"path": str(folder / "nightlies")},
        "source": {"repository": str(folder / "pytorch.git")},
        "build": {"cache": str(options.folder / "builds")},
    }
    if options.machine_lock:
        more["executor"] = {"machine_lock": options.machine_lock}
    return configuration.write(comparison, options.libtorch, TABLE_4[pr].workloads, more)


def comparison_of(
    folder: Path, truth: dict[str, Any], pr: int, number: int, options: argparse.Namespace
) -> dict[str, Any]:
    """The row of one comparison, which is carried out unless it is kept."""
    return kept_row(
        folder / f"comparison-{number}",
        options.torchwatch,
        lambda comparison: write_configuration(comparison, folder, pr, options),
        lambda found: {"number": number, **result.row(truth, found)},
    )


def folder_of(options: argparse.Namespace, pr: int) -> Path:
    return options.folder / f"{pr}-{'clean' if options.clean else 'planted'}-{options.seed}"


def carry_out_day(pr: int, options: argparse.Namespace) -> None:
    folder = folder_of(options, pr)
    truth = make_day(folder, pr, options.seed, not options.clean)
    nightlies.build(folder, options.libtorch, truth)
    for number in range(1, options.comparisons + 1):
        row = comparison_of(folder, truth, pr, number, options)
        print("\n".join(result.lines(row)), flush=True)


def kept_rows(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(file.read_text()) for file in sorted(folder.glob("*-*-*/comparison-*/row.json"))
    ]


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--day",
        type=int,
        action="append",
        choices=sorted(TABLE_4),
        metavar="PR",
        help=f"repeatable: {', '.join(map(str, sorted(TABLE_4)))}",
    )
    parser.add_argument(
        "--clean", action="store_true", help="the days with the change made harmless"
    )
    parser.add_argument(
        "--comparisons", type=int, default=1, help="number of comparisons per day (default 1)"
    )
    parser.add_argument("--seed", type=int, default=1, help="which commits are native (default 1)")
    parser.add_argument(
        "--folder",
        type=Path,
        default=CHECKOUT / "build" / "planted-days",
        help="where results are kept (default: build/planted-days)",
    )
    parser.add_argument("--libtorch", type=Path, default=CHECKOUT / ".deps" / "libtorch")
    parser.add_argument(
        "--torchwatch", type=Path, default=CHECKOUT / "build/user/service/cli/torchwatch"
    )
    parser.add_argument(
        "--machine-lock", help="let only one service of this name measure at a time"
    )
    parser.add_argument(
        "--table", action="store_true", help="carry out nothing, print what is kept"
    )
    options = parser.parse_args()
    for path in ("folder", "libtorch", "torchwatch"):
        setattr(options, path, getattr(options, path).absolute())
    return options


def main() -> None:
    options = parse_options()
    if options.table:
        print("\n".join(result.table(kept_rows(options.folder))))
        return
    try:
        for pr in options.day or TABLE_4:
            carry_out_day(pr, options)
    except result.FAILURES as error:
        sys.exit(f"planted_days.py: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes a planted day: a git repository whose commits change LibTorch for real, in seconds.

    planted_day.py FOLDER [--seed N] [--without-culprits] [--slow-rows PERCENT] [--libtorch TREE]

FOLDER/pytorch.git  40 commits on the branch main, in the manner of PyTorch's days, after a root
                    commit, and the branch nightly with the releases of the day's first and last
FOLDER/nightlies/   with --libtorch: the builds of those two, based on that LibTorch tree
FOLDER/truth.json   what was planted where. A service under test must never be shown it.
"""

import argparse
import json
import shutil
import sys
import time
from pathlib import Path

import changes
import day
import nightlies
import repository

HERE = Path(__file__).resolve().parent


def date_of(seconds):
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


def write_branches(bare, planned):
    repository.git(bare, "init", "--quiet", "--bare", "--initial-branch=main")
    trunk = repository.write_trunk(bare, repository.base_tree(HERE / "tree"), planned)
    before, first, last = trunk[0], trunk[1], trunk[-1]
    # A nightly is cut at 07:30 UTC and bears that day's date; the day's last commit is in the next.
    cut = day.DAY_START + 7 * 3600 + 1800
    releases = [(date_of(at), sha, at) for sha, at in
                ((before, cut - day.DAY_SECONDS), (first, cut), (last, cut + day.DAY_SECONDS))]
    return trunk, releases, repository.write_nightlies(bare, releases)


def truth(seed, with_culprits, slow_rows, planned, trunk, releases, nightly):
    """Everything a judge has to know, by sha."""
    commits = [{"sha": sha, "subject": commit.subject, "kind": commit.kind}
               for sha, commit in zip(trunk[1:], planned)]

    def the(kind):
        place = next((n for n, commit in enumerate(commits) if commit["kind"] == kind), None)
        if place is None:
            return None
        return {"sha": commits[place]["sha"], "parent": trunk[place], "place": place + 1}

    memory = the("memory")
    if memory:
        memory.update(operator="aten::nll_loss_forward", bytes_per_call=changes.KEPT_BYTES_PER_CALL)
    slow = the("time")
    if slow:
        slow.update(operator="aten::mm", rows_computed_twice_percent=slow_rows)
    return {
        "seed": seed,
        "with_culprits": with_culprits,
        "slow_rows": slow_rows,
        "commits": commits,
        "culprits": {"time": slow, "memory": memory},
        "unbuildable": [commit["sha"] for commit in commits if commit["kind"] == "broken"],
        "nightlies": [{"date": date, "trunk": sha, "commit": commit}
                      for (date, sha, _), commit in list(zip(releases, nightly))[1:]],
    }


def make(folder, seed, with_culprits, slow_rows):
    """Writes repository and truth into folder. Returns the truth; instant if it is that day already."""
    truth_file = folder / "truth.json"
    if truth_file.exists():
        known = json.loads(truth_file.read_text())
        if (known["seed"], known["with_culprits"], known.get("slow_rows", changes.WARM_UP_PERCENT)) == (
                seed, with_culprits, slow_rows):
            return known
        raise SystemExit(f"planted_day.py: {folder} holds another day (seed {known['seed']}): remove it first")
    partial = folder / "pytorch.git.partial"
    shutil.rmtree(partial, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    planned = day.plan(seed, with_culprits, slow_rows)
    trunk, releases, nightly = write_branches(partial, planned)
    if (folder / "pytorch.git").exists():
        raise SystemExit(f"planted_day.py: {folder}/pytorch.git has no truth.json beside it: remove it first")
    partial.rename(folder / "pytorch.git")
    known = truth(seed, with_culprits, slow_rows, planned, trunk, releases, nightly)
    truth_file.write_text(json.dumps(known, indent=1) + "\n")
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1, help="which day (default 1)")
    parser.add_argument("--without-culprits", action="store_true",
                        help="the same day with the two planted changes made harmless")
    parser.add_argument("--slow-rows", type=int, default=changes.WARM_UP_PERCENT, choices=range(1, 101),
                        metavar="PERCENT",
                        help="share of its rows that the slow commit's mm computes twice (default %(default)s)")
    parser.add_argument("--libtorch", type=Path, help="also build the two nightlies, based on this tree")
    options = parser.parse_args()
    try:
        known = make(options.folder, options.seed, not options.without_culprits, options.slow_rows)
        if options.libtorch:
            nightlies.build(options.folder, options.libtorch.absolute(), known)
    except (repository.GitFailed, nightlies.BuildFailed) as error:
        sys.exit(f"planted_day.py: {error}")
    except OSError as error:
        sys.exit(f"planted_day.py: {error.strerror}: {error.filename}")
    print(f"{options.folder}/pytorch.git: {len(known['commits'])} commits of seed {options.seed}")


if __name__ == "__main__":
    main()

"""A planted day's folder: its repository, and the truth about it, which no service may see."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import repository
from day import PlannedCommit

Release = tuple[str, str, int]
"""Date, sha on main, and the seconds at which a nightly is cut."""


class OtherDay(Exception):
    pass


def _release(moment: int, sha: str) -> Release:
    return time.strftime("%Y-%m-%d", time.gmtime(moment)), sha, moment


def _facts(
    planned: list[PlannedCommit], trunk: list[str], releases: list[Release], nightly: list[str]
) -> dict[str, Any]:
    commits = [
        {"sha": sha, "subject": commit.subject, "kind": commit.kind}
        for sha, commit in zip(trunk[1:], planned, strict=True)
    ]
    return {
        "commits": commits,
        "unbuildable": [commit["sha"] for commit in commits if commit["kind"] == "broken"],
        "nightlies": [
            {"date": date, "trunk": sha, "commit": commit}
            for (date, sha, _), commit in zip(releases, nightly, strict=True)
        ],
    }


def write(
    bare: Path,
    tree: dict[str, str],
    planned: list[PlannedCommit],
    cuts: list[tuple[int, int]],
    base: Path | None = None,
) -> dict[str, Any]:
    """The branches main and nightly in a new bare repository. tree: the files that the day begins
    with; cuts: (place on main, seconds) of each nightly, where place 0 is the root. base: a
    repository whose main, a single commit, is the root; of its files, tree needs those that are
    edited. Returns what is true of the day: "commits", "unbuildable", "nightlies"."""
    repository.git(bare, "init", "--quiet", "--bare", "--initial-branch=main")
    start = None
    if base:
        repository.git(bare, "fetch", "--quiet", str(base), "main:main")
        start = repository.git(bare, "rev-parse", "main").strip()
    trunk = repository.write_trunk(bare, tree, planned, start)
    releases = [_release(moment, trunk[place]) for place, moment in cuts]
    return _facts(planned, trunk, releases, repository.write_nightlies(bare, releases))


def planted(known: dict[str, Any], bare: Path, kind: str) -> dict[str, Any] | None:
    """Sha, parent and place of the commit of that kind, or nothing."""
    place = next((n for n, commit in enumerate(known["commits"]) if commit["kind"] == kind), None)
    if place is None:
        return None
    sha = known["commits"][place]["sha"]
    return {
        "sha": sha,
        "parent": repository.git(bare, "rev-parse", sha + "^").strip(),
        "place": place + 1,
    }


def make(
    folder: Path, identity: dict[str, Any], write_day: Callable[[Path], dict[str, Any]]
) -> dict[str, Any]:
    """Writes repository and truth into folder: identity and what write_day(bare) returns. Returns
    the truth; instant if it is that day already."""
    truth_file = folder / "truth.json"
    if truth_file.exists():
        known = json.loads(truth_file.read_text())
        if {name: known.get(name) for name in identity} == identity:
            return known
        raise OtherDay(f"{folder} holds another day (seed {known['seed']}): remove it first")
    partial = folder / "pytorch.git.partial"
    shutil.rmtree(partial, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    truth = {**identity, **write_day(partial)}
    if (folder / "pytorch.git").exists():
        raise OtherDay(f"{folder}/pytorch.git has no truth.json beside it: remove it first")
    partial.rename(folder / "pytorch.git")
    truth_file.write_text(json.dumps(truth, indent=1) + "\n")
    return truth

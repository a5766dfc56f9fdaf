"""States what the source day's builds cost, by the calls of the recipe."""

import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from source_builds import UNBUILDABLE

Row = dict[str, Any]
DECIDED = (0, UNBUILDABLE)  # the recipe's statuses that say something of the commit
# Seconds over which the three load averages reach.
LOAD_SECONDS = (60, 300, 900)


def calls_by_commit(rows: list[Row]) -> dict[str, list[Row]]:
    """The calls of the recipe that ended."""
    calls: dict[str, list[Row]] = {}
    for row in rows:
        if row["event"] == "ended":
            calls.setdefault(row["commit"], []).append(row)
    return calls


def decided_calls(rows: list[Row]) -> dict[str, Row]:
    """By commit the first call that ended with a build or without one."""
    found = {}
    for commit, calls in calls_by_commit(rows).items():
        if decided := [call for call in calls if call["status"] in DECIDED]:
            found[commit] = decided[0]
    return found


def load_of(call: Row) -> float | None:
    """The machine's load average at the end of a call, the longest that lies within it; the call's
    own compilers are in it."""
    if not call.get("load"):
        return None
    within = sum(call["seconds"] >= seconds for seconds in LOAD_SECONDS)
    return call["load"][max(within - 1, 0)]


def _minutes(calls: Iterable[Row], what: str) -> float:
    return round(sum(call[what] for call in calls) / 60, 1)


def first_build(rows: list[Row]) -> Row | None:
    """What the first of all builds took, over all calls up to the one that ended it. "killed": what
    calls that were stopped took of that. "unended": how many were killed at once, whose time nobody
    knows and which is not in it. Nothing while there is no build."""
    built = next((n for n, row in enumerate(rows) if row.get("status") == 0), None)
    if built is None:
        return None
    ended = [row for row in rows[: built + 1] if row["event"] == "ended"]
    begun = sum(row["event"] == "begun" for row in rows[: built + 1])
    return {
        "calls": begun,
        "unended": begun - len(ended),
        "minutes": _minutes(ended, "seconds"),
        "processor_minutes": _minutes(ended, "processor_seconds"),
        "killed_minutes": _minutes(ended[:-1], "seconds"),
        "killed_processor_minutes": _minutes(ended[:-1], "processor_seconds"),
        "load": load_of(ended[-1]),
        "compiled": sum(row.get("cache_miss", 0) for row in ended),
    }


def kind_of(truth: Row, commit: str) -> str:
    """What a later build was of: "whole day" for the second nightly, else what its commit edits.
    Empty for the first nightly, commits of another day, and reverts that the service made."""
    if commit == truth["nightlies"][-1]["commit"]:
        return "whole day"
    for each in truth["commits"]:
        if each["sha"] == commit:
            return f"{each['cost']}{', broken' if each['kind'] == 'broken' else ''}"
    return ""


def later_builds(truth: Row, rows: list[Row]) -> list[Row]:
    """By kind of commit, each commit's first call that ended with a build or without one. A commit
    holds what came before it, so its build may compile what others changed, too."""
    kinds: dict[str, list[Row]] = {}
    for commit, call in decided_calls(rows).items():
        if kind := kind_of(truth, commit):
            kinds.setdefault(kind, []).append(call)
    return [
        {
            "kind": kind,
            "builds": len(calls),
            "minutes": _middle(call["seconds"] / 60 for call in calls),
            "processor_minutes": _middle(call["processor_seconds"] / 60 for call in calls),
            "load": _middle(load for call in calls if (load := load_of(call)) is not None),
            "compiled": _middle(call.get("cache_miss", 0) for call in calls),
        }
        for kind, calls in sorted(kinds.items())
    ]


def _middle(values: Iterable[float]) -> Row | None:
    kept = sorted(values)
    if not kept:
        return None
    return {
        "median": round(statistics.median(kept), 2),
        "least": round(kept[0], 2),
        "most": round(kept[-1], 2),
    }


def builds_of_searches(truth: Row, rows: list[Row], purpose: str) -> Row:
    """How many different commits the recipe was called for, for that purpose. "between": of the
    day, without its two ends, "failed" those among them that do not compile; "reverts": what the
    service made to see whether a culprit taken back helps. A commit that several searches share
    counts once."""
    calls = decided_calls([row for row in rows if row.get("for") == purpose])
    ends = {nightly[name] for nightly in truth["nightlies"] for name in ("trunk", "commit")}
    between = {commit["sha"] for commit in truth["commits"]} - ends
    failed = {commit for commit, call in calls.items() if call["status"] == UNBUILDABLE}
    return {
        "between": len(between & calls.keys()),
        "failed": len(between & failed),
        "ends": len(ends & calls.keys()),
        "reverts": len(calls.keys() - between - ends),
    }


def bytes_in(folder: Path) -> int:
    """What a folder takes on the disk; a file with several names counts once."""
    seen: dict[tuple[int, int], int] = {}
    for file in folder.rglob("*"):
        status = file.lstat()
        seen[status.st_dev, status.st_ino] = status.st_blocks * 512
    return sum(seen.values())

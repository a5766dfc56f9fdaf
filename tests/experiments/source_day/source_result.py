"""States what the source day came to: what builds cost, what was found, and what it took."""

import statistics
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import planted
from result import blamed, effect_text
from source_builds import UNBUILDABLE

Row = dict[str, Any]
DECIDED = (0, UNBUILDABLE)  # the recipe's statuses that say something of the commit


def calls_by_commit(rows: list[Row]) -> dict[str, list[Row]]:
    """The calls of the recipe that ended."""
    calls: dict[str, list[Row]] = {}
    for row in rows:
        if row["event"] == "ended":
            calls.setdefault(row["commit"], []).append(row)
    return calls


def first_build(rows: list[Row]) -> Row | None:
    """What the first of all builds took, over all calls up to the one that ended it. "unended":
    calls that were killed, whose time is not in it. Nothing while there is no build."""
    built = next((n for n, row in enumerate(rows) if row.get("status") == 0), None)
    if built is None:
        return None
    ended = [row for row in rows[: built + 1] if row["event"] == "ended"]
    begun = sum(row["event"] == "begun" for row in rows[: built + 1])
    return {
        "calls": begun,
        "unended": begun - len(ended),
        "minutes": round(sum(row["seconds"] for row in ended) / 60, 1),
        "processor_minutes": round(sum(row["processor_seconds"] for row in ended) / 60, 1),
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
    for commit, calls in calls_by_commit(rows).items():
        decided = [call for call in calls if call["status"] in DECIDED]
        kind = kind_of(truth, commit)
        if decided and kind:
            kinds.setdefault(kind, []).append(decided[0])
    return [
        {
            "kind": kind,
            "builds": len(calls),
            "minutes": _middle(call["seconds"] / 60 for call in calls),
            "processor_minutes": _middle(call["processor_seconds"] / 60 for call in calls),
            "compiled": _middle(call.get("cache_miss", 0) for call in calls),
        }
        for kind, calls in sorted(kinds.items())
    ]


def _middle(values: Iterable[float]) -> Row:
    kept = sorted(values)
    return {
        "median": round(statistics.median(kept), 2),
        "least": round(kept[0], 2),
        "most": round(kept[-1], 2),
    }


def bytes_in(folder: Path) -> int:
    """What a folder takes on the disk; a file with several names counts once."""
    seen: dict[tuple[int, int], int] = {}
    for file in folder.rglob("*"):
        status = file.lstat()
        seen[status.st_dev, status.st_ino] = status.st_blocks * 512
    return sum(seen.values())


def named(truth: Row, incidents: list[Row]) -> Row:
    """By culprit whether an incident names its commit alone; "others" are commits that are blamed
    and were not planted, in sets of several too."""
    sets = [commits for incident in incidents for commits in blamed(incident)]
    shas = {name: truth["planted"][name]["sha"] for name in planted.CULPRITS}
    return {
        "culprits": {name: [sha] in sets for name, sha in shas.items()},
        "others": sorted({sha for commits in sets for sha in commits} - set(shas.values())),
        "unnamed": [incident["title"] for incident in incidents if not blamed(incident)],
    }


def _hours(search: Row) -> float:
    begun, ended = (datetime.fromisoformat(search[when]) for when in ("created_at", "ended_at"))
    return (ended - begun).total_seconds() / 3600


def searches(found: Row) -> list[Row]:
    return [
        {
            "incident": search["incident"],
            "builds": search["result"]["builds"],
            "runs": search["result"]["runs"],
            "hours": round(_hours(search), 2),
            "blamed": blamed(search["result"]),
            "verified": search["result"]["verified"],
        }
        for search in found["bisections"]
        if search["result"] and search["ended_at"]
    ]


def of_service(truth: Row, found: Row) -> Row:
    comparison = found["comparison"]
    kept = searches(found)
    return {
        **named(truth, comparison["incidents"]),
        "series": len(comparison["verdicts"]),
        "inconclusive": sum(v["verdict"] == "inconclusive" for v in comparison["verdicts"]),
        "incidents": [
            {
                "title": incident["title"],
                "effects": [effect_text(effect) for effect in incident["effects"]],
                "blamed": blamed(incident),
            }
            for incident in comparison["incidents"]
        ],
        "searches": kept,
        "builds": sum(search["builds"] for search in kept),
        "runs": sum(search["runs"] for search in kept),
        "hours_of_search": round(sum(search["hours"] for search in kept), 2),
        "minutes": found["minutes"],
    }


def of_plain(rows: list[Row], plain: list[Row]) -> list[Row]:
    """With the minutes that the same builds took when each was first made."""
    calls = calls_by_commit(rows)
    minutes = {
        commit: next((call["seconds"] / 60 for call in made if call["status"] in DECIDED), 0.0)
        for commit, made in calls.items()
    }
    return [
        {
            **{key: value for key, value in row.items() if key != "commits"},
            "build_minutes": round(sum(minutes.get(sha, 0.0) for sha in row["commits"]), 1),
        }
        for row in plain
    ]

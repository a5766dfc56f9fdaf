"""States what the source day came to: what was found, and what it took."""

from typing import Any

import planted
import source_costs
import source_hours
from planted import Culprit
from result import blamed, effect_text

Row = dict[str, Any]


def _is_worsened(culprit: Culprit, effect: Row) -> bool:
    """Whether the culprit was planted to make this series worse."""
    return (
        effect["workload"] in culprit.workloads
        and effect["configuration"] == f"cpu-{culprit.mode}"
        and effect["metric"] == culprit.metric
    )


def _naming(incidents: list[Row], sha: str) -> list[Row]:
    """The incidents that name the commit alone."""
    return [incident for incident in incidents if [sha] in blamed(incident)]


def _has_own_series(culprit: Culprit, incident: Row) -> bool:
    return any(_is_worsened(culprit, effect) for effect in incident["effects"])


def named(truth: Row, incidents: list[Row]) -> Row:
    """By culprit whether an incident of a series that it makes worse names its commit alone, and
    "elsewhere" how many incidents of other series alone do. "others" are commits that are blamed
    and were not planted, in sets of several too."""
    shas = {name: truth["planted"][name]["sha"] for name in planted.CULPRITS}
    own: dict[str, bool] = {}
    elsewhere: dict[str, int] = {}
    for name, culprit in planted.CULPRITS.items():
        fits = [_has_own_series(culprit, each) for each in _naming(incidents, shas[name])]
        own[name] = any(fits)
        elsewhere[name] = fits.count(False)
    sets = [commits for incident in incidents for commits in blamed(incident)]
    return {
        "culprits": own,
        "elsewhere": elsewhere,
        "others": sorted({sha for commits in sets for sha in commits} - set(shas.values())),
        "unnamed": [incident["title"] for incident in incidents if not blamed(incident)],
    }


def searches(found: Row, hours: dict[int, float]) -> list[Row]:
    return [
        {
            "incident": search["incident"],
            "runs": search["result"]["runs"],
            "hours": round(hours[search["id"]], 2),
            "blamed": blamed(search["result"]),
            "verified": search["result"]["verified"],
        }
        for search in found["bisections"]
        if search["result"] and search["ended_at"]
    ]


def of_service(truth: Row, found: Row, builds: Row) -> Row:
    """builds: of source_costs.builds_of_searches."""
    comparison = found["comparison"]
    hours, whole = source_hours.of_searches(found["bisections"], found["calls"])
    kept = searches(found, hours)
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
        "builds": builds,
        "runs": sum(search["runs"] for search in kept),
        "hours_of_search": round(whole, 2),
        "minutes": found["minutes"],
    }


def _build_seconds(rows: list[Row], commits: set[str]) -> float:
    """What the recipe took for the commits when each was first built or found not to compile."""
    calls = source_costs.decided_calls(rows)
    return sum(calls[commit]["seconds"] for commit in commits if commit in calls)


def of_plain(rows: list[Row], plain: list[Row]) -> list[Row]:
    """With the minutes that the same builds took when each was first made, and the runs' own."""
    kept = ("culprit", "found", "is_right", "runs")
    return [
        {
            **{name: row[name] for name in kept},
            "builds": len(row["commits"]),
            "failed": len(row["failed"]),
            "build_minutes": round(_build_seconds(rows, set(row["commits"])) / 60, 1),
            "run_minutes": round(row["run_seconds"] / 60, 1),
        }
        for row in plain
    ]


def all_plain(rows: list[Row], plain: list[Row]) -> Row | None:
    """The searches by git bisect together, counted as the service's are: a commit that several of
    them build counts once. The ends are the nightlies, and nothing is reverted."""
    if not plain:
        return None
    commits = {commit for row in plain for commit in row["commits"]}
    failed = {commit for row in plain for commit in row["failed"]}
    seconds = _build_seconds(rows, commits) + sum(row["run_seconds"] for row in plain)
    return {
        "builds": {"between": len(commits), "failed": len(failed), "ends": 0, "reverts": 0},
        "runs": sum(row["runs"] for row in plain),
        "hours": round(seconds / 3600, 2),
    }

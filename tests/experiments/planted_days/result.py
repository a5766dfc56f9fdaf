"""States what a comparison found in a planted day, as a row."""

from typing import Any

import day_folder
import nightlies
import repository
from mechanisms import TABLE_4
from nightly_call import ComparisonFailed

# What ends a program that makes days and compares them, with a sentence for people.
FAILURES = (
    ComparisonFailed,
    day_folder.OtherDay,
    repository.GitFailed,
    nightlies.BuildFailed,
    OSError,
)

BILLIONTHS_OF_A_PERCENT = 10_000_000  # the unit of differences of outputs is a billionth

# The passes' own runs; what other metrics say comes from the same runs.
COUNTED_METRICS = ("time", "cpu_peak")


def blamed(incident: dict[str, Any]) -> list[list[str]]:
    """The commits that the bisection blames, in sets of those that it cannot tell apart."""
    return [culprit["commits"] for culprit in incident.get("culprits", [])]


def outcome(planted_sha: str | None, incidents: list[dict[str, Any]]) -> str:
    """One word for what was found. "right": every incident blames the planted commit and nobody
    else. "wrong": one blames somebody else. "unsure": one blames nobody, or a set with others.
    "nothing": no incident."""
    if not incidents:
        return "nothing"
    sets = [commits for incident in incidents for commits in blamed(incident)]
    if any(planted_sha not in commits for commits in sets):
        return "wrong"
    is_alone = all(len(commits) == 1 for commits in sets)
    return "right" if is_alone and all(map(blamed, incidents)) else "unsure"


def _effect(effect: dict[str, Any]) -> dict[str, Any]:
    kept = (
        "workload",
        "configuration",
        "metric",
        "ratio",
        "interval",
        "baseline_value",
        "candidate_value",
    )
    return {name: effect[name] for name in kept}


def incident_row(incident: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": incident["title"],
        "blamed": blamed(incident),
        "candidates": incident.get("candidates", []),
        "confidence": incident.get("confidence"),
        "verified": incident.get("verified", ""),
        "builds": incident.get("builds", 0),
        "runs": incident.get("runs", 0),
        "reason": incident.get("reason", ""),
        "effects": [_effect(effect) for effect in incident["effects"]],
    }


def row(truth: dict[str, Any], comparison: dict[str, Any]) -> dict[str, Any]:
    """Everything that the table needs, from the truth and `torchwatch comparison show --json`."""
    planted = next((culprit for culprit in truth["culprits"].values() if culprit), None)
    incidents = [incident_row(incident) for incident in comparison["incidents"]]
    found = outcome(planted and planted["sha"], comparison["incidents"])
    measured = sum(v["runs"] for v in comparison["verdicts"] if v["metric"] in COUNTED_METRICS)
    return {
        "pr": truth["pr"],
        "seed": truth["seed"],
        "is_planted": truth["with_culprits"],
        "commits": len(truth["commits"]),
        "native": sum(commit["kind"] != "none" for commit in truth["commits"]),
        "unbuildable": len(truth["unbuildable"]),
        "place": planted and planted["place"],
        "outcome": found,
        "is_right": found == ("right" if truth["with_culprits"] else "nothing"),
        "series": len(comparison["verdicts"]),
        "inconclusive": sum(v["verdict"] == "inconclusive" for v in comparison["verdicts"]),
        "incidents": incidents,
        "builds": sum(incident["builds"] for incident in incidents),
        "runs": measured + sum(incident["runs"] for incident in incidents),
    }


def effect_text(effect: dict[str, Any]) -> str:
    series = f"{effect['workload']} {effect['configuration']}"
    if effect["ratio"] is None:
        change = effect["candidate_value"] - effect["baseline_value"]
        if effect["metric"] == "output_difference":
            return f"{series} outputs {change / BILLIONTHS_OF_A_PERCENT:.2g} % apart"
        return f"{series} {effect['metric']} {change:+,.0f} bytes"
    low, high = effect["interval"]
    metric = "" if effect["metric"] == "time" else f" {effect['metric']}"
    return f"{series}{metric} x {effect['ratio']:.3f} [{low:.3f}, {high:.3f}]"


def name_of(kept: dict[str, Any]) -> str:
    return f"{kept['pr']}{'' if kept['is_planted'] else ', clean'}"


def lines(kept: dict[str, Any]) -> list[str]:
    """A comparison for people: what was found, then each incident with its effects."""
    text = [
        (
            f"{name_of(kept)}, comparison {kept['number']}: {kept['outcome']}, "
            f"{'as' if kept['is_right'] else 'NOT as'} planted; "
            f"{kept['commits']} commits, {kept['native']} native; "
            f"{kept['builds']} builds, {kept['runs']} runs, "
            f"{kept['minutes']:.0f} min; "
            f"{kept['inconclusive']} of {kept['series']} series inconclusive"
        )
    ]
    for incident in kept["incidents"]:
        text.append(f"  {incident['title']}")
        text += [f"    {effect_text(effect)}" for effect in incident["effects"]]
        sets = ", ".join(" or ".join(sha[:12] for sha in commits) for commits in incident["blamed"])
        text.append(f"    blamed: {sets or 'nobody'}; {incident['verified'] or incident['reason']}")
    return text


HEAD = (
    "|day|upstream|commits, native|as planted|otherwise|largest effect, comparison by comparison"
    "|builds|runs|min|inconclusive|"
)


def _largest(kept: dict[str, Any]) -> dict[str, Any] | None:
    return max(
        (effect for incident in kept["incidents"] for effect in incident["effects"]),
        key=lambda effect: effect["ratio"] or 0,
        default=None,
    )


def _range(values: list[float], form: str = "{:.0f}") -> str:
    """As "2" or "2 to 7"."""
    low, high = (form.format(end) for end in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _largest_of(comparisons: list[dict[str, Any]]) -> str:
    """What moved most in the first comparison that found something, and by how much in all."""
    found = [effect for effect in map(_largest, comparisons) if effect]
    if not found:
        return "-"
    if any(effect["ratio"] is None for effect in found):
        return effect_text(found[0])
    series = f"{found[0]['workload']} {found[0]['configuration']}"
    metric = "" if found[0]["metric"] == "time" else f" {found[0]['metric']}"
    return f"{series}{metric} x {_range([effect['ratio'] for effect in found], '{:.3f}')}"


def _day_line(comparisons: list[dict[str, Any]]) -> str:
    first = comparisons[0]
    right = [kept for kept in comparisons if kept["is_right"]]
    others = ", ".join(kept["outcome"] for kept in comparisons if not kept["is_right"]) or "-"
    inconclusive = sum(kept["inconclusive"] for kept in comparisons)
    return (
        f"|{name_of(first)}|{TABLE_4[first['pr']].upstream}|{first['commits']}, {first['native']}|"
        f"{len(right)} of {len(comparisons)}|{others}|{_largest_of(comparisons)}|"
        f"{_range([kept['builds'] for kept in comparisons])}|"
        f"{_range([kept['runs'] for kept in comparisons])}|"
        f"{_range([kept['minutes'] for kept in comparisons])}|"
        f"{inconclusive} of {sum(kept['series'] for kept in comparisons)}|"
    )


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Markdown, a line for each day with all its comparisons; clean days after the planted ones."""
    days: dict[tuple[bool, int], list[dict[str, Any]]] = {}
    for kept in sorted(rows, key=lambda kept: (not kept["is_planted"], kept["pr"], kept["number"])):
        days.setdefault((kept["is_planted"], kept["pr"]), []).append(kept)
    return [HEAD, "|" + "-|" * (HEAD.count("|") - 1), *map(_day_line, days.values())]

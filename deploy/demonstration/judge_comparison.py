#!/usr/bin/env python3
"""Compares what a service found in a planted day with the truth.

    torchwatch comparison show --json | judge_comparison.py FOLDER

FOLDER is one that planted_day.py made. Exit status 0: both culprits are named, each in an incident
of its own, and nothing else is an incident (a day without culprits: none at all). With
FOLDER/true-effect.json the true ratios must also lie in the intervals. 1: anything else.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Finding = tuple[bool, str]
"""Whether it is as planted, and the lines that say so."""


def effects_of(incident: dict[str, Any], metric: str) -> list[dict[str, Any]]:
    return [effect for effect in incident["effects"] if effect["metric"] == metric]


def is_about_time(incident: dict[str, Any]) -> bool:
    return bool(effects_of(incident, "time"))


def is_leak(incident: dict[str, Any]) -> bool:
    return bool(effects_of(incident, "leak_growth"))


def blamed(incident: dict[str, Any]) -> list[str | None]:
    """The commits that the incident names as culprits; more than one in a set counts as not
    named."""
    sets = [culprit["commits"] for culprit in incident.get("culprits", [])]
    return (
        [commits[0] for commits in sets if len(commits) == 1] if sets else [incident.get("culprit")]
    )


def name_of(truth: dict[str, Any], sha: str | None) -> str:
    subjects = {commit["sha"]: commit["subject"] for commit in truth["commits"]}
    return f"{sha[:12]} {subjects.get(sha, '')}" if sha else "nobody"


def judge_culprit(
    truth: dict[str, Any],
    incidents: list[dict[str, Any]],
    kind: str,
    belongs: Callable[[dict[str, Any]], bool],
) -> Finding:
    planted = truth["culprits"][kind]
    mine = [incident for incident in incidents if belongs(incident)]
    if planted is None:
        return not mine, f"{kind}: nothing is planted, {len(mine)} incidents"
    named = [sha for incident in mine for sha in blamed(incident)]
    is_right = named == [planted["sha"]]
    found = ", ".join(name_of(truth, sha) for sha in named) or "no incident"
    return (
        is_right,
        (
            f"{kind}: planted {name_of(truth, planted['sha'])}\n"
            f"  {'found it' if is_right else 'found ' + found}"
        ),
    )


def judge_growth(truth: dict[str, Any], incidents: list[dict[str, Any]]) -> Finding:
    """Bytes per iteration, exact: each series calls the operator once in an iteration."""
    planted = truth["culprits"]["memory"]
    lines, all_right = [], True
    for incident in incidents if planted else []:
        for effect in effects_of(incident, "leak_growth"):
            growth = effect["candidate_value"] - effect["baseline_value"]
            is_right = growth == planted["bytes_per_call"]
            all_right &= is_right
            lines.append(
                f"  {effect['workload']} {effect['configuration']}: "
                f"keeps {growth:g} bytes per iteration"
                f"{'' if is_right else ', planted ' + str(planted['bytes_per_call'])}"
            )
    return all_right, "\n".join(lines)


def judge_ratios(incidents: list[dict[str, Any]], measured: dict[str, Any]) -> Finding:
    true_ratios = {
        (effect["workload"], f"cpu-{effect['mode']}"): effect["ratio"]
        for effect in measured["time"]
    }
    lines, all_right = [], True
    for incident in incidents:
        for effect in effects_of(incident, "time"):
            truth = true_ratios.get((effect["workload"], effect["configuration"]))
            if truth is None:
                continue
            low, high = effect["interval"]
            is_right = low <= truth <= high
            all_right &= is_right
            lines.append(
                f"  {effect['workload']} {effect['configuration']}: true x {truth:.4f} is "
                f"{'in' if is_right else 'NOT IN'} {low:.4f} to {high:.4f}"
            )
    return all_right, "\n".join(lines)


def judge(
    comparison: dict[str, Any], truth: dict[str, Any], measured: dict[str, Any] | None
) -> list[Finding]:
    incidents = comparison["incidents"]
    findings = [
        judge_culprit(truth, incidents, "time", is_about_time),
        judge_culprit(truth, incidents, "memory", is_leak),
        judge_growth(truth, incidents),
    ]
    others = [i["title"] for i in incidents if not is_about_time(i) and not is_leak(i)]
    findings.append((not others, "\n".join(f"not planted: {title}" for title in others)))
    if measured:
        findings.append(judge_ratios(incidents, measured))
    return findings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    try:
        truth = json.loads((folder / "truth.json").read_text())
        measured_file = folder / "true-effect.json"
        measured = json.loads(measured_file.read_text()) if measured_file.exists() else None
        findings = judge(json.load(sys.stdin), truth, measured)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"judge_comparison.py: cannot read the comparison or the truth: {error!r}")
    print("\n".join(text for _, text in findings if text))
    sys.exit(0 if all(is_right for is_right, _ in findings) else 1)


if __name__ == "__main__":
    main()

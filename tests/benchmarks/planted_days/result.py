"""What a night found of a planted day, as a row."""

from mechanisms import TABLE_4

# The passes' own runs; what other metrics say comes from the same runs.
COUNTED_METRICS = ("time", "cpu_peak")


def blamed(incident):
    """The commits that the search blames, in sets of those that it cannot tell apart."""
    return [culprit["commits"] for culprit in incident.get("culprits", [])]


def outcome(planted_sha, incidents):
    """"right": every incident blames the planted commit and nobody else. "wrong": one blames somebody
    else. "unsure": one blames nobody, or a set with others. "nothing": no incident."""
    if not incidents:
        return "nothing"
    sets = [commits for incident in incidents for commits in blamed(incident)]
    if any(planted_sha not in commits for commits in sets):
        return "wrong"
    is_alone = all(len(commits) == 1 for commits in sets)
    return "right" if is_alone and all(map(blamed, incidents)) else "unsure"


def _effect(effect):
    kept = ("workload", "configuration", "metric", "ratio", "interval", "baseline_value", "candidate_value")
    return {name: effect[name] for name in kept}


def _incident(incident):
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


def row(truth, night):
    """Everything that the table needs, from the truth and `torchwatch nightly --json`."""
    planted = next((culprit for culprit in truth["culprits"].values() if culprit), None)
    incidents = [_incident(incident) for incident in night["incidents"]]
    found = outcome(planted and planted["sha"], night["incidents"])
    measured = sum(v["runs"] for v in night["verdicts"] if v["metric"] in COUNTED_METRICS)
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
        "series": len(night["verdicts"]),
        "inconclusive": sum(v["verdict"] == "inconclusive" for v in night["verdicts"]),
        "incidents": incidents,
        "builds": sum(incident["builds"] for incident in incidents),
        "runs": measured + sum(incident["runs"] for incident in incidents),
    }


def effect_text(effect):
    series = f"{effect['workload']} {effect['configuration']}"
    if effect["ratio"] is None:
        change = effect["candidate_value"] - effect["baseline_value"]
        return f"{series} {effect['metric']} {change:+,.0f} bytes"
    low, high = effect["interval"]
    metric = "" if effect["metric"] == "time" else f" {effect['metric']}"
    return f"{series}{metric} x {effect['ratio']:.3f} [{low:.3f}, {high:.3f}]"


def name_of(kept):
    return f"{kept['pr']}{'' if kept['is_planted'] else ', clean'}"


def lines(kept):
    """A night for people: what was found, then each incident with its effects."""
    text = [f"{name_of(kept)}, night {kept['number']}: {kept['outcome']}, {'as' if kept['is_right'] else 'NOT as'} planted; "
            f"{kept['commits']} commits, {kept['native']} native; {kept['builds']} builds, {kept['runs']} runs, "
            f"{kept['minutes']:.0f} min; {kept['inconclusive']} of {kept['series']} series inconclusive"]
    for incident in kept["incidents"]:
        text.append(f"  {incident['title']}")
        text += [f"    {effect_text(effect)}" for effect in incident["effects"]]
        sets = ", ".join(" or ".join(sha[:12] for sha in commits) for commits in incident["blamed"])
        text.append(f"    blamed: {sets or 'nobody'}; {incident['verified'] or incident['reason']}")
    return text


HEAD = "|day|upstream|commits, native|as planted|otherwise|largest effect, night by night|builds|runs|min|inconclusive|"


def _largest(kept):
    return max((effect for incident in kept["incidents"] for effect in incident["effects"]),
               key=lambda effect: effect["ratio"] or 0, default=None)


def _range(values, form="{:.0f}"):
    """"2" or "2 to 7"."""
    low, high = (form.format(end) for end in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _largest_of(nights):
    """Of the nights that found something: what moved most in the first, and by how much in all."""
    found = [effect for effect in map(_largest, nights) if effect]
    if not found:
        return "-"
    if any(effect["ratio"] is None for effect in found):
        return effect_text(found[0])
    series = f"{found[0]['workload']} {found[0]['configuration']}"
    metric = "" if found[0]["metric"] == "time" else f" {found[0]['metric']}"
    return f"{series}{metric} x {_range([effect['ratio'] for effect in found], '{:.3f}')}"


def _day_line(nights):
    first = nights[0]
    right = [kept for kept in nights if kept["is_right"]]
    others = ", ".join(kept["outcome"] for kept in nights if not kept["is_right"]) or "-"
    inconclusive = sum(kept["inconclusive"] for kept in nights)
    return (f"|{name_of(first)}|{TABLE_4[first['pr']].upstream}|{first['commits']}, {first['native']}|"
            f"{len(right)} of {len(nights)}|{others}|{_largest_of(nights)}|"
            f"{_range([kept['builds'] for kept in nights])}|{_range([kept['runs'] for kept in nights])}|"
            f"{_range([kept['minutes'] for kept in nights])}|{inconclusive} of {sum(kept['series'] for kept in nights)}|")


def table(rows):
    """Markdown, a line for each day with all its nights; clean days after the planted ones."""
    days = {}
    for kept in sorted(rows, key=lambda kept: (not kept["is_planted"], kept["pr"], kept["number"])):
        days.setdefault((kept["is_planted"], kept["pr"]), []).append(kept)
    return [HEAD, "|" + "-|" * (HEAD.count("|") - 1), *map(_day_line, days.values())]

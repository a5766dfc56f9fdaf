"""The source day's result as tables in Markdown."""

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]


def _line(*cells: object) -> str:
    return f"|{'|'.join(map(str, cells))}|"


def _table(heads: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> list[str]:
    return [_line(*heads), "|" + "-|" * len(heads), *(_line(*row) for row in rows), ""]


def _middle(value: Row | None) -> str:
    """As "1.4 (1.2 to 3)"; alone where all are the same."""
    if not value:
        return "-"
    if value["least"] == value["most"]:
        return f"{value['median']:g}"
    return f"{value['median']:g} ({value['least']:g} to {value['most']:g})"


def _first(first: Row) -> tuple[object, ...]:
    """What killed calls took has a column of its own; what was killed at once told no time."""
    lost = f"; of unknown length: {first['unended']}" if first["unended"] else ""
    killed = f"{first['killed_minutes']:g} ({first['killed_processor_minutes']:g}){lost}"
    return (
        "first",
        1,
        f"{first['processor_minutes']:g}",
        f"{first['minutes']:g}",
        "-" if first["load"] is None else f"{first['load']:g}",
        killed,
        first["compiled"],
    )


def builds(result: Row) -> list[str]:
    heads = (
        "build",
        "builds",
        "processor minutes",
        "minutes, shared machine",
        "load average",
        "of which killed calls: minutes (processor)",
        "files compiled",
    )
    rows = [_first(result["first_build"])] if result["first_build"] else []
    for row in result["later_builds"]:
        times = (_middle(row[key]) for key in ("processor_minutes", "minutes", "load"))
        rows.append((row["kind"], row["builds"], *times, "-", _middle(row["compiled"])))
    return _table(heads, rows)


def disk(result: Row) -> list[str]:
    rows = [(name, f"{count / 1e9:.2f}") for name, count in result["disk_bytes"].items()]
    return _table(("folder", "GB"), rows)


def _of_plain(row: Row | None) -> tuple[object, ...]:
    if not row:
        return ("-",) * 5
    figures = (row[key] for key in ("builds", "failed", "build_minutes", "run_minutes"))
    return ("yes" if row["is_right"] else "no", *figures)


def culprits(result: Row) -> list[str]:
    """A commit that is named alone for series that it was not planted to make worse is counted
    elsewhere."""
    heads = (
        "planted",
        "named alone",
        "named elsewhere",
        "git bisect named it",
        "its builds",
        "of which failed",
        "its build minutes",
        "its runs' minutes",
    )
    plain = {row["culprit"]: row for row in result["plain"]}
    service = result["service"]
    rows = [
        (
            name,
            "yes" if is_named else "no",
            service["elsewhere"][name],
            *_of_plain(plain.get(name)),
        )
        for name, is_named in service["culprits"].items()
    ]
    return _table(heads, rows)


def _search(name: str, row: Row, hours: float, wrong: int) -> tuple[object, ...]:
    counts = (row["builds"][key] for key in ("between", "failed", "ends", "reverts"))
    return (name, *counts, row["runs"], f"{hours:g}", wrong)


def cost(result: Row) -> list[str]:
    """What the searches took together. Builds are of different commits, counted alike for both; the
    ends of git bisect are the nightlies."""
    heads = (
        "search",
        "builds between the ends",
        "of which failed",
        "ends",
        "reverts",
        "runs",
        "hours",
        "innocent commits blamed",
    )
    service, plain = result["service"], result["all_plain"]
    hours = service["hours_of_search"]
    rows = [_search("torchwatch", service, hours, len(service["others"]))]
    if plain:
        known = set(service["culprits"])
        wrong = [row for row in result["plain"] if row["culprit"] in known and not row["is_right"]]
        rows.append(_search("git bisect, median of 5", plain, plain["hours"], len(wrong)))
    return _table(heads, rows)


def effects(result: Row) -> list[str]:
    rows = []
    for row in result["effects"]:
        if "ratio" in row:
            low, high = row["interval"]
            change = f"x {row['ratio']:.3f} ({low:.3f} to {high:.3f}), {len(row['pairs'])} pairs"
        else:
            change = f"{row['bytes_per_iteration']:,.0f} bytes an iteration"
        rows.append((row["culprit"], f"{row['workload']} cpu-{row['mode']}", change))
    return _table(("planted", "benchmark", "measured outside the service"), rows)


def found(result: Row) -> list[str]:
    rows = [
        (incident["title"], "; ".join(incident["effects"]))
        for incident in result["service"]["incidents"]
    ]
    return _table(("incident", "effects, 99 % intervals"), rows)


def table(result: Row) -> list[str]:
    """All tables of a day, those without data left out."""
    parts = [builds(result), disk(result)]
    if result["service"]:
        parts += [culprits(result), cost(result), found(result)]
    if result["effects"]:
        parts.append(effects(result))
    return [line for part in parts for line in part]

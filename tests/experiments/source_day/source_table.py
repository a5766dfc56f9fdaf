"""The source day's result as tables in Markdown."""

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]


def _line(*cells: object) -> str:
    return f"|{'|'.join(map(str, cells))}|"


def _table(heads: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> list[str]:
    return [_line(*heads), "|" + "-|" * len(heads), *(_line(*row) for row in rows), ""]


def _middle(value: Row) -> str:
    """As "1.4 (1.2 to 3)"; alone where all are the same."""
    if value["least"] == value["most"]:
        return f"{value['median']:g}"
    return f"{value['median']:g} ({value['least']:g} to {value['most']:g})"


def builds(result: Row) -> list[str]:
    heads = ("build", "builds", "minutes", "processor minutes", "files compiled")
    first = result["first_build"]
    rows: list[tuple[object, ...]] = []
    if first:
        lost = " or more" if first["unended"] else ""
        rows.append(
            (
                "first",
                1,
                f"{first['minutes']:g}{lost}",
                f"{first['processor_minutes']:g}{lost}",
                first["compiled"],
            )
        )
    for row in result["later_builds"]:
        middles = (_middle(row[key]) for key in ("minutes", "processor_minutes", "compiled"))
        rows.append((row["kind"], row["builds"], *middles))
    return _table(heads, rows)


def disk(result: Row) -> list[str]:
    rows = [(name, f"{count / 1e9:.2f}") for name, count in result["disk_bytes"].items()]
    return _table(("folder", "GB"), rows)


def culprits(result: Row) -> list[str]:
    heads = ("planted", "named alone", "git bisect named it", "its builds", "its build minutes")
    plain = {row["culprit"]: row for row in result["plain"]}
    rows = []
    for name, is_named in result["service"]["culprits"].items():
        row = plain.get(name)
        cells = (
            ("yes" if row["is_right"] else "no", row["builds"], row["build_minutes"])
            if row
            else ("-", "-", "-")
        )
        rows.append((name, "yes" if is_named else "no", *cells))
    return _table(heads, rows)


def cost(result: Row) -> list[str]:
    service, plain = result["service"], result["plain"]
    heads = ("search", "builds", "runs", "hours", "innocent commits blamed")
    rows = [
        (
            "torchwatch",
            service["builds"],
            service["runs"],
            service["hours_of_search"],
            len(service["others"]),
        )
    ]
    if plain:
        known = set(result["service"]["culprits"])
        wrong = sum(not row["is_right"] for row in plain if row["culprit"] in known)
        total = [sum(row[key] for row in plain) for key in ("builds", "runs", "build_minutes")]
        hours = f"{total[2] / 60:.2f} of builds"
        rows.append(("git bisect, median of 5", total[0], total[1], hours, wrong))
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

#!/usr/bin/env python3
"""Writes rows of docs/results/README.md from what an experiment printed with --json.

    results_table.py PROGRAM RESULT.json --command TEXT --machine TEXT [--only TEXT]... [--update]

PROGRAM names the experiment (see PROGRAMS below) and RESULT.json holds its output; "-" is standard
input. Prints the rows: claim, figure with interval, command, machine, date, commit. --update also
puts them into the table: a row of the same claim is replaced, a new one goes behind the last row
of the same page. --only keeps the claims that contain TEXT; several are alternatives.
"""

import argparse
import datetime as dt
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
TABLE = CHECKOUT / "docs" / "results" / "README.md"

Figures = Iterator[tuple[str, str]]  # claims with their figures


class BadResult(Exception):
    pass


def share_text(share: dict[str, Any]) -> str:
    """States a proportion with its exact 95 % interval, both in per cent."""
    return (
        f"{100 * share['rate']:.4g} % ({100 * share['low']:.4g}-{100 * share['high']:.4g}), "
        f"{share['count']:,} of {share['of']:,}"
    )


def change_text(row: dict[str, Any]) -> str:
    """States how far a ratio with its interval lies from 1."""
    ratio, low, high = (100 * (row[key] - 1) for key in ("ratio", "low", "high"))
    return f"{ratio:+.3f} % ({low:+.3f} to {high:+.3f})"


def detection_rows(result: dict[str, Any]) -> Figures:
    """Reads experiment_detection and peer_detectors.py, whose rows have the same members."""
    for row in result["rows"]:
        who = f"{row['rule']}, {row['sampling']}"
        if row["change"] == 0:
            yield f"{who}: false alarms", share_text(row["slower"])
        elif row["change"] > 0:
            found = share_text(row["slower_by"][0]["slower"])
            yield f"{who}: {100 * row['change']:+.4g} % found at once", found
        if "runs" in row and row["change"] == 0:
            yield f"{who}: runs of an unchanged series", f"{row['runs']:.1f}"


def search_rows(result: dict[str, Any]) -> Figures:
    for row in result["rows"]:
        who = f"{row['search']}, {row['day']}"
        for what in ("exact", "wrong_blame", "no_answer"):
            share = {**row[what], "count": row[what]["hits"]}
            yield f"{who}: {what.replace('_', ' ')}", share_text(share)
        runs = row["runs"]
        yield (
            f"{who}: builds; runs",
            (f"{row['builds']['mean']:.1f}; {runs['mean']:.1f}, at most {runs['p95']} in 95 %"),
        )


def harness_rows(result: dict[str, Any]) -> Figures:
    yield "a sample of nothing", f"{result['empty_sample_ns']:.0f} ns"
    for row in result["workloads"]:
        yield f"the timing pass adds, {row['workload']} {row['mode']}", change_text(row)


def same_build_rows(result: dict[str, Any]) -> Figures:
    for row in result["benchmarks"]:
        who = f"{row['workload']} {row['mode']}, {row['threads']} threads"
        for way, found in row["ways"].items():
            if found.get("interval") and None not in found["interval"]:
                low, high = found["interval"]
                shift = change_text({"ratio": found["ratio"], "low": low, "high": high})
                yield f"B / A - 1, {way}, {who}", shift
    for what, name in (("paper", "the paper's way"), ("protocol", "the service's comparisons")):
        outcomes = result["all"][what]
        yield (
            f"a build against itself, {name} beyond 7 %",
            (f"{outcomes['beyond']:,} of {outcomes['comparisons']:,}"),
        )


def judging_cost_rows(result: dict[str, Any]) -> Figures:
    for name, (ratio, low, high) in result["ratio_to_torchwatch"].items():
        yield (
            f"{name}'s processor time over torchwatch's, {result['series']:,} series",
            f"{ratio:.0f} times ({low:.0f}-{high:.0f})",
        )


def blocked_autorange_rows(result: list[dict[str, Any]]) -> Figures:
    for row in result:
        yield (
            f"ours / Timer, {row['chain']}",
            f"{row['ratio']:.3f} ({row['low']:.3f}-{row['high']:.3f}), {row['rounds']} rounds",
        )


def load_rows(result: dict[str, Any]) -> Figures:
    """Reads requests_under_load.py."""
    for name, row in result.items():
        times = (
            f"{row['median_ms']:.1f} ms, {row['p99_ms']:.1f} in 99 %, {row['max_ms']:.1f} at most"
        )
        yield f"/healthz {name}", f"{times}, of {row['probes']:,}"
        yield f"the daemon's share of a core, {name}", f"{100 * row['share_of_a_core']:.1f} %"


def webhook_rows(result: dict[str, Any]) -> Figures:
    """Reads webhook_answers.py."""
    for name, row in result.items():
        times = (
            f"{row['median_ms']:.1f} ms, {row['p99_ms']:.1f} in 99 %, {row['max_ms']:.1f} at most"
        )
        yield f"a webhook's delivery, {name}", f"{times}, of {row['deliveries']:,}"


def page_costs_rows(result: dict[str, Any]) -> Figures:
    """Reads page_costs.py; what it did not measure has no row."""

    def times(row: dict[str, Any]) -> str:
        within = f"{row['p99_ms']:.1f} in 99 %, {row['max_ms']:.1f} at most"
        return f"{row['median_ms']:.1f} ms, {within}, of {row['views']:,}"

    if pages := result.get("pages"):
        slowest = max(pages["kinds"], key=lambda kind: pages["kinds"][kind]["p99_ms"])
        yield f"all {pages['addresses']} pages and twins", times(pages["all"])
        yield f"the slowest page, {slowest}", times(pages["kinds"][slowest])
        memory = pages["memory_after_mb"]["all"]
        yield f"memory after {pages['all']['views']:,} views", f"{memory:.1f} MB"
    if followed := result.get("streams"):
        yield f"{followed['streams']:,} event streams", f"{followed['added_mb']:.1f} MB more"
    for name, row in result.get("ten_years", {}).items():
        yield f"a series over ten years, {name}", times(row)
    for name, row in result.get("browser", {}).items():
        if isinstance(row, dict):
            figure = f"{row['median_ms']:.0f} ms, {row['max_ms']:.0f} at most, of {row['times']}"
            yield f"{name.replace('_', ' ')} of a comparison in Chromium", figure


def comparisons_rows(result: dict[str, Any]) -> Figures:
    """Reads comparisons_under_load.py."""
    for kind, rows in result["comparisons"].items():
        slowest = max(row["max_ms"] for row in rows)
        within = max(row["p99_ms"] for row in rows)
        asked = sum(row["probes"] for row in rows)
        share = max(row["share_of_a_core"] for row in rows)
        times = f"99 % within {within:.1f} ms in the worst comparison, {slowest:.1f} at most"
        yield f"/healthz while a build is measured, {kind}", f"{times}, of {asked:,}"
        yield f"the daemon's share of a core meanwhile, {kind}", f"at most {100 * share:.1f} %"
        verdicts = sorted(result["verdicts"][kind].items())
        yield (
            f"a build against itself in {len(rows)} comparisons, {kind}",
            ", ".join(f"{count} {verdict}" for verdict, count in verdicts),
        )
    width = result["widths"]
    yield (
        "intervals of time under load, over those of quiet comparisons",
        f"{width['ratio']:.3f} times ({width['low']:.3f}-{width['high']:.3f}, 95 %)",
    )
    if scatter := result.get("scatter"):
        yield (
            "scatter of pairs of runs under load, over those of quiet comparisons",
            f"{scatter['ratio']:.3f} times ({scatter['low']:.3f}-{scatter['high']:.3f}, 95 %)",
        )


def sandbox_rows(result: dict[str, Any]) -> Figures:
    start = result["start"]
    added, low, high = (start[key] for key in ("added_ms", "low", "high"))
    yield (
        "a start takes longer by",
        f"{added:.1f} ms ({low:.1f} to {high:.1f}), {start['pairs']} pairs",
    )
    for row in result["workloads"]:
        if row["benchmark"] != "all":
            continue
        pairs = f"{row['pairs']:,} pairs"
        figures = [] if row["metric"] == "time" else [f"{row['equal']:,} of {pairs} equal"]
        if row["equal"] < row["pairs"]:
            figures.append(f"{change_text(row)}, {pairs}")
        yield f"{row['metric']} with it, all workloads", "; ".join(figures)
        if row["spread"] and row["spread"]["ratio"]:
            ratio, low, high = (row["spread"][key] for key in ("ratio", "low", "high"))
            yield f"spread of {row['metric']} with it", f"{ratio:.2f} times ({low:.2f}-{high:.2f})"


def source_day_rows(result: dict[str, Any]) -> Figures:
    """Reads result.json of source_day.py."""
    day = f"day {result['seed']}"
    if first := result["first_build"]:
        load = "unknown" if first["load"] is None else f"{first['load']:g}"
        wall = f"{first['minutes']:.0f}"
        yield (
            f"the first build, {day}: processor minutes; minutes on a shared machine; its load",
            "; ".join(
                (f"{first['processor_minutes']:.0f}", f"{wall}, {first['calls']} calls", load)
            ),
        )
    for row in result["later_builds"]:
        minutes = row["minutes"]
        figure = f"{minutes['median']:g} ({minutes['least']:g} to {minutes['most']:g})"
        yield f"a later build, {row['kind']}, {day}: minutes", f"{figure}, {row['builds']} builds"
    if service := result["service"]:
        culprits = service["culprits"].values()
        yield (
            f"culprits named alone, {day}; innocent commits blamed",
            f"{sum(culprits)} of {len(culprits)}; {len(service['others'])}",
        )
        yield (
            f"the searches, {day}: builds between the ends; runs; hours",
            f"{service['builds']['between']}; {service['runs']}; {service['hours_of_search']:.1f}",
        )
    if plain := result["all_plain"]:
        yield (
            f"the same by git bisect, median of 5, {day}: builds between the ends; runs; hours",
            f"{plain['builds']['between']}; {plain['runs']}; {plain['hours']:.1f}",
        )
    for row in result["plain"]:
        found = "right" if row["is_right"] else "wrong"
        figure = f"{found}; {row['builds']}; {row['runs']}"
        yield f"git bisect, median of 5, {row['culprit']}, {day}: builds; runs", figure


def backends_rows(result: dict[str, Any]) -> Figures:
    is_training = result["mode"] == "train"
    work = "training" if is_training else "inference"
    compiles = "compiles, training" if is_training else "compiles"
    yield (
        f"workloads whose {work} {result['backend']} takes, {result['preset']} preset",
        f"{result['taken']} of {result['workloads']}",
    )
    if seconds := result["compile_seconds"]:
        yield (
            f"seconds that {result['backend']} {compiles}: median; most",
            f"{seconds['median']:.2f}; {seconds['most']:.1f} ({result['slowest']})",
        )


PROGRAMS: dict[str, tuple[str, Callable[[Any], Figures]]] = {
    "backends": ("backends", backends_rows),
    "detection": ("detection", detection_rows),
    "peer_detectors": ("detection", detection_rows),
    "search": ("search", search_rows),
    "harness_overhead": ("harness", harness_rows),
    "blocked_autorange": ("harness", blocked_autorange_rows),
    "same_build": ("same-build", same_build_rows),
    "judging_cost": ("cost", judging_cost_rows),
    "requests_under_load": ("load", load_rows),
    "comparisons_under_load": ("load", comparisons_rows),
    "page_costs": ("pages", page_costs_rows),
    "webhook_answers": ("load", webhook_rows),
    "sandbox_cost": ("sandbox", sandbox_rows),
    "source_day": ("source-day", source_day_rows),
}


def cell(text: str) -> str:
    return text.replace("|", r"\|")


def cells_of(line: str) -> list[str]:
    """Splits a line of a table, where `cell` wrote what is in a cell."""
    return [part.strip() for part in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def rows_of(program: str, result: Any, options: argparse.Namespace) -> Iterator[str]:
    """Yields lines of the table, in the order in which the program printed them."""
    page, figures = PROGRAMS[program]
    for claim, figure in figures(result):
        if options.only and not any(text in claim for text in options.only):
            continue
        yield (
            f"| [{page}]({page}.md): {cell(claim)} | {figure} | `{cell(options.command)}` | "
            f"{cell(options.machine)} | {options.date} | {options.commit} |"
        )


def updated(text: str, rows: list[str]) -> str:
    """Returns the page with `rows` in its table; raises BadResult where it has no table."""
    lines = text.split("\n")
    for row in rows:
        claim = cells_of(row)[0]
        of_table = [number for number, line in enumerate(lines) if line.startswith("|")]
        if not of_table:
            raise BadResult("the page has no table")
        same = [number for number in of_table if cells_of(lines[number])[0] == claim]
        if same:
            lines[same[0]] = row
            continue
        page = claim.split(":")[0]
        of_page = [
            number for number in of_table if cells_of(lines[number])[0].split(":")[0] == page
        ]
        lines.insert((of_page or of_table)[-1] + 1, row)
    return "\n".join(lines)


def commit_of_checkout() -> str:
    """Names the commit by seven digits, with "-dirty" where the working tree differs from it."""
    described = subprocess.run(
        ["git", "describe", "--always", "--abbrev=7", "--exclude=*", "--dirty"],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return described.stdout.strip()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "program", choices=PROGRAMS, metavar="PROGRAM", help=f"one of {', '.join(PROGRAMS)}"
    )
    parser.add_argument("result", metavar="RESULT.json")
    parser.add_argument(
        "--command",
        required=True,
        help="the command that printed RESULT.json, as a reader repeats it",
    )
    parser.add_argument("--machine", required=True, help="the machine that it was measured on")
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="keep claims that contain TEXT; repeatable"
    )
    parser.add_argument(
        "--date", default=dt.datetime.now(dt.UTC).date().isoformat(), help="(default: today)"
    )
    parser.add_argument("--commit", help="(default: the checkout's)")
    parser.add_argument("--update", action="store_true", help="write the table too")
    parser.add_argument(
        "--table", type=Path, default=TABLE, help="(default: docs/results/README.md)"
    )
    options = parser.parse_args()
    options.commit = options.commit or commit_of_checkout()
    return options


def write_rows(options: argparse.Namespace) -> list[str]:
    """Returns the rows of the result, written into the table where --update asks for it."""
    text = sys.stdin.read() if options.result == "-" else Path(options.result).read_text()
    rows = list(rows_of(options.program, json.loads(text), options))
    if not rows:
        raise BadResult("no claim is left; see --only")
    if options.update:
        options.table.write_text(updated(options.table.read_text(), rows))
    return rows


def main() -> None:
    options = parse_arguments()
    try:
        print("\n".join(write_rows(options)))
    except (BadResult, OSError, ValueError) as reason:
        sys.exit(f"results_table.py: {options.result}: {reason}")
    except (KeyError, TypeError) as reason:
        sys.exit(f"results_table.py: {options.result} is not of {options.program}: {reason!r}")


if __name__ == "__main__":
    main()

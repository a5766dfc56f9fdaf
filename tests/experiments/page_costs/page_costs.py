#!/usr/bin/env python3
"""Measures what pages cost the daemon on a database of two years while a comparison is stored.

    page_costs.py TORCHWATCH FOLDER [--views N] [--streams N] [--paint N] [--charts N]
                  [--history] [--json]

TORCHWATCH is the program. FOLDER gets the databases, made by tests/support/two_years at the first
call (minutes, 700 MB) and used again by later ones. A daemon of its own is started on a copy of
nothing else. A few pages of every kind that the service has and their twins (.json, .md, .csv) are
asked for in random order, one after the other, by a client that keeps its connection and takes
gzip; a time is from the request's first byte to the answer's last. Meanwhile another process stores
runs with their samples and, every twenty seconds, the verdicts of the whole suite in one
transaction.

Before that and after it that many clients follow the events at once (--streams), and one request is
sent to all of them. --history measures one series over ten years, on a database of its own. --paint
has a headless Chromium show the newest night that often, and draw its heat map again; --charts has
it show the past of one series over ten years that often, zoom in it, and draw 84 such charts on one
page.

Ends with 1, and names them, where figures are over what docs/results/pages.md aims at, or the
database is larger than 600 MB.
"""

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support" / "two_years"))

import charting
import painting
import pasts
import profiles
import streams
import visits
import waiting
from served import Served, daemon_of, make, memory_mb
from storing import storing_into

TEN_YEARS = ("--nightlies", "3650", "--incidents", "200", "--workloads", "2")
NIGHTLIES = 730
BYTES_MAX = 600e6  # of the database of 730 nightlies

# What docs/results/pages.md aims at.
P99_MS_MAX = 100
MEMORY_MB_MAX = 80
STREAMS_MB_MAX = 50
FIRST_PAINT_MS_MAX = 300
REDRAW_MS_MAX = 50
PAST_MS_MAX = 20


def figures_of_pages(served: Served, views: int) -> dict[str, Any]:
    paths = visits.paths_of(served)
    before = memory_mb(served.process)
    with storing_into(served.folder / "state" / "torchwatch.sqlite") as runs:
        kinds = visits.visit(served, paths, views)
        stored = runs.value
    every = [each for of_kind in kinds.values() for each in of_kind.seconds]
    return {
        "addresses": len(paths),
        "runs_stored_meanwhile": stored,
        "all": visits.summary_of(every),
        "kinds": {
            kind: visits.summary_of(of.seconds) | {"bytes_max": of.bytes_max}
            for kind, of in sorted(kinds.items())
        },
        "memory_before_mb": before,
        "memory_after_mb": memory_mb(served.process),
    }


def figures_of_charts(served: Served, times: int) -> dict[str, Any]:
    client = visits.Client(served.port)
    series = pasts.first_series(client)
    client.close()
    return charting.measure(served, series, times)


def newest_night(served: Served) -> str:
    client = visits.Client(served.port)
    _, text, _ = client.get("/api/v1/comparisons?purpose=nightly&limit=1", "identity")
    client.close()
    return f"/comparisons/{json.loads(text)['comparisons'][0]['id']}"


def figures_of_two_years(daemon: Served, options: argparse.Namespace) -> dict[str, Any]:
    result: dict[str, Any] = {"memory_at_start_mb": memory_mb(daemon.process)}
    if options.streams:
        result["streams_at_start"] = streams.measure(daemon, options.streams)
    if options.views:
        result["pages"] = figures_of_pages(daemon, options.views)
    if options.streams:
        result["streams"] = streams.measure(daemon, options.streams)
    if options.paint:
        result["browser"] = painting.measure(daemon, newest_night(daemon), options.paint)
    return result


def measure(options: argparse.Namespace) -> dict[str, Any]:
    program, folder = options.program.resolve(), options.folder.resolve()

    def served(
        name: str,
        made: tuple[str, ...],
        work: Callable[[Served], Any],
        bytes_max: float = math.inf,
    ) -> Any:
        make(program, folder / name, *made, bytes_max=bytes_max)
        profiles.write(folder / name)
        waiting.write(folder / name)
        with daemon_of(program, folder / name) as daemon:
            return work(daemon)

    result: dict[str, Any] = {"nightlies": options.nightlies}
    if options.views or options.streams or options.paint:
        nightlies = ("--nightlies", str(options.nightlies))
        result |= served(
            "two-years",
            nightlies,
            lambda on: figures_of_two_years(on, options),
            BYTES_MAX if options.nightlies <= NIGHTLIES else math.inf,
        )
    if options.history:
        result["ten_years"] = served("ten-years", TEN_YEARS, pasts.figures_of_history)
    if options.charts:
        result["charts"] = served(
            "ten-years", TEN_YEARS, lambda on: figures_of_charts(on, options.charts)
        )
    return result


def aims_of(result: dict[str, Any]) -> Iterator[tuple[str, float, float]]:
    """Each figure that there is an aim for: its name, itself, the most that it should be."""
    if pages := result.get("pages"):
        for kind, row in pages["kinds"].items():
            yield f"{kind}, ms in 99 %", row["p99_ms"], P99_MS_MAX
        yield "memory after the views, MB", pages["memory_after_mb"]["all"], MEMORY_MB_MAX
    for name in ("streams_at_start", "streams"):
        if followed := result.get(name):
            yield f"{name}, MB more", followed["added_mb"], STREAMS_MB_MAX
    if painted := result.get("browser"):
        yield "first paint, ms", painted["first_paint"]["median_ms"], FIRST_PAINT_MS_MAX
        yield "heat map again, ms", painted["redraw"]["median_ms"], REDRAW_MS_MAX
    if history := result.get("ten_years"):
        yield "a series over ten years, ms in 99 %", history["past"]["p99_ms"], PAST_MS_MAX
        yield "a series over ten years at first, ms", history["first"]["median_ms"], PAST_MS_MAX


def missed_of(result: dict[str, Any]) -> list[str]:
    return [
        f"{name}: {figure:.1f}, aimed at {most}"
        for name, figure, most in aims_of(result)
        if figure > most
    ]


def line_of(name: str, row: dict[str, Any]) -> str:
    return (
        f"{name}: {row['median_ms']:.1f} ms in the median, {row['p99_ms']:.1f} in 99 %,"
        f" {row['max_ms']:.1f} at most, of {row['views']:,}"
    )


def print_streams(result: dict[str, Any]) -> None:
    for name, when in (("streams_at_start", "before any view"), ("streams", "after the views")):
        if followed := result.get(name):
            print(
                f"{followed['streams']:,} streams {when}: {followed['added_mb']:.1f} MB more; an"
                f" event reached {followed['reached']:,} of them in"
                f" {followed['last_reached_ms']:.0f} ms"
            )
            print("  " + line_of("/healthz meanwhile", followed["healthz"]))


def print_table(result: dict[str, Any]) -> None:
    if pages := result.get("pages"):
        for kind, row in sorted(pages["kinds"].items(), key=lambda item: item[1]["p99_ms"]):
            print("  " + line_of(kind, row) + f"; {row['bytes_max']:,} bytes at most")
        print(line_of(f"all, {pages['addresses']} addresses", pages["all"]))
        for when in ("before", "after"):
            memory = pages[f"memory_{when}_mb"]
            print(f"memory {when}: {memory['all']:.1f} MB, {memory['own']:.1f} of it its own")
    print_streams(result)
    for name, row in result.get("ten_years", {}).items():
        print(line_of(f"a series over ten years, {name}", row) + f"; {row['bytes']:,} bytes")
    if painted := result.get("browser"):
        for name in ("first_paint", "redraw"):
            row = painted[name]
            print(f"{name}: {row['median_ms']:.0f} ms in the median, {row['max_ms']:.0f} at most")
    if drawn := result.get("charts"):
        print(f"a chart of {drawn['points']:,} points, and {drawn['charts']} of them on one page")
        for name in ("chart", "zoom", "all_charts", "zoom_of_all"):
            row = drawn[name]
            print(f"{name}: {row['median_ms']:.0f} ms in the median, {row['max_ms']:.0f} at most")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path, metavar="TORCHWATCH")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--nightlies", type=int, default=NIGHTLIES, help="of the database (730)")
    parser.add_argument("--views", type=int, default=10_000, help="of pages; 0: none (10000)")
    parser.add_argument("--streams", type=int, default=1_000, help="at once; 0: none (1000)")
    parser.add_argument("--paint", type=int, default=0, metavar="N", help="times; 0: none (0)")
    parser.add_argument("--charts", type=int, default=0, metavar="N", help="times; 0: none (0)")
    parser.add_argument("--history", action="store_true", help="of one series over ten years")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    # The parts of the browser's tests want to know it.
    os.environ.setdefault("TORCHWATCH", str(options.program.resolve()))
    if options.paint or options.charts:
        painting.require_browser()
    result = measure(options)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print_table(result)
    if missed := missed_of(result):
        sys.exit("page_costs.py: over what is aimed at:\n  " + "\n  ".join(missed))


if __name__ == "__main__":
    main()

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

Then that many clients follow the events at once (--streams), and one request is sent to all of
them. --history measures one series over ten years, on a database of its own. --paint has a headless
Chromium show the newest night that often, and draw its heat map again; --charts has it show the
past of one series over ten years that often, zoom in it, and draw 84 such charts on one page.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support" / "two_years"))

import charting
import painting
import profiles
import streams
import visits
import waiting
from served import Served, daemon_of, make, memory_mb
from storing import storing_into

TEN_YEARS = ("--nightlies", "3650", "--incidents", "200", "--workloads", "2")
HISTORY_ASKED = 200


def figures_of_pages(served: Served, views: int) -> dict[str, Any]:
    paths = visits.paths_of(served)
    before = memory_mb(served.process)
    with storing_into(served.folder / "state" / "torchwatch.sqlite") as runs:
        seconds = visits.visit(served, paths, views)
        stored = runs.value
    every = [each for of_kind in seconds.values() for each in of_kind]
    return {
        "addresses": len(paths),
        "runs_stored_meanwhile": stored,
        "all": visits.summary_of(every),
        "kinds": {kind: visits.summary_of(of) for kind, of in sorted(seconds.items())},
        "memory_before_mb": before,
        "memory_after_mb": memory_mb(served.process),
    }


def first_series(client: visits.Client) -> str:
    """The path of its page."""
    _, listed, _ = client.get("/api/v1/series?limit=1", "identity")
    return str(json.loads(listed)["series"][0]["url"]).removeprefix("/api/v1")


def figures_of_charts(served: Served, times: int) -> dict[str, Any]:
    client = visits.Client(served.port)
    series = first_series(client)
    client.close()
    return charting.measure(served, series, times)


def figures_of_history(served: Served) -> dict[str, Any]:
    """The page of one series with all that it shows, and its values for programs."""
    client = visits.Client(served.port)
    series = first_series(client)
    found = {}
    for name, path in (("page", series), ("values", f"{series}.json?limit=200")):
        seconds = [client.get(path)[2] for _ in range(HISTORY_ASKED)]
        found[name] = visits.summary_of(seconds) | {"bytes": len(client.get(path)[1])}
    client.close()
    return found


def newest_night(served: Served) -> str:
    client = visits.Client(served.port)
    _, text, _ = client.get("/api/v1/comparisons?purpose=nightly&limit=1", "identity")
    client.close()
    return f"/comparisons/{json.loads(text)['comparisons'][0]['id']}"


def figures_of_two_years(daemon: Served, options: argparse.Namespace) -> dict[str, Any]:
    result: dict[str, Any] = {"memory_at_start_mb": memory_mb(daemon.process)}
    if options.views:
        result["pages"] = figures_of_pages(daemon, options.views)
    if options.streams:
        result["streams"] = streams.measure(daemon, options.streams)
    if options.paint:
        result["browser"] = painting.measure(daemon, newest_night(daemon), options.paint)
    return result


def measure(options: argparse.Namespace) -> dict[str, Any]:
    program, folder = options.program.resolve(), options.folder.resolve()

    def served(name: str, made: tuple[str, ...], work: Callable[[Served], Any]) -> Any:
        make(program, folder / name, *made)
        profiles.write(folder / name)
        waiting.write(folder / name)
        with daemon_of(program, folder / name) as daemon:
            return work(daemon)

    result: dict[str, Any] = {"nightlies": options.nightlies}
    if options.views or options.streams or options.paint:
        nightlies = ("--nightlies", str(options.nightlies))
        result |= served("two-years", nightlies, lambda on: figures_of_two_years(on, options))
    if options.history:
        result["ten_years"] = served("ten-years", TEN_YEARS, figures_of_history)
    if options.charts:
        result["charts"] = served(
            "ten-years", TEN_YEARS, lambda on: figures_of_charts(on, options.charts)
        )
    return result


def line_of(name: str, row: dict[str, Any]) -> str:
    return (
        f"{name}: {row['median_ms']:.1f} ms in the median, {row['p99_ms']:.1f} in 99 %,"
        f" {row['max_ms']:.1f} at most, of {row['views']:,}"
    )


def print_table(result: dict[str, Any]) -> None:
    if pages := result.get("pages"):
        for kind, row in sorted(pages["kinds"].items(), key=lambda item: item[1]["p99_ms"]):
            print("  " + line_of(kind, row))
        print(line_of(f"all, {pages['addresses']} addresses", pages["all"]))
        for when in ("before", "after"):
            memory = pages[f"memory_{when}_mb"]
            print(f"memory {when}: {memory['all']:.1f} MB, {memory['own']:.1f} of it its own")
    if followed := result.get("streams"):
        print(
            f"{followed['streams']:,} streams: {followed['added_mb']:.1f} MB more; an event reached"
            f" {followed['reached']:,} of them in {followed['last_reached_ms']:.0f} ms"
        )
        print("  " + line_of("/healthz meanwhile", followed["healthz"]))
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
    parser.add_argument("--nightlies", type=int, default=730, help="of the database (730)")
    parser.add_argument("--views", type=int, default=10_000, help="of pages; 0: none (10000)")
    parser.add_argument("--streams", type=int, default=1_000, help="at once; 0: none (1000)")
    parser.add_argument("--paint", type=int, default=0, metavar="N", help="times; 0: none (0)")
    parser.add_argument("--charts", type=int, default=0, metavar="N", help="times; 0: none (0)")
    parser.add_argument("--history", action="store_true", help="of one series over ten years")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    # The parts of the browser's tests want to know it.
    os.environ.setdefault("TORCHWATCH", str(options.program.resolve()))
    result = measure(options)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print_table(result)


if __name__ == "__main__":
    main()

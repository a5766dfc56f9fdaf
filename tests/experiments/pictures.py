#!/usr/bin/env python3
"""Makes pictures of every page, light, dark and narrow, on a made-up database.

    pictures.py TORCHWATCH FOLDER [--out FOLDER] [--nightlies N] [--only NAME]

TORCHWATCH is the program. FOLDER gets the database, made by tests/support/two_years at the first
call and used again by later ones. A daemon of its own is started on it, and a headless Chromium
takes NAME.png, NAME-dark.png and NAME-narrow.png of each page into --out (docs/pictures), in 64
colours, by pngquant (a Debian package). No picture is larger than 300 kB: one that would be shows
less of the page's end. A page that is not answered with 200, or is missing because the database has
nothing of its kind, is an error.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent / "page_costs"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "end_to_end"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support" / "two_years"))

import elsewhere
import profiles
import visits
import waiting
from served import HOST, Served, daemon_of, make
from visits import Client

CHECKOUT = Path(__file__).resolve().parents[2]
BYTES_MAX = 300_000
COLOURS = "64"
HEIGHTS = (1600, 1200, 900, 600)
LOOKS = {"": (1280, "light"), "-dark": (1280, "dark"), "-narrow": (390, "light")}

# What is shown for the folder of the database, whose name is that of somebody's machine.
SHOWN_FOLDER = "/var/lib/torchwatch"
NEUTRAL = """([folder, shown]) => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    texts.currentNode.data = texts.currentNode.data.replaceAll(folder, shown);
  }
}"""


@dataclass
class Pages:
    """Asks the daemon for what pages are about."""

    client: Client

    def listed(self, path: str, members: str) -> list[dict[str, Any]]:
        status, body, _ = self.client.get(path, "identity")
        if status != 200:
            sys.exit(f"pictures.py: {path} is answered with {status}")
        return list(json.loads(body)[members])

    def first(self, path: str, members: str, **wanted: Any) -> dict[str, Any]:
        for each in self.listed(path, members):
            if all(each.get(name) == value for name, value in wanted.items()):
                return each
        sys.exit(f"pictures.py: nothing at {path} with {wanted}")

    def incident(self) -> dict[str, Any]:
        """The newest whose culprit was named."""
        for each in self.listed("/api/v1/incidents?limit=100", "incidents"):
            if each.get("bisection") and each["kind"] == "regression":
                return each
        sys.exit("pictures.py: no incident was searched")

    def trace(self, page: str) -> str:
        """The first that a page leads to."""
        _, text, _ = self.client.get(page, "identity")
        found = re.search(rb'href="[./]*(traces/\d+)"', text)
        return "/" + found.group(1).decode() if found else sys.exit("pictures.py: no trace")

    def paths(self) -> Iterator[tuple[str, str]]:
        incident = self.incident()
        found = f"/api/v1/incidents/{incident['id']}/evidence"
        _, body, _ = self.client.get(found, "identity")
        evidence = json.loads(body)
        series = evidence["series"][0]["url"].removeprefix("/api/v1")
        model = series.split("/")[2]
        comparison = evidence["comparison"]["id"]
        bisection = incident["bisection"]
        nightlies = "/api/v1/builds?origin=nightly&limit=2"
        build, older = self.listed(nightlies, "builds")
        muted = self.listed("/api/v1/mutes", "mutes")[-1]
        yield from {
            "tonight": "/",
            "comparisons": "/comparisons",
            "comparison": f"/comparisons/{comparison}",
            "incidents": "/incidents",
            "incident": f"/incidents/{incident['id']}",
            "bisections": "/bisections",
            "bisection": f"/bisections/{bisection}",
            "mutes": "/mutes",
            "mute": f"/mutes/{muted['id']}",
            "models": "/models",
            "model": f"/models/{model}",
            "series": series,
            "all-series": "/series",
            "builds": "/builds",
            "build": f"/builds/{build['id']}",
            "compare": f"/compare/{older['name']}...{build['name']}",
            "machines": "/machines",
            "machine": "/machines/2",
            "machines-compare": "/machines/compare",
            "gpu": "/gpu",
            "coverage": "/coverage",
            "queue": "/queue",
            "request": "/requests/1",
            "outbox": "/outbox",
            "sign-in": "/sign-in",
            "search": f"/search?q={model}",
            "trace": self.trace(f"/incidents/{incident['id']}"),
            "help": "/help",
        }.items()


def reduced(picture: bytes) -> bytes:
    """In fewer colours: a third of the size, and nobody sees it in flat areas and letters."""
    command = ["pngquant", "--strip", "--speed", "3", COLOURS, "-"]
    return subprocess.run(command, input=picture, capture_output=True, check=True).stdout


def small_enough(page: Any, width: int) -> bytes:
    """A picture of the page's beginning. The window is as high as what is shown, so that nothing is
    left empty."""
    whole = int(page.evaluate("Math.ceil(document.body.getBoundingClientRect().bottom)"))
    for height in HEIGHTS:
        shown = {"x": 0, "y": 0, "width": width, "height": min(height, whole)}
        taken = reduced(page.screenshot(full_page=True, clip=shown, animations="disabled"))
        if len(taken) <= BYTES_MAX:
            return taken
    sys.exit(f"pictures.py: {page.url} has no picture below {BYTES_MAX:,} bytes")


def take(chromium: Any, served: Served, paths: dict[str, str], out: Path) -> None:
    for ending, (width, scheme) in LOOKS.items():
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        page = context.new_page()
        for name, path in paths.items():
            answer = page.goto(f"http://{HOST}:{served.port}{path}", wait_until="load")
            if answer.status != 200:
                sys.exit(f"pictures.py: {path} is answered with {answer.status}")
            if page.locator("script").count():  # a form with a secret has none
                page.wait_for_selector("#live[data-state=live]")
            page.evaluate(NEUTRAL, [str(served.folder), SHOWN_FOLDER])
            picture = small_enough(page, width)
            (out / f"{name}{ending}.png").write_bytes(picture)
            print(f"{name}{ending}.png  {len(picture) / 1e3:.0f} kB  {path}")
        context.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path, metavar="TORCHWATCH")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--out", type=Path, default=CHECKOUT / "docs" / "pictures")
    parser.add_argument("--nightlies", type=int, default=60, help="of the database (60)")
    parser.add_argument("--only", action="append", default=[], help="pages by name (all)")
    options = parser.parse_args()
    program, folder = options.program.resolve(), options.folder.resolve()
    os.environ.setdefault("TORCHWATCH", str(program))  # the tests' parts want to know it
    import browser

    if reason := browser.missing():
        sys.exit(f"pictures.py: {reason}")
    if not shutil.which("pngquant"):
        sys.exit("pictures.py: pngquant is not installed: apt-get install pngquant")
    # A morning after a nightly in which something regressed; somebody has what was open before.
    newest = (datetime.now(UTC) - timedelta(hours=6)).date()
    day = ("--last", str(newest), "--seed", "19", "--incidents", "12")
    make(program, folder, "--nightlies", str(options.nightlies), *day)
    profiles.write(folder)
    elsewhere.write(folder)
    waiting.write(folder)
    options.out.mkdir(parents=True, exist_ok=True)
    with daemon_of(program, folder) as served:
        client = Client(served.port)
        paths = dict(Pages(client).paths())
        client.close()
        if missing := visits.kinds_of_pages() - {
            visits.kind_of_page(each) for each in paths.values()
        }:
            sys.exit(f"pictures.py: no picture is taken of {', '.join(sorted(missing))}")
        chosen = {name: path for name, path in paths.items() if name in options.only}
        with browser.started() as chromium:
            take(chromium, served, chosen or paths, options.out)


if __name__ == "__main__":
    main()

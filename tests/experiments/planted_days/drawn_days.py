"""Days whose planted commits lie at drawn places, each with an incident of its own kind: what a
comparison found in them, as rows, and the command line of the programs that make them."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import result
from result import blamed, effect_text, incident_row

CHECKOUT = Path(__file__).resolve().parents[3]
Row = dict[str, Any]


def outcome(planted: dict[str, str], incidents: list[Row]) -> str:
    """One word for what was found; planted: the commits, by the kind of their incidents. "right":
    each kind has incidents, which blame its commit and nobody else; none on a clean day. "wrong":
    one blames another commit. "unsure": one blames nobody, or several commits that it cannot tell
    apart. "missed": a kind has no incident."""
    blames = [(each["kind"], commits) for each in incidents for commits in blamed(each)]
    if any(planted.get(kind) not in commits for kind, commits in blames):
        return "wrong"
    if not all(map(blamed, incidents)) or any(len(commits) > 1 for _, commits in blames):
        return "unsure"
    return "right" if {each["kind"] for each in incidents} == set(planted) else "missed"


def row(seed: int, planted: dict[str, str], comparison: Row) -> Row:
    """What came out of a day, from `torchwatch comparison show --json`."""
    incidents = [{"kind": each["kind"], **incident_row(each)} for each in comparison["incidents"]]
    return {
        "seed": seed,
        "planted": planted,
        "outcome": outcome(planted, comparison["incidents"]),
        "series": len(comparison["verdicts"]),
        "inconclusive": sum(v["verdict"] == "inconclusive" for v in comparison["verdicts"]),
        "incidents": incidents,
        "builds": sum(each["builds"] for each in incidents),
        "runs": sum(each["runs"] for each in incidents),
    }


def lines(kept: Row) -> list[str]:
    """A day for people: what was found, then each incident with its effects."""
    searches = f"{kept['builds']} builds, {kept['runs']} runs in searches"
    unsettled = f"{kept['inconclusive']} of {kept['series']} series inconclusive"
    day = f"seed {kept['seed']}: {kept['outcome']}"
    text = [f"{day}; {searches}, {kept['minutes']:.0f} min; {unsettled}"]
    for incident in kept["incidents"]:
        sets = ", ".join(" or ".join(sha[:12] for sha in commits) for commits in incident["blamed"])
        text.append(f"  {incident['kind']}: {sets or 'nobody'}; {incident['title']}")
        text += [f"    {effect_text(effect)}" for effect in incident["effects"]]
    return text


def parser_of(description: str, folder: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--days", type=int, default=1, help="how many, each of a seed (default 1)")
    parser.add_argument("--first", type=int, default=1, metavar="SEED", help="(default 1)")
    parser.add_argument("--clean", action="store_true", help="days with nothing to be found")
    parser.add_argument(
        "--folder",
        type=Path,
        default=CHECKOUT / "build" / folder,
        help=f"where results are kept (default: build/{folder})",
    )
    parser.add_argument("--libtorch", type=Path, default=CHECKOUT / ".deps" / "libtorch")
    parser.add_argument(
        "--torchwatch", type=Path, default=CHECKOUT / "build/user/service/cli/torchwatch"
    )
    parser.add_argument(
        "--machine-lock", help="let only one service of this name measure at a time"
    )
    return parser


def parse(parser: argparse.ArgumentParser) -> argparse.Namespace:
    options = parser.parse_args()
    for path in ("folder", "libtorch", "torchwatch"):
        setattr(options, path, getattr(options, path).absolute())
    return options


def carry_out(options: argparse.Namespace, row_of: Callable[[Path, int], Row]) -> None:
    """Prints each day; row_of: makes and compares the day of a seed in a folder, or reads what is
    kept there."""
    try:
        for seed in range(options.first, options.first + options.days):
            folder = options.folder / f"{'clean' if options.clean else 'planted'}-{seed}"
            print("\n".join(lines(row_of(folder, seed))), flush=True)
    except result.FAILURES as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def kept_or_made(file: Path, make: Callable[[], Row]) -> Row:
    """What the file holds as JSON; where there is none it is made, and written last."""
    if not file.exists():
        made = make()
        partial = file.with_suffix(".partial")
        partial.write_text(json.dumps(made, indent=1) + "\n")
        partial.rename(file)
    return json.loads(file.read_text())

"""Lets `torchwatch nightly` compare and search what is due, as an experiment does it once or twice.

An interrupted call resumes where it was: everything that counts is in the service's database.
"""

import json
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import stoppable_call

# Exit statuses of `torchwatch nightly`: nothing regressed, a regression was found, no conclusion.
CONCLUDED = (0, 1, 4)


class ComparisonFailed(Exception):
    pass


def carry_out(
    torchwatch: Path, settings: Path, comparison: Path, environment: Mapping[str, str] | None = None
) -> int:
    """Calls the service once; its output goes to a file in the folder of the comparison. Returns
    its exit status."""
    begun = time.monotonic()
    try:
        with (comparison / "comparison.log").open("a", encoding="utf-8") as log:
            return stoppable_call.call(
                [torchwatch, "nightly", "--config", settings],
                env=environment,
                stdout=log,
                stderr=log,
            ).returncode
    finally:
        with (comparison / "seconds").open("a", encoding="utf-8") as seconds:
            print(f"{time.monotonic() - begun:.1f}", file=seconds)


def newest_comparison(torchwatch: Path, settings: Path) -> dict[str, Any]:
    """The comparison of the newest nightly."""
    done = subprocess.run(
        [torchwatch, "comparison", "show", "--json", "--config", settings],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode not in CONCLUDED:
        raise ComparisonFailed(
            f"torchwatch could not show the comparison (exit status {done.returncode}); "
            "call this again to resume"
        )
    return json.loads(done.stdout)


def minutes_of(comparison: Path) -> float:
    """Minutes over all calls that the comparison took."""
    return sum(float(line) for line in (comparison / "seconds").read_text().split()) / 60


def kept_row(
    comparison: Path,
    torchwatch: Path,
    write_settings: Callable[[Path], Path],
    row_of: Callable[[dict[str, Any]], dict[str, Any]],
) -> dict[str, Any]:
    """The row of a comparison with its minutes: carried out in that folder, unless the folder has
    the row. write_settings: writes the configuration into the folder and returns its file.
    ComparisonFailed: call again to resume."""
    kept = comparison / "row.json"
    if kept.exists():
        return json.loads(kept.read_text())
    comparison.mkdir(exist_ok=True)
    settings = write_settings(comparison)
    status = carry_out(torchwatch, settings, comparison)
    if status not in CONCLUDED:
        raise ComparisonFailed(
            f"torchwatch ended with {status}, see {comparison}/comparison.log; "
            "call this again to resume"
        )
    found = newest_comparison(torchwatch, settings)
    (comparison / "comparison.json").write_text(json.dumps(found, indent=1) + "\n")
    row = {"minutes": round(minutes_of(comparison), 1), **row_of(found)}
    kept.write_text(json.dumps(row, indent=1) + "\n")
    return row

"""The service that watches the source day: its configuration, its comparison and its searches."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import configuration
import nightly_call
import planted
import source_builds
from kept_rows import KeptRows
from nightly_call import CONCLUDED, ComparisonFailed

SETTINGS: dict[str, dict[str, Any]] = {
    "storage": {"path": "state/torchwatch.sqlite"},
    "channel": {"kind": "directory", "path": "nightlies"},
    "source": {"repository": "pytorch.git", "branch": "main"},
    "build": {
        "recipe": str(source_builds.TIMED_RECIPE),
        "timeout": "12h",
        "builders": 1,
        "cache_limit": "30GiB",
    },
    "suite": {
        "preset": "small",
        "configurations": ["cpu-train", "cpu-infer"],
        "workloads": planted.WORKLOADS,
    },
}


def write_configuration(folder: Path, jobs: int, work: Path, machine_lock: str | None) -> Path:
    """torchwatch.toml in the day's folder."""
    settings = {table: dict(keys) for table, keys in SETTINGS.items()}
    settings["build"]["jobs"] = jobs
    settings["sandbox"] = {
        "readable": [str(source_builds.RECIPE), str(folder / "pytorch.git")],
        "writable": [str(work)],
    }
    if machine_lock:
        settings["executor"] = {"machine_lock": machine_lock}
    file = folder / "torchwatch.toml"
    file.write_text(configuration.text(settings))
    return file


def bisections(torchwatch: Path, settings: Path) -> list[dict[str, Any]]:
    """All searches, with when they were begun and ended."""
    done = subprocess.run(
        [torchwatch, "bisection", "list", "--limit", "10000", "--json", "--config", settings],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)["items"]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def compare(
    folder: Path, torchwatch: Path, settings: Path, environment: dict[str, str]
) -> dict[str, Any]:
    """What the service found in the day, with its searches; kept in found.json once it ended."""
    kept = folder / "found.json"
    if kept.exists():
        return json.loads(kept.read_text())
    calls = KeptRows(folder / "calls.jsonl")
    calls.add({"event": "begun", "at": _now()})
    try:
        status = nightly_call.carry_out(torchwatch, settings, folder, environment)
    finally:
        calls.add({"event": "ended", "at": _now()})
    if status not in CONCLUDED:
        raise ComparisonFailed(
            f"torchwatch ended with {status}, see {folder}/comparison.log; "
            "call this again to resume"
        )
    found = {
        "comparison": nightly_call.newest_comparison(torchwatch, settings),
        "bisections": bisections(torchwatch, settings),
        "calls": calls.rows,
        "minutes": round(nightly_call.minutes_of(folder), 1),
    }
    kept.write_text(json.dumps(found, indent=1) + "\n")
    return found

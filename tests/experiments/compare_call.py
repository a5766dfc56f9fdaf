"""Lets `torchwatch compare` judge workloads' inference on the CPU, at the small preset, in a folder
of an experiment's own."""

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

CONFIGURATION = """
[storage]
path = "state/torchwatch.sqlite"
[channel]
kind = "directory"
path = "nightlies"
[build]
cache = "state/builds"
[suite]
preset = "small"
configurations = ["cpu-infer"]
"""
JUDGED = (0, 1, 4)  # exit statuses of `compare`: nothing changed, something did, undecided


def prepare(folder: Path) -> None:
    """Makes the folder, with its configuration."""
    (folder / "nightlies").mkdir(parents=True, exist_ok=True)
    (folder / "torchwatch.toml").write_text(CONFIGURATION)


def verdicts(
    torchwatch: Path, folder: Path, words: Iterable[str | Path], workloads: Sequence[str]
) -> list[dict[str, Any]]:
    """Calls `compare` with these words. One that was interrupted is continued. Ends the program
    where it judges nothing."""
    command: list[str | Path] = [torchwatch, "compare", *words, "--json"]
    for workload in workloads:
        command += ["--workload", workload]
    command += ["--config", folder / "torchwatch.toml"]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode not in JUDGED:
        sys.exit(f"{', '.join(workloads)}: torchwatch compare ended with {done.returncode}")
    found: list[dict[str, Any]] = json.loads(done.stdout)["verdicts"]
    return found

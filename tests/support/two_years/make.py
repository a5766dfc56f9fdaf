#!/usr/bin/env python3
"""Makes a database of two years, and the commits behind it, for tests of pages and their speed.

    tests/support/two_years/make.py TORCHWATCH FOLDER [--nightlies N] [--incidents N]
                                    [--workloads N]

TORCHWATCH is the program: it makes the tables and names the suite's workloads. FOLDER gets
torchwatch.toml, state/torchwatch.sqlite and pytorch.git. Every nightly has its comparison over the
whole suite in four configurations, with every verdict and every run's values; the newest have their
samples, too. The same options make the same rows.
"""

import argparse
import json
import os
import sqlite3
import subprocess
import sys
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import files
import plan
import rows
import source

CONFIGURATION = """[storage]
path = "state/torchwatch.sqlite"
[channel]
kind = "directory"
path = "nightlies"
[source]
repository = "pytorch.git"
branch = "main"
[github]
commits = "pytorch/pytorch"
[suite]
configurations = ["cpu-train", "cpu-infer"]
"""


def torchwatch(program: Path, folder: Path, *words: str) -> str:
    command: list[str | Path] = [program, *words, "--config", folder / "torchwatch.toml"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path, metavar="TORCHWATCH")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--nightlies", type=int, default=730, help="of which each is a day (730)")
    parser.add_argument("--incidents", type=int, default=200, help="spread over them (200)")
    parser.add_argument("--workloads", type=int, help="the first of the suite (all)")
    parser.add_argument("--with-samples", type=int, default=30, help="newest nightlies (30)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--last", type=date.fromisoformat, default=date(2026, 11, 20), help="day of the newest"
    )
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    folder = options.folder
    (folder / "nightlies").mkdir(parents=True)
    (folder / "torchwatch.toml").write_text(CONFIGURATION)
    suite = json.loads(torchwatch(options.program, folder, "workload", "list", "--json"))["items"]
    suite = suite[: options.workloads]
    planned = plan.make(options.seed, suite, options.nightlies, options.incidents, options.last)
    days = source.write(folder / "pytorch.git", planned)
    # It measures nothing, so it waits for nobody who does.
    own = f'[executor]\nmachine_lock = "torchwatch-two-years-{os.getpid()}"\n'
    (folder / "torchwatch.toml").write_text(CONFIGURATION + own)
    torchwatch(options.program, folder, "nightly")
    (folder / "torchwatch.toml").write_text(CONFIGURATION)
    with sqlite3.connect(folder / "state" / "torchwatch.sqlite") as file:
        file.execute("PRAGMA synchronous = OFF")
        file.execute("PRAGMA cache_size = -600000")
        rows.Rows(file, planned, days, options.seed, options.with_samples).write()
    file.execute("VACUUM")  # 7 % smaller, in ten seconds
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    files.write(folder)


if __name__ == "__main__":
    main()

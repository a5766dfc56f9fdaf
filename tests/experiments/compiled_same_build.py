#!/usr/bin/env python3
"""Compares a build with itself under AOTInductor, again and again: nothing may come out changed.

    compiled_same_build.py TORCHWATCH TREE FOLDER [--comparisons N] [--json]

TORCHWATCH is the program, TREE a LibTorch tree with its Python part (deploy/libtorch --python).
Each comparison is TREE against another build of the same code, TREE with a few zero bytes behind
one library, so both sides have a package that was compiled for them; the workloads alternate.
FOLDER keeps what was compared: called again after it was stopped, this resumes. Prints the
verdicts.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from kept_rows import KeptRows

WORKLOADS = ("squeezenet1_1", "resnet18", "hf_Bert", "nvidia_deeprecommender")
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


def other_build(tree: Path, folder: Path, number: int) -> Path:
    """TREE as another build: a hard link of each file, but one library with bytes more."""
    made = folder / f"build-{number}" / "torch"
    shutil.rmtree(made.parent, ignore_errors=True)
    shutil.copytree(tree, made, symlinks=True, copy_function=os.link)
    library = made / "lib" / "libtorch.so"
    library.unlink()
    shutil.copy(tree / "lib" / "libtorch.so", library)
    with library.open("ab") as end:
        end.write(b"\0" * (number + 1))
    return made


def compare(program: Path, folder: Path, builds: tuple[Path, Path], workload: str) -> Any:
    command: list[str | Path] = [
        *(program, "compare", *builds, "--variant", "aot_inductor", "--workload", workload),
        *("--metric", "time", "--json", "--config", folder / "torchwatch.toml"),
    ]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode not in JUDGED:
        sys.exit(f"compiled_same_build.py: {workload}: compare ended with {done.returncode}")
    return json.loads(done.stdout)["verdicts"][0]


def text_of(row: dict[str, Any]) -> str:
    low, high = ((100 * (end - 1)) for end in row["interval"])
    change = 100 * (row["ratio"] - 1)
    return f"{row['workload']}: {row['verdict']}, {change:+.1f} % [{low:+.1f}, {high:+.1f}]"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("torchwatch", type=Path)
    parser.add_argument("tree", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--comparisons", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = options.folder.absolute()
    (folder / "nightlies").mkdir(parents=True, exist_ok=True)
    (folder / "torchwatch.toml").write_text(CONFIGURATION)
    kept = KeptRows(folder / "comparisons.jsonl")
    for number in range(len(kept.rows), options.comparisons):
        workload = WORKLOADS[number % len(WORKLOADS)]
        other = other_build(options.tree.absolute(), folder, number)
        builds = (options.tree.absolute(), other)
        verdict = compare(options.torchwatch.absolute(), folder, builds, workload)
        members = ("workload", "verdict", "ratio", "interval", "reason")
        kept.add({name: verdict[name] for name in members})
        shutil.rmtree(other.parent)
        print(text_of(kept.rows[-1]), file=sys.stderr, flush=True)
    counts = Counter(row["verdict"] for row in kept.rows)
    if options.json:
        print(json.dumps({"verdicts": counts, "comparisons": kept.rows}))
    else:
        print("\n".join(map(text_of, kept.rows)), *counts.items(), sep="\n")


if __name__ == "__main__":
    main()

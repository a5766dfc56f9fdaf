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
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import compare_call
from kept_rows import KeptRows

WORKLOADS = ("squeezenet1_1", "resnet18", "hf_Bert", "nvidia_deeprecommender")


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


def text_of(row: dict[str, Any]) -> str:
    if row["ratio"] is None or row["interval"] is None:
        return f"{row['workload']}: {row['verdict']}"
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
    compare_call.prepare(folder)
    kept = KeptRows(folder / "comparisons.jsonl")
    for number in range(len(kept.rows), options.comparisons):
        workload = WORKLOADS[number % len(WORKLOADS)]
        other = other_build(options.tree.absolute(), folder, number)
        words = (options.tree.absolute(), other, "--variant", "aot_inductor", "--metric", "time")
        program = options.torchwatch.absolute()
        verdict = compare_call.verdicts(program, folder, words, [workload])[0]
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

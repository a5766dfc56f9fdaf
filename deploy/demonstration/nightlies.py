#!/usr/bin/env python3
"""Builds the nightlies of a planted day, as a publisher of builds would.

    nightlies.py FOLDER --libtorch TREE

FOLDER is one that planted_day.py made. FOLDER/nightlies/<date>/ gets a LibTorch tree whose
build-hash names a commit of the branch nightly. Those that are there are left alone.
"""

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

RECIPE = Path(__file__).resolve().parent.parent / "recipes" / "overlay"


class BuildFailed(Exception):
    pass


def checkout(bare: Path, commit: str, folder: Path) -> None:
    """The commit's files in a new folder, without any git data."""
    archive = subprocess.run(
        ["git", "--git-dir", str(bare), "archive", "--format=tar", commit],
        capture_output=True,
        check=True,
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder)  # noqa: S202 made by git from a repository of ours


def build_commit(bare: Path, commit: str, tree: Path, base: Path) -> int:
    """Runs the recipe for a commit into tree, which must not exist. Returns the recipe's status."""
    tree.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=tree.parent, prefix=".source-") as source:
        checkout(bare, commit, Path(source))
        environment = dict(
            os.environ,
            TORCHWATCH_SOURCE=source,
            TORCHWATCH_COMMIT=commit,
            TORCHWATCH_PREFIX=str(tree),
            TORCHWATCH_BASE=str(base),
            TORCHWATCH_JOBS=str(os.cpu_count() or 1),
        )
        return subprocess.run([str(RECIPE)], env=environment, check=False).returncode


def build(folder: Path, libtorch: Path, truth: dict[str, Any]) -> None:
    for nightly in truth["nightlies"]:
        tree = folder / "nightlies" / nightly["date"]
        if (tree / "build-hash").exists():
            continue
        # With a point in front, so that a channel that looks meanwhile sees no half-made build.
        partial = tree.with_name(f".{tree.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        status = build_commit(folder / "pytorch.git", nightly["commit"], partial, libtorch)
        if status != 0:
            raise BuildFailed(
                f"the nightly of {nightly['date']} was not built (recipe's status {status})"
            )
        version = (libtorch / "build-version").read_text().strip()
        release, _, flavour = version.partition("+")
        dated = f"{release}.dev{nightly['date'].replace('-', '')}" + (
            f"+{flavour}" if flavour else ""
        )
        (partial / "build-version").write_text(dated + "\n")
        partial.rename(tree)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--libtorch", type=Path, required=True, help="LibTorch tree that the builds link to"
    )
    options = parser.parse_args()
    try:
        truth = json.loads((options.folder / "truth.json").read_text())
        build(options.folder, options.libtorch.absolute(), truth)
    except (BuildFailed, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"nightlies.py: {error}")


if __name__ == "__main__":
    main()

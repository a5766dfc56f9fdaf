"""Builds commits of the source day by the recipe as it is delivered, and keeps what each took."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kept_rows
import source_tree

HERE = Path(__file__).resolve().parent
RECIPE = HERE.parents[2] / "deploy" / "recipes" / "pytorch-cpu"
TIMED_RECIPE = HERE / "timed_recipe.py"
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"  # a python3 elsewhere may lack what Debian's has
CCACHE_SIZE = "10G"
UNBUILDABLE = 125  # the recipe's status for a commit that does not compile


class BuildFailed(Exception):
    pass


def environment(work: Path, clone: Path, ccache: Path) -> dict[str, str]:
    """What the recipe is called with, by us and by the service. work: always the same for all
    builds, so that ccache recognises files."""
    ccache.mkdir(parents=True, exist_ok=True)
    variables = {
        "TORCHWATCH_PYTORCH_CLONE": clone,
        "TORCHWATCH_PYTORCH_WORK": work,
        "TORCHWATCH_PYTORCH_OPTIONS": source_tree.OPTIONS,
        "TORCHWATCH_RECIPE": RECIPE,
        "CCACHE_DIR": ccache,
        "CCACHE_MAXSIZE": CCACHE_SIZE,
        "PATH": SYSTEM_PATH,
    }
    return {**os.environ, **{name: str(value) for name, value in variables.items()}}


def build(commit: str, tree: Path, jobs: int, variables: dict[str, str]) -> int:
    """Builds a commit into tree, which appears when it is whole. Instant if it is there; what was
    compiled before a stop is in ccache. Returns the recipe's status."""
    if (tree / "build-hash").exists():
        return 0
    partial = tree.with_name(f".{tree.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    own = {"COMMIT": commit, "PREFIX": str(partial), "JOBS": str(jobs), "BUILDER": "0"}
    called = {**variables, **{f"TORCHWATCH_{name}": value for name, value in own.items()}}
    with (
        (Path(variables["TORCHWATCH_PYTORCH_WORK"]) / "recipe.log").open("a") as log,
        subprocess.Popen([TIMED_RECIPE], env=called, stdout=log, stderr=log) as child,
    ):
        try:
            status = child.wait()
        except BaseException:
            child.terminate()
            raise
    if status == 0:
        partial.rename(tree)
    return status


def nightlies(folder: Path, truth: dict[str, Any], jobs: int, variables: dict[str, str]) -> None:
    """The day's two, as a publisher of builds would make them."""
    for nightly in truth["nightlies"]:
        tree = folder / "nightlies" / nightly["date"]
        status = build(nightly["commit"], tree, jobs, variables)
        if status != 0:
            log = Path(variables["TORCHWATCH_PYTORCH_WORK"]) / "recipe.log"
            raise BuildFailed(f"nightly {nightly['date']}: the recipe ended with {status}: {log}")


def rows(work: Path) -> list[dict[str, Any]]:
    """What each call of the recipe took, oldest first; one may be at work."""
    return kept_rows.rows_of(work / "builds.jsonl")

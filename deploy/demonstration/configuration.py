#!/usr/bin/env python3
"""Writes the configuration of a service that watches a planted day, and its build recipe.

    configuration.py FOLDER --libtorch TREE --workload NAME...

FOLDER is one that planted_day.py made. FOLDER/torchwatch.toml gets the least that a small set-up
needs, FOLDER/recipe.sh calls the recipe of planted days with the place of LibTorch.
"""

import argparse
import json
import os
import shlex
from pathlib import Path
from typing import Any

from nightlies import RECIPE

# By table. Every key has a default; torchwatch.example.toml lists them all.
SETTINGS: dict[str, dict[str, Any]] = {
    "storage": {"path": "state/torchwatch.sqlite"},
    "channel": {"kind": "directory", "path": "nightlies"},
    "source": {"repository": "pytorch.git", "branch": "main"},
    "build": {"recipe": "recipe.sh", "timeout": "10m"},
    "suite": {"preset": "small", "configurations": ["cpu-train", "cpu-infer"]},
}

RECIPE_TEXT = """\
#!/bin/sh
# The build recipe of planted days, with the place of LibTorch.
export {variables}
exec {recipe}
"""


def write_recipe(file: Path, libtorch: Path) -> None:
    """The compiler cache is the one of this process, where it has one."""
    variables = {"TORCHWATCH_OVERLAY_BASE": str(libtorch)}
    if os.environ.get("CCACHE_DIR"):
        variables["CCACHE_DIR"] = os.environ["CCACHE_DIR"]
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
    file.write_text(RECIPE_TEXT.format(variables=settings, recipe=shlex.quote(str(RECIPE))))
    file.chmod(0o755)


def text(settings: dict[str, dict[str, Any]]) -> str:
    """As TOML, in which strings, numbers and lists are written as in JSON."""
    lines = ["# Every key has a default; torchwatch.example.toml lists them all."]
    for table, keys in settings.items():
        lines.append(f"[{table}]")
        lines += [f"{name} = {json.dumps(value)}" for name, value in keys.items()]
    return "\n".join(lines) + "\n"


def write(
    folder: Path,
    libtorch: Path,
    workloads: list[str],
    more: dict[str, dict[str, Any]] | None = None,
) -> Path:
    """Recipe and configuration into folder; more: settings beyond SETTINGS, by table. Returns the
    configuration's file."""
    write_recipe(folder / "recipe.sh", libtorch)
    settings = {table: dict(keys) for table, keys in SETTINGS.items()}
    settings["suite"]["workloads"] = workloads
    # The recipe calls another one, builds link into the base, and the cache may lie anywhere.
    settings["sandbox"] = {"readable": [str(RECIPE), str(libtorch)]}
    if os.environ.get("CCACHE_DIR"):
        settings["sandbox"]["writable"] = [os.environ["CCACHE_DIR"]]
    for table, keys in (more or {}).items():
        settings.setdefault(table, {}).update(keys)
    file = folder / "torchwatch.toml"
    file.write_text(text(settings))
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--libtorch", type=Path, required=True, help="LibTorch tree that builds link to"
    )
    parser.add_argument(
        "--workload", action="append", required=True, help="repeatable: what is measured"
    )
    options = parser.parse_args()
    write(options.folder, options.libtorch.absolute(), options.workload)


if __name__ == "__main__":
    main()

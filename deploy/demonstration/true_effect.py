#!/usr/bin/env python3
"""Measures what the planted changes of a day truly do, out of the reach of any service.

    true_effect.py FOLDER --libtorch TREE [--kits KITS] [--pairs 100] [--workload NAME]...

FOLDER is one that planted_day.py made. The slow commit and its parent are built, then measured in
alternating pairs of fresh processes of the same runner (from KITS, by default those that a
comparison left in FOLDER), which is pointed to either build by LD_LIBRARY_PATH (their headers are
equal). Each process loads fresh copies of the libraries, and is pinned to a core where it may raise
its priority, as a run of the service is.
Prints the ratio of the time of a training step with its 99 % interval, and the bytes that the
keeping commit keeps per iteration, which are exact. FOLDER/true-effect.json gets the same with
every pair. Nothing else should run on the machine.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nightlies
from placed_libraries import placed
from ratio import mean_ratio

WORKLOADS = ["soft_actor_critic", "nvidia_deeprecommender", "tts_angular"]
RUN_SECONDS_MAX = 600


class MeasurementFailed(Exception):
    pass


def ratio_with_interval(pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Geometric mean of candidate / reference over pairs, with its 99 % interval."""
    ratio, low, high = mean_ratio([candidate / reference for reference, candidate in pairs])
    return {"ratio": ratio, "interval": [low, high]}


class Runner:
    """Starts one process for each measurement and reads its result. scratch: on a disk; libraries
    are copied to it."""

    def __init__(self, program: Path, scratch: Path) -> None:
        self.program = program
        self.scratch = scratch
        self.count = 0

    def measure(self, tree: Path, workload: str, mode: str, measured_pass: str) -> dict[str, float]:
        self.count += 1
        request = {
            "schema": 1,
            "attempt": f"true-effect-{self.count}",
            "workload": workload,
            "device": "cpu",
            "mode": mode,
            "pass": measured_pass,
            "preset": "small",
            "threads": 1,
            "pin_to_core": True,
        }
        with placed(tree, self.scratch) as libraries:
            result = self._answer(request, libraries)
        if result["status"] != "ok":
            raise MeasurementFailed(f"{workload} {mode}: {result.get('reason', result['status'])}")
        return result["values"]

    def _answer(self, request: dict[str, Any], libraries: Path) -> dict[str, Any]:
        request_file, result_file = self.scratch / "request.json", self.scratch / "result.json"
        request_file.write_text(json.dumps(request))
        result_file.unlink(missing_ok=True)
        done = subprocess.run(
            [str(self.program), "measure", str(request_file), str(result_file)],
            env=dict(os.environ, LD_LIBRARY_PATH=str(libraries)),
            capture_output=True,
            timeout=RUN_SECONDS_MAX,
            start_new_session=True,  # the kernel divides cores among sessions first
            check=False,
        )
        if done.returncode != 0 or not result_file.exists():
            raise MeasurementFailed(
                f"{request['workload']} {request['mode']}: "
                f"{done.stderr.decode(errors='replace')[-2000:]}"
            )
        return json.loads(result_file.read_text())


def build(folder: Path, libtorch: Path, commit: str) -> Path:
    tree = folder / "true-effect" / commit
    if not (tree / "build-hash").exists():
        if tree.exists():
            raise MeasurementFailed(f"{tree} is half-made: remove it")
        if nightlies.build_commit(folder / "pytorch.git", commit, tree, libtorch) != 0:
            raise MeasurementFailed(f"{commit} could not be built")
    return tree


def time_effect(
    runner: Runner, parent: Path, culprit: Path, workload: str, mode: str, count: int
) -> dict[str, Any]:
    pairs = []
    for number in range(count):
        # A B, then B A: a drift of the machine hits both alike.
        order = (parent, culprit) if number % 2 == 0 else (culprit, parent)
        times = {tree: runner.measure(tree, workload, mode, "timing")["time"] for tree in order}
        pairs.append((times[parent], times[culprit]))
        show_progress(f"{workload} cpu-{mode}", number + 1, count)
    return {"workload": workload, "mode": mode, **ratio_with_interval(pairs), "pairs": pairs}


def runner_of(kits: Path, workload: str) -> Path:
    """A runner in which that workload is compiled."""
    for manifest in sorted(kits.glob("*/kit.json")):
        if workload in json.loads(manifest.read_text())["workloads"]:
            return manifest.parent / "torchwatch-runner"
    raise MeasurementFailed(
        f"{kits} holds no runner with {workload}: let a comparison measure it first"
    )


def leak_effect(runner: Runner, parent: Path, culprit: Path, workload: str) -> dict[str, Any]:
    growth = [
        runner.measure(tree, workload, "train", "memory")["leak_growth"]
        for tree in (parent, culprit)
    ]
    return {"workload": workload, "mode": "train", "bytes_per_iteration": growth[1] - growth[0]}


def show_progress(what: str, done: int, count: int) -> None:
    if sys.stderr.isatty():
        print(
            f"\r{what}: {done} of {count} pairs ", end="" if done < count else "\n", file=sys.stderr
        )


def report(effect: dict[str, Any]) -> None:
    low, high = effect["interval"]
    print(
        f"{effect['workload']} cpu-{effect['mode']}: time x {effect['ratio']:.4f} "
        f"(99 % interval {low:.4f} to {high:.4f}, {len(effect['pairs'])} pairs)",
        flush=True,
    )


def measure_workload(
    options: argparse.Namespace,
    runner: Runner,
    workload: str,
    planted: tuple[dict[str, Any] | None, dict[str, Any] | None],
    trees: dict[str, Path],
    found: dict[str, Any],
) -> None:
    """Adds to found what the planted commits (the slow one and the keeping one, either may be
    missing) do to the workload."""
    slow, keeping = planted
    if keeping:
        leak = leak_effect(runner, trees[keeping["parent"]], trees[keeping["sha"]], workload)
        found["leak"].append(leak)
        print(
            f"{workload} cpu-train: {leak['bytes_per_iteration']} bytes kept per iteration",
            flush=True,
        )
    if not slow:
        return
    for mode in ("train", "infer"):
        effect = time_effect(
            runner, trees[slow["parent"]], trees[slow["sha"]], workload, mode, options.pairs
        )
        found["time"].append(effect)
        report(effect)


def measure(options: argparse.Namespace) -> None:
    truth = json.loads((options.folder / "truth.json").read_text())
    planted = truth["culprits"]["time"], truth["culprits"]["memory"]
    if not any(planted):
        raise MeasurementFailed("this day has no culprits")
    libtorch = options.libtorch.absolute()
    trees = {
        sha: build(options.folder.absolute(), libtorch, sha)
        for culprit in planted
        if culprit
        for sha in (culprit["parent"], culprit["sha"])
    }
    found = {"seed": truth["seed"], "time": [], "leak": []}
    with tempfile.TemporaryDirectory(dir=options.folder.absolute()) as scratch:
        kits = (options.kits or options.folder / "state" / "builds" / "kits").absolute()
        for workload in options.workload or WORKLOADS:
            runner = Runner(runner_of(kits, workload), Path(scratch))
            measure_workload(options, runner, workload, planted, trees, found)
    (options.folder / "true-effect.json").write_text(json.dumps(found, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--libtorch", type=Path, required=True)
    parser.add_argument("--kits", type=Path, help="runner kits (default: FOLDER/state/builds/kits)")
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument(
        "--workload", action="append", help=f"repeatable; default: {', '.join(WORKLOADS)}"
    )
    try:
        measure(parser.parse_args())
    except (MeasurementFailed, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"true_effect.py: {error}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures one build against itself, over and over, in four ways; benchmark_same_build judges the runs.

    same_build.py FOLDER --runner PROGRAM --libraries LIB [NAME:MODE]...

PROGRAM is a torchwatch-runner that was built with LIB, the lib/ of a LibTorch tree. FOLDER gets two
byte-identical copies of LIB, A and B, and in runs.jsonl a line for each block, which are made in random
order. Ended at any point, it goes on where it was. The ways:

  protocol  a block A B B A of fresh processes by the runner's own settings, each with a copy of the
            library files that was made for it, as the service does it
  fixed     the same without those copies: the files of A and B where they lie
  paper     four processes of A, each 3 iterations to warm up and the median of 10; nothing pinned,
            the heap as it comes
  step      two processes (A and B, copied for the block) alive at once that take turns iteration by
            iteration in random order; one median each

Nothing else should run on the machine; the load is recorded with each block.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from kept_rows import KeptRows
from port_speed import CannotCompare, Iterator, show_progress

# As library_placement.cpp has it; the rest is linked.
COPIED = ("libtorch_cpu.so", "libtorch.so", "libc10.so", "libgomp")
SIDES = ("a", "b", "b", "a")
CELLS = ["lennard_jones:infer", "lennard_jones:train", "soft_actor_critic:infer",
         "soft_actor_critic:train", "dlrm:infer", "nvidia_deeprecommender:train", "resnet18:infer",
         "resnet18:train", "hf_Bert:infer", "pyhpc_isoneutral_mixing:infer"]
PAPER = {"warmup": 3, "iterations": 10, "iterations_min": 10, "enough_ns": 10**12,
         "batch_below_ns": 0, "pin_to_core": False, "fixed_heap": False}
STEP_TURNS_MIN = 30
STEP_TURN_NS_MIN = 500_000_000  # of each process in all


class Machine:
    """Starts the runner's processes as the service does: each in a session of its own, with a fixed
    environment and the libraries of one folder."""

    def __init__(self, options):
        self._options = options
        self._folder = options.folder.resolve()
        self.placing_seconds = 0.0

    def copies_of_build(self):
        for side in set(SIDES):
            if not (self._folder / side).exists():
                partial = self._folder / f"{side}.partial"
                shutil.rmtree(partial, ignore_errors=True)
                shutil.copytree(self._options.libraries, partial)
                partial.rename(self._folder / side)

    def side(self, side):
        return self._folder / side

    def placed(self, side, name="placed"):
        """A folder with fresh copies of the files that matter."""
        begin = time.monotonic()
        folder = self._folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for file in self.side(side).iterdir():
            if file.name.startswith(COPIED):
                shutil.copyfile(file, folder / file.name)
            else:
                (folder / file.name).symlink_to(file)
        self.placing_seconds += time.monotonic() - begin
        return folder

    def remove_placed(self, name="placed"):
        shutil.rmtree(self._folder / name)

    def environment(self, libraries, threads):
        return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C",
                "HOME": str(self._folder), "TMPDIR": str(self._folder),
                "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads),
                "LD_LIBRARY_PATH": str(libraries)}

    def request(self, cell, threads, settings):
        workload, mode = cell.split(":")
        file = self._folder / "request.json"
        file.write_text(json.dumps({
            "schema": 1, "attempt": "same-build", "workload": workload, "device": "cpu",
            "mode": mode, "preset": self._options.preset, "threads": threads, **settings}))
        return file

    def measure(self, cell, threads, settings, libraries):
        """The run's value in nanoseconds."""
        result_file = self._folder / "result.json"
        result_file.unlink(missing_ok=True)
        command = [self._options.runner.resolve(), "measure",
                   self.request(cell, threads, settings), result_file]
        ended = subprocess.run(command, env=self.environment(libraries, threads),
                               start_new_session=True, capture_output=True, text=True)
        if not result_file.exists():
            raise CannotCompare(f"{cell}: exit status {ended.returncode}: {ended.stderr[-500:]}")
        result = json.loads(result_file.read_text())
        if result["status"] != "ok":
            raise CannotCompare(f"{cell}: {result['reason']}")
        return result["values"]["time"]

    def stepper(self, cell, threads, libraries):
        command = [str(self._options.runner.resolve()), "step",
                   str(self.request(cell, threads, {}))]
        return Iterator(command, self.environment(libraries, threads), start_new_session=True)


def protocol_block(machine, cell, threads, _):
    values = []
    for side in SIDES:
        values.append(machine.measure(cell, threads, {}, machine.placed(side)))
        machine.remove_placed()
    return values


def fixed_block(machine, cell, threads, _):
    return [machine.measure(cell, threads, {}, machine.side(side)) for side in SIDES]


def paper_block(machine, cell, threads, _):
    return [machine.measure(cell, threads, PAPER, machine.side("a")) for _ in SIDES]


def step_block(machine, cell, threads, generator):
    names = {side: f"placed-{side}" for side in ("a", "b")}
    folders = {side: machine.placed(side, name) for side, name in names.items()}
    with machine.stepper(cell, threads, folders["a"]) as a, \
            machine.stepper(cell, threads, folders["b"]) as b:
        processes = [a, b]
        for each in processes:
            each.wait_until_ready()
        iteration_ns = max(each.run(1)[0] for each in processes)
        times = {each: [] for each in processes}
        for _ in range(max(STEP_TURNS_MIN, int(STEP_TURN_NS_MIN / iteration_ns))):
            for each in generator.sample(processes, len(processes)):
                times[each] += each.run(1)
    for name in names.values():
        machine.remove_placed(name)
    return [statistics.median(times[each]) for each in processes]


WAYS = {"protocol": protocol_block, "fixed": fixed_block, "paper": paper_block, "step": step_block}


class Blocks(KeptRows):
    def count(self, key):
        """How many were made of a (way, cell, threads)."""
        return [self._key(row) for row in self.rows].count(key)

    @staticmethod
    def _key(row):
        return row["way"], f"{row['workload']}:{row['mode']}", row["threads"]


def make_block(machine, key, generator):
    way, cell, threads = key
    load, begin, machine.placing_seconds = os.getloadavg()[0], time.monotonic(), 0.0
    values = WAYS[way](machine, cell, threads, generator)
    workload, mode = cell.split(":")
    return {"way": way, "workload": workload, "mode": mode, "threads": threads,
            "values_ns": values, "seconds": round(time.monotonic() - begin, 3),
            "placing_seconds": round(machine.placing_seconds, 3), "load": load}


def keys_of(options):
    return [(way, cell, threads) for way in options.way or WAYS for cell in options.cells or CELLS
            for threads in options.threads or [1]]


def collect(options):
    machine, blocks = Machine(options), Blocks(options.folder / "runs.jsonl")
    machine.copies_of_build()
    generator = random.Random(options.seed)
    for number in range(options.blocks):
        keys = keys_of(options)
        for key in generator.sample(keys, len(keys)):
            if blocks.count(key) <= number:
                show_progress(f"block {number + 1} of {options.blocks}: {key[0]} {key[1]}, "
                              f"{key[2]} threads")
                blocks.add(make_block(machine, key, generator))
    show_progress("")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("cells", nargs="*", metavar="NAME:MODE",
                        help=f"(default: {', '.join(CELLS)})")
    parser.add_argument("--runner", type=Path, required=True)
    parser.add_argument("--libraries", type=Path, required=True, metavar="LIB")
    parser.add_argument("--preset", choices=["small", "paper"], default="small")
    parser.add_argument("--blocks", type=int, default=10, help="of four runs, each way (10)")
    parser.add_argument("--threads", type=int, action="append", help="repeatable (1)")
    parser.add_argument("--way", choices=WAYS, action="append", help="repeatable (all)")
    parser.add_argument("--seed", type=int, default=1, help="of the order of blocks (1)")
    return parser.parse_intermixed_args()


def main():
    options = parse_arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        collect(options)
    except (CannotCompare, OSError) as reason:
        sys.exit(f"same_build.py: {reason}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures one build against itself, over and over, in five ways; benchmark_same_build judges the runs.

    same_build.py FOLDER --runner PROGRAM --libraries LIB [NAME:MODE]...

PROGRAM is a torchwatch-runner that was built with LIB, the lib/ of a LibTorch tree. FOLDER gets two
byte-identical copies of LIB, A and B, and in runs.jsonl a line for each block, which are made in random
order. Ended at any point, it goes on where it was. The ways:

  turns        pairs (A B, then B A) of processes that are alive at once and take turns sample by
               sample, by the runner's own settings, each with a copy of the library files that was
               made for it, and of several threads each bound to a core: as the service does it on a CPU
  turns_fixed  the same without those copies: the files of A and B where they lie
  apart        the runs of `turns` one after the other, A B B A: as the service does it on a GPU
  fixed        the same without those copies
  paper        four processes of A, each 3 iterations to warm up and the median of 10; nothing pinned,
               the heap as it comes

Nothing else should run on the machine; the load is recorded with each block.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from kept_rows import KeptRows
from port_speed import CannotCompare, show_progress

# As library_placement.cpp has it; the rest is linked.
COPIED = ("libtorch_cpu.so", "libtorch.so", "libc10.so", "libgomp")
SIDES = ("a", "b", "b", "a")
CELLS = ["lennard_jones:infer", "lennard_jones:train", "soft_actor_critic:infer",
         "soft_actor_critic:train", "dlrm:infer", "nvidia_deeprecommender:train", "resnet18:infer",
         "resnet18:train", "hf_Bert:infer", "pyhpc_isoneutral_mixing:infer"]
PAPER = {"warmup": 3, "iterations": 10, "iterations_min": 10, "enough_ns": 10**12,
         "batch_below_ns": 0, "pin_to_core": False, "fixed_heap": False}

TURN_NS = 10_000_000  # as run_maker.cpp has it


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
                unfinished = self._folder / f"{side}.partial"
                shutil.rmtree(unfinished, ignore_errors=True)
                shutil.copytree(self._options.libraries, unfinished)
                unfinished.rename(self._folder / side)

    def side(self, side):
        return self._folder / side

    @contextmanager
    def libraries(self, side, copies):
        """The folder of a side's libraries; with `copies` one with fresh copies of the files that matter."""
        if not copies:
            yield self.side(side)
            return
        folder = self._folder / f"placed-{side}"
        self._place(side, folder)
        yield folder
        shutil.rmtree(folder)

    def _place(self, side, folder):
        begin = time.monotonic()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for file in self.side(side).iterdir():
            if file.name.startswith(COPIED):
                shutil.copyfile(file, folder / file.name)
            else:
                (folder / file.name).symlink_to(file)
        self.placing_seconds += time.monotonic() - begin

    def environment(self, libraries, threads, is_bound):
        spin = self._options.spin_count
        return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C",
                "HOME": str(self._folder), "TMPDIR": str(self._folder),
                "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads),
                "LD_LIBRARY_PATH": str(libraries),
                **({"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"} if is_bound else {}),
                **({"GOMP_SPINCOUNT": str(spin)} if spin is not None else {})}

    def begin(self, cell, threads, settings, libraries, name="run"):
        """Starts a runner's process; its files are called `name`."""
        workload, mode = cell.split(":")
        request = self._folder / f"{name}.json"
        request.write_text(json.dumps({
            "schema": 1, "attempt": "same-build", "workload": workload, "device": "cpu",
            "mode": mode, "preset": self._options.preset, "threads": threads, **settings}))
        result = self._folder / f"{name}-result.json"
        result.unlink(missing_ok=True)
        command = [self._options.runner.resolve(), "measure", request, result]
        environment = self.environment(libraries, threads, threads > 1 and settings != PAPER)
        process = subprocess.Popen(command, env=environment, start_new_session=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        return cell, process, result

    def end(self, begun):
        """The run's value in nanoseconds."""
        cell, process, result_file = begun
        output, _ = process.communicate()
        if not result_file.exists():
            raise CannotCompare(f"{cell}: exit status {process.returncode}: {output[-500:]}")
        result = json.loads(result_file.read_text())
        if result["status"] != "ok":
            raise CannotCompare(f"{cell}: {result['reason']}")
        return result["values"]["time"]

    def measure(self, cell, threads, settings, libraries):
        return self.end(self.begin(cell, threads, settings, libraries))

    def turn_pipe(self, name):
        """A pipe through which a process is told that it is its turn, and a hold of it."""
        pipe = self._folder / f"turn-{name}"
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
        return pipe, os.open(pipe, os.O_RDWR)


def end_in_turns(machine, begun, hold_of_other):
    try:
        return machine.end(begun)
    finally:
        os.write(hold_of_other, b"e")  # it has ended, however it did: wait for it no more


def pair_in_turns(machine, cell, threads, sides, folders):
    """The values of two processes, the first of which has the first turn."""
    pipes, holds = zip(*(machine.turn_pipe(side) for side in sides))
    begun = []
    for own in (0, 1):
        turn = {"own": str(pipes[own]), "other": str(pipes[1 - own]), "begins": own == 0}
        settings = {"turns": turn, "batch_below_ns": TURN_NS}
        begun.append(machine.begin(cell, threads, settings, folders[own], sides[own]))
    with ThreadPoolExecutor() as waiting:
        values = list(waiting.map(partial(end_in_turns, machine), begun, reversed(holds)))
    for hold in holds:
        os.close(hold)
    return values


def turns_block(machine, cell, threads, copies):
    values = []
    for sides in (SIDES[:2], SIDES[2:]):
        with machine.libraries(sides[0], copies) as first, machine.libraries(sides[1], copies) as second:
            values += pair_in_turns(machine, cell, threads, sides, (first, second))
    return values


def apart_block(machine, cell, threads, copies):
    values = []
    for side in SIDES:
        with machine.libraries(side, copies) as libraries:
            values.append(machine.measure(cell, threads, {}, libraries))
    return values


def paper_block(machine, cell, threads):
    return [machine.measure(cell, threads, PAPER, machine.side("a")) for _ in SIDES]


WAYS = {"turns": partial(turns_block, copies=True), "turns_fixed": partial(turns_block, copies=False),
        "apart": partial(apart_block, copies=True), "fixed": partial(apart_block, copies=False),
        "paper": paper_block}


class Blocks(KeptRows):
    def count(self, key):
        """How many were made of a (way, cell, threads)."""
        return [self._key(row) for row in self.rows].count(key)

    @staticmethod
    def _key(row):
        return row["way"], f"{row['workload']}:{row['mode']}", row["threads"]


def make_block(machine, key):
    way, cell, threads = key
    load, begin, machine.placing_seconds = os.getloadavg()[0], time.monotonic(), 0.0
    values = WAYS[way](machine, cell, threads)
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
                blocks.add(make_block(machine, key))
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
    parser.add_argument("--spin-count", type=int, metavar="N",
                        help="GOMP_SPINCOUNT of the runs (libgomp's default); use a FOLDER of its own")
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

#!/usr/bin/env python3
"""Measures one build against itself, over and over, in five ways; experiment_same_build judges the
runs.

    same_build.py FOLDER --runner PROGRAM --libraries LIB [NAME:MODE]...
    same_build.py FOLDER --runner PROGRAM --libraries LIB --record [--minutes N] [--beside TEXT]

PROGRAM is a torchwatch-runner that was built with LIB, the lib/ of a LibTorch tree. FOLDER gets two
byte-identical copies of LIB, A and B, and in runs.jsonl a line for each block, which are made in
random order. Called again after it was stopped, it resumes. The ways:

  interleaved        pairs (A B and B A) of processes that are alive at once and alternate sample
                     by sample, by the runner's own settings, each with a copy of the library files
                     that was made for it, and several threads each bound to a core: as the service
                     does it on a CPU
  interleaved_fixed  the same without those copies: the files of A and B where they lie
  apart              the runs of `interleaved` one after the other, A B B A or B A A B: as the
                     service does it with interleave = false
  fixed              the same without those copies
  paper              four processes of A, each 3 iterations to warm up and the median of 10;
                     nothing pinned, the heap as it comes

Of two blocks one is A B B A and the other B A A B, by draw: were all alike, what the place in a
block does to a process would be taken for what its side does (docs/results/same-build.md).

Nothing else should run on the machine, or what --beside names; with each block its time (UTC), the
machine's boot and its load are recorded.

--record makes the recording of interleaved pairs: both modes of 16 workloads of all domains with
one thread, six of them with two as well. It takes ten hours; --minutes ends a stretch of it.
"""

import argparse
import json
import math
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from kept_rows import KeptRows
from port_speed import CannotCompare, show_progress

# As library_placement.cpp has it; the rest is linked.
BOOT = Path("/proc/sys/kernel/random/boot_id")
COPIED = ("libtorch_cpu.so", "libtorch.so", "libc10.so", "libgomp")
ORDERS = ("abba", "baab")
BENCHMARKS = [
    "lennard_jones:infer",
    "lennard_jones:train",
    "soft_actor_critic:infer",
    "soft_actor_critic:train",
    "dlrm:infer",
    "nvidia_deeprecommender:train",
    "resnet18:infer",
    "resnet18:train",
    "hf_Bert:infer",
    "pyhpc_isoneutral_mixing:infer",
]
RECORDED = (
    "resnet18",
    "hf_Bert",
    "nvidia_deeprecommender",
    "dlrm",
    "soft_actor_critic",
    "lennard_jones",
    "detectron2_fasterrcnn_r_50_fpn",
    "timm_vision_transformer",
    "pytorch_unet",
    "dcgan",
    "hf_DistilBert",
    "attention_is_all_you_need_pytorch",
    "LearningToPaint",
    "tts_angular",
    "speech_transformer",
    "maml_omniglot",
)
RECORDED_WITH_TWO_THREADS = 6  # of them, the first
PAPER = {
    "warmup": 3,
    "iterations": 10,
    "iterations_min": 10,
    "enough_ns": 10**12,
    "batch_below_ns": 0,
    "pin_to_core": False,
    "fixed_heap": False,
}

INTERLEAVED_SAMPLE_NS = 10_000_000  # as service/comparison/src/run_recorder.cpp has it


Begun = tuple[str, subprocess.Popen[str], Path]
"""Benchmark, its process, and the file that gets its result."""

Key = tuple[str, str, int]
"""Way, benchmark, threads."""


class Machine:
    """Starts the runner's processes as the service does: each in a session of its own, with a fixed
    environment and the libraries of one folder."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._folder = options.folder.resolve()
        self.placing_seconds = 0.0

    def copies_of_build(self) -> None:
        for side in "ab":
            if not (self._folder / side).exists():
                unfinished = self._folder / f"{side}.partial"
                shutil.rmtree(unfinished, ignore_errors=True)
                shutil.copytree(self._options.libraries, unfinished / "torch" / "lib")
                self._link_packages(unfinished)
                unfinished.rename(self._folder / side)

    @property
    def device(self) -> str:
        return self._options.device

    def side(self, side: str) -> Path:
        return self._folder / side / "torch" / "lib"

    def _link_packages(self, folder: Path) -> None:
        """CUDA's libraries lie beside the folder of PyTorch, which finds them by its own place."""
        packages = self._options.libraries.resolve().parent.parent / "nvidia"
        if packages.exists():
            (folder / "nvidia").symlink_to(packages)

    @contextmanager
    def libraries(self, side: str, copies: bool) -> Iterator[Path]:
        """The folder of a side's libraries; with `copies` one with fresh copies of the files that
        matter."""
        if not copies:
            yield self.side(side)
            return
        folder = self._folder / f"placed-{side}"
        self._place(side, folder)
        yield folder / "torch" / "lib"
        shutil.rmtree(folder)

    def _place(self, side: str, folder: Path) -> None:
        begin = time.monotonic()
        shutil.rmtree(folder, ignore_errors=True)
        libraries = folder / "torch" / "lib"
        libraries.mkdir(parents=True)
        self._link_packages(folder)
        for file in self.side(side).iterdir():
            if file.name.startswith(COPIED):
                shutil.copyfile(file, libraries / file.name)
            else:
                (libraries / file.name).symlink_to(file)
        self.placing_seconds += time.monotonic() - begin

    def environment(self, libraries: Path, threads: int, is_bound: bool) -> dict[str, str]:
        spin = self._options.spin_count
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "LC_ALL": "C",
            "HOME": str(self._folder),
            "TMPDIR": str(self._folder),
            "OMP_NUM_THREADS": str(threads),
            "MKL_NUM_THREADS": str(threads),
            "LD_LIBRARY_PATH": str(libraries),
            **({"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"} if is_bound else {}),
            **({"GOMP_SPINCOUNT": str(spin)} if spin is not None else {}),
        }

    def begin(
        self,
        benchmark: str,
        threads: int,
        settings: dict[str, Any],
        libraries: Path,
        name: str = "run",
    ) -> Begun:
        """Starts a runner's process; its files are called `name`."""
        workload, mode = benchmark.split(":")
        request = self._folder / f"{name}.json"
        request.write_text(
            json.dumps(
                {
                    "schema": 1,
                    "attempt": "same-build",
                    "workload": workload,
                    "device": self._options.device,
                    "mode": mode,
                    "preset": self._options.preset,
                    "threads": threads,
                    **settings,
                }
            )
        )
        result = self._folder / f"{name}-result.json"
        result.unlink(missing_ok=True)
        command = [self._options.runner.resolve(), "measure", request, result]
        environment = self.environment(libraries, threads, threads > 1 and settings != PAPER)
        process = subprocess.Popen(
            command,
            env=environment,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return benchmark, process, result

    def end(self, begun: Begun) -> float:
        """The run's value in nanoseconds."""
        benchmark, process, result_file = begun
        output, _ = process.communicate()
        if not result_file.exists():
            raise CannotCompare(f"{benchmark}: exit status {process.returncode}: {output[-500:]}")
        result = json.loads(result_file.read_text())
        if result["status"] != "ok":
            raise CannotCompare(f"{benchmark}: {result['reason']}")
        return result["values"]["time"]

    def measure(
        self, benchmark: str, threads: int, settings: dict[str, Any], libraries: Path
    ) -> float:
        return self.end(self.begin(benchmark, threads, settings, libraries))

    def pipe(self, name: str) -> tuple[Path, int]:
        """The pipe by which a process learns that it may compute, and a hold of it."""
        pipe = self._folder / f"pipe-{name}"
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
        return pipe, os.open(pipe, os.O_RDWR)


def end_of_pair(machine: Machine, begun: Begun, hold_of_other: int) -> float:
    try:
        return machine.end(begun)
    finally:
        os.write(hold_of_other, b"e")  # it has ended, however it did: the other one waits no more


def interleaved_pair(
    machine: Machine, benchmark: str, threads: int, sides: str, folders: tuple[Path, Path]
) -> list[float]:
    """The values of two processes, the first of which computes first."""
    pipes, holds = zip(*(machine.pipe(side) for side in sides), strict=True)
    begun = []
    for own in (0, 1):
        interleave = {"own": str(pipes[own]), "other": str(pipes[1 - own]), "begins": own == 0}
        interleave["agrees"] = True
        settings = {"interleave": interleave, "batch_below_ns": INTERLEAVED_SAMPLE_NS}
        begun.append(machine.begin(benchmark, threads, settings, folders[own], sides[own]))
    with ThreadPoolExecutor() as waiting:
        values = list(waiting.map(partial(end_of_pair, machine), begun, reversed(holds)))
    for hold in holds:
        os.close(hold)
    return values


def interleaved_block(
    machine: Machine, benchmark: str, threads: int, order: str, copies: bool
) -> list[float]:
    values = []
    for sides in (order[:2], order[2:]):
        with (
            machine.libraries(sides[0], copies) as first,
            machine.libraries(sides[1], copies) as second,
        ):
            values += interleaved_pair(machine, benchmark, threads, sides, (first, second))
    return values


def apart_block(
    machine: Machine, benchmark: str, threads: int, order: str, copies: bool
) -> list[float]:
    values = []
    for side in order:
        with machine.libraries(side, copies) as libraries:
            values.append(machine.measure(benchmark, threads, {}, libraries))
    return values


def paper_block(machine: Machine, benchmark: str, threads: int, order: str) -> list[float]:
    return [machine.measure(benchmark, threads, PAPER, machine.side("a")) for _ in order]


WAYS: dict[str, Callable[[Machine, str, int, str], list[float]]] = {
    "interleaved": partial(interleaved_block, copies=True),
    "interleaved_fixed": partial(interleaved_block, copies=False),
    "apart": partial(apart_block, copies=True),
    "fixed": partial(apart_block, copies=False),
    "paper": paper_block,
}


class Blocks(KeptRows):
    def count(self, key: Key) -> int:
        """The number of blocks of a (way, benchmark, threads)."""
        return [self._key(row) for row in self.rows].count(key)

    @staticmethod
    def _key(row: dict[str, Any]) -> Key:
        return row["way"], f"{row['workload']}:{row['mode']}", row["threads"]


def order_of(seed: int, key: Key, number: int) -> str:
    """The sides of a block's processes: of two blocks each order once, whichever comes first."""
    first = random.Random(f"{seed} {key} {number // 2}").randrange(2)
    return ORDERS[(first + number) % 2]


def make_block(machine: Machine, key: Key, order: str, beside: str) -> dict[str, Any]:
    way, benchmark, threads = key
    load, begin, machine.placing_seconds = os.getloadavg()[0], time.monotonic(), 0.0
    values = WAYS[way](machine, benchmark, threads, order)
    workload, mode = benchmark.split(":")
    return {
        "way": way,
        "device": machine.device,
        "workload": workload,
        "mode": mode,
        "threads": threads,
        "order": order,
        "values_ns": values,
        "seconds": round(time.monotonic() - begin, 3),
        "placing_seconds": round(machine.placing_seconds, 3),
        "load": load,
        "utc": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "boot": BOOT.read_text().strip(),
        "beside": beside,
    }


def recorded_keys() -> list[Key]:
    """The series of the recording of interleaved pairs."""
    modes = ("train", "infer")
    once = [(f"{name}:{mode}", 1) for name in RECORDED for mode in modes]
    twice = [
        (f"{name}:{mode}", 2) for name in RECORDED[:RECORDED_WITH_TWO_THREADS] for mode in modes
    ]
    return [("interleaved", benchmark, threads) for benchmark, threads in once + twice]


def keys_of(options: argparse.Namespace) -> list[Key]:
    if options.record:
        return recorded_keys()
    return [
        (way, benchmark, threads)
        for way in options.way or WAYS
        for benchmark in options.benchmarks or BENCHMARKS
        for threads in options.threads or [1]
    ]


def collect(options: argparse.Namespace) -> None:
    machine, blocks = Machine(options), Blocks(options.folder / "runs.jsonl")
    machine.copies_of_build()
    generator = random.Random(options.seed)
    end = time.monotonic() + 60 * options.minutes
    keys = keys_of(options)
    for number in range(options.blocks):
        for key in generator.sample(keys, len(keys)):
            if blocks.count(key) <= number:
                if time.monotonic() > end:
                    return
                show_progress(
                    f"block {number + 1} of {options.blocks}: {key[0]} {key[1]}, {key[2]} threads"
                )
                order = order_of(options.seed, key, number)
                blocks.add(make_block(machine, key, order, options.beside))
    show_progress("")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "benchmarks", nargs="*", metavar="NAME:MODE", help=f"(default: {', '.join(BENCHMARKS)})"
    )
    parser.add_argument("--runner", type=Path, required=True)
    parser.add_argument("--libraries", type=Path, required=True, metavar="LIB")
    parser.add_argument("--preset", choices=["small", "paper"], default="small")
    parser.add_argument(
        "--device",
        choices=["cpu", "cuda"],
        default="cpu",
        help="where the processes compute (cpu); use a FOLDER of its own",
    )
    parser.add_argument(
        "--blocks", type=int, default=10, help="number of blocks of four runs, for each way (10)"
    )
    parser.add_argument("--threads", type=int, action="append", help="repeatable (1)")
    parser.add_argument(
        "--spin-count",
        type=int,
        metavar="N",
        help="GOMP_SPINCOUNT of the runs (libgomp's default); use a FOLDER of its own",
    )
    parser.add_argument("--way", choices=WAYS, action="append", help="repeatable (all)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the order of blocks (1)")
    parser.add_argument(
        "--record", action="store_true", help="make the recording of interleaved pairs (see above)"
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=math.inf,
        metavar="N",
        help="begin no block after so long (all blocks); called again, the rest is made",
    )
    parser.add_argument(
        "--beside",
        default="",
        metavar="TEXT",
        help="what else runs meanwhile, as a mark of the rows",
    )
    options = parser.parse_intermixed_args()
    if options.record and (options.benchmarks or options.threads or options.way):
        parser.error("--record has its own benchmarks, threads and way: leave them out")
    return options


def main() -> None:
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

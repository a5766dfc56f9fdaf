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
one thread, six of them with two as well, 75 blocks of each. It takes ten hours; --minutes ends a
stretch of it. In half of its blocks A has the files of B and B those of A ("files"), which takes
apart what the files do and what the side does.
"""

import argparse
import math
import os
import random
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kept_rows import KeptRows
from port_speed import CannotCompare, show_progress
from same_build_runs import WAYS, Machine

BOOT = Path("/proc/sys/kernel/random/boot_id")
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
BLOCKS, RECORDED_BLOCKS = 10, 75  # of four runs: 20 and 150 pairs

Key = tuple[str, str, int]
"""Way, benchmark, threads."""


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


def is_crossed(seed: int, key: Key, number: int) -> bool:
    """Whether the sides have each other's files: of four blocks each order with both."""
    first = random.Random(f"files {seed} {key} {number // 4}").randrange(2)
    return (first + number // 2) % 2 == 1


def make_block(
    machine: Machine, key: Key, order: str, *, crossed: bool, beside: str
) -> dict[str, Any]:
    way, benchmark, threads = key
    machine.crossed = crossed
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
        "files": "ba" if crossed else "ab",
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
                crossed = options.record and is_crossed(options.seed, key, number)
                blocks.add(make_block(machine, key, order, crossed=crossed, beside=options.beside))
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
        "--blocks", type=int, help="of four runs, for each way (10; of the recording 75)"
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
    parser.add_argument("--record", action="store_true", help="make the recording (see above)")
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
    options.blocks = options.blocks or (RECORDED_BLOCKS if options.record else BLOCKS)
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        collect(options)
    except (CannotCompare, OSError) as reason:
        sys.exit(f"same_build.py: {reason}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()

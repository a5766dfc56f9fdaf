#!/usr/bin/env python3
"""The Python side of tests/experiments/port_speed.py: builds a workload's original on one thread of
the CPU and prints torch's version. For each line of standard input, a number of iterations, runs so
many and prints the nanoseconds they took and those of the processor's time. Ends with its input.
tests/experiments/iterate.cpp speaks the same protocol for the port."""

import argparse
import pathlib
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from original import Original

HERE = pathlib.Path(__file__).resolve().parent
SEED = 1337


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload")
    parser.add_argument("mode", choices=["infer", "train"])
    parser.add_argument("batch", type=int)
    parser.add_argument(
        "--torchbench",
        type=pathlib.Path,
        metavar="FOLDER",
        help="a checkout of pytorch/benchmark 73871abc, for models of its files",
    )
    return parser.parse_args()


def build(options: argparse.Namespace) -> "Original":
    import torch

    from collection import Collection
    from formula import Draw
    from original import Setup

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    torch.manual_seed(SEED)
    builder = Collection(HERE).find(options.workload).ORIGINALS[options.workload]
    mode = "grad" if options.mode == "train" else "infer"
    return builder(Setup(mode, options.batch, Draw(), options.torchbench))


def inference(original: "Original") -> Callable[[], None]:
    import torch

    for network in original.networks:
        network.eval()

    def iterate() -> None:
        with torch.no_grad():
            original.outputs()

    return iterate


def training(original: "Original") -> Callable[[], object]:
    def usual_step(optimiser: "torch.optim.Optimizer") -> None:
        optimiser.zero_grad()
        original.loss().backward()
        optimiser.step()

    for network in original.networks:
        network.train()
    optimiser = original.optimiser()
    step = original.step or usual_step
    return lambda: step(optimiser)


def answer(iterate: Callable[[], object], iterations: int) -> None:
    processor_begin = time.process_time_ns()
    begin = time.perf_counter_ns()
    for _ in range(iterations):
        iterate()
    elapsed = time.perf_counter_ns() - begin
    print(elapsed, time.process_time_ns() - processor_begin, flush=True)


def main() -> None:
    options = parse_arguments()
    try:
        import torch

        from original import NotAtHand
    except ModuleNotFoundError as missing:
        sys.exit(
            f"iterate.py: no package {missing.name}: "
            f"python3 -m pip install -r {HERE / 'requirements.txt'}"
        )
    try:
        original = build(options)
    except NotAtHand as reason:
        sys.exit(f"iterate.py: {options.workload}: {reason}")
    iterate = (training if options.mode == "train" else inference)(original)
    print(torch.__version__, flush=True)
    for line in sys.stdin:
        answer(iterate, int(line))


if __name__ == "__main__":
    main()

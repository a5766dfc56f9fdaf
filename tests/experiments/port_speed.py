#!/usr/bin/env python3
"""Compares the speed of the ports with that of the originals in Python, on the same LibTorch.

    port_speed.py ITERATE [NAME:MODE:BATCH]... --python PYTHON

ITERATE is the program experiment_iterate of a build. A round starts three fresh processes, the
original in Python and the port twice, and lets them alternate, iteration by iteration in random
order, on one thread of one core with the same settings of the heap. Each process gives its median.
Two processes of the same program differ by where their memory lies: rounds count, not iterations.
Prints a Markdown table: geometric mean over the rounds of the ratio port / original, with its 99 %
interval by Student's t, and beside it that of the port's second process to its first, which would
be 1 if rounds were endless. Needs the packages of tests/reference_models/requirements.txt.
"""

import argparse
import filecmp
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Self, cast

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy" / "demonstration"))
from ratio import mean_ratio  # noqa: E402
from rounds import at_least_two  # noqa: E402

ITERATE_PY = ROOT / "tests" / "reference_models" / "iterate.py"
WARM_UP = 3
BUNDLES_MIN = 5
BUNDLE_NS_MIN = 20_000_000  # shorter iterations are bundled: a change of process cools the caches

CLOCKS = ["wall", "processor"]  # as the processes name them in their answers

# As the runner's timing pass fixes them (runner/src/process_isolation.cpp).
HEAP = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "33000000",
    "MALLOC_TRIM_THRESHOLD_": "2147483647",
    "MALLOC_TOP_PAD_": "268435456",
}


class CannotCompare(Exception):
    pass


@dataclass(frozen=True)
class Benchmark:
    workload: str
    mode: str
    batch: int

    @staticmethod
    def parse(text: str) -> "Benchmark":
        parts = text.split(":")
        if len(parts) != 3 or parts[1] not in ("infer", "train") or not parts[2].isdigit():
            raise argparse.ArgumentTypeError(
                f'"{text}" is not NAME:MODE:BATCH, such as resnet18:train:2'
            )
        return Benchmark(parts[0], parts[1], int(parts[2]))

    def arguments(self) -> list[str]:
        return [self.workload, self.mode, str(self.batch)]

    def __str__(self) -> str:
        return ":".join(self.arguments())


# Models of six domains, at batches with which an iteration takes at most half a second on one core.
BENCHMARKS = [
    Benchmark.parse(text)
    for text in (
        "alexnet:infer:4",
        "alexnet:train:4",
        "resnet18:infer:2",
        "resnet18:train:1",
        "resnet50:infer:1",
        "resnet50:train:1",
        "mobilenet_v2:infer:4",
        "mobilenet_v2:train:2",
        "mobilenet_v3_large:infer:4",
        "mobilenet_v3_large:train:2",
        "mnasnet1_0:infer:4",
        "mnasnet1_0:train:2",
        "shufflenet_v2_x1_0:infer:8",
        "shufflenet_v2_x1_0:train:4",
        "densenet121:infer:1",
        "densenet121:train:1",
        "timm_efficientnet:infer:2",
        "timm_efficientnet:train:2",
        "timm_vision_transformer:infer:1",
        "timm_vision_transformer:train:1",
        "attention_is_all_you_need_pytorch:infer:4",
        "attention_is_all_you_need_pytorch:train:2",
        "lennard_jones:infer:1000",
        "lennard_jones:train:1000",
        "pytorch_struct:train:40",
        "tts_angular:infer:64",
        "nvidia_deeprecommender:infer:1",
    )
]


class Iterator:
    """A process that runs iterations of one side when it is asked to."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 closed by __exit__
        self._program = command[0]
        self._process = subprocess.Popen(
            command,
            env=environment,
            text=True,
            bufsize=1,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        # Pipes, as they were asked for.
        self._questions = cast("IO[str]", self._process.stdin)
        self._answers = cast("IO[str]", self._process.stdout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._questions.close()
        self._process.kill()
        self._process.wait()
        self._answers.close()
        self._errors.close()

    def wait_until_ready(self) -> None:
        self._answer()

    def run(self, iterations: int) -> list[float]:
        """Nanoseconds of an iteration, by each of the CLOCKS."""
        print(iterations, file=self._questions)
        return [int(number) / iterations for number in self._answer().split()]

    def _answer(self) -> str:
        line = self._answers.readline()
        if line:
            return line
        status = self._process.wait()
        self._errors.seek(0)
        raise CannotCompare(
            self._errors.read()[-2000:].strip() or f"{self._program} ended with status {status}"
        )


class Sides:
    """Starts either side: with the very same files of LibTorch, because a copy of them lies
    elsewhere in memory, which alone can make 7 %."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._port = [str(options.iterate)]
        self._original = [str(options.python), str(ITERATE_PY)]
        if options.torchbench:
            self._original += ["--torchbench", str(options.torchbench)]
        libraries = libraries_of_python(options.python)
        refuse_other_libtorch(options.iterate, libraries)
        self._environment = dict(
            os.environ, LD_LIBRARY_PATH=str(libraries), OMP_NUM_THREADS="1", **HEAP
        )

    def port(self, benchmark: Benchmark) -> Iterator:
        return Iterator(self._port + benchmark.arguments(), self._environment)

    def original(self, benchmark: Benchmark) -> Iterator:
        return Iterator(self._original + benchmark.arguments(), self._environment)


def libraries_of_python(python: Path) -> Path:
    found = subprocess.run(
        [str(python), "-c", "import torch; print(torch.__path__[0])"],
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode != 0:
        raise CannotCompare(f"{python} cannot import torch: {found.stderr.strip()[-500:]}")
    return Path(found.stdout.strip()) / "lib"


def refuse_other_libtorch(program: Path, libraries: Path) -> None:
    """The port may only be run with Python's files if they are those that it was linked with."""
    linked = subprocess.run(
        ["ldd", str(program)], capture_output=True, text=True, check=False
    ).stdout
    for line in linked.splitlines():
        name, _, target = line.strip().partition(" => ")
        if name not in ("libtorch_cpu.so", "libc10.so"):
            continue
        own, theirs = Path(target.split(" (")[0]), libraries / name
        if not own.exists() or not theirs.exists() or not filecmp.cmp(own, theirs, shallow=False):
            raise CannotCompare(
                f"{own} and {theirs} are not the same LibTorch: install the torch "
                "that the program was built with, or name a Python that has it by "
                "--python"
            )
    if "libtorch_cpu.so" not in linked:
        raise CannotCompare(f"{program} is not a program that is linked with LibTorch")


def measured_round(
    sides: Sides, benchmark: Benchmark, options: argparse.Namespace, generator: random.Random
) -> list[float]:
    try:
        return measure_round(sides, benchmark, options, generator)
    except CannotCompare as reason:
        raise CannotCompare(f"{benchmark}: {reason}") from None


def measure_round(
    sides: Sides, benchmark: Benchmark, options: argparse.Namespace, generator: random.Random
) -> list[float]:
    """Medians of fresh processes: (port, port again, original)."""
    clock = CLOCKS.index(options.clock)
    with (
        sides.port(benchmark) as first,
        sides.port(benchmark) as second,
        sides.original(benchmark) as original,
    ):
        processes = [first, second, original]
        for each in processes:
            each.wait_until_ready()
            each.run(WARM_UP)
        iteration_ns = max(each.run(1)[clock] for each in processes)
        bundle = math.ceil(BUNDLE_NS_MIN / iteration_ns)
        bundles = max(BUNDLES_MIN, int(options.seconds * 1e9 / (iteration_ns * bundle)))
        times: dict[Iterator, list[float]] = {each: [] for each in processes}
        for _ in range(bundles):
            for each in generator.sample(processes, len(processes)):
                times[each].append(each.run(bundle)[clock])
    return [statistics.median(times[each]) for each in processes]


def spelled(ratio_and_interval: Sequence[float]) -> str:
    ratio, low, high = ratio_and_interval
    return f"{ratio:.3f} ({low:.3f}-{high:.3f})"


def table_row(benchmark: Benchmark, rounds: Sequence[list[float]]) -> str:
    milliseconds = [statistics.fmean(column) / 1e6 for column in zip(*rounds, strict=True)]
    port_to_original = mean_ratio(
        [math.sqrt(first * second) / original for first, second, original in rounds]
    )
    port_to_port = mean_ratio([second / first for first, second, _ in rounds])
    port_milliseconds = (milliseconds[0] + milliseconds[1]) / 2
    return (
        f"|{benchmark.workload}|{benchmark.mode}|{benchmark.batch}|{port_milliseconds:.1f}|"
        f"{milliseconds[2]:.1f}|{spelled(port_to_original)}|{spelled(port_to_port)}|"
    )


def measure_all(
    sides: Sides, benchmarks: list[Benchmark], options: argparse.Namespace
) -> list[list[list[float]]]:
    """Round after round of all benchmarks, so that whatever changes slowly hits all alike.
    Control-C leaves the rounds that are complete."""
    generator = random.Random(options.seed)
    rounds = []
    try:
        for number in range(options.rounds):
            medians = []
            for benchmark in benchmarks:
                show_progress(f"round {number + 1}: {benchmark}")
                medians.append(measured_round(sides, benchmark, options, generator))
                record(options.record, number, benchmark, medians[-1])
            rounds.append(medians)
    except KeyboardInterrupt:
        if len(rounds) < 2:
            raise
    show_progress("")
    return rounds


def record(path: Path | None, number: int, benchmark: Benchmark, medians: list[float]) -> None:
    if path:
        line = dict(
            asdict(benchmark),
            round=number + 1,
            **dict(zip(("port_ns", "port_again_ns", "original_ns"), medians, strict=True)),
        )
        with path.open("a") as file:
            print(json.dumps(line), file=file)


def show_progress(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{what}", end="", flush=True, file=sys.stderr)


def report(
    benchmarks: list[Benchmark],
    rounds: list[list[list[float]]],
    options: argparse.Namespace,
    load_before: float,
) -> None:
    print(
        f"{len(rounds)} rounds, {options.clock} time, load {load_before:.1f} before and "
        f"{os.getloadavg()[0]:.1f} after\n"
    )
    print("|workload|mode|batch|port ms|original ms|port / original (99 %)|port / port (99 %)|")
    print("|-|-|-|-|-|-|-|")
    for benchmark, rounds_of_benchmark in zip(benchmarks, zip(*rounds, strict=True), strict=True):
        print(table_row(benchmark, rounds_of_benchmark))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_programs(parser)
    add_measuring(parser)
    options = parser.parse_intermixed_args()
    if options.core not in os.sched_getaffinity(0):
        parser.error(f"--core {options.core} is not among those that this process may use")
    return options


def add_programs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("iterate", type=Path, metavar="ITERATE")
    parser.add_argument(
        "benchmarks",
        nargs="*",
        type=Benchmark.parse,
        metavar="NAME:MODE:BATCH",
        help="such as resnet18:train:2 (default: those of the table in README.md)",
    )
    parser.add_argument(
        "--python",
        type=Path,
        default=Path(sys.executable),
        help="one that has the originals' packages (default: this one)",
    )
    parser.add_argument(
        "--torchbench",
        type=Path,
        metavar="FOLDER",
        help="a checkout of pytorch/benchmark 73871abc, for models of its files",
    )


def add_measuring(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rounds", type=at_least_two, default=8, help="rounds of fresh processes, 2 or more (8)"
    )
    parser.add_argument("--seconds", type=float, default=3, help="for each process of a round (3)")
    parser.add_argument(
        "--clock",
        choices=CLOCKS,
        default="processor",
        help="processor: without what neighbours on the core took (default)",
    )
    parser.add_argument(
        "--core",
        type=int,
        default=max(os.sched_getaffinity(0)),
        help="to run on (default: the last)",
    )
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="gets a line of JSON with the medians of each round",
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the random order (1)")


def main() -> None:
    options = parse_arguments()
    benchmarks = options.benchmarks or BENCHMARKS
    load_before = os.getloadavg()[0]
    try:
        sides = Sides(options)
        os.sched_setaffinity(0, {options.core})
        rounds = measure_all(sides, benchmarks, options)
    except (CannotCompare, OSError) as reason:
        sys.exit(f"port_speed.py: {reason}")
    report(benchmarks, rounds, options, load_before)


if __name__ == "__main__":
    main()

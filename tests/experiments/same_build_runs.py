"""Processes of the runner as the service starts them, one beside or after the other, for
same_build.py."""

import argparse
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from port_speed import CannotCompare

# As library_placement.cpp has it; the rest is linked.
COPIED = ("libtorch_cpu.so", "libtorch.so", "libc10.so", "libgomp")
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


class Machine:
    """Starts the runner's processes as the service does: each in a session of its own, with a fixed
    environment and the libraries of one folder."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._folder = options.folder.resolve()
        self.placing_seconds = 0.0
        self.crossed = False  # each side has the files of the other

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
        if self.crossed:
            side = {"a": "b", "b": "a"}[side]
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

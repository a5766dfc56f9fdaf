"""Runs of a comparison: attempts, results, values, and samples of the newest."""

import hashlib
import math
import random
import sqlite3
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from insert import add
from levels import Levels
from plan import MACHINES, Benchmark, Plan

SAMPLES = 30  # of a timed run
LEVELS = 12  # of a memory run
BATCH = 16  # items
# Slots of a pass: baseline, candidate, candidate, baseline; older nightlies keep a run a side.
POSITIONS = {True: (0, 1, 1, 0), False: (0, 1)}
RUN_MILLIS = 400
Table = list[tuple[Any, ...]]


def digest_of_facts(facts: dict[str, str]) -> str:
    text = "".join(
        f"{len(part.encode())}:{part}" for fact in sorted(facts.items()) for part in fact
    )
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Work:
    """What a comparison measures, and when."""

    comparison: int
    nightly: int  # on whose day and machine
    builds: tuple[int, int]  # baseline and candidate
    sides: tuple[Levels, Levels]
    benchmarks: list[Benchmark]
    begun: int
    passes: tuple[str, ...] = ("timing", "memory")


class Runs:
    def __init__(
        self,
        file: sqlite3.Connection,
        plan: Plan,
        generator: random.Random,
        builds: list[str],
        sampled: int,
    ) -> None:
        """builds: the commit of each nightly; sampled: how many of the newest keep samples."""
        self.file, self.plan, self.generator, self.builds = file, plan, generator, builds
        self.sampled_from = len(plan.nightlies) - sampled
        self.conditions = random.Random(len(plan.nightlies))
        self.attempt = 0
        self.environments: dict[tuple[int, int, str], int] = {}

    def write(self, work: Work) -> None:
        has_samples = work.nightly >= self.sampled_from
        first = self.attempt + 1
        attempts: Table = []
        results: Table = []
        values: Table = []
        samples: Table = []
        conditions: Table = []
        for each, name, place, side in self._slots(work, has_samples):
            self.attempt += 1
            number = self.attempt
            token = f"{number:032x}"
            is_lost = each.id in work.sides[side].lost
            at = work.begun + (number - first) * RUN_MILLIS
            attempts.append(
                (
                    number,
                    token,
                    1,
                    work.comparison,
                    f"{name}/{each.workload} {each.configuration}/screen/0/{place}",
                    work.builds[side],
                    each.id,
                    name,
                    "failed" if is_lost else "done",
                    "killed by signal 11 (SIGSEGV)" if is_lost else "",
                    at,
                    at + RUN_MILLIS * 9 // 10,
                )
            )
            if is_lost:
                continue
            leak = int(work.sides[side].leak[each.id])
            kept = (leak, leak * LEVELS) if name == "memory" else (None, None)
            environment = self._environment(work.nightly, work.builds[side], name)
            results.append((number, "ok", environment, 1, *kept))
            run = self._values(each, name, work.sides[side].factor[each.id], leak)
            values += [(each.id, metric, number, value) for metric, value in run.items()]
            if has_samples:
                samples += self._samples(number, each, run, leak)
            if self.plan.is_last_of_its_machine(work.nightly):
                conditions += self._conditions(number, name)
        self._store(attempts, results, values, samples)
        add(self.file, "covariate", conditions, "attempt_id, name, value")
        self._count(work.nightly, first)

    def _slots(self, work: Work, has_samples: bool) -> Iterator[tuple[Benchmark, str, int, int]]:
        """Benchmark, pass, place and side of each run."""
        for each in work.benchmarks:
            if each.supported:
                for name in work.passes:
                    for place, side in enumerate(POSITIONS[has_samples]):
                        yield each, name, place, side

    def _conditions(self, attempt: int, name: str) -> Iterator[tuple[int, str, int]]:
        """What a run states of its machine, whose page shows it of the newest."""
        busy = self.conditions.random()
        stated = {
            "temperature_milli": int(47_000 + 9_000 * busy),
            "load1_milli": int(980 + 400 * busy),
            "wall_ns": RUN_MILLIS * 900_000,
            "steal_ticks": 0,
            "minor_faults": int(21_000 + 900 * busy),
            "involuntary_switches": int(40 * busy),
        }
        if name == "timing":
            stated["calibration_arithmetic_ns"] = int(352_000 + 9_000 * busy)
            stated["calibration_copy_ns"] = int(371_000 + 40_000 * busy)
        for fact, value in stated.items():
            yield attempt, fact, value

    def _environment(self, nightly: int, build: int, name: str) -> int:
        """That of a run of this pass with that build."""
        key = (self.plan.machine_of(nightly), build, name)
        if key not in self.environments:
            self.environments[key] = self._store_environment(*key)
        return self.environments[key]

    def _store_environment(self, machine: int, build: int, name: str) -> int:
        facts = {
            **MACHINES[machine],
            "build.library.libtorch_cpu.so": self.builds[build - 1],
            "cpu_capability": "AVX2",
            "heap": "glibc, fixed thresholds" if name == "timing" else "glibc",
            "placement": "core 31 of 32" if name == "timing" else "not pinned: no timing pass",
            "sandbox": "bubblewrap",
            "threads": "1",
        }
        digest = digest_of_facts(facts)
        number = len(self.environments) + 1
        add(
            self.file,
            "environment",
            [(number, digest, machine + 1)],
            "id, digest, machine_id",
        )
        add(
            self.file,
            "environment_fact",
            [(number, *fact) for fact in facts.items()],
            "environment_id, name, value",
        )
        return number

    def _values(self, each: Benchmark, name: str, factor: float, leak: int) -> dict[str, int]:
        if name == "timing":
            noise = math.exp(self.generator.gauss(0, each.spread))
            time = int(each.time_ns * factor * noise)
            beside = {"first_iteration": 9 * time, "throughput": BATCH * 10**12 // time}
            return (
                {"time": time}
                | beside
                | ({"device_time": time * 19 // 20} if each.device == "cuda" else {})
            )
        own = {"cpu_peak": each.peak_bytes, "leak_growth": leak}
        own["leak_retained"] = leak * LEVELS
        if each.device == "cuda":
            return own | {"device_peak": each.peak_bytes * 2}
        resident = int(each.peak_bytes * (1.3 + self.generator.gauss(0, 0.003)))
        return own | {"cpu_peak_resident": resident // 4096 * 4096, "heap_growth": 0}

    def _samples(
        self, attempt: int, each: Benchmark, run: dict[str, int], leak: int
    ) -> Iterator[tuple[Any, ...]]:
        def row(kind: str, numbers: list[int]) -> tuple[Any, ...]:
            data = struct.pack(f"<{len(numbers)}q", *numbers)
            return attempt, kind, data, hashlib.sha256(data).hexdigest()

        if "time" in run:
            spread = each.spread / 2
            wall = [
                int(run["time"] * math.exp(self.generator.gauss(0, spread))) for _ in range(SAMPLES)
            ]
            yield row("wall_ns", wall)
            if each.device == "cuda":
                yield row("device_ns", [value * 19 // 20 for value in wall])
            return
        base = each.peak_bytes // 2
        yield row("live_bytes", [base + leak * place for place in range(LEVELS)])

    def _store(self, attempts: Table, results: Table, values: Table, samples: Table) -> None:
        add(
            self.file,
            "attempt",
            attempts,
            "id, token, fence, comparison_id, slot, build_id, benchmark_id, pass, state, reason,"
            " issued_at, ended_at",
        )
        add(
            self.file,
            "result",
            results,
            "attempt_id, status, environment_id, iterations_per_sample, leak_growth, leak_retained",
        )
        values.sort()
        add(self.file, "value", values, "benchmark_id, metric, attempt_id, value")
        add(self.file, "sample", samples, "attempt_id, kind, data, digest")

    def _count(self, nightly: int, first: int) -> None:
        self.file.execute(
            "UPDATE machine SET runs = runs + ?, first_attempt_id = ifnull(first_attempt_id, ?),"
            " last_attempt_id = ? WHERE id = ?",
            (self.attempt - first + 1, first, self.attempt, self.plan.machine_of(nightly) + 1),
        )

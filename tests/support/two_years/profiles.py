"""What builds do beside being timed, for pictures: shares of a GPU's time, operators, traces."""

import gzip
import hashlib
import json
import random
import sqlite3
from pathlib import Path
from typing import Any

from insert import add

OPERATORS = ("addmm", "convolution", "relu", "native_layer_norm", "embedding", "bmm", "softmax")
RARE = ("_embedding_bag", "grid_sampler_2d", "lstm", "roi_align", "fft_rfft", "cumsum", "cdist")
HOUR_MILLIS = 3_600_000
# Operators that a build's dispatcher knows, by namespace.
REGISTERED = {
    "aten": 2214,
    "prims": 117,
    "quantized": 138,
    "_quantized": 9,
    "inductor": 6,
    "profiler": 4,
}


def trace(name: str, generator: random.Random) -> bytes:
    events: list[dict[str, Any]] = []
    at = 0.0
    for _ in range(300):
        length = generator.uniform(5, 90)
        operator = f"aten::{generator.choice(OPERATORS)}"
        events.append({"ph": "X", "name": operator, "pid": 0, "tid": 1, "ts": at, "dur": length})
        at += length + generator.uniform(0, 4)
    events.insert(0, {"ph": "X", "name": name, "pid": 0, "tid": 0, "ts": 0, "dur": at})
    return gzip.compress(json.dumps({"traceEvents": events}).encode(), mtime=0)


class Profiles:
    def __init__(self, file: sqlite3.Connection, folder: Path) -> None:
        """folder: of the traces."""
        self.file, self.folder = file, folder
        self.attempt = self._one("SELECT max(id) FROM attempt")
        self.comparison = self._one("SELECT max(id) FROM comparison")
        self.at = self._one("SELECT max(ended_at) FROM comparison") + HOUR_MILLIS

    def write(self) -> None:
        """What the newest two nightlies do, and both builds of the newest incident."""
        newest = "SELECT candidate_id FROM comparison WHERE purpose = 'nightly' ORDER BY id DESC"
        builds = {build for (build,) in self.file.execute(newest + " LIMIT 2")}
        incident = self._one("SELECT comparison_id FROM incident ORDER BY id DESC LIMIT 1")
        compared = "SELECT candidate_id, baseline_id FROM comparison WHERE id = ?"
        builds.update(*self.file.execute(compared, (incident,)))
        for build in sorted(builds):
            self._measure(build)

    def _one(self, query: str) -> int:
        return int(self.file.execute(query).fetchone()[0])

    def _measure(self, build: int) -> None:
        self.comparison += 1
        columns = (
            "id, purpose, candidate_id, repetition, opens_incidents, state, reason, created_at,"
        )
        row = (self.comparison, "measurement", build, self.comparison, 0, "accepted", "", self.at)
        add(self.file, "comparison", [(*row, self.at + 1)], columns + " ended_at")
        benchmarks = self.file.execute(
            "SELECT id, workload, configuration FROM benchmark WHERE id IN"
            " (SELECT benchmark_id FROM attempt WHERE build_id = ? AND state = 'done')",
            (build,),
        ).fetchall()
        for number, workload, configuration in benchmarks:
            # What a model does is its own: nearly the same with each build.
            generator = random.Random(f"{workload} {configuration}")
            self._profile(build, number, f"{workload} {configuration}", generator)
            self._cover(build, number, f"{workload} {configuration}", generator)

    def _run(self, build: int, benchmark: int, slot: str, name: str) -> str:
        self.attempt += 1
        token = hashlib.sha256(f"{self.attempt}".encode()).hexdigest()[:32]
        columns = "id, token, fence, comparison_id, slot, build_id, benchmark_id, pass, state,"
        row = (self.attempt, token, 1, self.comparison, slot, build, benchmark, name, "done")
        add(self.file, "attempt", [(*row, self.at, self.at + 1)], columns + " issued_at, ended_at")
        return token

    def _result(self, further: dict[str, Any]) -> None:
        row = {"attempt_id": self.attempt, "status": "ok", "environment_id": 1}
        row |= {"iterations_per_sample": 1, **further}
        add(self.file, "result", [tuple(row.values())], ", ".join(row))

    def _profile(self, build: int, benchmark: int, name: str, generator: random.Random) -> None:
        token = self._run(build, benchmark, f"alone/profile/{name}/0", "profile")
        if " cuda-" in name:
            active, copy = generator.uniform(0.3, 0.9), generator.uniform(0, 0.08)
            active *= random.Random(f"{build} {name}").uniform(0.97, 1)
            whole = 10_000_000
            shares = {"active_ns": int(active * whole), "copy_ns": int(copy * whole)}
            idle = whole - sum(shares.values())
            self._result({**shares, "idle_ns": idle})
        else:
            self._result({"breakdown_reason": "a run on the CPU has no device"})
        (self.folder / f"{token}.json.gz").write_bytes(trace(name, generator))

    def _cover(self, build: int, benchmark: int, name: str, generator: random.Random) -> None:
        self._run(build, benchmark, f"alone/coverage/{name}/0", "coverage")
        self._result({})
        called = [*OPERATORS[: generator.randint(2, 7)], *generator.sample(RARE, 1)]
        rows = [(self.attempt, f"aten::{each}", generator.randint(1, 90)) for each in called]
        add(self.file, "operator", rows, "attempt_id, name, calls")
        known = [
            (self.attempt, f"operators_registered.{space}", count)
            for space, count in REGISTERED.items()
        ]
        add(self.file, "covariate", known, "attempt_id, name, value")


def write(folder: Path) -> None:
    """Adds them to the database that make.py made in the folder, unless an earlier call did."""
    traces = folder / "state" / "traces"
    if traces.exists():
        return
    traces.mkdir()
    with sqlite3.connect(folder / "state" / "torchwatch.sqlite") as file:
        Profiles(file, traces).write()
    file.close()

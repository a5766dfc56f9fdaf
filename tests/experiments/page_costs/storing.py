"""Stores a comparison of the whole suite over and over, as the daemon does: run by run."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import Event, Process, Value
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event as Signal
from pathlib import Path

RUNS_PER_SECOND = 5
# Verdicts of the whole suite are then stored every twenty seconds: in one transaction, as after a
# comparison's five thousand runs.
RUNS_OF_A_COMPARISON = 100
ATTEMPT = (
    "INSERT INTO attempt (token, fence, comparison_id, slot, build_id, benchmark_id, pass, state,"
    " issued_at) SELECT ?1 || token, fence, ?2, slot, build_id, benchmark_id, pass, 'issued',"
    " issued_at FROM attempt WHERE id = ?3"
)
DONE = "UPDATE attempt SET state = 'done', ended_at = issued_at + 1 WHERE id = ?"
RESULT = (
    "INSERT INTO result (attempt_id, status, environment_id, iterations_per_sample,"
    " leak_growth, leak_retained) SELECT ?1, status, environment_id, iterations_per_sample,"
    " leak_growth, leak_retained FROM result WHERE attempt_id = ?2"
)
VALUES = (
    "INSERT INTO value (benchmark_id, metric, attempt_id, value)"
    " SELECT benchmark_id, metric, ?1, value FROM value WHERE attempt_id = ?2"
)
SAMPLES = (
    "INSERT INTO sample (attempt_id, kind, data, digest)"
    " SELECT ?1, kind, data, digest FROM sample WHERE attempt_id = ?2"
)
COMPARISON = (
    "INSERT INTO comparison (candidate_id, baseline_id, opens_incidents, plan_json, created_at,"
    " confidence, purpose, repetition, state) SELECT candidate_id, baseline_id, 0, plan_json,"
    " created_at, confidence, 'requested', ?1, 'ready' FROM comparison WHERE id = ?2"
)
VERDICTS = (
    "INSERT INTO verdict (comparison_id, benchmark_id, metric, verdict, ratio, interval_low,"
    " interval_high, baseline_value, candidate_value, baseline_spread, candidate_spread, runs,"
    " reason) SELECT ?1, benchmark_id, metric, verdict, ratio, interval_low, interval_high,"
    " baseline_value, candidate_value, baseline_spread, candidate_spread, runs, reason"
    " FROM verdict WHERE comparison_id = ?2"
)


class Storing:
    """Copies the newest comparison into one that was asked for."""

    def __init__(self, database: Path) -> None:
        # Transactions are begun and ended here, each with the sync that the service has, too.
        self.file = sqlite3.connect(database, timeout=60, isolation_level=None)
        self.file.execute("PRAGMA synchronous = FULL")
        (self.source,) = self.file.execute(
            "SELECT max(id) FROM comparison WHERE purpose = 'nightly'"
        ).fetchone()
        rows = self.file.execute(
            "SELECT id FROM attempt WHERE comparison_id = ? AND state = 'done' ORDER BY id",
            (self.source,),
        )
        self.attempts = [number for (number,) in rows]

    def transact(self, *statements: tuple[str, tuple[object, ...]]) -> int:
        """Returns the id of the row that was inserted last."""
        self.file.execute("BEGIN IMMEDIATE")
        last = 0
        for text, values in statements:
            last = self.file.execute(text, values).lastrowid or last
        self.file.execute("COMMIT")
        return last

    def begin(self) -> int:
        repetition = time.time_ns() // 1_000_000_000
        return self.transact((COMPARISON, (repetition, self.source)))

    def store_run(self, comparison: int, of: int) -> None:
        token = f"{comparison}-"
        number = self.transact((ATTEMPT, (token, comparison, of)))
        stored = ((text, (number, of)) for text in (RESULT, VALUES, SAMPLES))
        self.transact((DONE, (number,)), *stored)

    def end(self, comparison: int) -> None:
        """All verdicts at once, as the judge stores them."""
        ended = "UPDATE comparison SET state = 'reported', ended_at = created_at + 1 WHERE id = ?"
        self.transact((VERDICTS, (comparison, self.source)), (ended, (comparison,)))


def _store(database: Path, stop: Signal, runs: "Synchronized[int]") -> None:
    storing = Storing(database)
    due = time.monotonic()
    while not stop.is_set():
        comparison = storing.begin()
        for of in storing.attempts[:RUNS_OF_A_COMPARISON]:
            due += 1 / RUNS_PER_SECOND
            if stop.wait(max(0, due - time.monotonic())):
                break
            storing.store_run(comparison, of)
            runs.value += 1
        storing.end(comparison)


@contextmanager
def storing_into(database: Path) -> Iterator["Synchronized[int]"]:
    """Counts the runs that were stored."""
    stop, runs = Event(), Value("i", 0)
    process = Process(target=_store, args=(database, stop, runs))
    process.start()
    try:
        yield runs
    finally:
        stop.set()
        process.join()
    if process.exitcode != 0:
        raise RuntimeError("nothing was stored meanwhile: see above")

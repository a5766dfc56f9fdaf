"""A build that machines of another class have measured as well, for the page of both."""

import hashlib
import math
import random
import sqlite3
from pathlib import Path

from insert import add
from plan import MACHINES
from rows import lines_of
from runs import digest_of_facts

MACHINE = MACHINES[-1] | {"cpu_model": "Example CPU 9654", "cpus": "96"}
CLASS = {name: MACHINE[name] for name in ("cpu_model", "cpus")}
MODELS = 9  # the last ones by their names
RUNS = 6  # of each class
HOUR_MILLIS = 3_600_000


class Elsewhere:
    def __init__(self, file: sqlite3.Connection) -> None:
        self.file = file
        self.attempt = self._one("SELECT max(id) FROM attempt")
        self.at = self._one("SELECT max(ended_at) FROM comparison") + HOUR_MILLIS
        self.build = self._one(
            "SELECT candidate_id FROM comparison WHERE purpose = 'nightly' ORDER BY id DESC LIMIT 1"
        )
        self.comparison = self._one("SELECT max(id) FROM comparison") + 1
        stated = "SELECT max(attempt_id) FROM covariate WHERE name = 'calibration_copy_ns'"
        self.conditions = self.file.execute(
            f"SELECT name, value FROM covariate WHERE attempt_id = ({stated})"  # noqa: S608 (ours)
        ).fetchall()

    def write(self) -> None:
        """The newest nightly, measured on both; last on the class that has its history."""
        columns = (
            "id, purpose, candidate_id, repetition, opens_incidents, state, reason, created_at,"
        )
        row = (self.comparison, "measurement", self.build, self.comparison, 0, "accepted", "")
        add(self.file, "comparison", [(*row, self.at, self.at + 1)], columns + " ended_at")
        there, here = self._machine(), len(MACHINES)
        for benchmark, name, time in self._levels():
            generator = random.Random(name)
            faster = generator.uniform(0.45, 1.1)
            for machine, level in ((there, time * faster), (here, time)):
                for number in range(RUNS):
                    noise = math.exp(generator.gauss(0, 0.008))
                    slot = f"alone/timing/{name}/{machine}-{number}"
                    self._run(benchmark, slot, machine, int(level * noise))

    def _one(self, query: str) -> int:
        return int(self.file.execute(query).fetchone()[0])

    def _levels(self) -> list[tuple[int, str, float]]:
        """Benchmarks of a CPU with their names and times, as the build's newest runs have them."""
        return self.file.execute(
            "SELECT benchmark.id, workload || ' ' || configuration, avg(value.value) FROM benchmark"
            " JOIN value ON value.benchmark_id = benchmark.id AND metric = 'time'"
            " JOIN attempt ON attempt.id = attempt_id AND build_id = ?"
            " WHERE configuration LIKE 'cpu-%' GROUP BY 1 ORDER BY 2 DESC LIMIT ?",
            (self.build, 2 * MODELS),
        ).fetchall()

    def _machine(self) -> int:
        number = len(MACHINES) + 1
        name = f"{CLASS['cpu_model']}, {CLASS['cpus']} cores"
        add(self.file, "machine_class", [(2, name, lines_of(CLASS))], "id, name, facts")
        add(self.file, "machine", [(number, lines_of(MACHINE), 2)], "id, facts, class_id")
        return number

    def _environment(self, machine: int) -> int:
        """That of the machine's runs."""
        facts = (MACHINE if machine > len(MACHINES) else MACHINES[machine - 1]) | {"threads": "1"}
        digest = digest_of_facts(facts)
        found = self.file.execute("SELECT id FROM environment WHERE digest = ?", (digest,))
        for (known,) in found.fetchall():
            return int(known)
        number = self._one("SELECT max(id) FROM environment") + 1
        add(self.file, "environment", [(number, digest, machine)], "id, digest, machine_id")
        rows = [(number, *fact) for fact in facts.items()]
        add(self.file, "environment_fact", rows, "environment_id, name, value")
        return number

    def _run(self, benchmark: int, slot: str, machine: int, time: int) -> None:
        self.attempt += 1
        token = hashlib.sha256(f"{self.attempt}".encode()).hexdigest()[:32]
        columns = "id, token, fence, comparison_id, slot, build_id, benchmark_id, pass, state,"
        row = (self.attempt, token, 1, self.comparison, slot, self.build, benchmark, "timing")
        times = (self.at, self.at + 1)
        add(self.file, "attempt", [(*row, "done", *times)], columns + " issued_at, ended_at")
        result = (self.attempt, "ok", self._environment(machine), 1)
        columns = "attempt_id, status, environment_id, iterations_per_sample"
        add(self.file, "result", [result], columns)
        values = [(benchmark, "time", self.attempt, time)]
        add(self.file, "value", values, "benchmark_id, metric, attempt_id, value")
        stated = [(self.attempt, *each) for each in self.conditions]
        add(self.file, "covariate", stated, "attempt_id, name, value")
        self.file.execute(
            "UPDATE machine SET runs = runs + 1, last_attempt_id = ?1,"
            " first_attempt_id = ifnull(first_attempt_id, ?1) WHERE id = ?2",
            (self.attempt, machine),
        )


def write(folder: Path) -> None:
    """Adds it to the database that make.py made in the folder, unless an earlier call did."""
    with sqlite3.connect(folder / "state" / "torchwatch.sqlite") as file:
        (classes,) = file.execute("SELECT count(*) FROM machine_class").fetchone()
        if classes == 1:
            Elsewhere(file).write()
    file.close()

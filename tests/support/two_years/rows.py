"""Writes what happened as rows of the service's database, whose tables are there."""

import hashlib
import json
import random
import sqlite3
from typing import Any

import searches
from incidents import Incidents
from insert import add
from levels import Levels
from plan import MACHINES, Plan, millis
from runs import Runs
from verdicts import Verdicts


def lines_of(facts: dict[str, str]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in sorted(facts.items()))


class Rows:
    def __init__(
        self, file: sqlite3.Connection, plan: Plan, days: list[list[str]], seed: int, sampled: int
    ) -> None:
        self.file, self.plan, self.days = file, plan, days
        self.sampled_from = len(plan.nightlies) - sampled
        generator = random.Random(seed + 1)
        self.levels = Levels(plan.benchmarks)
        self.runs = Runs(file, plan, generator, [day[-1] for day in days], sampled)
        self.verdicts = Verdicts(file, plan, generator)
        self.incidents = Incidents(file, plan, days)

    def write(self) -> None:
        self._benchmarks()
        self._builds()
        self._machines()
        for nightly in range(len(self.plan.nightlies)):
            self._nightly(nightly)

    def _benchmarks(self) -> None:
        add(
            self.file,
            "benchmark",
            [(b.id, b.workload, b.configuration, "default") for b in self.plan.benchmarks],
            "id, workload, configuration, variant",
        )

    def _builds(self) -> None:
        rows = []
        for number, day in enumerate(self.plan.nightlies):
            sha = self.days[number][-1]
            name, content = day.isoformat(), hashlib.sha256(sha.encode()).hexdigest()
            version = f"2.14.0.dev{day:%Y%m%d}+cpu"
            folder = f"nightlies/{name}"
            rows.append(
                (number + 1, "nightly", name, version, sha, sha, content, folder, "ready", number)
            )
        add(
            self.file,
            "build",
            rows,
            "id, origin, name, version, embedded_commit, trunk_commit, content_hash, folder, state,"
            " place",
        )

    def _machines(self) -> None:
        """Two of one class: the kernel is another one."""
        processor = {name: MACHINES[0][name] for name in ("cpu_model", "cpus")}
        name = f"{processor['cpu_model']}, {processor['cpus']} cores"
        add(self.file, "machine_class", [(1, name, lines_of(processor))], "id, name, facts")
        for number, facts in enumerate(MACHINES, start=1):
            add(self.file, "machine", [(number, lines_of(facts), 1)], "id, facts, class_id")

    def _nightly(self, nightly: int) -> None:
        begun = millis(self.plan.nightlies[nightly], 3600)
        if nightly == 0:
            why = "the oldest nightly known: nothing to compare it with"
            self._comparison((1, "nightly", 1, None, 0, 0, "accepted", "", why, begun, begun, None))
            return
        before = self.levels.copy()
        changes = self.plan.by_nightly.get(nightly, [])
        for change in changes:
            self.levels.apply(change)
        for change in self.plan.ending.get(nightly, []):
            self.levels.undo(change)
        is_sampled = nightly >= self.sampled_from
        measured = [each for each in self.plan.benchmarks if each.supported]
        plan = json.dumps(searches.plan_json(measured)) if is_sampled else ""
        ended = begun + len(measured) * 4000
        pair = (nightly + 1, "nightly", nightly + 1, nightly)
        self._comparison((*pair, 0, 1, "reported", plan, "", begun, ended, 0.99))
        self.runs.write(nightly, begun, (before, self.levels))
        self.verdicts.write(nightly, (before, self.levels), is_sampled)
        for change in changes:
            self.incidents.write(change, ended)

    def _comparison(self, row: tuple[Any, ...]) -> None:
        add(
            self.file,
            "comparison",
            [row],
            "id, purpose, candidate_id, baseline_id, repetition, opens_incidents, state, plan_json,"
            " reason, created_at, ended_at, confidence",
        )

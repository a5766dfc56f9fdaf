"""Writes what happened as rows of the service's database, whose tables are there."""

import hashlib
import json
import random
import sqlite3
from dataclasses import replace
from typing import Any

import files
import searches
import source
from incidents import Incidents
from insert import add
from levels import Levels
from plan import DRILL_EVERY, MACHINES, Plan, millis
from runs import Runs, Work
from verdicts import Verdicts

AUDIT_MILLIS = 240_000  # of a self-test or a drill
SEARCHES_KEPT = 3  # whose builds are known
PLANTED = 0.14  # by what share a drill slows down its candidate


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
        self.measured = [each for each in plan.benchmarks if each.supported]

    def write(self) -> None:
        self._benchmarks()
        self._builds()
        self._machines()
        for nightly in range(len(self.plan.nightlies)):
            self._nightly(nightly)
        self._builds_of_commits()

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
            folder = files.folder_of(name)
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

    def _builds_of_commits(self) -> None:
        """Those that the newest searches made."""
        changes = [each for each in self.plan.changes if each.kind != "lost"][-SEARCHES_KEPT:]
        rows = {}
        for change in changes:
            day = self.days[change.nightly]
            for kind, body in searches.events(change, day)[0]:
                if kind == "built":
                    built = json.loads(body)
                    sha, content = built["commit"], built["content_hash"]
                    folder = files.folder_of(sha[:20], "commits")
                    rows[sha] = ("commit", sha, "", sha, sha, content, folder, "ready", 0)
        add(
            self.file,
            "build",
            list(rows.values()),
            "origin, name, version, embedded_commit, trunk_commit, content_hash, folder, state,"
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
        work = Work(
            self.plan.comparison_of(nightly),
            nightly,
            (nightly, nightly + 1),
            (before, self.levels),
            self.plan.benchmarks,
            begun,
        )
        ended = begun + len(self.measured) * 4000
        self._measure(work, "nightly", ended)
        counted = (work.comparison, source.can_matter(nightly, self.plan))
        add(self.file, "trunk_range", [counted], "comparison_id, can_matter")
        for change in changes:
            self.incidents.write(change, ended)
        self._tests_of_service(work, ended)

    def _tests_of_service(self, work: Work, begun: int) -> None:
        """The self-test of a nightly and its drill, each of one benchmark. One self-test in forty
        raises a false alarm, and one drill in nine is missed."""
        build = work.builds[1]
        own = replace(
            work,
            comparison=work.comparison + 1,
            builds=(build, build),
            sides=(self.levels, self._slowed(1.06 if work.nightly % 40 == 23 else 1.0)),
            benchmarks=[self.measured[work.nightly % len(self.measured)]],
            begun=begun,
        )
        self._measure(own, "self_test", begun + AUDIT_MILLIS)
        if not self.plan.has_drill(work.nightly):
            return
        number = work.nightly // DRILL_EVERY
        drill = replace(
            own,
            comparison=own.comparison + 1,
            sides=(self.levels, self._slowed(1.0 if number % 9 == 4 else 1 + PLANTED)),
            benchmarks=[self.measured[number % len(self.measured)]],
            begun=begun + AUDIT_MILLIS,
            passes=("timing",),
        )
        self._measure(drill, "drill", drill.begun + AUDIT_MILLIS)

    def _slowed(self, factor: float) -> Levels:
        slowed = self.levels.copy()
        slowed.factor = {number: level * factor for number, level in slowed.factor.items()}
        return slowed

    def _measure(self, work: Work, purpose: str, ended: int) -> None:
        is_nightly, is_sampled = purpose == "nightly", work.nightly >= self.sampled_from
        supported = [each for each in work.benchmarks if each.supported]
        plan = searches.plan_json(supported) | {"passes": work.passes}
        if purpose == "drill":
            plan["planted_slowdown"] = PLANTED
        kept = json.dumps(plan) if is_sampled or not is_nightly else ""
        asked = (work.comparison, purpose, work.builds[1], work.builds[0], 0, int(is_nightly))
        self._comparison((*asked, "reported", kept, "", work.begun, ended, 0.99))
        self.runs.write(work)
        self.verdicts.write(work, is_sampled)

    def _comparison(self, row: tuple[Any, ...]) -> None:
        add(
            self.file,
            "comparison",
            [row],
            "id, purpose, candidate_id, baseline_id, repetition, opens_incidents, state, plan_json,"
            " reason, created_at, ended_at, confidence",
        )

"""Work and messages that wait, and series that are muted. Nobody does the work while the machine
lock is held; without [github] nobody sends the messages."""

import hashlib
import json
import sqlite3
from pathlib import Path

from insert import add

MINUTE_MILLIS = 60_000
DAY_MILLIS = 1440 * MINUTE_MILLIS
FULL = "less than [build] disk_reserve is free on the disk of the cache: 1.2 GiB of 20 GiB"


class Waiting:
    def __init__(self, file: sqlite3.Connection) -> None:
        self.file = file
        (self.now,) = file.execute("SELECT max(ended_at) FROM comparison").fetchone()
        self.candidate, self.baseline = file.execute(
            "SELECT candidate_id, baseline_id FROM comparison WHERE purpose = 'nightly'"
            " ORDER BY id DESC LIMIT 1"
        ).fetchone()

    def write(self) -> None:
        """A comparison of each purpose that waits, of which one was put off, and requests."""
        incident = self.file.execute(
            "SELECT incident.id, candidate_id, baseline_id FROM incident"
            " JOIN comparison ON comparison.id = comparison_id ORDER BY incident.id DESC LIMIT 1"
        ).fetchone()
        if incident:
            number, candidate, baseline = incident
            self._compare("recheck", candidate, baseline, incident=number)
            self._say(number)
        drift = self._compare("drift", self.candidate, 1, nightlies_back=self.candidate - 1)
        setback = ("comparison", str(drift), 1, 2, self.now, self.now + 30 * MINUTE_MILLIS, FULL)
        columns = "kind, item, tries, setbacks, since, not_before, error"
        add(self.file, "setback", [setback], columns)
        self._compare("requested", self.candidate, 1)
        self._requests()
        self._mute()

    def _compare(
        self,
        purpose: str,
        candidate: int,
        baseline: int,
        incident: int | None = None,
        nightlies_back: int = 0,
    ) -> int:
        self.now += MINUTE_MILLIS
        row = (purpose, candidate, baseline, 0, incident, nightlies_back, int(purpose == "drift"))
        add(
            self.file,
            "comparison",
            [(*row, "discovered", "", self.now)],
            "purpose, candidate_id, baseline_id, repetition, incident_id, nightlies_back,"
            " opens_incidents, state, reason, created_at",
        )
        return int(self.file.execute("SELECT max(id) FROM comparison").fetchone()[0])

    def _requests(self) -> None:
        names = dict(self.file.execute("SELECT id, name FROM build").fetchall())
        searched = {"good": names[self.baseline], "bad": names[self.candidate]}
        bodies = {
            "bisection": searched
            | {"workloads": [self._workload(0)], "mode": "train", "metric": "time"},
            "nightly": {"candidate": names[self.candidate], "baseline": names[self.baseline]},
        }
        rows = [
            (f"made-up-{kind}", kind, "pending", json.dumps(body), self.now, "on call")
            for kind, body in bodies.items()
        ]
        add(self.file, "request", rows, "delivery, kind, state, body_json, created_at, token")

    def _say(self, incident: int) -> None:
        title, body = "Still there", "Measured again: the change is still there."
        digest = hashlib.sha256(f"{title}\n{body}".encode()).hexdigest()
        row = (f"comment-made-up-{incident}", incident, "comment", title, body, digest, "pending")
        columns = "key, incident_id, kind, title, body, digest, state, not_before"
        add(self.file, "outbox", [(*row, self.now)], columns)

    def _mute(self) -> None:
        """One series until a later day, and all of a workload until a day that is over."""
        rows = [
            (f"{workload}/{rest}", self.now + days * DAY_MILLIS, "on call", reason, "", self.now)
            for workload, rest, days, reason in (
                (self._workload(1), "cpu-train/default/time", 60, "its data moved to another disk"),
                (self._workload(2), "*/*/*", -1, "a new version of the model is coming"),
            )
        ]
        add(self.file, "mute", rows, "target, until, made_by, reason, asked_by, made_at")

    def _workload(self, place: int) -> str:
        names = "SELECT DISTINCT workload FROM benchmark ORDER BY workload LIMIT 1 OFFSET ?"
        found = self.file.execute(names, (place,)).fetchone()
        return str(found[0]) if found else "resnet18"


def write(folder: Path) -> None:
    """Adds it to the database that make.py made in the folder, unless an earlier call did."""
    with sqlite3.connect(folder / "state" / "torchwatch.sqlite") as file:
        made = file.execute("SELECT 1 FROM request WHERE delivery LIKE 'made-up-%'").fetchone()
        if not made:
            Waiting(file).write()
    file.close()

"""Incidents with their searches, messages and decisions."""

import hashlib
import sqlite3
from typing import Any

import searches
from insert import add
from plan import Change, Plan, millis

SERIES = "benchmark_id, metric, ratio, interval_low, interval_high, baseline_value, candidate_value"
# Changes from this on stand without tenths in a title, and so long it may be.
TENTHS, TITLE_MAX = 1.0995, 80


class Incidents:
    def __init__(self, file: sqlite3.Connection, plan: Plan, days: list[list[str]]) -> None:
        """days: the commits of each nightly, oldest first."""
        self.file, self.plan, self.days = file, plan, days

    def write(self, change: Change, ended: int) -> None:
        nightly = self.plan.nightlies[change.nightly]
        series = self._series_of(change)
        title = self._title(change, series, str(nightly))
        is_closed = change.decision in ("closed", "accepted")
        closed = millis(self.plan.nightlies[change.end or change.nightly], 9 * 3600)
        key = f"{change.kind}-{change.number:016x}"
        row = (
            change.number,
            self.plan.comparison_of(change.nightly),
            key,
            change.kind,
            "closed" if is_closed else "acknowledged" if change.decision else "open",
            title,
            1000 + change.number,
            ended,
            closed if is_closed else None,
        )
        add(
            self.file,
            "incident",
            [row],
            "id, comparison_id, key, kind, state, title, issue_number, opened_at, closed_at",
        )
        add(
            self.file,
            "incident_series",
            [(change.number, ordinal, *each) for ordinal, each in enumerate(series)],
            "incident_id, ordinal, " + SERIES,
        )
        if change.kind != "lost":
            self._bisection(change, ended)
        self._message(change, key, title, ended)
        if change.decision:
            self._decision(change, closed if is_closed else ended)

    def _series_of(self, change: Change) -> list[tuple[Any, ...]]:
        """The figures of their verdicts, as the service copies them."""
        metric = searches.metric_of(change)
        comparison = self.plan.comparison_of(change.nightly)
        rows = f"SELECT {SERIES} FROM verdict WHERE comparison_id = ? AND benchmark_id = ?"  # noqa: S608
        return [
            self.file.execute(rows + " AND metric = ?", (comparison, each.id, metric)).fetchone()
            for each in change.benchmarks
        ]

    def _title(self, change: Change, series: list[tuple[Any, ...]], nightly: str) -> str:
        by = f" by {self.days[change.nightly][change.commit][:7]}"
        ratio, *_, before, after = max(each[2:] for each in series)
        what = {
            "regression": f"[perf] {100 * ratio - 100:+.{0 if ratio > TENTHS else 1}f} % time{by}",
            "leak": f"[leak] {after - before:+,.0f} bytes/iteration{by}",
            "lost": "[lost] no result",
        }[change.kind]
        where = [{each.workload for each in change.benchmarks}]
        where.append({each.configuration for each in change.benchmarks})
        names = [
            of.pop() if len(of) == 1 else f"{len(of)} {noun}s"
            for of, noun in zip(where, ("workload", "configuration"), strict=True)
        ]
        long = f"{what}: {', '.join(names)}, {nightly}"
        return long if len(long) <= TITLE_MAX else f"{what}: {names[0]}, {nightly}"

    def _bisection(self, change: Change, ended: int) -> None:
        day, good = self.days[change.nightly], self.days[change.nightly - 1][-1]
        parent = day[change.commit - 1] if change.commit else good
        steps, builds = searches.events(change, day)
        add(
            self.file,
            "bisection",
            [
                (
                    change.number,
                    change.number,
                    "ended",
                    good,
                    day[-1],
                    searches.specification(change, good, day[-1]),
                    searches.result(change, day, parent, builds),
                    ended - 1_800_000,
                    ended,
                )
            ],
            "id, incident_id, state, good, bad, spec_json, result_json, created_at, ended_at",
        )
        rows = [(change.number, ordinal, *step) for ordinal, step in enumerate(steps)]
        add(self.file, "bisection_event", rows, "bisection_id, ordinal, kind, body_json")
        self.file.execute("UPDATE incident SET bisection_id = id WHERE id = ?", (change.number,))

    def _message(self, change: Change, key: str, title: str, sent: int) -> None:
        body = f"What changed with `{self.plan.nightlies[change.nightly]}`.\n" * 40
        digest = hashlib.sha256(f"{title}\n{body}".encode()).hexdigest()
        row = (f"open-{key}-{change.number}", change.number, "open", title, body, digest)
        add(
            self.file,
            "outbox",
            [(*row, "sent", sent, 1000 + change.number, sent)],
            "key, incident_id, kind, title, body, digest, state, not_before, issue_number, sent_at",
        )

    def _decision(self, change: Change, at: int) -> None:
        add(
            self.file,
            "decision",
            [(change.number, change.decision, "on call", "the newer kernel is meant to", at)],
            "incident_id, kind, made_by, reason, made_at",
        )

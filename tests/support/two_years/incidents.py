"""Incidents with their searches, messages and decisions."""

import hashlib
import sqlite3

import searches
from insert import add
from plan import Change, Plan, millis


class Incidents:
    def __init__(self, file: sqlite3.Connection, plan: Plan, days: list[list[str]]) -> None:
        """days: the commits of each nightly, oldest first."""
        self.file, self.plan, self.days = file, plan, days

    def write(self, change: Change, ended: int) -> None:
        nightly = self.plan.nightlies[change.nightly]
        day = self.days[change.nightly]
        sha, names = day[change.commit], ", ".join(each.workload for each in change.benchmarks[:2])
        title = {
            "regression": f"[perf] {sha[:12]}: {100 * change.effect - 100:+.1f} % time, {names}",
            "leak": f"[leak] {sha[:12]}: {change.effect:+,.0f} bytes/iteration, {names}",
            "lost": f"[lost] {names}",
        }[change.kind] + f", {nightly}"
        is_closed = change.decision in ("closed", "accepted")
        closed = millis(self.plan.nightlies[change.end or change.nightly], 9 * 3600)
        key = f"{change.kind}-{change.number:016x}"
        row = (
            change.number,
            change.nightly + 1,
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
        self._series(change)
        if change.kind != "lost":
            self._bisection(change, ended)
        self._message(change, key, title, ended)
        if change.decision:
            self._decision(change, closed if is_closed else ended)

    def _series(self, change: Change) -> None:
        metric = searches.metric_of(change)
        rows = []
        for ordinal, each in enumerate(change.benchmarks):
            if metric == "time":
                old = each.time_ns
                effect = (
                    change.effect,
                    change.effect * 0.98,
                    change.effect * 1.02,
                    old,
                    old * change.effect,
                )
            else:
                effect = (0.0, 0.0, 0.0, 0.0, change.effect)
            if change.kind == "lost":
                effect = (0.0, 0.0, 0.0, each.time_ns, 0.0)
            rows.append((change.number, ordinal, each.id, metric, *effect))
        add(
            self.file,
            "incident_series",
            rows,
            "incident_id, ordinal, benchmark_id, metric, ratio, interval_low, interval_high,"
            " baseline_value, candidate_value",
        )

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

"""Verdicts of a comparison over the whole suite."""

import math
import random
import sqlite3

from insert import add
from levels import Levels
from plan import TIMES, Benchmark, Plan
from runs import LEVELS, Work

NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0)
Judged = tuple[str, str, tuple[float, ...]]  # verdict, reason, effect as the table has it


class Verdicts:
    def __init__(self, file: sqlite3.Connection, plan: Plan, generator: random.Random) -> None:
        self.file, self.plan, self.generator = file, plan, generator

    def write(self, work: Work, has_reasons: bool) -> None:
        """has_reasons: of what is unchanged, too."""
        rows = []
        for each in work.benchmarks:
            for metric in each.metrics:
                if metric not in TIMES and "memory" not in work.passes:
                    continue
                word, reason, effect = self._judged(each, metric, *work.sides)
                kept = reason if has_reasons or word != "unchanged" else ""
                rows.append((work.comparison, each.id, metric, word, *effect, kept))
        add(
            self.file,
            "verdict",
            rows,
            "comparison_id, benchmark_id, metric, verdict, ratio, interval_low, interval_high,"
            " baseline_value, candidate_value, baseline_spread, candidate_spread, runs, reason",
        )

    def _judged(self, each: Benchmark, metric: str, before: Levels, after: Levels) -> Judged:
        if not each.supported:
            return "unsupported", "the original refuses this configuration", NOTHING
        if each.id in before.lost | after.lost:
            old = 0.0 if each.id in before.lost else self._value(each, metric, before)
            effect = (0.0, 0.0, 0.0, old, 0.0, 0.0, 0.0, 4)
            return "failed", "killed by signal 11 (SIGSEGV)", effect
        if metric in TIMES:
            return self._judged_time(each, before.factor[each.id], after.factor[each.id])
        old, new = self._value(each, metric, before), self._value(each, metric, after)
        if metric in ("leak_growth", "leak_retained"):
            word = "unchanged" if old == new else "regressed" if new > old else "improved"
            return word, f"{new - old:+.0f} bytes", (0.0, 0.0, 0.0, old, new, 0.0, 0.0, 4)
        ratio = 0.0 if metric == "heap_growth" else 1.0
        return "unchanged", "+0.0 %", (ratio, ratio, ratio, old, new, 0.0, 0.0, 4)

    def _value(self, each: Benchmark, metric: str, levels: Levels) -> float:
        if metric in TIMES:
            return each.time_ns * levels.factor[each.id]
        if metric in ("leak_growth", "leak_retained"):
            return levels.leak[each.id] * (1 if metric == "leak_growth" else LEVELS)
        return 0.0 if metric == "heap_growth" else float(each.peak_bytes)

    def _judged_time(self, each: Benchmark, old: float, new: float) -> Judged:
        true = new / old
        error = min(each.spread, 0.02) / 2
        ratio = true * math.exp(max(-2.5, min(2.5, self.generator.gauss(0, 1))) * error)
        low, high = ratio * math.exp(-2.6 * error), ratio * math.exp(2.6 * error)
        word = "regressed" if true > 1.05 else "improved" if true < 0.95 else "unchanged"
        if word == "unchanged" and self.generator.random() < 0.002:
            word = "inconclusive"
        base = each.time_ns * old
        runs = 24 if word != "unchanged" else 4
        reason = f"{100 * ratio - 100:+.1f} % [{100 * low - 100:+.1f}, {100 * high - 100:+.1f}]"
        effect = (ratio, low, high, base, base * ratio, each.spread, each.spread, runs)
        return word, f"{reason} at 99 %, {runs // 2} pairs", effect

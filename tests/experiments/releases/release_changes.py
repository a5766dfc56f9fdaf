"""What changed between two builds, by the JSON of `torchwatch compare`, once and again."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, exp, fsum, log
from random import Random
from typing import Any

Verdict = dict[str, Any]
Document = dict[str, Any]
Interval = tuple[float, float]

THRESHOLD = 0.07
CHANGED = ("regressed", "improved")
NO_VALUE = ("failed", "unsupported")
OPEN = ("inconclusive", *NO_VALUE)
TIMES = ("time", "device_time")
DRAWS = 10_000


@dataclass(frozen=True)
class Change:
    """A series of which the first comparison says that it changed, and both verdicts on it. The
    first was chosen for being large, so the estimate to state is that of the second."""

    first: Verdict
    again: Verdict | None  # None: not measured again yet

    @property
    def workload(self) -> str:
        return self.first["workload"]

    @property
    def configuration(self) -> str:
        return self.first["configuration"]

    @property
    def metric(self) -> str:
        return self.first["metric"]

    @property
    def newest(self) -> Verdict:
        """What to state of it."""
        return self.again or self.first

    @property
    def state(self) -> str:
        """What the second comparison says of the change: that it "holds" (by more than 7 % too, or
        by as much as in the first, for all that its interval tells), is "smaller", is "not again"
        there; or the matter is "open", as it says nothing certain."""
        if self.again is None:
            return "measured once"
        if self.again["verdict"] in OPEN:
            return "open"
        if self.first["ratio"] is None:
            return _state_of_kept_memory(self.first, self.again)
        return _state_of_ratio(self.first["ratio"], self.again)


def _difference(verdict: Verdict) -> float:
    return verdict["candidate_value"] - verdict["baseline_value"]


def _interval(verdict: Verdict) -> Interval | None:
    """The ratio's. Peaks that are exact have none; for times none means that it is unknown."""
    if verdict["interval"] is not None:
        low, high = verdict["interval"]
        return low, high
    is_exact = verdict["ratio"] is not None and verdict["metric"] not in TIMES
    return (verdict["ratio"], verdict["ratio"]) if is_exact else None


def _state_of_ratio(first: float, again: Verdict) -> str:
    interval = _interval(again)
    if interval is None:
        return "open"
    low, high = interval
    is_as_first = low <= first <= high
    if low <= 1 <= high:
        return "open" if is_as_first else "not again"
    if (low > 1) != (first > 1):
        return "not again"
    return "holds" if is_as_first or abs(again["ratio"] - 1) > THRESHOLD else "smaller"


def _state_of_kept_memory(first: Verdict, again: Verdict) -> str:
    """By the share of the first difference that is there again."""
    if again["verdict"] != first["verdict"]:
        return "not again"
    is_as_much = abs(_difference(again)) >= (1 - THRESHOLD) * abs(_difference(first))
    return "holds" if is_as_much else "smaller"


def key(verdict: Verdict) -> tuple[str, ...]:
    return tuple(verdict[part] for part in ("workload", "configuration", "variant", "metric"))


def is_large(verdict: Verdict) -> bool:
    """Memory that is kept has no ratio, and what is exact a threshold of its own: every change that
    was found of them counts."""
    ratio = verdict["ratio"]
    return ratio is None or verdict["exact"] or abs(ratio - 1) > THRESHOLD


def changes_between(first: Document, again: Document | None) -> list[Change]:
    """The large changes in a comparison's document, with the verdicts of a second one.

    What the second one did not measure counts as not measured again."""
    second = {key(verdict): verdict for verdict in again["verdicts"]} if again else {}
    return [
        Change(verdict, second.get(key(verdict)))
        for verdict in first["verdicts"]
        if verdict["verdict"] in CHANGED and is_large(verdict)
    ]


def breaks(document: Document) -> dict[tuple[str, str, str], Verdict]:
    """The benchmarks that have values with one of the two builds alone, each with a verdict that
    says why; by workload, configuration and "stopped running" or "runs now"."""
    found: dict[tuple[str, str, str], Verdict] = {}
    for verdict in document["verdicts"]:
        ran, runs = verdict["baseline_value"] > 0, verdict["candidate_value"] > 0
        if verdict["verdict"] in NO_VALUE and ran != runs:
            what = "stopped running" if ran else "runs now"
            found.setdefault((verdict["workload"], verdict["configuration"], what), verdict)
    return found


def to_measure_again(first: Document) -> list[str]:
    """The workloads with a large change, or that ran with one build."""
    changed = {change.workload for change in changes_between(first, None)}
    return sorted(changed | {workload for workload, _, _ in breaks(first)})


def percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f} %"


def _with_interval(ratio: float, interval: Iterable[float]) -> str:
    low, high = (100 * (bound - 1) for bound in interval)
    return f"{percent(ratio)} [{low:+.1f}, {high:+.1f}]"


def signed_percent(verdict: Verdict) -> str:
    """The change with its interval; of memory that is kept, what is kept more."""
    if verdict["verdict"] in NO_VALUE:
        return verdict["verdict"]
    if verdict["ratio"] is None:
        return f"{_difference(verdict):+,.0f} {verdict['unit']}"
    if verdict["interval"] is None:
        return percent(verdict["ratio"])
    return _with_interval(verdict["ratio"], verdict["interval"])


def mean_change(verdicts: Iterable[Verdict], confidence: float, seed: int = 1) -> str:
    """The geometric mean of the ratios, its interval by drawing as many workloads anew, 10,000
    times, and how many series there are. A workload's series stay together: their errors are not
    independent, and another suite would have other workloads."""
    logs: dict[str, list[float]] = {}
    for verdict in verdicts:
        if verdict["ratio"] is not None and verdict["verdict"] not in NO_VALUE:
            logs.setdefault(verdict["workload"], []).append(log(verdict["ratio"]))
    if not logs:
        return "-"
    sums = [(fsum(each), len(each)) for each in logs.values()]
    count = sum(number for _, number in sums)
    mean = exp(fsum(part for part, _ in sums) / count)
    if len(sums) == 1:
        return f"{percent(mean)} of {count}"
    return f"{_with_interval(mean, _resampled(sums, confidence, seed))} of {count}"


def _resampled(sums: list[tuple[float, int]], confidence: float, seed: int) -> Interval:
    draw = Random(seed)
    means = []
    for _ in range(DRAWS):
        drawn = draw.choices(sums, k=len(sums))
        means.append(fsum(part for part, _ in drawn) / sum(number for _, number in drawn))
    means.sort()
    last = min(ceil((1 + confidence) / 2 * DRAWS), DRAWS) - 1
    return exp(means[DRAWS - 1 - last]), exp(means[last])

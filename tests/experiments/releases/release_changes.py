"""What changed between two builds, by the JSON of `torchwatch compare`, once and again."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import NormalDist
from typing import Any

Verdict = dict[str, Any]

THRESHOLD = 0.07
CHANGED = ("regressed", "improved")


@dataclass(frozen=True)
class Change:
    """A series of which the first comparison says that it changed, and both verdicts on it."""

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
    def state(self) -> str:
        """Whether the second comparison says the same."""
        if self.again is None:
            return "measured once"
        return "holds" if self.again["verdict"] == self.first["verdict"] else "not again"


def key(verdict: Verdict) -> tuple[str, ...]:
    return tuple(verdict[part] for part in ("workload", "configuration", "variant", "metric"))


def is_large(verdict: Verdict) -> bool:
    """Memory that is kept has no ratio: every change of it counts."""
    ratio = verdict["ratio"]
    return ratio is None or abs(ratio - 1) > THRESHOLD


def changes_between(first: dict[str, Any], again: dict[str, Any] | None) -> list[Change]:
    """The changes of more than 7 % in a comparison's document, with the verdicts of a second one.

    What the second one did not measure counts as not measured again."""
    second = {key(verdict): verdict for verdict in again["verdicts"]} if again else {}
    return [
        Change(verdict, second.get(key(verdict)))
        for verdict in first["verdicts"]
        if verdict["verdict"] in CHANGED and is_large(verdict)
    ]


def percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f} %"


def signed_percent(verdict: Verdict) -> str:
    """The change with its interval; of memory that is kept, what is kept more."""
    if verdict["ratio"] is None:
        difference = verdict["candidate_value"] - verdict["baseline_value"]
        return f"{difference:+,.0f} {verdict['unit']}"
    if verdict["interval"] is None:
        return percent(verdict["ratio"])
    low, high = (100 * (bound - 1) for bound in verdict["interval"])
    return f"{percent(verdict['ratio'])} [{low:+.1f}, {high:+.1f}]"


def mean_change(verdicts: Iterable[Verdict], confidence: float) -> str:
    """The geometric mean of the ratios with its interval and how many there are, taking the series'
    errors as independent and normal in the logarithm."""
    known = [v for v in verdicts if v["ratio"] is not None and v["interval"] is not None]
    if not known:
        return "-"
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    errors = [(log(v["interval"][1]) - log(v["interval"][0])) / (2 * z) for v in known]
    mean = sum(log(v["ratio"]) for v in known) / len(known)
    half = z * sqrt(sum(error * error for error in errors)) / len(known)
    low, high = (100 * (exp(mean + sign * half) - 1) for sign in (-1, 1))
    return f"{percent(exp(mean))} [{low:+.1f}, {high:+.1f}] of {len(known)}"

"""The stored documents of a search that found its commit: as the service writes them."""

import json
import math
from typing import Any

from plan import Benchmark, Change

NOISE = 0.02


def _series(benchmark: Benchmark, metric: str) -> dict[str, Any]:
    return {
        "workload": benchmark.workload,
        "configuration": benchmark.configuration,
        "variant": "default",
        "metric": metric,
    }


def metric_of(change: Change) -> str:
    return "leak_growth" if change.kind == "leak" else "time"


def plan_json(benchmarks: list[Benchmark]) -> dict[str, Any]:
    return {
        "preset": "small",
        "benchmarks": [
            {
                "workload": each.workload,
                "configuration": each.configuration,
                "variant": "default",
            }
            for each in benchmarks
        ],
        "passes": ["timing", "memory"],
        "threads": 1,
        "warmup": 5,
        "iterations": 30,
        "enough_ns": 500_000_000,
        "time_limit_ms": 300_000,
        "memory_limit_bytes": 0,
        "interleave": True,
    }


def specification(change: Change, good: str, bad: str) -> str:
    metric = metric_of(change)
    is_time = metric == "time"
    return json.dumps(
        {
            "good": good,
            "bad": bad,
            "base_folder": "",
            "builds_max": 60,
            "runs_max": 2000,
            "cannot_change": [],
            "confidence": 0.99,
            "plan": plan_json(change.benchmarks),
            "series": [
                _series(each, metric)
                | {
                    "minimum_effect": 0.034 if is_time else 32.0,
                    "noise_sd": NOISE if is_time else 0.0,
                }
                for each in change.benchmarks
            ],
            "verify_by_revert": True,
        }
    )


def _effects(change: Change, pairs: int) -> list[dict[str, Any]]:
    metric = metric_of(change)
    if metric == "time":
        effect, half = math.log(change.effect), 2.6 * NOISE / math.sqrt(pairs)
        other = {
            "ratio": change.effect,
            "interval": [math.exp(effect - half), math.exp(effect + half)],
            "unit": "log ratio",
        }
    else:
        effect, half = change.effect, 0.0
        other = {"ratio": None, "interval": None, "unit": "bytes/iteration"}
    own = {"effect": effect, "effect_interval": [effect - half, effect + half], "pairs": pairs}
    return [_series(each, metric) | own | other for each in change.benchmarks]


def result(change: Change, day: list[str], parent: str, probes: int) -> str:
    culprit = day[change.commit]
    verified = f"against {parent[:12]}, the commit before it that builds, 6 fresh pairs"
    return json.dumps(
        {
            "outcome": "found",
            "culprits": [
                {
                    "commits": [culprit],
                    "parent": parent,
                    "confidence": 0.998,
                    "effects": _effects(change, 6),
                    "verified": verified,
                }
            ],
            "suspects": [],
            "suspects_confidence": 0.0,
            "ends": _effects(change, 4),
            "commits": len(day),
            "folded": 0,
            "builds": probes,
            "runs": 8 + 12 * probes,
            "skipped": [],
            "reason": "Each culprit was measured directly against its parent.",
        }
    )


def _halves(culprit: int, count: int) -> list[tuple[int, bool]]:
    """Which commits are probed, and whether each is changed: the middle of what is left."""
    probes, good, bad = [], -1, count - 1
    while bad - good > 1:
        middle = (good + bad) // 2
        probes.append((middle, middle >= culprit))
        good, bad = (good, middle) if middle >= culprit else (middle, bad)
    return probes


def _posterior(mass: list[float], probed: int, is_changed: bool) -> list[float]:
    """What a pair of runs leaves: the culprit is the probed commit or before it, or behind it."""
    left = [
        each * (1.0 if (place <= probed) == is_changed else 0.007)
        for place, each in enumerate(mass)
    ]
    return [each / sum(left) for each in left]


def events(change: Change, day: list[str]) -> tuple[list[tuple[str, str]], int]:
    """(kind, body) of each step, and the number of builds."""
    effect = math.log(change.effect) if metric_of(change) == "time" else change.effect
    mass = [1 / len(day)] * len(day)
    probes = _halves(change.commit, len(day))
    last = len(day) - 1
    steps = [_built(last, day), _measured(change, last, mass, "verify_ends", [effect] * 4)]
    for probe, is_changed in probes:
        mass = _posterior(mass, probe, is_changed)
        steps.append(_built(probe, day))
        steps.append(_measured(change, probe, mass, "probe", [effect if is_changed else 0.0]))
    reference = change.commit - 1 if change.commit else None
    explained = [0.0] * len(day)
    verified = _measured(change, change.commit, explained, "verify_culprit", [effect] * 6)
    verified[1]["reference"] = reference
    steps.append(verified)
    return [(kind, json.dumps(body)) for kind, body in steps], len(probes)


def _built(candidate: int, day: list[str]) -> tuple[str, dict[str, Any]]:
    sha = day[candidate]
    return "built", {"candidate": candidate, "commit": sha, "content_hash": (sha * 2)[:64]}


def _measured(
    change: Change, candidate: int, mass: list[float], purpose: str, values: list[float]
) -> tuple[str, dict[str, Any]]:
    return "measured", {
        "candidate": candidate,
        "effects": {str(number): values for number in range(len(change.benchmarks))},
        "posterior": mass,
        "purpose": purpose,
        "reference": None,
        "references": {},
    }

"""What happens in the years: levels and noise of each benchmark, changes, a change of machine."""

import math
import random
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

DAY = timedelta(days=1)
METRICS = {
    "cpu": (
        "time",
        "cpu_peak",
        "cpu_peak_resident",
        "leak_growth",
        "leak_retained",
        "heap_growth",
    ),
    "cuda": ("time", "device_time", "cpu_peak", "device_peak", "leak_growth", "leak_retained"),
}
TIMES = ("time", "device_time")
MACHINES = (
    {"cpu_model": "Example CPU 7402", "cpus": "32", "glibc": "2.36", "kernel": "Linux 6.1.0-18"},
    {"cpu_model": "Example CPU 7402", "cpus": "32", "glibc": "2.36", "kernel": "Linux 6.1.0-31"},
)
COMMITS_A_DAY = 12  # that reach the nightly
DRILL_EVERY = 7  # nightlies, as the service's own


@dataclass(frozen=True)
class Benchmark:
    id: int
    workload: str
    configuration: str
    supported: bool
    time_ns: float
    spread: float  # of a run's value, relative
    peak_bytes: int

    @property
    def device(self) -> str:
        return self.configuration.split("-")[0]

    @property
    def metrics(self) -> tuple[str, ...]:
        return METRICS[self.device]


@dataclass
class Change:
    """What one commit does to some benchmarks, from a nightly on and, if it ends, until another."""

    number: int
    nightly: int
    kind: str  # as incident.kind
    benchmarks: list[Benchmark]
    effect: float  # a factor of the time; bytes an iteration of a leak
    commit: int  # of the day's
    end: int | None
    decision: str  # "", acknowledged, accepted or closed


@dataclass
class Plan:
    benchmarks: list[Benchmark]
    changes: list[Change]
    nightlies: list[date]
    machine_changes_at: int
    by_nightly: dict[int, list[Change]] = field(default_factory=dict)
    ending: dict[int, list[Change]] = field(default_factory=dict)

    def machine_of(self, nightly: int) -> int:
        return int(nightly >= self.machine_changes_at)

    def is_last_of_its_machine(self, nightly: int) -> bool:
        return nightly + 1 in (self.machine_changes_at, len(self.nightlies))

    def comparison_of(self, nightly: int) -> int:
        """The id. Behind each but the first come its self-test and, if one is due, its drill."""
        before = max(0, nightly - 1)
        return 1 + nightly + before + before // DRILL_EVERY

    def has_drill(self, nightly: int) -> bool:
        return nightly % DRILL_EVERY == 0


def millis(day: date, seconds: float = 0) -> int:
    start = datetime(day.year, day.month, day.day, 2, tzinfo=UTC)
    return int((start.timestamp() + seconds) * 1000)


def _benchmarks(generator: random.Random, suite: list[dict[str, Any]]) -> list[Benchmark]:
    made: list[Benchmark] = []
    for workload in suite:
        level = math.exp(generator.uniform(math.log(4e5), math.log(8e8)))
        peak = int(math.exp(generator.uniform(math.log(2e6), math.log(3e9)))) // 512 * 512
        for each in workload["configurations"]:
            faster = 14 if each["configuration"].startswith("cuda") else 1
            shorter = 3 if each["configuration"].endswith("infer") else 1
            made.append(
                Benchmark(
                    len(made) + 1,
                    workload["name"],
                    each["configuration"],
                    each["supported"],
                    level / faster / shorter,
                    generator.lognormvariate(math.log(0.008), 0.6),
                    peak // shorter,
                )
            )
    return made


def _change(
    generator: random.Random, number: int, nightly: int, count: int, plan_of: list[Benchmark]
) -> Change:
    kind = generator.choices(("regression", "leak", "lost"), (16, 3, 1))[0]
    several = min(int(generator.expovariate(0.6)) + 1, 6) if kind == "regression" else 1
    is_newest = nightly > count - 12
    end = None if is_newest else min(nightly + generator.randint(2, 40), count - 1)
    closed = generator.choices(("closed", "accepted"), (4, 1))[0]
    effect = 4096.0 * generator.randint(1, 40) if kind == "leak" else generator.uniform(1.08, 1.45)
    return Change(
        number,
        nightly,
        kind,
        sorted(generator.sample(plan_of, several), key=lambda each: each.id),
        effect,
        generator.randrange(COMMITS_A_DAY),
        end if closed == "closed" else None,
        ("acknowledged" if number % 2 else "") if is_newest else closed,
    )


def make(seed: int, suite: list[dict[str, Any]], count: int, incidents: int, last: date) -> Plan:
    generator = random.Random(seed)
    benchmarks = _benchmarks(generator, suite)
    supported = [each for each in benchmarks if each.supported]
    nights = sorted(generator.choices(range(1, count), k=incidents))
    changes = [
        _change(generator, number, nightly, count, supported)
        for number, nightly in enumerate(nights, start=1)
    ]
    nightlies = [last - DAY * (count - 1 - number) for number in range(count)]
    plan = Plan(benchmarks, changes, nightlies, count * 55 // 100)
    for change in changes:
        plan.by_nightly.setdefault(change.nightly, []).append(change)
        if change.end is not None:
            plan.ending.setdefault(change.end, []).append(change)
    return plan

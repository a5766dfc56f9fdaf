"""What the planted commits do, measured outside of the service: each beside its parent, in
alternating pairs of fresh processes of the same runner."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import planted
import true_effect
from kept_rows import KeptRows
from true_effect import Runner

MODES = ("train", "infer")
INNOCENT = planted.READS_LIKE_A_SLOWDOWN.kind
INNOCENT_WORKLOADS = ("hf_DistilBert",)  # has a softmax in each layer


def benchmarks() -> Iterator[tuple[str, str, str]]:
    """What is measured: name of the planted commit, workload, mode."""
    for name, culprit in planted.CULPRITS.items():
        modes = ("train",) if culprit.metric == "leak_growth" else MODES
        yield from ((name, workload, mode) for workload in culprit.workloads for mode in modes)
    yield from ((INNOCENT, workload, mode) for workload in INNOCENT_WORKLOADS for mode in MODES)


def _measured(
    name: str, workload: str, mode: str, runner: Runner, ends: tuple[Path, Path], pairs: int
) -> dict[str, Any]:
    culprit = planted.CULPRITS.get(name)
    if culprit and culprit.metric == "leak_growth":
        return true_effect.leak_effect(runner, *ends, workload)
    return true_effect.time_effect(runner, *ends, workload, mode, pairs)


def measure(
    truth: dict[str, Any],
    kits: Path,
    tree_of: Callable[[str], Path],
    pairs: int,
    scratch: Path,
    kept: KeptRows,
) -> list[dict[str, Any]]:
    """A row for each of the benchmarks; those that are kept are not measured again."""
    for name, workload, mode in benchmarks():
        key = {"culprit": name, "workload": workload, "mode": mode}
        if kept.find(**key):
            continue
        sha, parent = (truth["planted"][name][which] for which in ("sha", "parent"))
        runner = Runner(true_effect.runner_of(kits, workload), scratch)
        ends = (tree_of(parent), tree_of(sha))
        kept.add({**key, **_measured(name, workload, mode, runner, ends, pairs)})
    return kept.rows

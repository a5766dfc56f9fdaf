"""git bisect with the same builds: each commit is good or bad by the median of five runs.

It knows what the service has to find out: which benchmark changed, and that a single commit did it.
"""

import re
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import repository
from kept_rows import KeptRows
from planted import Culprit
from true_effect import Runner

RUNS = 5
FIRST_BAD = re.compile(r"^# (?:possible )?first bad commit: \[([0-9a-f]{40})\]", re.MULTILINE)
PASSES = {"time": "timing", "leak_growth": "memory"}

Judge = Callable[[str], str]
"""Says of a commit "good", "bad", or "skip" where it cannot be built."""


def _own_repository(bare: Path, of: Path, head: str) -> None:
    """A bare repository with the same commits, for the marks that git bisect leaves."""
    shutil.rmtree(bare, ignore_errors=True)
    repository.git(bare, "init", "--quiet", "--bare", "--initial-branch=main")
    (bare / "objects" / "info" / "alternates").write_text(f"{of.absolute()}/objects\n")
    repository.git(bare, "update-ref", "refs/heads/main", head)


def search(scratch: Path, of: Path, good: str, bad: str, judge: Judge) -> list[str]:
    """The commit of the repository that git bisect ends with, or those that it cannot tell
    apart."""
    bare = scratch / "bisected.git"
    _own_repository(bare, of, bad)
    repository.git(bare, "bisect", "start", "--no-checkout", bad, good)
    while True:
        log = repository.git(bare, "bisect", "log")
        found = FIRST_BAD.findall(log)
        if found:
            return found
        commit = repository.git(bare, "rev-parse", "BISECT_HEAD").strip()
        try:
            repository.git(bare, "bisect", judge(commit), commit)
        except repository.GitFailed:
            # So it ends where only commits are left that were skipped.
            if "# only skipped commits left" not in repository.git(bare, "bisect", "log"):
                raise


class Measured:
    """A judge that measures each commit once, also over several calls of the experiment."""

    def __init__(
        self,
        culprit: Culprit,
        runner: Runner,
        tree_of: Callable[[str], Path | None],
        kept: KeptRows,
    ) -> None:
        self._culprit = culprit
        self._runner = runner
        self._tree_of = tree_of
        self._kept = kept
        self.limit = 0.0

    def value(self, commit: str, tree: Path | None) -> float | None:
        """The median of the commit's runs; nothing where it has no build."""
        key = {"culprit": self._culprit.change.kind, "commit": commit}
        if known := self._kept.find(**key):
            return known["value"]
        begun = time.monotonic()
        value = statistics.median(self._run(tree) for _ in range(RUNS)) if tree else None
        seconds = round(time.monotonic() - begun, 1)
        self._kept.add({**key, "value": value, "seconds": seconds})
        return value

    def _run(self, tree: Path) -> float:
        culprit = self._culprit
        values = self._runner.measure(
            tree, culprit.workloads[0], culprit.mode, PASSES[culprit.metric]
        )
        return values[culprit.metric]

    def __call__(self, commit: str) -> str:
        value = self.value(commit, self._tree_of(commit))
        if value is None:
            return "skip"
        return "bad" if value > self.limit else "good"


def row(
    truth: dict[str, Any], culprit: Culprit, found: list[str], kept: KeptRows
) -> dict[str, Any]:
    """What the search came to; the ends are nightlies, which cost runs and no builds."""
    name = culprit.change.kind
    ends = {nightly["commit"] for nightly in truth["nightlies"]}
    mine = [each for each in kept.rows if each["culprit"] == name]
    between = [each for each in mine if each["commit"] not in ends]
    return {
        "culprit": name,
        "found": found,
        "is_right": found == [truth["planted"][name]["sha"]],
        "commits": [each["commit"] for each in between],
        "failed": [each["commit"] for each in between if each["value"] is None],
        "runs": RUNS * sum(each["value"] is not None for each in mine),
        "run_seconds": round(sum(each["seconds"] for each in mine), 1),
    }

"""Lays out the source day: which changes land in which order, and when; drawn from the seed."""

import random
from pathlib import Path
from typing import Any

import day
import day_folder
import harmless
import planted
import repository
from changes import Change, Edit

# The compilations that a commit costs, by what it edits; the first that fits.
COSTS = (
    ("wide header", lambda path: path == planted.WIDE_HEADER),
    ("leaf header", lambda path: path.endswith(".h")),
    ("kernel", lambda path: "/native/cpu/" in path),  # once for each kind of processor
    ("source", lambda path: path.endswith(".cpp")),
)


def cost_of(edits: tuple[Edit, ...]) -> str:
    """The kind of commit that the result tells apart."""
    paths = [edit.path for edit in edits]
    return next((name for name, fits in COSTS if any(map(fits, paths))), "no source")


def blocks() -> list[list[Change]]:
    """All changes, in runs that stay together: what does not compile is put right at once."""
    singles = [
        *(culprit.change for culprit in planted.CULPRITS.values()),
        planted.READS_LIKE_A_SLOWDOWN,
        planted.WIDE,
        *harmless.SOURCES,
        *harmless.PYTHON,
        *harmless.DOCUMENTS,
        *harmless.TESTS,
    ]
    pairs = [[broken, repair or _revert_of(broken)] for broken, repair in planted.BROKEN]
    return [*([change] for change in singles), *pairs]


def _revert_of(change: Change) -> Change:
    return Change(f'Revert "{change.subject}"', change.reverted_edits(), "repair")


def plan(seed: int) -> list[day.PlannedCommit]:
    """The day's commits, oldest first; the same for the same seed."""
    draw = random.Random(f"source day {seed}")
    drawn = blocks()
    draw.shuffle(drawn)
    ordered = [change for block in drawn for change in block]
    seconds = sorted(draw.sample(range(300, day.DAY_SECONDS - 300), len(ordered)))
    return day.commits_of(draw, ordered, [day.DAY_START + second for second in seconds])


def edited(base: Path) -> dict[str, str]:
    """The files of the base that the day edits."""
    paths = {edit.path for block in blocks() for change in block for edit in change.edits}
    return {path: repository.git(base, "show", f"main:{path}") for path in sorted(paths)}


def make(folder: Path, base: Path, seed: int) -> dict[str, Any]:
    """Writes repository and truth into folder; returns the truth. Instant if they are there. The
    nightlies are the day's first and last commit."""

    def write(bare: Path) -> dict[str, Any]:
        planned = plan(seed)
        cuts = [(0, day.DAY_START), (-1, day.DAY_START + day.DAY_SECONDS)]
        known = day_folder.write(bare, edited(base), planned, cuts, base)
        for commit, of_plan in zip(known["commits"], planned, strict=True):
            commit["cost"] = cost_of(of_plan.edits)
        known["planted"] = {
            name: day_folder.planted(known, bare, name)
            for name in (*planted.CULPRITS, planted.READS_LIKE_A_SLOWDOWN.kind)
        }
        return known

    return day_folder.make(folder, {"seed": seed}, write)

"""Lays out a planted day: which changes land, in which order, when and by whom. Pure: no git
here."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import changes
from changes import Change, Edit

COMMITS = 40
# The commits that touch no source of the library, by kind, as on an ordinary day.
OTHERS_OF_EACH_KIND = {"docs": 6, "test": 8, "python": 8, "workflow": 4}
HARMLESS_COUNT = 6
STACKS = 4  # neighbours that landed in one push, with equal timestamps

DAY_START = 1781568000  # 2026-06-16 00:00:00 UTC
DAY_SECONDS = 24 * 3600
AUTHORS = 24


@dataclass
class PlannedCommit:
    subject: str
    body: str
    author: int  # a role, not a person: "Author 07"
    author_time: int
    committer_time: int
    edits: tuple[Edit, ...]
    kind: str


def _culprit_places(draw: random.Random) -> tuple[int, int]:
    """Two places away from the day's ends and from each other."""
    first, second = sorted(draw.sample(range(6, COMMITS - 6), 2))
    while second - first < 5:
        first, second = sorted(draw.sample(range(6, COMMITS - 6), 2))
    return first, second


def _others(draw: random.Random) -> list[Change]:
    chosen = []
    for kind, count in OTHERS_OF_EACH_KIND.items():
        chosen += draw.sample(changes.OTHERS[kind], count)
    draw.shuffle(chosen)
    return chosen


def _revert_of(change: Change, kind: str = "harmless") -> Change:
    return Change(f'Revert "{change.subject}"', change.reverted_edits(), kind)


def broken_and_repair() -> list[list[Change]]:
    """Pairs: a change that does not compile and the one that puts it right."""
    return [[broken, repair or _revert_of(broken, "repair")] for broken, repair in changes.BROKEN]


def _blocks(draw: random.Random) -> list[list[Change]]:
    """Runs of changes that stay together, except the culprits and what may begin or end the day."""
    return [
        [change] for change in draw.sample(changes.HARMLESS, HARMLESS_COUNT)
    ] + broken_and_repair()


def _order(draw: random.Random, with_culprits: bool, slow_rows: int) -> list[Change]:
    """The day's changes, oldest first. A broken commit is followed by its repair at once, so every
    other commit builds, and a culprit can be compared with its parent."""
    reverted = draw.choice(changes.REVERTED)
    others = _others(draw)
    first, last = others.pop(), others.pop()
    # The reverted change and its revert (None) are placed by rank among the rest, the later one the
    # revert.
    middle: list[Sequence[Change | None]] = [*_blocks(draw), *([change] for change in others)]
    middle += [[None], [None]]
    draw.shuffle(middle)
    pair = [reverted, _revert_of(reverted)]
    flat = [pair.pop(0) if c is None else c for block in middle for c in block]
    day = [first, *flat, last]
    planted = [
        changes.time_change(slow_rows if with_culprits else 0),
        changes.memory_change(with_culprits),
    ]
    for place, change in zip(_culprit_places(draw), draw.sample(planted, 2), strict=True):
        is_behind_broken = day[place - 1].kind == "broken"
        # Not between a broken commit and its repair.
        day.insert(place + 1 if is_behind_broken else place, change)
    return day


def _commit_times(draw: random.Random) -> list[int]:
    """Over the whole day, with equal timestamps inside a stack."""
    gaps = [draw.expovariate(1) for _ in range(COMMITS + 1)]
    scale = (DAY_SECONDS - 600) / sum(gaps)
    times, now = [], float(DAY_START + 300)
    for gap in gaps[:-1]:
        now += gap * scale
        times.append(int(now))
    for start in draw.sample(range(1, COMMITS - 2), STACKS):
        times[start + 1] = times[start]
    return [max(times[: place + 1]) for place in range(COMMITS)]


def plan(
    seed: int, with_culprits: bool, slow_rows: int = changes.WARM_UP_PERCENT
) -> list[PlannedCommit]:
    """The day's commits, oldest first; the same for the same arguments, for ever. Without culprits
    only the contents of the two planted commits differ. slow_rows: the percentage of its rows that
    the slow commit's mm computes twice."""
    draw = random.Random(seed)
    day = _order(draw, with_culprits, slow_rows)
    if len(day) != COMMITS:
        raise AssertionError(
            f"{len(day)} changes, not {COMMITS}: changes.py lacks some or has too many"
        )
    return commits_of(draw, day, _commit_times(draw))


def commits_of(draw: random.Random, ordered: list[Change], times: list[int]) -> list[PlannedCommit]:
    """Commits of these changes at these times, oldest first, by drawn authors."""
    numbers = draw.sample(range(171000, 172600), len(ordered))
    planned = []
    for change, time, number in zip(ordered, times, numbers, strict=True):
        author, reviewer = draw.sample(range(1, AUTHORS + 1), 2)
        is_revert = change.subject.startswith("Revert")
        # Written hours to days before it lands, so author times go backwards along the branch.
        written = time - (60 if is_revert else int(draw.lognormvariate(10, 1.2)))
        subject = change.subject if is_revert else f"{change.subject} (#{number})"
        body = f"Pull-Request: #{number}\nApproved-by: Author {reviewer:02d}"
        planned.append(
            PlannedCommit(subject, body, author, written, time, change.edits, change.kind)
        )
    return _with_reverted_numbers(planned)


def _with_reverted_numbers(planned: list[PlannedCommit]) -> list[PlannedCommit]:
    """A revert quotes the subject it undoes, with the number of the pull request."""
    full = {commit.subject.rsplit(" (#", 1)[0]: commit.subject for commit in planned}
    for commit in planned:
        if commit.subject.startswith('Revert "'):
            commit.subject = f'Revert "{full[commit.subject[8:-1]]}"'
    return planned

"""Lays out one of Table 4's changes on the structure of the real day on which it landed.

Of that day come the number of commits, their times and the change's place (structures.csv); the
rest is drawn from the seed or made here. Pure: no git here.
"""

import csv
import itertools
import random
from calendar import timegm
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import strptime

import changes
import day
from changes import Change, Edit
from mechanisms import Mechanism

HERE = Path(__file__).resolve().parent

NATIVE_SHARE = 0.45  # of PyTorch's commits of 2022: those that touch a source of the library
BLOCKING = changes.NATIVE + "Blocking.cpp"
# Changes of a kernel's text that leave its speed alone; each costs every later build a compilation.
HARMLESS_MAX = 3
BROKEN_FROM = 6  # native commits that a day needs for a pair of which one does not compile


@dataclass(frozen=True)
class Structure:
    pr: int
    day_start: int  # midnight, UTC
    position: int  # of the change among the commits, from 0
    seconds: tuple[int, ...]  # of the day, of each commit

    @property
    def times(self) -> list[int]:
        return [self.day_start + second for second in self.seconds]


def structures() -> dict[int, Structure]:
    """The seven days by their pull request."""
    with (HERE / "structures.csv").open(newline="", encoding="utf-8") as rows:
        return {int(row["pr"]): _structure(row) for row in csv.DictReader(rows)}


def _structure(row: dict[str, str]) -> Structure:
    return Structure(
        int(row["pr"]),
        timegm(strptime(row["date"], "%Y-%m-%d")),
        int(row["position"]) - 1,
        tuple(int(second) for second in row["seconds"].split()),
    )


def _native_places(
    draw: random.Random, structure: Structure, planted: Collection[int]
) -> list[int]:
    """Without those of the planted changes, which are native whatever is drawn."""
    drawn = [draw.random() < NATIVE_SHARE for _ in structure.seconds]
    return [place for place, is_native in enumerate(drawn) if is_native and place not in planted]


def _broken_places(
    draw: random.Random, native: list[int], planted: Collection[int]
) -> tuple[int, int] | None:
    """Two native neighbours with no planted change between them: it can always be built itself."""
    pairs = [
        (first, second)
        for first, second in itertools.pairwise(native)
        if not any(first < place < second for place in planted)
    ]
    return draw.choice(pairs) if pairs and len(native) >= BROKEN_FROM else None


def _unrelated(draw: random.Random, number: int) -> Change:
    """Cannot change the library: documents, tests, Python, workflows, as often as on an ordinary
    day."""
    kinds = day.OTHERS_OF_EACH_KIND
    kind = draw.choices(list(kinds), list(kinds.values()))[0]
    made = {
        "docs": lambda: changes.document_change(
            f"[docs] Say what case {number} means for layouts",
            "layout",
            f"Case {number} keeps its layout.",
        ),
        "test": lambda: changes.test_change(
            f"[testing] Cover case {number} of the linear tests", "linear", f"case_{number}"
        ),
        "python": lambda: changes.python_change(
            f"[FX] Name case {number} in exports",
            "export_messages",
            f'CASE_{number} = "case {number}"',
        ),
        "workflow": lambda: changes.workflow_change(
            f"[CI] Keep the logs of shard {number}", "test", f"shard {number}: logs are kept"
        ),
    }
    return made[kind]()


def _block_size(draw: random.Random, number: int) -> Change:
    """A native change that no kernel feels; every other one leaves the library as it is."""
    if draw.random() < 0.5:
        return Change(
            f"Mention blocks of {number} rows",
            (Edit(BLOCKING, "", f"// Blocks of {number} rows are not used.\n"),),
            "harmless",
        )
    return Change(
        f"[ATen] Add a block size for {number} rows",
        (
            Edit(
                BLOCKING,
                "\n} // namespace overlay\n",
                f"int64_t block_of_{number}() {{\n  return {number};\n}}\n\n"
                "} // namespace overlay\n",
            ),
        ),
        "harmless",
    )


def _harmless(draw: random.Random, native: list[int]) -> dict[int, Change]:
    """A change for each of these places."""
    texts = draw.sample(changes.HARMLESS, min(HARMLESS_MAX, len(native) // 3))
    at_places = dict(zip(draw.sample(native, len(texts)), texts, strict=True))
    return {place: at_places.get(place) or _block_size(draw, place + 1) for place in native}


def plan(
    structure: Structure, mechanism: Mechanism, seed: int, is_planted: bool
) -> list[day.PlannedCommit]:
    """The day's commits, oldest first; the same for the same arguments. Unplanted, only the
    contents of the mechanism's own commit differ."""
    draw = random.Random(f"{structure.pr} {seed}")
    return lay_out(draw, structure, {structure.position: mechanism.change(is_planted)})


def lay_out(
    draw: random.Random, structure: Structure, planted: Mapping[int, Change]
) -> list[day.PlannedCommit]:
    """A day's commits, oldest first, with these changes at these places."""
    native = _native_places(draw, structure, planted)
    at_places = dict(planted)
    broken = _broken_places(draw, native, planted)
    if broken:
        at_places.update(zip(broken, draw.choice(day.broken_and_repair()), strict=True))
    at_places.update(_harmless(draw, [place for place in native if place not in at_places]))
    ordered = [
        at_places.get(place) or _unrelated(draw, place + 1)
        for place in range(len(structure.seconds))
    ]
    return day.commits_of(draw, ordered, structure.times)

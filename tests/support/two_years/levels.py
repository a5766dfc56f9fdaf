"""What each benchmark costs at a time, after the changes that came before it."""

from copy import deepcopy
from typing import Self

from plan import Benchmark, Change


class Levels:
    """By benchmark: the factor of its time, the bytes that it keeps, and whether it runs."""

    def __init__(self, benchmarks: list[Benchmark]) -> None:
        self.factor = {each.id: 1.0 for each in benchmarks}
        self.leak = {each.id: 0.0 for each in benchmarks}
        self.lost: set[int] = set()

    def copy(self) -> Self:
        return deepcopy(self)

    def apply(self, change: Change) -> None:
        for each in change.benchmarks:
            if change.kind == "regression":
                self.factor[each.id] *= change.effect
            elif change.kind == "leak":
                self.leak[each.id] += change.effect
            else:
                self.lost.add(each.id)

    def undo(self, change: Change) -> None:
        for each in change.benchmarks:
            if change.kind == "regression":
                self.factor[each.id] /= change.effect
            elif change.kind == "leak":
                self.leak[each.id] -= change.effect
            else:
                self.lost.discard(each.id)

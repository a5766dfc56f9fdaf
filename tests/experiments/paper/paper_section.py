"""A section of the page: its text, its tables and the pictures that it needs."""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean

from paper_answers import Answer

KEPT = "\u00a0"  # a space at which no line ends


@dataclass
class Section:
    title: str
    lines: list[str] = field(default_factory=list)
    pictures: dict[str, str] = field(default_factory=dict)  # SVG by file name

    def say(self, text: str) -> None:
        """A paragraph; nothing where the text is empty. No line begins with a per cent sign."""
        if text:
            kept = text.replace(" %", f"{KEPT}%")
            lines = textwrap.wrap(kept, 100, break_long_words=False, break_on_hyphens=False)
            self.lines += [*(line.replace(KEPT, " ") for line in lines), ""]

    def table(self, head: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
        cells = list(head)
        self.lines += [_line(cells), f"|{'---|' * len(cells)}", *map(_line, rows), ""]

    def picture(self, name: str, svg: str, said: str) -> None:
        self.pictures[name] = svg
        self.lines += [f"![{said}]({name})", ""]

    def note_missing(self, what: str, answers: Iterable[Answer]) -> None:
        """Says that something is not there, with the reasons that torchwatch gave."""
        reasons = sorted({answer.reason for answer in answers if answer.reason})
        why = f": {'; '.join(reasons)}" if reasons else ""
        self.say(f"**Not measured: {what}{why}.**")

    def text(self) -> str:
        return "\n".join([f"## {self.title}", "", *self.lines])


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def mean_percent(shares: list[float]) -> str:
    return percent(fmean(shares)) if shares else "-"

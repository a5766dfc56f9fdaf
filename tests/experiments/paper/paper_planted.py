"""Tables 4 and 5: the regressions that the paper's CI found, planted again on a real LibTorch."""

from pathlib import Path

import mechanisms
import result
from paper_published import Published
from paper_section import Section
from planted_days import kept_rows

PAGE = "docs/results/planted-days.md"


def tables_4_and_5(folder: Path) -> Section:
    section, published = Section("Tables 4 and 5: regressions that a CI finds"), Published()
    section.say(
        "Each of the paper's seven changes is planted in a day of commits, where an effect on a "
        "GPU is imitated on a CPU; torchwatch has to name the commit."
    )
    section.table(
        ("pull request", "what it did", "slower, upstream"),
        (
            (pr, mechanism.upstream, published.text(f"planted.{pr}"))
            for pr, mechanism in mechanisms.TABLE_4.items()
        ),
    )
    rows = kept_rows(folder)
    if rows:
        section.lines += [*result.table(rows), ""]
    else:
        section.say(
            f"**No comparison of planted days is kept in {folder.name}.** "
            f"`tests/experiments/planted_days/planted_days.py` makes them; {PAGE} "
            "has those that were published."
        )
    section.say(published.sources())
    return section

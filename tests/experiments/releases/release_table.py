"""What comparisons of releases said, as Markdown."""

import textwrap
from typing import Any

from release_changes import Change, breaks, changes_between, mean_change, signed_percent
from release_rounds import Measured, Pair

ABOUT_COUNTS = """\
A mean's is by drawing workloads anew, so it holds for a suite of others like them. Regressed to
unchanged count series, the next two benchmarks."""
ABOUT_CHANGES = """\
The first measurement chose what is listed for being large, so the estimate to state is that of the
second, which nothing chose. A change holds if the second, too, is beyond 7 %, or differs from none
by an interval in which the first one lies; it is smaller if that is clearly less, and open if the
second tells nothing certain. Of peaks that are exact, to the byte in all runs, changes from 2 % on
are listed, without an interval."""


def _line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _head(*cells: str) -> list[str]:
    return [_line(*cells), "|" + "---|" * len(cells)]


def _pair_line(pair: Pair, document: dict[str, Any]) -> str:
    verdicts = document["verdicts"]
    times = [verdict for verdict in verdicts if verdict["metric"] == "time"]
    counts = [
        sum(verdict["verdict"] == word for verdict in verdicts)
        for word in ("regressed", "improved", "inconclusive", "unchanged")
    ]
    found = [what for _, _, what in breaks(document)]
    means = [
        mean_change([v for v in times if v["configuration"] == name], document["confidence"])
        for name in ("cpu-train", "cpu-infer")
    ]
    broken = [found.count(what) for what in ("stopped running", "runs now")]
    return _line(" to ".join(pair), *counts, *broken, *means)


def _change_line(pair: Pair, change: Change) -> str:
    return _line(
        " to ".join(pair),
        change.workload,
        change.configuration,
        change.metric,
        signed_percent(change.first),
        signed_percent(change.again) if change.again else "",
        change.state,
    )


HOLDING_HEAD = _head(
    "releases", "workload", "configuration", "metric", "change", "at first", "upstream"
)


def holding_line(pair: Pair, change: Change, upstream: str) -> str:
    """A change that holds, by its second measurement and by its first."""
    return _line(
        " to ".join(pair),
        change.workload,
        change.configuration,
        change.metric,
        signed_percent(change.newest),
        signed_percent(change.first),
        upstream,
    )


def _break_lines(measured: Measured) -> list[str]:
    """The second comparison says the same of a benchmark, or something else."""
    pair, first, again = measured
    second = breaks(again) if again else {}
    return [
        _line(
            " to ".join(pair),
            *key,
            " ".join((verdict["reason"] or "").split()).replace("|", "\\|"),
            "" if again is None else "holds" if key in second else "not again",
        )
        for key, verdict in breaks(first).items()
    ]


def _confidence(measured: list[Measured]) -> str:
    levels = sorted({document["confidence"] for _, document, _ in measured})
    return " or ".join(f"{100 * level:g} %" for level in levels)


def lines(measured: list[Measured]) -> list[str]:
    """The tables; nothing where nothing was measured."""
    if not measured:
        return []
    counts = ("regressed", "improved", "open", "unchanged", "stopped running", "runs now")
    text = [
        *textwrap.wrap(f"Intervals are of {_confidence(measured)}. {ABOUT_COUNTS}", 100),
        "",
        *_head("releases", *counts, "time, train", "time, infer"),
        *(_pair_line(pair, first) for pair, first, _ in measured),
        "",
        ABOUT_CHANGES,
        "",
        *_head("releases", "workload", "configuration", "metric", "first", "again", ""),
    ]
    for pair, first, again in measured:
        text += [_change_line(pair, change) for change in changes_between(first, again)]
    broken = [line for each in measured for line in _break_lines(each)]
    if broken:
        heads = ("releases", "workload", "configuration", "what", "reason", "again")
        text += ["", *_head(*heads), *broken]
    return text

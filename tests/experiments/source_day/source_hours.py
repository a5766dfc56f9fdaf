"""How long the service's searches took, without the pauses between calls of the service."""

from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise
from typing import Any

Row = dict[str, Any]
Span = tuple[datetime, datetime]


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def spans(calls: list[Row]) -> list[Span]:
    """When the service was at work, by the times at which its calls began and ended. A call that
    was killed counts up to the next one: nobody knows when it stopped."""
    found = []
    for row, after in pairwise(calls):
        if row["event"] == "begun":
            found.append((_time(row["at"]), _time(after["at"])))
    return found


def hours_within(at_work: Iterable[Span], begin: datetime, end: datetime) -> float:
    seconds = ((min(end, last) - max(begin, first)).total_seconds() for first, last in at_work)
    return sum(second for second in seconds if second > 0) / 3600


def of_searches(bisections: list[Row], calls: list[Row]) -> tuple[dict[int, float], float]:
    """Each search's hours, by its number, and those of all from the first one's beginning. All are
    made when the comparison is judged and carried out one after the other, so a search begins when
    the one before it has ended."""
    ended = [search for search in bisections if search["ended_at"]]
    if not ended:
        return {}, 0.0
    at_work, hours = spans(calls), {}
    first = previous = min(_time(search["created_at"]) for search in ended)
    for search in sorted(ended, key=lambda search: (_time(search["ended_at"]), search["id"])):
        begin, end = max(previous, _time(search["created_at"])), _time(search["ended_at"])
        hours[search["id"]] = hours_within(at_work, begin, end)
        previous = end
    return hours, hours_within(at_work, first, previous)

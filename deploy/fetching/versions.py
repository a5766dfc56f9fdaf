"""Versions of PyTorch that an index offers, and their order in time. Used by libtorch."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from pip._vendor.packaging.version import Version

from link import Link
from wheel_file import NotOffered, Trouble


@dataclass(frozen=True)
class Offered:
    """A version and the file that holds it."""

    version: Version
    link: Link


def version_of(text: str) -> Version:
    return Version(text)


def date_of(version: Version) -> int:
    """The date of a nightly as a number, 20260816; 0 for every other version."""
    first_date = 19000101
    return version.dev if version.dev and version.dev > first_date else 0


def place_in_time(version: Version) -> tuple[int, Version]:
    return (date_of(version), version)


def not_before(oldest: str) -> Callable[[Version], bool]:
    """Whether a version is as new as a date (2026-08-16) or a version. Errors: Trouble."""
    if not oldest:
        return lambda _: True
    date = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", oldest)
    if date:
        first = int("".join(date.groups()))
        return lambda version: date_of(version) >= first
    try:
        least = place_in_time(Version(oldest))
    except ValueError:  # InvalidVersion, and too many digits
        raise Trouble(
            f'invalid date or version "{oldest}": must be such as 2026-08-16 or 2.13.0'
        ) from None
    return lambda version: place_in_time(version) >= least


def in_order(offers: list[Offered]) -> list[Offered]:
    """Oldest first: nightlies by their date, since a lower version may be published later."""
    return sorted(offers, key=lambda offered: place_in_time(offered.version))


def offer_of(version: str, offers: list[Offered]) -> Offered:
    """Errors: NotOffered."""
    for offered in offers:
        if str(offered.version) == version:
            return offered
    raise NotOffered(f"the index offers no build {version} for this machine")

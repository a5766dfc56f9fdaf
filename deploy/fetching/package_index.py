"""The wheels of a package index that run on this machine. Used by libtorch."""

from dataclasses import dataclass

from pip._vendor.packaging.tags import Tag, sys_tags
from pip._vendor.packaging.utils import InvalidWheelFilename, parse_wheel_filename
from pip._vendor.packaging.version import InvalidVersion, Version

from index_page import Link, read_links
from versions import Offered, in_order


@dataclass(frozen=True)
class Wheel:
    link: Link
    version: Version
    tags: frozenset[Tag]


def wheel_of(link: Link) -> Wheel | None:
    """None for what is not a wheel of a version that can be compared."""
    try:
        _, version, _, tags = parse_wheel_filename(link.file)
    except (InvalidWheelFilename, InvalidVersion):
        return None
    return Wheel(link, version, tags)


def rank(wheel: Wheel, order: dict[Tag, int], platforms: frozenset[str]) -> int | None:
    """How well a wheel fits: the lower the better; None: it does not run on this machine.

    A C++ program needs nothing of a wheel's Python, so that of another one is better than none.
    """
    known = [order[tag] for tag in wheel.tags if tag in order]
    if known:
        return min(known)
    return len(order) if any(tag.platform in platforms for tag in wheel.tags) else None


def wheels_for_this_machine(index: str, flavour: str) -> list[Offered]:
    """The best wheel of torch of each version that is not yanked, oldest first. `flavour`: only
    versions with this label; empty: all. Errors: Trouble."""
    own = list(sys_tags())
    order = {tag: place for place, tag in enumerate(own)}
    platforms = frozenset(tag.platform for tag in own)
    best: dict[Version, tuple[int, str, Link]] = {}
    for link in read_links(f"{index.rstrip('/')}/torch/"):
        found = wheel_of(link)
        if found is None or link.yanked or (flavour and found.version.local != flavour):
            continue
        place = rank(found, order, platforms)
        if place is not None:
            one = (place, link.file, link)
            best[found.version] = min(best.get(found.version, one), one, key=lambda o: o[:2])
    return in_order([Offered(version, link) for version, (_, _, link) in best.items()])

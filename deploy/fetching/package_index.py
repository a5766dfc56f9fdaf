"""The wheels of a package index that run on this machine. Used by libtorch."""

import platform
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pip._vendor.packaging.tags import Tag, sys_tags
from pip._vendor.packaging.utils import InvalidWheelFilename, parse_wheel_filename
from pip._vendor.packaging.version import InvalidVersion, Version

from index_page import read_links
from link import LeftOut, Link
from versions import Offered, in_order
from web_request import shown
from wheel_file import Trouble
from wheel_metadata import check_tags

PACKAGE = "torch"
FRESH = timedelta(hours=24)
LABELS_MAX = 8
EARLIER = 7  # versions that tell whether an index has wheels for this Python


@dataclass(frozen=True)
class Wheel:
    link: Link
    version: Version
    build: int  # of several wheels that fit alike the highest counts; 0: none is named
    tags: frozenset[Tag]


def wheel_of(link: Link) -> Wheel | None:
    """None for what is not a wheel of a version that can be compared. Errors: Trouble."""
    if "/" in link.file:  # it becomes the name of a file here
        return None
    check_tags(["-".join(link.file.removesuffix(".whl").split("-")[-3:])])
    try:
        name, version, build, tags = parse_wheel_filename(link.file)
    except (InvalidWheelFilename, InvalidVersion):
        return None
    number = int(build[0]) if build else 0
    return Wheel(link, version, number, tags) if name == PACKAGE else None


def rank(wheel: Wheel, order: dict[Tag, int], platforms: frozenset[str]) -> int | None:
    """How well a wheel fits: the lower the better; None: it does not run on this machine.

    A C++ program needs nothing of a wheel's Python, so that of another one is better than none.
    """
    known = [order[tag] for tag in wheel.tags if tag in order]
    if known:
        return min(known)
    return len(order) if any(tag.platform in platforms for tag in wheel.tags) else None


def preference(placed: tuple[int, Wheel]) -> tuple[int, int, str, str]:
    """The lower, the better, as pip has it: how well a wheel fits decides, then the number of its
    build. Of the others the first that came is taken, so that none that comes later replaces it."""
    place, wheel = placed
    return (place, -wheel.build, wheel.link.uploaded, wheel.link.file)


def is_fresh(link: Link) -> bool:
    """Whether the index says that the file was uploaded a moment ago."""
    try:
        uploaded = datetime.fromisoformat(link.uploaded)
    except ValueError:
        return False
    return datetime.now(UTC) - uploaded.replace(tzinfo=uploaded.tzinfo or UTC) < FRESH


def settled(wheels: list[Wheel], is_own: Callable[[Wheel], bool]) -> list[Wheel]:
    """Leaves out the versions whose wheel for this Python is probably yet to come, as one of those
    before has one: the wheels of a day come one by one, and each is a build of its own."""

    def may_come(at: int) -> bool:
        return any(map(is_own, wheels[max(0, at - EARLIER) : at])) and is_fresh(wheels[at].link)

    return [wheel for at, wheel in enumerate(wheels) if is_own(wheel) or not may_come(at)]


def wheels_of(index: str) -> list[Wheel]:
    """The wheels of torch on the index's page. Errors: Trouble."""
    page = f"{index.rstrip('/')}/{PACKAGE}/"
    wheels, left_out = [], LeftOut(shown(page))
    for link in read_links(page):
        try:
            wheel = wheel_of(link)
        except Trouble as error:
            left_out.note(link.file, error)
        else:
            wheels += [wheel] if wheel else []
    left_out.end()
    return wheels


def without_any(wheels: list[Wheel], flavour: str, platforms: frozenset[str]) -> Trouble:
    """Why none of an index's wheels is for this machine: to a service that would be silence."""
    ours = [one for one in wheels if any(tag.platform in platforms for tag in one.tags)]
    labels = sorted({one.version.local or "none" for one in ours})
    wanted = f" with the label {flavour}; those that are have {', '.join(labels[:LABELS_MAX])}"
    return Trouble(
        f"the index has {len(wheels)} wheels of torch, and none for this machine "
        f"({platform.machine()}){wanted if flavour and ours else ''}: is the address right?"
    )


def wheels_for_this_machine(index: str, flavour: str, only: str = "") -> list[Offered]:
    """The best wheel of torch of each version that is not yanked, oldest first. `flavour`: only
    versions with this label; empty: all. `only`: the one version that is wanted, which need not be
    settled. Errors: Trouble, also where none of the wheels is for this machine."""
    own = list(sys_tags())
    order = {tag: place for place, tag in enumerate(own)}
    platforms = frozenset(tag.platform for tag in own)
    best: dict[Version, tuple[int, Wheel]] = {}
    offered_wheels = [wheel for wheel in wheels_of(index) if not wheel.link.yanked]
    for found in offered_wheels:
        if flavour and found.version.local != flavour:
            continue
        place = rank(found, order, platforms)
        if place is not None:
            one = (place, found)
            best[found.version] = min(best.get(found.version, one), one, key=preference)
    if offered_wheels and not best and not only:
        raise without_any(offered_wheels, flavour, platforms)
    offers = in_order([Offered(version, found.link) for version, (_, found) in best.items()])
    wheels = [best[offered.version][1] for offered in offers]
    if not only:
        wheels = settled(wheels, lambda wheel: not order.keys().isdisjoint(wheel.tags))
    return [Offered(wheel.version, wheel.link) for wheel in wheels]

"""LibTorch archives: zips that a page links to, or that lie under a template of dates. Used by
libtorch."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

from pip._vendor.packaging.version import Version
from pip._vendor.requests import Response

from index_page import read_links
from link import LeftOut, Link
from versions import Offered, date_of, in_order
from web_request import Unreachable, ask, has_it, length_of, shown, time_limit
from wheel_file import Trouble

DATE = "{date}"
DAYS_MAX = 60  # PyTorch's index keeps as many nightlies
SURE_DAYS = 7  # without an archive, after which the address is in doubt
ASKED_MAX = 3  # archives of a page that names nothing but files
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
# "debug-..." holds symbols, and "...-latest.zip" is a copy whose name says nothing.
NEW_ABI = "libtorch-cxx11-abi-"
NAME = re.compile(r"libtorch-(?:cxx11-abi-)?shared-with-deps-(\d.*)\.zip")


def version_in(file: str) -> Version | None:
    named = NAME.fullmatch(file)
    try:
        return Version(named[1]) if named else None
    except ValueError:  # InvalidVersion, and too many digits
        return None


def preference(link: Link) -> tuple[bool, str]:
    """The lower, the better. Where two archives of a version differ in their ABI, the new one's is
    named: it is that of the wheels."""
    return (not link.file.startswith(NEW_ABI), link.url)


def archives_of_page(url: str) -> list[Offered]:
    """One for each version. PyTorch's pages are links alone."""
    best: dict[Version, Link] = {}
    for link in read_links(url, may_be_bare=True):
        version = version_in(link.file)
        if version:
            best[version] = min(best.get(version, link), link, key=preference)
    return [Offered(version, link) for version, link in best.items()]


def with_facts(offered: Offered, answer: Response) -> Offered:
    """With what the server says of a file, by which one that is replaced is known. Errors:
    Trouble."""
    when = answer.headers.get("ETag") or answer.headers.get("Last-Modified", "")
    link = replace(offered.link, size=length_of(answer) or 0, uploaded=when)
    return Offered(offered.version, link)


def with_facts_of_newest(offers: list[Offered], only: str) -> list[Offered]:
    """The offers of a page, with what their server says of the newest, and of the version `only`,
    where the page says nothing. A server that does not answer is met again by the download."""
    newest = {offered.version for offered in offers[-ASKED_MAX:]}
    found = []
    for offered in offers:
        link = offered.link
        is_bare = not (link.hashes or link.size or link.uploaded)
        if is_bare and (offered.version in newest or str(offered.version) == only):
            try:
                offered = told_by_server(offered) or offered  # noqa: PLW2901
            except Trouble:
                newest.clear()
        found.append(offered)
    return found


def told_by_server(offered: Offered) -> Offered | None:
    """None where the server does not have the file. Errors: Trouble."""
    url = offered.link.url
    with time_limit(url):
        answer = ask("HEAD", url, allow_redirects=True)
    return with_facts(offered, answer) if has_it(url, answer) else None


def archive_of_day(template: str, day: datetime) -> Offered | None:
    """None where the server has none. Errors: Trouble."""
    url = template.replace(DATE, f"{day:%Y%m%d}")
    file = unquote(url.rpartition("/")[2])
    version = version_in(file)
    if version is None:
        raise Trouble(
            f"{shown(template)} names no LibTorch archive: its file must be such as "
            "libtorch-shared-with-deps-2.15.0.dev{date}%2Bcpu.zip"
        )
    return told_by_server(Offered(version, Link(file, url)))


def archives_of_days(template: str, wanted: Iterable[datetime]) -> list[Offered]:
    """One for each day that has one. A day whose answer is useless stops no other, and is named;
    where no day has a better one, its error is raised. Errors: Trouble."""
    found, left_out, first = [], LeftOut(shown(template)), None
    for day in wanted:
        try:
            offered = archive_of_day(template, day)
        except Unreachable:
            raise  # the other days would be, too, and each only after its time limit
        except Trouble as error:
            first = first or error
            left_out.note(f"{day:%Y-%m-%d}", error)
        else:
            found += [offered] if offered else []
    left_out.end()
    if first and not found:
        raise first
    return found


def date_in(version: str) -> int:
    """20260816 for a nightly of that day, else 0."""
    try:
        return date_of(Version(version))
    except ValueError:  # InvalidVersion, and too many digits
        return 0


def days(only: int, since: str) -> Iterator[datetime]:
    """The days that a template is asked for: that of `only` (20260816), else the last 60, but none
    before `since` (2026-08-16, or a version)."""
    today = datetime.now(UTC)
    first = date_in(since) or int(since.replace("-", "") if DAY.fullmatch(since) else 0)
    last = (today - timedelta(days=ago) for ago in range(DAYS_MAX))
    numbered = ((int(f"{day:%Y%m%d}"), day) for day in last)
    return (day for number, day in numbered if only in (0, number) and number >= first)


def archives(address: str, flavour: str, only: str = "", since: str = "") -> list[Offered]:
    """The archives of a page or of a template with {date}, oldest first. `flavour`: only versions
    with this label; empty: all. `only`: the one version that is wanted; of a template, its day
    alone is asked for. `since`: days before are not asked for. Errors: Trouble."""
    if DATE in address:
        asked = list(days(date_in(only), "" if only else since))
        found = archives_of_days(address, asked)
        if not found and len(asked) >= SURE_DAYS:
            raise Trouble(
                f"{shown(address)} has none of the last {len(asked)} days: is the address right?"
            )
    else:
        found = archives_of_page(address)
    wanted = in_order([one for one in found if not flavour or one.version.local == flavour])
    if found and not wanted:
        labels = sorted({one.version.local or "none" for one in found})
        raise Trouble(
            f"{shown(address)} has no archive with the label {flavour}: those that are have "
            f"{', '.join(labels)}"
        )
    return wanted if DATE in address else with_facts_of_newest(wanted, only)

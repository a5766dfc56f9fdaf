"""LibTorch archives: zips that a page links to, or that lie under a template of dates. Used by
libtorch."""

import re
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from urllib.parse import unquote

from pip._vendor.packaging.version import InvalidVersion, Version

from index_page import GONE, Link, ask, read_links, refusal, shown
from versions import Offered, in_order
from wheel_file import Trouble

DATE = "{date}"
DAYS_MAX = 60  # PyTorch's index keeps as many nightlies
# "debug-..." holds symbols, and "...-latest.zip" is a copy whose name says nothing.
NAME = re.compile(r"libtorch-(?:cxx11-abi-)?shared-with-deps-(\d.*)\.zip")


def version_in(file: str) -> Version | None:
    named = NAME.fullmatch(file)
    try:
        return Version(named[1]) if named else None
    except InvalidVersion:
        return None


def archives_of_page(url: str) -> list[Offered]:
    found = [(version_in(link.file), link) for link in read_links(url)]
    return [Offered(version, link) for version, link in found if version]


def archive_of_day(template: str, day: datetime) -> Offered | None:
    """None where the server has none."""
    url = template.replace(DATE, f"{day:%Y%m%d}")
    answer = ask("HEAD", url, allow_redirects=True)
    if answer.status_code in GONE:
        return None
    if answer.status_code != HTTPStatus.OK:
        raise refusal(url, answer)
    file = unquote(url.rpartition("/")[2])
    version = version_in(file)
    if version is None:
        raise Trouble(
            f"{shown(template)} names no LibTorch archive: its file must be such as "
            "libtorch-shared-with-deps-2.15.0.dev{date}%2Bcpu.zip"
        )
    size = answer.headers.get("Content-Length", "0")
    when = answer.headers.get("ETag") or answer.headers.get("Last-Modified", "")
    return Offered(version, Link(file, url, size=int(size), uploaded=when))


def archives(address: str, flavour: str) -> list[Offered]:
    """The archives of a page or of a template with {date}, oldest first. `flavour`: only versions
    with this label; empty: all. Errors: Trouble."""
    if DATE in address:
        today = datetime.now(UTC)
        days = (archive_of_day(address, today - timedelta(days=ago)) for ago in range(DAYS_MAX))
        found = [offered for offered in days if offered]
    else:
        found = archives_of_page(address)
    return in_order([one for one in found if not flavour or one.version.local == flavour])

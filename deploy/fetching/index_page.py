"""Reads the pages of an index: links to files, in JSON (PEP 691) or HTML (PEP 503). Used by
libtorch."""

import json
from collections.abc import Callable, Iterable, Mapping
from html.parser import HTMLParser
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from pip._vendor.requests.models import Response

from link import BadEntry, LeftOut, Link, hashes_in
from web_request import ask, body_of, refusal, shown, time_limit
from wheel_file import Trouble

SIMPLE = "application/vnd.pypi"
ACCEPT = f"{SIMPLE}.simple.v1+json, {SIMPLE}.simple.v1+html;q=0.2, text/html;q=0.1"

Entry = TypeVar("Entry")


class Links(HTMLParser):
    """Collects the links of a page, with their attributes, and what it has of <html>."""

    def __init__(self) -> None:
        super().__init__()
        self.base = ""
        self.links: list[dict[str, str]] = []
        self.is_begun = False
        self.is_ended = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.is_begun = self.is_begun or tag == "html"
        found = {name: value or "" for name, value in attrs}
        if tag == "base" and found.get("href"):
            self.base = found["href"]
        if tag == "a" and found.get("href"):
            self.links.append(found)

    def handle_endtag(self, tag: str) -> None:
        self.is_ended = self.is_ended or tag == "html"


def check_link(index: str, link: Link) -> None:
    """An index that is read over https has its files there. Errors: Trouble."""
    if urlsplit(index).scheme == "https" and urlsplit(link.url).scheme != "https":
        raise Trouble(f"{shown(index)} names {shown(link.url)}, which is not fetched over https")


def answer_of(url: str) -> Response:
    answer = ask("GET", url, headers={"Accept": ACCEPT}, stream=True)
    if answer.status_code != HTTPStatus.OK:
        raise refusal(url, answer, ": is [channel] index right, and is the server up?")
    return answer


def address_of(reference: str, page: str) -> str:
    """Where a page's reference leads. Stores of files take a bare + for a blank."""
    address = urlsplit(urljoin(page, reference))
    return urlunsplit(address._replace(path=address.path.replace("+", "%2B"), fragment=""))


def usable(
    entries: Iterable[Entry], link_of: Callable[[Entry], Link], name: str, url: str
) -> list[Link]:
    """The links of all entries but those that are bad, which are named. `name`: the fact of an
    entry that names it."""
    links, left_out = [], LeftOut(shown(url))
    for entry in entries:
        try:
            links.append(link_of(entry))
        except (Trouble, ValueError, KeyError, TypeError, AttributeError) as error:
            said = entry.get(name, "") if isinstance(entry, Mapping) else entry
            is_missing = isinstance(error, KeyError)
            left_out.note(said, f"it has no {error.args[0]}" if is_missing else error)
    left_out.end()
    return links


def link_of_json(file: Mapping[str, object], url: str) -> Link:
    reference, hashes = file["url"], file.get("hashes") or {}
    if not isinstance(reference, str) or not isinstance(hashes, Mapping):
        raise BadEntry("its address must be a text, and its hashes must have names")
    return Link(
        file=file["filename"],  # type: ignore[arg-type]
        url=address_of(reference, url),
        hashes=hashes_in(hashes),
        size=file.get("size") or 0,  # type: ignore[arg-type]
        uploaded=file.get("upload-time") or "",  # type: ignore[arg-type]
        yanked=bool(file.get("yanked")),
    )


def links_of_json(text: bytes, url: str) -> list[Link]:
    page = json.loads(text)
    version = str(page.get("meta", {}).get("api-version", "1.0"))
    if version.partition(".")[0] != "1":
        raise Trouble(f"{shown(url)} speaks version {version} of the index's API; 1 is understood")
    files = page["files"]
    if not isinstance(files, list):
        raise Trouble(f"{shown(url)} is not a page of a package index: its files must be a list")
    return usable(files, lambda file: link_of_json(file, url), "filename", url)


def link_of(attributes: Mapping[str, str], url: str) -> Link:
    href, _, fragment = attributes["href"].partition("#")
    address = address_of(href, url)
    stated = dict(part.partition("=")[::2] for part in fragment.split("&"))
    return Link(
        file=unquote(urlsplit(address).path.rpartition("/")[2]),
        url=address,
        hashes=hashes_in(stated),
        uploaded=attributes.get("data-upload-time", ""),
        yanked="data-yanked" in attributes,
    )


def links_of_page(text: bytes, url: str, may_be_bare: bool) -> list[Link]:
    page = Links()
    page.feed(text.decode(errors="replace"))
    page.close()
    if not page.is_ended and (page.is_begun or not may_be_bare):
        raise Trouble(f"{shown(url)} is half written: it has no </html>")
    base = urljoin(url, page.base)
    return usable(page.links, lambda attributes: link_of(attributes, base), "href", url)


def read_links(url: str, may_be_bare: bool = False) -> list[Link]:
    """The links of a page, without those that are bad, which are named. `may_be_bare`: it may be
    links alone, without <html> around them. Errors: Trouble, when it cannot be reached, is half
    written or no page of an index."""
    with time_limit(url):
        answer = answer_of(url)
        text = body_of(answer)
    is_json = "json" in answer.headers.get("Content-Type", "")
    try:
        if is_json:
            return links_of_json(text, answer.url)
        return links_of_page(text, answer.url, may_be_bare)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Trouble(
            f"{shown(url)} is not a whole page of a package index ({type(error).__name__}: {error})"
        ) from None

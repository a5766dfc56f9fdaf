"""Reads the pages of an index: links to files, in JSON (PEP 691) or HTML (PEP 503).

pip brings the libraries that read them; nothing of pip itself is used.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from http import HTTPStatus
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

from pip._vendor import requests
from pip._vendor.requests.exceptions import RequestException
from pip._vendor.requests.models import Response

from wheel_file import Trouble

SIMPLE = "application/vnd.pypi"
ACCEPT = f"{SIMPLE}.simple.v1+json, {SIMPLE}.simple.v1+html;q=0.2, text/html;q=0.1"
# Servers of files answer 403 as well as 404 for one that they lack.
GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN, HTTPStatus.GONE)
TIMEOUT_S = (20, 60)  # to connect, and between two packets
PAGE_BYTES_MAX = 64 << 20  # torch's page on the Python package index has 1 MB


@dataclass(frozen=True)
class Link:
    """A file as an index names it."""

    file: str
    url: str
    sha256: str = ""  # empty: the index names none
    size: int = 0  # 0: the index names none
    uploaded: str = ""  # as the index writes it; may be empty
    yanked: bool = False

    def fingerprint(self) -> str:
        """All that the index says of the file and that may tell when it is replaced."""
        size = str(self.size or "")
        path = urlsplit(self.url).path
        facts = {"sha256": self.sha256, "size": size, "time": self.uploaded, "path": path}
        return ";".join(f"{name}={quote(fact)}" for name, fact in facts.items() if fact)


def facts_of(fingerprint: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in fingerprint.split(";") if "=" in part)


def is_same_file(known: str, offered: str) -> bool:
    """Whether two fingerprints can be of the same file: where both name the hash that decides, else
    what both say must agree, and there must be something. As the service compares them."""
    first, second = facts_of(known), facts_of(offered)
    both = first.keys() & second.keys()
    decide = both & {"sha256"} or both
    return bool(decide) and all(first[name] == second[name] for name in decide)


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


def shown(url: str) -> str:
    """The address without a user's name and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def check_redirect(source: str, target: str) -> None:
    """A redirect leads to https, or from http to the same host. Errors: Trouble."""
    before, behind = urlsplit(source), urlsplit(target)
    stays = before.scheme == behind.scheme == "http" and before.hostname == behind.hostname
    if behind.scheme != "https" and not stays:
        raise Trouble(
            f"{shown(source)} leads to {behind.scheme}://{behind.hostname or ''}: "
            "a redirect is followed to https alone"
        )


def check_link(index: str, link: Link) -> None:
    """An index that is read over https has its files there. Errors: Trouble."""
    if urlsplit(index).scheme == "https" and urlsplit(link.url).scheme != "https":
        raise Trouble(f"{shown(index)} names {shown(link.url)}, which is not fetched over https")


class Session(requests.Session):
    """Follows only redirects that `check_redirect` lets through."""

    def get_redirect_target(self, resp: Response) -> str | None:
        target = super().get_redirect_target(resp)
        if target:
            check_redirect(resp.url, urljoin(resp.url, target))
        return target


def ask(method: str, url: str, **arguments: object) -> Response:
    """Sends a request. Errors: Trouble, when nobody answers or a redirect must not be followed."""
    try:
        verify = os.environ.get("PIP_CERT") or True
        with Session() as session:
            return session.request(method, url, timeout=TIMEOUT_S, verify=verify, **arguments)
    except RequestException as error:
        raise Trouble(f"cannot reach {shown(url)}: {cause_of(error)}") from None


def cause_of(error: BaseException) -> str:
    """The innermost reason in words, without the library's own."""
    reason = getattr(error, "args", ()) and error.args[0]
    reason = getattr(reason, "reason", reason)
    text = str(reason).rpartition(": ")[2] or type(error).__name__
    return text.strip("')\"")


def refusal(url: str, answer: Response, why: str = "") -> Trouble:
    """What to say of an answer that is not a file."""
    return Trouble(f"{shown(url)} answers {answer.status_code} {answer.reason}{why}")


def answer_of(url: str) -> Response:
    answer = ask("GET", url, headers={"Accept": ACCEPT}, stream=True)
    if answer.status_code != HTTPStatus.OK:
        raise refusal(url, answer, ": is [channel] index right, and is the server up?")
    return answer


def body_of(answer: Response) -> bytes:
    """Errors: Trouble, when the body is cut off or far too long."""
    stated = answer.headers.get("Content-Length", "")
    received = 0
    parts = []
    try:
        for part in answer.iter_content(1 << 16):
            parts.append(part)
            received += len(part)
            if received > PAGE_BYTES_MAX:
                raise Trouble(f"{shown(answer.url)} is longer than {PAGE_BYTES_MAX >> 20} MiB")
    except RequestException as error:
        raise Trouble(f"{shown(answer.url)} was cut off: {cause_of(error)}") from None
    is_coded = "Content-Encoding" in answer.headers
    if stated and not is_coded and received != int(stated):
        raise Trouble(f"{shown(answer.url)} was cut off after {received} of {stated} bytes")
    return b"".join(parts)


def address_of(reference: str, page: str) -> str:
    """Where a page's reference leads. Stores of files take a bare + for a blank."""
    address = urlsplit(urljoin(page, reference))
    return urlunsplit(address._replace(path=address.path.replace("+", "%2B"), fragment=""))


def links_of_json(text: bytes, url: str) -> list[Link]:
    page = json.loads(text)
    version = str(page.get("meta", {}).get("api-version", "1.0"))
    if version.partition(".")[0] != "1":
        raise Trouble(f"{shown(url)} speaks version {version} of the index's API; 1 is understood")
    return [
        Link(
            file=file["filename"],
            url=address_of(file["url"], url),
            sha256=(file.get("hashes", {}).get("sha256") or "").lower(),
            size=file.get("size") or 0,
            uploaded=file.get("upload-time") or "",
            yanked=bool(file.get("yanked")),
        )
        for file in page["files"]
    ]


def link_of(attributes: Mapping[str, str], url: str) -> Link:
    href, _, fragment = attributes["href"].partition("#")
    address = address_of(href, url)
    return Link(
        file=unquote(urlsplit(address).path.rpartition("/")[2]),
        url=address,
        sha256=fragment.partition("sha256=")[2].partition("&")[0].lower(),
        uploaded=attributes.get("data-upload-time", ""),
        yanked="data-yanked" in attributes,
    )


def links_of_page(text: bytes, url: str, may_be_bare: bool) -> list[Link]:
    page = Links()
    page.feed(text.decode(errors="replace"))
    page.close()
    if not page.is_ended and (page.is_begun or not may_be_bare):
        raise Trouble(f"{shown(url)} is half written: it has no </html>")
    return [link_of(attributes, urljoin(url, page.base)) for attributes in page.links]


def read_links(url: str, may_be_bare: bool = False) -> list[Link]:
    """The links of a page. `may_be_bare`: it may be links alone, without <html> around them.
    Errors: Trouble, when it cannot be reached, is half written or no page of an index."""
    answer = answer_of(url)
    text = body_of(answer)
    is_json = "json" in answer.headers.get("Content-Type", "")
    try:
        if is_json:
            return links_of_json(text, answer.url)
        return links_of_page(text, answer.url, may_be_bare)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Trouble(
            f"{shown(url)} is not a whole page of a package index ({type(error).__name__}: {error})"
        ) from None

"""Requests over HTTP: what is followed, how long is waited, how much is read. Used by libtorch.

pip brings the library; nothing of pip itself is used.
"""

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from http import HTTPStatus
from urllib.parse import urljoin, urlsplit, urlunsplit

from pip._vendor import requests
from pip._vendor.requests.exceptions import RequestException
from pip._vendor.requests.models import Response

from wheel_file import Trouble

# Servers of files answer 403 as well as 404 for one that they lack.
GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN, HTTPStatus.GONE)
TIMEOUT_S = (20, 60)  # to connect, and between two packets
PAGE_S_MAX = 300  # for all of a page, however slowly it comes
AGAIN_S = 5  # the limit strikes again where its first error was lost
PAGE_BYTES_MAX = 64 << 20  # torch's page on the Python package index has 1 MB
ADDRESS_BYTES_MAX = 8 << 10  # more than servers take; an argument of a program has 128 KiB
SHOWN_MAX = 500  # letters of an address in a message
# One packed byte becomes at most 1,000: this many are unpacked at once.
PACKED_BYTES = 16 << 10
CODINGS = ("gzip", "x-gzip", "deflate")


class Unreachable(Trouble):
    """Nobody answers."""


def shown(url: str) -> str:
    """The address without what may be secret, and not longer than a line can be: a user's name and
    password, and what follows a question mark, which signs the addresses of some servers."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        text = urlunsplit(parts._replace(netloc=host, query="", fragment=""))
    except ValueError:  # it is not an address
        text = re.sub(r"//[^/]*@", "//", url).partition("?")[0]
    text = url if url.startswith("/") else text  # the path of a file
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}..."


def check_address(url: str) -> None:
    """Errors: Trouble, where no program could send it on."""
    if len(url) > ADDRESS_BYTES_MAX:
        raise Trouble(
            f"the address {url[:60]!r}... has {len(url)} letters, more than {ADDRESS_BYTES_MAX}"
        )


def check_redirect(source: str, target: str) -> None:
    """A redirect leads to https, or from http to the same host. Errors: Trouble."""
    before, behind = urlsplit(source), urlsplit(target)
    stays = before.scheme == behind.scheme == "http" and before.hostname == behind.hostname
    if behind.scheme != "https" and not stays:
        raise Trouble(
            f"{shown(source)} leads to {behind.scheme}://{behind.hostname or ''}: "
            "a redirect is followed to https alone"
        )


class Session(requests.Session):
    """Follows only redirects that `check_redirect` lets through, and reads nothing of them."""

    def get_redirect_target(self, resp: Response) -> str | None:
        try:
            target = super().get_redirect_target(resp)
            if target:
                check_redirect(resp.url, urljoin(resp.url, target))
                resp.raw.close()  # the library would read its body whole, however long that is
        except ValueError:
            raise Trouble(
                f"{shown(resp.url)} leads to {resp.headers.get('Location', '')[:200]!r}, which is "
                "not an address"
            ) from None
        return target


def ask(method: str, url: str, headers: dict[str, str] | None = None, **more: object) -> Response:
    """Sends a request. Errors: Unreachable; Trouble, when a redirect must not be followed."""
    check_address(url)
    plain = {"Accept-Encoding": "identity"} | (headers or {})
    try:
        verify = os.environ.get("PIP_CERT") or True
        with Session() as session:
            return session.request(
                method, url, headers=plain, timeout=TIMEOUT_S, verify=verify, **more
            )
    except (RequestException, ValueError) as error:
        raise Unreachable(f"cannot reach {shown(url)}: {cause_of(error)}") from None


def cause_of(error: BaseException) -> str:
    """The innermost reason in words, without the library's own."""
    reason = getattr(error, "args", ()) and error.args[0]
    reason = getattr(reason, "reason", reason)
    text = str(reason).rpartition(": ")[2] or type(error).__name__
    return text.strip("')\"")


def refusal(url: str, answer: Response, why: str = "") -> Trouble:
    """What to say of an answer that is not a file."""
    return Trouble(f"{shown(url)} answers {answer.status_code} {answer.reason}{why}")


def has_it(url: str, answer: Response) -> bool:
    """Whether the server has what was asked for. Errors: Trouble, when it says neither."""
    if answer.status_code in GONE:
        return False
    if answer.status_code != HTTPStatus.OK:
        raise refusal(url, answer)
    return True


def coding_of(answer: Response) -> str:
    """How the body is packed; empty: it is as it is."""
    coding = str(answer.headers.get("Content-Encoding", "")).strip().lower()
    return "" if coding == "identity" else coding


def length_of(answer: Response) -> int | None:
    """The bytes of the body, where the server says it. Errors: Trouble."""
    stated = answer.headers.get("Content-Length", "")
    if not stated or coding_of(answer):
        return None
    if not re.fullmatch("[0-9]{1,18}", stated):
        raise Trouble(
            f"{shown(answer.url)} states the length {stated[:40]!r}: it must be a number of bytes"
        )
    return int(stated)


def blocks_of(answer: Response, size: int) -> Iterator[bytes]:
    """The body in blocks of that many bytes, or of few more where it is packed. Errors: Trouble,
    RequestException."""
    coding = coding_of(answer)
    if coding and coding not in CODINGS:
        raise Trouble(
            f"{shown(answer.url)} is sent coded as {coding[:40]!r}: it must be as it is, or gzip"
        )
    yield from answer.iter_content(PACKED_BYTES if coding else size)


def body_of(answer: Response, most: int = PAGE_BYTES_MAX) -> bytes:
    """Errors: Trouble, when the body is cut off or longer than `most`."""
    stated = length_of(answer)
    received = 0
    parts = []
    try:
        for part in blocks_of(answer, 1 << 16):
            parts.append(part)
            received += len(part)
            if received > most:
                raise Trouble(f"{shown(answer.url)} is longer than {most / (1 << 20):g} MiB")
    except RequestException as error:
        raise Trouble(f"{shown(answer.url)} was cut off: {cause_of(error)}") from None
    if stated is not None and received != stated:
        raise Trouble(f"{shown(answer.url)} was cut off after {received} of {stated} bytes")
    body = b"".join(parts)
    answer._content = body  # noqa: SLF001 whoever reads it again gets it again
    return body


@contextlib.contextmanager
def time_limit(url: str) -> Iterator[None]:
    """Limits the time of all that is done for a page: a server that sends a byte now and then
    satisfies every limit between two packets. In the main thread alone. Errors: Trouble."""

    def expire(*_: object) -> None:
        raise Trouble(f"{shown(url)} has not come within {PAGE_S_MAX} s: is the server slow?")

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, PAGE_S_MAX, AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

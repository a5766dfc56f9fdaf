"""GitHub's API as far as builds by Actions need it. Used by actions_build."""

import json
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin

from pip._vendor.requests.models import Response

from web_request import ask, body_of, check_redirect, time_limit
from wheel_file import Trouble

VERSION = "2022-11-28"
TRIES = 8
PAUSE_S, PAUSE_MAX_S = 5, 60
LIMIT_WAIT_MAX_S = 900  # longer than that, torchwatch waits itself and comes again
REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class Unsure(Trouble):
    """Nobody knows whether what was asked for was done."""


def document_of(answer: Response) -> dict[str, Any]:
    """Errors: Trouble."""
    try:
        with time_limit(answer.url):
            document = json.loads(body_of(answer))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise Trouble("GitHub's answer is no JSON")
    return document


def said_by(answer: Response) -> str:
    """What GitHub's answer says, in one line."""
    try:
        message = str(document_of(answer).get("message", ""))
    except Trouble:
        message = ""
    words = " ".join(message.split())[:200]
    return f"GitHub answers {answer.status_code}" + (f" ({words})" if words else "")


class Github:
    """One repository. `pause` and `now` are the machine's but in tests."""

    def __init__(
        self,
        api: str,
        repository: str,
        token: str,
        pause: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.api = api.rstrip("/")
        self.repository = repository
        self.token = token
        self.pause, self.now, self.wall = pause, now, wall

    def path(self, rest: str) -> str:
        return f"{self.api}/repos/{self.repository}/{rest}"

    def send(self, method: str, url: str, **arguments: object) -> Response:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self.token}",
            "User-Agent": "torchwatch",
            "X-GitHub-Api-Version": VERSION,
        }
        # No redirect is followed: it would hand the token to another host.
        with time_limit(url):
            return ask(
                method, url, headers=headers, allow_redirects=False, stream=True, **arguments
            )

    def limit_of(self, answer: Response, number: int) -> float | None:
        """How long a rate limit lasts; None where there is none."""
        headers = answer.headers
        is_limited = answer.status_code == HTTPStatus.TOO_MANY_REQUESTS
        if not is_limited and answer.status_code != HTTPStatus.FORBIDDEN:
            return None
        if stated := headers.get("Retry-After", ""):
            return float(stated) if stated.isdigit() else PAUSE_MAX_S
        if headers.get("X-RateLimit-Remaining") == "0":
            reset = headers.get("X-RateLimit-Reset", "")
            return max(1.0, int(reset) - self.wall() + 1) if reset.isdigit() else PAUSE_MAX_S
        is_limited = is_limited or "rate limit" in said_by(answer).lower()
        return float(PAUSE_MAX_S * 2**number) if is_limited else None

    def request(self, method: str, rest: str, **arguments: object) -> Response:
        """Asks until there is an answer that stays. A change that may have been made is not asked
        for again. Errors: Trouble, Unsure."""
        why = ""
        for number in range(TRIES):
            wait = float(min(PAUSE_S * 2**number, PAUSE_MAX_S))
            try:
                answer = self.send(method, self.path(rest), **arguments)
            except Trouble as error:
                why = str(error)
                if method != "GET":
                    raise Unsure(why) from None
            else:
                limit = self.limit_of(answer, number)
                if limit is None and answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:
                    return self.checked(answer)
                why = said_by(answer)
                if limit is None and method != "GET":
                    raise Unsure(why)
                wait = limit or wait
            if wait > LIMIT_WAIT_MAX_S:
                raise Trouble(f"{why}: its limit lasts {wait:.0f} s more")
            self.pause(wait)
        raise Trouble(f"{why}, {TRIES} times")

    def checked(self, answer: Response) -> Response:
        if answer.status_code in REFUSED:
            raise Trouble(
                f"{said_by(answer)} for {self.repository}: the token of [actions] must be valid, "
                "and needs Actions: read and write where the workflow is"
            )
        is_moved = answer.is_redirect and "/artifacts/" not in answer.url
        if is_moved:
            raise Trouble(f"{said_by(answer)}: has {self.repository} another name now?")
        return answer

    def get(self, rest: str) -> dict[str, Any]:
        """The document of an answer. Errors: Trouble."""
        answer = self.request("GET", rest)
        if answer.status_code != HTTPStatus.OK:
            raise Trouble(f"{said_by(answer)} to {rest.partition('?')[0]} of {self.repository}")
        return document_of(answer)

    def location_of(self, rest: str) -> str | None:
        """Where a file lies that is answered with a redirect; None where it is gone. The address
        holds a signature. Errors: Trouble."""
        answer = self.request("GET", rest)
        if answer.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
            return None
        location = answer.headers.get("Location", "")
        if answer.status_code != HTTPStatus.FOUND or not location:
            raise Trouble(f"{said_by(answer)} where an artifact is asked for")
        target = urljoin(answer.url, location)
        check_redirect(answer.url, target)
        return target

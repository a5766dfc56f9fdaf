"""Asks a torchwatch service for work, waits for the answer, and writes it into the job's summary.

The step of action.yml runs it, with what to ask in variables ASK_... (see `asked` and `main`). It
needs Python's standard library alone. A token is in no list of processes and in no output.

Exit status: 0 done, or still at work; 1 refused, failed or not reached; 2 wrong inputs, variables.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

TRIES = 8
PAUSE_S, PAUSE_MAX_S = 5, 60
TIMEOUT_S = 60
BODY_BYTES_MAX = 4 << 20
SUMMARY_BYTES_MAX = 900_000  # GitHub takes 1 MiB for a step
TOKEN_AGE_MAX_S = 180  # GitHub's live five minutes
AGAIN = (408, 425, 429, 500, 502, 503, 504)
ENDED = ("reported", "accepted", "refused", "failed", "cancelled")  # of comparisons
ENDPOINTS = {"nightly": "nightlies", "comparison": "comparisons", "bisection": "bisections"}
MEMBERS = {
    "nightly": (),
    "comparison": ("candidate", "baseline", "workloads", "configurations", "variants", "metrics"),
    "bisection": ("suspect", "good", "bad", "workloads", "configuration", "variant", "metric"),
}
REQUIRED = {"nightly": (), "comparison": ("candidate", "baseline"), "bisection": ()}
LISTS = ("workloads", "configurations", "variants", "metrics")
Row = dict[str, Any]
Rows = list[Row]


class Trouble(Exception):
    status = 1


class Wrong(Trouble):
    status = 2


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        try:
            return json.loads(self.body or b"null")
        except ValueError:
            return None


class StaysHere(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: it would hand the token to another host."""

    def redirect_request(self, *_: object) -> None:
        return None


OPENER = urllib.request.build_opener(StaysHere)


def one_line(text: object) -> str:
    """Foreign text so that the runner cannot take a part of it for one of its commands."""
    return re.sub(r"[^\x20-\x7e]+", " ", str(text)).replace("::", ": :")[:1000]


def say(text: object) -> None:
    print("torchwatch: " + one_line(text), flush=True)


def send(url: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
    """Sends a request, a POST if it has a body. Errors: OSError."""
    answer: Any
    try:
        answer = OPENER.open(urllib.request.Request(url, body, dict(headers)), timeout=TIMEOUT_S)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        stated = {name.lower(): value for name, value in answer.headers.items()}
        return Answer(answer.status, stated, answer.read(BODY_BYTES_MAX))


def checked_url(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    is_local = parts.hostname in ("127.0.0.1", "localhost", "::1")
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_local)
    if not (is_safe and parts.hostname) or parts.username or parts.query or parts.fragment:
        raise Wrong(
            "invalid url: must be the address of the service, such as https://perf.example.org: "
            "see the variable TORCHWATCH_URL"
        )
    return url.rstrip("/")


class Credentials:
    """The token that was given, or tokens of GitHub's for this job: a new one for each change."""

    def __init__(self, variables: Mapping[str, str], url: str) -> None:
        self.given = variables.get("ASK_TOKEN", "").strip()
        self.audience = variables.get("ASK_AUDIENCE", "").strip() or url
        self.issuer = variables.get("ACTIONS_ID_TOKEN_REQUEST_URL", "")
        self.secret = variables.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "")
        self.token, self.made_at = "", 0.0
        if not self.given and not (self.issuer and self.secret):
            raise Wrong(
                "no token: give the secret TORCHWATCH_TOKEN, or the job the permission "
                "`id-token: write` to sign in without one"
            )

    def make(self, now: float) -> str:
        separator = "&" if "?" in self.issuer else "?"
        url = f"{self.issuer}{separator}audience={urllib.parse.quote(self.audience, safe='')}"
        answer = send(url, {"Authorization": f"Bearer {self.secret}"})
        made = answer.json()
        token = made.get("value") if isinstance(made, dict) else None
        if answer.status != 200 or not isinstance(token, str) or not token:
            raise OSError(f"GitHub gives no token: it answers {answer.status}")
        print(f"::add-mask::{token}", flush=True)
        self.token, self.made_at = token, now
        return token

    def get(self, is_change: bool, now: float) -> str:
        if self.given:
            return self.given
        if is_change or not self.token or now - self.made_at > TOKEN_AGE_MAX_S:
            return self.make(now)
        return self.token

    def may_try_again(self) -> bool:
        """Whether a refused token may be followed by a better one."""
        self.token = ""
        return not self.given


class Service:
    """The API of the service."""

    def __init__(
        self,
        url: str,
        credentials: Credentials,
        pause: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.url, self.credentials, self.pause, self.now = url, credentials, pause, now

    def try_once(self, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        token = self.credentials.get(body is not None, self.now())
        sent = {"Authorization": f"Bearer {token}", "User-Agent": "torchwatch-actions", **headers}
        if body is not None:
            sent["Content-Type"] = "application/json"
        return send(self.url + path, sent, body)

    def ask(
        self, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Asks until there is an answer that stays. Errors: Trouble."""
        why = ""
        for number in range(TRIES):
            wait = float(min(PAUSE_S * 2**number, PAUSE_MAX_S))
            try:
                answer = self.try_once(path, body, headers or {})
            except OSError as error:
                why = f"{type(error).__name__}: {error}"
            else:
                is_stale = answer.status == 401 and self.credentials.may_try_again()
                if answer.status not in AGAIN and not is_stale:
                    return answer
                why = explained(answer)
                stated = answer.headers.get("retry-after", "")
                wait = max(wait, min(int(stated), 600)) if stated.isdigit() else wait
            if number + 1 < TRIES:
                say(f"{why}; asked again in {wait:.0f} s")
                self.pause(wait)
        raise Trouble(f"the service cannot be asked: {why}")

    def found(self, path: str) -> Answer:
        answer = self.ask(path)
        if answer.status != 200:
            raise Trouble(explained(answer))
        return answer

    def get(self, path: str, member: str) -> Row:
        """An object that has the member. Errors: Trouble."""
        document = self.found(path).json()
        if not isinstance(document, dict) or member not in document:
            raise Trouble(f"the answer lacks {member}: is {self.url} the address of torchwatch?")
        return document


def explained(answer: Answer) -> str:
    """What an answer says, in a line."""
    problem = answer.json()
    parts = ("title", "detail", "remedy") if isinstance(problem, dict) else ()
    said = [str(problem[part]) for part in parts if problem.get(part)]
    return ": ".join([f"the service answers {answer.status}", *said])


def asked(kind: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """The body of a request, from ASK_CANDIDATE and so on. Errors: Wrong."""
    if kind not in ENDPOINTS:
        raise Wrong(f'invalid kind "{kind}": must be {", ".join(ENDPOINTS)}')
    body: dict[str, Any] = {}
    for member in MEMBERS[kind]:
        text = variables.get(f"ASK_{member.upper()}", "").strip()
        if not text:
            continue
        words = re.split(r"[\s,]+", text) if member == "workloads" else text.split()
        for word in words:
            if not re.fullmatch(r"[A-Za-z0-9_.+=,~^/-]{1,200}", word) or word.startswith("-"):
                raise Wrong(f'invalid {member} "{one_line(word)}"')
        if member not in LISTS and len(words) != 1:
            raise Wrong(f'invalid {member} "{one_line(text)}": must be one word')
        body[member] = words if member in LISTS else words[0]
    if missing := [member for member in REQUIRED[kind] if member not in body]:
        raise Wrong(f"a {kind} needs {' and '.join(missing)}")
    if "configuration" in body:
        device, _, mode = body.pop("configuration").partition("-")
        body |= {"device": device, "mode": mode}
    return body


def key_of(body: bytes, variables: Mapping[str, str]) -> str:
    """The same for every try of this run: the service takes the request once."""
    names = ("GITHUB_REPOSITORY_ID", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT")
    run = "-".join(re.sub(r"[^0-9]", "", variables.get(name, "")) for name in names)
    return f"github-{run}-{hashlib.sha256(body).hexdigest()[:16]}"


class Waiting:
    """Pauses that grow, until the time is over."""

    def __init__(self, service: Service, minutes: float) -> None:
        self.service, self.number = service, 0
        self.end = service.now() + 60 * minutes

    def pause(self) -> bool:
        """Returns whether there is time left."""
        left = self.end - self.service.now()
        if left <= 0:
            return False
        self.service.pause(min(PAUSE_S * 1.5**self.number, PAUSE_MAX_S, left))
        self.number += 1
        return True


def wait_for_request(service: Service, number: int, waiting: Waiting) -> Row:
    """The request when it has ended, or when the time is over."""
    while True:
        row = service.get(f"/api/v1/requests/{number}", "state")
        if row["state"] not in ("pending", "running") or not waiting.pause():
            return row


def nightly_comparisons(service: Service) -> Rows:
    """The newest comparisons of nightlies, newest first."""
    page = service.get("/api/v1/comparisons?purpose=nightly&limit=50", "comparisons")
    return [row for row in page["comparisons"] or [] if {"id", "state"} <= row.keys()]


def wait_for_nightlies(service: Service, before: int, waiting: Waiting) -> Rows:
    """The comparisons that were opened since, when none is at work at two looks in a row or the
    time is over: the service may still be fetching a nightly at the first."""
    quiet = 0
    while True:
        rows = nightly_comparisons(service)
        quiet = quiet + 1 if all(row["state"] in ENDED for row in rows) else 0
        if quiet == 2 or not waiting.pause():
            return [row for row in rows if row["id"] > before]


def markdown_of(service: Service, page: str) -> str:
    answer = service.found(page + ".md")
    if len(answer.body) <= SUMMARY_BYTES_MAX:
        return answer.body.decode(errors="replace")
    cut = answer.body[:SUMMARY_BYTES_MAX].decode(errors="ignore").rpartition("\n")[0]
    return f"{cut}\n\nThe rest is too long for a summary.\n"


def append(file: str | None, text: str) -> None:
    if file:
        with Path(file).open("a", encoding="utf-8") as target:
            target.write(text)


class Report:
    """The outputs and the summary of the step."""

    def __init__(self, variables: Mapping[str, str], url: str) -> None:
        self.outputs = variables.get("GITHUB_OUTPUT")
        self.summary = variables.get("GITHUB_STEP_SUMMARY")
        self.url = url

    def output(self, name: str, value: object) -> None:
        append(self.outputs, f"{name}={one_line(value)}\n")

    def page(self, service: Service, path: str) -> None:
        self.output("page", self.url + path)
        text = markdown_of(service, path)
        append(self.summary, f"[{path.strip('/')}]({self.url}{path})\n\n{text}\n")
        say(f"the answer: {self.url}{path}")

    def line(self, text: str) -> None:
        append(self.summary, one_line(text) + "\n")
        say(text)


def report_nightlies(service: Service, report: Report, rows: Rows, minutes: float) -> int:
    at_work = [row["id"] for row in rows if row["state"] not in ENDED]
    for row in reversed(rows):
        if row["state"] in ENDED:
            report.page(service, f"/comparisons/{row['id']}")
    if at_work:
        report.line(f"After {minutes:g} minutes it is still at work, and continues by itself.")
    elif not rows:
        report.line("No nightly was due.")
    report.output("state", "pending" if at_work else "done")
    return 1 if any(row["state"] in ("failed", "cancelled") for row in rows) else 0


def report_request(service: Service, report: Report, row: Row, kind: str, minutes: float) -> int:
    report.output("state", row["state"])
    result = row.get("result") or {}
    if row["state"] in ("pending", "running"):
        report.line(
            f"After {minutes:g} minutes request {row['id']} is still {row['state']}, and "
            f"continues by itself: {report.url}/api/v1/requests/{row['id']}"
        )
        return 0
    if row["state"] != "done":
        report.line(f"Request {row['id']} was {row['state']}: {result.get('error', 'no reason')}")
        return 1
    if isinstance(result.get(kind), int):
        report.output(kind, result[kind])
        report.page(service, f"/{ENDPOINTS[kind]}/{result[kind]}")
    return 0


def submit(service: Service, kind: str, variables: Mapping[str, str]) -> int:
    """Stores the request; its number. Errors: Trouble, Wrong."""
    body = json.dumps(asked(kind, variables), separators=(",", ":")).encode()
    headers = {"Idempotency-Key": key_of(body, variables)}
    answer = service.ask(f"/api/v1/{ENDPOINTS[kind]}", body, headers)
    document = answer.json()
    number = document.get("id") if isinstance(document, dict) else None
    if answer.status != 202 or not isinstance(number, int):
        raise Trouble(explained(answer))
    return number


def run(service: Service, report: Report, variables: Mapping[str, str]) -> int:
    kind = variables.get("ASK_KIND", "")
    asked(kind, variables)  # before anybody is asked
    try:
        minutes = max(0.0, min(float(variables.get("ASK_WAIT_MINUTES") or 0), 7200.0))
    except ValueError:
        raise Wrong("invalid wait-minutes: must be a number, 0 not to wait") from None
    rows = nightly_comparisons(service) if kind == "nightly" and minutes else []
    # Those that are at work already are waited for, too.
    at_work = [row["id"] - 1 for row in rows if row["state"] not in ENDED]
    before = min(at_work or [max([row["id"] for row in rows], default=0)])
    number = submit(service, kind, variables)
    report.output("request", number)
    say(f"request {number} is stored: {report.url}/api/v1/requests/{number}")
    if not minutes:
        report.output("state", "pending")
        report.line(f"Request {number} is stored; nobody waits for its answer here.")
        return 0
    waiting = Waiting(service, minutes)
    row = wait_for_request(service, number, waiting)
    if kind == "nightly" and row["state"] == "done":
        opened = wait_for_nightlies(service, before, waiting)
        return report_nightlies(service, report, opened, minutes)
    return report_request(service, report, row, kind, minutes)


def main(variables: Mapping[str, str]) -> int:
    try:
        url = checked_url(variables.get("ASK_URL", "").strip())
        service = Service(url, Credentials(variables, url))
        return run(service, Report(variables, url), variables)
    except Trouble as trouble:
        print("::error::" + one_line(trouble).replace("%", "%25"), flush=True)
        return trouble.status


if __name__ == "__main__":
    sys.exit(main(os.environ))

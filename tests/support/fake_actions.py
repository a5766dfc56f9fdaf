"""A GitHub whose workflow builds commits, on loopback. Its clock is the test's.

What it was asked, and what it answered, is judged by GitHub's own description where the reference
data is at hand, with the paths of the project's that it lacks; else by the project's alone.
"""

import hashlib
import http.server
import io
import json
import re
import threading
import zipfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from described_exchanges import Description

CHECKOUT = Path(__file__).resolve().parents[2]
OWN_DESCRIPTION = CHECKOUT / "tests/integration/github/github_description.json"
DESCRIPTION = CHECKOUT.parent / "shared/reference/github/openapi-subset.json"
JSON = "application/json; charset=utf-8"
TOKEN = "ghp_of-these-tests"  # noqa: S105 the fake's
REPOSITORY = "owner/builds"
SIGNATURE = "sig=a-secret-of-the-store"
NOON = "2026-08-17T12:00:00Z"
SHA = "5d1c1c3f0a9e7b6d4c2f8e1a3b5d7f9021436587"  # of the branch whose workflow runs


def zip_of(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def user_shape(url: str, login: str = "owner") -> dict[str, Any]:
    here = f"{url}/users/{login}"
    lists = (
        "followers", "following", "gists", "starred", "subscriptions", "organizations", "repos",
        "events", "received_events",
    )  # fmt: skip
    return {f"{name}_url": f"{here}/{name}" for name in lists} | {
        "login": login,
        "id": 7,
        "node_id": "U_7",
        "type": "User",
        "site_admin": False,
        "gravatar_id": "",
        "url": here,
        "avatar_url": f"{here}/avatar",
        "html_url": f"https://github.com/{login}",
    }


def repository_shape(url: str) -> dict[str, Any]:
    """What nobody reads of the repository, and GitHub states with every run."""
    here = f"{url}/repos/{REPOSITORY}"
    links = (
        "archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits",
        "compare", "contents", "contributors", "deployments", "downloads", "events", "forks",
        "git_commits", "git_refs", "git_tags", "hooks", "issue_comment", "issue_events", "issues",
        "keys", "labels", "languages", "merges", "milestones", "notifications", "pulls",
        "releases", "stargazers", "statuses", "subscribers", "subscription", "tags", "teams",
        "trees",
    )  # fmt: skip
    owner, name = REPOSITORY.split("/")
    return {f"{link}_url": f"{here}/{link}" for link in links} | {
        "id": 74,
        "node_id": "R_74",
        "name": name,
        "full_name": REPOSITORY,
        "owner": user_shape(url, owner),
        "private": False,
        "html_url": f"https://github.com/{REPOSITORY}",
        "description": None,
        "fork": False,
        "url": here,
    }


def commit_shape(url: str, repository: str, sha: str) -> dict[str, Any]:
    here = f"{url}/repos/{repository}/commits/{sha}"
    git = f"{url}/repos/{repository}/git"
    return {
        "sha": sha,
        "node_id": f"C_{sha}",
        "url": here,
        "html_url": f"https://github.com/{repository}/commit/{sha}",
        "comments_url": f"{here}/comments",
        "commit": {
            "url": f"{git}/commits/{sha}",
            "message": "Change something",
            "author": {"name": "ada", "email": "ada@example.org", "date": NOON},
            "committer": {"name": "ada", "email": "ada@example.org", "date": NOON},
            "comment_count": 0,
            "tree": {"sha": SHA, "url": f"{git}/trees/{SHA}"},
        },
        "author": user_shape(url),
        "committer": user_shape(url),
        "parents": [],
    }


@cache
def description() -> Description:
    own = json.loads(OWN_DESCRIPTION.read_text(encoding="utf-8"))
    if not DESCRIPTION.exists():
        print("skipped: reference data not at hand (GitHub's own description); the project's "
              "small one is used")  # fmt: skip
        return Description(own)
    both = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    for place in (("paths",), *(("components", part) for part in own["components"])):
        into, more = both, own
        for name in place:
            into, more = into.setdefault(name, {}), more[name]
        for name, node in more.items():
            into.setdefault(name, node)
    return Description(both)


def is_general(status: int) -> bool:
    """Whether GitHub may answer so on any path, and describes it with few."""
    return status in (401, 403, 422, 429) or status >= 500


@dataclass
class Run:
    """A run of the workflow, and how it goes."""

    number: int
    inputs: dict[str, str]
    conclusion: str = "success"
    looks_left: int = 2  # until it has ended
    steps: list[dict[str, str]] = field(default_factory=list)
    artifact: bytes | None = None
    expired: bool = False
    is_cancelled: bool = False
    ref: str = "main"

    def json(self, url: str) -> dict[str, Any]:
        has_ended = self.looks_left <= 0
        here = f"{url}/repos/{REPOSITORY}/actions/runs/{self.number}"
        links = ("jobs", "logs", "check_suite", "artifacts", "cancel", "rerun", "workflow")
        return {f"{link}_url": f"{here}/{link}" for link in links} | {
            "id": self.number,
            "node_id": f"WFR_{self.number}",
            "display_title": f"torchwatch {self.inputs.get('request', '')}",
            "path": ".github/workflows/build.yml",
            "workflow_id": 7,
            "run_number": self.number,
            "event": "workflow_dispatch",
            "head_branch": self.ref,
            "head_sha": SHA,
            "status": "completed" if has_ended else "in_progress",
            "conclusion": self.conclusion if has_ended else None,
            "url": here,
            "html_url": f"{url}/{REPOSITORY}/actions/runs/{self.number}",
            "pull_requests": [],
            "created_at": NOON,
            "updated_at": NOON,
            "head_commit": None,
            "repository": repository_shape(url),
            "head_repository": repository_shape(url),
        }

    def job(self, url: str) -> dict[str, Any]:
        here = f"{url}/repos/{REPOSITORY}/actions/runs/{self.number}"
        numbered = enumerate(self.steps, 1)
        return {
            "id": self.number,
            "node_id": f"CR_{self.number}",
            "run_id": self.number,
            "run_url": here,
            "head_sha": SHA,
            "workflow_name": "build",
            "head_branch": self.ref,
            "name": "build",
            "url": f"{here}/jobs/{self.number}",
            "html_url": None,
            "status": "completed",
            "conclusion": self.conclusion,
            "created_at": NOON,
            "started_at": NOON,
            "completed_at": NOON,
            "check_run_url": f"{url}/repos/{REPOSITORY}/check-runs/{self.number}",
            "labels": ["ubuntu-24.04"],
            "runner_id": 1,
            "runner_name": "a runner",
            "runner_group_id": 1,
            "runner_group_name": "Default",
            "steps": [
                {"number": number, "status": "completed"} | step for number, step in numbered
            ],
        }


class FakeActions:
    """Answers at `url` until `close`. The test sets how the next runs go."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.next = Run(0, {})  # what the next one is like
        self.returns_details = True
        self.knows_details = True
        self.hidden_looks = 0  # how many lists do not have a new run yet
        self.states_digest = True
        self.stated_size: int | None = None
        self.faults: list[tuple[int, dict[str, str]]] = []  # answers that come before the right one
        self.lost_dispatches = 0  # made, but the answer is lost
        self.dispatched: list[dict[str, Any]] = []
        self.tokens_at_store: list[str] = []
        self.unknown_commits: set[str] = set()
        self.downloads_redirect_to = ""
        self.exchanges: list[dict[str, Any]] = []
        self.wrong_headers: list[str] = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                server.answer(self, "GET")

            def do_POST(self) -> None:
                server.answer(self, "POST")

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def violations(self) -> list[str]:
        """What it was asked, or has answered, that GitHub does not describe."""
        described = description()
        found = [
            violation
            for exchange in self.exchanges
            for violation in described.violations(exchange, is_described_only=False)
        ]
        return found + self.wrong_headers

    def note(self, request: http.server.BaseHTTPRequestHandler, method: str, body: bytes) -> None:
        address = urlsplit(request.path)
        what = f"{method} {address.path}"
        wanted = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        for name, value in wanted.items():
            if request.headers.get_all(name) != [value]:
                self.wrong_headers.append(f"{what}: header {name} is not once {value!r}")
        if not request.headers.get("User-Agent"):
            self.wrong_headers.append(f"{what}: no User-Agent")
        asked = {
            "method": method,
            "path": unquote(address.path),
            "query": [list(pair) for pair in parse_qsl(address.query, keep_blank_values=True)],
            "content_type": request.headers.get("Content-Type", ""),
            "body": body.decode(),
        }
        self.exchanges.append({"request": asked, "response": None})

    def answer(self, request: http.server.BaseHTTPRequestHandler, method: str) -> None:
        length = int(request.headers.get("Content-Length") or 0)
        content = request.rfile.read(length)
        body = json.loads(content or b"null")
        path = request.path.partition("?")[0]
        if path.startswith("/store/"):
            self.tokens_at_store.append(request.headers.get("Authorization", ""))
            run = next(run for run in self.runs if str(run.number) == path.rpartition("/")[2])
            return self.send(request, 200, run.artifact or b"", {"Content-Type": "application/zip"})
        self.note(request, method, content)
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.send(request, 401, b'{"message": "Bad credentials"}')
        if self.faults:
            status, headers = self.faults.pop(0)
            return self.send(request, status, b'{"message": "planted"}', headers)
        status, answer, headers = self.document(method, path, body)
        text = "" if answer is None else json.dumps(answer)
        if not is_general(status):
            kind = JSON if text else ""
            said = {"status": status, "content_type": kind, "body": text}
            self.exchanges[-1]["response"] = said
        if text:
            headers = {"Content-Type": JSON} | headers
        return self.send(request, status, text.encode(), headers)

    def send(
        self,
        request: http.server.BaseHTTPRequestHandler,
        status: int,
        body: bytes,
        headers: dict[str, str] | None = None,
    ) -> None:
        if status == 0:  # the connection breaks
            request.close_connection = True
            return
        request.send_response(status)
        for name, value in (headers or {}).items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def document(self, method: str, path: str, body: Any) -> tuple[int, Any, dict[str, str]]:
        if found := re.fullmatch(r"/repos/([^/]+/[^/]+)/commits/([0-9a-f]{40})", path):
            is_known = found[2] not in self.unknown_commits
            shape = commit_shape(self.url, found[1], found[2])
            return (200, shape, {}) if is_known else (422, {"message": "No commit"}, {})
        rest = path.removeprefix(f"/repos/{REPOSITORY}/actions/")
        if (method, rest) == ("POST", "workflows/build.yml/dispatches"):
            return self.dispatch(body)
        if rest == "workflows/build.yml/runs":
            visible = self.runs[: len(self.runs) - (1 if self.hidden_looks > 0 else 0)]
            self.hidden_looks -= 1 if len(visible) < len(self.runs) else 0
            runs = [run.json(self.url) for run in reversed(visible)]
            return 200, {"total_count": len(runs), "workflow_runs": runs}, {}
        if found := re.fullmatch(r"runs/(\d+)(/jobs|/artifacts|/cancel)?", rest):
            return self.of_run(self.runs[int(found[1]) - 1], found[2] or "")
        found = re.fullmatch(r"artifacts/(\d+)/zip", rest)
        run = self.runs[int(found[1]) - 1] if found else Run(0, {})
        if run.artifact is None:
            return 404, {"message": "Not Found"}, {}
        where = self.downloads_redirect_to or f"{self.url}/store/{run.number}?{SIGNATURE}"
        return 302, None, {"Location": where}

    def dispatch(self, body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        if "return_run_details" in body and not self.knows_details:
            return 422, {"message": "not permitted: return_run_details"}, {}
        if set(body) - {"ref", "inputs", "return_run_details"}:
            return 422, {"message": "Invalid request."}, {}
        self.dispatched.append(body)
        like = self.next
        run = Run(
            len(self.runs) + 1,
            body["inputs"],
            like.conclusion,
            like.looks_left,
            like.steps,
            like.artifact,
            like.expired,
            ref=body["ref"],
        )
        self.runs.append(run)
        if self.lost_dispatches > 0:
            self.lost_dispatches -= 1
            return 502, {"message": "Server Error"}, {}
        if self.returns_details and body.get("return_run_details"):
            url = f"{self.url}/repos/{REPOSITORY}/actions/runs/{run.number}"
            return 200, {"workflow_run_id": run.number, "run_url": url, "html_url": url}, {}
        return 204, None, {}

    def of_run(self, run: Run, what: str) -> tuple[int, Any, dict[str, str]]:
        if what == "/jobs":
            return 200, {"total_count": 1, "jobs": [run.job(self.url)]}, {}
        if what == "/cancel":
            run.is_cancelled, run.conclusion, run.looks_left = True, "cancelled", 0
            return 202, {}, {}
        if what == "/artifacts":
            artifacts = self.artifacts(run)
            return 200, {"total_count": len(artifacts), "artifacts": artifacts}, {}
        run.looks_left -= 1
        return 200, run.json(self.url), {}

    def artifacts(self, run: Run) -> list[dict[str, Any]]:
        if run.artifact is None and not run.expired:
            return []
        content = run.artifact or b""
        size = len(content) if self.stated_size is None else self.stated_size
        here = f"{self.url}/repos/{REPOSITORY}/actions/artifacts/{run.number}"
        stated = {
            "id": run.number,
            "node_id": f"A_{run.number}",
            "name": "libtorch",
            "url": here,
            "archive_download_url": f"{here}/zip",
            "expired": run.expired,
            "size_in_bytes": size,
            "created_at": NOON,
            "updated_at": NOON,
            "expires_at": NOON,
        }
        if self.states_digest:
            stated["digest"] = f"sha256:{hashlib.sha256(content).hexdigest()}"
        return [stated]

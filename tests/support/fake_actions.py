"""A GitHub whose workflow builds commits, on loopback. Its clock is the test's."""

import hashlib
import http.server
import io
import json
import re
import threading
import zipfile
from dataclasses import dataclass, field
from typing import Any

TOKEN = "ghp_of-these-tests"  # noqa: S105 the fake's
REPOSITORY = "owner/builds"
SIGNATURE = "sig=a-secret-of-the-store"


def zip_of(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


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
        return {
            "id": self.number,
            "display_title": f"torchwatch {self.inputs.get('request', '')}",
            "head_branch": self.ref,
            "status": "completed" if has_ended else "in_progress",
            "conclusion": self.conclusion if has_ended else None,
            "html_url": f"{url}/{REPOSITORY}/actions/runs/{self.number}",
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

    def answer(self, request: http.server.BaseHTTPRequestHandler, method: str) -> None:
        length = int(request.headers.get("Content-Length") or 0)
        body = json.loads(request.rfile.read(length) or b"null")
        path = request.path.partition("?")[0]
        if path.startswith("/store/"):
            self.tokens_at_store.append(request.headers.get("Authorization", ""))
            run = next(run for run in self.runs if str(run.number) == path.rpartition("/")[2])
            return self.send(request, 200, run.artifact or b"", {"Content-Type": "application/zip"})
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.send(request, 401, b'{"message": "Bad credentials"}')
        if self.faults:
            status, headers = self.faults.pop(0)
            return self.send(request, status, b'{"message": "planted"}', headers)
        status, answer, headers = self.document(method, path, body)
        content = b"" if answer is None else json.dumps(answer).encode()
        return self.send(request, status, content, headers)

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
        if found := re.fullmatch(r"/repos/[^/]+/[^/]+/commits/([0-9a-f]{40})", path):
            known = found[1] not in self.unknown_commits
            return (200, {"sha": found[1]}, {}) if known else (422, {"message": "No commit"}, {})
        rest = path.removeprefix(f"/repos/{REPOSITORY}/actions/")
        if (method, rest) == ("POST", "workflows/build.yml/dispatches"):
            return self.dispatch(body)
        if rest == "workflows/build.yml/runs":
            visible = self.runs[: len(self.runs) - (1 if self.hidden_looks > 0 else 0)]
            self.hidden_looks -= 1 if len(visible) < len(self.runs) else 0
            return 200, {"workflow_runs": [run.json(self.url) for run in reversed(visible)]}, {}
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
            return 200, {"jobs": [{"name": "build", "steps": run.steps}]}, {}
        if what == "/cancel":
            run.is_cancelled, run.conclusion, run.looks_left = True, "cancelled", 0
            return 202, {}, {}
        if what == "/artifacts":
            return 200, {"artifacts": self.artifacts(run)}, {}
        run.looks_left -= 1
        return 200, run.json(self.url), {}

    def artifacts(self, run: Run) -> list[dict[str, Any]]:
        if run.artifact is None and not run.expired:
            return []
        content = run.artifact or b""
        size = len(content) if self.stated_size is None else self.stated_size
        stated = {
            "id": run.number,
            "name": "libtorch",
            "expired": run.expired,
            "size_in_bytes": size,
        }
        if self.states_digest:
            stated["digest"] = f"sha256:{hashlib.sha256(content).hexdigest()}"
        return [stated]

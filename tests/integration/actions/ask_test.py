"""The script of the action, with a service and an issuer of tokens on loopback."""

import http.server
import io
import json
import sys
import tempfile
import threading
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

CHECKOUT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(CHECKOUT / ".github" / "actions" / "ask"))

import ask  # noqa: E402

SECRET = "tw_the-secret-of-this-test"  # noqa: S105
RUNNERS = "what-the-runner-proves-itself-with"


class Fake:
    """The service, and GitHub's issuer of tokens beside it."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []
        self.states = ["pending", "running", "done"]  # of the request, one a look
        self.result: dict[str, Any] = {"comparison": 7}
        self.faults: list[tuple[int, dict[str, str], bytes]] = []
        self.comparisons: list[list[dict[str, Any]]] = [[]]  # one a look, the last for ever
        self.page = "# Comparison 7\n\n4 series regressed.\n"
        self.tokens = 0
        self.audiences: list[str] = []
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                fake.answer(self)

            def do_POST(self) -> None:
                fake.answer(self)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def answer(self, to: http.server.BaseHTTPRequestHandler) -> None:
        body = to.rfile.read(int(to.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in to.headers.items()}
        status, more, content = self.reply(to.command, to.path, headers, body)
        to.send_response(status)
        for name, value in more.items():
            to.send_header(name, value)
        to.send_header("Content-Length", str(len(content)))
        to.end_headers()
        to.wfile.write(content)

    def reply(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        if path.startswith("/issuer"):
            self.tokens += 1
            self.audiences += parse_qs(urlsplit(path).query)["audience"]
            is_runner = headers.get("authorization") == f"Bearer {RUNNERS}"
            return 200 if is_runner else 401, {}, json.dumps({"value": f"t{self.tokens}"}).encode()
        self.requests.append((method, path, headers, json.loads(body) if body else None))
        if self.faults:
            return self.faults.pop(0)
        if method == "POST":
            return 202, {}, b'{"id": 3, "state": "pending"}'
        if path == "/api/v1/requests/3":
            state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
            row = {"id": 3, "state": state, "result": self.result if state != "pending" else None}
            return 200, {}, json.dumps(row).encode()
        if path.startswith("/api/v1/comparisons?"):
            rows = self.comparisons.pop(0) if len(self.comparisons) > 1 else self.comparisons[0]
            return 200, {}, json.dumps({"comparisons": rows}).encode()
        is_page = path.endswith(".md")
        return (200, {}, self.page.encode()) if is_page else (404, {}, b"{}")


class Ask(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.fake = Fake()
        self.addCleanup(self.fake.close)
        self.seconds = 0.0
        self.pauses: list[float] = []
        self.variables = {
            "ASK_URL": self.fake.url,
            "ASK_TOKEN": SECRET,
            "ASK_KIND": "comparison",
            "ASK_CANDIDATE": "2026-06-17",
            "ASK_BASELINE": "2026-06-16",
            "ASK_WAIT_MINUTES": "60",
            "GITHUB_REPOSITORY_ID": "74",
            "GITHUB_RUN_ID": "1000",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
        }

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds

    def run_script(self, **changes: str) -> tuple[int, str]:
        """The exit status and what was printed."""
        variables = self.variables | changes
        printed = io.StringIO()
        kept = ask.Service.__init__.__defaults__
        ask.Service.__init__.__defaults__ = (self.pause, lambda: self.seconds)
        try:
            with redirect_stdout(printed):
                status = ask.main(variables)
        finally:
            ask.Service.__init__.__defaults__ = kept
        self.assertNotIn(SECRET, printed.getvalue())
        return status, printed.getvalue()

    def text(self, name: str) -> str:
        file = self.folder / name
        return file.read_text() if file.exists() else ""

    def posts(self) -> list[tuple[str, dict[str, str], Any]]:
        return [row[1:] for row in self.fake.requests if row[0] == "POST"]

    def test_an_answer_is_waited_for_and_becomes_the_summary(self) -> None:
        status, printed = self.run_script(ASK_WORKLOADS="resnet18, bert")
        self.assertEqual(status, 0, printed)
        ((path, headers, body),) = self.posts()
        self.assertEqual(path, "/api/v1/comparisons")
        self.assertEqual(headers["authorization"], f"Bearer {SECRET}")
        self.assertEqual(
            body,
            {
                "candidate": "2026-06-17",
                "baseline": "2026-06-16",
                "workloads": ["resnet18", "bert"],
            },
        )
        self.assertIn("# Comparison 7\n\n4 series regressed.", self.text("summary"))
        self.assertIn(f"]({self.fake.url}/comparisons/7)", self.text("summary"))
        self.assertIn(f"page={self.fake.url}/comparisons/7\n", self.text("output"))
        self.assertIn("state=done\n", self.text("output"))

    def test_a_bisection_asks_for_the_members_that_the_api_knows(self) -> None:
        self.fake.result = {"bisection": 4}
        status, printed = self.run_script(
            ASK_KIND="bisection", ASK_SUSPECT="33de6cd", ASK_WORKLOADS="resnet18",
            ASK_CONFIGURATION="cuda-infer", ASK_METRIC="time",
        )  # fmt: skip
        self.assertEqual(status, 0, printed)
        ((path, _, body),) = self.posts()
        self.assertEqual(path, "/api/v1/bisections")
        self.assertEqual(
            body,
            {
                "suspect": "33de6cd", "workloads": ["resnet18"], "metric": "time",
                "device": "cuda", "mode": "infer",
            },
        )  # fmt: skip
        self.assertEqual(self.fake.requests[-1][1], "/bisections/4.md")

    def test_every_try_of_a_run_has_one_key_and_another_request_another(self) -> None:
        self.fake.faults = [(503, {}, b""), (429, {"Retry-After": "7"}, b"{}")]
        self.run_script()
        first = {headers["idempotency-key"] for _, headers, _ in self.posts()}
        self.assertEqual(len(self.posts()), 3)
        self.assertEqual(len(first), 1)
        self.assertEqual(self.pauses[:2], [5, 10])
        self.fake.requests.clear()
        self.run_script(ASK_CANDIDATE="2026-06-18")
        self.assertNotEqual({headers["idempotency-key"] for _, headers, _ in self.posts()}, first)

    def test_without_waiting_the_request_is_stored_and_that_is_all(self) -> None:
        status, _ = self.run_script(ASK_WAIT_MINUTES="0")
        self.assertEqual(status, 0)
        self.assertEqual(len(self.fake.requests), 1)
        self.assertIn("request=3\nstate=pending\n", self.text("output"))

    def test_waiting_has_an_end_that_is_no_failure(self) -> None:
        self.fake.states = ["running"]
        status, printed = self.run_script(ASK_WAIT_MINUTES="30")
        self.assertEqual(status, 0)
        self.assertIn("After 30 minutes request 3 is still running", printed)
        self.assertEqual(self.seconds, 1800)
        self.assertLess(len(self.pauses), 50, "with growing pauses")
        self.assertEqual(max(self.pauses), 60)

    def test_a_refusal_fails_and_says_why(self) -> None:
        self.fake.states = ["refused"]
        self.fake.result = {"error": "build 2026-06-17 cannot be fetched"}
        status, printed = self.run_script()
        self.assertEqual(status, 1)
        self.assertIn("Request 3 was refused: build 2026-06-17 cannot be fetched", printed)
        self.fake.faults = [(422, {}, b'{"title": "unprocessable", "detail": "no workload x"}')]
        status, printed = self.run_script()
        self.assertEqual(status, 1)
        self.assertIn("::error::the service answers 422: unprocessable: no workload x", printed)

    def test_an_answer_that_is_not_the_services_fails_with_a_sentence(self) -> None:
        for status, body in ((202, b"{}"), (202, b'{"id": "3"}'), (202, b"<html>"), (200, b"[]")):
            self.fake.faults = [(status, {}, body)]
            code, output = self.run_script()
            self.assertEqual(code, 1)
            self.assertIn(f"::error::the service answers {status}", output)
        for body in (b"{}", b"[]", b"<html>", b""):
            self.fake.faults = [(200, {}, body)]
            code, output = self.run_script(ASK_KIND="nightly")
            self.assertEqual(code, 1)
            self.assertIn("the answer lacks comparisons: is http://127.0.0.1:", output)

    def test_what_the_service_says_gives_the_runner_no_command(self) -> None:
        self.fake.states = ["failed"]
        self.fake.result = {"error": "no\n::set-output name=state::done\r\n##[add-path]/evil"}
        _, printed = self.run_script()
        for line in printed.splitlines():
            self.assertTrue(line.startswith("torchwatch: "), line)
        self.assertNotIn("::", printed)
        self.assertEqual(self.text("output").count("\n"), 2)

    def test_a_nightly_waits_for_what_was_opened_and_for_what_was_at_work(self) -> None:
        self.fake.result = {}
        old = {"id": 4, "state": "reported"}
        at_work, ended = {"id": 5, "state": "ready"}, {"id": 5, "state": "reported"}
        new, done = {"id": 6, "state": "discovered"}, {"id": 6, "state": "reported"}
        self.fake.comparisons = [[at_work, old], [at_work, old], [ended, old], [new, ended, old],
                                 [done, ended, old]]  # fmt: skip
        status, printed = self.run_script(ASK_KIND="nightly", ASK_CANDIDATE="", ASK_BASELINE="")
        self.assertEqual(status, 0, printed)
        ((path, _, body),) = self.posts()
        self.assertEqual((path, body), ("/api/v1/nightlies", {}))
        pages = [row[1] for row in self.fake.requests if row[1].endswith(".md")]
        self.assertEqual(pages, ["/comparisons/5.md", "/comparisons/6.md"])

    def test_a_nightly_with_nothing_due_says_so(self) -> None:
        self.fake.result = {}
        self.fake.comparisons = [[{"id": 4, "state": "reported"}]]
        status, printed = self.run_script(ASK_KIND="nightly")
        self.assertEqual(status, 0)
        self.assertIn("No nightly was due.", printed)
        self.fake.comparisons = [[], [{"id": 5, "state": "failed"}]]
        self.assertEqual(self.run_script(ASK_KIND="nightly")[0], 1)

    def oidc(self) -> dict[str, str]:
        return {
            "ASK_TOKEN": "",
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"{self.fake.url}/issuer?api-version=2.0",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": RUNNERS,
        }

    def test_without_a_secret_the_job_signs_in_with_a_new_token_for_each_change(self) -> None:
        self.fake.faults = [(503, {}, b"")]
        status, printed = self.run_script(**self.oidc())
        self.assertEqual(status, 0, printed)
        sent = [row[2]["authorization"] for row in self.fake.requests if row[0] == "POST"]
        self.assertEqual(sent, ["Bearer t1", "Bearer t2"])
        self.assertEqual(set(self.fake.audiences), {self.fake.url})
        for number in range(1, self.fake.tokens + 1):
            self.assertIn(f"::add-mask::t{number}\n", printed)
        self.assertNotIn(RUNNERS, printed)

    def test_a_token_is_renewed_before_it_ends_and_when_it_is_refused(self) -> None:
        self.fake.states = ["running"] * 20 + ["done"]
        status, _ = self.run_script(**self.oidc(), ASK_AUDIENCE="https://perf.example.org")
        self.assertEqual(status, 0)
        self.assertGreater(self.fake.tokens, 3)
        self.assertEqual(set(self.fake.audiences), {"https://perf.example.org"})
        self.fake.states = ["done"]
        self.fake.faults = [(401, {}, b"{}"), (401, {}, b"{}")]
        self.assertEqual(self.run_script(**self.oidc())[0], 0)

    def test_a_wrong_secret_is_not_tried_again(self) -> None:
        self.fake.faults = [(401, {}, b'{"detail": "this token is not known"}')]
        status, printed = self.run_script()
        self.assertEqual(status, 1)
        self.assertIn("this token is not known", printed)
        self.assertEqual(len(self.fake.requests), 1)

    def test_a_redirect_gets_no_token(self) -> None:
        self.fake.faults = [(307, {"Location": f"{self.fake.url}/elsewhere"}, b"")]
        status, printed = self.run_script()
        self.assertEqual(status, 1)
        self.assertIn("answers 307", printed)
        self.assertEqual(len(self.fake.requests), 1)

    def test_wrong_inputs_are_refused_before_anything_is_sent(self) -> None:
        for change, said in (
            ({"ASK_URL": "http://perf.example.org"}, "invalid url"),
            ({"ASK_URL": "https://me:secret@perf.example.org"}, "invalid url"),
            ({"ASK_URL": ""}, "TORCHWATCH_URL"),
            ({"ASK_TOKEN": ""}, "id-token: write"),
            ({"ASK_KIND": "all"}, "invalid kind"),
            ({"ASK_BASELINE": ""}, "needs baseline"),
            ({"ASK_CANDIDATE": "--all"}, "invalid candidate"),
            ({"ASK_CANDIDATE": "a b"}, "one word"),
            ({"ASK_CANDIDATE": "$(reboot)"}, "invalid candidate"),
            ({"ASK_WAIT_MINUTES": "soon"}, "invalid wait-minutes"),
        ):
            status, printed = self.run_script(**change)
            self.assertEqual(status, 2, printed)
            self.assertIn(said, printed)
        self.assertEqual(self.fake.requests, [])

    def test_a_page_that_is_too_long_is_cut_with_a_notice(self) -> None:
        self.fake.page = "line\n" * 400_000
        self.run_script()
        self.assertLess(len(self.text("summary")), 1 << 20)
        self.assertTrue(self.text("summary").endswith("The rest is too long for a summary.\n\n"))


if __name__ == "__main__":
    unittest.main()

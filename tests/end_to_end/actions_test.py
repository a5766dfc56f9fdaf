"""The script of .github/actions/ask against the real daemon: with a token, and signed in without
one by an issuer on loopback."""

import base64
import http.server
import json
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from command import CHECKOUT, TORCHWATCH, CommandTest, write_secret

TOKEN = "tw_of-this-end-to-end-test"  # noqa: S105
AUDIENCE = "https://perf.example.org"
RUNNERS = "what-the-runner-proves-itself-with"
WITHOUT_PAUSES = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
import ask
ask.Service.__init__.__defaults__ = (lambda seconds: time.sleep(0.01 * seconds), time.monotonic)
sys.exit(ask.main(os.environ))
"""
WORKFLOW = "owner/name/.github/workflows/nightly.yml@refs/heads/main"


def base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


class Issuer:
    """Signs tokens as GitHub does, for who asks as a job does, and publishes its key."""

    def __init__(self, folder: Path) -> None:
        self.key = folder / "issuer.pem"
        self.openssl("genrsa", "-out", self.key, "2048")
        modulus = self.openssl("rsa", "-in", self.key, "-noout", "-modulus").decode()
        self.modulus = bytes.fromhex(modulus.strip().partition("=")[2])
        self.count = 0
        self.changes: dict[str, Any] = {}  # to the claims
        issuer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                body = json.dumps(issuer.document(self.path)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def openssl(self, *arguments: object, given: bytes = b"") -> bytes:
        command = ["openssl", *map(str, arguments)]
        return subprocess.run(command, input=given, capture_output=True, check=True).stdout

    def document(self, path: str) -> dict[str, Any]:
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}
        if path == "/keys":
            key = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "one"}
            return {"keys": [key | {"n": base64url(self.modulus), "e": base64url(b"\1\0\1")}]}
        return {"value": self.token(parse_qs(urlsplit(path).query)["audience"][0])}

    def token(self, audience: str) -> str:
        self.count += 1
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": audience,
            "repository_id": "74",
            "repository": "owner/name",
            "ref": "refs/heads/main",
            "job_workflow_ref": WORKFLOW,
            "jti": f"job-{self.count}",
            # As issued later: tokens from before the daemon's start change nothing.
            "iat": now + 29,
            "nbf": now - 5,
            "exp": now + 300,
        } | self.changes
        header = {"alg": "RS256", "typ": "JWT", "kid": "one"}
        signed = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
        signature = self.openssl("dgst", "-sha256", "-sign", self.key, given=signed.encode())
        return f"{signed}.{base64url(signature)}"


class Actions(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.issuer = Issuer(self.folder)
        self.addCleanup(self.issuer.close)
        write_secret(self.folder / "token", TOKEN)
        self.configure(
            f'[web]\nport = 0\ntoken_file = "token"\npublic_address = "{AUDIENCE}"\n'
            f'[[web.oidc]]\nissuer = "{self.issuer.url}"\nrepository_id = "74"\n'
            f'ref = "refs/heads/main"\njob_workflow_ref = "{WORKFLOW}"\nscopes = ["measure"]\n'
        )
        (self.folder / "nightlies").mkdir()
        self.log = self.folder / "daemon.log"
        with self.log.open("w") as log:
            self.daemon = subprocess.Popen(
                [TORCHWATCH, "serve", "--config", self.configuration],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        self.addCleanup(self.stop)
        self.base = self.address()

    def stop(self) -> None:
        self.daemon.terminate()
        self.daemon.wait()

    def address(self) -> str:
        while "listening on " not in self.log.read_text():
            if self.daemon.poll() is not None:
                raise AssertionError("the daemon ended:\n" + self.log.read_text())
            time.sleep(0.1)
        return self.log.read_text().split("listening on ")[1].split()[0]

    def ask(self, **variables: str) -> subprocess.CompletedProcess[str]:
        given = {
            "ASK_URL": self.base,
            "ASK_KIND": "nightly",
            "GITHUB_REPOSITORY_ID": "74",
            "GITHUB_RUN_ID": "1",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "PATH": os.environ["PATH"],
        }
        return subprocess.run(
            [sys.executable, "-I", "-c", WITHOUT_PAUSES, CHECKOUT / ".github" / "actions" / "ask"],
            env=given | variables,
            text=True,
            capture_output=True,
            check=False,
        )

    def oidc(self) -> dict[str, str]:
        return {
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"{self.issuer.url}/token?api-version=2.0",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": RUNNERS,
            "ASK_AUDIENCE": AUDIENCE,
        }

    def requests(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.base}/api/v1/requests") as answer:
            rows: list[dict[str, Any]] = json.loads(answer.read())["requests"]
            return rows

    def status_with(self, token: str, path: str, body: bytes | None = None) -> int:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.base + path, body, headers)
        try:
            with urllib.request.urlopen(request) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def test_with_a_token_a_nightly_is_asked_for_once_however_often_the_run_tries(self) -> None:
        for _ in range(2):
            done = self.ask(ASK_TOKEN=TOKEN)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotIn(TOKEN, done.stdout + done.stderr)
        (row,) = self.requests()
        self.assertEqual(row["asked_by"], "token_file")

    def test_a_nightly_that_is_waited_for_ends_when_nothing_is_due(self) -> None:
        done = self.ask(ASK_TOKEN=TOKEN, ASK_WAIT_MINUTES="60")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual((self.folder / "summary").read_text(), "No nightly was due.\n")
        self.assertIn("state=done\n", (self.folder / "output").read_text())

    def test_what_the_api_refuses_fails_with_its_words(self) -> None:
        done = self.ask(
            ASK_TOKEN=TOKEN, ASK_KIND="comparison", ASK_CANDIDATE="1999-01-01", ASK_BASELINE="none"
        )
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("::error::the service answers 422", done.stdout)
        done = self.ask(ASK_TOKEN="tw_" + "0" * 64)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("401", done.stdout)

    def test_signed_in_without_a_secret_a_workflow_is_known_by_its_name(self) -> None:
        done = self.ask(**self.oidc())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + self.log.read_text())
        (row,) = self.requests()
        self.assertEqual(row["asked_by"], "actions owner/name@refs/heads/main")

    def test_a_signed_token_changes_something_once_and_never_as_somebody_else(self) -> None:
        self.assertEqual(self.ask(**self.oidc()).returncode, 0)
        token = self.issuer.token(AUDIENCE)
        nightlies = "/api/v1/nightlies"
        self.assertEqual(self.status_with(token, nightlies, b"{}"), 202)
        self.assertEqual(self.status_with(token, nightlies, b"{}"), 401)
        self.assertEqual(self.status_with(token, "/api/v1/requests"), 200)
        self.assertEqual(self.status_with(self.issuer.token(AUDIENCE), "/api/v1/tokens"), 403)
        self.assertEqual(
            self.status_with(self.issuer.token("https://other.example"), nightlies), 401
        )
        for change in (
            {"repository_id": "75"},
            {"ref": "refs/heads/other"},
            {"job_workflow_ref": WORKFLOW.replace("nightly", "evil")},
        ):
            self.issuer.changes = change
            self.assertEqual(self.status_with(self.issuer.token(AUDIENCE), nightlies, b"{}"), 401)
        said = self.log.read_text()
        self.assertNotIn(token, said)
        self.assertNotIn(token.rpartition(".")[2], said)


if __name__ == "__main__":
    import unittest

    unittest.main()

"""A server on loopback that answers whatever a test says, also what no server should."""

import http.server
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

Write = Callable[[bytes], object]


@dataclass
class Answer:
    body: bytes | Callable[[Write], None]  # or what writes it
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 200


class Answers:
    """Answers by path, until `close`. Others are answered with 404."""

    def __init__(self) -> None:
        self.by_path: dict[str, Answer] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []  # paths and headers
        handler = type("Handler", (Handler,), {"answers": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    answers: Answers

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.answers.asked.append((self.path, dict(self.headers)))
        answer = self.answers.by_path.get(self.path, Answer(b"", status=404))
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        try:
            if callable(answer.body):
                answer.body(self.wfile.write)
            else:
                self.wfile.write(answer.body)
        except OSError:
            pass  # whoever asked has heard enough

    def log_message(self, *_: object) -> None:
        pass

#!/usr/bin/env python3
"""Measures how long /healthz takes and what the daemon costs while clients try to keep it busy.

    requests_under_load.py TORCHWATCH [--seconds N] [--rate N] [--json]

TORCHWATCH is the program; a daemon of its own is started on an empty folder. Four kinds of clients
come from loopback addresses of their own, first none, then all at once:

  slow heads     sends a byte of a head every 100 ms and never ends it
  flood          asks for / at a fixed rate, on connections that it keeps, and waits for no answer
  newcomers      the same, with a connection for each request
  wrong tokens   posts with a token that does not exist

The flood and the newcomers share the rate. Beside them /healthz is asked five times a second from
another address, with a new connection each time, and a right token posts a body that is refused as
malformed, which shows that the token was let in. What the daemon uses of a core is read from /proc.
"""

import argparse
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Event, Process, Queue
from pathlib import Path
from typing import Any

TOKEN = "tw_a-token-of-this-experiment-0123456789"  # noqa: S105 its own daemon's
SLOW_ADDRESSES = [f"127.0.1.{n}" for n in range(1, 5)]
FLOOD_ADDRESS = "127.0.2.1"
NEWCOMER_ADDRESS = "127.0.2.2"
GUESSER_ADDRESS = "127.0.3.1"
PROBE_ADDRESS = "127.0.4.1"
WRITER_ADDRESS = "127.0.4.2"
PROBES_PER_SECOND = 5
FLOOD_CONNECTIONS = 60
GUESSES_PER_SECOND = 50
HOST = "127.0.0.1"


def connect(port: int, source: str, timeout: float = 5) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    made.settimeout(timeout)
    made.bind((source, 0))
    made.connect((HOST, port))
    return made


def paced(rate: float, end: Any) -> Iterator[None]:
    """One turn for each time that is due; what was missed is made up for at once."""
    due = time.monotonic()
    while not end.is_set():
        due += 1 / rate
        rest = due - time.monotonic()
        if rest > 0:
            time.sleep(rest)
        yield


def slow_heads(port: int, count: int, end: Any, _counts: Any) -> None:
    held: list[socket.socket | None] = [None] * count
    while not end.is_set():
        for i, known in enumerate(held):
            try:
                client = known or connect(port, SLOW_ADDRESSES[i % len(SLOW_ADDRESSES)])
                held[i] = client
                if known is None:
                    client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
                client.sendall(b"y")
            except OSError:
                held[i] = None  # it was cut off: come back in the next round
        time.sleep(0.1)


def flood(port: int, rate: int, end: Any, counts: Any) -> None:
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    held: list[socket.socket | None] = [None] * FLOOD_CONNECTIONS
    seen: Counter[str] = Counter()
    for turn, _ in enumerate(paced(rate, end)):
        at = turn % FLOOD_CONNECTIONS
        try:
            one = held[at]
            if one is None:
                one = held[at] = connect(port, FLOOD_ADDRESS)
                one.setblocking(False)
            seen["asked"] += 1
            one.sendall(request)
            answer = one.recv(65536)
            if not answer:
                held[at] = None
            for status in (b"200", b"429", b"503"):
                seen[status.decode()] += answer.count(b"HTTP/1.1 " + status)
        except BlockingIOError:
            pass  # not answered yet, or no more is taken from this connection
        except OSError:
            held[at] = None
    counts.put(("flood", seen))


def newcomers(port: int, rate: int, end: Any, counts: Any) -> None:
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    held: list[socket.socket | None] = [None] * FLOOD_CONNECTIONS
    seen: Counter[str] = Counter()
    for turn, _ in enumerate(paced(rate, end)):
        at = turn % FLOOD_CONNECTIONS
        last = held[at]
        held[at] = None
        try:
            if last is not None:
                last.setblocking(False)
                answer = last.recv(4096)
                seen[answer[9:12].decode() or "closed"] += 1
                last.close()
        except OSError:
            seen["no answer"] += 1
        try:
            seen["asked"] += 1
            one = held[at] = connect(port, NEWCOMER_ADDRESS, 1)
            one.sendall(request)
        except OSError:
            seen["no connection"] += 1
    counts.put(("newcomers", seen))


def post(port: int, source: str, token: str) -> int:
    connection = http.client.HTTPConnection(HOST, port, timeout=20, source_address=(source, 0))
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request("POST", "/api/v1/nightlies", "[]", headers)
    status = connection.getresponse().status
    connection.close()
    return status


def wrong_tokens(port: int, rate: int, end: Any, counts: Any) -> None:
    seen: Counter[str] = Counter()
    for turn, _ in enumerate(paced(rate, end)):
        try:
            seen[str(post(port, GUESSER_ADDRESS, f"tw_wrong-{turn}"))] += 1
        except (OSError, http.client.HTTPException):
            seen["no answer"] += 1
    counts.put(("wrong tokens", seen))


def probe(port: int, end: Any, counts: Any) -> None:
    """Asks /healthz, and now and then posts with the right token. Its own waiting for a core beside
    the other clients is not the daemon's, so it runs before them where it may."""
    with suppress(PermissionError):
        os.nice(-20)
    times: list[float] = []
    seen: Counter[str] = Counter()
    for turn, _ in enumerate(paced(PROBES_PER_SECOND, end)):
        begun = time.monotonic()
        try:
            connection = http.client.HTTPConnection(
                HOST, port, timeout=20, source_address=(PROBE_ADDRESS, 0)
            )
            connection.request("GET", "/healthz")
            seen[f"healthz {connection.getresponse().status}"] += 1
            connection.close()
        except (OSError, http.client.HTTPException):
            seen["healthz failed"] += 1
        times.append(time.monotonic() - begun)
        if turn % PROBES_PER_SECOND == 0:
            seen[f"right token {post(port, WRITER_ADDRESS, TOKEN)}"] += 1
    counts.put(("probe", seen))
    counts.put(("times", times))


def seconds_used(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


Clients = list[tuple[Callable[..., None], int]]
"""What each kind of client does, and how many or how often a second."""


def clients_of(slow: int, rate: int) -> Clients:
    return [
        (slow_heads, slow),
        (flood, rate // 2),
        (newcomers, rate // 2),
        (wrong_tokens, GUESSES_PER_SECOND),
    ]


def measure(
    daemon: int, port: int, clients: Clients, meanwhile: Callable[[], object]
) -> dict[str, Any]:
    """Figures of the time that `meanwhile` takes, with these clients at work."""
    end = Event()
    counts: Queue[tuple[str, Any]] = Queue()
    started = [Process(target=work, args=(port, n, end, counts)) for work, n in clients]
    started.append(Process(target=probe, args=(port, end, counts)))
    for one in started:
        one.start()
    begun, used = time.monotonic(), seconds_used(daemon)
    meanwhile()
    share = (seconds_used(daemon) - used) / (time.monotonic() - begun)
    end.set()
    reports = sum(1 for work, _ in clients if work is not slow_heads) + 2
    found = dict(counts.get(timeout=60) for _ in range(reports))
    for one in started:
        one.join()
    times = sorted(found.pop("times"))
    return {
        "probes": len(times),
        "median_ms": 1e3 * times[len(times) // 2],
        "p99_ms": 1e3 * times[int(0.99 * (len(times) - 1))],
        "max_ms": 1e3 * times[-1],
        "share_of_a_core": share,
        "counts": found,
    }


@contextmanager
def daemon_of(program: Path, keys: str = "") -> Iterator[tuple[Path, int, int]]:
    """Folder, process and port of a daemon on an empty channel, with further keys."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "nightlies").mkdir()
        token = folder / "token"
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        with socket.socket() as free:
            free.bind((HOST, 0))
            port = free.getsockname()[1]
        config = folder / "torchwatch.toml"
        config.write_text(
            f'[web]\nport = {port}\ntoken_file = "token"\n'
            f'[executor]\nmachine_lock = "{folder.name}"\n'
            '[log]\nlevel = "warning"\n' + keys
        )
        daemon = subprocess.Popen(
            [program, "serve", "--config", config], stdout=subprocess.DEVNULL, cwd=folder
        )
        try:
            wait_until_it_answers(daemon, port)
            yield folder, daemon.pid, port
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait()


def answers_well(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}/help", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:  # a refused connection and an answer that is an error
        return False


def wait_until_it_answers(daemon: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(200):
        # What answers 503 until the database is open makes way for the daemon.
        if answers_well(port):
            return
        if daemon.poll() is not None:
            break
        time.sleep(0.05)
    sys.exit(f"{Path(sys.argv[0]).name}: the daemon does not answer")


def print_table(result: dict[str, Any]) -> None:
    for name, row in result.items():
        print(
            f"{name}: /healthz {row['median_ms']:.1f} ms in the median, {row['p99_ms']:.1f} in"
            f" 99 %, {row['max_ms']:.1f} at most, of {row['probes']}; the daemon"
            f" {100 * row['share_of_a_core']:.1f} % of a core"
        )
        for who, counts in row["counts"].items():
            print(f"  {who}: " + ", ".join(f"{n:,} {what}" for what, n in sorted(counts.items())))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path, metavar="TORCHWATCH")
    parser.add_argument("--seconds", type=float, default=20, help="of each of the two parts (20)")
    parser.add_argument("--rate", type=int, default=3000, help="requests a second (3000)")
    parser.add_argument("--slow", type=int, default=200, help="clients with slow heads (200)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    with daemon_of(options.program.resolve()) as (_, process, port):

        def figures(clients: Clients) -> dict[str, Any]:
            return measure(process, port, clients, lambda: time.sleep(options.seconds))

        result = {
            "alone": figures([]),
            "under load": figures(clients_of(options.slow, options.rate)),
        }
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print_table(result)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures how long GitHub waits for the answer to a webhook's delivery.

    webhook_answers.py TORCHWATCH FOLDER [--deliveries N] [--rate N] [--nightlies N] [--json]

TORCHWATCH is the program. FOLDER gets a database of that many nightlies, made by
tests/support/two_years at the first call and used again by later ones. A daemon of its own gets
signed comments with a command, each of which it stores before it answers, first while it has
nothing else to do, then while another process stores runs with their samples and, every twenty
seconds, the verdicts of the whole suite in one transaction. Each delivery has a connection of its
own, as GitHub's have; a time is from before the connection to the answer's last byte.

GitHub itself is an address where nobody answers: what was taken waits to be worked off, as it does
whenever GitHub is away.
"""

import argparse
import hashlib
import hmac
import http.client
import json
import sys
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "page_costs"))

from served import HOST, Served, daemon_of, make
from storing import storing_into

SECRET = "a secret of this experiment's webhook"  # noqa: S105 its own daemon's
PATH = "/api/v1/webhooks/github"
NOBODY = "http://127.0.0.1:9"
KEYS = f"""[github]
repository = "owner/name"
api = "{NOBODY}"
token_file = "github-token"
webhook_secret_file = "webhook-secret"
"""
STORED = 202


def comment(number: int) -> bytes:
    """What GitHub sends of a comment with a command, without most of what nobody reads."""
    user = {"login": "ada", "id": 5, "type": "User"}
    text = "I have looked into it, and it is meant.\r\n" * 50 + "\r\n/ack it is meant\r\n"
    payload = {
        "action": "created",
        "issue": {"number": number, "title": "[perf] slower", "user": user, "state": "open"},
        "comment": {"id": 1_000_000 + time.time_ns() % 10**12, "body": text, "user": user},
        "repository": {"full_name": "owner/name"},
        "sender": user,
    }
    return json.dumps(payload).encode()


def deliver(port: int, body: bytes) -> tuple[int, float]:
    """The status of the answer, and the seconds that it took."""
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/abcdef0",
        "X-GitHub-Event": "issue_comment",
        "X-GitHub-Delivery": str(uuid.uuid4()),
        "X-Hub-Signature-256": f"sha256={signature}",
    }
    begun = time.monotonic()
    connection = http.client.HTTPConnection(HOST, port, timeout=20)
    connection.request("POST", PATH, body, headers)
    answer = connection.getresponse()
    answer.read()
    seconds = time.monotonic() - begun
    connection.close()
    return answer.status, seconds


def figures(served: Served, deliveries: int, rate: float) -> dict[str, Any]:
    statuses: Counter[int] = Counter()
    times: list[float] = []
    due = time.monotonic()
    for number in range(deliveries):
        due += 1 / rate
        time.sleep(max(0, due - time.monotonic()))
        status, seconds = deliver(served.port, comment(1 + number % 200))
        statuses[status] += 1
        if status == STORED:
            times.append(seconds)
    if not times:
        sys.exit(f"webhook_answers.py: no delivery was stored: {dict(statuses)}")
    times.sort()
    return {
        "deliveries": len(times),
        "others": {str(status): n for status, n in statuses.items() if status != STORED},
        "median_ms": 1e3 * times[len(times) // 2],
        "p99_ms": 1e3 * times[int(0.99 * (len(times) - 1))],
        "max_ms": 1e3 * times[-1],
    }


def measure(options: argparse.Namespace) -> dict[str, Any]:
    folder = options.folder.resolve() / "webhooks"
    make(options.program.resolve(), folder, "--nightlies", str(options.nightlies))
    for name, text in (("github-token", "ghs_nobody-takes-this"), ("webhook-secret", SECRET)):
        (folder / name).write_text(text + "\n")
        (folder / name).chmod(0o600)
    daemon = daemon_of(options.program.resolve(), folder, KEYS)
    with daemon as served:
        idle = figures(served, options.deliveries, options.rate)
        with storing_into(folder / "state" / "torchwatch.sqlite") as runs:
            storing = figures(served, options.deliveries, options.rate)
            storing["runs_stored_meanwhile"] = runs.value
    return {"idle": idle, "while a comparison is stored": storing}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path, metavar="TORCHWATCH")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--deliveries", type=int, default=500, help="of each of two parts (500)")
    parser.add_argument("--rate", type=float, default=8, help="deliveries a second (8)")
    parser.add_argument("--nightlies", type=int, default=730, help="of the database (730)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    result = measure(options)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for name, row in result.items():
        print(
            f"{name}: {row['median_ms']:.1f} ms in the median, {row['p99_ms']:.1f} in 99 %,"
            f" {row['max_ms']:.1f} at most, of {row['deliveries']}; others {row['others']}"
        )


if __name__ == "__main__":
    main()

"""A client that follows the real daemon's events over a restart gets each of them once."""

import http.client
import json
import os
import unittest
import urllib.parse

from command import CommandTest, write_secret
from service import TOKEN, Daemon, ask

PATIENCE_S = 60


class Stream:
    """The events after one of them, as the daemon sends them."""

    def __init__(self, base: str, after: int) -> None:
        address = urllib.parse.urlsplit(base).netloc
        self.connection = http.client.HTTPConnection(address, timeout=PATIENCE_S)
        self.connection.request("GET", "/api/v1/events", headers={"Last-Event-ID": str(after)})
        self.answer = self.connection.getresponse()

    def next(self) -> dict[str, str]:
        """The members of the next event; none once the daemon has ended the stream."""
        event: dict[str, str] = {}
        while line := self.answer.readline().decode():
            name, _, value = line.rstrip("\n").partition(": ")
            if name in ("id", "event", "data"):
                event[name] = value
            elif not line.strip() and "data" in event:
                return event
            elif not line.strip():
                event = {}
        return {}

    def until_request(self, number: int) -> list[int]:
        """The ids of the events up to the one of a request that came in."""
        ids = []
        while event := self.next():
            ids.append(int(event["id"]))
            data = json.loads(event["data"])
            if (data["kind"], data["item"]) == ("request", str(number)):
                return ids
        raise AssertionError("the stream has ended")

    def rest(self) -> list[int]:
        ids = []
        while event := self.next():
            ids.append(int(event["id"]))
        return ids


class Events(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        (self.folder / "builds").mkdir()
        write_secret(self.folder / "token", TOKEN)
        self.configure("""
[channel]
path = "builds"
[storage]
path = "torchwatch.sqlite"
[web]
port = 0
token_file = "token"
""")

    def start(self) -> Daemon:
        daemon = Daemon(self.folder, dict(os.environ))
        self.addCleanup(daemon.process.wait)
        self.addCleanup(daemon.process.terminate)
        return daemon

    def ask(self, daemon: Daemon) -> int:
        return int(ask(daemon.base + "/api/v1/nightlies", {}, TOKEN)[1]["id"])

    def test_no_event_is_lost_or_doubled_over_a_restart(self) -> None:
        first = self.start()
        stream = Stream(first.base, 0)
        got = stream.until_request(self.ask(first))
        got += stream.until_request(self.ask(first))
        self.assertEqual(first.stop(), 0, first.said())
        got += stream.rest()

        second = self.start()
        last = self.ask(second)
        again = Stream(second.base, got[-1])
        got += again.until_request(last)
        self.assertEqual(got, list(range(1, len(got) + 1)))
        self.assertEqual(second.stop(), 0, second.said())


if __name__ == "__main__":
    unittest.main()

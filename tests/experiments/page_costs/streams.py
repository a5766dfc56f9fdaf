"""Many clients that follow the events at once."""

import json
import resource
import select
import socket
import time
import urllib.request
from contextlib import suppress
from typing import Any

from served import HOST, TOKEN, Served, memory_mb
from visits import Client, summary_of

EACH_ADDRESS = 50  # as an address without a token may ask at once
PROBES = 50
PATIENCE_SECONDS = 30


def raise_open_files(wanted: int) -> None:
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, most), most))


def follow(port: int, number: int) -> socket.socket:
    """A stream from an address that few share; its head and greeting have been read."""
    made = socket.socket()
    made.settimeout(PATIENCE_SECONDS)
    made.bind((f"127.0.9.{number // EACH_ADDRESS + 1}", 0))
    made.connect((HOST, port))
    made.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    text = b""
    while b"\r\n\r\n" not in text or not text.partition(b"\r\n\r\n")[2].endswith(b"\n\n"):
        got = made.recv(4096)
        if not got:
            raise RuntimeError(f"stream {number}: {text.decode()}")
        text += got
    if b" 200 " not in text.partition(b"\r\n")[0]:
        raise RuntimeError(f"stream {number}: {text.decode()}")
    return made


def happen(port: int) -> float:
    """Makes one event, a request; returns when it was asked for."""
    begun = time.perf_counter()
    request = urllib.request.Request(
        f"http://{HOST}:{port}/api/v1/nightlies",
        b"{}",
        {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        json.loads(answer.read())
    return begun


def arrivals(streams: list[socket.socket], begun: float) -> list[float]:
    """When the event was at each of those that it reached."""
    waiting = select.poll()
    by_number = {each.fileno(): each for each in streams}
    for number in by_number:
        waiting.register(number, select.POLLIN)
    seconds: list[float] = []
    while by_number and time.perf_counter() - begun < PATIENCE_SECONDS:
        for number, _ in waiting.poll(1000):
            text = by_number[number].recv(65536)
            if text and b"event: request" not in text:
                continue  # a sign of life, or another event
            waiting.unregister(number)
            del by_number[number]
            if text:
                seconds.append(time.perf_counter() - begun)
    return seconds


def measure(served: Served, count: int) -> dict[str, Any]:
    raise_open_files(count + 256)
    before = memory_mb(served.process)
    streams: list[socket.socket] = []
    try:
        streams.extend(follow(served.port, number) for number in range(count))
        with_streams = memory_mb(served.process)
        probe = Client(served.port)
        probes = [probe.get("/healthz")[2] for _ in range(PROBES)]
        probe.close()
        reached = arrivals(streams, happen(served.port))
    finally:
        for each in streams:
            with suppress(OSError):
                each.close()
    added = with_streams["all"] - before["all"]
    return {
        "streams": count,
        "added_mb": added,
        "kb_each": 1e3 * added / count,
        "healthz": summary_of(probes),
        "reached": len(reached),
        "last_reached_ms": 1e3 * max(reached, default=0.0),
    }

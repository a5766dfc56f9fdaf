#!/usr/bin/env python3
"""Calls the recipe in TORCHWATCH_RECIPE and adds what it took to builds.jsonl in its work folder.

A line of JSON when it begins and one when it ends: commit, for whom (TORCHWATCH_BUILD_FOR), status,
seconds, processor seconds of all its processes, the machine's load, and what ccache found and
missed.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path


def counters() -> dict[str, int]:
    done = subprocess.run(["ccache", "--print-stats"], capture_output=True, text=True, check=False)
    wanted = ("direct_cache_hit", "preprocessed_cache_hit", "cache_miss")
    split = (line.split() for line in done.stdout.splitlines())
    return {words[0]: int(words[1]) for words in split if words[0] in wanted}


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def load() -> list[float] | None:
    """The machine's load averages over 1, 5 and 15 minutes, where they can be read."""
    try:
        return [round(average, 2) for average in os.getloadavg()]
    except OSError:
        return None


def note(**row: object) -> None:
    """Adds a line, which is on the disk when this returns, behind the last whole one: a call that
    was killed may have left a part of its own. The sandbox hides other modules from here."""
    purpose = os.environ.get("TORCHWATCH_BUILD_FOR", "")
    line = json.dumps({"commit": os.environ["TORCHWATCH_COMMIT"], "for": purpose, **row}) + "\n"
    with (Path(os.environ["TORCHWATCH_PYTORCH_WORK"]) / "builds.jsonl").open("a+b") as file:
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


class Call:
    """The recipe, to which a signal is passed whenever it comes, also while it is being started."""

    def __init__(self) -> None:
        self._signal: int | None = None
        self._child: subprocess.Popen[bytes] | None = None
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)

    def _stop(self, number: int, _: object) -> None:
        self._signal = number
        if self._child:
            os.killpg(self._child.pid, number)

    def status(self) -> int:
        self._child = subprocess.Popen([os.environ["TORCHWATCH_RECIPE"]], start_new_session=True)
        if self._signal is not None:
            os.killpg(self._child.pid, self._signal)
        return self._child.wait()


def main() -> int:
    before, begun = counters(), time.monotonic()
    note(event="begun", at=int(time.time()))
    status = Call().status()
    after = counters()
    note(
        event="ended",
        status=status,
        seconds=round(time.monotonic() - begun, 1),
        processor_seconds=round(processor_seconds(), 1),
        load=load(),
        **{name: count - before.get(name, 0) for name, count in after.items()},
    )
    return status if status >= 0 else 1


if __name__ == "__main__":
    sys.exit(main())

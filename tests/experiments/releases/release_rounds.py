"""Lets torchwatch compare pairs of releases, once or twice, and keeps what each comparison said."""

import fcntl
import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import stoppable_call
from kept_rows import KeptRows
from nightly_call import CONCLUDED
from stoppable_call import INTERRUPTED

Pair = tuple[str, str]
Measured = tuple[Pair, dict[str, Any], dict[str, Any] | None]
"""A pair, what its first comparison said, and what its second did; None: there is none yet."""

# Nothing of [measure]: what torchwatch is delivered with.
CONFIGURATION = """\
[storage]
path = "{state}/releases.sqlite"
[build]
cache = "{state}/builds"
[executor]
scratch = "{state}/scratch"
[suite]
preset = "small"
configurations = ["cpu-train", "cpu-infer"]
"""


@dataclass(frozen=True)
class Call:
    """One comparison that is to be made."""

    pair: Pair
    number: int  # of its round: 1, 2
    selection: list[str]  # the workloads that the user asked for; none: the whole suite
    workloads: list[str]  # those of this comparison; none: the whole suite

    @property
    def key(self) -> dict[str, Any]:
        return _key(self.pair, self.number, self.selection)


def _key(pair: Pair, number: int, selection: list[str]) -> dict[str, Any]:
    return {
        "baseline": pair[0],
        "candidate": pair[1],
        "round": number,
        "selection": selection,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def say(line: str) -> None:
    print(f"releases: {line}", file=sys.stderr)


def hold(folder: Path) -> TextIO:
    """Waits for the folder and has it alone until this and the program that it called have ended:
    the caller may be killed and the program not."""
    file = (folder / "measuring").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say(f"waiting for what measures in {folder}")
        fcntl.flock(file, fcntl.LOCK_EX)
    return file


class Comparisons:
    """What was measured so far, by pair, round and selection, and what was begun."""

    def __init__(self, folder: Path) -> None:
        self._kept = KeptRows(folder / "comparisons.jsonl")
        self._begun = KeptRows(folder / "begun.jsonl")

    def of(self, pair: Pair, number: int, selection: list[str]) -> dict[str, Any] | None:
        return self._kept.find(**_key(pair, number, selection))

    def documents(self, selection: list[str]) -> list[Measured]:
        firsts = [
            row for row in self._kept.rows if row["round"] == 1 and row["selection"] == selection
        ]
        pairs = [(row["baseline"], row["candidate"]) for row in firsts]
        seconds = [self.of(pair, 2, selection) for pair in pairs]
        return [
            (pair, first["document"], second["document"] if second else None)
            for pair, first, second in zip(pairs, firsts, seconds, strict=True)
        ]

    def begin(self, call: Call) -> None:
        if not self.has_begun(call):
            self._begun.add({**call.key, "workloads": call.workloads, "at": _now()})

    def has_begun(self, call: Call) -> bool:
        return self._begun.find(**call.key) is not None

    def may_be(self, call: Call, item: dict[str, Any]) -> bool:
        """Whether a comparison in torchwatch's list is what the call, which began, came to; another
        call of the pair may have had other workloads."""
        row = self._begun.find(**call.key)
        return (
            row is not None
            and item["ended_at"] is not None
            and item["state"] not in ("refused", "failed", "cancelled")
            and (item["baseline"]["name"], item["candidate"]["name"]) == call.pair
            and datetime.fromisoformat(item["created_at"]) >= datetime.fromisoformat(row["at"])
            and all(item["id"] != kept["document"]["id"] for kept in self._kept.rows)
        )

    def is_of(self, call: Call, document: dict[str, Any]) -> bool:
        """Whether a document has the call's workloads. The whole suite is what no other call of the
        pair asked for."""
        workloads = sorted({verdict["workload"] for verdict in document["verdicts"]})
        if call.workloads:
            return workloads == call.workloads
        return not self._begun.find(
            baseline=call.pair[0], candidate=call.pair[1], workloads=workloads
        )

    def add(self, call: Call, document: dict[str, Any]) -> None:
        """What ended hours before its document was found ended then."""
        ended_at = document["ended_at"] or _now()
        self._kept.add(
            {
                **call.key,
                "workloads": call.workloads,
                "ended_at": ended_at,
                "document": document,
            }
        )


class Program:
    """torchwatch with a state of its own. held: the descriptor of `hold`, which it inherits."""

    def __init__(self, path: Path, folder: Path, held: int) -> None:
        self._path = path
        self._held = held
        self._configuration = folder / "releases.toml"
        self._configuration.write_text(CONFIGURATION.format(state=folder))
        (folder / "nightlies").mkdir(exist_ok=True)  # the channel's; releases need none

    def _call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return stoppable_call.call(
            [self._path, "--config", self._configuration, "--json", *arguments],
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=(self._held,),
        )

    def compare(self, call: Call) -> dict[str, Any] | None:
        """The document; None, having said so, where the two could not be compared."""
        options = [f"--workload={workload}" for workload in call.workloads]
        done = self._call("compare", *call.pair, *options)
        if done.returncode == INTERRUPTED:
            raise KeyboardInterrupt
        if done.returncode not in CONCLUDED:
            names = " and ".join(call.pair)
            say(f"{names} could not be compared: exit status {done.returncode}")
            return None
        return json.loads(done.stdout)

    def ended(self, call: Call, comparisons: Comparisons) -> dict[str, Any] | None:
        """The document of a comparison of the pair that was begun by that call and came to its end
        when nobody was there to keep what it said; None if there is none."""
        listed = self._call("comparison", "list", "--purpose", "requested", "--limit", "10000")
        if listed.returncode != 0:
            return None
        for item in json.loads(listed.stdout)["items"]:
            if not comparisons.may_be(call, item):
                continue
            shown = self._call("comparison", "show", str(item["id"]))
            document = json.loads(shown.stdout) if shown.returncode in CONCLUDED else None
            if document and comparisons.is_of(call, document):
                return document
        return None

"""An external workload that breaks the contract in the one place that its first argument names,
and keeps it elsewhere; `nothing` keeps all of it. It waits in the place of computing."""

import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "deploy" / "workloads"))

import torchwatch_workload

CARELESS = sys.argv[1]
LONG_S = 0.3  # longer than a partner waits for a word out of turn


class NeverReads(torchwatch_workload.Turns):
    """Says when it has taken a sample, and takes the next one without being asked to."""

    def acquire(self) -> None:
        pass

    def hand_over(self) -> None:
        if self.has_partner:
            os.write(self.other, b"y")


def make(setting: torchwatch_workload.Setting) -> torchwatch_workload.Step:
    if setting.precision != "fp32" and CARELESS != "variant":
        raise torchwatch_workload.Unsupported("there is fp32 alone")
    if setting.precision != "fp32":
        raise ValueError("no such precision")

    def step() -> object:
        time.sleep(LONG_S if CARELESS == "unread" else 0.0005)
        if CARELESS == "nothing_returned":
            return None
        return [random.random() if CARELESS == "outputs" else 1.5 for _ in range(8)]

    return step


def changed(request: dict[str, Any]) -> dict[str, Any]:
    """The request as this workload takes it."""
    if CARELESS == "enough":
        return request | {"iterations_min": min(20, request["iterations"])}
    if CARELESS == "batches":
        return request | {"batch_below_ns": 1_000_000}
    if CARELESS == "limit":
        return request | {"limits": {"time_ms": 10**9}}
    if CARELESS == "turns":
        return request | {"interleave": None}
    return request


def spoil(request: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    if CARELESS == "microseconds" and "samples_ns" in result:
        result["samples_ns"] = [sample // 1000 for sample in result["samples_ns"]]
        result["values"]["time"] //= 1000
    if CARELESS == "passes" and request.get("pass") == "coverage":
        return result | {"status": "failed", "reason": "no such pass"}
    if CARELESS == "memory" and request.get("pass") == "memory":
        result["leak"]["heap_bytes"] = result["leak"]["heap_bytes"][:5]
    return result


def main() -> None:
    request = json.loads(Path(sys.argv[-2]).read_text())
    if CARELESS == "unread":
        vars(torchwatch_workload)["Turns"] = NeverReads
    answer = torchwatch_workload.answer(changed(request), make)
    Path(sys.argv[-1]).write_text(json.dumps(spoil(request, answer)))


main()

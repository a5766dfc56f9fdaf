"""An external workload for tests: answers requests with figures made up from the file `behaviour`
of the build's tree, in the words of the scripted runner (scripted_behaviour.hpp)."""

import json
import math
import os
import sys
import zlib
from pathlib import Path
from typing import Any

ITERATION_NS = 10_000_000
LEVEL = 1 << 20


def told(verb: str, benchmark: str) -> list[str]:
    """The values of the lines `VERB WORKLOAD CONFIGURATION VALUE` for that benchmark."""
    text = (Path(os.environ["TORCHWATCH_TREE"]) / "behaviour").read_text()
    lines = [line.split() for line in text.splitlines()]
    return [line[3] for line in lines if len(line) == 4 and [verb, *benchmark.split()] == line[:3]]


def timing(request: dict[str, Any], benchmark: str) -> dict[str, Any]:
    slower = float((told("time", benchmark) or ["1"])[0])
    jitter = zlib.crc32(request["attempt"].encode()) % 1000 / 100_000
    sample = round(ITERATION_NS * slower * (1 + jitter))
    return {"samples_ns": [sample] * request["iterations"], "values": {"time": sample}}


def memory(request: dict[str, Any], benchmark: str) -> dict[str, Any]:
    growth = sum(int(each) for each in told("heap", benchmark))
    levels = [LEVEL + i * growth for i in range(request["leak_iterations"])]
    leak = {"growth_bytes_per_iteration": 0, "retained_bytes": 0, "heap_bytes": levels}
    answer: dict[str, Any] = {"values": {"heap_growth": growth}, "leak": leak}
    if request.get("outputs"):
        first = math.prod(float(each) for each in told("result", benchmark))
        answer["outputs"] = [{"name": "output float32 [2]", "scale": 1, "figures": [first, 0.5]}]
    return answer


def main() -> None:
    request = json.loads(Path(sys.argv[2]).read_text())
    benchmark = f"{request['workload']} {request['device']}-{request['mode']}"
    figures = {"timing": timing, "memory": memory}[request["pass"]](request, benchmark)
    result = {"schema": 1, "attempt": request["attempt"], "status": "ok"} | figures
    Path(sys.argv[3]).write_text(json.dumps(result))


main()

"""Answers torchwatch's requests for a workload written in Python.

Copy this file beside your own and give `serve` a function that makes one iteration:

    from torchwatch_workload import Setting, import_torch, serve

    def make(setting: Setting):
        torch = import_torch()
        model = torch.nn.Linear(64, 64)
        data = torch.randn(8, 64)
        return lambda: model(data)

    serve(make)

It needs the standard library alone. The contract is docs/external-workloads.md.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import itertools
import json
import math
import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCHEMA = 1
MEASURED_NS_MAX = 15_000_000_000
ITERATIONS_PER_SAMPLE_MAX = 1 << 20
SHARE_OF_TIME = 0.8  # of the limit: what remains is for the result
IDLE_LIMIT_S = 0.25  # longer than threads of OpenMP wait actively
BLOCK = 10  # levels of memory; growth shows in the lowest level of each block
HEAP_SLOPE_MIN = 1024
FIRST_ELEMENTS = 8  # of an output, stated one by one
OUTPUTS_MAX = 1024  # as many as torchwatch reads
OUTPUT_NAME_BYTES_MAX = 400
BESIDE_TIME = ("first_iteration", "throughput")  # stated with a time, asked for or not

Step = Callable[[], object]


class Unsupported(Exception):
    """Raised by `make` for a setting that the workload does not have; its text is the reason."""


@dataclass(frozen=True)
class Setting:
    """What is to be measured. `precision`, `batch` and `threads` are those of the variant."""

    workload: str
    device: str  # cpu or cuda
    mode: str  # train or infer
    precision: str  # fp32 where nothing else is asked for
    batch: int  # 0: the workload's own
    threads: int
    preset: str  # paper or small
    seed: int


def import_torch() -> Any:
    """Returns the torch of the build that is measured, from its tree, with the packages in the
    tree's python/ before all others. Raises Unsupported where the build has no Python part."""
    tree = Path(os.environ.get("TORCHWATCH_TREE", ""))
    if not (tree / "__init__.py").is_file():
        raise Unsupported(f"the build has no Python part: no {tree.name}/__init__.py in its tree")
    ahead = [str(folder) for folder in (tree.parent, tree / "python") if folder.is_dir()]
    sys.path[:] = [*ahead, *(folder for folder in sys.path if folder not in ahead)]
    is_first = "torch" not in sys.modules
    torch = importlib.import_module("torch")
    if is_first and os.environ.get("PYTHONMALLOC") == "malloc":
        # A memory pass collects garbage after each iteration: not among torch's 165,000 objects.
        gc.collect()
        gc.freeze()
    return torch


class Turns:
    """Two live processes of an interleaved pair hand the machine to each other over named pipes:
    y: you may compute, d: I have measured everything, e: the other process has ended."""

    def __init__(self, pipes: dict[str, Any] | None) -> None:
        self.has_partner = pipes is not None
        self.may_compute = True
        if pipes is None:
            return
        # For reading and writing: opening waits for nobody then, and there is no end of file.
        self.own = os.open(pipes["own"], os.O_RDWR)
        self.other = os.open(pipes["other"], os.O_RDWR)
        self.may_compute = bool(pipes["begins"])

    def receive(self) -> None:
        message = os.read(self.own, 1)
        self.may_compute = True
        self.has_partner = message == b"y"

    def acquire(self) -> None:
        while not self.may_compute:
            self.receive()

    def hand_over(self) -> None:
        if self.has_partner:
            wait_for_idle_threads()
            self.may_compute = False
            os.write(self.other, b"y")

    def finish(self) -> None:
        if not hasattr(self, "own"):
            return
        os.write(self.other, b"d")
        while self.has_partner:
            self.receive()


def wait_for_idle_threads() -> None:
    end = time.monotonic() + IDLE_LIMIT_S
    own = str(os.getpid())
    while time.monotonic() < end and any(states(own)):
        time.sleep(0.0001)


def states(own: str) -> Iterable[bool]:
    """For each other thread of this process whether it runs."""
    for thread in Path("/proc/self/task").iterdir():
        if thread.name != own:
            try:
                yield (thread / "stat").read_text().rpartition(") ")[2].startswith("R")
            except OSError:
                yield False  # it has ended


def is_enough(request: dict[str, Any], samples: list[int], measured_ns: int) -> bool:
    if len(samples) >= request["iterations"] or measured_ns >= MEASURED_NS_MAX:
        return True
    return measured_ns >= request["enough_ns"] and len(samples) >= request["iterations_min"]


@dataclass(frozen=True)
class Timer:
    """Times iterations to their end, which on a GPU comes behind that of their calls."""

    step: Step
    device: str

    def wait(self) -> None:
        if self.device == "cuda" and "torch" in sys.modules:
            sys.modules["torch"].cuda.synchronize()

    def run(self, count: int) -> int:
        """Returns nanoseconds."""
        begin = time.perf_counter_ns()
        for _ in range(count):
            self.step()
        self.wait()
        return max(1, time.perf_counter_ns() - begin)


def iterations_to_fill(timer: Timer, least_ns: int, deadline: float) -> int:
    """How many iterations take that long, twice in a row: once may be a disturbance."""
    count = 1
    while count < ITERATIONS_PER_SAMPLE_MAX and time.monotonic() < deadline:
        if all(timer.run(count) >= least_ns for _ in range(2)):
            break
        count *= 2
    return count


def timing(request: dict[str, Any], make: Callable[[], Step], deadline: float) -> dict[str, Any]:
    turns = Turns(request.get("interleave"))
    turns.acquire()  # the partner warms up before this process makes its workload
    timer = Timer(make(), request["device"])
    timer.wait()
    first_ns = timer.run(1)
    timer.run(max(0, request["warmup"] - 1))
    per_sample = iterations_to_fill(timer, request["batch_below_ns"], deadline)
    samples: list[int] = []
    measured_ns = 0
    gc.collect()
    turns.hand_over()
    while not is_enough(request, samples, measured_ns):
        turns.acquire()
        elapsed = timer.run(per_sample)
        measured_ns += elapsed
        samples.append(max(1, elapsed // per_sample))
        turns.hand_over()
        if time.monotonic() > deadline:
            break
    turns.finish()
    # As torchwatch takes the median: of an even number, the mean of the middle two, rounded down.
    ordered = sorted(samples)
    middle = len(ordered) // 2
    median = ordered[middle]
    if len(ordered) % 2 == 0:
        median = (ordered[middle - 1] + ordered[middle]) // 2
    values = {"time": median, "first_iteration": first_ns}
    if request["batch"] > 0:  # 0 is the workload's own, which only `make` knows
        values["throughput"] = max(1, request["batch"] * 10**12 // median)
    return {"samples_ns": samples, "iterations_per_sample": per_sample, "values": values}


def status_bytes(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0


class HeapInfo(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_ = [(f"field{i}", ctypes.c_size_t) for i in range(10)]
    field4: int  # hblkhd: bytes in blocks of their own
    field7: int  # uordblks: bytes in use in the arenas


def heap_bytes() -> int:
    """Bytes that malloc has given out, also those of tensors on a CPU. torchwatch runs this pass
    with PYTHONMALLOC=malloc, so that Python's objects count as well."""
    of_glibc = ctypes.CDLL(None).mallinfo2
    of_glibc.restype = HeapInfo
    info = of_glibc()
    return int(info.field4 + info.field7)


def growth_of(levels: list[int]) -> int:
    """Bytes an iteration: the median slope, if the lowest level of each block rises."""
    lowest = [min(levels[i : i + BLOCK]) for i in range(0, len(levels) - BLOCK + 1, BLOCK)]
    if len(lowest) < 2 or any(b <= a for a, b in itertools.pairwise(lowest)):
        return 0
    pairs = [(i, j) for i in range(len(levels)) for j in range(i + 1, len(levels))]
    slope = statistics.median((levels[j] - levels[i]) / (j - i) for i, j in pairs)
    return round(slope) if slope >= HEAP_SLOPE_MIN else 0


def parts_of(value: Any, name: str = "") -> Iterable[tuple[str, Any]]:
    """The tensors and numbers in what an iteration returned, named after their places."""
    if isinstance(value, dict):
        places: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, (list, tuple)):
        places = enumerate(value)
    else:
        if isinstance(value, (int, float)) or hasattr(value, "detach"):
            yield name or "output", value
        return
    for place, part in places:
        yield from parts_of(part, f"{name}.{place}" if name else str(place))


def finite(number: float) -> float | None:
    return number if math.isfinite(number) else None  # JSON has no word for it


def float_of(number: float) -> float:
    try:
        return float(number)
    except OverflowError:  # an integer beyond all floats
        return math.inf


def output_of(name: str, value: Any) -> dict[str, Any]:
    """What torchwatch compares of a tensor or a number: mean, spread and first elements, and by
    which size it measures their differences."""
    if isinstance(value, (int, float)):
        number = float_of(value)
        scale, figures = abs(number), [number]
    elif value.is_complex():
        raise ValueError(f"{name} is complex: return its real and its imaginary part")
    else:
        shape = ", ".join(map(str, value.shape))
        name = f"{name} {str(value.dtype).rpartition('.')[2]} [{shape}]"
        flat = value.detach().flatten().cpu().double()
        mean, spread = flat.mean().item(), flat.std(correction=0).item()
        scale, figures = math.hypot(mean, spread), [mean, spread, *flat[:FIRST_ELEMENTS].tolist()]
    return {"name": name, "scale": finite(scale), "figures": [finite(each) for each in figures]}


def outputs_of(step: Step) -> list[dict[str, Any]]:
    """What one iteration returned. Raises whatever it raises, and ValueError."""
    parts = list(parts_of(step()))
    if not parts:
        raise ValueError("an iteration returned no tensor and no number")
    if len(parts) > OUTPUTS_MAX:
        raise ValueError(
            f"an iteration returned {len(parts)} tensors and numbers: return {OUTPUTS_MAX} at most"
        )
    outputs = [output_of(name, value) for name, value in parts]
    for output in outputs:
        if len(output["name"].encode()) > OUTPUT_NAME_BYTES_MAX:
            raise ValueError(
                f"the name {output['name'][:40]}... is longer than {OUTPUT_NAME_BYTES_MAX} bytes"
            )
    return outputs


def memory(request: dict[str, Any], make: Callable[[], Step], deadline: float) -> dict[str, Any]:
    with contextlib.suppress(Unsupported):
        import_torch()  # what every workload of the build has, does not count
    before = status_bytes("VmRSS") - status_bytes("RssFile")
    step = make()
    for _ in range(request["warmup"]):
        step()
    values = {}
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        for _ in range(min(5, request["iterations"])):
            step()
        peak = status_bytes("VmHWM") - status_bytes("RssFile") - before
        values["cpu_peak_resident"] = max(0, peak)
    except OSError:
        pass  # a kernel that does not give it: torchwatch says that the figure is missing
    levels: list[int] = []
    while len(levels) < request["leak_iterations"] and time.monotonic() < deadline:
        step()
        gc.collect()
        levels.append(heap_bytes())
    if len(levels) < min(2 * BLOCK, request["leak_iterations"]):
        raise TimeoutError(
            f"{len(levels)} of {request['leak_iterations']} levels for heap_growth within the time "
            "limit: raise [measure] time_limit, or take heap_growth out of `metrics`"
        )
    result: dict[str, Any] = {"values": values}
    if len(levels) >= 2 * BLOCK:
        values["heap_growth"] = growth_of(levels)
        result["leak"] = {
            "growth_bytes_per_iteration": 0,
            "retained_bytes": 0,
            "live_bytes": [],
            "heap_bytes": levels,
        }
    if request.get("outputs"):
        del step  # there is never more than one
        try:
            result["outputs"] = outputs_of(make())
        except Exception as error:  # noqa: BLE001  what was measured before stays
            result["reason"] = f"its outputs cannot be compared: {error}"
    return result


def setting_of(request: dict[str, Any]) -> Setting:
    return Setting(**{name: request[name] for name in Setting.__dataclass_fields__})


def measure(request: dict[str, Any], make: Callable[[Setting], Step]) -> dict[str, Any]:
    deadline = time.monotonic() + SHARE_OF_TIME * request["limits"]["time_ms"] / 1000
    setting = setting_of(request)
    measuring = {"timing": timing, "memory": memory}.get(request["pass"])
    if measuring is None:
        raise Unsupported(f"the pass {request['pass']} is not measured")
    result = measuring(request, lambda: make(setting), deadline)
    asked = [
        name
        for name in request.get("metrics", result["values"])
        if name != "output_difference"  # which torchwatch makes of the outputs
    ]
    missing = [name for name in asked if name not in result["values"]]
    if missing:
        stated = ", ".join(result["values"])
        raise Unsupported(f"{', '.join(missing)}: torchwatch_workload.py states {stated} here")
    may_state = {*asked, *BESIDE_TIME}
    result["values"] = {name: n for name, n in result["values"].items() if name in may_state}
    if "heap_growth" not in result["values"]:
        result.pop("leak", None)
    return result


def answer(request: dict[str, Any], make: Callable[[Setting], Step]) -> dict[str, Any]:
    result: dict[str, Any] = {"schema": SCHEMA, "attempt": request["attempt"], "status": "ok"}
    try:
        return result | measure(request, make)
    except Unsupported as reason:
        return result | {"status": "unsupported", "reason": str(reason)}
    except Exception as error:  # noqa: BLE001  whatever it raises is its failure
        traceback.print_exc()
        return result | {"status": "failed", "reason": f"{type(error).__name__}: {error}"}


def serve(make: Callable[[Setting], Step]) -> None:
    """Answers the request that the command line names: `... measure REQUEST.json RESULT.json`."""
    if len(sys.argv) < 4 or sys.argv[-3] != "measure":
        sys.exit(
            "usage: COMMAND measure REQUEST.json RESULT.json; torchwatch workload verify runs it"
        )
    request = json.loads(Path(sys.argv[-2]).read_text())
    if request["schema"] != SCHEMA:
        sys.exit(f"request of schema {request['schema']}: this file knows {SCHEMA}")
    text = json.dumps(answer(request, make))
    partial = Path(sys.argv[-1] + ".partial")
    partial.write_text(text)
    partial.rename(sys.argv[-1])  # complete or absent

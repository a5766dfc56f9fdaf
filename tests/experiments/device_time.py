#!/usr/bin/env python3
"""Compares the profile pass with known truth and with PyTorch's own profiler, on a GPU.

    device_time.py BUILD [--preset paper|small] [--mode train|infer] [WORKLOAD]...

BUILD is a build folder with torchwatch-runner, experiment_known_device_time and
experiment_pytorch_profiler_shares; tests/gpu makes it. First scenes of known truth (a kernel that
spins, a copy of 256 MiB, alone and beside each other, a host that waits): shares within 2 points,
bytes equal. Then a table of workloads, twelve where none is named: shares by the profile pass; what
PyTorch's profiler says in another process; and each one's p, the wall time under recording over
that of the timing pass.

Both recorders lengthen an iteration that the host cannot keep up with, each by its own, so their
shares of it differ where the device's work does not. Therefore active times are compared, not
shares: their distance, in points of the profile pass's iteration, may be 2. Exit status: 0 all
within 2 points, 1 not, 3 no GPU.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SCENES = ("kernel-then-idle", "copy-then-idle", "kernel-then-copy", "copy-behind-kernel")
WORKLOADS = (
    "resnet18",
    "resnet50",
    "vgg16",
    "mobilenet_v2",
    "hf_Bert",
    "hf_GPT2",
    "dlrm",
    "attention_is_all_you_need_pytorch",
    "pytorch_unet",
    "soft_actor_critic",
    "tts_angular",
    "timm_vision_transformer",
)
POINTS_MAX = 2
PERTURBATION_MAX = 1.05
NO_DEVICE = 3


class NotMeasured(Exception):
    """A run gave no figures; the text says why."""


def tool(build: Path, name: str) -> Path:
    """The path of a program in the build folder."""
    places = {"torchwatch-runner": "runner"}
    return build / places.get(name, "tests/experiments") / name


def play_scenes(build: Path) -> bool:
    """Whether all scenes hold; ends the program where there is no device."""
    holds = True
    for scene in SCENES:
        status = subprocess.run(
            [tool(build, "experiment_known_device_time"), scene], check=False
        ).returncode
        if status == NO_DEVICE:
            sys.exit(NO_DEVICE)
        holds = holds and status == 0
    return holds


def run_pass(build: Path, request: dict[str, Any]) -> dict[str, Any]:
    """The result of one fresh process of the runner."""
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder, "request.json"), Path(folder, "result.json")
        question.write_text(json.dumps(request))
        subprocess.run([tool(build, "torchwatch-runner"), "measure", question, answer], check=True)
        result = json.loads(answer.read_text())
    if result["status"] != "ok":
        raise NotMeasured(result["reason"])
    return result


def own_profile(build: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Shares, active time and wall time by the profile pass."""
    result = run_pass(build, request | {"pass": "profile"})
    if result["breakdown"] is None:
        raise NotMeasured(result["breakdown_reason"])
    return result["environment"]["volatile_facts"] | result["breakdown"]


def pytorch_profile(build: Path, request: dict[str, Any]) -> dict[str, Any]:
    """The same by PyTorch's profiler."""
    ended = subprocess.run(
        [
            tool(build, "experiment_pytorch_profiler_shares"),
            request["workload"],
            request["mode"],
            request["preset"],
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode != 0:
        raise NotMeasured(ended.stderr.strip())
    return json.loads(ended.stdout.splitlines()[-1])


def compare(build: Path, request: dict[str, Any]) -> bool:
    """Prints one row; whether it holds."""
    own = own_profile(build, request)
    other = pytorch_profile(build, request)
    clean_ns = run_pass(build, request | {"pass": "timing"})["values"]["time"]
    distance = 100 * (own["active_ns"] - other["active_ns"]) / own["profile_wall_ns"]
    perturbation = own["profile_wall_ns"] / clean_ns
    remarks = [] if abs(distance) <= POINTS_MAX else ["BEYOND 2 POINTS"]
    if own["profile_kernels"] != other["kernels"]:
        remarks.append(f"PyTorch counts {other['kernels']} kernels")
    if perturbation > PERTURBATION_MAX:
        remarks.append("recording disturbs")
    cells = [
        request["workload"],
        f"{clean_ns / 1e6:.2f}",
        *(f"{own[f'profile_{name}_median_ppm'] / 1e4:.2f}" for name in ("active", "copy", "idle")),
        f"{other['active_ppm'] / 1e4:.2f}",
        f"{own['active_ns'] / 1e6:.3f}",
        f"{other['active_ns'] / 1e6:.3f}",
        f"{distance:+.2f}",
        f"{perturbation:.2f}",
        f"{other['wall_ns'] / clean_ns:.2f}",
        str(own["profile_kernels"]),
        ", ".join(remarks),
    ]
    print("|" + "|".join(cells) + "|", flush=True)
    return abs(distance) <= POINTS_MAX


COLUMNS = (
    "workload",
    "ms an iteration",
    "active, %",
    "copy, %",
    "idle, %",
    "active by PyTorch, %",
    "active, ms",
    "active by PyTorch, ms",
    "distance, points",
    "p",
    "p of PyTorch",
    "kernels",
    "",
)


def compare_all(build: Path, requests: list[dict[str, Any]]) -> bool:
    """Prints the table; whether every row holds and there was one."""
    print("|" + "|".join(COLUMNS) + "|")
    print("|-|" + "-:|" * (len(COLUMNS) - 2) + "-|")
    rows = []
    for request in requests:
        try:
            rows.append(compare(build, request))
        except NotMeasured as reason:
            rows.append(False)
            print(f"|{request['workload']}|" + "|" * (len(COLUMNS) - 2) + f"{reason}|", flush=True)
    return all(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--preset", choices=("paper", "small"), default="paper")
    parser.add_argument("--mode", choices=("train", "infer"), default="train")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD")
    options = parser.parse_intermixed_args()
    scenes_hold = play_scenes(options.build)
    requests = [
        {
            "schema": 1,
            "attempt": "gpu",
            "workload": name,
            "device": "cuda",
            "mode": options.mode,
            "preset": options.preset,
        }
        for name in options.workloads or WORKLOADS
    ]
    rows_hold = compare_all(options.build, requests)
    sys.exit(0 if scenes_hold and rows_hold else 1)


if __name__ == "__main__":
    main()

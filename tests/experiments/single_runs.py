"""Runs of the suite's workloads that a script asks of the runner one by one."""

import argparse
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

WORKLOADS = Path(__file__).resolve().parents[2] / "models/workloads.txt"
AS_IT_IS: Mapping[str, str] = MappingProxyType({})


def suite() -> list[str]:
    lines = WORKLOADS.read_text().splitlines()
    return [line.split()[0] for line in lines if line and not line.startswith("#")]


def parser_of(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("workloads", nargs="*", metavar="NAME")
    parser.add_argument("--runner", type=Path, required=True)
    parser.add_argument("--preset", default="small", choices=("small", "paper"))
    parser.add_argument("--json", action="store_true")
    return parser


def options_of(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """What the command line says, with a folder that is there."""
    options = parser.parse_args()
    if unknown := set(options.workloads) - set(suite()):
        parser.error(f"no such workload: {', '.join(sorted(unknown))}")
    options.folder.mkdir(parents=True, exist_ok=True)
    options.runner = options.runner.resolve()
    return options


def result_of(
    request: dict[str, Any], options: argparse.Namespace, environment: Mapping[str, str] = AS_IT_IS
) -> dict[str, Any]:
    """The runner's result; its status is "died" where it left none."""
    request_file, result_file = options.folder / "request.json", options.folder / "result.json"
    result_file.unlink(missing_ok=True)
    request_file.write_text(json.dumps(request))
    ended = subprocess.run(
        [options.runner, "measure", request_file, result_file],
        check=False,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if not result_file.exists():
        return {"status": "died", "reason": f"exit status {ended.returncode}"}
    result: dict[str, Any] = json.loads(result_file.read_text())
    return result

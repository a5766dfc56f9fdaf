"""Takes shares of a GPU's time from a running service, which stores every profile."""

import json
import time
import urllib.request
from datetime import UTC, datetime
from typing import Any

from paper_answers import Answer, Document
from paper_program import commit_of_checkout

SECONDS_MAX = 30
# As `torchwatch measure --profile` has it, where a run has no share.
WITHOUT = {"active_ns": None, "copy_ns": None, "idle_ns": None}


def _breakdown(service: str, mode: str) -> Document:
    url = f"{service.rstrip('/')}/api/v1/breakdown?mode={mode}"
    with urllib.request.urlopen(url, timeout=SECONDS_MAX) as reply:
        return json.load(reply)


def _rows(breakdown: Document) -> list[dict[str, Any]]:
    return [
        *({**profile, "reason": None} for profile in breakdown["profiles"]),
        *({**benchmark, **WITHOUT} for benchmark in breakdown["without"]),
    ]


def stored_shares(service: str) -> Answer:
    """The newest profile of each benchmark of both modes, of the build that was profiled last; the
    reason instead where the service does not answer."""
    begun = time.monotonic()
    try:
        modes = [_breakdown(service, mode) for mode in ("train", "infer")]
        builds = sorted({mode["build"]["name"] for mode in modes if mode["build"]})
        document: Document = {
            "build": ", ".join(builds),
            "observed": [row for mode in modes for row in _rows(mode)],
        }
    except (OSError, ValueError, KeyError) as failure:
        document = {"error": {"message": f"no shares from {service}: {failure}"}}
    return Answer(
        name="shares",
        command=["GET", "/api/v1/breakdown"],
        expected="observed",
        asked_at=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=commit_of_checkout(),
        seconds=round(time.monotonic() - begun, 1),
        document=document,
    )

"""Python packages that a test needs: pip fetches them once, into build/."""

import os
import subprocess
import sys
from pathlib import Path
from unittest import TestCase

from command import CHECKOUT


def folder_of(name: str) -> Path:
    return CHECKOUT / "build" / f"{name}_packages"


def leave_out(test: TestCase, reason: str) -> None:
    """Ends the test: it fails in CI, where nothing may be missing, and is skipped elsewhere.
    tests/run says at its end what was left out, by the line that begins with "skipped: "."""
    if os.environ.get("CI"):
        test.fail(reason)
    print(f"skipped: {reason}")
    test.skipTest(reason)


def require(test: TestCase, name: str, module: str) -> None:
    """Installs what NAME_requirements.txt asks for, unless that module is there. Where it cannot
    be, the test is left out."""
    reason = install(name, module)
    if reason:
        leave_out(test, reason)


def install(name: str, module: str) -> str:
    """Does what `require` says, and returns why it cannot be done; empty where it is."""
    folder = folder_of(name)
    present = subprocess.run(
        [sys.executable, "-c", f"import {module}"],
        env=dict(os.environ, PYTHONPATH=str(folder)),
        capture_output=True,
        check=False,
    )
    if present.returncode == 0:
        return ""
    requirements = Path(__file__).with_name(f"{name}_requirements.txt")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "--target", folder, "--requirement", requirements],
        text=True,
        capture_output=True,
        check=False,
    )
    last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
    return "" if done.returncode == 0 else f"pip cannot install {requirements.name}: {last[0]}"

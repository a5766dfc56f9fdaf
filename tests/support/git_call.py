"""Calls git as the author of a test's commits, and without the user's configuration."""

import os
import subprocess
from pathlib import Path

IDENTITY = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.invalid",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.invalid",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path, *arguments: str) -> str:
    """What git prints in the folder."""
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env=dict(os.environ, **IDENTITY),
        text=True,
        capture_output=True,
        check=True,
    )
    return done.stdout.strip()

"""A tracked file and a finding in it, as the checks of lint_text.py see them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True)
class Finding:
    line: int
    kind: str
    text: str


@dataclass(frozen=True)
class File:
    """One tracked file, as the checks see it."""

    path: str
    text: str
    tracked: frozenset[str]  # all tracked paths
    read: Callable[[str], str]  # the text of a tracked path

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def is_markdown(self) -> bool:
        return self.path.endswith(".md")


def joined(folder: PurePosixPath, target: str) -> str:
    """The path of `target` seen from a folder, without `.` and `..`; "" above the repository."""
    parts: list[str] = []
    for part in (folder / target).parts:
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)

"""Rows that an experiment keeps as it makes them, so that it resumes where it stopped."""

import json
import os
from pathlib import Path
from typing import Any


def rows_of(file: Path) -> list[dict[str, Any]]:
    """The rows of a file that another process may be writing to. A last line without its end is
    none: the machine stopped, or its disk was full, while it was written."""
    lines = file.read_bytes().split(b"\n")[:-1] if file.exists() else []
    return [json.loads(line) for line in lines]


class KeptRows:
    """Those made so far, one line of JSON each."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.rows = rows_of(file)

    def find(self, **members: object) -> dict[str, Any] | None:
        """The first row that has these members."""
        return next((row for row in self.rows if members.items() <= row.items()), None)

    def add(self, row: dict[str, Any]) -> None:
        """On the disk when this returns, behind the last whole line. One process adds at a time."""
        line = json.dumps(row) + "\n"
        with self._file.open("a+b") as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
        self.rows.append(row)

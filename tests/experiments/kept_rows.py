"""Rows that an experiment keeps as it makes them, so that it resumes where it stopped."""

import json
from pathlib import Path
from typing import Any


class KeptRows:
    """Those made so far, one line of JSON each."""

    def __init__(self, file: Path) -> None:
        self._file = file
        lines = file.read_text().splitlines() if file.exists() else []
        self.rows = [json.loads(line) for line in lines]

    def find(self, **members: object) -> dict[str, Any] | None:
        """The first row that has these members."""
        return next((row for row in self.rows if members.items() <= row.items()), None)

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        with self._file.open("a") as file:
            print(json.dumps(row), file=file)

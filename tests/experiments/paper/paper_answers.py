"""What torchwatch answered, kept in a folder: one JSON file for each question."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

Document = dict[str, Any]
TAKEN_ON = "a running daemon has taken it on; call this again when it is done"


@dataclass(frozen=True)
class Answer:
    name: str
    command: list[str]  # as somebody would type it
    expected: str  # the member that a whole answer has
    asked_at: str
    commit: str  # of torchwatch
    seconds: float
    document: Document

    @property
    def is_whole(self) -> bool:
        return self.expected in self.document

    @property
    def reason(self) -> str:
        """Why it is not whole; empty if it is."""
        if self.is_whole:
            return ""
        error = self.document.get("error")
        return error["message"] if error else TAKEN_ON


class Answers:
    """Those of one folder. A file is replaced as a whole, so a stop leaves the old one or none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def find(self, name: str) -> Answer | None:
        file = self._folder / f"{name}.json"
        return Answer(**json.loads(file.read_text())) if file.exists() else None

    def whole(self, name: str) -> Answer | None:
        answer = self.find(name)
        return answer if answer and answer.is_whole else None

    def series(self, name: str) -> list[Answer]:
        """NAME itself, and its portions NAME-1, NAME-2 and so on."""
        found = [answer for answer in [self.find(name)] if answer]
        number = 1
        while answer := self.find(f"{name}-{number}"):
            found.append(answer)
            number += 1
        return found

    def all(self) -> list[Answer]:
        names = sorted(file.stem for file in self._folder.glob("*.json"))
        return [answer for name in names if (answer := self.find(name))]

    def keep(self, answer: Answer) -> None:
        """On the disk when this returns."""
        new = self._folder / f"{answer.name}.partial"
        with new.open("w") as file:
            json.dump(asdict(answer), file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._folder / f"{answer.name}.json")

"""What the paper states: figures of published.toml, each with where it was read."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("published.toml")
NOT_HAD = "-"


@dataclass(frozen=True)
class Source:
    title: str
    url: str
    is_second_hand: bool


class Published:
    """The figures by name. It remembers which sources were used, so that a section can name them;
    one object is therefore for one section."""

    def __init__(self, file: Path = FILE) -> None:
        content = tomllib.loads(file.read_text())
        self._sources = {name: Source(**table) for name, table in content["source"].items()}
        self._numbers: dict[str, dict[str, str]] = content["number"]
        self._used: dict[str, Source] = {}

    def text(self, name: str) -> str:
        """The figure with its unit; a dash where it could not be had."""
        number = self._numbers.get(name)
        if number is None:
            return NOT_HAD
        source = number["source"]
        self._used[source] = self._sources[source]
        return number["text"]

    def sources(self) -> str:
        """Where the paper's figures used so far were read; empty where none was."""
        if not self._used:
            return ""
        parts = [
            f"{source.title}{' (second hand)' if source.is_second_hand else ''}"
            for source in self._used.values()
        ]
        return f"Read in: {', '.join(parts)}."


def sources(file: Path = FILE) -> list[Source]:
    """All of them."""
    return [Source(**table) for table in tomllib.loads(file.read_text())["source"].values()]

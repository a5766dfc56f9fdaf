"""The stored figures of what the originals compute."""

import json
from pathlib import Path
from typing import Any

from original import NotAtHand

_SOURCE = (
    "Computed by tests/reference_models/values with the packages named in the rows, in evaluation "
    "mode, on one thread; how networks and inputs are filled: docs/measuring.md, Values. mean, "
    "std (with n - 1) and the first eight elements of each output; the norm of all gradients."
)


class StoredValues:
    """values.json, and originals.json for which modes a workload has."""

    def __init__(self, path: Path, figures: Path) -> None:
        self._path = path
        originals = json.loads(figures.read_text())["originals"]
        self._modes = {original["name"]: _modes_of(original) for original in originals}

    def modes(self, name: str) -> list[str]:
        if name not in self._modes:
            raise NotAtHand("no such workload in models/workloads.txt")
        return self._modes[name]

    def names(self) -> list[str]:
        return [row["name"] for row in self._rows()]

    def replace(self, row: dict[str, Any]) -> None:
        """Puts the row in the place of the one of its name. Readers see the old file or the new."""
        rows = {each["name"]: each for each in self._rows()}
        rows[row["name"]] = row
        draft = self._path.with_suffix(".new")
        draft.write_text(_text([rows[name] for name in self._modes if name in rows]))
        draft.replace(self._path)

    def _rows(self) -> list[dict[str, Any]]:
        return json.loads(self._path.read_text())["originals"] if self._path.exists() else []


def _modes_of(original: dict[str, Any]) -> list[str]:
    return ["infer"] * original["infers"] + ["grad"] * original["trains"]


def _text(rows: list[dict[str, Any]]) -> str:
    """A line for each mode of each workload."""
    texts = ",\n".join(_row_text(row) for row in rows)
    return f'{{"source": {json.dumps(_SOURCE)},\n "originals": [\n{texts}]}}\n'


def _row_text(row: dict[str, Any]) -> str:
    return (
        "  {"
        + ",\n   ".join(
            f'"{key}": {json.dumps(value, allow_nan=False)}' for key, value in row.items()
        )
        + "}"
    )

"""The stored figures of what the originals compute."""

import json
import os

from original import NotAtHand

_SOURCE = (
    "Computed by tests/originals/values with the packages named in the rows, in evaluation mode, "
    "on one thread; how networks and inputs are filled: models/README.md, Values. mean, std (with "
    "n - 1) and the first eight elements of each output; the norm of all gradients.")


class StoredValues:
    """values.json, and originals.json for which modes a workload has."""

    def __init__(self, path, figures):
        self._path = path
        originals = json.loads(figures.read_text())["originals"]
        self._modes = {original["name"]: _modes_of(original) for original in originals}

    def modes(self, name):
        if name not in self._modes:
            raise NotAtHand("no such workload in models/workloads.txt")
        return self._modes[name]

    def names(self):
        return [row["name"] for row in self._rows()]

    def replace(self, row):
        """Puts the row in the place of the one of its name. Readers see the old file or the new."""
        rows = {each["name"]: each for each in self._rows()}
        rows[row["name"]] = row
        draft = self._path.with_suffix(".new")
        draft.write_text(_text([rows[name] for name in self._modes if name in rows]))
        os.replace(draft, self._path)

    def _rows(self):
        return json.loads(self._path.read_text())["originals"] if self._path.exists() else []


def _modes_of(original):
    return ["infer"] * original["infers"] + ["grad"] * original["trains"]


def _text(rows):
    """A line for each mode of each workload."""
    texts = ",\n".join(_row_text(row) for row in rows)
    return f'{{"source": {json.dumps(_SOURCE)},\n "originals": [\n{texts}]}}\n'


def _row_text(row):
    return "  {" + ",\n   ".join(f'"{key}": {json.dumps(value, allow_nan=False)}'
                                 for key, value in row.items()) + "}"

"""Finds who builds the original of a workload."""

import importlib
import types
from pathlib import Path

from original import NotAtHand


class Collection:
    """The files <package>_models.py of a folder. One whose package is missing builds nothing;
    that is reported when a workload is wanted that no other file builds."""

    def __init__(self, folder: Path) -> None:
        self._files = []
        self._missing = []
        for path in sorted(folder.glob("*_models.py")):
            try:
                self._files.append(importlib.import_module(path.stem))
            except (NotAtHand, ImportError) as reason:
                self._missing.append(f"{path.name} cannot be used: {reason}")

    def names(self) -> list[str]:
        return sorted(name for file in self._files for name in file.ORIGINALS)

    def find(self, name: str) -> types.ModuleType:
        """The file that builds the workload `name`."""
        for file in self._files:
            if name in file.ORIGINALS:
                return file
        known = "no file here builds it, only: " + " ".join(self.names())
        raise NotAtHand("; ".join([known, *self._missing]))

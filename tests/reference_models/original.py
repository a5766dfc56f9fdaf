"""What a network of the suite is as its authors' package builds it.

Each file `<package>_models.py` here defines
    SOURCE      what its figures come from: installed("timm"), or TORCHBENCH
    ORIGINALS   a Builder for each workload
    BATCHES     the batch of those that are not built at 1 (may be left out)
    MODES       the modes of those of which not all can be compared (may be left out)
"""

import importlib.metadata
import pathlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from formula import Draw

TORCHBENCH = "pytorch/benchmark 73871abc"


class NotAtHand(Exception):
    """A package or checkout that an original is made of is missing. Says what to do."""


def installed(package: str) -> str:
    """The package's name and version, such as "timm 0.6.13"."""
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        raise NotAtHand(
            f"no package {package}: python3 -m pip install {package}, in the version "
            "that tests/reference_models/requirements.txt names"
        ) from None


@dataclass
class Setup:
    """What an original is built for. `mode` "infer" or "grad"; always the paper's sizes."""

    mode: str
    batch: int
    draw: Draw
    torchbench: pathlib.Path | None = None
    """A checkout of pytorch/benchmark; for builders that are made of its files."""

    @property
    def trains(self) -> bool:
        return self.mode == "grad"

    def torchbench_model(self, name: str) -> Path:
        """The checkout's folder torchbenchmark/models/`name`."""
        if self.torchbench is None:
            raise NotAtHand(f"{name} is part of {TORCHBENCH}: name a checkout by --torchbench")
        folder = self.torchbench / "torchbenchmark" / "models" / name
        if not folder.is_dir():
            raise NotAtHand(f"no {folder}: --torchbench must name a checkout of {TORCHBENCH}")
        return folder


def _untrained() -> Any:
    raise NotAtHand("this original was built to infer, not to be trained")


@dataclass
class Original:
    """`networks` are filled by the formula in this order, once the builder has returned. `outputs`
    gives the tensors of one forward without the package's wrappers, None for one that cannot be
    compared; `loss` (mode grad) that of the training inputs."""

    networks: list[torch.nn.Module]
    outputs: Callable[[], list[torch.Tensor | None]]
    loss: Callable[[], torch.Tensor] = _untrained
    optimiser: Callable[[], torch.optim.Optimizer] = _untrained
    """As the original's training step has it; for the comparison of speeds."""
    step: Callable[[torch.optim.Optimizer], None] | None = None
    """A training step that is not zero_grad, loss, backward, step; for the comparison of speeds."""


Builder = Callable[[Setup], Original]

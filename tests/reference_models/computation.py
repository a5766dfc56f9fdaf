"""What an original computes when the formula fills it, as figures."""

import math
import types
from pathlib import Path
from typing import Any

import torch

from formula import Draw, distinct_parameters, fill
from original import Builder, Setup

_FIRST = 8
_SEED = 1337
"""For what the constructors make and the formula leaves as it is."""


def compute_row(
    name: str, file: types.ModuleType, modes: list[str], torchbench: Path | None
) -> dict[str, Any]:
    """The row of values.json: what the workload that `file` builds computes, in all modes but
    those that `file` leaves out."""
    batch = getattr(file, "BATCHES", {}).get(name, 1)
    row = {"name": name, "package": file.SOURCE}
    for mode in getattr(file, "MODES", {}).get(name, modes):
        setup = Setup(mode, batch, Draw(), torchbench)
        row[mode] = {"batch": batch, **_compute(file.ORIGINALS[name], setup)}
    return row


def _compute(build: Builder, setup: Setup) -> dict[str, Any]:
    torch.set_num_threads(1)
    torch.manual_seed(_SEED)
    original = build(setup)
    fill(original.networks)
    for network in original.networks:
        network.eval()
    parameters = [parameter for _, parameter in distinct_parameters(original.networks)]
    figures = {"parameter_sum": sum(_doubles(parameter).sum().item() for parameter in parameters)}
    if setup.trains:
        return figures | _gradients(original.loss(), parameters)
    with torch.no_grad():
        return figures | {"outputs": [_output(tensor) for tensor in original.outputs()]}


def _gradients(loss: torch.Tensor, parameters: list[torch.nn.Parameter]) -> dict[str, Any]:
    loss.backward()
    squares = sum(
        _doubles(parameter.grad).pow(2).sum().item()
        for parameter in parameters
        if parameter.grad is not None
    )
    return {"loss": loss.item(), "gradient_norm": math.sqrt(squares)}


def _output(tensor: torch.Tensor) -> dict[str, Any] | None:
    if tensor is None:
        return None
    values = _doubles(tensor).flatten()
    return {
        "shape": list(tensor.shape),
        "mean": values.mean().item(),
        "std": values.std().item() if len(values) > 1 else 0.0,
        "first": values[:_FIRST].tolist(),
    }


def _doubles(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.detach()
    return (tensor.coalesce().values() if tensor.is_sparse else tensor).double()

"""Fills networks and makes inputs by the formula of docs/measuring.md ("Values")."""

import math
from collections.abc import Iterator

import numpy as np
import torch

_PARAMETERS = 0
_BUFFERS = 100_000
_INPUTS = 200_000


def _mixed(x: np.ndarray) -> np.ndarray:
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x7FEB352D)
    x = x ^ (x >> np.uint32(15))
    x = x * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def hashes(stream: int, count: int) -> torch.Tensor:
    """The first `count` hashes of a stream, in [0, 2^32), as doubles."""
    start = 0x9E3779B9 * (stream + 1) % 2**32
    places = (np.arange(count, dtype=np.uint64) + np.uint64(start)).astype(np.uint32)
    return torch.from_numpy(_mixed(places).astype(np.float64))


def _signed(stream: int, shape: tuple[int, ...]) -> torch.Tensor:
    return (hashes(stream, math.prod(shape)) * 2.0**-31 - 1).reshape(shape)


def _around_one_or_zero(stream: int, shape: tuple[int, ...], around_one: bool) -> torch.Tensor:
    return 0.1 * _signed(stream, shape) + (1 if around_one else 0)


def _parameter_values(stream: int, name: str, shape: tuple[int, ...]) -> torch.Tensor:
    if len(shape) < 2:
        return _around_one_or_zero(stream, shape, name.endswith("weight"))
    fan_in = math.prod(shape) / shape[0]
    return math.sqrt(3 / fan_in) * _signed(stream, shape)


def distinct_parameters(
    networks: list[torch.nn.Module],
) -> Iterator[tuple[str, torch.nn.Parameter]]:
    """(name, parameter) of the networks in their order; a tied tensor once, at its first place."""
    seen = set()
    for network in networks:
        for name, parameter in network.named_parameters():
            if id(parameter) not in seen:
                seen.add(id(parameter))
                yield name, parameter


@torch.no_grad()  # type: ignore[untyped-decorator,unused-ignore]
def fill(networks: list[torch.nn.Module]) -> None:
    """Overwrites all parameters and the one-dimensional floating buffers."""
    for stream, (name, parameter) in enumerate(distinct_parameters(networks), _PARAMETERS):
        parameter.copy_(_parameter_values(stream, name, tuple(parameter.shape)))
    buffers = [
        (name, buffer)
        for network in networks
        for name, buffer in network.named_buffers()
        if buffer.is_floating_point() and buffer.dim() == 1
    ]
    for stream, (name, buffer) in enumerate(buffers, _BUFFERS):
        around_one = name.endswith(("weight", "var"))
        buffer.copy_(_around_one_or_zero(stream, tuple(buffer.shape), around_one))


class Draw:
    """Makes the inputs, then the targets: each tensor drawn takes the next stream."""

    def __init__(self) -> None:
        self._stream = _INPUTS

    def _next(self) -> int:
        self._stream += 1
        return self._stream - 1

    def normal(self, *shape: int) -> torch.Tensor:
        """Unit variance, float32."""
        return (math.sqrt(3) * _signed(self._next(), shape)).float()

    def uniform(self, *shape: int) -> torch.Tensor:
        """In [0, 1), float32."""
        return (hashes(self._next(), math.prod(shape)) * 2.0**-32).reshape(shape).float()

    def integers(self, below: int, *shape: int) -> torch.Tensor:
        """In [0, below), int64."""
        scaled = hashes(self._next(), math.prod(shape)) * below / 2.0**32
        return scaled.floor().long().reshape(shape)

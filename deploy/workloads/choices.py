#!/usr/bin/python3
"""Pairs of ways to compute the same, each a workload of its own: `choices.py NAME measure ...`.

studies/python.toml and data_moved.toml compare them; choices.toml has their [[suite.external]].
"""

import math
import sys
from collections.abc import Callable
from typing import Any

from torchwatch_workload import Setting, Step, Unsupported, import_torch, serve

WIDTH = 256
BATCH = 16
LAYERS = 40  # small ones: what a choice saves is time outside of kernels


def adam(torch: Any, setting: Setting, *, foreach: bool) -> Step:
    """Adam's step for one tensor after the other, or for all at once."""
    shapes = ((WIDTH, WIDTH), (WIDTH,)) * LAYERS
    weights = [torch.zeros(shape, device=setting.device, requires_grad=True) for shape in shapes]
    for weight in weights:
        weight.grad = torch.randn_like(weight)
    optimiser = torch.optim.Adam(weights, foreach=foreach)

    def step() -> object:
        optimiser.step()
        return weights

    return step


def convolution(torch: Any, setting: Setting, *, last: bool) -> Step:
    """Convolutions over images whose channels come first, or last."""
    layout = torch.channels_last if last else torch.contiguous_format
    model = torch.nn.Sequential(
        torch.nn.Conv2d(32, 64, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(64, 32, 3)
    ).to(setting.device, memory_format=layout)
    images = torch.randn(setting.batch or BATCH, 32, 28, 28, device=setting.device)
    images = images.contiguous(memory_format=layout)
    return lambda: model(images)


def attention(torch: Any, setting: Setting, *, once: bool) -> Step:
    """Scores of an attention, scaled by a root that each iteration takes anew, or that was taken
    once (section 4.1 of the TorchBench paper)."""
    shape = (setting.batch or BATCH, 8, WIDTH // 8, WIDTH // 8)
    queries, keys = (torch.randn(shape, device=setting.device) for _ in range(2))
    scale = 1 / math.sqrt(shape[-1])

    def step() -> object:
        by = scale if once else torch.rsqrt(torch.tensor(float(shape[-1]), device=setting.device))
        return torch.matmul(queries, keys.transpose(-1, -2)) * by

    return step


def linear(torch: Any, setting: Setting, *, once: bool) -> Step:
    """A layer whose data lie on the device, or are moved there in each iteration (section 4.1)."""
    if setting.device == "cpu":
        raise Unsupported("on a CPU data are where they are computed with")
    model = torch.nn.Linear(WIDTH, WIDTH, device=setting.device)
    here = torch.randn(setting.batch or BATCH, WIDTH)
    there = here.to(setting.device)
    return lambda: model(there if once else here.to(setting.device))


CHOICES: dict[str, Callable[[Any, Setting], Step]] = {
    "adam_single": lambda torch, setting: adam(torch, setting, foreach=False),
    "adam_foreach": lambda torch, setting: adam(torch, setting, foreach=True),
    "channels_first": lambda torch, setting: convolution(torch, setting, last=False),
    "channels_last": lambda torch, setting: convolution(torch, setting, last=True),
    "root_each": lambda torch, setting: attention(torch, setting, once=False),
    "root_once": lambda torch, setting: attention(torch, setting, once=True),
    "moved_each": lambda torch, setting: linear(torch, setting, once=False),
    "moved_once": lambda torch, setting: linear(torch, setting, once=True),
}


def make(setting: Setting) -> Step:
    choice = CHOICES[sys.argv[1]]
    if setting.precision != "fp32" or setting.mode != "infer":
        raise Unsupported("written for fp32, and nothing is trained")
    torch = import_torch()
    torch.manual_seed(setting.seed)
    torch.set_num_threads(setting.threads)
    made = choice(torch, setting)

    def step() -> object:
        with torch.no_grad():
            return made()

    return step


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in CHOICES:
        sys.exit(f"usage: choices.py {'|'.join(CHOICES)} measure REQUEST.json RESULT.json")
    serve(make)

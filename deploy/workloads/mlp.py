#!/usr/bin/python3
"""A small network in eager Python: training with Adam, and inference. With --compile before the
contract's words its forward pass goes through torch.compile."""

import sys

from torchwatch_workload import Setting, Step, Unsupported, import_torch, serve

WIDTH = 128
BATCH = 32


def make(setting: Setting) -> Step:
    if setting.device != "cpu" or setting.precision != "fp32":
        raise Unsupported(f"written for fp32 on a CPU, not {setting.precision} on {setting.device}")
    torch = import_torch()
    torch.manual_seed(setting.seed)
    torch.set_num_threads(setting.threads)
    model = torch.nn.Sequential(
        torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH)
    )
    forward = torch.compile(model) if "--compile" in sys.argv else model
    data = torch.randn(setting.batch or BATCH, WIDTH)
    if setting.mode == "infer":

        def infer() -> None:
            with torch.no_grad():
                forward(data)

        return infer
    optimiser = torch.optim.Adam(model.parameters())

    def train() -> None:
        optimiser.zero_grad()
        forward(data).square().mean().backward()
        optimiser.step()

    return train


if __name__ == "__main__":
    serve(make)

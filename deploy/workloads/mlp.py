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

        def infer() -> object:
            with torch.no_grad():
                return forward(data)

        return infer
    weights = list(model.parameters())
    optimiser = torch.optim.Adam(weights)

    def train() -> object:
        optimiser.zero_grad()
        loss = forward(data).square().mean()
        loss.backward()
        optimiser.step()
        return {"loss": loss, "weights": weights}

    return train


if __name__ == "__main__":
    serve(make)

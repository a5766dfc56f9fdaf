"""maml, maml_omniglot and functorch_maml_omniglot, of the copies in pytorch/benchmark."""

import functools
from typing import Any
from unittest.mock import patch

import higher
import torch

import torchbench_source
from formula import Draw
from original import TORCHBENCH, Original, Setup

SOURCE = TORCHBENCH

_TASKS = 32
_WAYS = 5
_QUERIES = 75
_INNER_STEPS = 5


def _tasks(draw: Draw) -> list[torch.Tensor]:
    """Support images and labels, query images and labels."""
    images = functools.partial(draw.normal, _TASKS)
    labels = functools.partial(draw.integers, _WAYS, _TASKS)
    return [images(_WAYS, 1, 28, 28), labels(_WAYS), images(_QUERIES, 1, 28, 28), labels(_QUERIES)]


def _built(module: Any, setup: Setup, tasks: Any) -> Any:
    """The suite reads the tasks from a file, which holds NumPy's arrays."""
    with patch("torch.load", return_value=[tensor.numpy() for tensor in tasks]):
        return module.Model("train", "cpu", batch_size=setup.batch)


def maml(setup: Setup) -> Original:
    """Learns in each forward, in evaluation too, and gives the accuracies on the way."""
    module = torchbench_source.benchmark(setup, "maml")
    network = module.Model("eval", "cpu", batch_size=setup.batch).module
    tasks = _tasks(setup.draw)

    @torch.enable_grad()  # type: ignore[untyped-decorator,unused-ignore]
    def outputs() -> list[torch.Tensor | None]:
        return [network.train()(*tasks)]

    return Original([network], outputs)


def maml_omniglot(setup: Setup) -> Original:
    module = torchbench_source.benchmark(setup, "maml_omniglot")
    tasks = _tasks(setup.draw)
    network = _built(module, setup, tasks).model

    def query_loss(
        support: torch.Tensor,
        support_labels: torch.Tensor,
        query: torch.Tensor,
        query_labels: torch.Tensor,
    ) -> torch.Tensor:
        inner = torch.optim.SGD(network.parameters(), lr=0.1)
        with higher.innerloop_ctx(network, inner, copy_initial_weights=False) as (copy, steps):
            for _ in range(_INNER_STEPS):
                steps.step(torch.nn.functional.cross_entropy(copy(support), support_labels))
            return torch.nn.functional.cross_entropy(copy(query), query_labels)

    return Original(
        [network],
        lambda: [network(tasks[0][0])],
        lambda: sum(query_loss(*task) for task in zip(*tasks, strict=True)),
        lambda: torch.optim.Adam(network.parameters(), lr=1e-3),
    )


def functorch_maml_omniglot(setup: Setup) -> Original:
    module = torchbench_source.benchmark(setup, "functorch_maml_omniglot")
    tasks = _tasks(setup.draw)
    network = _built(module, setup, tasks).model

    def loss() -> torch.Tensor:
        function, _, buffers = module.make_functional_with_buffers(network)
        net = tuple(network.parameters()), buffers, function
        for_task = functools.partial(module.loss_for_task, net, _INNER_STEPS)
        return module.vmap(for_task)(*tasks)[0].sum()

    return Original(
        [network],
        lambda: [network(tasks[0][0])],
        loss,
        lambda: torch.optim.Adam(network.parameters(), lr=1e-3),
    )


ORIGINALS = {
    "functorch_maml_omniglot": functorch_maml_omniglot,
    "maml": maml,
    "maml_omniglot": maml_omniglot,
}
BATCHES = {"maml_omniglot": 5}
MODES = {
    # The gradients of the original's vmap and of the same function called task by task, as ours is,
    # differ by 1.1e-3, in float64 as well. Differences of the loss (two tasks, two inner steps)
    # agree with the latter in eight digits: it is torch 2.13.0's second derivatives under vmap that
    # are off. In evaluation mode maml_omniglot's inner steps end in no number.
    "functorch_maml_omniglot": ["infer"],
    "maml_omniglot": ["infer"],
}

"""dlrm and nvidia_deeprecommender, of the copies in pytorch/benchmark."""

import numpy as np
import torch

import torchbench_source
from original import TORCHBENCH, Original, Setup

SOURCE = TORCHBENCH

_TABLES = [1_000_000] * 8
_LOOKUPS = 100
_DENSE = 512
_FEATURE = 64


def _bags(drawn: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """One table: indices, sorted and without duplicates within a bag, and where each bag begins."""
    bags = [torch.unique(row) for row in drawn]
    starts = np.cumsum([0] + [len(bag) for bag in bags[:-1]])
    return torch.cat(bags), torch.from_numpy(starts)


def dlrm(setup: Setup) -> Original:
    module = torchbench_source.part(
        setup, "dlrm", "dlrm_s_pytorch", ["onnx", "sklearn", "sklearn.metrics"]
    )
    features = len(_TABLES) + 1
    pairs = features * (features - 1) // 2
    network = module.DLRM_Net(
        _FEATURE,
        np.array(_TABLES),
        np.array([_DENSE, 512, _FEATURE]),
        np.array([pairs + _FEATURE, 1024, 1024, 1024, 1]),
        arch_interaction_op="dot",
    )
    dense = setup.draw.uniform(setup.batch, _DENSE)
    bags = [_bags(setup.draw.integers(rows, setup.batch, _LOOKUPS)) for rows in _TABLES]
    inputs = dense, [starts for _, starts in bags], [indices for indices, _ in bags]
    original = Original([network], lambda: [network(*inputs)])
    if setup.trains:
        target = setup.draw.uniform(setup.batch, 1)
        original.loss = lambda: torch.nn.functional.mse_loss(network(*inputs), target)
        original.optimiser = lambda: torch.optim.SGD(network.parameters(), lr=0.01)
    return original


def nvidia_deeprecommender(setup: Setup) -> Original:
    training = torchbench_source.part(setup, "nvidia_deeprecommender", "nvtrain")
    benchmark = training.DeepRecommenderTrainBenchmark("cpu", batch_size=setup.batch)
    network = benchmark.rencoder
    ratings = setup.draw.normal(setup.batch, benchmark.toyvocab)

    def loss() -> torch.Tensor:
        squares, count = training.model.MSEloss(network(ratings), ratings)
        return squares / count

    return Original([network], lambda: [network(ratings)], loss, lambda: benchmark.optimizer)


ORIGINALS = {"dlrm": dlrm, "nvidia_deeprecommender": nvidia_deeprecommender}

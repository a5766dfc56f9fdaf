"""lennard_jones, pytorch_struct and pyhpc_*, of the copies in pytorch/benchmark."""

import math
from typing import Any

import torch
import torch_struct

import torchbench_source
from original import TORCHBENCH, Original, Setup

SOURCE = TORCHBENCH

_OCEAN = 2**20


def lennard_jones(setup: Setup) -> Original:
    module = torchbench_source.benchmark(setup, "lennard_jones")
    benchmark = module.Model("train", "cpu", batch_size=setup.batch)

    def loss() -> torch.Tensor:
        energies, forces = module.make_prediction(benchmark.model, benchmark.drs)
        return module.loss_fn(
            benchmark.training_energies, benchmark.training_forces, energies, forces
        )

    return Original(
        [benchmark.model],
        lambda: list(module.make_prediction(benchmark.model, benchmark.drs)),
        loss,
        lambda: benchmark.optimizer,
    )


def pytorch_struct(setup: Setup) -> Original:
    """Sentences of 20 of 5,000 words."""
    module = torchbench_source.part(setup, "pytorch_struct", "networks.NeuralCFG")
    network = module.NeuralCFG(5000, 30, 30, 256)
    words = setup.draw.integers(5000, max(1, setup.batch // 20), 20)
    lengths = torch.full((len(words),), 20)

    def log_partition(grammar: Any) -> torch.Tensor:
        return torch_struct.SentCFG(grammar, lengths=lengths).partition

    def outputs() -> list[torch.Tensor | None]:
        grammar = network(words)
        return [*grammar, log_partition(grammar)]

    def loss() -> torch.Tensor:
        return -log_partition(network(words)).mean()

    def optimiser() -> torch.optim.Optimizer:
        return torch.optim.Adam(network.parameters(), lr=0.001, betas=(0.75, 0.999))

    def step(adam: Any) -> None:
        adam.zero_grad()
        loss().backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 3.0)
        adam.step()

    return Original([network], outputs, loss, optimiser, step)


class _Fields:
    """Draws an ocean's fields: double precision, sizes as the suite computes them."""

    def __init__(self, setup: Setup) -> None:
        side = setup.batch ** (1 / 3)
        self._draw = setup.draw
        self.x = self.y = math.ceil(2 * side)
        self.z = math.ceil(0.25 * side)
        self.points = self.x, self.y, self.z

    def uniform(self, low: float, high: float, *shape: int) -> torch.Tensor:
        return self._draw.uniform(*shape).double() * (high - low) + low

    def normal(self, count: int, *shape: int) -> list[torch.Tensor]:
        return [self._draw.normal(*shape).double() for _ in range(count)]

    def masks(self, count: int) -> list[torch.Tensor]:
        return [(self._draw.uniform(*self.points) < 0.8).double() for _ in range(count)]

    def bottoms(self) -> torch.Tensor:
        return self._draw.integers(self.z, self.x, self.y)


def equation_of_state(setup: Setup) -> Original:
    module = torchbench_source.benchmark(setup, "pyhpc_equation_of_state")
    fields = _Fields(setup)
    salinity = fields.uniform(1e-2, 10, *fields.points)
    temperature = fields.uniform(-12, 20, *fields.points)
    pressure = fields.uniform(0, 1000, 1, 1, fields.z)
    network = module.EquationOfState()
    return Original([network], lambda: [network(salinity, temperature, pressure)])


def isoneutral_mixing(setup: Setup) -> Original:
    module = torchbench_source.benchmark(setup, "pyhpc_isoneutral_mixing")
    fields = _Fields(setup)
    masks = fields.masks(4)
    widths = fields.normal(2, fields.x) + fields.normal(2, fields.y)
    dzt, dzw, zt = fields.normal(3, fields.z)
    cosines = fields.normal(2, fields.y)
    k_iso, _, *mixing = fields.normal(5, *fields.points)
    tracers = fields.normal(2, *fields.points, 3)
    slopes = [torch.zeros(*fields.points, 2, 2, dtype=torch.float64) for _ in range(4)]
    inputs = [*masks, *widths, dzt, dzw, *cosines, *tracers, zt, k_iso, *mixing, *slopes]
    network = module.IsoneutralMixing()
    return Original([network], lambda: list(network(*inputs)))


def turbulent_kinetic_energy(setup: Setup) -> Original:
    module = torchbench_source.benchmark(setup, "pyhpc_turbulent_kinetic_energy")
    fields = _Fields(setup)
    masks = fields.masks(3)
    widths = fields.normal(2, fields.x) + fields.normal(2, fields.y) + fields.normal(2, fields.z)
    cosines = fields.normal(2, fields.y)
    bottom = fields.bottoms()
    (surface_forcing,) = fields.normal(1, fields.x, fields.y)
    mixing = fields.normal(3, *fields.points)
    *current, tke, dtke = fields.normal(5, *fields.points, 3)
    inputs = [*current, *masks, *widths, *cosines, bottom, *mixing, surface_forcing, tke, dtke]
    network = module.TurbulentKineticEnergy("cpu")
    return Original([network], lambda: list(network(*inputs)))


ORIGINALS = {
    "lennard_jones": lennard_jones,
    "pyhpc_equation_of_state": equation_of_state,
    "pyhpc_isoneutral_mixing": isoneutral_mixing,
    "pyhpc_turbulent_kinetic_energy": turbulent_kinetic_energy,
    "pytorch_struct": pytorch_struct,
}
BATCHES = {
    "lennard_jones": 1000,
    "pyhpc_equation_of_state": _OCEAN,
    "pyhpc_isoneutral_mixing": _OCEAN,
    "pyhpc_turbulent_kinetic_energy": _OCEAN,
    "pytorch_struct": 40,
}

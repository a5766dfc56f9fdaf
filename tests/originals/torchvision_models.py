"""Originals of the package torchvision, as pytorch/benchmark builds them."""

import torch
import torchvision
from torch.nn.functional import cross_entropy

from original import Original, installed

SOURCE = installed("torchvision")

_CLASSES = 1000
_IMAGE = 224


def _adam(network):
    return lambda: torch.optim.Adam(network.parameters(), lr=1e-3)


def _classifier(architecture):
    """Targets that give each class a random share."""
    def build(setup):
        network = torchvision.models.get_model(architecture, weights=None)
        images = setup.draw.normal(setup.batch, 3, _IMAGE, _IMAGE)
        if setup.trains:
            targets = setup.draw.uniform(setup.batch, _CLASSES)
        return Original([network], lambda: [network(images)],
                        lambda: cross_entropy(network(images), targets), _adam(network))
    return build


def _squeezenet(setup):
    """Its step makes sixteen passes, each with classes of its own; the loss is the first one's."""
    passes = 16
    network = torchvision.models.squeezenet1_1(weights=None)
    images = setup.draw.normal(setup.batch, 3, _IMAGE, _IMAGE)
    if setup.trains:
        targets = setup.draw.integers(_CLASSES, passes, setup.batch)
    return Original([network], lambda: [network(images)],
                    lambda: cross_entropy(network(images), targets[0]), _adam(network))


ORIGINALS = {
    **{name: _classifier(name) for name in (
        "alexnet", "densenet121", "mnasnet1_0", "mobilenet_v2", "mobilenet_v3_large", "resnet18",
        "resnet50", "resnext50_32x4d", "shufflenet_v2_x1_0", "vgg16")},
    "squeezenet1_1": _squeezenet,
}

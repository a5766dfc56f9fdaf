"""Originals of the package torchvision, as pytorch/benchmark builds them."""

import functools
from collections.abc import Callable

import torch
import torchvision
from torch.nn.functional import cross_entropy
from torchvision.models import detection
from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor

from original import Builder, Original, Setup, installed

SOURCE = installed("torchvision")

_CLASSES = 1000
_IMAGE = 224


def _adam(network: torch.nn.Module) -> Callable[[], torch.optim.Optimizer]:
    return lambda: torch.optim.Adam(network.parameters(), lr=1e-3)


def _classifier(architecture: str) -> Builder:
    """Targets that give each class a random share."""

    def build(setup: Setup) -> Original:
        network = torchvision.models.get_model(architecture, weights=None)
        images = setup.draw.normal(setup.batch, 3, _IMAGE, _IMAGE)
        if setup.trains:
            targets = setup.draw.uniform(setup.batch, _CLASSES)
        return Original(
            [network],
            lambda: [network(images)],
            lambda: cross_entropy(network(images), targets),
            _adam(network),
        )

    return build


def _squeezenet(setup: Setup) -> Original:
    """Its step makes sixteen passes, each with classes of its own; the loss is the first one's."""
    passes = 16
    network = torchvision.models.squeezenet1_1(weights=None)
    images = setup.draw.normal(setup.batch, 3, _IMAGE, _IMAGE)
    if setup.trains:
        targets = setup.draw.integers(_CLASSES, passes, setup.batch)
    return Original(
        [network],
        lambda: [network(images)],
        lambda: cross_entropy(network(images), targets[0]),
        _adam(network),
    )


def _mask_rcnn(setup: Setup) -> Original:
    """The weights that pytorch/benchmark loads have frozen statistics without an epsilon. Training
    draws its regions in its forward."""
    frozen = functools.partial(torchvision.ops.FrozenBatchNorm2d, eps=0.0)
    body = torchvision.models.resnet50(weights=None, norm_layer=frozen)
    network = detection.MaskRCNN(_resnet_fpn_extractor(body, trainable_layers=3), num_classes=91)
    pictures = [setup.draw.uniform(3, 480, 640) for _ in range(setup.batch)]

    def outputs() -> list[torch.Tensor | None]:
        return [
            found[name]
            for found in network(pictures)
            for name in ("boxes", "labels", "scores", "masks")
        ]

    return Original([network], outputs)


ORIGINALS = {
    **{
        name: _classifier(name)
        for name in (
            "alexnet",
            "densenet121",
            "mnasnet1_0",
            "mobilenet_v2",
            "mobilenet_v3_large",
            "resnet152",
            "resnet18",
            "resnet50",
            "resnext50_32x4d",
            "shufflenet_v2_x1_0",
            "vgg16",
        )
    },
    "squeezenet1_1": _squeezenet,
    "vision_maskrcnn": _mask_rcnn,
}
MODES = {"vision_maskrcnn": ["infer"]}

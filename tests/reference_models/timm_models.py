"""Originals of the package timm, as pytorch/benchmark builds them."""

import timm
import timm.optim
from torch.nn.functional import cross_entropy

from original import Builder, Original, Setup, installed

SOURCE = installed("timm")

_CLASSES = 1000


def _classifier(architecture: str, image: int = 224) -> Builder:
    def build(setup: Setup) -> Original:
        network = timm.create_model(architecture, pretrained=False, scriptable=True)
        images = setup.draw.normal(setup.batch, 3, image, image)
        if setup.trains:
            targets = setup.draw.integers(_CLASSES, setup.batch)
        return Original(
            [network],
            lambda: [network(images)],
            lambda: cross_entropy(network(images), targets),
            lambda: timm.optim.create_optimizer_v2(
                network, opt="sgd", lr=1e-4, weight_decay=1e-4, momentum=0.9
            ),
        )

    return build


ORIGINALS = {
    "timm_efficientnet": _classifier("efficientnet_b0"),
    "timm_nfnet": _classifier("dm_nfnet_f0", image=192),
    "timm_regnet": _classifier("regnety_120"),
    "timm_resnest": _classifier("resnest14d"),
    "timm_vision_transformer": _classifier("vit_small_patch16_224"),
    "timm_vovnet": _classifier("vovnet39a"),
}

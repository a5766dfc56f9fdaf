"""The original of the package effdet, as pytorch/benchmark builds it."""

import effdet
import torch
from effdet.anchors import AnchorLabeler, Anchors
from effdet.loss import DetectionLoss

from original import Original, Setup, installed

SOURCE = installed("effdet")

_IMAGE = 640
_OBJECTS = 8


def _boxes(drawn: torch.Tensor) -> torch.Tensor:
    """Top, left, bottom, right, of a twentieth to a half of the image's side."""
    size = drawn[..., 2:] * 0.45 + 0.05
    corner = drawn[..., :2] * (1.0 - size)
    return torch.cat([corner, corner + size], -1) * _IMAGE


def _efficientdet(setup: Setup) -> Original:
    config = effdet.get_efficientdet_config("tf_efficientdet_d1")
    network = effdet.EfficientDet(config, pretrained_backbone=False)
    images = setup.draw.normal(setup.batch, 3, _IMAGE, _IMAGE)
    if setup.trains:
        boxes = _boxes(setup.draw.uniform(setup.batch, _OBJECTS, 4))
        classes = setup.draw.integers(config.num_classes, setup.batch, _OBJECTS) + 1

    def outputs() -> list[torch.Tensor | None]:
        """Without the hundred detections, which follow: many have equal scores and no order."""
        class_maps, box_maps = network(images)
        return [*class_maps, *box_maps, None]

    def loss() -> torch.Tensor:
        labeler = AnchorLabeler(Anchors.from_config(config), config.num_classes)
        labels = labeler.batch_label_anchors(list(boxes), list(classes))
        return DetectionLoss(config)(*network(images), *labels)[0]

    return Original([network], outputs, loss)


ORIGINALS = {"timm_efficientdet": _efficientdet}

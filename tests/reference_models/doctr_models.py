"""Originals of the package python-doctr, as pytorch/benchmark builds them to infer."""

import importlib
import sys
import types
from collections.abc import Callable
from typing import Any
from unittest import mock

import torch

from original import Builder, Original, Setup, installed

SOURCE = installed("python-doctr")

_UNUSED = (
    "cv2",
    "defusedxml",
    "defusedxml.ElementTree",
    "h5py",
    "langdetect",
    "matplotlib",
    "matplotlib.figure",
    "matplotlib.patches",
    "matplotlib.pyplot",
    "mplcursors",
    "pyclipper",
    "pypdfium2",
    "rapidfuzz",
    "rapidfuzz.string_metric",
    "scipy",
    "scipy.cluster",
    "scipy.cluster.hierarchy",
    "scipy.io",
    "scipy.optimize",
    "shapely",
    "shapely.geometry",
    "unidecode",
    "weasyprint",
)
"""What the package reads and draws documents with; its networks need none of it."""


def _import_models() -> types.ModuleType:
    stand_ins = [name for name in _UNUSED if name not in sys.modules]
    sys.modules.update({name: mock.MagicMock() for name in stand_ins})
    try:
        return importlib.import_module("doctr.models")
    finally:
        for name in stand_ins:
            del sys.modules[name]


_models = _import_models()


def _map_of(build: Callable[..., Any], *image: Any) -> Builder:
    """What the network computes of images, before boxes or words are read from it on the host."""

    def original(setup: Setup) -> Original:
        network = build(pretrained=False, pretrained_backbone=False)
        images = setup.draw.normal(setup.batch, 3, *image)

        def outputs() -> list[torch.Tensor]:
            with mock.patch.object(network, "postprocessor"):
                return [network(images, return_model_output=True)["out_map"]]

        return Original([network], outputs)

    return original


ORIGINALS = {
    "doctr_det_predictor": _map_of(_models.db_resnet50, 1024, 1024),
    "doctr_reco_predictor": _map_of(_models.crnn_vgg16_bn, 32, 128),
}

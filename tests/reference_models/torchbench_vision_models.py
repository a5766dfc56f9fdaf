"""Originals of vision whose classes are files of pytorch/benchmark itself, or of torchvision with
other layers than its own."""

import functools
import tempfile
import types
from typing import Any
from unittest import mock

import torch
import torchvision
from torch import nn
from torch.nn import functional

from original import TORCHBENCH, Original, Setup
from torchbench_source import benchmark, part

SOURCE = TORCHBENCH


def _pytorch_unet(setup: Setup) -> Original:
    unet = part(setup, "pytorch_unet", "pytorch_unet.unet")
    score = part(setup, "pytorch_unet", "pytorch_unet.utils.dice_score")
    classes, high, wide = 2, 640, 959
    network = unet.UNet(n_channels=3, n_classes=classes, bilinear=True)
    images = setup.draw.uniform(setup.batch, 3, high, wide)
    if setup.trains:
        masks = setup.draw.integers(1, setup.batch, high, wide)

    def one_hot(mask: torch.Tensor) -> torch.Tensor:
        return functional.one_hot(mask, classes).permute(0, 3, 1, 2).float()

    def outputs() -> list[torch.Tensor | None]:
        logits = network(images)
        return [logits, one_hot(logits.argmax(dim=1))]

    def loss() -> torch.Tensor:
        logits = network(images)
        return functional.cross_entropy(logits, masks) + score.dice_loss(
            functional.softmax(logits, dim=1), one_hot(masks), multiclass=True
        )

    return Original(
        [network],
        outputs,
        loss,
        lambda: torch.optim.RMSprop(network.parameters(), lr=1e-5, weight_decay=1e-8, momentum=0.9),
    )


def _small_image_classifier(
    setup: Setup, network: torch.nn.Module, optimiser: torch.optim.Optimizer
) -> Original:
    images = setup.draw.normal(setup.batch, 3, 32, 32)
    if setup.trains:
        targets = setup.draw.integers(10, setup.batch)
    return Original(
        [network],
        lambda: [network(images)],
        lambda: functional.cross_entropy(network(images), targets),
        optimiser,
    )


def _phlippe_densenet(setup: Setup) -> Original:
    network = benchmark(setup, "phlippe_densenet").DenseNet()
    return _small_image_classifier(
        setup, network, lambda: torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1e-4)
    )


def _phlippe_resnet(setup: Setup) -> Original:
    network = benchmark(setup, "phlippe_resnet").ResNetModel()
    return _small_image_classifier(
        setup,
        network,
        lambda: torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4),
    )


def _dcgan(setup: Setup) -> Original:
    """The discriminator's loss, which training computes first."""
    dcgan = benchmark(setup, "dcgan")
    sizes = dcgan.DCGAN(types.SimpleNamespace(device="cpu"))
    generator, discriminator = dcgan.Generator(sizes), dcgan.Discriminator(sizes)
    images = setup.draw.normal(setup.batch, 3, 64, 64)
    if setup.trains:
        noise = setup.draw.normal(setup.batch, sizes.nz, 1, 1)

    def judged(pictures: torch.Tensor, label: float) -> torch.Tensor:
        scores = discriminator(pictures).view(-1)
        return functional.binary_cross_entropy(scores, torch.full_like(scores, label))

    return Original(
        [generator, discriminator],
        lambda: [discriminator(images).view(-1)],
        lambda: judged(images, 1.0) + judged(generator(noise).detach(), 0.0),
    )


def _stargan(setup: Setup) -> Original:
    """The discriminator's loss, the only one of a call. The attributes wanted are those it has."""
    model = part(setup, "pytorch_stargan", "model")
    solver = part(setup, "pytorch_stargan", "solver").Solver
    attributes = 5
    generator = model.Generator(64, attributes, 6)
    discriminator = model.Discriminator(128, 64, attributes, 6)
    images = setup.draw.normal(setup.batch, 3, 128, 128)
    labels = setup.draw.integers(2, setup.batch, attributes).float()
    if setup.trains:
        share = setup.draw.uniform(setup.batch, 1, 1, 1)

    def loss() -> torch.Tensor:
        on_real, classes = discriminator(images)
        fake = generator(images, labels)
        on_fake, _ = discriminator(fake.detach())
        between = (share * images + (1 - share) * fake.data).requires_grad_(True)
        on_between, _ = discriminator(between)
        helper = types.SimpleNamespace(device=images.device)
        return (
            -on_real.mean()
            + on_fake.mean()
            + solver.classification_loss(helper, classes, labels, "CelebA")
            + 10 * solver.gradient_penalty(helper, on_between, between)
        )

    return Original([generator, discriminator], lambda: [generator(images, labels)], loss)


def _cyclegan(setup: Setup) -> Original:
    """The loss of both generators, which training computes first."""
    networks = part(setup, "pytorch_CycleGAN_and_pix2pix", "models.networks")
    norm = networks.get_norm_layer("instance")
    generators = [
        networks.ResnetGenerator(3, 3, 64, norm, use_dropout=False, n_blocks=9) for _ in range(2)
    ]
    discriminators = [
        networks.NLayerDiscriminator(3, 64, n_layers=3, norm_layer=norm) for _ in range(2)
    ]
    real_a = setup.draw.normal(setup.batch, 3, 256, 256)
    if setup.trains:
        real_b = setup.draw.normal(setup.batch, 3, 256, 256)

    def loss() -> torch.Tensor:
        to_b, to_a = generators
        gan = networks.GANLoss("lsgan")
        fake_b, fake_a = to_b(real_a), to_a(real_b)
        fooled = gan(discriminators[0](fake_b), True) + gan(discriminators[1](fake_a), True)
        cycles = functional.l1_loss(to_a(fake_b), real_a) + functional.l1_loss(to_b(fake_a), real_b)
        identities = functional.l1_loss(to_b(real_b), real_b) + functional.l1_loss(
            to_a(real_a), real_a
        )
        return fooled + 10 * cycles + 5 * identities

    for discriminator in discriminators:
        discriminator.requires_grad_(False)
    return Original([*generators, *discriminators], lambda: [generators[0](real_a)], loss)


def _super_slomo(setup: Setup) -> Original:
    """Computes its loss in inference as well."""
    wrapper = part(setup, "Super_SloMo", "model_wrapper")
    vgg16 = functools.partial(torchvision.models.vgg16, weights=None)
    with mock.patch.object(torchvision.models, "vgg16", side_effect=lambda weights: vgg16()):
        network = wrapper.Model()
    clip = [
        setup.draw.integers(7, setup.batch),
        *(setup.draw.normal(setup.batch, 3, 352, 352) for _ in range(3)),
    ]
    return Original(
        [network],
        lambda: list(network(*clip)),
        lambda: network(*clip)[1],
        lambda: torch.optim.Adam(network.parameters(), lr=1e-4),
    )


def _join_group_of_one() -> None:
    if not torch.distributed.is_initialized():
        store = tempfile.NamedTemporaryFile(delete=False).name  # noqa: SIM115 outlives this call
        torch.distributed.init_process_group("gloo", f"file://{store}", rank=0, world_size=1)


def _moco(setup: Setup) -> Original:
    """A call makes two iterations, of which the gradients are compared in the first; the queue and
    the key encoder move in inference too."""
    _join_group_of_one()
    builder = part(setup, "moco", "moco.builder")
    network = builder.MoCo(torchvision.models.resnet50, 128, 32_000, 0.999, 0.07, mlp=False)
    network.queue = functional.normalize(setup.draw.normal(128, 32_000), dim=0)
    images = [setup.draw.normal(setup.batch, 3, 224, 224) for _ in range(4)]

    def forward(queries: torch.Tensor, keys: torch.Tensor) -> Any:
        with mock.patch.object(torch.Tensor, "cuda", lambda tensor: tensor):
            return network(queries, keys)

    def outputs() -> list[torch.Tensor | None]:
        forward(*images[:2])
        return list(forward(*images[2:]))

    def loss() -> torch.Tensor:
        return functional.cross_entropy(*forward(*images[:2]))

    return Original(
        [network],
        outputs,
        loss,
        lambda: torch.optim.SGD(network.parameters(), lr=0.03, momentum=0.9, weight_decay=1e-4),
    )


def _group_normed_resnet18(classes: int, setup: Setup) -> Original:
    """Ten classes of targets. The loss before it is split by samples and noise is added."""
    network = torchvision.models.resnet18(
        num_classes=classes, norm_layer=lambda channels: nn.GroupNorm(min(channels, 32), channels)
    )
    return _small_image_classifier(
        setup, network, lambda: torch.optim.Adam(network.parameters(), lr=1e-3)
    )


_DRAWING = ("cv2", "matplotlib", "matplotlib.pyplot")


def _yolov3(setup: Setup) -> Original:
    """The first iteration, when an object's score is to be 1 however well its box fits."""
    folder = setup.torchbench_model("yolov3")
    network = part(setup, "yolov3", "yolo_models", _DRAWING).Darknet(
        str(folder / "cfg" / "yolov3-spp.cfg")
    )
    if not setup.trains:
        images = setup.draw.uniform(setup.batch, 3, 384, 512)
    else:
        images = setup.draw.integers(256, setup.batch, 3, 416, 416).float() / 255.0
        objects = _drawn_objects(setup)

    def outputs() -> list[torch.Tensor | None]:
        boxes, maps = network(images)
        return [boxes, *maps]

    def loss() -> torch.Tensor:
        network.nc, network.gr = 80, 0.0
        network.hyp = {
            "giou": 3.54,
            "cls": 37.4,
            "cls_pw": 1.0,
            "obj": 64.3,
            "obj_pw": 1.0,
            "iou_t": 0.2,
            "fl_gamma": 0.0,
        }
        _, maps = network(images)
        compute_loss = part(setup, "yolov3", "yolo_utils.utils", _DRAWING).compute_loss
        value, _ = compute_loss(list(maps), objects, network)
        return (value * setup.batch / 64).squeeze()

    return Original([network], outputs, loss)


def _drawn_objects(setup: Setup) -> torch.Tensor:
    """Image, class, centre and size as shares of the image: eight in each."""
    count = 8 * setup.batch
    classes = setup.draw.integers(80, count, 1).float()
    centres = 0.1 + 0.8 * setup.draw.uniform(count, 2)
    sizes = 0.05 + 0.4 * setup.draw.uniform(count, 2)
    images = torch.arange(setup.batch).repeat_interleave(8).unsqueeze(1).float()
    return torch.cat([images, classes, centres, sizes], 1)


ORIGINALS = {
    "Super_SloMo": _super_slomo,
    "dcgan": _dcgan,
    "functorch_dp_cifar10": functools.partial(_group_normed_resnet18, 1000),
    "moco": _moco,
    "opacus_cifar10": functools.partial(_group_normed_resnet18, 10),
    "phlippe_densenet": _phlippe_densenet,
    "phlippe_resnet": _phlippe_resnet,
    "pytorch_CycleGAN_and_pix2pix": _cyclegan,
    "pytorch_stargan": _stargan,
    "pytorch_unet": _pytorch_unet,
    "yolov3": _yolov3,
}
BATCHES = {"pytorch_stargan": 16}
# Their gradients take longer than a test should.
MODES = {
    name: ["infer"]
    for name in ("Super_SloMo", "pytorch_CycleGAN_and_pix2pix", "pytorch_stargan", "pytorch_unet")
}

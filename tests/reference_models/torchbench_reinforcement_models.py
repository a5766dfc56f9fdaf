"""drq, LearningToPaint and soft_actor_critic, of the copies in pytorch/benchmark."""

import torch

import torchbench_source
from original import TORCHBENCH, Original, Setup

SOURCE = TORCHBENCH


def drq(setup: Setup) -> Original:
    """Acts on a stack of three times the same picture: nothing moves in the suite's world. What it
    learns by depends on actions drawn at random."""
    agents = torchbench_source.part(
        setup, "drq", "drq", ["gym", "scipy", "scipy.linalg", "skimage.util.shape"]
    )
    config = torchbench_source.part(setup, "drq", "config").DRQConfig
    agent = agents.DRQAgent(config, "cpu", (27, 84, 84), (1,), [-1.0, 1.0])
    frame = 11 + setup.draw.integers(217, 9, 84, 84)
    images = torch.cat([frame] * config.frame_stack).float().unsqueeze(0)
    return Original(
        [agent.actor, agent.critic],
        lambda: [agent.actor(images).mean.clamp(*agent.action_range)],
    )


def learning_to_paint(setup: Setup) -> Original:
    """All of an episode's beginning is black. The loss is the policy's."""
    unused = ["cv2", "tensorboardX", "tensorboardX.summary", "scipy", "scipy.misc"]
    module = torchbench_source.benchmark(setup, "LearningToPaint", unused)
    benchmark = module.Model("train", "cpu", batch_size=setup.batch)
    agent = benchmark.agent
    gan = torchbench_source.part(setup, "LearningToPaint", "baseline.DRL.wgan")
    state = benchmark.observation

    def loss() -> torch.Tensor:
        gan.hard_update(gan.target_netD, gan.netD)
        worth, _ = agent.evaluate(state, agent.play(state))
        return -worth.mean()

    return Original(
        [agent.actor, agent.critic, benchmark.Decoder, gan.netD],
        lambda: [agent.play(state)],
        loss,
        lambda: agent.actor_optim,
    )


def soft_actor_critic(setup: Setup) -> Original:
    """What it learns by depends on actions drawn at random."""
    sac = torchbench_source.part(
        setup, "soft_actor_critic", "sac", ["gym", "gym.wrappers", "tensorboardX"]
    )
    agent = sac.SACAgent(3, 1, -10.0, 2.0, "cpu")
    state = setup.draw.normal(1, 3)
    return Original(
        [agent.actor, agent.critic1, agent.critic2],
        lambda: [agent.forward(state, from_cpu=False).clamp(-1.0, 1.0).squeeze(0)],
    )


ORIGINALS = {
    "LearningToPaint": learning_to_paint,
    "drq": drq,
    "soft_actor_critic": soft_actor_critic,
}
BATCHES = {"soft_actor_critic": 256}
MODES = {"drq": ["infer"], "soft_actor_critic": ["infer"]}

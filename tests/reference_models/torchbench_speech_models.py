"""demucs, speech_transformer and tts_angular, of the copies in pytorch/benchmark."""

from typing import Any

import torch

import torchbench_source
from original import TORCHBENCH, Original, Setup

SOURCE = TORCHBENCH

_SPEAKERS = 64
_CHARACTERS = 4233


def demucs(setup: Setup) -> Original:
    module = torchbench_source.benchmark(setup, "demucs")
    benchmark = module.Model("train", "cpu", batch_size=setup.batch)
    streams = setup.draw.uniform(*benchmark.example_inputs[0].shape)

    def loss() -> torch.Tensor:
        sources, estimates = benchmark.model(streams)
        return benchmark.criterion(estimates, module.center_trim(sources, estimates))

    return Original(
        [benchmark.model], lambda: [benchmark.model(streams)[1]], loss, lambda: benchmark.optimizer
    )


def speech_transformer(setup: Setup) -> Original:
    """Utterances of 200 frames and 20 characters; the first three are special."""
    name = "speech_transformer"
    config = torchbench_source.part(setup, name, "config", ["kaldi_io"])
    sizes = config.SpeechTransformerTrainConfig
    attention = sizes.n_head, sizes.d_k, sizes.d_v, sizes.d_model, sizes.d_inner
    both = {"dropout": sizes.dropout, "pe_maxlen": sizes.pe_maxlen}
    encoder = config.Encoder(sizes.d_input * sizes.LFR_m, sizes.n_layers_enc, *attention, **both)
    decoder = config.Decoder(
        1,
        2,
        _CHARACTERS,
        sizes.d_word_vec,
        sizes.n_layers_dec,
        *attention,
        tgt_emb_prj_weight_sharing=sizes.tgt_emb_prj_weight_sharing,
        **both,
    )
    network = config.Transformer(encoder, decoder)
    utterances = setup.draw.normal(setup.batch, 200, sizes.d_input * sizes.LFR_m)
    lengths = torch.full((setup.batch,), 200)
    characters = 3 + setup.draw.integers(_CHARACTERS - 3, setup.batch, 20)

    def forward() -> Any:
        return network(utterances, lengths, characters)

    def loss() -> torch.Tensor:
        return config.cal_performance(*forward(), smoothing=sizes.label_smoothing)[0]

    def optimiser() -> torch.optim.Optimizer:
        return torch.optim.Adam(network.parameters(), betas=(0.9, 0.98), eps=1e-9)

    def step(adam: Any) -> None:
        """Two updates, the second in evaluation mode."""
        for training in (True, False):
            network.train(training)
            adam.zero_grad()
            loss().backward()
            adam.step()

    return Original([network], lambda: list(forward()), loss, optimiser, step)


def tts_angular(setup: Setup) -> Original:
    """The suite's batch has one utterance of each speaker, so that its loss is not a number."""
    module = torchbench_source.part(setup, "tts_angular", "angular_tts_main")
    training = module.TTSModel("cpu", setup.batch)
    utterances = setup.draw.uniform(*training.SYNTHETIC_DATA[0].shape)

    def loss() -> torch.Tensor:
        embeddings = training.model(utterances)
        return training.criterion(embeddings.view(_SPEAKERS, setup.batch // _SPEAKERS, -1))

    return Original(
        [training.model], lambda: [training.model(utterances)], loss, lambda: training.optimizer
    )


ORIGINALS = {
    "demucs": demucs,
    "speech_transformer": speech_transformer,
    "tts_angular": tts_angular,
}
BATCHES = {"tts_angular": 2 * _SPEAKERS}
MODES = {"demucs": ["infer"], "speech_transformer": ["infer"]}

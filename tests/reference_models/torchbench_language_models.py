"""BERT_pytorch and attention_is_all_you_need_pytorch, of the copies in pytorch/benchmark."""

import torch

import torchbench_source
from original import TORCHBENCH, Original, Setup

SOURCE = TORCHBENCH

_BERT_WORDS = 20_000 + 5  # and the special ones
_BERT_LENGTH = 128
_TRANSFORMER_WORDS = 9521
_TRANSFORMER_LENGTH = 32
_TRANSFORMER_PADDING = 1


def bert_pytorch(setup: Setup) -> Original:
    trainers = torchbench_source.part(setup, "BERT_pytorch", "bert_pytorch.trainer")
    models = torchbench_source.part(setup, "BERT_pytorch", "bert_pytorch.model")
    bert = models.BERT(_BERT_WORDS, hidden=768, n_layers=12, attn_heads=12)
    trainer = trainers.BERTTrainer(bert, _BERT_WORDS, None, lr=1e-3, with_cuda=False)
    shape = (setup.batch, _BERT_LENGTH)
    inputs = setup.draw.integers(_BERT_WORDS, *shape), setup.draw.integers(3, *shape)
    labels = setup.draw.integers(_BERT_WORDS, *shape)
    is_next = setup.draw.integers(2, setup.batch)

    def loss() -> torch.Tensor:
        next_sentence, tokens = trainer.model(*inputs)
        next_loss = trainer.criterion(next_sentence, is_next)
        return next_loss + trainer.criterion(tokens.transpose(1, 2), labels)

    return Original(
        [trainer.model], lambda: list(trainer.model(*inputs)), loss, lambda: trainer.optim
    )


def attention_is_all_you_need(setup: Setup) -> Original:
    name = "attention_is_all_you_need_pytorch"
    legacy = "torchbenchmark.util.torchtext_legacy"
    unused = ["dill", legacy]
    unused += [f"{legacy}.{each}" for each in ("field", "data", "iterator", "translation")]
    training = torchbench_source.part(setup, name, "train", unused)
    network = training.Transformer(
        _TRANSFORMER_WORDS,
        _TRANSFORMER_WORDS,
        src_pad_idx=_TRANSFORMER_PADDING,
        trg_pad_idx=_TRANSFORMER_PADDING,
        trg_emb_prj_weight_sharing=False,
        emb_src_trg_weight_sharing=False,
    )
    shape = (setup.batch, _TRANSFORMER_LENGTH)
    source = setup.draw.integers(_TRANSFORMER_WORDS, *shape)
    target = setup.draw.integers(_TRANSFORMER_WORDS, *shape)
    original = Original([network], lambda: [network(source, target)])
    if setup.trains:
        gold = setup.draw.integers(_TRANSFORMER_WORDS, setup.batch * _TRANSFORMER_LENGTH)
        original.loss = lambda: training.cal_loss(
            network(source, target), gold, _TRANSFORMER_PADDING
        )
        original.optimiser = lambda: torch.optim.Adam(
            network.parameters(), betas=(0.9, 0.98), eps=1e-9
        )
    return original


ORIGINALS = {
    "BERT_pytorch": bert_pytorch,
    "attention_is_all_you_need_pytorch": attention_is_all_you_need,
}

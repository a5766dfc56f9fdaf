"""hf_*: the networks of Hugging Face transformers, at the configurations of the published weights
that the suite names, which it would otherwise download."""

from typing import Any

import torch
import transformers

from original import Original, Setup, installed

SOURCE = installed("transformers")


def _language_model(
    setup: Setup, auto_class: Any, config: Any, length: int, eval_length: int | None = None
) -> Original:
    """The suite's recipe: random tokens and labels, Adam."""
    network = auto_class.from_config(config)
    shape = (setup.batch, length if setup.trains else eval_length or length)
    input_ids = setup.draw.integers(config.vocab_size, *shape)
    inputs = {"input_ids": input_ids}
    if config.is_encoder_decoder:
        inputs["decoder_input_ids"] = input_ids
    original = Original([network], lambda: [network(**inputs).logits])
    if setup.trains:
        labels = setup.draw.integers(config.vocab_size, *shape)
        original.loss = lambda: network(input_ids=input_ids, labels=labels).loss
        original.optimiser = lambda: torch.optim.Adam(network.parameters(), lr=0.001)
        original.step = lambda optimiser: _step_keeping_gradients(original, optimiser)
    return original


def _step_keeping_gradients(original: Original, optimiser: torch.optim.Optimizer) -> None:
    """The suite never clears them."""
    original.loss().backward()
    optimiser.step()


def _masked(setup: Setup, config: Any, *lengths: Any) -> Original:
    return _language_model(setup, transformers.AutoModelForMaskedLM, config, *lengths)


def _causal(setup: Setup, config: Any, *lengths: Any) -> Original:
    return _language_model(setup, transformers.AutoModelForCausalLM, config, *lengths)


def _sequence_to_sequence(setup: Setup, config: Any, *lengths: Any) -> Original:
    return _language_model(setup, transformers.AutoModelForSeq2SeqLM, config, *lengths)


def bert(setup: Setup) -> Original:
    return _masked(setup, transformers.BertConfig(), 512)


def bert_large(setup: Setup) -> Original:
    config = transformers.BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16)
    return _masked(setup, config, 512)


def albert(setup: Setup) -> Original:
    """albert-base-v2"""
    config = transformers.AlbertConfig(
        hidden_size=768,
        intermediate_size=3072,
        num_attention_heads=12,
        hidden_act="gelu_new",
        hidden_dropout_prob=0,
        attention_probs_dropout_prob=0,
    )
    return _masked(setup, config, 512)


def distilbert(setup: Setup) -> Original:
    """distilbert-base-uncased"""
    return _masked(setup, transformers.DistilBertConfig(), 512)


def longformer(setup: Setup) -> Original:
    """allenai/longformer-base-4096"""
    config = transformers.LongformerConfig(
        vocab_size=50265,
        max_position_embeddings=4098,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        attention_window=[512] * 12,
        pad_token_id=1,
    )
    return _masked(setup, config, 1024, 4096)


def bart(setup: Setup) -> Original:
    """facebook/bart-base"""
    config = transformers.BartConfig(
        d_model=768,
        encoder_layers=6,
        decoder_layers=6,
        encoder_ffn_dim=3072,
        decoder_ffn_dim=3072,
        encoder_attention_heads=12,
        decoder_attention_heads=12,
    )
    return _sequence_to_sequence(setup, config, 512)


def gpt2(setup: Setup) -> Original:
    """gpt2"""
    return _causal(setup, transformers.GPT2Config(), 512, 1024)


def gpt2_large(setup: Setup) -> Original:
    """gpt2-large"""
    config = transformers.GPT2Config(n_embd=1280, n_head=20, n_layer=36)
    return _causal(setup, config, 512, 1024)


def _t5(setup: Setup, lengths: tuple[int, ...], **sizes: Any) -> Original:
    config = transformers.T5Config(decoder_start_token_id=0, **sizes)
    return _sequence_to_sequence(setup, config, *lengths)


def t5(setup: Setup) -> Original:
    """t5-small"""
    return _t5(setup, (1024, 2048))


def t5_base(setup: Setup) -> Original:
    """t5-base"""
    return _t5(setup, (1024, 2048), d_model=768, d_ff=3072, num_layers=12, num_heads=12)


def t5_large(setup: Setup) -> Original:
    """t5-large"""
    return _t5(setup, (512,), d_model=1024, d_ff=4096, num_layers=24, num_heads=16)


ORIGINALS = {
    "hf_Albert": albert,
    "hf_Bart": bart,
    "hf_Bert": bert,
    "hf_Bert_large": bert_large,
    "hf_DistilBert": distilbert,
    "hf_GPT2": gpt2,
    "hf_GPT2_large": gpt2_large,
    "hf_Longformer": longformer,
    "hf_T5": t5,
    "hf_T5_base": t5_base,
    "hf_T5_large": t5_large,
}

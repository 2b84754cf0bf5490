#!/usr/bin/env python3
"""Trains a tiny model with random weights for one step on the builders' output, by TRL's SFTTrainer on prompts
and completions. The model must get exactly the bytes of the prompt and of the completion.

usage: trainers_check.py FOLDER
"""
import os
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
import datasets
import torch
import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

datasets.disable_progress_bars()


def tokenizer():
    """A byte tokenizer, which restores every text."""
    symbols = ["<pad>", "<eos>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    made = Tokenizer(models.BPE(vocab={s: i for i, s in enumerate(symbols)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    out = PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="<eos>", clean_up_tokenization_spaces=False)
    out.chat_template = (
        "{% for m in messages %}{% if m['role'] == 'assistant' %}{% generation %}{{ m['content'] + eos_token }}{% endgeneration %}"
        "{% else %}{{ m['content'] }}{% endif %}{% endfor %}"
    )
    return out


def model():
    torch.manual_seed(1)
    return Qwen2ForCausalLM(Qwen2Config(vocab_size=258, hidden_size=32, intermediate_size=64, num_hidden_layers=1,
                                        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=16384))


def load(folder):
    with tempfile.TemporaryDirectory() as cache:
        rows = datasets.load_dataset(folder, split="train", cache_dir=cache)
        return datasets.Dataset.from_list([r for r in rows][:8])


def step(kind, config, rows, work):
    args = config(output_dir=work, max_steps=1, per_device_train_batch_size=2, max_length=None, use_cpu=True, report_to=[], bf16=False,
                  disable_tqdm=True, save_strategy="no")
    trainer = kind(model=model(), args=args, train_dataset=rows, processing_class=tokenizer())
    loss = trainer.train().training_loss
    if not loss > 0:
        sys.exit(f"{kind.__name__}: the loss is {loss}")
    return trainer, loss


def check(folder, work):
    tok = tokenizer()
    for builder in ("instructscore", "metricinstruct", "refine"):
        rows = load(f"{folder}/{builder}")
        trainer, loss = step(trl.SFTTrainer, trl.SFTConfig, rows, work)
        for r, seen in zip(rows, trainer.train_dataset):
            said = bytes_of(tok, seen["input_ids"])
            if said != r["prompt"] + r["completion"] + "<eos>":
                sys.exit(f"SFTTrainer trains on {said!r}, want {r}")
        print(f"SFTTrainer, {builder}: loss {loss:.3f}; the bytes equal the rows'")


def bytes_of(tok, ids):
    return tok.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)


with tempfile.TemporaryDirectory() as scratch:
    check(sys.argv[1], scratch)

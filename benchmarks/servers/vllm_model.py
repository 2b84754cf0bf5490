"""Write tiny models with random weights for vLLM, and transformers' values for them.

Usage: vllm_model.py FOLDER

FOLDER/bytes has a byte-level vocabulary, as GPT-2's heirs have, and FOLDER/pieces
one like SentencePiece's, with a token before every text and bytes for unknown
characters. Both have a chat template. They know nothing and answer in words,
with a quotation mark now and then; digits and brackets come only where a server
allows nothing else.

FOLDER/NAME.json says what the special tokens are, and lists texts with the mean
log-probability of what follows a prefix, by transformers' own forward pass and
its tokenizer's offsets.
"""

import json
import os
import sys

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

WIDTH, LAYERS = 64, 2
# No layer changes dimensions 0 and 1. The first has this value everywhere and so
# serves as a bias; the second has it after anything that is not a word.
HIGH = 8.0
# How likely an answer, and a text in quotation marks, ends after a word.
END, QUOTE = 1.2, 1.1
TEMPLATE = (
    "{% if bos_token %}{{ bos_token }}{% endif %}"
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
TEXTS = [
    ("The river is quiet.", " In other words, the river is calm."),
    ("The river is quiet. In other words, ", "the river is calm."),
    ("The lake: ", "\n\n  the  lake\t\"is\" {quiet}.  "),
    ("Schnee: 雪が", "降る, é und 🙂🙂 ü"),
    ("In w", "inter the lake freezes over."),
    ("A", " river"),
]
WORDS = [f + v + r for f in "bdfgklmnprst" for v in "aeiou" for r in ("n", "r", "sta", "lo")]
COMMON = ["the", "The", "river", "is", "lake", "quiet", "In", "other", "words", "winter", "translation", "error", "output", "source"]


def byte_level():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    plain = [" ".join(["."] + COMMON + WORDS)] * 20
    t.train_from_iterator(plain, trainers.BpeTrainer(vocab_size=900, special_tokens=["<|end|>"], initial_alphabet=sorted(alphabet)))
    return PreTrainedTokenizerFast(tokenizer_object=t, eos_token="<|end|>")


def pieces():
    vocab = {t: i for i, t in enumerate(["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)])}
    merges = []
    for c in "\u2581abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,:\"{}]":
        vocab[c] = len(vocab)
    for word in COMMON + WORDS:
        whole = "\u2581"
        for c in word:
            if whole + c not in vocab:
                vocab[whole + c] = len(vocab)
                merges.append((whole, c))
            whole += c
    t = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    t.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=t, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def random_model(tokenizer):
    torch.manual_seed(2)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=WIDTH, intermediate_size=128, num_hidden_layers=LAYERS,
        num_attention_heads=2, num_key_value_heads=2, head_dim=32, max_position_embeddings=8192,
        initializer_range=WIDTH**-0.5, bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
    )).eval()
    tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    # The first character is the mark of a space before the word.
    words = torch.tensor([len(t) > 2 and not t[0].isascii() and t[1:].isalpha() for t in tokens])
    ends = {tokenizer.eos_token_id: END, tokens.index('"'): QUOTE}
    # JSON may have them nearly anywhere, and without end.
    blanks = torch.tensor([tokenizer.convert_tokens_to_string(["." , t]).lstrip(".").isspace() for t in tokens])
    with torch.no_grad():
        embedding, output = model.model.embed_tokens.weight, model.lm_head.weight
        embedding.normal_()
        embedding[:, 0] = HIGH
        embedding[:, 1] = torch.where(words, 0.0, HIGH)
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight[:2] = 0
            layer.mlp.down_proj.weight[:2] = 0
        output.normal_(std=0.3)
        output[:, 0] = torch.where(words, 0.0, torch.where(blanks, -14.0, -10.0))
        output[:, 1] = 0
        for token, readily in ends.items():
            output[token] *= 0.7
            output[token, 0], output[token, 1] = readily, -10
        # Lists have an item, and lists, items and numbers end.
        for token, readily in (("{", -4.0), ("}", -9.3), ("]", -9.3)):
            output[tokens.index(token), 0] = readily
    return model


def expected(tokenizer, model):
    """A token belongs to the continuation if it ends in it."""
    for prefix, continuation in TEXTS:
        text = prefix + continuation
        encoded = tokenizer(text, return_offsets_mapping=True)
        ids = torch.tensor([encoded["input_ids"]])
        with torch.no_grad():
            logs = torch.log_softmax(model(ids).logits[0].double(), -1)
        values, straddles = [], False
        for i, (start, end) in enumerate(encoded["offset_mapping"]):
            if i > 0 and end > len(prefix):
                values.append(logs[i - 1, ids[0, i]].item())
                straddles = straddles or start < len(prefix)
        yield {
            "prefix": prefix, "continuation": continuation, "mean": sum(values) / len(values),
            "tokens": len(values), "straddles": straddles,
        }


def main(folder):
    for name, tokenizer in (("bytes", byte_level()), ("pieces", pieces())):
        path = os.path.join(folder, name)
        tokenizer.chat_template = TEMPLATE
        model = random_model(tokenizer)
        tokenizer.save_pretrained(path)
        model.save_pretrained(path)
        specials = {t: tokenizer.convert_tokens_to_ids(t) for t in tokenizer.all_special_tokens}
        with open(path + ".json", "w", encoding="utf-8") as f:
            json.dump({"texts": list(expected(tokenizer, model)), "specials": specials}, f)


main(sys.argv[1])

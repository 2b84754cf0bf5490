#!/usr/bin/env python3
"""Trains SentencePiece models, and writes the pieces into which they split texts, and sacreBLEU's BLEU with
them.

usage: SACREBLEU=FOLDER sentencepiece_vectors.py FOLDER [--data DIR] [--seed N] [--texts N]

FOLDER/pieces.jsonl has a line a model and text; the models are in the same folder. Texts are random, and with
--data also from WMT22 in four languages; without it the models are trained only on random texts.
FOLDER/bleu.jsonl has rows as sacrebleu_vectors.py writes them. Three of the models replace those that sacreBLEU
would download: it accepts any file in that place.
"""
import argparse
import ast
import json
import os
import random
import shutil

import sacrebleu.utils
import sentencepiece
from sacrebleu.metrics import BLEU
from sacrebleu_vectors import WORDS, corpus_row, line, real_rows, segment_row, vary

ap = argparse.ArgumentParser()
ap.add_argument("folder")
ap.add_argument("--data")
ap.add_argument("--seed", type=int, default=1)
ap.add_argument("--texts", type=int, default=2000, help="of each kind, for each model")
args = ap.parse_args()
rng = random.Random(args.seed)

SCRIPTS = ["abcdefghij ABC.,-'0123456789", "äöüßéèñçø œ", "абвгдежзик ъыь", "αβγδε άέ", "中文翻译的是不了人 ，。", "日本語かなカナー ｶﾅ",
           "한국어 각", "שלום עולם", "مرحبا بالعالم", "नमस्ते दुनिया", "สวัสดี", "ﬁﬂ①Ⅷ㌔½™", "e\u0301a\u0308o\u0302\u0327", "😀👩\u200d👧🏽🇩🇪",
           "\u00a0\u2003\u3000\t \u200b\ufeff\u2028\x85", "\u2581 \u2581", "\x01\x07\x1f\x7f\u0000", "<>@&_ ", "\ufffd\U0010fffd\ue000"]


def noise():
    out = []
    for _ in range(rng.randint(0, 12)):
        kind = rng.random()
        if kind < 0.1:
            c = rng.randint(0, 0x10FFFF)
            out.append(" " if 0xD800 <= c < 0xE000 else chr(c))
        else:
            letters = rng.choice(SCRIPTS)
            out.append("".join(rng.choice(letters) for _ in range(rng.randint(1, 8))))
        out.append(rng.choice(["", " ", " ", "  "]))
    return "".join(out)


noises = [noise() for _ in range(3 * args.texts)]
lines = list(noises)
if args.data:
    read = lambda p: [l.rstrip("\n") for l in open(os.path.join(args.data, p), encoding="utf-8")]
    lines = read("mt-metrics-eval-v2/wmt22/sources/zh-en.txt") + read("mt-metrics-eval-v2/wmt22/references/zh-en.refA.txt")
    for pair in ("en-de", "en-ru"):
        for expanded in read(f"div-ref/wmt22.{pair}.refA.diversified"):
            lines += ast.literal_eval(expanded)[:4]
    rng.shuffle(lines)
train = [l for l in (lines[:min(12000, 40 * args.texts)] + noises[:2000]) if l.strip() and "\0" not in l]
with open(args.folder + "/train.txt", "w", encoding="utf-8") as f:
    f.writelines(l.replace("\n", " ").replace("\r", " ") + "\n" for l in train)

MODELS = {
    "unigram": {},
    "bpe": dict(model_type="bpe"),
    "unigram-bytes": dict(byte_fallback=True, character_coverage=0.98),
    "bpe-bytes": dict(model_type="bpe", byte_fallback=True, character_coverage=0.98, split_digits=True),
    "unigram-identity": dict(normalization_rule_name="identity", remove_extra_whitespaces=False),
    "bpe-plain": dict(model_type="bpe", normalization_rule_name="identity", add_dummy_prefix=False, remove_extra_whitespaces=False),
    "unigram-fold": dict(normalization_rule_name="nmt_nfkc_cf", user_defined_symbols=["<sep>", "的是", "ab c", "ﬁ"]),
    "bpe-user": dict(model_type="bpe", user_defined_symbols=["<sep>", "的是", "ab", "@"], control_symbols=["<ctl>"]),
    "unigram-suffix": dict(treat_whitespace_as_suffix=True, normalization_rule_name="nfkc"),
}
rows = 0
with open(args.folder + "/pieces.jsonl", "w", encoding="utf-8") as out:
    for name, options in MODELS.items():
        path = f"{args.folder}/{name}"
        sentencepiece.SentencePieceTrainer.train(
            input=args.folder + "/train.txt", model_prefix=path, vocab_size=3000, hard_vocab_limit=False,
            num_threads=2, minloglevel=2, **options)
        model = sentencepiece.SentencePieceProcessor(model_file=path + ".model")
        for text in rng.sample(noises, args.texts) + rng.sample(lines, min(len(lines), args.texts)):
            out.write(json.dumps({"model": name + ".model", "text": text, "pieces": model.encode_as_pieces(text)}) + "\n")
            rows += 1

assert os.path.samefile(sacrebleu.utils.SACREBLEU_DIR, args.folder), "set SACREBLEU to the folder"
os.makedirs(args.folder + "/models", exist_ok=True)
settings = []
for tokenizer, name, file in (
    ("flores101", "bpe-bytes", "sacrebleu_tokenizer_spm.model"),
    ("flores200", "unigram", "flores200sacrebleuspm"),
    ("spBLEU-1K", "unigram-identity", "spbleu-1k_tokenizer_spm.model"),
):
    shutil.copy(f"{args.folder}/{name}.model", f"{args.folder}/models/{file}")
    for lc in (False, True):
        settings.append((f"bleu:tokenize={tokenizer},lowercase={'yes' if lc else 'no'}", BLEU(tokenize=tokenizer, lowercase=lc, effective_order=True)))
scores = 0
with open(args.folder + "/bleu.jsonl", "w", encoding="utf-8") as out:
    def emit(row):
        global scores
        scores += len(row.get("cells", [])) * len(row["references"]) or 1
        out.write(json.dumps(row) + "\n")

    for spec, metric in settings:
        for words in list(WORDS.values()) * 5:
            base = line(rng, words)
            refs = [base] + [vary(rng, base, words) for _ in range(rng.randint(0, 3))]
            emit(segment_row(spec, metric, [vary(rng, rng.choice(refs), words), noise(), line(rng, words)], refs))
    for spec, metric in settings:
        metric.effective_order = False  # as for corpora
        pool = rng.choice(list(WORDS.values()))
        texts = [line(rng, pool) for _ in range(8)]
        emit(corpus_row(spec, metric, [vary(rng, t, pool) for t in texts], [[t, vary(rng, t, pool)] for t in texts]))
    if args.data:
        for row in real_rows(args.data, settings, rng, args.texts):
            if row["kind"] == "corpus":  # sentences use the effective order
                emit(row)
print(f"{scores} scores in {args.folder}/bleu.jsonl")
print(f"{len(MODELS)} models, {rows} rows, sentencepiece {sentencepiece.__version__}")

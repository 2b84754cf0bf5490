#!/usr/bin/env python3
"""Writes sacreBLEU's values, for the Go tests to compare with.

usage: sacrebleu_vectors.py OUT.jsonl [--seed N] [--rounds N] [--every N] [--data DIR]

A "segment" row has the sentence scores of every hypothesis against each single reference ("cells") and against
all of them ("native"). A "corpus" row has the corpus score of ragged references. With --data, rows of real
WMT22 outputs are added. With --every, one in N of the settings of BLEU and chrF is taken, and corpora of
1875 / N real lines.
"""
import argparse
import itertools
import json
import logging
import os
import random

from sacrebleu.metrics import BLEU, CHRF, TER

logging.getLogger("sacrebleu").setLevel(logging.ERROR)

WORDS = {
    "latin": "the a of cat Dog's house, e-mail 3.5 1,000 U.S. don't co-op 2020-21 «Wort» naïve Ärger straße ÉCOLE I'm rock'n'roll $5 50% x=y a/b #tag @you ... -- !? (yes) [no] {x} <b> &quot;so&quot; &amp; &lt;i&gt; &amp;lt; <skipped> 9, .5 5. 1-2 3-x".split(),
    "greek": "ΟΔΥΣΣΕΥΣ Σ ΣΑΣ ΑΣ. ὈΔΟΣ σοφός ΤΕΛΟΣ, «Ελλάς»".split(),
    "cyrillic": "Привет мир, ЩУКА ёж №5 «так» Їжак".split(),
    "turkish": "İstanbul IĞDIR ışık İ i̇ DİYARBAKIR".split(),
    "cjk": "你好 世界。 中文，测试！ 东京タワー テスト ｱｲｳ ＡＢＣ１２３ 「引用」 한국어 안녕하세요 ㍿ 〇 丈 𠀀 龥 豈 ｆｕｌｌ，ｗｉｄｔｈ．".split(),
    "rtl": "שלום עולם مرحبا، العالم؟ ١٢٣٫٤ \u200fא\u200e ۱۲۳ لا".split(),
    "indic": "नमस्ते दुनिया। ಕನ್ನಡ தமிழ் ক্ষ ๑๒๓ สวัสดี ไทย ၁၂".split(),
    "marks": "e\u0301 cafe\u0301 n\u0303o \u0301 a\u0308\u0304 Z\u0335a\u0489l\u0489g\u0489o \u2126 \u212b \u01c5 \ufb01n".split(),
    "emoji": "😀 👨‍👩‍👧‍👦 🏳️‍🌈 👍🏽 ❤️ ☃ ✓ ⅷ ½ ² Ⅻ ™ © € £5 ¥ ° ± × ÷ ≠ ∑ → ♥ ‐ – — … ‘q’ “Q” „D“ ‹s› · • †".split(),
}
SPACES = [" "] * 12 + ["  ", "\u00a0", "\u3000", "\u2009", "\t", "\u0085", "\x1c", "\x1f", "\u2028", "\u200b", "\u202f", "\u2001", "\ufeff"]


def line(rng, pool):
    n = rng.choice([0, 1, 1, 2, 3, 5, 8, 13, 20, 30])
    out = []
    for _ in range(n):
        w = rng.choice(pool)
        if rng.random() < 0.15:
            w = w.upper() if rng.random() < 0.5 else w.capitalize()
        if rng.random() < 0.15:
            w += rng.choice([".", ",", "!", "?", "...", ".,", "-", ":", ";", ")", "'s", "”", "。"])
        if rng.random() < 0.07:
            w = rng.choice(["(", '"', "'", "“", "¿", "-", "."]) + w
        out.append(w)
        out.append(rng.choice(SPACES))
    s = "".join(out)
    if rng.random() < 0.7:
        s = s.strip()
    if rng.random() < 0.02:
        s = s.replace(" ", "\n", 1)
    if rng.random() < 0.02:
        s = s.replace(" ", "-\n", 1)
    return s


def vary(rng, s, pool):
    """A text that shares much with s."""
    words = s.split(" ")
    for _ in range(rng.randint(0, 4)):
        i = rng.randrange(len(words))
        op = rng.random()
        if op < 0.3:
            words[i] = rng.choice(pool)
        elif op < 0.5 and len(words) > 1:
            words.pop(i)
        elif op < 0.7:
            words.insert(i, rng.choice(words))
        else:
            j = rng.randrange(len(words))
            words[i], words[j] = words[j], words[i]
    return " ".join(words)


def bleu_settings():
    smooths = [("exp", None), ("none", None), ("floor", None), ("add-k", None), ("floor", 0.01), ("floor", 0), ("add-k", 0), ("add-k", 0.5), ("add-k", 2.5)]
    for tok, (method, value), lc, order, eff in itertools.product(
        ["13a", "none", "intl", "zh", "char"], smooths, [False, True], [4, 1, 2, 6], [True, False]
    ):
        spec = f"bleu:tokenize={tok},smooth={method},lowercase={'yes' if lc else 'no'},order={order},effective-order={'yes' if eff else 'no'}"
        if value is not None:
            spec += f",smooth-value={value}"
        yield spec, BLEU(tokenize=tok, smooth_method=method, smooth_value=value, lowercase=lc, max_ngram_order=order, effective_order=eff)


def chrf_settings():
    for nc, nw, beta, ws, lc, eps in itertools.product(
        [6, 1, 3, 9], [0, 2, 1, 4], [2, 1, 3], [False, True], [False, True], [False, True]
    ):
        yn = lambda b: "yes" if b else "no"
        spec = f"chrf:char-order={nc},word-order={nw},beta={beta},whitespace={yn(ws)},lowercase={yn(lc)},eps={yn(eps)}"
        yield spec, CHRF(char_order=nc, word_order=nw, beta=beta, whitespace=ws, lowercase=lc, eps_smoothing=eps)


def ter_settings():
    for norm, nopunct, asian, case in itertools.product([False, True], repeat=4):
        yn = lambda b: "yes" if b else "no"
        spec = f"ter:normalized={yn(norm)},no-punct={yn(nopunct)},asian={yn(asian)},case-sensitive={yn(case)}"
        yield spec, TER(normalized=norm, no_punct=nopunct, asian_support=asian, case_sensitive=case)


def segment_row(spec, metric, hyps, refs):
    return {
        "kind": "segment",
        "spec": spec,
        "hypotheses": hyps,
        "references": refs,
        "cells": [[metric.sentence_score(h, [r]).score for r in refs] for h in hyps],
        "native": [metric.sentence_score(h, refs).score for h in hyps],
    }


def corpus_row(spec, metric, hyps, refs):
    """refs: one list per segment; padded with None for sacreBLEU's layout."""
    width = max(len(r) for r in refs)
    columns = [[r[i] if i < len(r) else None for r in refs] for i in range(width)]
    # sacreBLEU looks at the type of the first reference only.
    score = metric.corpus_score(hyps, columns)
    return {
        "kind": "corpus",
        "spec": spec,
        "hypotheses": hyps,
        "references": refs,
        "corpus": score.score,
        "signature": str(metric.get_signature()),
    }


def real_rows(data, settings, rng, most):
    base = os.path.join(data, "mt-metrics-eval-v2", "wmt22")
    read = lambda p: [l.rstrip("\n") for l in open(os.path.join(base, p), encoding="utf-8")]
    refs = [read(f"references/zh-en.ref{x}.txt") for x in "AB"]
    systems = sorted(os.listdir(os.path.join(base, "system-outputs/zh-en")))
    outs = [read(f"system-outputs/zh-en/{s}") for s in systems]
    for spec, metric in settings:
        for i in rng.sample(range(len(refs[0])), 12):
            yield segment_row(spec, metric, [o[i] for o in rng.sample(outs, 4)], [r[i] for r in refs])
        # TER in Python takes seconds for a few hundred lines.
        n = min(most, 100) if spec.startswith("ter") else most
        out = rng.choice(outs)
        yield corpus_row(spec, metric, out[:n], [list(r) for r in zip(*refs)][:n])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("out")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--every", type=int, default=1)
    ap.add_argument("--data")
    args = ap.parse_args()
    rng = random.Random(args.seed)
    every = [w for ws in WORDS.values() for w in ws]
    n = 0
    with open(args.out, "w", encoding="utf-8") as f:

        def emit(row):
            nonlocal n
            n += len(row.get("cells", [])) * len(row["references"]) or 1
            f.write(json.dumps(row, ensure_ascii=False) + "\n")

        for spec, metric in [*[*bleu_settings(), *chrf_settings()][:: args.every], *ter_settings()]:
            for _ in range(args.rounds):
                pool = rng.choice(list(WORDS.values()) + [every, every])
                base = line(rng, pool)
                refs = [base] + [vary(rng, base, pool) if rng.random() < 0.7 else line(rng, pool) for _ in range(rng.randint(0, 4))]
                hyps = [vary(rng, rng.choice(refs), pool) for _ in range(2)] + [line(rng, pool)]
                emit(segment_row(spec, metric, hyps, refs))
            pool = rng.choice(list(WORDS.values()) + [every])
            chyps, crefs = [], []
            for _ in range(rng.randint(1, 12)):
                base = line(rng, pool)
                chyps.append(vary(rng, base, pool))
                crefs.append([base] + [vary(rng, base, pool) for _ in range(rng.randint(0, 3))])
            emit(corpus_row(spec, metric, chyps, crefs))
        if args.data:
            settings = [s for i, s in enumerate(bleu_settings()) if i % 23 == 0]
            settings += [s for i, s in enumerate(chrf_settings()) if i % 29 == 0]
            settings += [s for i, s in enumerate(ter_settings()) if i % 5 == 0]
            for row in real_rows(args.data, settings, rng, 1875 // args.every):
                emit(row)
    print(f"{n} scores in {args.out}")


if __name__ == "__main__":
    main()

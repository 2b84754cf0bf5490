"""Writes sacreBLEU's TER of texts that are hard for it, in the format of sacrebleu_vectors.py: runs to be
moved, short and long, near and far; lengths that differ much; more candidates to move than the search
considers; possessives, entities and numbers; every kind of white space.

usage: ter_vectors.py OUT.jsonl [--seed N] [--pairs N] [--options N] [--data DIR]

    python3 -m pip install sacrebleu==2.6.0
    python3 benchmarks/peers/ter_vectors.py ter.jsonl
    REFRACT_SACREBLEU_VECTORS=$PWD/ter.jsonl go test -run TestSacreBLEU -v ./metrics

A pair is a hypothesis with its references. It has a "segment" row for each of
several combinations of the options, and every hundred pairs of a combination
are a "corpus" row. With --data, pairs of real WMT22 outputs are added.
"""
import argparse
import itertools
import json
import pathlib
import random

import sacrebleu
import sacrebleu.metrics.ter
from sacrebleu_vectors import corpus_row, segment_row, ter_settings

# sacreBLEU computes a pair again for the sentence, for several references and for the corpus. Cache it: the
# generated texts are few and hard.
EDITS = {}
compute = sacrebleu.metrics.ter.translation_edit_rate


def remember(hyp, ref):
    key = (tuple(hyp), tuple(ref))
    if key not in EDITS:
        EDITS[key] = compute(hyp, ref)
    return EDITS[key]


sacrebleu.metrics.ter.translation_edit_rate = remember

LATIN = "the of a and house tree Paris U.S. well-known don't naïve Äpfel ŒUVRE straße ẞ ﬁne DŽ ǅ".split()
SCRIPTS = [
    LATIN,
    "ты не Москва ЁЛКА дом и в Который ѢЖ Ӏ".split(),
    "ΟΔΟΣ ΟΔΟΣ. Σ ΣΑΣ'Σ ὈΔΥΣΣΕΎΣ ΆΣ́ και λόγος ΣΊΣΥΦΟΣ ᾼΣ".split(),
    "İSTANBUL ISPARTA ığdır İ I iİ Iı".split(),
    "中文 翻译 北京。 你好， 龙㐀 〇 豈 ㌀ ㈱ ⺀ ㇀ ䷀ 𠀀 ︰".split(),
    "ひらがな カタカナ ㇰㇱ 東京へ行く。 データ・ベース 「引用」 ｶﾀｶﾅ ｡｢｣ ー".split(),
    "Ｆｕｌｌ ＷＩＤＴＨ １２３ ．，？：；！＂（） ＇ｓ".split(),
    "مرحبا بالعالم، السلام؟ שלום עולם׳ס \u200fשלום\u200f ١٢٣".split(),
    "नमस्ते दुनिया क्षि १२.३ हिन्दी।".split(),
    "สวัสดีชาวโลก ภาษาไทย ๑๒๓".split(),
    "e\u0301cole A\u030a Σ\u0345 a\u0300\u0301\u0302 \u0301x".split(),
    "👩‍👩‍👧‍👦 🇩🇪 ❤️ 😀😀 🏳️‍🌈".split(),
    "1.5 1,000 3-4 1990-2000 .5 5. ,5 -5 5- 1..2 1.,2 1.-2 a.b a,b a.5 5.a 3.14. 0-".split(),
    "dog's 's John's) dog's. dog's, 's's x's- 'S dogs' d's/ '".split(),
    "&quot; &amp; &lt; &gt; &amp;lt; &amp;quot; &amp;amp; &QUOT; &lt;b&gt; &quot &amp;gt; AT&amp;T &".split(),
    ". , ? : ; ! \" ( ) [ ] { } ~ ` _ ^ \\ / - -- ... ,,, .,., $ % # @ * + = < > | …".split(),
]
SPACES = [" "] * 30 + ["  ", "\t", "\n", "\n-", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f", "\x85",
                       "\xa0", "\u1680", "\u2000", "\u2009", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
                       "\u200b", "\ufeff", "", ""]
CHARACTERS = [chr(c) for c in itertools.chain(
    range(1, 0x180), range(0x370, 0x400), range(0x2000, 0x2070), range(0x2e78, 0x2f02), range(0x2ff8, 0x3110),
    range(0x31b8, 0x3210), range(0x32f8, 0x3308), range(0x33f8, 0x3408), range(0x4db8, 0x4e08),
    range(0x9ff8, 0xa008), range(0xf8f8, 0xf908), range(0xfaf8, 0xfb08), range(0xfe28, 0xfe58),
    range(0xff00, 0xff70))]


def join(rng, words):
    return "".join(w + rng.choice(SPACES) for w in words)


def edit(rng, words, vocabulary):
    """A disturbed copy: runs moved, words replaced, dropped, added."""
    words = list(words)
    for _ in range(rng.randint(0, 6)):
        if not words:
            break
        kind = rng.random()
        i = rng.randrange(len(words))
        if kind < 0.5:
            n = rng.randint(1, 14)
            run, words = words[i:i + n], words[:i] + words[i + n:]
            j = rng.randint(0, len(words))
            words[j:j] = run
        elif kind < 0.7:
            words[i] = rng.choice(vocabulary)
        elif kind < 0.85:
            del words[i]
        else:
            words.insert(i, rng.choice(vocabulary))
    return words


def generated(rng, count):
    for k in range(count):
        kind = k % 20
        vocabulary = list(rng.choice(SCRIPTS))
        if rng.random() < 0.5:
            vocabulary += rng.choice(SCRIPTS) + rng.choice(SCRIPTS)
        n_refs = rng.choice([1, 1, 2, 3])
        if kind == 0:  # empty, blank and one-word lines
            pick = lambda: rng.choice(["", " ", "\xa0", "\n", "\x1c", ".", "word", "word.", "。", "word's", "word's\xa0"])
            yield pick(), [pick() for _ in range(n_refs)]
        elif kind in (1, 2):  # any characters
            pick = lambda: "".join(rng.choice(CHARACTERS) for _ in range(rng.randint(0, 60)))
            yield pick(), [pick() for _ in range(n_refs)]
        elif kind in (3, 4, 5, 6):  # few distinct words, much to move
            words = [f"w{rng.randint(0, rng.choice([5, 12, 40]))}" for _ in range(rng.randint(1, 35))]
            yield join(rng, edit(rng, words, words)), [join(rng, edit(rng, words, words)) for _ in range(n_refs)]
        elif kind == 7:  # lengths that differ a lot
            short = [rng.choice("abc") for _ in range(rng.randint(1, 3))]
            long = [rng.choice("abcdefghijk") for _ in range(rng.randint(40, 300))]
            if rng.random() < 0.5:
                short, long = long, short
            yield " ".join(short), [" ".join(edit(rng, long, long)) for _ in range(n_refs)]
        elif k % 400 == 8:  # long texts, at times beyond the candidate limit
            words = [f"w{int(rng.paretovariate(0.7)) % 500}" for _ in range(rng.randint(60, 160))]
            yield " ".join(edit(rng, edit(rng, words, words), words)), [" ".join(edit(rng, words, words))]
        elif k % 1000 == 9:  # beyond the candidate limit for sure
            words = [rng.choice("abcd") for _ in range(rng.randint(60, 100))]
            yield " ".join(words), [" ".join(rng.sample(words, len(words)))]
        elif kind == 10:  # long runs far away
            words = [f"w{i}" for i in range(rng.randint(20, 90))]
            i, n = rng.randrange(len(words)), rng.randint(5, 15)
            moved = words[i:i + n] + words[:i] + words[i + n:]
            yield " ".join(moved), [" ".join(edit(rng, words, words)) for _ in range(n_refs)]
        else:  # the scripts
            words = [rng.choice(vocabulary) for _ in range(rng.randint(1, 30))]
            yield join(rng, edit(rng, words, vocabulary)), [join(rng, edit(rng, words, vocabulary)) for _ in range(n_refs)]


def lines(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def official(rng, data, systems, segments):
    root = data / "mt-metrics-eval-v2" / "wmt22"
    refs = [lines(p) for p in sorted((root / "references").glob("zh-en.*.txt"))]
    paths = sorted((root / "system-outputs" / "zh-en").glob("*.txt"))
    for path in rng.sample(paths, systems):
        hyps = lines(path)
        for i in sorted(rng.sample(range(len(hyps)), segments)):
            yield hyps[i], [ref[i] for ref in refs]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("out")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--pairs", type=int, default=2000, help="generated pairs")
    ap.add_argument("--options", type=int, default=3, help="combinations of options per pair, at most 16")
    ap.add_argument("--data", type=pathlib.Path)
    args = ap.parse_args()
    assert sacrebleu.__version__ == "2.6.0", sacrebleu.__version__

    rng = random.Random(args.seed)
    pairs = generated(rng, args.pairs)
    if args.data:
        pairs = itertools.chain(pairs, official(rng, args.data, systems=4, segments=300))
    settings = list(ter_settings())
    corpora = [([], []) for _ in settings]
    n = 0
    with open(args.out, "w", encoding="utf-8") as f:

        def emit(row):
            nonlocal n
            n += len(row["references"]) if row["kind"] == "segment" else 1
            f.write(json.dumps(row, ensure_ascii=False) + "\n")

        def flush(c):
            hyps, refs = corpora[c]
            if hyps:
                emit(corpus_row(*settings[c], hyps, refs))
            corpora[c] = ([], [])

        for k, (hyp, refs) in enumerate(pairs):
            # The first combination rotates, so that all of them occur.
            chosen = {k % len(settings)} | set(rng.sample(range(len(settings)), args.options - 1))
            for c in sorted(chosen):
                emit(segment_row(*settings[c], [hyp], refs))
                corpora[c][0].append(hyp)
                corpora[c][1].append(refs)
                if len(corpora[c][0]) == 100:
                    flush(c)
        for c in range(len(settings)):
            flush(c)
    print(f"{n} scores in {args.out}")


if __name__ == "__main__":
    main()

"""Writes what sacreBLEU gives for TER, for peer_test.go.

    python3 -m pip install sacrebleu==2.6.0
    python3 vectors.py vectors.jsonl 1
    REFRACT_SACREBLEU_VECTORS_TER=vectors.jsonl go test -run TestPeer ./metrics/ter

Arguments: the output file and a seed. With --mtme DIR (a test set of
mt-metrics-eval, such as .../mt-metrics-eval-v2/wmt22) the texts are its
system outputs and references of --lp instead of generated ones.

A pair is a hypothesis with its references. Each is written once per
combination of the options chosen for it, as a line of kind "segment"; a line
of kind "corpus" per combination follows at the end.
"""

import argparse
import itertools
import json
import pathlib
import random

import sacrebleu
import sacrebleu.metrics.ter
from sacrebleu.metrics import TER

OPTIONS = ["normalized", "no_punct", "asian_support", "case_sensitive"]
COMBINATIONS = [dict(zip(OPTIONS, c)) for c in itertools.product([False, True], repeat=4)]

# sacreBLEU computes a pair anew for the sentence, for several references and
# for the corpus. Remember it: the generated texts are few and hard.
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


def official(rng, root, lp, systems, per_system):
    refs = [lines(p) for p in sorted((root / "references").glob(f"{lp}.*.txt"))]
    paths = sorted((root / "system-outputs" / lp).glob("*.txt"))
    for path in rng.sample(paths, min(systems, len(paths))):
        hyps = lines(path)
        for i in sorted(rng.sample(range(len(hyps)), min(per_system, len(hyps)))):
            yield hyps[i], [ref[i] for ref in refs]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("seed", type=int)
    parser.add_argument("--pairs", type=int, default=10000, help="generated pairs")
    parser.add_argument("--options", type=int, default=3, help="option combinations per pair, at most 16")
    parser.add_argument("--mtme", type=pathlib.Path)
    parser.add_argument("--lp", default="zh-en")
    parser.add_argument("--systems", type=int, default=4)
    parser.add_argument("--per-system", type=int, default=10**9)
    args = parser.parse_args()
    assert sacrebleu.__version__ == "2.6.0", sacrebleu.__version__

    rng = random.Random(args.seed)
    if args.mtme:
        pairs = official(rng, args.mtme, args.lp, args.systems, args.per_system)
    else:
        pairs = generated(rng, args.pairs)
    metrics = [TER(**c) for c in COMBINATIONS]
    corpora = [([], []) for _ in COMBINATIONS]
    with args.output.open("w", encoding="utf-8") as out:
        for k, (hyp, refs) in enumerate(pairs):
            # The first combination in turn, so that all of them come up.
            chosen = {k % 16} | set(rng.sample(range(16), args.options - 1))
            for c in sorted(chosen):
                ter = metrics[c]
                native = ter.sentence_score(hyp, refs)
                out.write(json.dumps({
                    "kind": "segment",
                    "options": COMBINATIONS[c],
                    "hypothesis": hyp,
                    "references": refs,
                    "words": ter._preprocess_segment(hyp).split(),
                    "scores": [ter.sentence_score(hyp, [r]).score for r in refs],
                    "native": native.score,
                }) + "\n")
                corpora[c][0].append(hyp)
                corpora[c][1].append(refs)
        for c, (hyps, refs) in enumerate(corpora):
            if not hyps:
                continue
            columns = list(itertools.zip_longest(*refs))  # None where a segment has fewer
            score = metrics[c].corpus_score(hyps, columns)
            out.write(json.dumps({
                "kind": "corpus",
                "options": COMBINATIONS[c],
                "segments": len(hyps),
                "native": score.score,
                "signature": str(metrics[c].get_signature()),
            }) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes pycocoevalcap's values: words by Stanford's PTBTokenizer, and CIDEr-D.

usage: cider_vectors.py OUT.jsonl WORDS.tsv [--seed N] [--every N] [--data DIR]

Needs Java. A row of OUT.jsonl is a dataset: references and an output of each segment, the scores, and their
mean. A line of WORDS.tsv is a text and its words, between spaces. The tokenizer reads all texts as one, so the
next text can change the last word of a text; a line "zzz" between texts prevents that. With --every, there are
40,000 / N random texts, and one in N of the systems of WMT22.
"""
import argparse
import json
import os
import random
import re

from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

import sacrebleu_vectors as texts

SPECIAL = """cannot CANNOT 'twas 'Tis gonna Gotta lemme wanna &amp; &AMP; &lt; &gt; &quot; &apos; &nbsp; &mdash; &#39; &eacute;
<b> </b> <br/> <a it's It’s don't don’t DON'T can't won't I'm we've they'll n't 's ' '' ` `` ‘ ’ “ ” « » ‹ › „ ‚ ‟ 'em o'clock O'Reilly
d'accord l'homme c'est Cap'n y'all rock'n'roll 'n' '90s '99 'till 'cause ol' http://a.b/c?d=e#f https://x.yz www.foo.com/bar, foo.org
me@x.org <me@x.org> @you #tag #1 ## @@ __ a_b x@y 1/2 3-1/2 10/10/2010 1-2-99 3.14 1,000.5 -5 +7 ½ ¼ ⅔ ²³ ₁₂ x² $5 US$5 £5 €5 ¢ ¥ 5%
C++ c# F# AT&T S&P-500 S&Ls pro-life anti-x and/or a/b/c 1/2/3/4 \\/ -lrb- -RRB- C.D.s U.S. U.K. I. A. B.C. a.m. p.m. e.g. i.e. Ph.D.
Mr. Mrs. Dr. St. Jan. Sept. Inc. Corp. Co. Ltd. Pty. ltd Mass. mass. Ill. ill. vs. etc. al. No. no. fig. pp. Bldg. U.S.-U.K. non-U.S.
The the He However, If 5 12 file.txt a.b.html README.md (800) 555-1234 800-555-1234 +1 555.123.4567 :) ;-) :-( =D :P <3 ^_^ (^_^) -_-
( ) [ ] { } < > << >> - -- --- ---- ----- — – ... .... . .. … * ** ? ! ?! !!! , ; : = / \\ | ~ ^ + & % state-of-the-art co-ed x- -x a--b
soft\u00adhyphen \u00ad A+B X&Y l'x-d'y 1st naïve École 中文 你好。 ， 、 日本・語 한국어 नमस्ते ไทย 😀 ❤️ → ∑ © ™ ° · • ½-x \u200b \ufeff Ｆｕｌｌ １２""".split()
LETTERS = "aAbBnNtTsSuU..''--,,  12(<>)@:/&;$_#*?’\u00ad\u00e9中~^="
OTHER_LINES = re.compile("[\t\r\n\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")
CAPITAL_SIGMA = "Σ"  # Java finds the end of a word differently


def fits(s):
    return s.strip() and CAPITAL_SIGMA not in s and not OTHER_LINES.search(s)


def random_line(rng):
    if rng.random() < 0.5:
        return "".join(rng.choices(LETTERS, k=rng.randint(1, 12)))
    out = []
    for _ in range(rng.randint(1, 8)):
        w = rng.choice(SPECIAL) if rng.random() < 0.75 else rng.choice(rng.choice(list(texts.WORDS.values())))
        if rng.random() < 0.1:
            w = w.upper() if rng.random() < 0.5 else w.capitalize()
        if rng.random() < 0.2:
            w += rng.choice(list(".,!?;:'\")]}-") + ["..", "'s", "n't", "”", "’"])
        out += [w, rng.choice([" "] * 6 + ["", "\u00a0", "  "])]
    return "".join(out)


def real_sets(data, rng, every):
    """Outputs and references of WMT22 and SummEval."""
    wmt = os.path.join(data, "mt-metrics-eval-v2", "wmt22")
    read = lambda p: [l.rstrip("\n") for l in open(os.path.join(wmt, p), encoding="utf-8")]
    refs = list(zip(*(read(f"references/zh-en.ref{x}.txt") for x in "AB")))
    for s in sorted(os.listdir(os.path.join(wmt, "system-outputs/zh-en")))[::every]:
        yield read(f"system-outputs/zh-en/{s}"), refs
    with open(os.path.join(data, "summeval", "summeval.jsonl"), encoding="utf-8") as f:
        rows = [json.loads(l) for l in f]
    yield [rng.choice([h for h in r["hypotheses"].values() if h]) for r in rows], [r["references"] for r in rows]


def words_of(lines):
    caps = {i: [{"caption": l}, {"caption": "zzz"}] for i, l in enumerate(lines)}
    return {l: out[0] for l, out in zip(lines, PTBTokenizer().tokenize(caps).values())}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("out")
    ap.add_argument("words")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--every", type=int, default=1)
    ap.add_argument("--data")
    args = ap.parse_args()
    rng = random.Random(args.seed)
    lines = [random_line(rng) for _ in range(40000 // args.every)]
    sets = []
    for n in [1, 2, 3, 10, 30, 100]:
        pool = texts.WORDS["latin"] + SPECIAL[:60]
        base = [texts.line(rng, pool) for _ in range(n)]
        vary = lambda s: re.sub(r"\s+", " ", texts.vary(rng, s, pool))
        sets.append(([vary(b) for b in base], [[vary(b) for _ in range(rng.randint(1, 4))] for b in base]))
    if args.data:
        sets += real_sets(args.data, rng, args.every)
    # Segments are left out if the tokenizer does not read each text as exactly one line.
    sets = [list(zip(*[(h, r) for h, r in zip(hyps, refs) if all(map(fits, [h, *r]))])) for hyps, refs in sets]
    sets = [s for s in sets if s]
    every = sorted({s for s in lines if fits(s)} | {s for hyps, refs in sets for h, r in zip(hyps, refs) for s in [h, *r]})
    words = words_of(every)
    with open(args.words, "w", encoding="utf-8") as f:
        for s in every:
            f.write(s + "\t" + " ".join(words[s].split()) + "\n")
    with open(args.out, "w", encoding="utf-8") as f:
        for hyps, refs in sets:
            mean, scores = Cider().compute_score({i: [words[s] for s in r] for i, r in enumerate(refs)}, {i: [words[h]] for i, h in enumerate(hyps)})
            f.write(json.dumps({"hypotheses": hyps, "references": refs, "scores": [float(x) for x in scores], "mean": float(mean)}) + "\n")


if __name__ == "__main__":
    main()

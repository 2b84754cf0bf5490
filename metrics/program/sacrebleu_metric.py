"""BLEU with any tokenizer of sacreBLEU, such as MeCab's, as a metric for Refract.

    pip install 'sacrebleu[ja,ko]==2.6.0'
    refract score data.jsonl -m 'exec:python3 sacrebleu_metric.py ja-mecab'

Scores are sentence scores, with the effective order; a system's score is their mean.
"""

import sys

import refract_metric
from sacrebleu.metrics import BLEU

tokenizer, = sys.argv[1:]
bleu = BLEU(tokenize=tokenizer, effective_order=True)


def score(hypothesis, references):
    return min(100.0, bleu.sentence_score(hypothesis, references).score)


score("", [""]) # sacreBLEU has a signature only after scoring
info = bleu.get_signature().info
refract_metric.run(
    "sacrebleu:tokenize=" + tokenizer,
    lambda source, hypothesis, reference: score(hypothesis, [reference]),
    native=lambda source, hypothesis, references: score(hypothesis, references),
    signature={k: str(info[k]) for k in ("case", "eff", "tok", "smooth")} | {"sacrebleu": info["version"]},
    lower=0, upper=100)

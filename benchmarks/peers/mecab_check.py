"""Compares BLEU with MeCab, which refract gets from a program, with sacreBLEU's own.

usage: mecab_check.py REFRACT FOLDER
"""

import json
import os
import subprocess
import sys

from sacrebleu.metrics import BLEU

SETS = {
    "ja-mecab": (["私は東京に住んでいます。", "東京に住む。"], ["私は東京に住む。", "京都に住んでいます", "私は東京に住んでいます。", ""]),
    "ko-mecab": (["나는 학교에 갑니다.", "학교에 간다"], ["나는 학교에 가요.", "그는 집에 갑니다.", "나는 학교에 갑니다.", ""]),
}


def main():
    refract, folder = sys.argv[1:]
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../metrics/program/sacrebleu_metric.py")
    for tokenizer, (references, hypotheses) in SETS.items():
        path = os.path.join(folder, tokenizer + ".jsonl")
        with open(path, "w", encoding="utf-8") as f:
            f.write(json.dumps({"id": "a", "references": references, "hypotheses": {str(i): h for i, h in enumerate(hypotheses)}}) + "\n")
        out = subprocess.run(
            [refract, "score", "jsonl:" + path, "-m", f"exec:processes=1 '{sys.executable}' '{program}' {tokenizer}",
             "-a", "native", "--per", "cell", "-f", "jsonl", "--cache", os.path.join(folder, "mecab.sqlite")], check=True, capture_output=True, text=True).stdout
        bleu = BLEU(tokenize=tokenizer, effective_order=True)
        rows = [row for row in map(json.loads, out.splitlines()) if "score" in row]
        for row in rows:
            chosen = references if row["aggregate"] == "native" else [references[row["reference"]]]
            want = bleu.sentence_score(hypotheses[int(row["system"])], chosen).score
            assert abs(row["score"] - want) < 1e-9, (row, want)
        assert len(rows) == len(hypotheses) * (1 + len(references)), rows
        print(f"{tokenizer}: {len(rows)} scores are sacreBLEU's")


if __name__ == "__main__":
    main()

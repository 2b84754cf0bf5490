#!/usr/bin/env python3
"""Writes segments whose variants are hostile to file formats, as JSON Lines.

usage: publish_vectors.py OUT.jsonl [--seed N] [--segments N]
"""
import argparse
import json
import random

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--segments", type=int, default=300)
args = parser.parse_args()
rng = random.Random(args.seed)

PIECES = list("ab'\"\\`[]{},:#|<>&-%") + [
    "\n", "\r", "\t", "\0", "\x1b", "\x7f", "\x85", "\xa0", "\u2028", "\u2029", "\u202e", "\ufeff", "\ufffd", "\uffff",
    "é", "水", "😀", "\U0010ffff", "\\n", "\\x41", "\\", "'''", '"""', "None", "null", " ", "\u3000",
]


def hostile():
    if rng.random() < 0.1:
        # Any character but surrogates.
        return "".join(chr(rng.choice([rng.randrange(0xD800), rng.randrange(0xE000, 0x110000)])) for _ in range(rng.randrange(8)))
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(12)))


def variant(i):
    text = None if rng.random() < 0.1 else hostile()
    v = {"reference": 0, "prompt": f"p{i}", "sample": rng.randrange(3), "model": rng.choice(["tiny", "other 'one'"]), "text": text}
    if rng.random() < 0.5:
        v["sampling"] = {"temperature": rng.random(), "stop": [hostile()]}
        raw = rng.choice([None, hostile(), text])
        if raw != text:
            v["raw"] = raw
        if rng.random() < 0.5:
            v["cleaned"] = ["quotes", "note"]
        v["completion_tokens"] = rng.randrange(1, 99)
        v["created"] = "2024-02-29T13:00:%02d.%06dZ" % (rng.randrange(60), rng.randrange(1, 10**6))
    v["verdict"] = "accepted"
    return v


with open(args.out, "w", encoding="utf-8", newline="\n") as f:
    for i in range(args.segments):
        row = {"id": f"{i}:{hostile()}", "references": [f"reference {i}"]}
        row["variants"] = [variant(k) for k in range(rng.randrange(5))]
        if rng.random() < 0.3:
            row["rejected"] = [variant(0) | {"verdict": "refusal", "detail": hostile()}]
        row["document"] = hostile()
        f.write(json.dumps(row, ensure_ascii=rng.random() < 0.5, separators=(",", ":")) + "\n")

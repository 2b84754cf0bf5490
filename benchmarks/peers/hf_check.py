#!/usr/bin/env python3
"""Checks that Hugging Face's datasets loads a published folder of Parquet, with
the rows that the folder of JSON Lines has, and that it writes them so that
Refract reads the same set again.

usage: hf_check.py PARQUET-FOLDER JSONL-FOLDER REWRITTEN.parquet
"""
import json
import os
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
import datasets  # which reads these variables as it starts

datasets.disable_progress_bars()

folder, jsonl_folder, rewritten = sys.argv[1:4]


def variant(v):
    """A variant as JSON Lines has it."""
    out = {k: v[k] for k in ("reference", "prompt", "sample", "text")}
    for key in ("model", "finish", "verdict", "detail", "revision", "served_model", "created", "cleaned"):
        if v[key]:
            out[key] = v[key]
    for key in ("prompt_tokens", "completion_tokens"):
        if v[key]:
            out[key] = v[key]
    if v["sampling"]:
        out["sampling"] = json.loads(v["sampling"])
    if v["raw_is"] in ("raw", "missing"):
        out["raw"] = v["raw"]
    return out


def row(r):
    """A row as JSON Lines has it."""
    out = {"id": r["id"], "references": r["references"]}
    for key in ("variants", "rejected"):
        if r[key]:
            out[key] = [variant(v) for v in r[key]]
    for key in ("source", "document", "domain"):
        if r[key] not in (None, "") or key == "source" and r[key] == "":
            out[key] = r[key]
    return out


with tempfile.TemporaryDirectory() as cache:
    loaded = datasets.load_dataset(folder, split="test", cache_dir=cache)
    rows = [row(r) for r in loaded]
    loaded.to_parquet(rewritten)

want = []
with open(os.path.join(jsonl_folder, "references.jsonl"), encoding="utf-8", newline="\n") as f:
    for line in f:
        want.append(json.loads(line))
for r in want:
    # Where there is no other field of an origin, raw is stated, to tell that there is one.
    for v in r.get("variants", []) + r.get("rejected", []):
        if v.get("raw", 0) == v["text"] and v["text"] is not None:
            del v["raw"]
if len(rows) != len(want):
    sys.exit(f"datasets loads {len(rows)} rows, want {len(want)}")
for i, (a, b) in enumerate(zip(rows, want)):
    if a != b:
        sys.exit(f"row {i} as datasets loads it:\n{a}\nwant:\n{b}")
print(f"datasets {datasets.__version__}: {len(rows)} rows equal")

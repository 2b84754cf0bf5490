#!/usr/bin/env python3
"""Checks that Hugging Face's datasets loads a published folder of Parquet and one of JSON Lines with the right
rows, and that Refract reads the same set from the Parquet that it writes.

usage: hf_check.py PARQUET-FOLDER JSONL-FOLDER REWRITTEN.parquet
"""
import json
import os
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
import datasets  # reads these variables on import

datasets.disable_progress_bars()

folder, jsonl_folder, rewritten = sys.argv[1:4]


def variant(v):
    """A variant as JSON Lines has it."""
    out = {k: v[k] for k in ("reference", "prompt", "sample", "text")}
    for key in ("model", "finish", "verdict", "detail", "review", "audit", "revision",
                "served_model", "form", "created", "cleaned", "alarms"):
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
    # An origin without other fields has raw, to show that there is an origin.
    for v in r.get("variants", []) + r.get("rejected", []):
        if v.get("raw", 0) == v["text"] and v["text"] is not None:
            del v["raw"]
if len(rows) != len(want):
    sys.exit(f"datasets loads {len(rows)} rows, want {len(want)}")
for i, (a, b) in enumerate(zip(rows, want)):
    if a != b:
        sys.exit(f"row {i} as datasets loads it:\n{a}\nwant:\n{b}")


def told(x):
    """The content of a row, except for fields whose type datasets infers, and for the last bits of floats,
    which pandas reads inexactly."""
    if isinstance(x, dict):
        return {k: told(v) for k, v in x.items() if v not in (None, []) and k not in ("sampling", "created")}
    if isinstance(x, float):
        return round(x, 9)
    return [told(v) for v in x] if isinstance(x, list) else x


with tempfile.TemporaryDirectory() as cache:
    lines = list(datasets.load_dataset(jsonl_folder, split="test", cache_dir=cache))
if len(lines) != len(want):
    sys.exit(f"datasets loads {len(lines)} lines, want {len(want)}")
for i, (a, b) in enumerate(zip(lines, want)):
    if told(a) != told(b):
        sys.exit(f"line {i} as datasets loads it:\n{told(a)}\nwant:\n{told(b)}")
print(f"datasets {datasets.__version__}: {len(rows)} rows equal, of Parquet and of JSON Lines")

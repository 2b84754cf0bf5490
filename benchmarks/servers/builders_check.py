#!/usr/bin/env python3
"""Checks that Hugging Face's datasets loads what builders of training data write, in
every form, with the columns that trainers read.

usage: builders_check.py FOLDER

FOLDER has folders BUILDER.FORM of the same items.
"""
import json
import os
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
import datasets  # which reads these variables as it starts

datasets.disable_progress_bars()


def turns(rows, role, text, roles):
    """The prompt and the completion of a conversation."""
    for r in rows:
        if [m[role] for m in r] != list(roles) or set(r[0]) != {role, text}:
            sys.exit(f"a conversation is {r}")
        yield r[0][text], r[1][text]


# What each form has, as TRL, axolotl and LLaMA-Factory name it, and how a row is read.
COLUMNS = {
    "messages": ["messages"],
    "completion": ["prompt", "completion"],
}
READ = {
    "messages": lambda d: turns(d["messages"], "role", "content", ("user", "assistant")),
    "completion": lambda d: zip(d["prompt"], d["completion"]),
}


def load(folder, config, columns):
    with tempfile.TemporaryDirectory() as cache:
        loaded = datasets.load_dataset(folder, config, cache_dir=cache)
        for split, rows in loaded.items():
            if rows.column_names != columns:
                sys.exit(f"{folder}, {config}, {split}: the columns are {rows.column_names}, want {columns}")
        return {split: rows[:] for split, rows in loaded.items()}


def main(folder):
    first, loads = {}, 0
    for name in sorted(os.listdir(folder)):
        parts = name.split(".")
        if len(parts) != 2 or parts[1] not in COLUMNS:
            continue
        builder, form = parts
        path = os.path.join(folder, name)
        with open(os.path.join(path, "build.json"), encoding="utf-8") as f:
            said = json.load(f)
        rows = {s: list(READ[form](d)) for s, d in load(path, "default", COLUMNS[form]).items()}
        if {s: len(r) for s, r in rows.items()} != {"train": said["train"], "validation": said["validation"]}:
            sys.exit(f"{name}: {rows.keys()} with other counts than build.json")
        if first.setdefault(builder, rows) != rows:
            sys.exit(f"{name}: other texts than in another form")
        if any(not isinstance(t, str) or not t.strip() for side in rows.values() for r in side for t in r):
            sys.exit(f"{name}: a text is missing or empty")
        loads += 1
        with open(os.path.join(path, "items.jsonl"), encoding="utf-8") as f:
            sides = {}
            for item in map(json.loads, f):
                if not item["rule"] and sides.setdefault(item["group"], item.get("validation")) != item.get("validation"):
                    sys.exit(f"{name}: {item['group']!r} is on both sides")
    if len(first) != 3:
        sys.exit(f"{folder} has {sorted(first)}")
    counts = {b: sum(map(len, r.values())) for b, r in first.items()}
    print(f"datasets {datasets.__version__}: {loads} loads; examples {counts}")


main(sys.argv[1])

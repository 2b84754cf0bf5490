#!/usr/bin/env python3
"""Checks that Hugging Face's datasets loads the builders' training data, with the columns that trainers read.

usage: builders_check.py FOLDER

FOLDER has a folder for each builder.
"""
import json
import os
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
import datasets  # reads these variables on import

datasets.disable_progress_bars()


def load(folder):
    with tempfile.TemporaryDirectory() as cache:
        loaded = datasets.load_dataset(folder, "default", cache_dir=cache)
        for split, rows in loaded.items():
            if rows.column_names != ["prompt", "completion"]:
                sys.exit(f"{folder}, {split}: the columns are {rows.column_names}")
        return {split: list(zip(rows["prompt"], rows["completion"])) for split, rows in loaded.items()}


def check(path):
    with open(os.path.join(path, "build.json"), encoding="utf-8") as f:
        said = json.load(f)
    rows = load(path)
    if {s: len(r) for s, r in rows.items()} != {"train": said["train"], "validation": said["validation"]}:
        sys.exit(f"{path}: {rows.keys()} with other counts than build.json")
    if any(not isinstance(t, str) or not t.strip() for side in rows.values() for r in side for t in r):
        sys.exit(f"{path}: a text is missing or empty")
    with open(os.path.join(path, "items.jsonl"), encoding="utf-8") as f:
        sides = {}
        for item in map(json.loads, f):
            if not item["rule"] and sides.setdefault(item["group"], item.get("validation")) != item.get("validation"):
                sys.exit(f"{path}: {item['group']!r} is on both sides")
    print(f"datasets {datasets.__version__}: {path}, {sum(map(len, rows.values()))} examples")


for builder in ("instructscore", "metricinstruct", "refine"):
    check(os.path.join(sys.argv[1], builder))

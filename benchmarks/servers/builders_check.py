#!/usr/bin/env python3
"""Checks that Hugging Face's datasets loads what builders of training data write, in
every form, as JSON Lines and as Parquet, with the columns that trainers read.

usage: builders_check.py FOLDER

FOLDER has folders BUILDER.FORM.CONTAINER of the same items.
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


def only(messages, role):
    """The text of a list of one message."""
    if len(messages) != 1 or messages[0].keys() != {"role", "content"} or messages[0]["role"] != role:
        sys.exit(f"a pair has {messages}")
    return messages[0]["content"]


# What each form has, as TRL, axolotl and LLaMA-Factory name it, and how a row is read.
COLUMNS = {
    "messages": ["messages"],
    "completion": ["prompt", "completion"],
    "alpaca": ["instruction", "input", "output"],
    "sharegpt": ["conversations"],
}
READ = {
    "messages": lambda d: turns(d["messages"], "role", "content", ("user", "assistant")),
    "completion": lambda d: zip(d["prompt"], d["completion"]),
    "alpaca": lambda d: zip(d["instruction"], d["output"]),
    "sharegpt": lambda d: turns(d["conversations"], "from", "value", ("human", "gpt")),
}
PAIRS = ["prompt", "chosen", "rejected"]
ROLES = {"prompt": "user", "chosen": "assistant", "rejected": "assistant"}


def load(folder, config, columns):
    with tempfile.TemporaryDirectory() as cache:
        loaded = datasets.load_dataset(folder, config, cache_dir=cache)
        for split, rows in loaded.items():
            if rows.column_names != columns:
                sys.exit(f"{folder}, {config}, {split}: the columns are {rows.column_names}, want {columns}")
        return {split: rows[:] for split, rows in loaded.items()}


def main(folder):
    first, pairs, loads = {}, {}, 0
    for name in sorted(os.listdir(folder)):
        parts = name.split(".")
        if len(parts) != 3 or parts[1] not in COLUMNS:
            continue
        builder, form, _ = parts
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
        if not said.get("pairs"):
            continue
        two = load(path, "preference", PAIRS)
        if form == "messages":
            two = {side: {c: [only(m, ROLES[c]) for m in d[c]] for c in PAIRS} for side, d in two.items()}
        if sum(len(d["prompt"]) for d in two.values()) != said.get("pairs") or pairs.setdefault(builder, two) != two:
            sys.exit(f"{name}: other pairs")
        for d in two.values():
            if any(c == r for c, r in zip(d["chosen"], d["rejected"])):
                sys.exit(f"{name}: a pair of equals")
        loads += 1
        with open(os.path.join(path, "items.jsonl"), encoding="utf-8") as f:
            sides = {}
            for item in map(json.loads, f):
                if not item["rule"] and sides.setdefault(item["group"], item.get("validation")) != item.get("validation"):
                    sys.exit(f"{name}: {item['group']!r} is on both sides")
    if len(first) != 3 or not pairs:
        sys.exit(f"{folder} has {sorted(first)}, and pairs of {sorted(pairs)}")
    counts = {b: sum(map(len, r.values())) for b, r in first.items()}
    print(f"datasets {datasets.__version__}: {loads} loads; examples {counts}, pairs {sum(len(d['prompt']) for p in pairs.values() for d in p.values())}")


main(sys.argv[1])

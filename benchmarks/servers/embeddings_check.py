"""Compares refract's results from a server's vectors with NumPy's.

usage: embeddings_check.py REFRACT BASE_URL FOLDER
"""

import json
import subprocess
import sys
import urllib.request

import numpy as np

MODEL = "all-MiniLM-L6-v2"
METRIC = "embedding:model=" + MODEL

SETS = [
    ("The bridge was closed on Monday because of cracks.", [
        "Because of cracks, the bridge was closed on Monday.",
        "On Monday the bridge had to shut, as cracks had been found in it.",
        "Cracks led to the closure of the bridge on Monday.",
        "The bridge was closed on Monday because of cracks.",
        "Traffic has been sent elsewhere since Monday: there are cracks in the bridge.",
    ]),
    ("桥梁因裂缝于周一关闭。", ["周一，桥梁因出现裂缝而关闭。", "由于裂缝，这座桥周一停用。"]),
    ("It rained.", ["Rain fell.", "Rain fell.", "It poured for 3.5 hours, she said – “like never before”."]),
    ("A long one.", ["word " * 400 + "end", "word " * 300, "another " * 50]),
    ("One variant has no pair.", ["There is no pair here."]),
]


def vectors(url, texts):
    body = json.dumps({"model": MODEL, "input": texts}).encode()
    request = urllib.request.Request(url + "/embeddings", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        data = json.load(answer)["data"]
    v = np.array([d["embedding"] for d in sorted(data, key=lambda d: d["index"])], np.float64)
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def distances(url, texts):
    v = vectors(url, texts)
    return 1 - v @ v.T


def greedy(d, by):
    """The order of selection; text 0 is chosen from the start."""
    similarity, chosen = 1 - d / 2, [0]
    while len(chosen) < len(d):
        nearest = similarity[chosen].max(axis=0)
        left = [i for i in range(1, len(d)) if i not in chosen]
        if by == "farthest":
            gain = {i: -nearest[i] for i in left}
        else:
            gain = {i: np.maximum(0, similarity[i] - nearest)[1:].sum() for i in left}
        # Gains that differ only by rounding are a tie, which the first wins.
        best = max(gain.values())
        chosen.append(min(i for i in left if gain[i] > best - 1e-9))
    return [i - 1 for i in chosen[1:]]


def scores(refract, url, folder, model):
    """The metric "embedding", whose hypotheses are the variants of SETS."""
    path = folder + "/scored.jsonl"
    with open(path, "w", encoding="utf-8") as f:
        for i, (reference, variants) in enumerate(SETS):
            f.write(json.dumps({"id": str(i), "references": [reference] + SETS[i - 1][1],
                                "hypotheses": {f"s{k}": t for k, t in enumerate(variants)}}) + "\n")
    command = [refract, "score", "jsonl:" + path, "-m", METRIC, "--base-url", url, "--cache", folder + "/scores.sqlite"]
    reference_texts = {str(i): [r] + SETS[i - 1][1] for i, (r, _) in enumerate(SETS)}
    cells = 0
    rows = subprocess.run(command + ["--per", "cell", "-f", "jsonl"], check=True, capture_output=True, text=True).stdout
    for row in map(json.loads, rows.splitlines()):
        if "system" not in row:
            continue  # a summary line
        system = int(row["system"][1:])
        variants = SETS[int(row["id"])][1]
        if system >= len(variants):
            assert row["score"] is None, row
            continue
        a, b = vectors(url, [variants[system], reference_texts[row["id"]][row["reference"]]])
        assert abs(row["score"] - a @ b) < 1e-6, (row, a @ b)
        cells += 1
    assert cells == sum(len(v) * (1 + len(SETS[i - 1][1])) for i, (_, v) in enumerate(SETS)), cells
    for aggregate, of in (("max", np.max), ("mean", np.mean)):
        out = subprocess.run(command + ["-a", aggregate, "--per", "segment", "-f", "json", "--offline"],
                             check=True, capture_output=True, text=True).stdout
        for row in json.loads(out):
            variants, system = SETS[int(row["id"])][1], int(row["system"][1:])
            if system < len(variants):
                v = vectors(url, [variants[system]] + reference_texts[row["id"]])
                assert abs(row["score"] - of(v[1:] @ v[0])) < 1e-6, row
    print(f"{cells} scores of {METRIC}, and their max and mean, equal NumPy's")


def main():
    refract, url, folder = sys.argv[1:]
    path = folder + "/set.jsonl"
    with open(path, "w", encoding="utf-8") as f:
        for i, (reference, variants) in enumerate(SETS):
            f.write(json.dumps({"id": str(i), "references": [reference], "variants": [
                {"reference": 0, "prompt": f"p{k}", "sample": 0, "text": t} for k, t in enumerate(variants)]}) + "\n")

    model = ["--embeddings", MODEL, "--base-url", url, "--cache", folder + "/vectors.sqlite"]

    def run(*args):
        return subprocess.run([refract, *args, "jsonl:" + path, *model], check=True, capture_output=True, text=True).stdout

    for i, (reference, variants) in enumerate(SETS):
        with open(path, "w", encoding="utf-8") as f:
            f.write(json.dumps({"id": "one", "references": [reference], "variants": [
                {"reference": 0, "prompt": f"p{k}", "sample": 0, "text": t} for k, t in enumerate(variants)]}) + "\n")
        d = distances(url, [reference] + variants)
        for by in ("farthest", "facility"):
            order = greedy(d, by)
            for k in range(1, len(variants) + 1):
                kept = json.loads(run("select", "-k", str(k), "--by", by))["variants"]
                assert [v["text"] for v in kept] == [variants[j] for j in sorted(order[:k])], (i, by, k)
    print("selections over embeddings equal NumPy's")

    scores(refract, url, folder, model)

    again = run("select", "-k", "1")
    assert again == run("select", "-k", "1", "--offline"), "the stored vectors are others"
    print("a rerun from the cache gives the same bytes")


if __name__ == "__main__":
    main()

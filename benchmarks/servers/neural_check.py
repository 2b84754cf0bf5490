"""Compares served BERTScore with the official package's values, over HTTP.

usage: neural_check.py RUN.PY MINILM DATA WORK PORT REFRACT

It starts a Triton with RUN.PY, and stops it.
"""

import ast
import json
import subprocess
import sys
import urllib.error
import urllib.request

from neural_go import through_refract
from oip import Serving, close, infer, refusals

NAMES = {"P": "precision", "R": "recall", "F": "score"}


def main():
    run, minilm, data, work, port, refract = sys.argv[1:]
    run = [sys.executable, run]
    with open(data + "/neural/bertscore_minilm.json", encoding="utf-8") as f:
        official = json.load(f)
    pairs, multi = official["pairs"], official["multi_ref"]
    # The official idf is computed from the references of a call: here 200 pairs, each given twice.
    with open(data + "/mt-metrics-eval-v2/wmt22/references/zh-en.refA.txt", encoding="utf-8") as f:
        references = f.read().split("\n")[:100] * 2
    with open(data + "/div-ref/wmt22.zh-en.refA.diversified", encoding="utf-8") as f:
        variants = [ast.literal_eval(line) for line in f.read().split("\n")[:50]]
    with open(data + "/mt-metrics-eval-v2/wmt22/system-outputs/zh-en/Online-W.txt", encoding="utf-8") as f:
        hypotheses = f.read().split("\n")[:50]
    groups = [[references[i]] + variants[i] for i in range(50)]
    flat = [x for g in groups for x in g]
    for name, texts in (("one", references), ("eleven", flat)):
        with open(f"{work}/{name}.txt", "w", encoding="utf-8") as f:
            f.write("\n".join(texts) + "\n")

    common = f"model={minilm},layer=6,threads=1"
    specs = [f"bertscore:{common}", f"bertscore:{common},name=idf,idf={work}/one.txt",
             f"bertscore:{common},name=eleven,idf={work}/eleven.txt"]
    with Serving(run, "triton", specs, ["bertscore", "idf", "eleven"], port) as serving:
        url = serving.url
        facts = json.loads(infer(url, "idf", hypothesis=["a"], reference=["a"], pairs=[[-1, 0, 0]])["facts"][0])
        print("facts", facts)
        assert facts["name"] == "bertscore" and facts["needs"] == ["reference"] and facts["direction"] == "higher"
        assert facts["signature"]["weights"] == official["model"]["safetensors_sha256"][:12], facts

        h, r = unique(p["hyp"] for p in pairs), unique(p["ref"] for p in pairs)
        rows = [[-1, h.index(p["hyp"]), r.index(p["ref"])] for p in pairs]
        for model, figures in (("bertscore", pairs), ("idf", [p["idf"] for p in pairs])):
            got = infer(url, model, hypothesis=h, reference=r, pairs=rows)
            for short, name in NAMES.items():
                close(f"{model} {name} against bert-score 0.3.13", got[name], [f[short] for f in figures])
        h, r = unique(hypotheses), unique(flat)
        rows = [[-1, h.index(hypotheses[i]), r.index(x)] for i in range(50) for x in groups[i]]
        got = infer(url, "eleven", hypothesis=h, reference=r, pairs=rows)
        for short, name in NAMES.items():
            best = [max(v for v, row in zip(got[name], rows) if row[1] == h.index(x)) for x in hypotheses]
            close(f"the best of eleven references, idf, {name}", best, multi["idf"][short])

        texts = unique(flat)
        rows = [[-1, i, texts.index(x)] for i, g in enumerate(groups) for x in g]
        once = infer(url, "bertscore", hypothesis=hypotheses, reference=texts, pairs=rows)
        for short, name in NAMES.items():
            close(f"each of eleven references, {name}", once[name], [x for row in multi["each"][short] for x in row])
            best = [max(once[name][11 * i:11 * i + 11]) for i in range(50)]
            close(f"the best of eleven references, {name}", best, multi[short])
        alone = [infer(url, "bertscore", hypothesis=[hypotheses[i]], reference=[texts[j]], pairs=[[-1, 0, 0]])["score"][0]
                 for _, i, j in rows[:110]]
        close("encoded once against pair by pair", once["score"][:110], alone)

        empty = infer(url, "bertscore", hypothesis=["", "a"], reference=["a", " "], pairs=[[-1, 0, 0], [-1, 1, 1], [-1, 1, 0]])
        assert empty["score"][:2] == [0, 0] and empty["recall"][0] == 0 and empty["score"][2] > 0.999, empty
        assert infer(url, "bertscore", hypothesis=[], reference=[], pairs=[])["score"] == []
        refusals(url, "bertscore")
        status = not_utf8(url)
        assert "hypothesis 0 is not UTF-8" in status, status

    with Serving(run, "triton", specs[:1], ["bertscore"], port) as serving:
        through_refract(refract, serving, {"bertscore": ["reference"]}, data, work, 65)

    for spec, words in ((f"bertscore:model={work}/nothing,layer=6", "1.4 GB"),
                        (f"bertscore:model={work},layer=6", "has no config.json"),
                        ("nonsense", "there is no metric"),
                        (f"bertscore:model={minilm},layers=6", "no option 'layers'")):
        told = subprocess.run([*run, "triton", spec, "--port", port], capture_output=True, text=True)
        assert told.returncode == 1 and words in told.stderr, (spec, told)
    print("a wrong checkpoint or option is told before a server starts")


def unique(texts):
    return list(dict.fromkeys(texts))


def not_utf8(url):
    """Sends invalid UTF-8 as binary data, and returns the refusal."""
    header = json.dumps({"inputs": [
        {"name": "hypothesis", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": 5}},
        {"name": "reference", "datatype": "BYTES", "shape": [1], "data": ["a"]},
        {"name": "pairs", "datatype": "INT32", "shape": [1, 3], "data": [-1, 0, 0]}]}).encode()
    request = urllib.request.Request(f"{url}/v2/models/bertscore/infer", header + b"\x01\x00\x00\x00\xff",
                                     {"Inference-Header-Content-Length": str(len(header))})
    try:
        return urllib.request.urlopen(request).read().decode()
    except urllib.error.HTTPError as e:
        assert e.code == 400, e.code
        return e.read().decode()


if __name__ == "__main__":
    main()

"""Compares the scores that refract gets from a server with those that Python gets."""

import ast
import glob
import json
import subprocess

from oip import close, infer


def lines(path, n):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")[:n]


def through_refract(refract, serving, models, data, work, n):
    """Scores n segments of 14 systems against eleven references, while the server crashes and comes
    back. models says what each needs besides the hypothesis."""
    wmt = data + "/mt-metrics-eval-v2/wmt22/"
    source = lines(wmt + "sources/zh-en.txt", n)
    references = [lines(wmt + "references/zh-en.refA.txt", n)]
    variants = [ast.literal_eval(x) for x in lines(data + "/div-ref/wmt22.zh-en.refA.diversified", n)]
    references += [list(v) for v in zip(*variants)]
    outputs = [f for f in sorted(glob.glob(wmt + "system-outputs/zh-en/*.txt")) if "/ref" not in f][:14]
    systems = [lines(f, n) for f in outputs]
    command = [refract, "score", "--per", "cell", "-f", "jsonl", "--retries", "40"]
    files = [("--source", "source", source)]
    files += [("--ref", f"ref{i}", r) for i, r in enumerate(references)]
    files += [("--hyp", f"system{i}", s) for i, s in enumerate(systems)]
    for flag, name, texts in files:
        path = f"{work}/{name}.txt"
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(texts) + "\n")
        command += [flag, f"{name}={path}" if flag == "--hyp" else path]
    for m in models:
        command += ["-m", f"oip:{serving.url}/{m}"]

    cells = n * len(systems) * len(references) * len(models)
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    rows = []
    for line in run.stdout:
        if not line.endswith("\n"):
            break  # refract failed and said why
        row = json.loads(line)
        if "score" not in row:
            continue  # the counts of reports, at the end
        rows.append(row)
        if len(rows) == cells // 4:
            serving.crash()
            serving.__enter__()
            print(f"the server crashed after {len(rows)} of {cells} cells")
    assert run.wait() == 0 and len(rows) == cells, (run.returncode, len(rows), cells)

    hypotheses = [h for s in systems for h in s]
    texts = [t for r in references for t in r]
    pairs = [[k, i * n + k, j * n + k] for k in range(n) for i in range(len(systems)) for j in range(len(references))]
    inputs = {"source": source, "reference": texts}
    for m, needs in models.items():
        straight = infer(serving.url, m, hypothesis=hypotheses, **{k: inputs[k] for k in needs}, pairs=pairs)["score"]
        close(f"{m} through refract", [r["score"] for r in rows if r["metric"].startswith("oip:" + m)], straight, 2e-6)

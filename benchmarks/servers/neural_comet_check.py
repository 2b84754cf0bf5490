"""Serves COMET, xCOMET and BERTScore with MLServer, and compares over HTTP and through refract.

usage: neural_comet_check.py RUN.PY TINY MINILM DATA WORK PORT REFRACT
"""

import json
import sys

from comet import load_from_checkpoint

from neural_go import through_refract
from oip import Serving, close, infer, refusals, refused, tensor

NEEDS = {"bertscore": ["reference"], "comet": ["source", "reference"], "xcomet": ["source", "reference"]}


def main():
    run, tiny, minilm, data, work, port, refract = sys.argv[1:]
    with open(data + "/neural/comet_tiny.json", encoding="utf-8") as f:
        samples = json.load(f)["pairs"]
    # The scores in that file come from random weights, which the same seed does not reproduce on every machine.
    model = load_from_checkpoint(tiny + "/comet/checkpoints/model.ckpt", local_files_only=True)
    official = model.predict(samples, batch_size=8, gpus=0, num_workers=0, progress_bar=False).scores
    common = f"model={minilm},layer=6,threads=1"
    specs = [f"bertscore:{common}", f"comet:model={tiny}/comet,threads=1", f"xcomet:model={tiny}/xcomet,threads=1"]
    with Serving([sys.executable, run], "mlserver", specs, ["bertscore", "comet", "xcomet"], port) as serving:
        texts = {k: list(dict.fromkeys(p[k] for p in samples)) for k in ("src", "mt", "ref")}
        rows = [[texts[k].index(p[k]) for k in ("src", "mt", "ref")] for p in samples]
        got = infer(serving.url, "comet", source=texts["src"], hypothesis=texts["mt"], reference=texts["ref"], pairs=rows)
        close("comet against unbabel-comet's predict", got["score"], official, 1e-6)

        with open(data + "/neural/bertscore_minilm.json", encoding="utf-8") as f:
            pairs = json.load(f)["pairs"]
        h, r = (list(dict.fromkeys(p[k] for p in pairs)) for k in ("hyp", "ref"))
        rows = [[-1, h.index(p["hyp"]), r.index(p["ref"])] for p in pairs]
        got = infer(serving.url, "bertscore", hypothesis=h, reference=r, pairs=rows)
        for short, name in (("P", "precision"), ("R", "recall"), ("F", "score")):
            close(f"bertscore on MLServer, {name}", got[name], [p[short] for p in pairs])
        refusals(serving.url, "bertscore")
        status, text = refused(serving.url, "bertscore", tensor("pairs", [0] * 4, shape=[1, 3]), hypothesis=["a"], reference=["a"])
        assert status == 400 and "cannot be read" in text, (status, text)
        through_refract(refract, serving, NEEDS, data, work, 12)


if __name__ == "__main__":
    main()

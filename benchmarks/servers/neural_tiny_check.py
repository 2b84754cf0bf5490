"""Runs each served metric on a tiny model of random weights, and compares it with a plain program.

usage: neural_tiny_check.py SERVER_FOLDER TINY MINILM

Random weights show that the code runs and does what the published programs do with one pair. They show nothing
about the published weights.
"""

import json
import sys

import numpy as np
import torch
import transformers as t
from scipy.optimize import linprog

from oip import close

HYPOTHESES = ["Is there a shop that mends clocks", "The meeting, was unbelievably postponed!", "It rained."]
REFERENCES = ["Is there a shop that mends clocks?", "They put the meeting off.", "Rain fell on Monday, all day long."]
SOURCES = ["有没有修理钟表的店", "会议推迟了。", "星期一下了一整天雨。"]
ROWS = [[s, h, r] for h in range(3) for s in (0, 2) for r in (2, 0, 1)]


def main():
    folder, tiny, minilm = sys.argv[1:]
    sys.path.insert(0, folder)
    from refract_metrics.protocol import Server, resolve

    torch.set_num_threads(2)

    def served(spec):
        server = Server(resolve(spec))
        given = {n: np.array(x, object) for n, x in (("source", SOURCES), ("hypothesis", HYPOTHESES), ("reference", REFERENCES))
                 if n in server.inputs}
        return server, server.answer(given | {"pairs": np.array(ROWS, np.int32)})

    triples = [(SOURCES[s], HYPOTHESES[h], REFERENCES[r]) for s, h, r in ROWS]

    def compare(name, spec, one, tolerance=1e-5):
        server, outputs = served(spec)
        with torch.no_grad():
            want = [one(server.metric, *x) for x in triples]
        assert np.std(want) > 1e-6, (name, want)
        close(f"{name} against a pair at a time", outputs["score"].tolist(), want, tolerance)
        return outputs

    compare("cometkiwi", f"cometkiwi:model={tiny}/cometkiwi", lambda m, s, h, r: m.model.predict(
        [{"src": s, "mt": h}], batch_size=1, gpus=0, num_workers=0, progress_bar=False).scores[0])
    spans = []
    def xcomet(m, s, h, r):
        out = m.model.predict([{"src": s, "mt": h, "ref": r}], batch_size=1, gpus=0, num_workers=0, progress_bar=False)
        spans.append([(x["start"], x["end"], x["severity"]) for x in out.metadata.error_spans[0]])
        return out.scores[0]
    outputs = compare("xcomet", f"xcomet:model={tiny}/xcomet", xcomet)
    got = [json.loads(x) for x in outputs["error_spans"]]
    assert [[(x["start"], x["end"], x["severity"]) for x in row] for row in got] == spans
    assert any(got) and all(x["text"] == HYPOTHESES[h][x["start"]:x["end"]] for row, (_, h, _) in zip(got, ROWS) for x in row)
    print(f"xcomet: {sum(map(len, got))} error spans agree")

    encoder = t.AutoModel.from_pretrained(f"{tiny}/xlmr").eval()
    tokens = t.AutoTokenizer.from_pretrained(f"{tiny}/xlmr")
    def sescore2(m, s, h, r):
        def embed(x):
            i = tokens([x], max_length=256, padding="max_length", truncation=True, return_tensors="pt")
            mask = i["attention_mask"].unsqueeze(-1)
            return (encoder(**i, output_hidden_states=True).hidden_states[-1] * mask).sum(1) / mask.sum(1)
        a, b = embed(h), embed(r)
        x = torch.cat((a, b, a * b, (a - b).abs()), 1)
        (w0, b0), (w1, b1), (w2, b2) = m.estimator
        return float(w2 @ torch.tanh(w1 @ torch.tanh(w0 @ x[0] + b0) + b1) + b2)
    compare("sescore2", f"sescore2:model={tiny}/sescore2,encoder={tiny}/xlmr", sescore2)

    compare("bleurt", f"bleurt:model={tiny}/bleurt", lambda m, s, h, r: m.model(
        **m.tokenizer([r], [h], padding="longest", return_tensors="pt")).logits.item())

    def likelihood(m, a, b):
        i, o = m.tokenizer(a, return_tensors="pt"), m.tokenizer(b, return_tensors="pt")["input_ids"]
        p = m.model(**i, labels=o).logits.log_softmax(2)
        return p[0, range(o.shape[1]), o[0]].mean().item()
    compare("bartscore", f"bartscore:model={tiny}/bartscore",
            lambda m, s, h, r: (likelihood(m, r, h) + likelihood(m, h, r)) / 2)

    def moverscore(m, s, h, r):
        def words(x):
            i = m.tokenizer([x], return_tensors="pt")
            v = m.model(**i)[0][0]
            kept = [k for k, w in enumerate(m.tokenizer.convert_ids_to_tokens(i["input_ids"][0])) if "##" not in w and w not in "!,.?"]
            return torch.nn.functional.normalize(v[kept], dim=-1).double()
        a, b = words(r), words(h)
        cost = torch.cdist(a, b).numpy()
        n, k = cost.shape
        rows = [np.repeat(np.eye(n)[i], k) for i in range(n)] + [np.tile(np.eye(k)[j], n) for j in range(k)]
        return 1 - linprog(cost.ravel(), A_eq=rows, b_eq=[1 / n] * n + [1 / k] * k).fun
    compare("moverscore, real weights of MiniLM,", f"moverscore:model={minilm}", moverscore)

    def unieval(m, s, h, r):
        i = m.tokenizer(f"question: Is this summary relevant to the reference? </s> summary: {h} </s> reference: {r}", return_tensors="pt")
        p = m.model(**i, labels=m.tokenizer("No", return_tensors="pt")["input_ids"][:, :1]).logits[0, 0].softmax(0)
        yes, no = (p[m.tokenizer(w)["input_ids"][0]].item() for w in ("Yes", "No"))
        return yes / (yes + no)
    compare("unieval", f"unieval:model={tiny}/unieval", unieval)

    for options, text in (("generation=24", "source: {s} candidate: {h} reference: {r}"), ("generation=23", "candidate: {h} reference: {r}"),
                          ("generation=24,qe=yes", "source: {s} candidate: {h}"), ("generation=23,qe=yes", "candidate: {h} source: {s}")):
        def metricx(m, s, h, r):
            i = m.tokenizer(text.format(s=s, h=h, r=r), return_tensors="pt")["input_ids"][:, :-1]
            return min(25, max(0, m.model(input_ids=i, decoder_input_ids=torch.tensor([[0]])).logits[0, 0, 250089].item()))
        compare(f"metricx {options}", f"metricx:model={tiny}/metricx,tokenizer={tiny}/metricx,{options}", metricx)


if __name__ == "__main__":
    main()

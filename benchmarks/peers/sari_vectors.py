#!/usr/bin/env python3
"""Writes the values of SARI that EASSE, Hugging Face's evaluate and the authors' SARI.py compute.

usage: sari_vectors.py OUT.jsonl [--easse DIR] [--evaluate DIR] [--simplification DIR] [--seed N] [--every N]

No registry has these programs, so each DIR is a clone: of feralvam/easse, huggingface/evaluate and
cocoxu/simplification. A row has segments with up to ten references, their scores, and the score of all. With
EASSE's clone, one in N of its outputs of TurkCorpus are scored against ASSET's ten references.
"""
import argparse
import importlib.util
import itertools
import json
import pathlib
import random
import sys
import types

import sacrebleu_vectors as texts


def load(path):
    """A module from a file of a clone."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def easse(clone):
    sys.path.insert(0, str(clone))
    sys.modules.setdefault("sacremoses", types.ModuleType("sacremoses"))  # not used by these tokenizers
    from easse.sari import corpus_sari

    def scorer(**options):
        of = lambda sources, outputs, references: corpus_sari(sources, outputs, list(zip(*references)), **options)
        return of, lambda source, output, references: of([source], [output], [references])

    for rules, deletion, tokenizer in itertools.product(["easse", "paper"], ["f", "p"], ["13a", "intl"]):
        spec = f"sari:rules={rules},deletion={deletion},tokenize={tokenizer}"
        yield spec, scorer(use_paper_version=rules == "paper", use_f1_for_deletion=deletion == "f", tokenizer=tokenizer)


def mean(sentence):
    return lambda *lists: sum(map(sentence, *lists)) / len(lists[0])


def evaluate(clone):
    for name in ("evaluate", "sacremoses"):  # not used by the functions below
        module = types.ModuleType(name)
        module.Metric, module.MetricInfo = object, dict
        module.utils = types.SimpleNamespace(file_utils=types.SimpleNamespace(add_start_docstrings=lambda *_: lambda c: c))
        sys.modules.setdefault(name, module)
    sari = load(clone / "metrics" / "sari" / "sari.py")
    for tokenizer in "13a", "intl":
        split = lambda s, t=tokenizer: sari.normalize(s, tokenizer=t)
        sentence = lambda s, o, rs, split=split: 100 * sari.SARIsent(split(s), split(o), [split(r) for r in rs])
        yield f"sari:rules=hf,tokenize={tokenizer}", (mean(sentence), sentence)


def simplification(clone):
    sari = load(clone / "SARI.py")
    sentence = lambda *texts: 100 * sari.SARIsent(*texts)
    yield "sari:rules=original", (mean(sentence), sentence)


def random_segments(rng, n):
    """Texts with single spaces, as SARI.py reads them, which no line end or space surrounds."""
    pools = list(texts.WORDS.values()) + [texts.WORDS["latin"]] * 8 + [list("abcde")] * 8
    for pool in (rng.choice(pools) for _ in range(n)):
        clean = lambda s: " ".join(s.split())
        source = texts.line(rng, pool)
        near = lambda: clean(texts.vary(rng, source, pool) if rng.random() < 0.9 else texts.line(rng, pool))
        yield clean(source), near(), [near() for _ in range(10)]


def asset(clone, every):
    """Outputs of systems for TurkCorpus, whose sources ASSET shares, with ASSET's references."""
    read = lambda p: p.read_text(encoding="utf-8").splitlines()
    folder = clone / "easse" / "resources" / "data"
    sources = read(folder / "test_sets" / "asset" / "asset.test.orig")
    references = list(zip(*(read(folder / "test_sets" / "asset" / f"asset.test.simp.{i}") for i in range(10))))
    systems = sorted(p for p in (folder / "system_outputs" / "turkcorpus" / "test").iterdir() if p.is_file())
    for system in systems[::every]:
        yield [(s, o, list(r)) for s, o, r in zip(sources, read(system), references, strict=True)]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("out")
    peers = {"easse": easse, "evaluate": evaluate, "simplification": simplification}
    for name in peers:
        ap.add_argument(f"--{name}", type=pathlib.Path)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--every", type=int, default=1)
    args = ap.parse_args()
    rng = random.Random(args.seed)
    sets = [list(random_segments(rng, 50)) for _ in range(60 // args.every)]
    if args.easse:
        sets += asset(args.easse, args.every)
    scorers = [s for name, peer in peers.items() if getattr(args, name) for s in peer(getattr(args, name))]
    if not scorers:
        ap.error("name at least one clone")
    with open(args.out, "w", encoding="utf-8") as f:
        for segments, (spec, (corpus, sentence)) in itertools.product(sets, scorers):
            if "original" in spec:
                segments = [(" ".join(s.split()), " ".join(o.split()), [" ".join(r.split()) for r in rs]) for s, o, rs in segments]
            f.write(json.dumps({
                "spec": spec,
                "segments": [{"source": s, "output": o, "references": rs, "score": sentence(s, o, rs)} for s, o, rs in segments],
                "corpus": corpus(*map(list, zip(*segments))),
            }) + "\n")


if __name__ == "__main__":
    main()

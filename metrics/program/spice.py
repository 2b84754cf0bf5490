#!/usr/bin/env python3
"""SPICE 1.0 for captions in English (Anderson et al., 2016) as a program for refract.

    refract score --ref ref.txt --hyp a=a.txt -m 'exec:processes=1 timeout=1h python3 spice.py --jars DIR'

It runs spice-1.0.jar, which the PyPI package pycocoevalcap has, on Java, and needs 4 GB of memory. DIR has its
dependencies: Stanford CoreNLP 3.6.0 with its models, and Nashorn for Java 15 and later;
benchmarks/peers/spice_pom.xml lists them. Models are loaded for each request, hence the long batches. SPICE
handles several references itself (native).
"""

import argparse
import importlib.util
import json
import os
import subprocess
import tempfile

import refract_metric


def folder():
    spec = importlib.util.find_spec("pycocoevalcap")
    if spec is None:
        raise SystemExit("spice.py: pycocoevalcap is not installed: pip install pycocoevalcap==1.2 --no-deps")
    return os.path.join(list(spec.submodule_search_locations)[0], "spice")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jars", required=True, help="folder of stanford-corenlp-3.6.0.jar, its models, and Nashorn")
    parser.add_argument("--memory", default="4G", help="of Java")
    args = parser.parse_args()
    spice = folder()
    path = os.pathsep.join([os.path.join(spice, "spice-1.0.jar"), os.path.join(spice, "lib", "*"), os.path.join(os.path.abspath(args.jars), "*")])

    def scores(cases):
        """The F of (hypothesis, references) cases."""
        with tempfile.TemporaryDirectory() as work:
            asked, told = os.path.join(work, "in.json"), os.path.join(work, "out.json")
            with open(asked, "w", encoding="utf-8") as f:
                json.dump([{"image_id": i, "test": h, "refs": refs} for i, (h, refs) in enumerate(cases)], f)
            java = refract_metric.start(
                ["java", "-Xmx" + args.memory, "-cp", path, "edu.anu.spice.SpiceScorer", asked, "-out", told, "-silent"],
                cwd=work, stdin=subprocess.DEVNULL)
            if java.wait() != 0:
                raise SystemExit(f"spice.py: SPICE ended with {java.returncode}")
            with open(told, encoding="utf-8") as f:
                return {r["image_id"]: r["scores"]["All"]["f"] for r in json.load(f)}

    def segments(all, native):
        cases = []
        for s in all:
            sets = [s["references"]] if native else [[r] for r in s["references"]]
            cases.append([(h, refs) for h in s["hypotheses"] for refs in sets])
        f = scores([c for row in cases for c in row])
        at = iter(range(len(f)))
        return [[f[next(at)] for _ in row] for row in cases]

    refract_metric.run("spice", segments=segments, native=True, lower=0, upper=1, batch=512,
                       signature={"spice": "1.0", "corenlp": "3.6.0"})


main()
